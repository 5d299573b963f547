// SPDX-License-Identifier: Apache-2.0
/* Which options go with which kinds of samples, see kind_options.h. */
#include "cli/kind_options.h"

#include <errno.h>

static int check_short_waits(const struct recording_options *recording)
{
	const struct thread_clock_waits *const waits = &recording->waits;

	if (waits->has_wakers && !waits->is_asked) {
		log_error("--waker goes with --short-waits: who ends a wait is told of waits that "
			  "are looked at when they end");
		return -EINVAL;
	}
	if (waits->is_asked && !recording_has_time(recording)) {
		log_error("--short-waits goes with --kind wall or offcpu");
		return -EINVAL;
	}
	if (waits->is_asked && recording->source == SAMPLER_PERF) {
		log_error("--short-waits is done by BPF, and so does not go with --sampler perf");
		return -EINVAL;
	}
	return 0;
}

/* Refuses wishes about threads that wait where no kind has such threads. */
static int check_waits(const struct options *options)
{
	if (!options->waits_given || options->history_given ||
	    recording_has_time(&options->recording) ||
	    (options->command != COMMAND_RECORD && options->command != COMMAND_TOP))
		return 0;
	log_error("%s goes with --kind wall or offcpu: samples of other kinds are of threads that "
		  "run",
		  options->waits_given);
	return -EINVAL;
}

int kind_options_check(const struct options *options)
{
	const unsigned kinds = recording_kinds(&options->recording);

	if (options->command == COMMAND_TOP && recording_has_several(&options->recording)) {
		log_error("--kind: top shows one kind: cpu, wall, offcpu, alloc, objects, lock, "
			  "contentions or exceptions");
		return -EINVAL;
	}
	if (options->recording.probes.alloc_interval && !(kinds & PROBES_OF_ALLOC)) {
		log_error("--alloc-interval goes with --kind alloc or objects");
		return -EINVAL;
	}
	if (options->recording.probes.is_live && !(kinds & PROBES_OF_ALLOC)) {
		log_error("--live goes with --kind alloc or objects");
		return -EINVAL;
	}
	if (recording_has_probes(&options->recording) && options->is_fp_only) {
		log_error(
			"--kind alloc, lock and exceptions need copies of stacks, and so do not go "
			"with --unwind=fp");
		return -EINVAL;
	}
	if (recording_has_probes(&options->recording) &&
	    options->recording.source == SAMPLER_PERF) {
		log_error("--kind alloc, lock and exceptions are sampled by BPF, and so do not go "
			  "with --sampler perf");
		return -EINVAL;
	}
	if (options->recording.wall_hz && !recording_has_time(&options->recording)) {
		log_error("--wall-frequency goes with --kind wall or offcpu: threads are read for "
			  "their time alone");
		return -EINVAL;
	}
	if (check_waits(options) < 0)
		return -EINVAL;
	return check_short_waits(&options->recording);
}

static int refuse_output(const struct options *options, const char *what)
{
	char kinds[RECORDING_KINDS_BYTES];

	log_error("%s holds one kind of samples, and --kind is %s: .html and .fgrec hold all of "
		  "them, and 'fgcollect render --kind KIND FILE.fgrec -o FILE' draws one",
		  what, recording_kinds_text(recording_kinds(&options->recording), kinds));
	return -EINVAL;
}

int kind_options_check_outputs(const struct options *options)
{
	const struct watch_options *const watch = &options->watch;

	if (!recording_has_several(&options->recording))
		return 0;
	if (options->command == COMMAND_WATCH && watch->output_dir &&
	    !render_holds_kinds(watch->format))
		return refuse_output(options, "--format: a graph of this form");
	for (size_t i = 0; options->command == COMMAND_RECORD && i < options->n_outputs; i++) {
		if (!render_holds_kinds(options->outputs[i].format))
			return refuse_output(options, options->outputs[i].path);
	}
	return 0;
}
