// SPDX-License-Identifier: Apache-2.0
/*
 * Repeats all code for a collector that has just connected, or after records were lost. The agent
 * keeps no table of its own: the JVM has all code, and GenerateEvents posts it on the calling
 * thread with the JVM's locks released.
 *
 * HotSpot lists all compiled code first and posts it then. What is listed is kept alive until it is
 * posted, and the classes with it: a thread that waited there would let a JVM grow that loads and
 * drops classes. So nothing is waited for inside GenerateEvents, and what finds no room is left
 * out. Then the same code is asked for again in so many parts that each should fit, and a part that
 * does not is parted again. A part is a number of bits of a hash of the address, which says the
 * same of an address in each GenerateEvents, whatever comes and goes between two of them. Code that
 * is told twice does no harm.
 *
 * The thread is attached only during GenerateEvents, because an attached thread would delay
 * System.exit.
 */
#include "resync.h"

#include "jni_thread.h"

#define PART_BITS_MAX 10

/* Adds a mark, and makes room for the mark if necessary. */
static bool mark(const struct resync *resync, enum wire_kind kind, bool complete)
{
	struct wire_resync record = {.epoch = resync->epoch, .complete = complete};

	while (recorder_add_resync(resync->recorder, kind, &record) == RECORDER_FULL) {
		if (resync->flush(resync->context) < 0)
			return false;
	}
	return recorder_is_on(resync->recorder);
}

static bool generate(const struct resync *resync, struct events_part part, struct events_told *ret)
{
	jvmtiEnv *jvmti = resync->jvmti;
	bool good;

	if (atomic_load(resync->quit))
		return false;
	if (!jni_thread_attach(resync->vm)) {
		recorder_count_loss(resync->recorder, WIRE_LOSS_JVMTI, 1);
		return false;
	}
	events_begin_resync(resync->events, part, resync->offer, resync->context);
	good = (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) ==
		       JVMTI_ERROR_NONE &&
	       (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD) ==
		       JVMTI_ERROR_NONE;
	if (!good)
		recorder_count_loss(resync->recorder, WIRE_LOSS_JVMTI, 1);
	*ret = events_end_resync(resync->events);
	jni_thread_detach(resync->vm);
	return good;
}

/* The bits that make parts of which each should fit, judged by what has fitted of the whole. */
static unsigned bits_for(const struct events_told *told)
{
	unsigned bits = 1;

	while (bits < PART_BITS_MAX && told->kept << bits <= told->kept + told->left)
		bits++;
	return bits;
}

static bool tell(const struct resync *resync, struct events_part part, unsigned bits);

static bool tell_in_parts(const struct resync *resync, struct events_part whole, unsigned bits,
			  unsigned more_bits)
{
	const unsigned all = bits + more_bits;
	bool good = all <= PART_BITS_MAX;

	for (uint32_t i = 0; good && i < 1u << more_bits; i++) {
		const struct events_part part = {.mask = (1u << all) - 1,
						 .bits = whole.bits | i << bits};

		good = tell(resync, part, all);
	}
	return good;
}

/* Tells a part, which is bits long, once or in parts, and sends it. */
static bool tell(const struct resync *resync, struct events_part part, unsigned bits)
{
	struct events_told told;

	if (!generate(resync, part, &told) || resync->flush(resync->context) < 0)
		return false;
	return told.left == 0 || tell_in_parts(resync, part, bits, bits_for(&told));
}

bool resync_run(const struct resync *resync)
{
	bool complete;

	if (!mark(resync, WIRE_RESYNC_BEGIN, false))
		return false;
	complete = tell(resync, (struct events_part){0}, 0);
	return mark(resync, WIRE_RESYNC_END, complete) && resync->flush(resync->context) == 0 &&
	       complete;
}
