// SPDX-License-Identifier: Apache-2.0
/* Checks outputs first and writes them last, see output.h. */
#include "cli/output.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/stdout_output.h"

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
						  : output_path_check(output->path);

		if (err)
			return err;
	}
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
		fprintf(stderr, "standard output: %" PRIu64 " bytes, CRC-32 %08" PRIx32 "\n",
			output.bytes, output.crc);
	return err;
}

int output_write(const struct output_path *output, struct recorder *recorder,
		 const struct render_options *options)
{
	struct file_atomic file;
	int err;

	if (output->is_stdout)
		return write_stdout(output->format, recorder, options);
	err = file_atomic_open(&file, output->path, 0644);

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
