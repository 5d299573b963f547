// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code map -> <dir>/perf-<host pid>.map, or beside it
 * units:   PIDs as the host sees them
 * threads: one at a time
 * errors:  negative errno; the file is replaced whole or not at all
 * source:  linux tools/perf/Documentation/jit-interface.txt
 *
 * The file belongs to the collector's user and has mode 0644. It is made with O_EXCL under a
 * temporary name and put in its place whole. If something that is not the collector's has the
 * place, the file is put beside it, as perf-<host pid>.map.fgcollect (perf_map_place.h).
 *
 * The first line is "0 0 fg", by which the collector knows its own perf maps; perf skips the line,
 * because its name is shorter than three bytes. A range has a line "start size name", hexadecimal
 * without 0x, or several lines if inlined code is unfolded. Lines are in rising order, but those
 * that were added later stand at the end. No two lines overlap. A line that was taken out is
 * overwritten by "00...0 0 fg", which perf skips too. Names are those of code_name.h: without
 * control characters, not shorter than three bytes, cut at PERF_MAP_MAX_NAME_BYTES.
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
#define PERF_MAP_PIECE		4096u

/* How a perf map is written. pair: the files of the last perf map; NULL: all is written anew. */
struct perf_map_form {
	uint64_t max_bytes;
	uint64_t most_bytes; /* see below; 0: as max_bytes */
	struct perf_map_style style;
	struct perf_map_pair *pair;
};

/* A perf map that has not appeared yet. Opaque but for its size. */
#define PERF_MAP_OUT_BYTES (64u << 10)
struct perf_map_draft {
	int dirfd, fd;
	int err;	     /* the first error; no byte is written after it */
	bool is_anew;	     /* the file was begun empty, not as the last perf map */
	bool is_whole;	     /* has all ranges of the code map */
	bool lacked_room;    /* a range was left out because of most_bytes, not of max_bytes */
	uint64_t until;	     /* code_map_mark behind the ranges that it has */
	uint64_t most_bytes; /* it does not become larger; the caller may change it at any time */
	size_t used;
	size_t cut;
	uint64_t written, unlisted, relisted;
	struct perf_map_form form;
	struct perf_map_name temp;
	pid_t pid;
	char data[PERF_MAP_OUT_BYTES];
};

/*
 * A perf map is made in steps, so that a caller that writes at intervals can begin early.
 *
 * perf_map_draft begins the file, with the lines of the last perf map if there is one
 * (perf_map_pair.h). Lines of ranges that are gone are taken out, and lines of new ranges stand at
 * the end, because most of a perf map's cost is to make lines.
 *
 * A draft has lines of PERF_MAP_PIECE ranges then, and perf_map_go_on adds as many more, until the
 * draft is whole: a code map may be so large that lines for all of it take too long for one turn.
 *
 * perf_map_add adds a range that was added to the code map after perf_map_draft. If
 * perf_map_is_outdated says that the code map has changed otherwise, the draft must be dropped.
 *
 * perf_map_publish puts the file of a whole draft in its place. It returns the number of ranges,
 * the last ones, that were left out because the file would have become larger than max_bytes; 0 as
 * a rule. perf_map_drop removes the file. Either ends the draft and frees all but the draft's own
 * memory.
 *
 * most_bytes of the form is the draft's at first: what there is room for now, of all perf maps.
 */
int perf_map_draft(const char *dir, pid_t pid, const struct code_map *map,
		   const struct perf_map_form *form, struct perf_map_draft *ret);
int perf_map_go_on(struct perf_map_draft *draft, const struct code_map *map);
void perf_map_add(struct perf_map_draft *draft, const struct code_map *map,
		  const struct code_range *range);
bool perf_map_is_outdated(const struct perf_map_draft *draft, const struct code_map *map);
ssize_t perf_map_publish(struct perf_map_draft *draft, const struct code_map *map);
void perf_map_drop(struct perf_map_draft *draft);
/* Removes the spare file and, unless spare_only, forgets the last perf map, whose file stays. */
void perf_map_forget(const char *dir, struct perf_map_pair *pair, bool spare_only);

/* A file that perf reads rather than the collector's perf map. */
enum perf_map_shadow {
	PERF_MAP_UNSHADOWED,
	PERF_MAP_SHADOW_OTHER, /* empty, older than the process, or no regular file */
	PERF_MAP_SHADOW_USED,  /* a code generator of the process may have written it */
};

/*
 * Finds the file that perf reads: /tmp/perf-<inner pid>.map in the process's container, even if it
 * is empty, or, if the collector's perf map is beside another file, that file. beside_dir: NULL, or
 * the directory where that is so. Returns an enum perf_map_shadow, with the path within the
 * container or, of beside_dir, on the host; negative errno if it cannot be told. The file is not
 * opened, and no symlink leads out of the container's root.
 */
int perf_map_find_shadow(pid_t pid, pid_t inner_pid, const char *beside_dir, char *ret_path,
			 size_t size);

#endif
