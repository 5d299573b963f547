// SPDX-License-Identifier: Apache-2.0
/* One thread that asks for one file after the other, see debuginfod.h. */
#include "symbolize/debuginfod.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "files/table_parser.h"
#include "guard/pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIBRARY	     "libdebuginfod.so.1"
#define STOP_WAIT_NS (3 * CLOCK_NS_PER_SEC)
#define NS_PER_SEC   UINT64_C(1000000000)

struct debuginfod_client; /* a type of the library */
typedef int progress_fn(struct debuginfod_client *client, long done, long all);

struct library {
	void *handle;
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int len,
		    char **path);
	void (*set_progress)(struct debuginfod_client *client, progress_fn *progress);
};

enum state { WANTED, ASKED, FOUND, TAKEN, FAILED };

struct ticket {
	enum state state;
	struct elf_layout layout; /* contains the build ID */
	struct elf_symbols *symbols;
	uint64_t group; /* who has asked */
};

struct debuginfod {
	struct library library;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the members up to stats */
	pthread_cond_t changed;
	struct ticket *tickets[DEBUGINFOD_MAX_FILES];
	size_t count, max_files;
	struct pool asked_by; /* tickets of owners */
	struct debuginfod_stats stats;
	atomic_bool is_stopping;
	atomic_uint round;    /* rises with each answer; never 0 */
	uint64_t deadline_ns; /* used by the thread only */
};

static bool find_symbols(struct library *library)
{
	const struct {
		const char *name;
		void *to;
	} symbols[] = {
		{"debuginfod_begin", &library->begin},
		{"debuginfod_end", &library->end},
		{"debuginfod_find_debuginfo", &library->find},
		{"debuginfod_set_progressfn", &library->set_progress},
	};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(library->handle, symbols[i].name);

		if (!found)
			return false;
		memcpy(symbols[i].to, &found, sizeof(found));
	}
	return true;
}

static int open_library(struct library *library)
{
	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -ELIBACC;
	if (find_symbols(library))
		return 0;
	dlclose(library->handle);
	return -ELIBACC;
}

/* The library's callback runs on the thread that asks. */
static _Thread_local const struct debuginfod *asking;

/* A value other than 0 ends the library's wait. */
static int check_progress(struct debuginfod_client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return atomic_load(&asking->is_stopping) || clock_now_ns() > asking->deadline_ns;
}

/* Loads the file, and refuses another build ID: a server could send another file. */
static int load(int fd, const struct debug_place *place, void **ret)
{
	const struct elf_layout *const layout = place->whose;
	struct elf_symbols *symbols;
	struct elf_file file;
	bool is_right;
	int err = elf_file_open_debug(fd, &file);

	if (err)
		return err;
	is_right = file.layout.build_id_len == layout->build_id_len &&
		   memcmp(file.layout.build_id, layout->build_id, layout->build_id_len) == 0;
	elf_file_close(&file);
	err = is_right ? elf_symbols_load_debug(fd, layout, &symbols) : -ENOENT;
	if (!err)
		*ret = symbols;
	return err;
}

static void flatten(const void *table, struct flat_writer *writer)
{
	elf_symbols_flatten(table, writer);
}

static int restore(struct flat_reader *reader, bool is_private, void **ret)
{
	struct elf_symbols *symbols;
	const int err = elf_symbols_restore(reader, is_private, &symbols);

	if (!err)
		*ret = symbols;
	return err;
}

static const struct table_kind kind = {
	.load = load, .role = PARSER_DEBUG, .flatten = flatten, .restore = restore};

void debuginfod_parse(int sock)
{
	table_parser_serve(&kind, sock);
}

/* Returns NULL if the file cannot be used. */
static struct elf_symbols *read_symbols(int fd, const struct elf_layout *layout)
{
	const struct debug_place place = {.root = -1, .whose = layout};
	void *symbols = NULL;
	const int err = zygote_is_used() ? table_parser_load(&kind, fd, &place, NULL, &symbols)
					 : load(fd, &place, &symbols);

	return err ? NULL : symbols;
}

static struct elf_symbols *fetch(struct debuginfod *debuginfod, const struct elf_layout *layout)
{
	struct debuginfod_client *client = debuginfod->library.begin();
	_cleanup_close_ int fd = -1;

