// SPDX-License-Identifier: Apache-2.0
/* Finds the format of a file and calls the reader of that format, see import.h. */
#include "import/import.h"

#include "base/cleanup.h"
#include "import/pprof.h"
#include "import/readers.h"
#include "import/recording_reader.h"

#include <errno.h>

#define LOOK_BYTES ((size_t)64 << 10)

/* A pprof file is read whole: its tables come after the samples that refer to them. */
static int read_pprof(struct lines *lines, struct import_target *target)
{
	const char *data;
	size_t len;
	const int rc = lines_rest(lines, IMPORT_PPROF_MAX_BYTES, &data, &len);

	if (rc < 0) {
		target->report.first_reason = "more than 512 MiB";
		return rc;
	}
	return import_pprof(data, len, target);
}

/* Whether the format's reader says what kinds there are. */
static bool has_kinds(enum import_format format)
{
	return format == IMPORT_PPROF || format == IMPORT_RECORDING || format == IMPORT_PERF_SCRIPT;
}

static int read_format(struct lines *lines, const struct import_options *options,
		       struct import_target *target)
{
	int rc = 0;

	/* Formats without kinds are of the kind that weighs samples. */
	if (target->open && !has_kinds(target->report.format))
		rc = target->open(target, &profile_kind_cpu);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	switch (target->report.format) {
	case IMPORT_FOLDED:
		return folded_read(lines, target);
	case IMPORT_PERF_SCRIPT:
		return perf_read(lines, options, target);
	case IMPORT_PPROF:
		return read_pprof(lines, target);
	case IMPORT_RECORDING:
		return recording_file_read(lines, target);
	case IMPORT_UNREADABLE:
		return -EINVAL;
	case IMPORT_NOTHING:
		break;
	}
	return 0;
}

int import_read(int fd, const struct import_options *options, struct import_target *target)
{
	_cleanup_(lines_fini) struct lines lines = {0};
	struct import_report *const report = &target->report;
	const char *data = NULL;
	size_t len = 0;
	int rc = lines_init(&lines, fd);

	*report = (struct import_report){0};
	if (rc == 0)
		rc = lines_peek(&lines, LOOK_BYTES, &data, &len);
	if (rc < 0) {
		report->first_reason = lines.source ? text_source_reason(lines.source) : NULL;
		return rc;
	}
	report->format = detect_format(data, len, &report->first_reason);
	rc = read_format(&lines, options, target);
	if (rc < 0 && text_source_reason(lines.source))
		report->first_reason = text_source_reason(lines.source);
	report->lines = lines.number;
	profile_sum(target->profile);
	if (target->before)
		profile_sum(target->before);
	return rc;
}
