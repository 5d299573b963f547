// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about maps/map_store.h: what is removed, and who has to do with less. Each is in a
 * directory of its own.
 */
#include "maps/map_store.h"

#include "whole_map.h"

#include "base/clock.h"
#include "common/child.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "guard/fair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MARKER	  "0 0 fg\n"
#define KIB	  UINT64_C(1024)
#define SECOND	  CLOCK_NS_PER_SEC
#define N_JVMS	  8
#define RANGE	  64	  /* about as many bytes a line has */
#define FIRST_PID 4194400 /* past the largest that a kernel gives */

/* A JVM that this test plays. */
struct player {
	pid_t pid; /* 0: none */
	struct owner owner;
	struct map_writer writer;
	struct code_map *code;
	uint64_t ranges;
};

struct fixture {
	char dir[TEMP_DIR_BYTES];
	char path[128]; /* the last that path_of made */
	struct code_map *map;
	struct map_store store;
	struct player players[N_JVMS];
	uint64_t now_ns;
};

/* ---- helpers ---- */

static const char *path_of(struct fixture *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, name);
	return f->path;
}

static bool is_played(void *arg, pid_t pid)
{
	const struct fixture *const f = arg;

	for (size_t i = 0; i < N_JVMS; i++) {
		if (f->players[i].pid == pid)
			return true;
	}
	return false;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	temp_dir_make(f->dir);
	f->now_ns = 1000 * SECOND;
	map_store_init(&f->store, f->dir, 1024 * KIB, is_played, f);
	*state = f;
	return code_map_new(&f->map);
}

static void end(struct fixture *f, struct player *player)
{
	map_store_keep(&f->store, player->pid, player->owner, &player->writer);
	map_writer_fini(&player->writer);
	code_map_free(player->code);
	*player = (struct player){0};
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_JVMS; i++) {
		if (f->players[i].pid)
			end(f, &f->players[i]);
	}
	map_store_fini(&f->store);
	temp_dir_remove(f->dir);
	code_map_free(f->map);
	clock_pretend(0);
	free(f);
	return 0;
}

static void write_file(struct fixture *f, const char *name, const char *text)
{
	files_write(path_of(f, name), text);
}

