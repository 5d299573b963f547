// SPDX-License-Identifier: Apache-2.0
/*
 * Reads class signatures. A character of modified UTF-8 has one to three bytes; all but its first
 * have the form 10xxxxxx.
 */
#include "probes/class_text.h"

#include <string.h>

static const char cut_mark[] = "...";

void class_text_copy(char to[CLASS_TEXT_BYTES], const char *text)
{
	size_t len = strnlen(text, CLASS_TEXT_BYTES);

	if (len < CLASS_TEXT_BYTES) {
		memcpy(to, text, len + 1);
		return;
	}
	len = CLASS_TEXT_BYTES - sizeof(cut_mark);
	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	memcpy(to, text, len);
	memcpy(to + len, cut_mark, sizeof(cut_mark));
}

void class_text_read(char to[CLASS_TEXT_BYTES], jvmtiEnv *jvmti, jclass class)
{
	char *sig = NULL;

	to[0] = 0;
	if ((*jvmti)->GetClassSignature(jvmti, class, &sig, NULL) != JVMTI_ERROR_NONE || !sig)
		return;
	class_text_copy(to, sig);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)sig);
}
