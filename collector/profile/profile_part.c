// SPDX-License-Identifier: Apache-2.0
/* A part in one line of text, see profile_part.h. */
#include "profile/profile_part.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_SEC UINT64_C(1000000000)
#define NS_PER_US  UINT64_C(1000)

static void put(char ret[PROFILE_PART_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(char ret[PROFILE_PART_BYTES], const char *format, ...)
{
	const size_t len = strlen(ret);
	va_list args;

	va_start(args, format);
	vsnprintf(ret + len, PROFILE_PART_BYTES - len, format, args);
	va_end(args);
}

uint64_t profile_cpu_period_ns(const char *event, unsigned hz)
{
	static const char *const timed[] = {"", "cycles", "cpu-clock", "task-clock"};

	for (size_t i = 0; hz && i < sizeof(timed) / sizeof(timed[0]); i++) {
		if (strcmp(event ? event : "", timed[i]) == 0)
			return NS_PER_SEC / hz;
	}
	return 0;
}

const char *profile_cores_text(uint64_t cpu_ns, uint64_t length_ns, char ret[PROFILE_CORES_BYTES])
{
	const double cores = length_ns ? (double)cpu_ns / (double)length_ns : 0;
	char time[PROFILE_AMOUNT_BYTES];

	ret[0] = '\0';
	if (cpu_ns == 0)
		return ret;
	profile_kind_amount(&profile_kind_wall, cpu_ns / NS_PER_US, time);
	if (length_ns)
		snprintf(ret, PROFILE_CORES_BYTES, "%.32s, %.*f cores", time,
			 cores < 0.0095 ? 3
			 : cores < 9.95 ? 2
					: 1,
			 cores);
	else
		snprintf(ret, PROFILE_CORES_BYTES, "%.32s", time);
	return ret;
}

/* The processor time of all samples; 0: not known. */
static uint64_t cpu_ns_of(const struct profile_part *part)
{
	const struct profile_info *const info = part->info;
	const uint64_t period = info ? profile_cpu_period_ns(info->event, info->hz) : 0;
	const uint64_t samples = part->profile->quality.samples;

	if (!profile_kind_is_same(part->kind, &profile_kind_cpu) || period == 0)
		return 0;
	return samples < UINT64_MAX / period ? samples * period : UINT64_MAX;
}

const char *profile_part_text(const struct profile_part *part, char ret[PROFILE_PART_BYTES])
{
	const struct profile_info *const info = part->info;
	const bool is_cpu = profile_kind_is_same(part->kind, &profile_kind_cpu);
	const uint64_t all = part->profile->quality.samples;
	char amount[PROFILE_AMOUNT_BYTES], cores[PROFILE_CORES_BYTES];

	ret[0] = '\0';
	if (is_cpu && info && info->event && *info->event)
		put(ret, "%s of %.64s", profile_kind_amount(part->kind, all, amount), info->event);
	else
		put(ret, "%s", profile_kind_amount_of(part->kind, all, amount));
	if (info && info->hz)
		put(ret, " at %u Hz", info->hz);
	if (info && info->duration_ns)
		put(ret, " in %.1f s", (double)info->duration_ns / 1e9);
	profile_cores_text(cpu_ns_of(part), info ? info->duration_ns : 0, cores);
	if (cores[0])
		put(ret, ": %s", cores);
	return ret;
}
