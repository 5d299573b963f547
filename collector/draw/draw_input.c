// SPDX-License-Identifier: Apache-2.0
/* Reads the files to draw, and says what is wrong with them; see draw_input.h. */
#include "draw/draw_input.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "draw/draw_recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int draw_input_init(struct draw_input *input)
{
	*input = (struct draw_input){0};
	timeline_init(&input->recording.timeline, 0);
	if (profile_init(&input->profile, IMPORT_MAX_NODES) < 0 ||
	    profile_init(&input->before, IMPORT_MAX_NODES) < 0) {
		log_error("there is no memory to begin with");
		return -ENOMEM;
	}
	return 0;
}

void draw_input_fini(struct draw_input *input)
{
	profile_fini(&input->profile);
	profile_fini(&input->before);
	timeline_fini(&input->recording.timeline);
}

void draw_input_forget_recording(struct draw_input *input, const char *why)
{
	if (input->recording.is_read)
		log_warning("threads and times of the recording are left out: %s", why);
	timeline_fini(&input->recording.timeline);
	input->recording = (struct import_recording){0};
	timeline_init(&input->recording.timeline, 0);
}

static int open_input(const char *path)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return dup(STDIN_FILENO);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		errno = EISDIR;
		return -1;
	}
	return fd;
}

static bool is_binary(const struct import_report *report)
{
	return report->format == IMPORT_PPROF || report->format == IMPORT_RECORDING;
}

static int failed(const char *path, const struct import_report *report, int err)
{
	if (report->first_reason && (err == -EINVAL || is_binary(report)))
		log_error("%s: %s", path, report->first_reason);
	else if (err == -EFBIG)
		log_error("%s: its names take more than 1 GiB: these are hardly stacks", path);
	else if (err == -ENOMEM)
		log_error("%s: there is not enough memory for its stacks", path);
	else
		log_error("%s: cannot be read: %s", path, strerror(-err));
	return err;
}

static void warn_of_ignored(const char *path, const struct import_report *report)
{
	const bool is_pprof = report->format == IMPORT_PPROF;
	const uint64_t all = is_pprof ? report->stacks + report->ignored : report->lines;

	log_warning("%s: %llu of %llu %ss ignored; the first is %s %llu: %s", path,
		    (unsigned long long)report->ignored, (unsigned long long)all,
		    is_pprof ? "sample" : "line", is_pprof ? "sample" : "line",
		    (unsigned long long)report->first_ignored, report->first_reason);
}

static void warn_of_inlined(const char *path, const struct inlined_stats *stats)
{
	if (stats->no_files > 0)
		log_warning(
			"%s: --inline: %llu of its files are not on this host or cannot be read",
			path, (unsigned long long)stats->no_files);
	if (stats->no_debug > 0)
		log_warning("%s: --inline: %llu of its files have no debug information (-g, or a "
			    "package with -dbg) or a broken one",
			    path, (unsigned long long)stats->no_debug);
	if (stats->no_symbols > 0)
		log_warning("%s: --inline: %llu places are in functions that their files do not "
			    "have: is it perf script without +symoff, or have they changed?",
			    path, (unsigned long long)stats->no_symbols);
	if (stats->late > 0)
		log_warning("%s: --inline: %llu places took longer than 10 s a file", path,
			    (unsigned long long)stats->late);
}

static void warn(const char *path, const struct import_report *report)
{
	if (report->ignored > 0)
		warn_of_ignored(path, report);
	warn_of_inlined(path, &report->inlined);
	if (report->rounded > 0)
		log_warning("%s: %llu counts are not whole and were rounded", path,
			    (unsigned long long)report->rounded);
	if (report->other_events > 0 && report->stacks > 0)
		log_warning("%s: %llu samples of other events than %s left out; --event-filter %s "
			    "takes those",
			    path, (unsigned long long)report->other_events, report->event,
			    report->other_event);
	if (report->two_counts > 0 && report->two_counts < report->stacks)
		log_warning(
			"%s: %llu of %llu stacks end in two counts, of which the first is taken "
			"for before: or are these names that end in a number?",
			path, (unsigned long long)report->two_counts,
			(unsigned long long)report->stacks);
}

