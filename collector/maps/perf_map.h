// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code map -> <dir>/perf-<host pid>.map
 * units:   PIDs as the host sees them
 * threads: one at a time
 * errors:  negative errno; the file is replaced whole or not at all
 * source:  linux tools/perf/Documentation/jit-interface.txt
 *
 * The file is owned by the collector's user, 0644, made with O_EXCL under another name and put in
 * its place whole; a symlink there is replaced, never followed. One line a range: "start size
 * name", hexadecimal without 0x, in rising order but for what was added later, no two lines
 * overlapping, no name shorter than three bytes (perf skips those) and no control characters in it.
 * Names are as perf's users know them: "Ljava/lang/String;::hashCode" for methods unless another
 * style is chosen, the plain name for stubs, with "()" behind it if it is too short, all of it cut
 * at PERF_MAP_MAX_NAME_BYTES. The first line is "0 0 fg", which perf skips: so a map is known to be
 * ours. Lines that were taken out are overwritten by "00...0 0 fg", which it skips too.
 */
#ifndef FG_MAPS_PERF_MAP_H
#define FG_MAPS_PERF_MAP_H

#include "code/code_map.h"
#include "code/code_name.h"
#include "maps/perf_map_pair.h"

#include <stdbool.h>
#include <sys/types.h>

#define PERF_MAP_MAX_NAME_BYTES CODE_NAME_CUT_BYTES
#define PERF_MAP_MAX_BYTES	(UINT64_C(256) << 20)

/* How a map is written, and the last one of this code map in this style; NULL: nothing is kept. */
struct perf_map_form {
	uint64_t max_bytes;
	struct perf_map_style style;
	struct perf_map_pair *pair;
};

/* A map that has not appeared yet. Opaque but for its size. */
#define PERF_MAP_OUT_BYTES (64u << 10)
struct perf_map_draft {
	int dirfd, fd;
	int err;      /* the first; nothing is written after it */
	bool is_anew; /* it did not begin as another */
	size_t used;
	size_t cut;
	uint64_t written, unlisted, relisted;
	struct perf_map_form form;
	struct perf_map_name name, temp;
	char data[PERF_MAP_OUT_BYTES];
};

/*
 * A map is made in steps, so that whoever writes at intervals can begin early and have it appear in
 * time. It begins as the last one did (perf_map_pair.h), with the lines taken out that have become
 * wrong, and what was added stands at its end: most of a map's cost is to make lines.
 *
 * What is added to the code map after a draft has to be added to the draft too, and goes to its
 * end. It is outdated when what changed is more than can be told line by line. Publish returns
 * the number of ranges that were left out because the file would have become larger than max_bytes,
 * those that came last; 0 as a rule. A draft that was made ends by publish or drop; both release
 * all it holds but its own memory.
 */
int perf_map_draft(const char *dir, pid_t pid, const struct code_map *map,
		   const struct perf_map_form *form, struct perf_map_draft *ret);
void perf_map_add(struct perf_map_draft *draft, const struct code_map *map,
		  const struct code_range *range);
bool perf_map_is_outdated(const struct perf_map_draft *draft, const struct code_map *map);
ssize_t perf_map_publish(struct perf_map_draft *draft, const struct code_map *map);
void perf_map_drop(struct perf_map_draft *draft);
/* Forgets what is kept of the maps of a process; the map itself stays. spare_only: all but that. */
void perf_map_forget(const char *dir, struct perf_map_pair *pair, bool spare_only);

/*
 * Removes maps that this program wrote and that nobody needs: of dead processes, last written more
 * than max_age_sec ago, and of processes that began after their map was last written, whose PID is
 * therefore used again; what a crash left half-written too. Only regular files owned by this user.
 * Returns how many.
 */
int perf_map_remove_old(const char *dir, long max_age_sec);

/* Whether a file begins as our maps do. What is read next from fd is its beginning even so. */
bool perf_map_is_ours(int fd);

/*
 * perf prefers <container's /tmp>/perf-<inner pid>.map over ours, even when it is empty. 1 and its
 * path as the container sees it if there is one, 0 if not or if the process has our own mounts,
 * negative errno if that cannot be told. Nothing is opened, or followed out of the container's
 * root.
 */
int perf_map_find_shadow(pid_t pid, pid_t inner_pid, char *ret_path, size_t size);

#endif
