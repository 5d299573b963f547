// SPDX-License-Identifier: Apache-2.0
/* Keeps a waker's frames until its wait is named, see waker_stack.h. */
#include "recording/waker_stack.h"

#include <string.h>

#define MORE "[truncated: more frames of the waker]"

/* Returns the copy, or NULL if there is no room. */
static const char *copy_of(struct waker_stack *stack, const char *text)
{
	const size_t size = strlen(text) + 1;
	char *const copy = stack->texts + stack->n_bytes;

	if (size > sizeof(stack->texts) - stack->n_bytes)
		return NULL;
	memcpy(copy, text, size);
	stack->n_bytes += size;
	return copy;
}

/* False: there is no room. */
static bool keep_frame(struct waker_stack *stack, const struct frame *frame)
{
	struct frame *const to = &stack->frames[stack->n];

	if (stack->n == WAKER_STACK_MAX_FRAMES - 1)
		return false;
	*to = (struct frame){.kind = FRAME_WAIT, .line = frame->line};
	to->name = copy_of(stack, frame->name);
	if (to->name && frame->module)
		to->module = copy_of(stack, frame->module);
	if (to->name && frame->file)
		to->file = copy_of(stack, frame->file);
	if (!to->name || (frame->module && !to->module) || (frame->file && !to->file))
		return false;
	stack->n++;
	return true;
}

void waker_stack_keep(struct waker_stack *stack, const struct record *record,
		      const struct frame *frames, size_t n)
{
	stack->number = record->sample.waker_stack;
	stack->tid = record->sample.waker.tid;
	stack->time_ns = record->time_ns;
	stack->n = stack->n_bytes = 0;
	for (size_t i = 0; i < n; i++) {
		if (keep_frame(stack, &frames[i]))
			continue;
		stack->frames[stack->n++] = (struct frame){.name = MORE, .kind = FRAME_WAIT};
		break;
	}
}

bool waker_stack_is_of(const struct waker_stack *stack, const struct record *wait)
{
	return stack->number && stack->number == wait->sample.waker_stack &&
	       stack->tid == wait->tid && stack->time_ns == wait->time_ns;
}

size_t waker_stack_write(const struct waker_stack *stack, struct frame *end)
{
	for (size_t i = 0; i < stack->n; i++)
		*--end = stack->frames[i];
	return stack->n;
}
