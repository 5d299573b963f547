// SPDX-License-Identifier: Apache-2.0
/* Looks up moved objects, see zgc.h. */
#include "unwind/zgc.h"

#include "memory/process_memory.h"

#include <string.h>

#define GRANULE_SHIFT	 21
#define HEAP_BYTES	 16384u /* read of ZHeap, behind its table of pages */
#define FORWARDING_BYTES 256u
#define MAX_ENTRIES	 (1u << 22)
#define PROBES		 64u /* entries that are read at most */
#define PROBES_AT_ONCE	 8u

/* The bits of an entry. */
#define POPULATED	 1u
#define TO_OFFSET_SHIFT	 1
#define TO_OFFSET_BITS	 45
#define FROM_INDEX_SHIFT 46
#define MIN_ALIGN_SHIFT	 3
#define MAX_ALIGN_SHIFT	 GRANULE_SHIFT
#define MAX_OFFSET	 65536u
#define LEAST_ADDR	 4096u

void zgc_init(struct zgc *zgc, const struct process *process, uint32_t *reads, uint32_t max_reads)
{
	*zgc = (struct zgc){.process = process, .reads = reads, .max_reads = max_reads};
}

/* Reads up to len bytes. Returns the number of bytes that were read. */
static size_t read_some(struct zgc *zgc, uint64_t addr, void *ret, size_t len)
{
	const struct iovec to = {ret, len};
	const struct iovec from = {(void *)(uintptr_t)addr, len};
	ssize_t n;

	if (*zgc->reads >= zgc->max_reads)
		return 0;
	(*zgc->reads)++;
	n = process_memory_read(zgc->process->pid, &to, &from, 1);
	return n > 0 ? (size_t)n : 0;
}

static bool read_u64(struct zgc *zgc, uint64_t addr, uint64_t *ret)
{
	return addr >= LEAST_ADDR && read_some(zgc, addr, ret, sizeof(*ret)) == sizeof(*ret);
}

/* A value that the agent has told: an offset, a size, or the address of a static variable. */
static bool told(const struct zgc *zgc, const char *key, uint64_t *ret)
{
	int64_t value;

	if (!process_value(zgc->process, key, &value) || value < 0)
		return false;
	*ret = (uint64_t)value;
	return true;
}

/* An offset or size of HotSpot's structs. A value larger than any such struct is not believed. */
static bool told_offset(const struct zgc *zgc, const char *key, uint64_t *ret)
{
	return told(zgc, key, ret) && *ret <= MAX_OFFSET;
}

/* Reads the value that a field of ZGlobalsForVMStructs points to. globals: the struct's address. */
static bool read_global(struct zgc *zgc, uint64_t globals, const char *key, uint64_t *ret)
{
	uint64_t offset, addr;

	return told_offset(zgc, key, &offset) && read_u64(zgc, globals + offset, &addr) &&
	       read_u64(zgc, addr, ret);
}

static bool read_masks(struct zgc *zgc)
{
	uint64_t static_addr, globals;

	return told(zgc, "ZGlobalsForVMStructs::_instance_p", &static_addr) &&
	       read_u64(zgc, static_addr, &globals) &&
	       read_global(zgc, globals, "ZGlobalsForVMStructs::_ZAddressOffsetMask",
			   &zgc->offset_mask) &&
	       zgc->offset_mask != 0 &&
	       read_global(zgc, globals, "ZGlobalsForVMStructs::_ZPointerLoadBadMask",
			   &zgc->bad_mask);
}

/* Finds the tables. A table is a count of granules, and a pointer to as many pointers. */
static void find_tables(struct zgc *zgc)
{
	uint64_t static_addr, collected, heap_at, page_table, words[HEAP_BYTES / 8];
	size_t n;

	if (!told(zgc, "Universe::_collectedHeap", &static_addr) ||
	    !read_u64(zgc, static_addr, &collected) ||
	    !told_offset(zgc, "ZCollectedHeap::_heap", &heap_at) ||
	    !told_offset(zgc, "ZHeap::_page_table", &page_table))
		return;
	n = read_some(zgc, collected + heap_at + page_table, words, sizeof(words)) / 8;
	if (n < 2 || words[0] == 0)
		return;
	zgc->granules = words[0];
	for (size_t i = 2; i + 1 < n && zgc->n_tables < ZGC_TABLES; i++) {
		if (words[i] == zgc->granules && words[i + 1] >= LEAST_ADDR &&
		    words[i + 1] % 8 == 0 && words[i + 1] != words[1])
			zgc->tables[zgc->n_tables++] = words[i + 1];
	}
}

