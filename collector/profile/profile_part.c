// SPDX-License-Identifier: Apache-2.0
/* A part in one line of text, see profile_part.h. */
#include "profile/profile_part.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

const char *profile_part_text(const struct profile_part *part, char ret[PROFILE_PART_BYTES])
{
	const struct profile_info *const info = part->info;
	const bool is_cpu = profile_kind_is_same(part->kind, &profile_kind_cpu);
	const uint64_t all = part->profile->quality.samples;
	char amount[PROFILE_AMOUNT_BYTES];

	ret[0] = '\0';
	if (is_cpu && info && info->event && *info->event)
		put(ret, "%s of %.64s", profile_kind_amount(part->kind, all, amount), info->event);
	else
		put(ret, "%s", profile_kind_amount_of(part->kind, all, amount));
	if (info && info->hz)
		put(ret, " at %u Hz", info->hz);
	if (info && info->duration_ns)
		put(ret, " in %.1f s", (double)info->duration_ns / 1e9);
	return ret;
}