static int judge(const char *path, const struct import_options *options,
		 const struct import_report *report)
{
	if (report->stacks > 0)
		return 0;
	if (report->other_events > 0)
		log_error("%s: no samples of the event %s; there are samples of %s", path,
			  options->event ? options->event : "asked for", report->other_event);
	else if (report->format == IMPORT_NOTHING && report->lines == 0)
		log_error("%s: is empty: there are no stacks to draw", path);
	else
		log_error("%s: there are no stacks in it: folded stacks (a;b;c 42), the text of "
			  "perf script, pprof or a recording are needed",
			  path);
	return -ENODATA;
}

/* Reads a recording. The recording keeps the counts of its own reasons until they are joined. */
static int read_recording(struct draw_input *input, int fd, const struct import_options *options,
			  struct import_target *target)
{
	uint64_t *const counts = input->profile.quality.truncated_samples;
	const size_t bytes = sizeof(input->profile.quality.truncated_samples);
	int err;

	memset(counts, 0, bytes);
	err = import_read(fd, options, target);
	memcpy(target->recording->info.quality.truncated_samples, counts, bytes);
	return err;
}

/* Joins the facts of one file, other than its stacks, with the facts of the files before. */
static int join(struct draw_input *input, const char *path, struct import_recording *one)
{
	struct import_recording *const all = &input->recording;
	struct profile_quality *const quality = &input->profile.quality;
	const bool has_others = input->n_read++ > 0, is_joined = one->is_read && all->is_read;
	int err = 0;

	if (is_joined) {
		err = draw_recordings_add(all, one, path);
	} else if (one->is_read) {
		const struct import_recording none = *all;

		*all = *one;
		*one = none;
	}
	if (has_others && all->is_read && !is_joined)
		draw_recordings_add_stacks(all, path);
	memcpy(quality->truncated_samples, all->info.quality.truncated_samples,
	       sizeof(quality->truncated_samples));
	all->info.quality = *quality;
	return err;
}

int draw_input_read(struct draw_input *input, const char *path,
		    const struct import_options *options)
{
	struct import_recording recording = {0};
	struct import_target target = {
		.profile = &input->profile,
		.before = &input->before,
		.recording = &recording,
	};
	const struct import_report *const report = &target.report;
	const uint64_t cut = input->profile.quality.overflow_samples;
	_cleanup_close_ int fd = open_input(path);
	int err;

	if (fd < 0) {
		err = -errno;
		log_error("%s: cannot be opened: %s", path, strerror(-err));
		return err;
	}
	timeline_init(&recording.timeline, 0);
	err = read_recording(input, fd, options, &target);
	if (!err)
		err = join(input, path, &recording);
	timeline_fini(&recording.timeline);
	if (err < 0)
		return failed(path, report, err);
	warn(path, report);
	if (input->profile.quality.overflow_samples > cut)
		log_warning(
			"%s: stacks of %llu are cut at [overflow]: there are more than %u frames",
			path, (unsigned long long)(input->profile.quality.overflow_samples - cut),
			IMPORT_MAX_NODES);
	input->has_periods |= report->has_periods;
	if (report->has_periods && !input->event[0])
		memcpy(input->event, report->event, sizeof(input->event));
	return judge(path, options, report);
}

static int reverse(struct profile *profile)
{
	struct profile reversed;
	int err = profile_init(&reversed, profile->max_nodes);

	if (!err)
		err = profile_add_reversed(&reversed, profile);
	if (err) {
		profile_fini(&reversed);
		return err;
	}
	profile_fini(profile);
	*profile = reversed;
	return 0;
}

int draw_input_reverse(struct draw_input *input)
{
	int err = reverse(&input->profile);

	draw_input_forget_recording(
		input, "they are of stacks that begin at the root; the page has 'Callers first'");
	if (!err)
		err = reverse(&input->before);
	if (err)
		log_error("there is no memory to reverse the stacks: %s", strerror(-err));
	return err;
}
