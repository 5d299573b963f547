// SPDX-License-Identifier: Apache-2.0
/* Counts what is ignored, and keeps the first reason, see import_report.h. */
#include "import/import_report.h"

void import_report_ignore(struct import_report *report, uint64_t line, const char *reason)
{
	if (report->ignored++ > 0)
		return;
	report->first_ignored = line;
	report->first_reason = reason;
}
