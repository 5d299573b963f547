// SPDX-License-Identifier: Apache-2.0
/* Knows the collector's own perf maps, see map_marker.h. */
#include "foreign/map_marker.h"

#include <string.h>
#include <unistd.h>

bool map_marker_is_in(int fd)
{
	char start[sizeof(MAP_MARKER) - 1];

	return pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
	       memcmp(start, MAP_MARKER, sizeof(start)) == 0;
}