/* Whether the reference is old. Most references are not, and need no tables. */
static bool is_stale(struct zgc *zgc, uint64_t reference)
{
	if (!zgc->is_read && !read_masks(zgc))
		zgc->bad_mask = 0;
	zgc->is_read = true;
	return (reference & zgc->bad_mask) != 0;
}

static bool has_tables(struct zgc *zgc)
{
	if (!zgc->is_searched)
		find_tables(zgc);
	zgc->is_searched = true;
	return zgc->n_tables > 0;
}

/* Thomas Wang's hash of 32 bits. */
static uint32_t hash_of(uint32_t key)
{
	key = ~key + (key << 15);
	key ^= key >> 12;
	key += key << 2;
	key ^= key >> 4;
	key *= 2057;
	return key ^ key >> 16;
}

/* The entries of one old page. */
struct entries {
	uint64_t addr;
	uint32_t count; /* a power of two */
};

/* Finds the entry of the object with that index. 0: the object has not been moved. */
static uint64_t find_entry(struct zgc *zgc, const struct entries *entries, uint64_t index)
{
	uint32_t at = hash_of((uint32_t)index) & (entries->count - 1);
	uint64_t some[PROBES_AT_ONCE] = {0};

	for (uint32_t probes = 0; probes < PROBES; probes += PROBES_AT_ONCE) {
		const uint32_t left = entries->count - at;
		const uint32_t n = left < PROBES_AT_ONCE ? left : PROBES_AT_ONCE;

		if (read_some(zgc, entries->addr + 8 * (uint64_t)at, some, 8 * n) != 8 * n)
			return 0;
		for (uint32_t i = 0; i < n; i++) {
			if (!(some[i] & POPULATED))
				return 0;
			if (some[i] >> FROM_INDEX_SHIFT == index)
				return some[i];
		}
		at = (at + n) & (entries->count - 1);
	}
	return 0;
}

/*
 * Finds where the object at offset went, by the ZForwarding of its old page. False: the ZForwarding
 * has no such object.
 */
static bool look_up(struct zgc *zgc, uint64_t forwarding, uint64_t offset, uint64_t *ret)
{
	uint64_t virtual_at, start_at, size_at, shift_at, entries_at, length_at, size;
	uint64_t start, bytes, shift, length, entry;
	uint8_t header[FORWARDING_BYTES];
	struct entries entries;

	if (!told_offset(zgc, "ZForwarding::_virtual", &virtual_at) ||
	    !told_offset(zgc, "ZVirtualMemory::_start", &start_at) ||
	    !told_offset(zgc, "ZVirtualMemory::_size", &size_at) ||
	    !told_offset(zgc, "ZForwarding::_object_alignment_shift", &shift_at) ||
	    !told_offset(zgc, "ZForwarding::_entries", &entries_at) ||
	    !told_offset(zgc, "ZAttachedArrayForForwarding::_length", &length_at) ||
	    !told_offset(zgc, "sizeof(ZForwarding)", &size) || size > FORWARDING_BYTES ||
	    virtual_at + start_at + 8 > size || virtual_at + size_at + 8 > size ||
	    shift_at + 8 > size || entries_at + length_at + 8 > size ||
	    read_some(zgc, forwarding, header, size) != size)
		return false;
	memcpy(&start, header + virtual_at + start_at, 8);
	memcpy(&bytes, header + virtual_at + size_at, 8);
	memcpy(&shift, header + shift_at, 8);
	memcpy(&length, header + entries_at + length_at, 8);
	if (offset < start || offset - start >= bytes || shift < MIN_ALIGN_SHIFT ||
	    shift > MAX_ALIGN_SHIFT || length == 0 || length > MAX_ENTRIES ||
	    (length & (length - 1)) != 0)
		return false;
	entries = (struct entries){forwarding + (size + 7) / 8 * 8, (uint32_t)length};
	entry = find_entry(zgc, &entries, (offset - start) >> shift);
	*ret = entry >> TO_OFFSET_SHIFT & ((UINT64_C(1) << TO_OFFSET_BITS) - 1);
	return entry != 0;
}

uint64_t zgc_resolve(struct zgc *zgc, uint64_t reference, uint64_t addr)
{
	uint64_t offset, forwarding, to;

	if (addr == 0 || !is_stale(zgc, reference) || !has_tables(zgc))
		return addr;
	offset = addr & zgc->offset_mask;
	if (offset >> GRANULE_SHIFT >= zgc->granules)
		return addr;
	for (uint32_t i = 0; i < zgc->n_tables; i++) {
		const uint64_t at = zgc->tables[i] + 8 * (offset >> GRANULE_SHIFT);

		if (read_u64(zgc, at, &forwarding) && forwarding >= LEAST_ADDR &&
		    look_up(zgc, forwarding, offset, &to))
			return (addr & ~zgc->offset_mask) | to;
	}
	return addr;
}
