// SPDX-License-Identifier: Apache-2.0
/* Keeps the files of perf maps within their room, see map_store.h. */
#include "maps/map_store.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/process_stat.h"
#include "base/root_file.h"
#include "foreign/map_marker.h"
#include "guard/fair.h"
#include "guard/heap_bytes.h"
#include "maps/perf_map.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#define PIECE_NS	   (1 * CLOCK_NS_PER_MS)   /* of a search, at a time */
#define PIECE_INTERVAL_NS  (100 * CLOCK_NS_PER_MS) /* between two pieces */
#define PIECE_NAMES	   16			   /* names between two looks at the clock */
#define SEARCH_INTERVAL_NS (30 * CLOCK_NS_PER_SEC)
#define REST_FACTOR	   100
#define REMOVE_NS	   (5 * CLOCK_NS_PER_MS) /* of a call, for room */
#define MAX_REMOVED	   64 /* of the aged a call; more wait for the next one */

/* The perf map of a process that has ended, or whose agent has not been heard of. */
struct kept_map {
	pid_t pid;
	uint64_t group, bytes;
	uint64_t since_ns; /* when it was seen first, less its age then */
	uint64_t search;   /* the last search that saw it, or began after it was noted */
};

/* Processes that share what one owner has. */
struct group {
	uint64_t key, want, level;
	uint64_t bytes;	     /* live and kept */
	size_t first, count; /* in the array of processes, or of kept maps */
};

/* ---- room ---- */

static uint64_t used(const struct map_store *store)
{
	return store->stats.room.live_bytes + store->stats.room.kept_bytes;
}

static void find_limit(struct map_store *store)
{
	struct statvfs fs;
	uint64_t free_bytes;

	store->stats.room.limit_bytes = store->max_bytes;
	if (!store->dir || statvfs(store->dir, &fs) < 0)
		return;
	free_bytes = ((uint64_t)fs.f_bavail * fs.f_frsize + used(store)) / 2;
	if (free_bytes < store->max_bytes)
		store->stats.room.limit_bytes = free_bytes;
}

void map_store_init(struct map_store *store, const char *dir, uint64_t max_bytes,
		    bool (*is_live)(void *arg, pid_t pid), void *arg)
{
	*store = (struct map_store){
		.dir = dir,
		.max_bytes = max_bytes,
		.is_live = is_live,
		.is_live_arg = arg,
		.keep_sec = MAP_STORE_KEEP_SEC,
	};
	find_limit(store);
}

size_t map_store_heap_bytes(const struct map_store *store)
{
	return store->kept.count * heap_bytes(sizeof(struct kept_map)) + map64_bytes(&store->kept);
}

void map_store_fini(struct map_store *store)
{
	map64_fini_all(&store->kept, free);
	if (store->search)
		closedir(store->search);
}

void map_store_allow(struct map_store *store, struct map_writer *writer)
{
	const uint64_t own = map_writer_bytes(writer);
	const uint64_t limit = store->stats.room.limit_bytes / 8 * 7;
	const uint64_t room = limit > used(store) ? limit - used(store) : 0;
	uint64_t allowed = (own + room) / 2;

	if (allowed < writer->part)
		allowed = writer->part; /* the writer waits for the room */
	if (writer->share && writer->share < allowed)
		allowed = writer->share;
	if (allowed < MAP_WRITER_LEAST_BYTES)
		allowed = MAP_WRITER_LEAST_BYTES;
	writer->room = &store->stats.room;
	writer->max_bytes = allowed < PERF_MAP_MAX_BYTES ? allowed : PERF_MAP_MAX_BYTES;
}

/* ---- perf maps that are kept ---- */

static void forget(struct map_store *store, pid_t pid)
{
	struct kept_map *const kept = map64_remove(&store->kept, (uint64_t)pid);

	if (!kept)
		return;
	store->stats.room.kept_bytes -= kept->bytes;
	store->stats.kept--;
	free(kept);
}

/* Without memory a perf map is not noted; the search finds it again. */
static void note_kept(struct map_store *store, pid_t pid, uint64_t group, uint64_t bytes,
		      uint64_t age_ns)
{
	const uint64_t now_ns = clock_now_ns();
	struct kept_map *kept;

	forget(store, pid);
	kept = calloc(1, sizeof(*kept));
	if (!kept)
		return;
	*kept = (struct kept_map){
		.pid = pid,
		.group = group,
		.bytes = bytes,
		.since_ns = now_ns > age_ns ? now_ns - age_ns : 0,
		.search = store->searches + (store->search != NULL),
	};
	if (map64_put(&store->kept, (uint64_t)pid, kept) < 0) {
		free(kept);
		return;
	}
	store->stats.room.kept_bytes += bytes;
	store->stats.kept++;
}