static void set_age(struct fixture *f, const char *name, time_t age_sec)
{
	const struct timespec then = {.tv_sec = time(NULL) - age_sec};
	const struct timespec times[2] = {then, then};

	assert_int_equal(utimensat(AT_FDCWD, path_of(f, name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static bool is_there(struct fixture *f, const char *name)
{
	struct stat st;

	return lstat(path_of(f, name), &st) == 0;
}

/* Files, and the bytes of them. */
static size_t count_files(const struct fixture *f, uint64_t *ret_bytes)
{
	DIR *dir = opendir(f->dir);
	const struct dirent *entry;
	size_t count = 0;
	struct stat st;

	assert_non_null(dir);
	*ret_bytes = 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			*ret_bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
	return count;
}

static size_t file_count(const struct fixture *f)
{
	uint64_t bytes;

	return count_files(f, &bytes);
}

static uint64_t file_bytes(const struct fixture *f)
{
	uint64_t bytes;

	count_files(f, &bytes);
	return bytes;
}

/* ---- shares ---- */

static struct player *begin(struct fixture *f, size_t i, struct owner owner)
{
	struct player *const player = &f->players[i];

	*player = (struct player){.pid = FIRST_PID + (pid_t)i, .owner = owner};
	assert_int_equal(code_map_new(&player->code), 0);
	return player;
}

/* The JVM compiles as much as makes so many KiB of perf map. */
static void compile(struct fixture *f, struct player *player, uint64_t kib)
{
	static const char name[] = "a_method_with_a_name_as_long_as_they_are_here";

	for (uint64_t i = 0; i < kib * KIB / RANGE; i++) {
		const struct code_range range = {
			.addr = 0x7f0000000000 + 16 * player->ranges++, .size = 16, .name = name};

		assert_int_equal(code_map_add(player->code, &range, false), 1);
		map_writer_mark(&player->writer, player->code, &range, f->now_ns);
	}
}

/* Has the writer go on at once with what is written in several pieces. */
static int step_writer(struct fixture *f, struct player *player, uint64_t now_ns)
{
	int n;

	do {
		map_store_allow(&f->store, &player->writer);
		n = map_writer_step(&player->writer, f->dir, player->pid, player->code, now_ns);
	} while (n == 0 && player->writer.draft && !player->writer.draft->is_whole);
	return n;
}

/* What the collector does within some seconds. */
static void pass(struct fixture *f, int seconds)
{
	struct map_store_live live[N_JVMS];

	while (seconds-- > 0) {
		size_t n = 0;

		f->now_ns += 20 * SECOND; /* whatever writing took, the next perf map is due */
		for (size_t i = 0; i < N_JVMS; i++) {
			struct player *const player = &f->players[i];

			if (!player->pid)
				continue;
			assert_true(step_writer(f, player, f->now_ns) >= 0);
			live[n++] = (struct map_store_live){player->owner, &player->writer,
							    player->code};
			assert_true(file_bytes(f) <= f->store.stats.room.limit_bytes);
		}
		map_store_share(&f->store, live, n, f->now_ns);
	}
}

static const struct owner here = {.user = 1000}, there = {.container = 7, .user = 1000};

/* The players' drafts begin, but no perf map appears yet. */
static void draft_all(struct fixture *f)
{
	for (size_t i = 0; i < N_JVMS; i++) {
		struct player *const player = &f->players[i];

		if (!player->pid || !player->writer.changed_ns)
			continue;
		assert_int_equal(step_writer(f, player, map_writer_due_ns(&player->writer)), 0);
		assert_non_null(player->writer.draft);
	}
}

/* The next perf map is due. Returns whether it appears. */
static int write_map(struct fixture *f, struct player *player)
{
	f->now_ns += 20 * SECOND;
	return step_writer(f, player, f->now_ns);
}

/* What is added to drafts is added by all at once, so nobody knows of it when a draft begins. */
static void drafts_that_grow_together_stay_within_the_room(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 4; i++)
		compile(f, begin(f, i, there), 10);
	compile(f, begin(f, 4, here), 100);
	pass(f, 2);
	for (size_t i = 0; i < 5; i++)
		compile(f, &f->players[i], 1);
	draft_all(f);
	for (size_t i = 0; i < 4; i++) {
		compile(f, &f->players[i], 500);
		assert_true(file_bytes(f) <= f->store.stats.room.limit_bytes);
	}
	compile(f, &f->players[4], 20);
	assert_true(file_bytes(f) <= f->store.stats.room.limit_bytes);
	assert_int_equal(write_map(f, &f->players[4]), 1); /* it has its share */
	assert_int_equal(f->players[4].writer.cut, 0);
	assert_true(f->players[4].writer.file_bytes > 115 * KIB);
	pass(f, 4);
	assert_true(f->players[0].writer.cut > 0);
	assert_int_equal(f->players[4].writer.cut, 0);
	assert_int_equal(f->store.stats.room.live_bytes, file_bytes(f));
}

static void a_level_takes_from_the_greediest_alone(void **state)
{
	uint64_t wants[] = {50, 10, 1000, 60}, fit[] = {1, 2, 3};

	assert_true(fair_level(fit, 3, 6) == UINT64_MAX);
	assert_true(fair_level(wants, 4, 200) == 80);
	assert_true(fair_level(wants, 4, 100) == 30);
	assert_true(fair_level(wants, 4, 0) == 0);
	assert_true(fair_level(wants, 0, 0) == UINT64_MAX);
}

static void who_has_its_share_waits_for_room_and_is_not_cut(void **state)
{
	struct fixture *f = *state;
	struct player *const player = begin(f, 0, here);

	compile(f, player, 100);
	pass(f, 2);
	compile(f, player, 50);
	f->store.stats.room.kept_bytes = 1024 * KIB - f->store.stats.room.live_bytes;
	for (int i = 0; i < 3; i++)
		assert_int_equal(write_map(f, player), 0);
	assert_in_range(player->writer.file_bytes, 95 * KIB, 105 * KIB);
	/* Enough for the lines that there are, but not for those to come. */
	f->store.stats.room.kept_bytes = 1024 * KIB - f->store.stats.room.live_bytes - 170 * KIB;
	draft_all(f);
	compile(f, player, 50);
	assert_int_equal(write_map(f, player), 0);
	assert_int_equal(file_bytes(f), f->store.stats.room.live_bytes);
	f->store.stats.room.kept_bytes = 0;
	assert_int_equal(write_map(f, player), 1);
	assert_int_equal(player->writer.cut, 0);
	assert_in_range(player->writer.file_bytes, 190 * KIB, 210 * KIB);
}

static void a_large_perf_map_that_has_its_share_waits_too(void **state)
{
	struct fixture *f = *state;
	struct player *const player = begin(f, 0, here);

	compile(f, begin(f, 1, there), 10);
	compile(f, player, 250);
	pass(f, 2);
	assert_true(player->writer.file_bytes > player->writer.part);
	compile(f, player, 10);
	/* More than its part, and less than it has. */
	f->store.stats.room.kept_bytes = 896 * KIB - f->store.stats.room.live_bytes - 200 * KIB;
	assert_true(player->writer.part < 200 * KIB);
	assert_int_equal(write_map(f, player), 0);
	f->store.stats.room.kept_bytes = 0;
	assert_int_equal(write_map(f, player), 1);
	assert_int_equal(player->writer.cut, 0);
}

static void whoever_wants_more_than_there_is_room_for_has_less_of_it(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 4; i++)
		compile(f, begin(f, i, there), 400);
	compile(f, begin(f, 4, here), 100);
	pass(f, 3);
	for (size_t i = 0; i < 4; i++)
		assert_true(f->players[i].writer.cut > 0);
	assert_int_equal(f->players[4].writer.cut, 0);
	begin(f, 5, (struct owner){.user = 1001});
	compile(f, &f->players[5], 50);
	pass(f, 3);
	assert_int_equal(f->players[4].writer.cut, 0);
	assert_int_equal(f->players[5].writer.cut, 0);
	for (size_t i = 1; i < 4; i++)
		end(f, &f->players[i]);
	pass(f, 3);
	compile(f, &f->players[4], 40);
	pass(f, 3);
	assert_int_equal(f->players[4].writer.cut, 0);
}

static void of_one_owner_the_large_process_pays(void **state)
{
	struct fixture *f = *state;

	compile(f, begin(f, 0, here), 600);
	compile(f, begin(f, 1, here), 60);
	pass(f, 3);
	assert_true(f->players[0].writer.cut > 0);
	assert_int_equal(f->players[1].writer.cut, 0);
	compile(f, begin(f, 2, there), 200);
	pass(f, 3);
	assert_int_equal(f->players[1].writer.cut, 0);
	assert_true(f->players[2].writer.file_bytes > f->players[0].writer.file_bytes);
}

static void what_was_cut_becomes_whole_when_there_is_room(void **state)
{
	struct fixture *f = *state;

	compile(f, begin(f, 0, here), 300);
	compile(f, begin(f, 1, there), 300);
	pass(f, 3);
	assert_true(f->players[0].writer.cut > 0);
	end(f, &f->players[1]);
	pass(f, 4);
	assert_int_equal(f->players[0].writer.cut, 0);
}

/* The other one's perf map is the oldest of all. */
static void perf_maps_of_the_ended_go_by_who_has_the_most(void **state)
{
	struct fixture *f = *state;
	char name[64];

	compile(f, begin(f, 7, here), 50);
	pass(f, 1);
	snprintf(name, sizeof(name), "perf-%d.map", (int)f->players[7].pid);
	end(f, &f->players[7]);
	for (int round = 0; round < 12; round++) {
		struct player *const player = begin(f, (size_t)(round % 4), there);

		player->pid += 8 * (1 + round);
		compile(f, player, 150);
		pass(f, 2);
		end(f, player);
		pass(f, 1);
	}
	assert_true(is_there(f, name));
	assert_true(f->store.stats.removed > 0);
	assert_int_equal(f->store.stats.kept, file_count(f));
	assert_int_equal(f->store.stats.room.kept_bytes, file_bytes(f));
	assert_true(file_bytes(f) <= 1024 * KIB / 4 * 3);
	assert_true(file_bytes(f) > 1024 * KIB / 4 * 2);
}

static void room_is_half_of_what_is_free(void **state)
{
	struct fixture *f = *state;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("small", f->dir, "tmpfs", 0, "size=512k") < 0) {
		print_message("needs root for mounts\n");
		skip();
	}
	map_store_share(&f->store, NULL, 0, f->now_ns);
	assert_in_range(f->store.stats.room.limit_bytes, 240 * KIB, 256 * KIB);
	compile(f, begin(f, 0, here), 400);
	pass(f, 3);
	assert_in_range(f->store.stats.room.limit_bytes, 240 * KIB, 256 * KIB);
	assert_true(f->players[0].writer.cut > 0);
	assert_true(f->players[0].writer.file_bytes > 60 * KIB);
	assert_int_equal(umount2(f->dir, MNT_DETACH), 0);
}

/* Whoever looks at what is mounted there asks another file system, which may not answer. */
static void what_is_mounted_in_the_place_of_a_perf_map_is_not_looked_at(void **state)
{
	struct fixture *f = *state;
	char name[64], place[128], other[128];

	snprintf(name, sizeof(name), "perf-%d.map", FIRST_PID);
	write_file(f, name, "");
	snprintf(place, sizeof(place), "%s", f->path);
	write_file(f, "other", MARKER);
	snprintf(other, sizeof(other), "%s", f->path);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(other, place, NULL, MS_BIND, NULL) < 0) {
		print_message("needs root for mounts\n");
		skip();
	}
	assert_int_equal(map_store_search_all(&f->store), 0);
	assert_int_equal(f->store.stats.kept, 0);
	assert_int_equal(umount2(place, MNT_DETACH), 0);
	write_file(f, name, MARKER);
	assert_int_equal(map_store_search_all(&f->store), 0);
	assert_int_equal(f->store.stats.kept, 1);
}

