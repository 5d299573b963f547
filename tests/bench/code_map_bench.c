// SPDX-License-Identifier: Apache-2.0
/*
 * How many look-ups and events a second a code map takes with 50,000 live ranges:
 *
 *	code_map_bench [ranges]
 *
 * Sizes are spread as a JVM's are: mostly a few hundred bytes to a few KiB, at times 50 KiB.
 */
#include "base/clock.h"
#include "code/code_map.h"
#include "code/inline_table.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_UPS     20000000u
#define ADDRS	     (1u << 18)
#define EVENTS	     2000000u
#define HORIZON_NS   (250 * CLOCK_NS_PER_MS)
#define EXPIRE_EVERY 1000u
#define MAX_DEAD     20000u

struct piece {
	uint64_t addr;
	uint32_t size;
};

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((random_state >> 33) * limit) >> 31);
}

static uint32_t random_size(void)
{
	const uint32_t limit = random_below(10) ? 3000 : random_below(10) ? 12000 : 50000;

	return 64 + random_below(limit);
}

static int load(struct code_map *map, const struct piece *piece, uint64_t time_ns, bool is_resync)
{
	const struct code_range range = {
		.addr = piece->addr,
		.size = piece->size,
		.kind = CODE_JAVA,
		.birth_ns = time_ns,
		.class_name = "bench/Class",
		.name = "method",
		.signature = "()V",
	};

	return code_map_add(map, &range, is_resync);
}

static void report(const char *what, unsigned int count, uint64_t start_ns)
{
	const double sec = (double)(clock_now_ns() - start_ns) / (double)CLOCK_NS_PER_SEC;

	printf("%-28s %9u in %7.1f ms, %6.2f million/s\n", what, count, sec * 1e3,
	       count / sec / 1e6);
}

/* The addresses are drawn before the clock starts, so that only look-ups count. */
static void bench_find(const struct code_map *map, const struct piece *pieces, uint32_t count,
		       uint64_t time_ns)
{
	static uint64_t addrs[ADDRS];
	unsigned int found = 0;
	uint64_t start_ns;

	for (unsigned int i = 0; i < ADDRS; i++) {
		const struct piece *piece = &pieces[random_below(count)];

		addrs[i] = piece->addr + random_below(piece->size);
	}
	start_ns = clock_now_ns();
	for (unsigned int i = 0; i < LOOK_UPS; i++)
		found += code_map_find(map, addrs[i % ADDRS], time_ns) != NULL;
	report("look-ups, all over", LOOK_UPS, start_ns);
	if (found != LOOK_UPS)
		printf("  only %u found\n", found);
}

static uint64_t bench_events(struct code_map *map, const struct piece *pieces, uint32_t count)
{
	const uint64_t start_ns = clock_now_ns();
	uint64_t time_ns = CLOCK_NS_PER_SEC;

	for (unsigned int i = 0; i < EVENTS / 2; i++) {
		const struct piece *piece = &pieces[random_below(count)];

		time_ns += CLOCK_NS_PER_MS;
		code_map_remove(map, piece->addr, time_ns);
		load(map, piece, time_ns + CLOCK_NS_PER_MS / 2, false);
		if (i % EXPIRE_EVERY == 0)
			code_map_expire(map, time_ns - HORIZON_NS, MAX_DEAD);
	}
	report("unloads and loads", EVENTS, start_ns);
	return time_ns;
}

static void bench_resync(struct code_map *map, const struct piece *pieces, uint32_t count,
			 uint64_t time_ns)
{
	uint64_t start_ns = clock_now_ns();
	const struct code_range **ranges;

	code_map_resync_begin(map, time_ns);
	for (uint32_t i = 0; i < count; i++)
		load(map, &pieces[i], time_ns, true);
	code_map_resync_end(map, true);
	report("resync", count, start_ns);
	start_ns = clock_now_ns();
	if (code_map_list(map, 0, &ranges) < 0)
		return;
	report("list", count, start_ns);
	free(ranges);
}

/* As C2 makes of a large method: REGIONS places, some frames deep, 12 bytes each. */
#define REGIONS	      600u
#define REGION_BYTES  12u
#define TABLE_METHODS 30u

static struct inline_table *make_table(struct code_methods *store, uint8_t *bytes, size_t size)
{
	const struct code_method names = {.class_name = "bench/Class", .name = "method"};
	const struct wire_method none = {0};
	struct wire_buf buf = {.data = bytes, .size = size};
	struct code_method *methods[TABLE_METHODS];
	struct inline_table *table = NULL;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < TABLE_METHODS; i++) {
		if (code_methods_add(store, &names, &none, &methods[i]) < 0)
			return NULL;
	}
	for (uint32_t i = 0; i < REGIONS; i++) {
		struct wire_region region = {.size = REGION_BYTES, .depth = 1 + random_below(7)};

		region.shared = region.depth - 1 < depth ? region.depth - 1 : depth;
		depth = region.depth;
		wire_encode_inline_region(&buf, &region);
		for (uint32_t j = region.shared; j < region.depth; j++)
			wire_encode_inline_frame(
				&buf, &(struct wire_inline_frame){random_below(TABLE_METHODS), 20});
	}
	const struct wire_inline wire = {.data = bytes,
					 .left = buf.len,
					 .n_methods = TABLE_METHODS,
					 .n_regions = REGIONS,
					 .regions_left = REGIONS,
					 .has_regions = true};

	return inline_table_new(store, methods, &wire, REGIONS * REGION_BYTES, &table) ? NULL
										       : table;
}

static void bench_inlines(void)
{
	static uint8_t bytes[1 << 16];
	struct code_methods store = {0};
	struct inline_table *table = make_table(&store, bytes, sizeof(bytes));
	struct inline_frame frames[64];
	const uint64_t start_ns = clock_now_ns();
	size_t n = 0;

	if (!table)
		return;
	for (unsigned int i = 0; i < LOOK_UPS / 50; i++)
		n += inline_table_find(table, random_below(REGIONS * REGION_BYTES), frames, 64);
	report("inline look-ups", LOOK_UPS / 50, start_ns);
	printf("%-28s %9zu bytes for %u regions, %.1f frames each\n", "inline table", store.bytes,
	       REGIONS, (double)n / (LOOK_UPS / 50));
	inline_table_free(table);
}

int main(int argc, char **argv)
{
	const uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 50000;
	struct piece *pieces = calloc(count, sizeof(*pieces));
	uint64_t addr = UINT64_C(0x7f0000000000), start_ns, time_ns;
	struct code_map_stats stats;
	struct code_map *map;

	if (count == 0 || !pieces || code_map_new(&map) < 0) {
		free(pieces);
		return 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		pieces[i] = (struct piece){addr, random_size()};
		addr += (pieces[i].size + 63u) & ~63u;
	}
	start_ns = clock_now_ns();
	for (uint32_t i = 0; i < count; i++)
		load(map, &pieces[i], 1, false);
	report("first loads", count, start_ns);
	bench_find(map, pieces, count, 2);
	time_ns = bench_events(map, pieces, count);
	bench_find(map, pieces, count, time_ns);
	bench_resync(map, pieces, count, time_ns);
	bench_inlines();
	code_map_stats(map, &stats);
	printf("%zu live, %zu dead, %zu bytes\n", stats.live, stats.dead, stats.bytes);
	code_map_free(map);
	free(pieces);
	return 0;
}
