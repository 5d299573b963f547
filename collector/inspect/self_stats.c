// SPDX-License-Identifier: Apache-2.0
/* Memory, descriptors and threads of this process, see self_stats.h. */
#include "inspect/self_stats.h"

#include "base/cleanup.h"
#include "base/file.h"

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

static uint64_t resident_bytes(void)
{
	unsigned long long pages = 0;
	char text[128];

	if (file_read_small("/proc/self/statm", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void self_stats_read(struct self_stats *ret)
{
	*ret = (struct self_stats){
		.resident_bytes = resident_bytes(),
		.descriptors = count_entries("/proc/self/fd"),
		.threads = count_entries("/proc/self/task"),
	};
	ret->descriptors -= ret->descriptors > 0; /* the descriptor of /proc/self/fd itself */
}
