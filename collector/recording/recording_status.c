// SPDX-License-Identifier: Apache-2.0
/* A recording's status, facts and output files; see recording.h. */
#include "recording/recording.h"

#include "base/clock.h"

static void window_status(const struct window *window, struct recording_status *ret)
{
	struct window_copy sums;

	window_sum(window, &sums);
	ret->elapsed_ns = sums.covered_ns;
	ret->samples = sums.quality.samples;
	ret->lost = sums.quality.lost_samples;
	ret->quality = sums.quality;
}

static void put_parts(const struct recording *recording, struct recording_status *ret)
{
	const struct tree_sink *const *const trees =
		(const struct tree_sink *const *)recording->trees;

	if (recording->window) {
		ret->parts[ret->n_parts++] = (struct recording_part){
			.kind = recording->window->sink.kind, .quality = ret->quality};
	}
	for (size_t i = 0; i < recording->n_trees; i++) {
		ret->parts[ret->n_parts++] = (struct recording_part){
			.kind = trees[i]->sink.kind, .quality = trees[i]->profile.quality};
	}
	ret->live = recording->counts.live;
	for (const struct sample_source *source = recording->sources; source;
	     source = source->next) {
		if (source->ops->status)
			source->ops->status(source, ret);
	}
}

void recording_status(const struct recording *recording, const struct recording_model *model,
		      uint64_t now_ns, struct recording_status *ret)
{
	const struct tree_sink *const tree = recording->trees[0];
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
		ret->outside = (uint32_t)tree->seen.outside;
	}
	if (recording->window)
		window_status(&recording->window->window, ret);
	put_parts(recording, ret);
	while ((process = targets_next(model->targets, &pos))) {
		if (!process_is_jvm(process) ||
		    !recording_is_of_interest(&recording->options, process) ||
		    !selections_fit(&recording->selections, process) ||
		    (tree && seen_jvms_has(&tree->seen, process)))
			continue;
		ret->jvms++;
		ret->outside += process->jvm->is_outside;
	}
}

void recording_info(const struct recording *recording, const struct tree_sink *tree,
		    uint64_t now_ns, struct profile_info *ret)
{
	const struct profile_kind *const kind = tree->sink.kind->profile;
	const bool is_cpu = kind == &profile_kind_cpu;
	const unsigned wall_hz =
		profile_kind_is_of_threads(kind) ? recording_wall_hz(&recording->options) : 0;
	const uint64_t end = now_ns < recording->end_ns ? now_ns : recording->end_ns;

	*ret = (struct profile_info){
		.host = recording->host_name,
		.boot_id = recording->boot_id,
		.kernel = recording->host.release,
		.event = is_cpu ? sampler_event(recording->sampler) : kind->name,
		.program = "fgcollect " FG_VERSION,
		.hz = is_cpu ? recording->options.hz : wall_hz,
		.start_unix_ns = recording->start_unix_ns,
		.duration_ns = end - recording->start_ns,
		.quality = tree->profile.quality,
	};
	for (int i = 0; i < STACK_ENDS; i++)
		ret->reasons[i] = stack_end_name((enum stack_end)i);
}

int recording_render(struct recording *recording, enum render_format format,
		     const struct render_options *options, FILE *stream)
{
	struct profile_info infos[SAMPLE_KINDS];
	struct profile_part parts[SAMPLE_KINDS] = {{0}};
	struct render_options all = *options;

	for (size_t i = 0; i < recording->n_trees; i++) {
		struct tree_sink *const tree = recording->trees[i];

		recording_info(recording, tree, clock_now_ns(), &infos[i]);
		timeline_sort(&tree->timeline);
		parts[i] = (struct profile_part){.kind = tree->sink.kind->profile,
						 .profile = &tree->profile,
						 .timeline = &tree->timeline,
						 .info = &infos[i]};
	}
	all.kind = parts[0].kind;
	all.info = parts[0].info;
	all.timeline = parts[0].timeline;
	all.others = render_holds_kinds(format) ? parts + 1 : NULL;
	all.n_others = render_holds_kinds(format) ? recording->n_trees - 1 : 0;
	return render_write(parts[0].profile, format, &all, stream);
}

int recording_write_window(const struct recording *recording, FILE *stream)
{
	struct window_copy copy;
	int err = window_copy(&recording->window->window, &copy);

	if (!err) {
		const struct render_options options = {
			.timeline = &copy.timeline, .kind = recording->window->sink.kind->profile};

		err = render_write(&copy.profile, RENDER_RECORDING, &options, stream);
		window_copy_fini(&copy);
	}
	return err;
}
