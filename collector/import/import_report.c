// SPDX-License-Identifier: Apache-2.0
/* Of all that is ignored, the first is kept with its reason, see import_report.h. */
#include "import/import_report.h"

void import_report_ignore(struct import_report *report, uint64_t line, const char *reason)
{
	if (report->ignored++ > 0)
		return;
	report->first_ignored = line;
	report->first_reason = reason;
}
