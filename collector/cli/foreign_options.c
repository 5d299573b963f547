// SPDX-License-Identifier: Apache-2.0
/* What people who come from async-profiler and perf type, see foreign_options.h. */
#include "cli/foreign_options.h"

#include <stddef.h>
#include <string.h>

struct foreign {
	const char *name; /* of a letter, only that */
	const char *instead;
};

static const struct foreign letters[] = {
	{"t", "--threads gives each thread a box; threads are chosen in the page (-o x.html)"},
	{"f", "the file is -o FILE, and its suffix says what it is to be"},
	{"g", "stacks are always taken; how, says --unwind"},
	{"i", "-F HZ says how often samples are taken"},
	{"c", "-F HZ says how often samples are taken"},
	{"j", "stacks are walked whole, at any depth"},
	{"I", "render FILE.fgrec -o FILE --only and its like choose stacks; the page searches"},
	{"X", "render FILE.fgrec -o FILE --ignore and its like choose stacks; the page searches"},
	{"s", "--java-names simple"},
	{"b", "branches are not recorded"},
	{"C", "all CPUs are recorded"},
	{"G", "--container NAME or --pod NAME records what runs in one"},
	{"u", "--container, --pod, --label, --comm and --jvm choose processes"},
};

static const struct foreign names[] = {
	{"--call-graph", "stacks are always taken: --unwind full (perf's dwarf) or fp"},
	{"--cstack", "native stacks are always walked: --unwind full or fp"},
	{"--all-cpus", "-a records every process"},
	{"--tid", "threads are chosen in the page (-o x.html)"},
	{"--timeout", "-d SECS"},
	{"--interval", "-F HZ says how often samples are taken"},
	{"--period", "-F HZ says how often samples are taken"},
	{"--freq", "-F HZ"},
	{"--file", "the file is -o FILE"},
	{"--wall", "--kind wall"},
	{"--alloc", "--kind alloc; how often, says --alloc-interval"},
	{"--lock", "--kind lock"},
	{"--nativemem", "calls of malloc are not recorded; --kind alloc is of Java's heap"},
	{"--total", "a profile of --kind alloc or lock has both, bytes and numbers"},
	{"--sched", "scheduling policies are not recorded"},
	{"--all-user", "kernel frames are always there; the page hides them"},
	{"--sig", "--java-names signature"},
	{"--simple", "--java-names simple"},
	{"--minwidth", "render takes --min-width"},
	{"--reverse", "render takes --reverse"},
};

static const struct foreign events[] = {
	{"cpu", "--kind cpu, which is the default"},
	{"itimer", "--kind cpu, which is the default"},
	{"ctimer", "--kind cpu, which is the default"},
	{"wall", "--kind wall"},
	{"offcpu", "--kind offcpu"},
	{"off-cpu", "--kind offcpu"},
	{"alloc", "--kind alloc"},
	{"lock", "--kind lock"},
	{"exceptions", "--kind exceptions"},
	{"nativemem", "--kind alloc is of Java's heap; calls of malloc are not recorded"},
};

static const char *find(const struct foreign *table, size_t n, const char *name, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return table[i].instead;
	}
	return NULL;
}

const char *foreign_option_instead(const char *word, int letter)
{
	const char name[] = {(char)letter};

	if (letter)
		return find(letters, sizeof(letters) / sizeof(letters[0]), name, 1);
	return find(names, sizeof(names) / sizeof(names[0]), word, strcspn(word, "="));
}

const char *foreign_event_instead(const char *event)
{
	return find(events, sizeof(events) / sizeof(events[0]), event, strlen(event));
}
