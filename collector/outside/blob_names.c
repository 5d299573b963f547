// SPDX-License-Identifier: Apache-2.0
/* Reads names of blobs, and keeps them, see blob_names.h. */
#include "outside/blob_names.h"

#include <string.h>

#define MAX_TEXTS 4096

const char *blob_names_text(struct blob_names *names, struct vm_memory *memory, uint64_t at)
{
	char text[BLOB_NAME_BYTES];
	char *copy = map64_find(&names->texts, at);

	if (copy)
		return copy;
	if (vm_memory_text(memory, at, text, sizeof(text)) < 0)
		return "";
	if (names->texts.count >= MAX_TEXTS)
		blob_names_fini(names);
	copy = arena_copy(&names->arena, text, strlen(text));
	if (!copy || map64_put(&names->texts, at, copy) < 0)
		return "";
	return copy;
}

enum blob_kind blob_names_kind(struct blob_names *names, struct vm_memory *memory, uint64_t at)
{
	const char *const text = blob_names_text(names, memory, at);

	if (!text[0])
		return BLOB_UNREADABLE;
	if (strcmp(text, "nmethod") == 0)
		return BLOB_NMETHOD;
	return strcmp(text, "native nmethod") == 0 ? BLOB_NATIVE : BLOB_STUB;
}

void blob_names_fini(struct blob_names *names)
{
	map64_fini(&names->texts);
	arena_fini(&names->arena);
	*names = (struct blob_names){0};
}

size_t blob_names_bytes(const struct blob_names *names)
{
	return map64_bytes(&names->texts) + names->arena.total_bytes;
}
