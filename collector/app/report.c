// SPDX-License-Identifier: Apache-2.0
/* Figures as people read them, see report.h. */
#include "app/report.h"

#include <stdio.h>
#include <string.h>

double report_percent(uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (part < whole && percent > 99.9)
		percent = 99.9;
	if (part > 0 && percent < 0.1)
		percent = 0.1;
	return percent;
}

const char *report_count(uint64_t count, char ret[32])
{
	char digits[24];
	const size_t n =
		(size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			ret[out++] = ',';
		ret[out++] = digits[i];
	}
	ret[out] = '\0';
	return ret;
}

void report_quality(const struct profile_quality *quality, char ret[REPORT_BYTES])
{
	const uint64_t all = quality->samples;
	char samples[32], lost[32];
	int n;

	n = snprintf(ret, REPORT_BYTES,
		     "quality: %s samples, %.1f %% named, %.1f %% of Java named, %.1f %% rooted, "
		     "%s lost",
		     report_count(all, samples),
		     report_percent(all - quality->unnamed_samples, all),
		     report_percent(all - quality->unnamed_java_samples, all),
		     report_percent(all - quality->unrooted_samples, all),
		     report_count(quality->lost_samples, lost));
	if (quality->overflow_samples && n > 0 && n < REPORT_BYTES)
		snprintf(ret + n, REPORT_BYTES - (size_t)n, ", %s cut at the memory limit",
			 report_count(quality->overflow_samples, samples));
}

void report_subtitle(const struct recording_status *status, unsigned hz, char ret[REPORT_BYTES])
{
	char samples[32];

	snprintf(ret, REPORT_BYTES, "%s samples of %s at %u Hz in %.1f s, %u JVM%s",
		 report_count(status->samples, samples), status->event, hz,
		 (double)status->elapsed_ns / 1e9, status->jvms, status->jvms == 1 ? "" : "s");
}
