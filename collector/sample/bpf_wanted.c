// SPDX-License-Identifier: Apache-2.0
/* Keeps a table of the kernel equal to a list, see bpf_wanted.h. */
#include "sample/bpf_wanted.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#define KEPT ((void *)1)

bool bpf_wanted_add(struct bpf_wanted *wanted, pid_t pid)
{
	const __u32 key = (__u32)pid;
	const __u64 one = 1;

	if (map64_find(&wanted->pids, key))
		return true;
	if (map64_put(&wanted->pids, key, KEPT) < 0 ||
	    bpf_map_update_elem(wanted->fd, &key, &one, BPF_ANY) < 0) {
		map64_remove(&wanted->pids, key);
		return false;
	}
	return true;
}

static void drop(struct bpf_wanted *wanted, uint64_t pid)
{
	const __u32 key = (__u32)pid;

	bpf_map_delete_elem(wanted->fd, &key);
	map64_remove(&wanted->pids, pid);
}

/* Drops who is in the table and not among the PIDs. False: no memory. */
static bool drop_others(struct bpf_wanted *wanted, const struct map64 *now)
{
	uint64_t *const gone = malloc(wanted->pids.count * sizeof(*gone)), pid;
	size_t n = 0, pos = 0;
	void *value;

	if (!gone)
		return false;
	while (map64_next(&wanted->pids, &pos, &pid, &value)) {
		if (!map64_find(now, pid))
			gone[n++] = pid;
	}
	while (n > 0)
		drop(wanted, gone[--n]);
	free(gone);
	return true;
}

/* PIDs that the table lacks. A full table is not asked for each: there may be thousands. */
static size_t count_missing(const struct bpf_wanted *wanted, const pid_t *pids, size_t n)
{
	size_t missing = 0;

	for (size_t i = 0; i < n; i++)
		missing += !map64_find(&wanted->pids, (uint64_t)pids[i]);
	return missing;
}

size_t bpf_wanted_set(struct bpf_wanted *wanted, const pid_t *pids, size_t n)
{
	struct map64 now = {0};
	bool fits = true;

	for (size_t i = 0; i < n && fits; i++)
		fits = map64_put(&now, (uint64_t)pids[i], KEPT) == 0;
	if (fits && wanted->pids.count > 0)
		fits = drop_others(wanted, &now);
	for (size_t i = 0; i < n && fits; i++)
		fits = bpf_wanted_add(wanted, pids[i]);
	map64_fini(&now);
	return fits ? 0 : count_missing(wanted, pids, n);
}

void bpf_wanted_fini(struct bpf_wanted *wanted)
{
	map64_fini(&wanted->pids);
}