void map_store_keep(struct map_store *store, pid_t pid, struct owner owner,
		    struct map_writer *writer)
{
	if (writer->room)
		writer->room->live_bytes -= writer->counted;
	writer->room = NULL;
	if (writer->file_bytes > 0)
		note_kept(store, pid, owner_group(owner), writer->file_bytes, 0);
}

static int open_dir(const struct map_store *store)
{
	return store->dir ? open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static bool is_alive(pid_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

/*
 * Whether the file is a perf map, or a temporary file, of this program. A file that another program
 * has open for writing is not, nor is a mount in its place.
 */
static bool is_ours(int dirfd, const char *name, bool is_temp)
{
	_cleanup_close_ const int path_fd = root_file_open_beside(dirfd, name);
	struct stat st;

	if (path_fd < 0 || fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid())
		return false;

	_cleanup_close_ const int fd = root_file_read_beside(path_fd);

	if (fd < 0)
		return false;
	/* The writer of an empty one ended before the first block was written. */
	if (perf_map_is_written(fd))
		return false;
	return st.st_size == 0 ? is_temp : map_marker_is_in(fd);
}

static bool remove_file(int dirfd, const char *name, bool is_temp)
{
	return is_ours(dirfd, name, is_temp) && unlinkat(dirfd, name, 0) == 0;
}

/*
 * Removes a kept perf map's file, which may lie beside another program's. Whatever becomes of the
 * file, the perf map is forgotten.
 */
static bool remove_kept(struct map_store *store, int dirfd, pid_t pid)
{
	const struct perf_map_name name = perf_map_name_of(pid), beside = perf_map_name_beside(pid);
	bool is_removed = remove_file(dirfd, name.text, false);

	is_removed |= remove_file(dirfd, beside.text, false);
	forget(store, pid);
	return is_removed;
}

void map_store_drop(struct map_store *store, pid_t pid, struct map_writer *writer)
{
	const struct perf_map_name name = perf_map_name_of(pid);
	_cleanup_close_ const int dirfd = writer->file_bytes > 0 ? open_dir(store) : -1;

	if (writer->room)
		writer->room->live_bytes -= writer->counted;
	writer->room = NULL;
	if (dirfd >= 0)
		remove_file(dirfd, name.text, false);
}

/* ---- shares ---- */

/* What the process would write if it could; nobody knows how much that is for a cut perf map. */
static uint64_t want_of(const struct map_writer *writer)
{
	return 2 * (writer->cut > 0 ? PERF_MAP_MAX_BYTES : writer->file_bytes);
}

static int by_group(const void *a, const void *b)
{
	const uint64_t first = owner_group(((const struct map_store_live *)a)->owner);
	const uint64_t second = owner_group(((const struct map_store_live *)b)->owner);

	return (first > second) - (first < second);
}

/* Makes groups of sorted processes. Returns how many. */
static size_t group_live(const struct map_store_live *live, size_t count, struct group *groups)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t key = owner_group(live[i].owner);

		if (n == 0 || groups[n - 1].key != key)
			groups[n++] = (struct group){.key = key, .first = i};
		groups[n - 1].count++;
		groups[n - 1].want += want_of(live[i].writer);
		groups[n - 1].bytes += map_writer_bytes(live[i].writer);
	}
	return n;
}

static void set_share(const struct map_store_live *live, uint64_t level, uint64_t part,
		      uint64_t now_ns)
{
	struct map_writer *const writer = live->writer;
	const uint64_t share = level / 2;

	writer->part = part;
	writer->share = share > MAP_WRITER_LEAST_BYTES ? share : MAP_WRITER_LEAST_BYTES;
	if (writer->file_bytes > writer->share)
		map_writer_restart(writer, now_ns);
	else if (writer->cut > 0 && writer->share > writer->file_bytes + writer->file_bytes / 4)
		map_writer_mark(writer, live->code, NULL, now_ns);
}

static void share_live(const struct map_store *store, const struct map_store_live *live,
		       struct group *groups, size_t n_groups, uint64_t *wants, uint64_t now_ns)
{
	uint64_t level;

	for (size_t i = 0; i < n_groups; i++)
		wants[i] = groups[i].want;
	level = fair_level(wants, n_groups, store->stats.room.limit_bytes / 4 * 3);
	for (size_t i = 0; i < n_groups; i++) {
		const struct group *const group = &groups[i];
		const uint64_t part =
			store->stats.room.limit_bytes / 4 * 3 / n_groups / group->count / 2;
		uint64_t own = UINT64_MAX;

		for (size_t k = 0; k < group->count; k++)
			wants[k] = want_of(live[group->first + k].writer);
		if (group->want > level)
			own = fair_level(wants, group->count, level);
		for (size_t k = 0; k < group->count; k++)
			set_share(&live[group->first + k], own, part, now_ns);
	}
}