static void no_more_than_a_number_are_kept(void **state)
{
	struct fixture *f = *state;
	char name[64];

	for (int i = 0; i < MAP_STORE_MAX_KEPT + 30; i++) {
		snprintf(name, sizeof(name), "perf-%d.map", FIRST_PID + 100 + i);
		write_file(f, name, MARKER);
	}
	assert_int_equal(map_store_search_all(&f->store), 0);
	assert_int_equal(f->store.stats.kept, MAP_STORE_MAX_KEPT + 30);
	/* A call removes files for so long and no longer. */
	for (int i = 0; i < 1000 && file_count(f) > MAP_STORE_MAX_KEPT; i++)
		map_store_share(&f->store, NULL, 0, f->now_ns += SECOND);
	assert_int_equal(file_count(f), MAP_STORE_MAX_KEPT);
}

/* How old a file seems changes with the wall clock; what is known goes by time that has passed. */
static void kept_perf_maps_stay_when_the_clock_is_set(void **state)
{
	struct fixture *f = *state;
	char name[64];

	clock_pretend(f->now_ns);
	compile(f, begin(f, 0, here), 10);
	pass(f, 1);
	snprintf(name, sizeof(name), "perf-%d.map", (int)f->players[0].pid);
	end(f, &f->players[0]);
	set_age(f, name, 30L * 24 * 60 * 60);
	assert_int_equal(map_store_search_all(&f->store), 0);
	f->now_ns += (MAP_STORE_KEEP_SEC - 100) * SECOND;
	clock_pretend(f->now_ns);
	map_store_share(&f->store, NULL, 0, f->now_ns);
	assert_true(is_there(f, name));
	f->now_ns += 200 * SECOND;
	map_store_share(&f->store, NULL, 0, f->now_ns);
	assert_false(is_there(f, name));
	assert_int_equal(f->store.stats.kept, 0);
}

