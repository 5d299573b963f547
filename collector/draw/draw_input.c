// SPDX-License-Identifier: Apache-2.0
/* Reads the files to draw, and says what is wrong with them; see draw_input.h. */
#include "draw/draw_input.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "draw/draw_recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
	if (input->next) {
		draw_input_fini(input->next);
		free(input->next);
	}
	profile_fini(&input->profile);
	profile_fini(&input->before);
	timeline_fini(&input->recording.timeline);
}

void draw_input_forget_recording(struct draw_input *input, const char *why)
{
	if (input->recording.timeline.n_entries > 0)
		log_warning("threads and times of the recording are left out: %s", why);
	timeline_fini(&input->recording.timeline);
	input->recording = (struct import_recording){0};
	timeline_init(&input->recording.timeline, 0);
}

#define FEW_LINES 3u /* of which nothing can be said */

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
	if (report->other_kinds > 0)
		log_warning("%s: %llu kinds of samples beyond the first %u left out; --kind takes "
			    "one of them",
			    path, (unsigned long long)report->other_kinds, PROFILE_MAX_KINDS);
	if (report->two_counts > 0 && report->two_counts < report->stacks)
		log_warning(
			"%s: %llu of %llu stacks end in two counts, of which the first is taken "
			"for before: or are these names that end in a number?",
			path, (unsigned long long)report->two_counts,
			(unsigned long long)report->stacks);
}

/* A file as it is read: where each of its kinds goes. target is the first member, see open_kind. */
struct reading {
	struct import_target target;
	struct draw_input *first;
	const char *path;
	struct draw_input *inputs[PROFILE_MAX_KINDS];
	struct import_recording recordings[PROFILE_MAX_KINDS];
	size_t n;
	char names[PROFILE_MAX_KINDS * (PROFILE_KIND_BYTES + 2)]; /* of all kinds in the file */
};

/*
 * Refuses what is hardly a file of stacks, and counts that lose more than a hundredth of all when
 * they are made whole.
 */
static int judge_stacks(const struct reading *reading)
{
	const struct import_report *const report = &reading->target.report;
	const bool is_text =
		report->format == IMPORT_FOLDED || report->format == IMPORT_PERF_SCRIPT;
	const uint64_t lines = report->lines - report->comments;

	if (is_text && report->ignored > lines / 2 && lines > FEW_LINES) {
		log_error("%s: more than half of its lines are no stacks, so what is it? Folded "
			  "stacks "
			  "(a;b;c 42), the text of perf script, pprof or a recording are needed",
			  reading->path);
		return -ENODATA;
	}
	if (report->rounded > 0 && report->rounded > report->total / 50) {
		log_error(
			"%s: its counts are fractions, and made whole they would be wrong by more "
			"than a hundredth of all: multiply them first, such as with awk "
			"'{$NF = int($NF * 1000 + .5)} 1'",
			reading->path);
		return -ENODATA;
	}
	return 0;
}

