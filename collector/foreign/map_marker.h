// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an open file -> whether its beginning says that this collector wrote it
 * units:   none
 * threads: any
 * errors:  what cannot be read is not the collector's
 * source:  none
 */
#ifndef FG_FOREIGN_MAP_MARKER_H
#define FG_FOREIGN_MAP_MARKER_H

#include <stdbool.h>

/* With this line the collector's own perf maps begin (maps/perf_map_place.h). */
#define MAP_MARKER "0 0 fg\n"

/* The file offset of fd does not change. */
bool map_marker_is_in(int fd);

#endif
