// SPDX-License-Identifier: Apache-2.0
/* Memory, descriptors and threads of this process, see self_stats.h. */
#include "inspect/self_stats.h"

#include "base/cleanup.h"
#include "guard/heap.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t count_entries(const char *path)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	uint64_t count = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	return count;
}

void self_stats_read(struct self_stats *ret)
{
	*ret = (struct self_stats){
		.resident_bytes = heap_resident(),
		.descriptors = count_entries("/proc/self/fd"),
		.threads = count_entries("/proc/self/task"),
	};
	ret->descriptors -= ret->descriptors > 0; /* the descriptor of /proc/self/fd itself */
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct self_stats, resident_bytes, "self.resident_bytes",
		      "resident_memory_bytes", "Resident memory of the collector."),
	COUNTER_GAUGE(struct self_stats, descriptors, "self.descriptors", "open_fds",
		      "Open descriptors of the collector."),
	COUNTER_GAUGE(struct self_stats, threads, "self.threads", "threads",
		      "Threads of the collector."),
};

const struct counters self_counters = COUNTERS(struct self_stats, counters);
