// SPDX-License-Identifier: Apache-2.0
/* A recording's status, facts and output files; see recording.h. */
#include "live/recording.h"

#include "base/clock.h"

#include <stdio.h>

static void window_status(const struct window *window, struct recording_status *ret)
{
	struct window_copy sums;

	window_sum(window, &sums);
	ret->elapsed_ns = sums.covered_ns;
	ret->samples = sums.quality.samples;
	ret->lost = sums.quality.lost_samples;
	ret->quality = sums.quality;
}

void recording_status(const struct recording *recording, const struct recording_model *model,
		      uint64_t now_ns, struct recording_status *ret)
{
	const struct tree_sink *const tree = recording->tree;
	const uint64_t end = now_ns < recording->end_ns ? now_ns : recording->end_ns;
	const struct process *process;
	size_t pos = 0;

	*ret = (struct recording_status){
		.elapsed_ns = end - recording->start_ns,
		.lost = recording->progress.lost,
		.is_done = recording->is_done,
	};
	if (tree) {
		ret->quality = tree->profile.quality;
		ret->samples = ret->quality.samples;
		ret->jvms = (uint32_t)tree->seen.seen.count;
	}
	if (recording->window)
		window_status(&recording->window->window, ret);
	snprintf(ret->event, sizeof(ret->event), "%s", sampler_event(recording->sampler));
	snprintf(ret->source, sizeof(ret->source), "%s", sampler_source_text(recording->sampler));
	while ((process = targets_next(model->targets, &pos)))
		ret->jvms += process->jvm &&
			     recording_is_of_interest(&recording->options, process) &&
			     selection_fits(&recording->selection, process) &&
			     !(tree && seen_jvms_has(&tree->seen, process));
}

void recording_info(const struct recording *recording, uint64_t now_ns, struct profile_info *ret)
{
	const uint64_t end = now_ns < recording->end_ns ? now_ns : recording->end_ns;

	*ret = (struct profile_info){
		.host = recording->host_name,
		.boot_id = recording->boot_id,
		.kernel = recording->host.release,
		.event = sampler_event(recording->sampler),
		.program = "fgcollect " FG_VERSION,
		.hz = recording->options.hz,
		.start_unix_ns = recording->start_unix_ns,
		.duration_ns = end - recording->start_ns,
		.quality = recording->tree->profile.quality,
	};
	for (int i = 0; i < STACK_ENDS; i++)
		ret->reasons[i] = stack_end_name((enum stack_end)i);
}

int recording_render(struct recording *recording, enum render_format format,
		     const struct render_options *options, FILE *stream)
{
	struct tree_sink *const tree = recording->tree;
	struct render_options all = *options;
	struct profile_info info;

	recording_info(recording, clock_now_ns(), &info);
	timeline_sort(&tree->timeline);
	all.info = &info;
	all.timeline = &tree->timeline;
	return render_write(&tree->profile, format, &all, stream);
}

int recording_write_window(const struct recording *recording, FILE *stream)
{
	struct window_copy copy;
	int err = window_copy(&recording->window->window, &copy);

	if (!err) {
		const struct render_options options = {.timeline = &copy.timeline};

		err = render_write(&copy.profile, RENDER_RECORDING, &options, stream);
		window_copy_fini(&copy);
	}
	return err;
}
