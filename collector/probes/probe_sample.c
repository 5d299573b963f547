// SPDX-License-Identifier: Apache-2.0
/* Reads what a probe has told, see probe_sample.h. */
#include "probes/probe_sample.h"

#include "base/utf8.h"
#include "code/java_text.h"
#include "probes/probe_frames.h"
#include "sample/sample_regs.h"

#include <math.h>
#include <string.h>

#define UNKNOWN	    "[unknown class]"
#define TEXT_BYTES  256 /* of a signature, with its NUL: CLASS_TEXT_BYTES of the agent */
#define NAME_BYTES  (TEXT_BYTES * 3)
#define PAGE_BYTES  UINT64_C(4096)
#define DICE_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio */

bool probe_sample_is(const struct sample *sample)
{
	return sample->kind == SAMPLE_OF_ALLOC || sample->kind == SAMPLE_OF_ENTER ||
	       sample->kind == SAMPLE_OF_PARK || sample->kind == SAMPLE_OF_EXCEPTION;
}

const struct sample_kind *probe_sample_kind(const struct sample *sample)
{
	return sample->kind == SAMPLE_OF_ALLOC	     ? &sample_kind_alloc
	       : sample->kind == SAMPLE_OF_EXCEPTION ? &sample_kind_exceptions
						     : &sample_kind_lock;
}

/* At least 0 and less than 1; evenly spread, and always the same for a time. */
static double dice(uint64_t time_ns)
{
	return (double)(time_ns * DICE_FACTOR >> 32) / 4294967296.0;
}

static uint64_t rounded(double value, uint64_t time_ns)
{
	return (uint64_t)(value + dice(time_ns));
}

uint64_t probe_sample_microseconds(uint64_t ns, uint64_t weight, uint64_t time_ns)
{
	return rounded((double)ns * (double)weight / 1000, time_ns);
}

uint64_t probe_sample_scaled(uint64_t weight, uint64_t by, uint64_t of, uint64_t time_ns)
{
	return rounded((double)weight * (double)by / (double)of, time_ns);
}

static bool alloc_values(const struct record *record, uint64_t ret[SAMPLE_MAX_VALUES])
{
	const struct sample_probe *const probe = &record->sample.probe;
	const double bytes = (double)probe->amount;
	double objects;

	if (probe->amount < PROBE_SAMPLE_MIN_BYTES || probe->amount > PROBE_SAMPLE_MAX_BYTES ||
	    probe->interval == 0 || probe->interval > PROBE_SAMPLE_MAX_INTERVAL)
		return false;
	objects = (double)record->sample.weight / -expm1(-bytes / (double)probe->interval);
	if (objects * bytes > (double)PROBE_SAMPLE_MAX_BYTES)
		return false;
	ret[0] = rounded(objects * bytes, record->time_ns);
	ret[1] = rounded(objects, record->time_ns);
	return true;
}

/* A park that was chosen by chance stands for others of its length. */
static void park_values(const struct record *record, uint64_t ret[SAMPLE_MAX_VALUES])
{
	const struct sample_probe *const probe = &record->sample.probe;
	const uint64_t ns = probe->amount > probe->interval ? probe->amount : probe->interval;
	const double parks = probe->amount ? (double)ns / (double)probe->amount : 1;

	ret[0] = probe_sample_microseconds(ns, record->sample.weight, record->time_ns);
	ret[1] = rounded(parks * (double)record->sample.weight, record->time_ns);
}

bool probe_sample_values(const struct record *record, uint64_t ret[SAMPLE_MAX_VALUES])
{
	const struct sample *const sample = &record->sample;

	ret[0] = sample->kind == SAMPLE_OF_EXCEPTION ? sample->weight : 0;
	ret[1] = sample->weight;
	if (sample->kind == SAMPLE_OF_ALLOC)
		return alloc_values(record, ret);
	if (sample->kind == SAMPLE_OF_PARK)
		park_values(record, ret);
	return true;
}

/* The text in the snapshot, terminated there; NULL: the snapshot does not have all of it. */
static const char *text_in_snapshot(const struct sample *sample, uint64_t addr)
{
	const uint64_t sp = sample->regs ? sample_regs_get(sample->regs, SAMPLE_REG_SP) : 0;
	const uint64_t off = addr - sp;
	const char *text;
	size_t room;

	if (!sample->stack || addr < sp || off >= sample->stack_len)
		return NULL;
	room = sample->stack_len - off < TEXT_BYTES ? sample->stack_len - off : TEXT_BYTES;
	text = (const char *)sample->stack + off;
	if (!memchr(text, 0, room))
		return NULL;
	for (uint64_t at = addr; at <= addr + strlen(text); at += PAGE_BYTES - at % PAGE_BYTES) {
		const uint64_t page = at / PAGE_BYTES - sp / PAGE_BYTES;

		if (page < 64 && sample->unread_pages >> page & 1)
			return NULL;
	}
	return text;
}

struct frame probe_sample_class(struct symbolizer *symbolizer,
				const struct java_name_options *names, const struct record *record)
{
	const char *const text = text_in_snapshot(&record->sample, record->sample.probe.text);
	char type[TEXT_BYTES], clean[TEXT_BYTES], name[NAME_BYTES] = UNKNOWN;
	struct frame frame;

	if (text && text[0]) {
		type[java_text_to_utf8(text, strlen(text), type)] = '\0';
		utf8_clean(type, strlen(type), clean, sizeof(clean));
		java_name_write_type(names, clean, name, sizeof(name));
	}
	frame = symbolizer_label(symbolizer, name);
	frame.kind = FRAME_CLASS;
	return frame;
}

/* Whether the frame belongs to the way from the JVM's own code to the agent. */
static bool is_on_the_way(const struct frame *frame, const char *agent, const char *libjvm)
{
	return frame->kind == FRAME_JVM || frame->kind == FRAME_STUB ||
	       (frame->module && (frame->module == agent || frame->module == libjvm));
}

size_t probe_sample_own(const struct frame *frames, size_t n)
{
	const char *const agent = n > 0 ? frames[0].module : NULL;
	const char *libjvm = NULL;
	size_t own = 0, of_agent = 0;

	while (of_agent < n && agent && frames[of_agent].module == agent)
		of_agent++;
	if (of_agent < n)
		libjvm = frames[of_agent].module;
	for (own = of_agent; own < n && is_on_the_way(&frames[own], agent, libjvm);)
		own++;
	return own < n ? own : of_agent;
}

bool probe_sample_leaf(struct symbolizer *symbolizer, const struct java_name_options *names,
		       const struct record *record, const struct frame *frames, size_t n,
		       struct frame *ret, size_t *ret_own)
{
	const struct sample *const sample = &record->sample;
	char class[PROBE_FRAMES_CLASS_BYTES];

	*ret_own = probe_sample_own(frames, n);
	if (sample->kind == SAMPLE_OF_ALLOC || sample->kind == SAMPLE_OF_ENTER) {
		*ret = probe_sample_class(symbolizer, names, record);
		return true;
	}
	if (sample->kind == SAMPLE_OF_EXCEPTION)
		*ret_own = probe_frames_exception(frames, n, class);
	else if (!probe_frames_lock(frames, n, class))
		return false;
	*ret = symbolizer_label(symbolizer, class);
	ret->kind = FRAME_CLASS;
	return true;
}