static int by_age(const void *a, const void *b)
{
	const struct kept_map *const first = *(struct kept_map *const *)a;
	const struct kept_map *const second = *(struct kept_map *const *)b;

	if (first->group != second->group)
		return first->group > second->group ? 1 : -1;
	return (first->since_ns > second->since_ns) - (first->since_ns < second->since_ns);
}

static uint64_t live_bytes_of(const struct group *groups, size_t count, uint64_t key)
{
	for (size_t i = 0; i < count; i++) {
		if (groups[i].key == key)
			return groups[i].bytes;
	}
	return 0;
}

static bool is_short(const struct map_store *store)
{
	return used(store) > store->stats.room.limit_bytes / 4 * 3 ||
	       store->stats.kept > MAP_STORE_MAX_KEPT;
}

/* The group to remove from: of those with a kept perf map, the one with the most. */
static struct group *greediest(struct group *groups, size_t count, bool by_count)
{
	struct group *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const bool is_more = best && (by_count ? groups[i].count > best->count
						       : groups[i].bytes > best->bytes);

		if (groups[i].count > 0 && (!best || is_more))
			best = &groups[i];
	}
	return best;
}

static size_t group_kept(struct kept_map *const *kept, size_t count, const struct group *live,
			 size_t n_live, struct group *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (n == 0 || ret[n - 1].key != kept[i]->group) {
			ret[n++] = (struct group){
				.key = kept[i]->group,
				.first = i,
				.bytes = live_bytes_of(live, n_live, kept[i]->group),
			};
		}
		ret[n - 1].count++;
		ret[n - 1].bytes += kept[i]->bytes;
	}
	return n;
}

/* Makes room: removes kept perf maps of those who have the most. */
static void make_room(struct map_store *store, const struct group *live, size_t n_live)
{
	const uint64_t began_ns = clock_now_ns();
	const size_t count = store->kept.count + 1; /* none is no array */
	_cleanup_free_ struct kept_map **list = calloc(count, sizeof(struct kept_map *));
	_cleanup_free_ struct group *groups = calloc(count, sizeof(*groups));
	_cleanup_close_ const int dirfd = open_dir(store);
	size_t n = 0, pos = 0;
	uint64_t pid;
	void *kept;

	if (!list || !groups || dirfd < 0)
		return;
	while (map64_next(&store->kept, &pos, &pid, &kept))
		list[n++] = kept;
	qsort(list, n, sizeof(struct kept_map *), by_age);
	n = group_kept(list, n, live, n_live, groups);
	while (is_short(store) && clock_now_ns() - began_ns < REMOVE_NS) {
		const bool by_count = store->stats.kept > MAP_STORE_MAX_KEPT;
		struct group *const group = greediest(groups, n, by_count);
		const struct kept_map *oldest;

		if (!group)
			return;
		oldest = list[group->first++];
		group->count--;
		group->bytes -= oldest->bytes;
		store->stats.removed += remove_kept(store, dirfd, oldest->pid);
	}
}

/* Kept perf maps go by time that has passed, however the wall clock was set meanwhile. */
static void remove_aged(struct map_store *store, uint64_t now_ns)
{
	_cleanup_close_ const int dirfd = open_dir(store);
	const uint64_t keep_ns = (uint64_t)store->keep_sec * CLOCK_NS_PER_SEC;
	pid_t aged[MAX_REMOVED];
	size_t n = 0, pos = 0;
	uint64_t pid;
	void *value;

	while (dirfd >= 0 && n < MAX_REMOVED && map64_next(&store->kept, &pos, &pid, &value)) {
		const struct kept_map *const kept = value;

		if (now_ns > kept->since_ns + keep_ns && !is_alive(kept->pid))
			aged[n++] = kept->pid;
	}
	for (size_t i = 0; i < n; i++)
		remove_kept(store, dirfd, aged[i]);
}

void map_store_share(struct map_store *store, struct map_store_live *live, size_t count,
		     uint64_t now_ns)
{
	_cleanup_free_ struct group *groups = calloc(count + 1, sizeof(*groups));
	_cleanup_free_ uint64_t *wants = calloc(count + 1, sizeof(*wants));
	size_t n;

	find_limit(store);
	if (!groups || !wants)
		return;
	if (count > 0)
		qsort(live, count, sizeof(*live), by_group);
	n = group_live(live, count, groups);
	share_live(store, live, groups, n, wants, now_ns);
	remove_aged(store, now_ns);
	if (is_short(store))
		make_room(store, groups, n);
}

/* ---- the search ---- */

