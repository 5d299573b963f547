// SPDX-License-Identifier: Apache-2.0
/* Texts and frames that live equally long, see frame_texts.h. */
#include "symbolize/frame_texts.h"

#include <stdio.h>

void frame_texts_fini(struct frame_texts *texts)
{
	frame_cache_fini(&texts->frames);
	intern_fini(&texts->names);
}

size_t frame_texts_bytes(const struct frame_texts *texts)
{
	return intern_bytes(&texts->names) + frame_cache_bytes(&texts->frames);
}

void frame_texts_expire(struct frame_texts *texts)
{
	const size_t max = texts->max_bytes ? texts->max_bytes : FRAME_TEXTS_MAX_BYTES;

	/*
	 * Frames that are kept longer have copies of their names, so the names here can be
	 * forgotten.
	 */
	if (texts->names.arena.total_bytes <= max)
		return;
	frame_cache_clear(&texts->frames);
	intern_fini(&texts->names);
	texts->forgotten++;
}

struct frame frame_texts_unknown(struct frame_texts *texts, const char *reason)
{
	char text[512];

	snprintf(text, sizeof(text), "[unknown: %s]", reason);
	return (struct frame){.name = intern_add_str(&texts->names, text), .kind = FRAME_UNKNOWN};
}
