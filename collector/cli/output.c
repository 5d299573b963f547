// SPDX-License-Identifier: Apache-2.0
/* Checks outputs first and writes them last, see output.h. */
#include "cli/output.h"

#include "base/file.h"
#include "base/log.h"
#include "capture/capture_format.h"
#include "cli/stdout_output.h"
#include "recording/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int check_stdout(enum render_format format)
{
	if (format == RENDER_FOLDED || format == RENDER_PERF_TEXT || !isatty(STDOUT_FILENO))
		return 0;
	log_error("-o -: this format is not for a terminal: redirect standard output, or give "
		  "-o FILE");
	return -EINVAL;
}

int output_check(const struct options *options)
{
	for (size_t i = 0; i < options->n_outputs; i++) {
		const struct output_path *output = &options->outputs[i];
		const int err = output->is_stdout ? check_stdout(output->format)
						  : output_path_check("-o", output->path);

		if (err)
			return err;
	}
	return options->capture_path ? output_path_check("--capture", options->capture_path) : 0;
}

static void say_checksum(const struct stdout_output *output)
{
	fprintf(stderr, "standard output: %" PRIu64 " bytes, CRC-32 %08" PRIx32 "\n", output->bytes,
		output->crc);
}

int output_draw(struct draw_options *options, int (*draw)(struct draw_options *options))
{
	struct stdout_output output;
	int err, written;

	if (!options->says_checksum || !options->to_stdout)
		return draw(options);
	err = stdout_output_open(&output, STDOUT_FILENO);
	if (err)
		return err;
	options->stream = output.stream;
	err = draw(options);
	options->stream = NULL;
	written = stdout_output_close(&output);
	if (!err && written)
		log_error("cannot write to standard output: %s", strerror(-written));
	if (err || written)
		return err ? err : written;
	say_checksum(&output);
	return 0;
}

static int write_stdout(enum render_format format, struct recorder *recorder,
			const struct render_options *options)
{
	struct stdout_output output;
	int err = stdout_output_open(&output, STDOUT_FILENO), written;

	if (!err) {
		err = recorder->ops->render(recorder, format, options, output.stream);
		written = stdout_output_close(&output);
		err = written ? written : err;
	}
	if (err)
		log_error("cannot write to standard output: %s", strerror(-err));
	else
		say_checksum(&output);
	return err;
}

static int write_output(const struct output_path *output, struct recorder *recorder,
			const struct render_options *options)
{
	struct file_atomic file;
	int err;

	if (output->is_stdout)
		return write_stdout(output->format, recorder, options);
	err = file_atomic_open(&file, output->path, file_output_mode(output->path));

	if (!err) {
		err = recorder->ops->render(recorder, output->format, options, file.stream);
		if (err)
			file_atomic_abandon(&file);
		else
			err = file_atomic_commit(&file);
	}
	if (err)
		log_error("cannot write %s: %s", output->path, strerror(-err));
	return err;
}

static bool has_stdout(const struct options *options)
{
	for (size_t i = 0; i < options->n_outputs; i++) {
		if (options->outputs[i].is_stdout)
			return true;
	}
	return false;
}

static void say_capture(const char *path, const struct capture_counts *counts, FILE *said)
{
	char samples[32];

	fprintf(said,
		"%s: %s samples, with bytes of the programs' stacks and memory, which may be "
		"secrets; its mode is 0600\n",
		path, report_count(counts->samples, samples));
	if (counts->left_out > 0)
		log_warning("%s: %llu samples are left out, because a capture has limits: of %llu "
			    "MiB, and "
			    "of frames, code and files",
			    path, (unsigned long long)counts->left_out,
			    (unsigned long long)(CAPTURE_MAX_BYTES >> 20));
}

static int copy_capture(int fd, const char *path)
{
	struct file_atomic file;
	int err = file_atomic_open(&file, path, 0600);

	if (err)
		return err;
	err = file_copy(fd, file.stream);
	if (!err)
		return file_atomic_commit(&file);
	file_atomic_abandon(&file);
	return err;
}

static int write_capture(const struct options *options, struct recorder *recorder, FILE *said)
{
	const char *const path = options->capture_path;
	struct capture_counts counts;
	const int fd = recorder->ops->capture(recorder, &counts);
	int err = fd < 0 ? fd : copy_capture(fd, path);

	if (fd >= 0)
		close(fd);
	if (err)
		log_error("cannot write the capture %s: %s", path, strerror(-err));
	else
		say_capture(path, &counts, said);
	return err;
}

/* Says how good the samples of a kind are, and who took them. */
static void say_part(const struct recording_status *status, const struct recording_part *part,
		     FILE *said)
{
	char quality[REPORT_BYTES];

	report_quality(part->kind->profile, &part->quality, quality);
	if (part->kind == &sample_kind_cpu)
		report_source(status->source, quality);
	else if (profile_kind_is_of_threads(part->kind->profile))
		report_clock(status->clock_source, quality);
	else
		report_probes(&status->probes, quality);
	if (part->kind == &sample_kind_live)
		report_live(&status->live, quality);
	report_outside(status->outside, quality);
	fprintf(said, "%s\n", quality);
}

int output_write_all(struct recorder *recorder, const struct options *options,
		     const struct recording_status *status)
{
	char subtitle[REPORT_BYTES], quality[REPORT_BYTES];
	FILE *const said = has_stdout(options) ? stderr : stdout;
	struct render_options render = options->render;
	const struct profile_kind *const first = status->parts[0].kind->profile;
	int err = 0;

	render.subtitle = subtitle;
	render.notes = quality;
	report_subtitle(status, options->recording.hz, subtitle);
	report_quality(first, &status->quality, quality);
	for (size_t i = 0; !err && i < options->n_outputs; i++) {
		err = write_output(&options->outputs[i], recorder, &render);
		if (!err && !options->outputs[i].is_stdout)
			fprintf(said, "%s\n", options->outputs[i].path);
	}
	if (!err && options->capture_path)
		err = write_capture(options, recorder, said);
	/* Said here alone: a file is the same whoever took its samples. */
	fprintf(said, "%s\n", subtitle);
	for (size_t i = 0; i < status->n_parts; i++)
		say_part(status, &status->parts[i], said);
	return err;
}