static void what_others_remove_is_forgotten(void **state)
{
	struct fixture *f = *state;
	char name[64];

	compile(f, begin(f, 0, here), 10);
	pass(f, 1);
	snprintf(name, sizeof(name), "perf-%d.map", (int)f->players[0].pid);
	end(f, &f->players[0]);
	assert_int_equal(map_store_search_all(&f->store), 0);
	assert_int_equal(f->store.stats.kept, 1);
	assert_int_equal(unlink(path_of(f, name)), 0);
	assert_int_equal(map_store_search_all(&f->store), 0);
	assert_int_equal(f->store.stats.kept, 0);
	assert_int_equal(f->store.stats.room.kept_bytes, 0);
}

static void a_full_directory_is_searched_in_pieces(void **state)
{
	struct fixture *f = *state;
	char name[64];
	int pieces = 0;

	for (int i = 0; i < 30000; i++) {
		snprintf(name, sizeof(name), "perf-%d.map", FIRST_PID + i);
		assert_int_equal(symlink("x", path_of(f, name)), 0);
	}
	while (pieces == 0 || f->store.search) {
		f->now_ns = map_store_due_ns(&f->store);
		assert_int_equal(map_store_search(&f->store, f->now_ns), 0);
		f->store.searched_ns += pieces++ == 0 ? SECOND : 0; /* as on a slow disk */
		assert_true(pieces < 30000);
	}
	assert_true(pieces > 3);
	assert_true(map_store_due_ns(&f->store) >= f->now_ns + 100 * f->store.searched_ns);
	assert_int_equal(file_count(f), 30000);
}