	if (!client)
		return NULL;
	asking = debuginfod;
	debuginfod->deadline_ns = clock_now_ns() + DEBUGINFOD_MAX_SECONDS * NS_PER_SEC;
	debuginfod->library.set_progress(client, check_progress);
	fd = debuginfod->library.find(client, layout->build_id, (int)layout->build_id_len, NULL);
	debuginfod->library.end(client);
	return fd >= 0 ? read_symbols(fd, layout) : NULL;
}

/* Of those that are wanted, one of the owner with the fewest. */
static struct ticket *find_wanted(struct debuginfod *debuginfod)
{
	struct ticket *best = NULL;
	uint64_t fewest = UINT64_MAX;

	for (size_t i = 0; i < debuginfod->count; i++) {
		struct ticket *const ticket = debuginfod->tickets[i];
		const uint64_t n = ticket->state == WANTED
					   ? pool_amount(&debuginfod->asked_by, ticket->group)
					   : UINT64_MAX;

		if (n >= fewest)
			continue;
		fewest = n;
		best = ticket;
	}
	return best;
}

/* A ticket is not moved or freed before the thread has ended. */
static void *run(void *arg)
{
	struct debuginfod *debuginfod = arg;

	pthread_mutex_lock(&debuginfod->lock);
	while (!atomic_load(&debuginfod->is_stopping)) {
		struct ticket *ticket = find_wanted(debuginfod);
		struct elf_symbols *symbols;

		if (!ticket) {
			pthread_cond_wait(&debuginfod->changed, &debuginfod->lock);
			continue;
		}
		ticket->state = ASKED;
		debuginfod->stats.asked++;
		pthread_mutex_unlock(&debuginfod->lock);
		symbols = fetch(debuginfod, &ticket->layout);
		pthread_mutex_lock(&debuginfod->lock);
		ticket->symbols = symbols;
		ticket->state = symbols ? FOUND : FAILED;
		debuginfod->stats.found += symbols != NULL;
		debuginfod->stats.failed += symbols == NULL;
		if (atomic_fetch_add(&debuginfod->round, 1) == UINT_MAX)
			atomic_fetch_add(&debuginfod->round, 1);
	}
	pthread_mutex_unlock(&debuginfod->lock);
	return NULL;
}

int debuginfod_start(struct debuginfod **ret)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *debuginfod;
	int err;

	if (!urls || !urls[0])
		return -ENOENT;
	debuginfod = calloc(1, sizeof(*debuginfod));
	if (!debuginfod)
		return -ENOMEM;
	err = open_library(&debuginfod->library);
	if (err) {
		free(debuginfod);
		return err;
	}
	atomic_init(&debuginfod->round, 1);
	debuginfod->max_files = DEBUGINFOD_MAX_FILES;
	pthread_mutex_init(&debuginfod->lock, NULL);
	pthread_cond_init(&debuginfod->changed, NULL);
	err = thread_start(&debuginfod->thread, run, debuginfod);
	if (err) {
		free(debuginfod);
		return err;
	}
	*ret = debuginfod;
	return 0;
}

/* The library is not unloaded, because libraries that it uses have threads and exit handlers. */
void debuginfod_stop(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	atomic_store(&debuginfod->is_stopping, true);
	pthread_mutex_lock(&debuginfod->lock);
	pthread_cond_signal(&debuginfod->changed);
	pthread_mutex_unlock(&debuginfod->lock);
	if (!thread_join_until(debuginfod->thread, clock_now_ns() + STOP_WAIT_NS))
		return; /* the thread still waits for a server and uses this memory */
	for (size_t i = 0; i < debuginfod->count; i++) {
		elf_symbols_free(debuginfod->tickets[i]->symbols);
		free(debuginfod->tickets[i]);
	}
	pool_fini(&debuginfod->asked_by);
	pthread_cond_destroy(&debuginfod->changed);
	pthread_mutex_destroy(&debuginfod->lock);
	free(debuginfod);
}

void debuginfod_set_max_files(struct debuginfod *debuginfod, size_t max_files)
{
	debuginfod->max_files = max_files;
}

static struct ticket *find_ticket(const struct debuginfod *debuginfod,
				  const struct elf_layout *layout)
{
	for (size_t i = 0; i < debuginfod->count; i++) {
		if (elf_layout_equal(&debuginfod->tickets[i]->layout, layout))
			return debuginfod->tickets[i];
	}
	return NULL;
}

