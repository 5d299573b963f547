// SPDX-License-Identifier: Apache-2.0
/* Writes the figures of a recording for people, see report.h. */
#include "recording/report.h"

#include "probes/probe_pauses.h"

#include <stdarg.h>
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

static int put(char ret[REPORT_BYTES], int n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends to the n bytes in ret. Returns the new number of bytes. */
static int put(char ret[REPORT_BYTES], int n, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(ret + n, REPORT_BYTES - (size_t)n, format, args);
	va_end(args);
	if (len < 0)
		return n;
	return n + len < REPORT_BYTES ? n + len : REPORT_BYTES - 1;
}

/* The reason with the most samples, or -1 if no reason has samples. */
static int most_of(const uint64_t counts[STACK_ENDS])
{
	int most = -1;

	for (int i = 0; i < STACK_ENDS; i++) {
		if (counts[i] > 0 && (most < 0 || counts[i] > counts[most]))
			most = i;
	}
	return most;
}

/* "1,980", a time or a size. */
static const char *amount(const struct profile_kind *kind, uint64_t count,
			  char ret[PROFILE_AMOUNT_BYTES])
{
	char digits[32];

	if (profile_kind_is_measured(kind))
		return profile_kind_amount(kind, count, ret);
	snprintf(ret, PROFILE_AMOUNT_BYTES, "%s", report_count(count, digits));
	return ret;
}

/* Appends ", 0.3 % truncated (snapshot ended 12, bad return address 1)". */
static int put_truncated(const struct profile_kind *kind, const struct profile_quality *quality,
			 char ret[REPORT_BYTES], int n)
{
	uint64_t left[STACK_ENDS], sum = 0;
	const char *before = " (";
	char count[PROFILE_AMOUNT_BYTES];

	for (int i = 0; i < STACK_ENDS; i++)
		sum += left[i] = quality->truncated_samples[i];
	if (sum == 0)
		return n;
	n = put(ret, n, ", %.1f %% truncated", report_percent(sum, quality->samples));
	for (int i = most_of(left); i >= 0; i = most_of(left)) {
		n = put(ret, n, "%s%s %s", before, stack_end_name((enum stack_end)i),
			amount(kind, left[i], count));
		left[i] = 0;
		before = ", ";
	}
	return put(ret, n, ")");
}

void report_quality(const struct profile_kind *kind, const struct profile_quality *quality,
		    char ret[REPORT_BYTES])
{
	const uint64_t all = quality->samples;
	const bool is_cpu = kind == &profile_kind_cpu;
	char samples[PROFILE_AMOUNT_BYTES], lost[32];
	int n;

	n = put(ret, 0,
		"quality%s%s: %s, %.1f %% named, %.1f %% of Java named, %.1f %% rooted, "
		"%s lost",
		is_cpu ? "" : " of ", is_cpu ? "" : kind->name,
		profile_kind_amount(kind, all, samples),
		report_percent(all - quality->unnamed_samples, all),
		report_percent(all - quality->unnamed_java_samples, all),
		report_percent(all - quality->unrooted_samples, all),
		report_count(quality->lost_samples, lost));
	n = put_truncated(kind, quality, ret, n);
	if (quality->heapless_samples)
		n = put(ret, n, ", %.1f %% without their frames in the heap",
			report_percent(quality->heapless_samples, all));
	if (quality->stackless_samples)
		n = put(ret, n, ", %s without the copy of their stack",
			report_count(quality->stackless_samples, samples));
	if (quality->overflow_samples)
		put(ret, n, ", %s cut at the memory limit",
		    amount(kind, quality->overflow_samples, samples));
}

void report_source(const char *source, char quality[REPORT_BYTES])
{
	const size_t len = strlen(quality);

	if (source[0])
		snprintf(quality + len, REPORT_BYTES - len, ", by %s", source);
}

void report_probes(const struct probe_arms_stats *stats, char quality[REPORT_BYTES])
{
	int n = (int)strlen(quality);

	n = put(quality, n, ", %zu %s armed", stats->armed, stats->armed == 1 ? "JVM" : "JVMs");
	if (stats->pauses)
		n = put(quality, n, ", %llu %s because of more than %u hits a second",
			(unsigned long long)stats->pauses, stats->pauses == 1 ? "pause" : "pauses",
			PROBE_PAUSES_MOST_HZ);
	if (stats->opening)
		n = put(quality, n, ", %zu not yet", stats->opening);
	if (stats->refused)
		put(quality, n, ", %zu not: %s", stats->refused, stats->why);
}

void report_live(const struct recording_live *live, char quality[REPORT_BYTES])
{
	char text[32], of[32];
	int n = (int)strlen(quality);

	n = put(quality, n, ", %s of %s watched objects live", report_count(live->living, text),
		report_count(live->watched, of));
	if (live->unwatched)
		n = put(quality, n, ", which stand for %s more samples",
			report_count(live->unwatched, text));
	if (live->left_out)
		n = put(quality, n, ", %s samples left out for want of memory",
			report_count(live->left_out, text));
	if (live->lost)
		put(quality, n, ", some may be dead: %s records lost that may have said so",
		    report_count(live->lost, text));
}

void report_clock(const char *source, char quality[REPORT_BYTES])
{
	const size_t len = strlen(quality);

	if (source[0])
		snprintf(quality + len, REPORT_BYTES - len, ", threads by %s", source);
}

void report_outside(unsigned jvms, char quality[REPORT_BYTES])
{
	if (jvms > 0)
		put(quality, (int)strlen(quality), ", names of %u %s read from outside", jvms,
		    jvms == 1 ? "JVM" : "JVMs");
}

const char *report_jvms(unsigned jvms, char ret[32])
{
	ret[0] = '\0';
	if (jvms > 0)
		snprintf(ret, 32, "%u JVM%s", jvms, jvms == 1 ? "" : "s");
	return ret;
}

void report_subtitle(const struct recording_status *status, unsigned hz, char ret[REPORT_BYTES])
{
	const struct profile_kind *const kind =
		status->n_parts ? status->parts[0].kind->profile : &profile_kind_cpu;
	char amount[PROFILE_AMOUNT_BYTES], jvms[32], cores[PROFILE_CORES_BYTES] = "";
	int n;

	if (profile_kind_is_of_threads(kind))
		n = put(ret, 0, "%s of threads (%s), read %u times a second,",
			profile_kind_amount(kind, status->samples, amount), kind->name,
			status->wall_hz);
	else if (kind == &profile_kind_cpu)
		n = put(ret, 0, "%s of %s at %u Hz",
			profile_kind_amount(kind, status->samples, amount), status->event, hz);
	else
		n = put(ret, 0, "%s", profile_kind_amount_of(kind, status->samples, amount));
	n = put(ret, n, " in %.1f s", (double)status->elapsed_ns / 1e9);
	if (kind == &profile_kind_cpu)
		profile_cores_text(status->samples * profile_cpu_period_ns(status->event, hz),
				   status->elapsed_ns, cores);
	if (cores[0])
		n = put(ret, n, ": %s", cores);
	put(ret, n, "%s%s", status->jvms ? ", " : "", report_jvms(status->jvms, jvms));
}
