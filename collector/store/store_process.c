// SPDX-License-Identifier: Apache-2.0
/* Keys of processes, see store_process.h. */
#include "store/store_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FNV_BASIS 2166136261u
#define FNV_PRIME 16777619u
#define HEX	  "0123456789abcdef"

/* The NUL is part of what is hashed, so that "a", "bc" is not "ab", "c". */
static uint32_t add_text(uint32_t hash, const char *text)
{
	const size_t len = strlen(text) + 1;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * FNV_PRIME;
	return hash;
}

const char *store_process_key(const struct store_process *process, char ret[STORE_KEY_BYTES])
{
	snprintf(ret, STORE_KEY_BYTES, "%d-%" PRIx64 "-%08" PRIx32, (int)process->pid,
		 process->ticks, add_text(add_text(FNV_BASIS, process->host), process->boot));
	return ret;
}

bool store_process_is_key(const char *text)
{
	const size_t pid = strspn(text, "0123456789"),
		     ticks = text[pid] == '-' ? strspn(text + pid + 1, HEX) : 0,
		     hash = ticks > 0 && text[pid + 1 + ticks] == '-'
				    ? strspn(text + pid + ticks + 2, HEX)
				    : 0;

	return pid > 0 && pid <= 10 && ticks <= 16 && hash == 8 && !text[pid + ticks + hash + 2];
}
