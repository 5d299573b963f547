// SPDX-License-Identifier: Apache-2.0
/* Perf maps that processes write themselves, in pieces of any length. */
#include "fuzzer.h"

#include "foreign/foreign_map.h"

#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foreign_map_stats stats = {0};
	struct foreign_map *map;
	size_t piece = size > 0 ? data[0] + 1u : 1;

	if (foreign_map_new(&map) < 0)
		return 0;
	for (size_t at = 0; at < size; at += piece) {
		const size_t len = size - at < piece ? size - at : piece;

		foreign_map_feed(map, (const char *)data + at, len, at, &stats);
	}
	for (uint64_t addr = 0; addr < 0x4000; addr += 16) {
		const struct code_range *range = foreign_map_find(map, addr, size / 2);

		if (range && strlen(range->name) > FOREIGN_NAME_BYTES)
			abort();
		sink += range ? range->addr : 0;
	}
	foreign_map_expire(map, size, size, UINT64_MAX);
	foreign_map_free(map);
	return 0;
}
