// SPDX-License-Identifier: Apache-2.0
/* States and idle frames as the command line has them, see draw_wait_options.h. */
#include "draw/draw_wait_options.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

int draw_wait_options_set_states(struct wait_options *options, const char *told, const char *text)
{
	if (wait_states_parse(text, &options->states))
		return 0;
	log_error("%s %s: there are, with commas between them: running runnable blocked", told,
		  text);
	return -EINVAL;
}

int draw_wait_options_add_frame(struct wait_options *options, const char *told, const char *text)
{
	if (!text[0] || strlen(text) > WAITS_MAX_FRAME_BYTES) {
		log_error("%s %s: a frame's name is needed, of at most %u bytes", told, text,
			  WAITS_MAX_FRAME_BYTES);
		return -EINVAL;
	}
	if (options->n_idle_frames == WAITS_MAX_FRAMES) {
		log_error("%s %s: that is one too many: * stands for any text", told, text);
		return -EINVAL;
	}
	options->idle_frames[options->n_idle_frames++] = text;
	return 0;
}
