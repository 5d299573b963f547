// SPDX-License-Identifier: Apache-2.0
/* Names of code as perf shows them, see code_name.h. */
#include "target/code_name.h"

#include "target/java_text.h"

#include <string.h>

static char *put_text(char *to, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		*to++ = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	return to;
}

/* Of a method that is too long, the class gives way first, down to three quarters of the room. */
static char *put_method(char *to, const char *class_name, const char *name)
{
	const size_t room = CODE_NAME_CUT_BYTES - strlen("L;::");
	const size_t name_len = strlen(name), kept = name_len < room / 4 ? name_len : room / 4;
	const size_t class_len = java_text_cut(class_name, strlen(class_name), room - kept);

	*to++ = 'L';
	to = put_text(to, class_name, class_len);
	to = put_text(to, ";::", 3);
	return put_text(to, name, java_text_cut(name, name_len, room - class_len));
}

size_t code_name(const struct code_range *range, char *ret)
{
	const char *name = range->name && range->name[0] ? range->name : "[unnamed]";
	const size_t len = java_text_cut(name, strlen(name), CODE_NAME_CUT_BYTES);
	char *end;

	if (range->class_name)
		return (size_t)(put_method(ret, range->class_name, name) - ret);
	end = put_text(ret, name, len);
	if (len < 3)
		end = put_text(end, "()", 2);
	return (size_t)(end - ret);
}
