// SPDX-License-Identifier: Apache-2.0
/*
 * fgcollect replay: the stacks of a capture, made anew and drawn. A replay is a recorder that is
 * done at once, so that what draws a recording draws a replay, too.
 */
#include "capture/replay.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/map64.h"
#include "capture/capture.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/recorder.h"
#include "options/option_value.h"
#include "sinks/tree_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_BYTES 8192

/* What the replayed samples become. */
struct replay_recorder {
	struct recorder base;
	const struct options *options;
	struct replay *replay;
	struct tree_sink *tree;
	struct sample_watch *capture; /* or NULL */
	regex_t match;
	bool has_match;
	struct map64 chosen; /* numbers of samples; if is_chosen */
	bool is_chosen;
	struct replay_counts counts;
};

static struct replay_recorder *self(struct recorder *recorder)
{
	return (struct replay_recorder *)recorder;
}

/* ---- which samples ---- */

/* Frames with the suffix of their kind, as folded stacks have them. */
static bool has_frame(const regex_t *match, const struct named_sample *sample)
{
	char text[NAME_BYTES];

	for (size_t i = 0; i < sample->n_frames; i++) {
		const struct frame *const frame = &sample->frames[i];

		snprintf(text, sizeof(text), "%s%s", frame->name, frame_kind_suffix(frame->kind));
		if (regexec(match, text, 0, NULL, 0) == 0)
			return true;
	}
	return false;
}

static void choose(void *arg, uint64_t id, const struct named_sample *sample)
{
	struct replay_recorder *const replay = arg;
	const uint64_t most = replay->options->replay.most;

	if ((most == 0 || replay->chosen.count < most) &&
	    (!replay->has_match || has_frame(&replay->match, sample)) &&
	    map64_put(&replay->chosen, id, replay) < 0)
		log_warning("there is not enough memory for all samples that match");
}

static bool is_chosen(void *arg, uint64_t id)
{
	const struct replay_recorder *const replay = arg;

	return map64_find(&replay->chosen, id);
}

/* Makes all stacks once, to see which of them are wanted. */
static int choose_samples(struct replay_recorder *replay)
{
	const struct replay_run run = {
		.style = &replay->options->recording.style, .named = choose, .arg = replay};
	int err = replay_run(replay->replay, &run, &replay->counts);

	replay->is_chosen = true;
	if (!err && replay->chosen.count == 0) {
		log_error("%s: none of its %llu samples has a frame that matches %s",
			  replay->options->replay.path, (unsigned long long)replay->counts.samples,
			  replay->options->replay.match);
		err = -ENODATA;
	}
	return err;
}

/* ---- the run ---- */

static int begin_capture(void *arg, const struct capture_stages *stages,
			 struct sample_watch **ret_watch)
{
	struct replay_recorder *const replay = arg;
	const int fd = memfd_create("fgcollect-capture", MFD_CLOEXEC);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	struct capture *capture;
	int err;

	if (!stream)
		return -errno;
	err = capture_new(stages, stream, &capture);
	if (!err)
		replay->capture = *ret_watch = capture_watch(capture);
	return err;
}

static int run(struct replay_recorder *replay)
{
	const struct replay_run all = {
		.style = &replay->options->recording.style,
		.dump = &replay->options->dump,
		.sinks = &replay->tree->sink,
		.watch = replay->options->capture_path ? begin_capture : NULL,
		.wants = replay->is_chosen ? is_chosen : NULL,
		.arg = replay,
	};
	struct sink *const sink = &replay->tree->sink;
	const struct profile_info *const info = replay_info(replay->replay);
	const struct sink_progress progress = {
		.lost = info->quality.lost_samples,
		.stackless = info->quality.stackless_samples,
	};
	int err = sink->ops->begin(sink, replay_start_ns(replay->replay));

	if (!err)
		err = replay_run(replay->replay, &all, &replay->counts);
	sink->ops->advance(sink, &progress);
	return err;
}

static void say_counts(const struct replay_recorder *replay)
{
	const struct replay_counts *const counts = &replay->counts;
	const char *const path = replay->options->replay.path;

	if (counts->left_out > 0)
		log_warning("%s: record left out %llu samples, for which a capture had no room",
			    path, (unsigned long long)counts->left_out);
	if (counts->unanswered > 0)
		log_warning("%s: %llu questions about memory, files and the kernel have no answer "
			    "there: another version of fgcollect has made the capture",
			    path, (unsigned long long)counts->unanswered);
}

static int replay_start(struct recorder *recorder, const struct recording_options *options)
{
	struct replay_recorder *const replay = self(recorder);
	int err = 0;

	(void)options;
	if (replay->has_match || replay->options->replay.most)
		err = choose_samples(replay);
	if (!err)
		err = run(replay);
	if (err == -ENODATA)
		return err; /* it has been said */
	if (err)
		log_error("%s: %s", replay->options->replay.path,
			  err == -EINVAL ? "the capture is damaged" : strerror(-err));
	else
		say_counts(replay);
	return err;
}