/* ---- the search ---- */

/* How many files a collector that begins now removes. */
static int search(struct fixture *f, long keep_sec)
{
	struct map_store store;
	int removed;

	map_store_init(&store, f->dir, 1024 * KIB, NULL, NULL);
	store.keep_sec = keep_sec;
	removed = map_store_search_all(&store);
	map_store_fini(&store);
	return removed;
}

static int search_in(const char *dir)
{
	struct map_store store;
	int err;

	map_store_init(&store, dir, 1024 * KIB, NULL, NULL);
	err = map_store_search_all(&store);
	map_store_fini(&store);
	return err;
}

static void old_maps_of_the_dead_are_removed(void **state)
{
	struct fixture *f = *state;
	const pid_t pid = child_gone();
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)pid);
	assert_int_equal(whole_map_write(f->dir, pid, f->map, PERF_MAP_MAX_BYTES), 0);
	set_age(f, name, 90);
	assert_int_equal(search(f, 100), 0);
	assert_true(is_there(f, name));
	set_age(f, name, 110);
	assert_int_equal(search(f, 100), 1);
	assert_false(is_there(f, name));
}

/* Beside a map that another generator of the process has written. */
static void old_maps_beside_others_are_removed_and_the_others_stay(void **state)
{
	struct fixture *f = *state;
	const pid_t pid = child_gone();
	char name[64], beside[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)pid);
	snprintf(beside, sizeof(beside), "perf-%d.map.fgcollect", (int)pid);
	write_file(f, name, "1000 10 foreign\n");
	assert_int_equal(whole_map_write(f->dir, pid, f->map, PERF_MAP_MAX_BYTES), 0);
	set_age(f, name, 110);
	set_age(f, beside, 110);
	assert_int_equal(search(f, 100), 1);
	assert_true(is_there(f, name));
	assert_false(is_there(f, beside));
}

static void old_map_that_somebody_writes_to_stays(void **state)
{
	struct fixture *f = *state;
	const pid_t pid = child_gone();
	char name[64], path[256];
	int fd;

	snprintf(name, sizeof(name), "perf-%d.map", (int)pid);
	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	assert_int_equal(whole_map_write(f->dir, pid, f->map, PERF_MAP_MAX_BYTES), 0);
	set_age(f, name, 110);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(search(f, 100), 0);
	close(fd);
	assert_true(is_there(f, name));
	assert_int_equal(search(f, 100), 1);
}

static void maps_of_the_living_stay(void **state)
{
	struct fixture *f = *state;
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)getpid());
	assert_int_equal(whole_map_write(f->dir, getpid(), f->map, PERF_MAP_MAX_BYTES), 0);
	set_age(f, name, 0);
	assert_int_equal(search(f, -100), 0); /* however old it may be */
	assert_true(is_there(f, name));
}

static void map_of_a_pid_that_is_used_again_is_removed(void **state)
{
	struct fixture *f = *state;
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)getpid());
	assert_int_equal(whole_map_write(f->dir, getpid(), f->map, PERF_MAP_MAX_BYTES), 0);
	set_age(f, name, 1000); /* this process is younger */
	assert_int_equal(search(f, 100000), 1);
	assert_false(is_there(f, name));
}

static void temporary_files_left_behind_are_removed(void **state)
{
	struct fixture *f = *state;
	const pid_t pid = getpid(); /* the collector was killed, and not the process */
	char empty[64], begun[64];

	snprintf(empty, sizeof(empty), "perf-%d.map.0123456789abcdef", (int)pid);
	snprintf(begun, sizeof(begun), "perf-%d.map.fedcba9876543210", (int)pid);
	write_file(f, empty, "");
	write_file(f, begun, MARKER "1000 1");
	assert_int_equal(search(f, 100), 0); /* somebody may still write to them */
	set_age(f, empty, MAP_STORE_TEMP_SEC + 10);
	set_age(f, begun, MAP_STORE_TEMP_SEC + 10);
	assert_int_equal(search(f, 100000), 2);
	assert_int_equal(file_count(f), 0);
}

