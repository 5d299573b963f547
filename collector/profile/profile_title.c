// SPDX-License-Identifier: Apache-2.0
/* Names a recording for people, see profile_title.h. */
#include "profile/profile_title.h"

#include "container/place_name.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMED	    2	/* programs that are named */
#define NAME_LENGTH 160 /* bytes of a program's name that are shown */
#define NS_PER_SEC  UINT64_C(1000000000)

static void put(char ret[PROFILE_TITLE_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(char ret[PROFILE_TITLE_BYTES], const char *format, ...)
{
	const size_t len = strlen(ret);
	va_list args;

	va_start(args, format);
	vsnprintf(ret + len, PROFILE_TITLE_BYTES - len, format, args);
	va_end(args);
}

/* ---- whose ---- */

/* What a program weighs in the timeline. */
struct weighed {
	const struct timeline_process *process;
	uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighed *wa = a, *wb = b;

	if (wa->weight != wb->weight)
		return wa->weight < wb->weight ? 1 : -1;
	return (wa->process > wb->process) - (wa->process < wb->process);
}

/* Processes by falling weight; the caller frees them. NULL: there are none. */
static struct weighed *weigh(const struct timeline *timeline)
{
	struct weighed *all =
		timeline->n_processes ? calloc(timeline->n_processes, sizeof(*all)) : NULL;

	if (!all)
		return NULL;
	for (size_t i = 0; i < timeline->n_processes; i++)
		all[i].process = &timeline->processes[i];
	for (size_t i = 0; i < timeline->n_entries; i++) {
		const struct timeline_entry *const entry = &timeline->entries[i];

		all[timeline->threads[entry->thread].process].weight += entry->weight;
	}
	qsort(all, timeline->n_processes, sizeof(*all), by_weight);
	return all;
}

static bool is_named(char (*names)[PLACE_NAME_BYTES], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/*
 * "[gone]" and its like are no names. Processes of one name, such as a JVM that was started anew,
 * are named once.
 */
static void put_programs(const struct timeline *timeline, char ret[PROFILE_TITLE_BYTES])
{
	struct weighed *const all = weigh(timeline);
	char names[NAMED][PLACE_NAME_BYTES], name[PLACE_NAME_BYTES];
	size_t n = 0, more = 0;

	for (size_t i = 0; all && i < timeline->n_processes; i++) {
		timeline_process_write_called(all[i].process, name, sizeof(name));
		if (!name[0] || name[0] == '[' || (n > 0 && all[i].weight == 0) ||
		    is_named(names, n, name))
			continue;
		if (n < NAMED)
			memcpy(names[n++], name, sizeof(name));
		else
			more++;
	}
	free(all);
	for (size_t i = 0; i < n; i++)
		put(ret, "%s%.*s", i == 0 ? "" : more ? ", " : " and ", NAME_LENGTH, names[i]);
	if (more)
		put(ret, " and %zu more", more);
}

/* ---- of what, for how long, when and where ---- */

static void put_kinds(const struct profile_part *parts, size_t n, char ret[PROFILE_TITLE_BYTES])
{
	for (size_t i = 0; i < n; i++)
		put(ret, "%s%.40s", i > 0 ? " and " : ret[0] ? ", " : "", parts[i].kind->name);
}

static void put_length(uint64_t ns, char ret[PROFILE_TITLE_BYTES])
{
	const double seconds = (double)ns / NS_PER_SEC;

	if (ns == 0)
		return;
	if (seconds < 9.95)
		put(ret, ", %.*f s", ns % NS_PER_SEC == 0 ? 0 : 1, seconds);
	else if (seconds < 119.5)
		put(ret, ", %.0f s", seconds);
	else if (seconds < 7170)
		put(ret, ", %.0f min", seconds / 60);
	else
		put(ret, ", %.1f h", seconds / 3600);
}

static void put_instant(uint64_t unix_ns, char ret[PROFILE_TITLE_BYTES])
{
	const time_t at = (time_t)(unix_ns / NS_PER_SEC);
	struct tm tm;

	if (unix_ns > 0 && gmtime_r(&at, &tm))
		put(ret, ", %02d:%02d UTC", tm.tm_hour, tm.tm_min);
}

bool profile_title_write(const struct profile_part *parts, size_t n, char ret[PROFILE_TITLE_BYTES])
{
	const struct profile_info *const info = n > 0 ? parts[0].info : NULL;
	const char *const host = info && info->host ? info->host : "";
	bool is_known;

	ret[0] = '\0';
	if (n == 0)
		return false;
	if (parts[0].timeline)
		put_programs(parts[0].timeline, ret);
	is_known = ret[0] || host[0] || (info && (info->duration_ns || info->start_unix_ns));
	if (!is_known)
		return false;
	put_kinds(parts, n, ret);
	put_length(info ? info->duration_ns : 0, ret);
	put_instant(info ? info->start_unix_ns : 0, ret);
	if (host[0])
		put(ret, ", %.64s", host);
	return true;
}