/* Looks at a file, and returns whether it was removed. */
static bool look_at(struct map_store *store, const char *name)
{
	const int fd = dirfd(store->search);
	const time_t now = time(NULL);
	struct kept_map *kept;
	bool is_temp, is_old;
	struct stat st;
	const pid_t pid = perf_map_pid_of(name, &is_temp);

	if (pid == 0 || root_file_stat_beside(fd, name, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid())
		return false;
	if (is_temp)
		return now - st.st_mtim.tv_sec > MAP_STORE_TEMP_SEC && remove_file(fd, name, true);
	if (store->is_live && store->is_live(store->is_live_arg, pid)) {
		forget(store, pid);
		return false;
	}
	kept = map64_find(&store->kept, (uint64_t)pid);
	if (is_alive(pid)) /* one second for rounding */
		is_old = st.st_mtim.tv_sec < process_stat_started_at(pid) - 1;
	else
		is_old = !kept && now - st.st_mtim.tv_sec > store->keep_sec;
	if (is_old && remove_file(fd, name, false)) {
		forget(store, pid);
		return true;
	}
	if (kept)
		kept->search = store->searches;
	else if (is_ours(fd, name, false))
		note_kept(store, pid, owner_group((struct owner){.user = OWNER_NOBODY}),
			  (uint64_t)st.st_size,
			  now > st.st_mtim.tv_sec
				  ? (uint64_t)(now - st.st_mtim.tv_sec) * CLOCK_NS_PER_SEC
				  : 0);
	return false;
}

/* Forgets perf maps that the whole search has not seen, because somebody has removed them. */
static void forget_unseen(struct map_store *store)
{
	pid_t unseen[MAX_REMOVED];
	size_t n = 0, pos = 0;
	uint64_t pid;
	void *kept;

	while (n < MAX_REMOVED && map64_next(&store->kept, &pos, &pid, &kept)) {
		if (((const struct kept_map *)kept)->search < store->searches)
			unseen[n++] = (pid_t)pid;
	}
	for (size_t i = 0; i < n; i++)
		forget(store, unseen[i]);
}

static int begin_search(struct map_store *store)
{
	store->search = opendir(store->dir);
	if (!store->search)
		return -errno;
	store->searches++;
	store->searched_ns = 0;
	return 0;
}

static void end_search(struct map_store *store)
{
	closedir(store->search);
	store->search = NULL;
	forget_unseen(store);
}

/* Searches on for so long. Returns whether the search has ended. */
static bool search_on(struct map_store *store, uint64_t for_ns, int *removed)
{
	const uint64_t began_ns = clock_now_ns();
	bool has_ended = false;
	unsigned n = 0;

	while (!has_ended && (++n % PIECE_NAMES != 0 || clock_now_ns() - began_ns < for_ns)) {
		const struct dirent *const entry = readdir(store->search);

		has_ended = !entry;
		*removed += entry && look_at(store, entry->d_name);
	}
	store->searched_ns += clock_now_ns() - began_ns;
	if (has_ended)
		end_search(store);
	return has_ended;
}

int map_store_search(struct map_store *store, uint64_t now_ns)
{
	int removed = 0;

	if (!store->dir || now_ns < store->next_search_ns)
		return 0;
	store->next_search_ns = now_ns + SEARCH_INTERVAL_NS;
	if (!store->search && begin_search(store) < 0)
		return 0;
	if (!search_on(store, PIECE_NS, &removed))
		store->next_search_ns = now_ns + PIECE_INTERVAL_NS;
	else if (REST_FACTOR * store->searched_ns > SEARCH_INTERVAL_NS)
		store->next_search_ns = now_ns + REST_FACTOR * store->searched_ns;
	return removed;
}

uint64_t map_store_due_ns(const struct map_store *store)
{
	return store->next_search_ns;
}

int map_store_search_all(struct map_store *store)
{
	int removed = 0, err;

	if (store->search)
		end_search(store);
	err = begin_search(store);
	if (err)
		return err;
	search_on(store, UINT64_MAX, &removed);
	return removed;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct map_store_stats, room.live_bytes, "perf_maps.bytes", "perf_map_bytes",
		      "Bytes of perf maps of living processes."),
	COUNTER_GAUGE(struct map_store_stats, room.limit_bytes, "perf_maps.limit_bytes",
		      "perf_map_limit_bytes", "Bytes that all perf maps may have."),
	COUNTER_GAUGE(struct map_store_stats, kept, "perf_maps.kept", "perf_maps_kept",
		      "Perf maps of processes that have ended."),
	COUNTER_GAUGE(struct map_store_stats, room.kept_bytes, "perf_maps.kept_bytes",
		      "perf_map_kept_bytes", "Bytes of perf maps of processes that have ended."),
	COUNTER_SUM(struct map_store_stats, removed, "perf_maps.removed", "perf_maps_removed_total",
		    "Perf maps of ended processes that were removed for room."),
};

const struct counters map_store_counters = COUNTERS(struct map_store_stats, counters);
