// SPDX-License-Identifier: Apache-2.0
/* Keeps the lines of a runtime's perf map as a code map, see foreign_map.h. */
#include "foreign/foreign_map.h"

#include "base/clock.h"
#include "code/name_pool.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEAD_RANGES 20000
#define AT_ONCE		256 /* ranges between two looks at the time */

struct foreign_map {
	struct foreign_text text;
	struct code_map *code;
	struct name_pool names;
	bool is_moving;		/* names move to another pool, which has those of new lines */
	struct name_pool fresh; /* that pool */
	uint64_t moved_ns;	/* since when */
	size_t bytes;		/* bytes after the last feed */
};

int foreign_map_new(struct foreign_map **ret)
{
	struct foreign_map *map = calloc(1, sizeof(*map));
	int err;

	if (!map)
		return -ENOMEM;
	err = name_pool_init(&map->names);
	if (!err)
		err = code_map_new(&map->code);
	if (err) {
		foreign_map_free(map);
		return err;
	}
	*ret = map;
	return 0;
}

bool foreign_map_free_some(struct foreign_map *map, size_t max)
{
	return code_map_free_some(map->code, max);
}

void foreign_map_free(struct foreign_map *map)
{
	if (!map)
		return;
	code_map_free(map->code);
	name_pool_fini(&map->names);
	name_pool_fini(&map->fresh);
	free(map);
}

static void measure(struct foreign_map *map)
{
	map->bytes = heap_bytes(sizeof(*map)) + code_map_bytes(map->code) +
		     name_pool_bytes(&map->names) +
		     (map->is_moving ? name_pool_bytes(&map->fresh) : 0);
}

struct feed {
	struct foreign_map *map;
	struct foreign_map_stats *stats;
	uint64_t from_ns;
};

static int add_range(struct foreign_map *map, struct code_range *range, const char *name,
		     size_t len)
{
	struct name_pool *const names = map->is_moving ? &map->fresh : &map->names;
	int n;

	range->kind = CODE_JAVA;
	range->level = CODE_LEVEL_UNKNOWN;
	range->name = name_pool_add(names, name, len);
	if (range->name == names->limit_text)
		return -ENOSPC;
	n = code_map_add(map->code, range, false);
	return n < 0 ? n : 0;
}

int foreign_map_add(struct foreign_map *map, const struct code_range *range)
{
	struct code_range plain = {
		.addr = range->addr, .size = range->size, .birth_ns = range->birth_ns};

	return add_range(map, &plain, range->name, strlen(range->name));
}

const struct code_map_watch *foreign_map_set_watch(struct foreign_map *map,
						   const struct code_map_watch *watch)
{
	return code_map_set_watch(map->code, watch);
}

static void on_line(void *arg, const struct foreign_line *line)
{
	const struct feed *feed = arg;
	struct foreign_map *map = feed->map;
	struct code_range range = {
		.addr = line->addr, .size = line->size, .birth_ns = feed->from_ns};

	if (map->bytes > FOREIGN_MAP_MAX_BYTES) {
		feed->stats->refused++;
		return;
	}
	if (add_range(map, &range, line->name, line->len) < 0)
		feed->stats->refused++;
}

void foreign_map_feed(struct foreign_map *map, const char *data, size_t len, uint64_t from_ns,
		      struct foreign_map_stats *stats)
{
	struct feed feed = {.map = map, .stats = stats, .from_ns = from_ns};
	const struct foreign_sink sink = {.fn = on_line, .arg = &feed};

	measure(map);
	foreign_text_feed(&map->text, data, len, &sink, &stats->text);
	measure(map);
}

const struct foreign_text *foreign_map_text(const struct foreign_map *map)
{
	return &map->text;
}

int foreign_map_take(struct foreign_map *map, struct foreign_taking *taking, size_t max_lines,
		     uint64_t from_ns, struct foreign_map_stats *stats)
{
	struct feed feed = {.map = map, .stats = stats, .from_ns = from_ns};
	const struct foreign_sink sink = {.fn = on_line, .arg = &feed};
	int err;

	measure(map);
	err = foreign_answer_take(taking, max_lines, &sink, &map->text, &stats->text);
	measure(map);
	return err;
}

/* The rest of a line whose beginning is not known is a broken line, whatever is in it. */
void foreign_map_skip(struct foreign_map *map, bool ends_line)
{
	foreign_map_restart(map);
	if (ends_line)
		return;
	memset(map->text.line, '?', sizeof(map->text.line));
	map->text.used = sizeof(map->text.line);
	map->text.is_long = true;
}

void foreign_map_restart(struct foreign_map *map)
{
	map->text.used = 0;
	map->text.is_long = false;
}

const struct code_range *foreign_map_find(const struct foreign_map *map, uint64_t addr,
					  uint64_t time_ns)
{
	return code_map_find(map->code, addr, time_ns);
}

uint64_t foreign_map_serial(const struct foreign_map *map)
{
	return map->names.serial;
}

static const char *move_name(void *arg, const char *name)
{
	return name_pool_add(arg, name, strlen(name));
}

static void begin_move(struct foreign_map *map, uint64_t now_ns)
{
	if (!name_pool_is_due(&map->names, now_ns) || name_pool_init(&map->fresh) < 0)
		return;
	map->is_moving = true;
	map->moved_ns = now_ns;
	code_map_begin_rename(map->code, move_name, &map->fresh);
}

static void end_move(struct foreign_map *map)
{
	map->fresh.kept_bytes = name_pool_bytes(&map->fresh);
	map->fresh.moved_ns = map->moved_ns;
	name_pool_fini(&map->names);
	map->names = map->fresh;
	map->fresh = (struct name_pool){0};
	map->is_moving = false;
}

/* A file may have half a million lines, so a call does a part of the work, at least a little. */
void foreign_map_expire(struct foreign_map *map, uint64_t horizon_ns, uint64_t now_ns,
			uint64_t until_ns)
{
	size_t n;

	do {
		n = code_map_expire_some(map->code, horizon_ns, MAX_DEAD_RANGES, AT_ONCE);
	} while (n == AT_ONCE && clock_now_ns() < until_ns);
	if (!map->is_moving)
		begin_move(map, now_ns);
	while (map->is_moving) {
		code_map_rename_some(map->code, AT_ONCE);
		if (!code_map_is_renaming(map->code))
			end_move(map);
		else if (clock_now_ns() >= until_ns)
			break;
	}
	measure(map);
}

size_t foreign_map_count(const struct foreign_map *map)
{
	struct code_map_stats stats;

	code_map_stats(map->code, &stats);
	return stats.live;
}

size_t foreign_map_bytes(const struct foreign_map *map)
{
	return map->bytes;
}