static int judge(const struct reading *reading, const struct import_options *options)
{
	const struct import_report *const report = &reading->target.report;
	const char *const path = reading->path;

	if (report->stacks > 0)
		return judge_stacks(reading);
	if (reading->n == 0 && reading->names[0] && reading->first->wanted) {
		log_error("%s: no samples of the kind %s; there are: %s", path,
			  reading->first->wanted, reading->names);
		return -ENODATA;
	}
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

/* The input of that kind, which is made if it is new. NULL: there is no memory. */
static struct draw_input *input_of(struct draw_input *first, const struct profile_kind *kind)
{
	struct draw_input *input = first, **end = &first->next;

	for (; input && input->kind.name; end = &input->next, input = input->next)
		if (strcmp(input->kind.name, kind->name) == 0)
			return input;
	if (!input) {
		input = calloc(1, sizeof(*input));
		if (!input || draw_input_init(input) < 0) {
			free(input);
			return NULL;
		}
		/* There is always a first. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		*end = input;
	}
	snprintf(input->kind_texts[0], PROFILE_KIND_BYTES, "%s", kind->name);
	snprintf(input->kind_texts[1], PROFILE_KIND_BYTES, "%s", kind->unit);
	input->kind = (struct profile_kind){input->kind_texts[0], input->kind_texts[1]};
	return input;
}

/* The recording keeps the counts of its own reasons until they are joined. */
static int open_kind(struct import_target *target, const struct profile_kind *kind)
{
	struct reading *const reading = (struct reading *)target;
	const char *const wanted = reading->first->wanted;
	struct import_recording *const recording = &reading->recordings[reading->n];
	const struct profile_kind *const said =
		wanted && target->report.format == IMPORT_FOLDED ? profile_kind_find(wanted) : NULL;
	struct draw_input *input;
	size_t len = strlen(reading->names);

	if (said) /* folded stacks do not say what they count */
		kind = said;

	snprintf(reading->names + len, sizeof(reading->names) - len, "%s%s", len ? ", " : "",
		 kind->name);
	if (wanted && strcmp(wanted, kind->name) != 0)
		return 1;
	input = input_of(reading->first, kind);
	if (!input)
		return -ENOMEM;
	if (!profile_kind_is_same(&input->kind, kind)) {
		log_warning("%s: its kind %s is in %s, not in %s as before, and is left out",
			    reading->path, kind->name, kind->unit, input->kind.unit);
		return 1;
	}
	input->is_later |= len > 0;
	memset(input->profile.quality.truncated_samples, 0,
	       sizeof(input->profile.quality.truncated_samples));
	timeline_init(&recording->timeline, 0);
	reading->inputs[reading->n++] = input;
	target->profile = &input->profile;
	target->before = &input->before;
	target->recording = recording;
	return 0;
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

/* Joins what was read of each kind. */
static int join_kinds(struct reading *reading)
{
	int err = 0;

	for (size_t i = 0; !err && i < reading->n; i++) {
		struct draw_input *const input = reading->inputs[i];
		uint64_t *const counts = input->profile.quality.truncated_samples;

		/* import_read has summed the kind that it has read last. */
		if (&input->profile != reading->target.profile) {
			profile_sum(&input->profile);
			profile_sum(&input->before);
		}
		memcpy(reading->recordings[i].info.quality.truncated_samples, counts,
		       sizeof(input->profile.quality.truncated_samples));
		err = join(input, reading->path, &reading->recordings[i]);
	}
	return err;
}

static void reading_fini(struct reading *reading)
{
	for (size_t i = 0; i < reading->n; i++)
		timeline_fini(&reading->recordings[i].timeline);
}

static uint64_t count_cut(const struct draw_input *input)
{
	uint64_t cut = 0;

	for (; input; input = input->next)
		cut += input->profile.quality.overflow_samples;
	return cut;
}

/* Periods and samples are added up only by who wants it. */
static void warn_of_units(const struct draw_input *input, const char *path,
			  const struct import_report *report)
{
	if (input->n_read < 2 || report->stacks == 0 || report->has_periods == input->has_periods)
		return;
	log_warning(
		"%s: its stacks weigh %s, and those of the files before do not: they are added up "
		"all the same",
		path, report->has_periods ? "periods of an event" : "samples");
}

int draw_input_read(struct draw_input *input, const char *path,
		    const struct import_options *options)
{
	_cleanup_(reading_fini) struct reading reading = {
		.target = {.profile = &input->profile, .before = &input->before, .open = open_kind},
		.first = input,
		.path = path,
	};
	const struct import_report *const report = &reading.target.report;
	struct import_options same = *options;
	const uint64_t cut = count_cut(input);
	_cleanup_close_ int fd = open_input(path);
	int err;

	if (fd < 0) {
		err = -errno;
		log_error("%s: cannot be opened: %s", path, strerror(-err));
		return err;
	}
	if (!same.event && input->first_event[0])
		same.event = input->first_event;
	err = import_read(fd, &same, &reading.target);
	if (!err)
		err = join_kinds(&reading);
	if (err < 0)
		return failed(path, report, err);
	warn(path, report);
	if (count_cut(input) > cut)
		log_warning(
			"%s: stacks of %llu are cut at [overflow]: there are more than %u frames",
			path, (unsigned long long)(count_cut(input) - cut), IMPORT_MAX_NODES);
	if (report->format == IMPORT_PERF_SCRIPT && !input->first_event[0])
		memcpy(input->first_event, report->event, sizeof(input->first_event));
	warn_of_units(input, path, report);
	input->has_periods |= report->has_periods;
	if (report->has_periods && !input->event[0])
		memcpy(input->event, report->event, sizeof(input->event));
	return judge(&reading, &same);
}

int draw_input_take(struct draw_input *first, const struct profile_kind *kind,
		    struct profile *profile, struct timeline *timeline,
		    const struct profile_info *info)
{
	const bool is_later = first->kind.name != NULL;
	struct draw_input *const input = input_of(first, kind);

	if (!input)
		return -ENOMEM;
	profile_fini(&input->profile);
	timeline_fini(&input->recording.timeline);
	input->profile = *profile;
	input->recording =
		(struct import_recording){.timeline = *timeline, .info = *info, .is_read = true};
	input->n_read = 1;
	input->is_later = is_later;
	*profile = (struct profile){0};
	*timeline = (struct timeline){0};
	return 0;
}

size_t draw_input_parts(const struct draw_input *input, struct profile_part ret[PROFILE_MAX_KINDS])
{
	size_t n = 0;

	for (; input && input->kind.name && n < PROFILE_MAX_KINDS; input = input->next) {
		const struct import_recording *const recording = &input->recording;
		const bool has_times =
			recording->timeline.n_entries > 0 || recording->timeline.lost_samples > 0;

		if (input->profile.quality.samples == 0 && n > 0)
			continue;
		ret[n++] = (struct profile_part){
			.kind = &input->kind,
			.profile = &input->profile,
			.timeline = recording->is_read && has_times ? &recording->timeline : NULL,
			.info = recording->is_read ? &recording->info : NULL,
		};
	}
	return n;
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
	int err = input->next ? draw_input_reverse(input->next) : 0;

	if (!err)
		err = reverse(&input->profile);

	draw_input_forget_recording(
		input, "they are of stacks that begin at the root; the page has 'Callers first'");
	if (!err)
		err = reverse(&input->before);
	if (err)
		log_error("there is no memory to reverse the stacks: %s", strerror(-err));
	return err;
}
