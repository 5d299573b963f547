// SPDX-License-Identifier: Apache-2.0
/* A perf map at once, in the default style, for tests of what is in it. */
#ifndef FG_TEST_WHOLE_MAP_H
#define FG_TEST_WHOLE_MAP_H

#include "maps/perf_map.h"

/* As perf_map_draft and perf_map_publish. */
static inline ssize_t whole_map_write(const char *dir, pid_t pid, const struct code_map *map,
				      uint64_t max_bytes)
{
	const struct perf_map_form form = {.max_bytes = max_bytes};
	static struct perf_map_draft draft;
	int err = perf_map_draft(dir, pid, map, &form, &draft);

	while (!err && !draft.is_whole)
		err = perf_map_go_on(&draft, map);
	return err ? err : perf_map_publish(&draft, map);
}

#endif
