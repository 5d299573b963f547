// SPDX-License-Identifier: Apache-2.0
/* Looks for a flag in a JVM's array of flags, see vm_flags.h. */
#include "vm/vm_flags.h"

#include "base/unaligned.h"

#include <string.h>

#define NAME_BYTES 64

struct flags {
	uint64_t at, count;
	uint32_t name_at, addr_at;
};

static bool find_flags(struct vm_memory *memory, const struct vm_tables *tables, struct flags *ret)
{
	const uint64_t *const own = tables->own;

	return own[VM_OWN_FLAGS] && own[VM_OWN_FLAG_COUNT] &&
	       tables->flag_bytes <= VM_FLAGS_MAX_BYTES &&
	       vm_tables_own(tables, VM_OWN_FLAG_NAME, &ret->name_at) &&
	       vm_tables_own(tables, VM_OWN_FLAG_ADDR, &ret->addr_at) &&
	       ret->name_at + sizeof(uint64_t) <= tables->flag_bytes &&
	       ret->addr_at + sizeof(uint64_t) <= tables->flag_bytes &&
	       vm_memory_get(memory, own[VM_OWN_FLAGS], &ret->at, sizeof(ret->at)) == 0 &&
	       vm_memory_get(memory, own[VM_OWN_FLAG_COUNT], &ret->count, sizeof(ret->count)) == 0;
}

/* The address of the flag's value; 0: there is none. Names are read by the pages that are kept. */
static uint64_t find_value(struct vm_memory *memory, const struct vm_tables *tables,
			   const struct flags *flags, const char *wanted)
{
	uint8_t flag[VM_FLAGS_MAX_BYTES];
	char name[NAME_BYTES];

	for (uint64_t i = 0; i < flags->count && i < VM_FLAGS_MAX; i++) {
		if (vm_memory_get_kept(memory, flags->at + i * tables->flag_bytes, flag,
				       tables->flag_bytes) < 0)
			return 0;
		if (unaligned_u64(flag, flags->name_at) &&
		    vm_memory_text(memory, unaligned_u64(flag, flags->name_at), name,
				   sizeof(name)) == 0 &&
		    strcmp(name, wanted) == 0)
			return unaligned_u64(flag, flags->addr_at);
	}
	return 0;
}

bool vm_flags_is_on(struct vm_memory *memory, const struct vm_tables *tables, const char *name)
{
	struct flags flags = {0};
	uint64_t at = 0;
	uint8_t value = 0;

	if (find_flags(memory, tables, &flags))
		at = find_value(memory, tables, &flags, name);
	vm_memory_forget(memory); /* values change */
	return at && vm_memory_get(memory, at, &value, sizeof(value)) == 0 && value == 1;
}