static void what_is_not_ours_stays(void **state)
{
	static const char *const forms[] = {
		"perf-%d.map.bak",
		"perf-%d.map.0123456789abcdeg",
		"perf-%d.map.0123456789abcdef0",
		"perf-%d.map.0123456789abcdef~",
		"perf-%d.map~",
		"perf-0%d.map",
		"perf-+%d.map",
		"perf--%d.map",
		"perf- %d.map",
		"xperf-%d.map",
		"perf-%d9999999999.map",
		"perf-%d.txt",
	};
	const size_t count = sizeof(forms) / sizeof(forms[0]);
	struct fixture *f = *state;
	const pid_t pid = child_gone();
	char name[64];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), forms[i], (int)pid); // NOLINT
		write_file(f, name, MARKER);
		set_age(f, name, 1000);
	}
	assert_int_equal(search(f, 100), 0);
	assert_int_equal(file_count(f), count);
}

static void map_of_another_program_stays(void **state)
{
	struct fixture *f = *state;
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)child_gone());
	write_file(f, name, "7f0000001000 40 LMain;::main\n");
	set_age(f, name, 1000);
	assert_int_equal(search(f, 100), 0);
	write_file(f, name, "");
	set_age(f, name, 1000);
	assert_int_equal(search(f, 100), 0);
	assert_true(is_there(f, name));
}

static void links_and_directories_stay(void **state)
{
	struct fixture *f = *state;
	char name[64], dir[64], fifo[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)child_gone());
	snprintf(dir, sizeof(dir), "perf-%d.map", (int)child_gone());
	snprintf(fifo, sizeof(fifo), "perf-%d.map.0123456789abcdef", (int)child_gone());
	write_file(f, "target", MARKER);
	assert_int_equal(symlink("target", path_of(f, name)), 0);
	assert_int_equal(mkdir(path_of(f, dir), 0700), 0);
	assert_int_equal(mkfifo(path_of(f, fifo), 0600), 0);
	set_age(f, "target", 1000);
	set_age(f, name, 1000);
	set_age(f, dir, 1000);
	set_age(f, fifo, 1000);
	assert_int_equal(search(f, 100), 0);
	assert_int_equal(file_count(f), 4);
}

static void map_of_another_user_stays(void **state)
{
	struct fixture *f = *state;
	char name[64];

	if (geteuid() != 0) {
		print_message("needs root to give a file away\n");
		skip();
	}
	snprintf(name, sizeof(name), "perf-%d.map", (int)child_gone());
	write_file(f, name, MARKER);
	assert_int_equal(chown(path_of(f, name), 1, 1), 0);
	set_age(f, name, 1000);
	assert_int_equal(search(f, 100), 0);
	assert_true(is_there(f, name));
}

static void directory_that_is_not_there_is_an_error(void **state)
{
	assert_int_equal(search_in("/nonexistent/fg"), -ENOENT);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_level_takes_from_the_greediest_alone),
		CLAIM(drafts_that_grow_together_stay_within_the_room),
		CLAIM(who_has_its_share_waits_for_room_and_is_not_cut),
		CLAIM(a_large_perf_map_that_has_its_share_waits_too),
		CLAIM(whoever_wants_more_than_there_is_room_for_has_less_of_it),
		CLAIM(of_one_owner_the_large_process_pays),
		CLAIM(what_was_cut_becomes_whole_when_there_is_room),
		CLAIM(perf_maps_of_the_ended_go_by_who_has_the_most),
		CLAIM(room_is_half_of_what_is_free),
		CLAIM(what_is_mounted_in_the_place_of_a_perf_map_is_not_looked_at),
		CLAIM(no_more_than_a_number_are_kept),
		CLAIM(kept_perf_maps_stay_when_the_clock_is_set),
		CLAIM(what_others_remove_is_forgotten),
		CLAIM(a_full_directory_is_searched_in_pieces),
		CLAIM(old_maps_of_the_dead_are_removed),
		CLAIM(old_maps_beside_others_are_removed_and_the_others_stay),
		CLAIM(old_map_that_somebody_writes_to_stays),
		CLAIM(maps_of_the_living_stay),
		CLAIM(map_of_a_pid_that_is_used_again_is_removed),
		CLAIM(temporary_files_left_behind_are_removed),
		CLAIM(what_is_not_ours_stays),
		CLAIM(map_of_another_program_stays),
		CLAIM(links_and_directories_stay),
		CLAIM(map_of_another_user_stays),
		CLAIM(directory_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