/* ---- the recorder ---- */

static void fill_info(const struct replay_recorder *replay, struct profile_info *ret)
{
	*ret = *replay_info(replay->replay);
	ret->quality = replay->tree->profile.quality;
	for (int i = 0; i < STACK_ENDS; i++)
		ret->reasons[i] = stack_end_name((enum stack_end)i);
}

static int replay_status(struct recorder *recorder, struct recording_status *ret)
{
	const struct replay_recorder *const replay = self(recorder);
	struct profile_info info;

	fill_info(replay, &info);
	*ret = (struct recording_status){
		.elapsed_ns = info.duration_ns,
		.samples = info.quality.samples,
		.lost = info.quality.lost_samples,
		.jvms = (uint32_t)replay->tree->seen.seen.count,
		.outside = (uint32_t)replay->tree->seen.outside,
		.is_done = true,
		.quality = info.quality,
		.parts = {{.kind = &sample_kind_cpu, .quality = info.quality}},
		.n_parts = 1,
	};
	snprintf(ret->event, sizeof(ret->event), "%s", info.event);
	return 0;
}

static int replay_render(struct recorder *recorder, enum render_format format,
			 const struct render_options *options, FILE *stream)
{
	struct replay_recorder *const replay = self(recorder);
	struct render_options all = *options;
	struct profile_info info;

	fill_info(replay, &info);
	timeline_sort(&replay->tree->timeline);
	all.info = &info;
	all.timeline = &replay->tree->timeline;
	return render_write(&replay->tree->profile, format, &all, stream);
}

static int replay_capture(struct recorder *recorder, struct capture_counts *ret)
{
	struct replay_recorder *const replay = self(recorder);
	struct capture *const capture = capture_of(replay->capture);
	const int fd = capture_finish(capture, replay_info(replay->replay),
				      replay_start_ns(replay->replay));

	capture_counts(capture, ret);
	return fd;
}

static void replay_close(struct recorder *recorder)
{
	struct replay_recorder *const replay = self(recorder);

	if (replay->capture)
		replay->capture->ops->free(replay->capture);
	if (replay->tree)
		sink_free_all(&replay->tree->sink);
	if (replay->has_match)
		regfree(&replay->match);
	map64_fini(&replay->chosen);
	replay_free(replay->replay);
	free(replay);
}

static int compile_match(struct replay_recorder *replay)
{
	const char *const text = replay->options->replay.match;
	char why[128];
	int err;

	if (!text)
		return 0;
	err = regcomp(&replay->match, text, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (err) {
		regerror(err, &replay->match, why, sizeof(why));
		return option_bad_value("--match", text, why);
	}
	replay->has_match = true;
	return 0;
}

static int open_capture(struct replay_recorder *replay)
{
	const char *const path = replay->options->replay.path;
	const bool is_stdin = strcmp(path, "-") == 0;
	_cleanup_close_ int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	const char *reason;
	int err;

	if (fd < 0) {
		err = -errno;
		log_error("%s: cannot be opened: %s", path, strerror(-err));
		return err;
	}
	err = replay_open(fd, &replay->replay, &reason);
	if (err)
		log_error("%s: %s%s%s", path, reason, err == -EINVAL || err == -EFBIG ? "" : ": ",
			  err == -EINVAL || err == -EFBIG ? "" : strerror(-err));
	return err;
}

static int open_replay(const struct options *options, struct recorder **ret)
{
	static const struct recorder_ops ops = {
		.start = replay_start,
		.status = replay_status,
		.render = replay_render,
		.capture = replay_capture,
		.close = replay_close,
	};
	struct replay_recorder *replay = calloc(1, sizeof(*replay));
	int err;

	if (!replay)
		return -ENOMEM;
	replay->base.ops = &ops;
	replay->options = options;
	err = compile_match(replay);
	if (!err)
		err = open_capture(replay);
	if (!err)
		err = tree_sink_new(&replay->tree);
	if (err)
		replay_close(&replay->base);
	else
		*ret = &replay->base;
	return err;
}

int command_replay(const struct options *options)
{
	/* With the frequency of the capture, which the output names. */
	struct options all = *options;
	struct recording_status status;
	struct recorder *recorder = NULL;
	int err;

	if (output_check(&all) < 0 || open_replay(&all, &recorder) < 0)
		return EXIT_FAILURE;
	all.recording.hz = replay_info(self(recorder)->replay)->hz;
	err = recorder->ops->start(recorder, &all.recording);
	if (!err)
		err = recorder->ops->status(recorder, &status);
	if (!err)
		err = output_write_all(recorder, &all, &status);
	recorder->ops->close(recorder);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