/* A ticket of the group that the thread does not have; NULL: there is none. */
static struct ticket *find_of(const struct debuginfod *debuginfod, uint64_t group)
{
	for (size_t i = 0; i < debuginfod->count; i++) {
		struct ticket *const ticket = debuginfod->tickets[i];

		if (ticket->group == group && ticket->state != ASKED)
			return ticket;
	}
	return NULL;
}

/* An empty ticket: a new one, or that of who has the most. NULL: there is none. */
static struct ticket *new_ticket(struct debuginfod *debuginfod, uint64_t group)
{
	struct ticket *ticket = NULL;
	uint64_t payer;

	if (debuginfod->count < debuginfod->max_files) {
		ticket = calloc(1, sizeof(*ticket));
		if (ticket)
			debuginfod->tickets[debuginfod->count++] = ticket;
		return ticket;
	}
	if (pool_choose(&debuginfod->asked_by, group, 1, &payer))
		ticket = find_of(debuginfod, payer);
	if (!ticket)
		return NULL;
	pool_release(&debuginfod->asked_by, payer, 1);
	elf_symbols_free(ticket->symbols);
	*ticket = (struct ticket){.state = WANTED};
	debuginfod->stats.forgotten++;
	return ticket;
}

static void add_ticket(struct debuginfod *debuginfod, const struct elf_layout *layout,
		       uint64_t group)
{
	struct ticket *const ticket = new_ticket(debuginfod, group);

	if (!ticket) {
		debuginfod->stats.left_out++;
		return;
	}
	ticket->layout = *layout;
	ticket->group = group;
	(void)pool_charge(&debuginfod->asked_by, group, 1); /* without memory of nobody */
	pthread_cond_signal(&debuginfod->changed);
}

/*
 * If a table was evicted and loaded again, its file is asked for again. The library caches files.
 */
static void turn_in(struct debuginfod *debuginfod, struct ticket *ticket,
		    struct elf_symbols *symbols)
{
	if (ticket->state == TAKEN) {
		ticket->state = WANTED;
		pthread_cond_signal(&debuginfod->changed);
	} else if (ticket->state == FOUND) {
		elf_symbols_take_debug(symbols, ticket->symbols);
		ticket->symbols = NULL;
		ticket->state = TAKEN;
	}
}

void debuginfod_improve(struct debuginfod *debuginfod, struct elf_symbols *symbols, uint64_t group)
{
	const struct elf_layout *layout = elf_symbols_layout(symbols);
	struct ticket *ticket;
	unsigned round, *seen;

	if (!debuginfod || elf_symbols_source(symbols) > ELF_SYMBOLS_DYNSYM ||
	    layout->build_id_len == 0)
		return;
	round = atomic_load(&debuginfod->round);
	seen = elf_symbols_mark(symbols);
	if (*seen == round)
		return; /* no answer has come since the last call */
	*seen = round;
	THREAD_HOLD(&debuginfod->lock);
	ticket = find_ticket(debuginfod, layout);
	if (ticket)
		turn_in(debuginfod, ticket, symbols);
	else
		add_ticket(debuginfod, layout, group);
}

void debuginfod_stats(struct debuginfod *debuginfod, struct debuginfod_stats *ret)
{
	*ret = (struct debuginfod_stats){0};
	if (!debuginfod)
		return;
	THREAD_HOLD(&debuginfod->lock);
	*ret = debuginfod->stats;
}

static const struct counter counters[] = {
	COUNTER_SUM(struct debuginfod_stats, asked, "symbol_tables.debuginfod.asked",
		    "debuginfod_requests_total", "Files that a debuginfod server was asked for."),
	COUNTER_SUM(struct debuginfod_stats, found, "symbol_tables.debuginfod.found",
		    "debuginfod_found_total", "Files that a debuginfod server had."),
	COUNTER_SUM(struct debuginfod_stats, failed, "symbol_tables.debuginfod.failed",
		    "debuginfod_failures_total", "Requests to a debuginfod server that failed."),
	COUNTER_SUM(struct debuginfod_stats, left_out, "symbol_tables.debuginfod.left_out",
		    "debuginfod_left_out_total",
		    "Files that no server was asked for, because they were too many."),
	COUNTER_SUM(struct debuginfod_stats, forgotten, "symbol_tables.debuginfod.forgotten",
		    "debuginfod_forgotten_total",
		    "Files that are asked for no more, for those of another container or user."),
};

const struct counters debuginfod_counters = COUNTERS(struct debuginfod_stats, counters);
