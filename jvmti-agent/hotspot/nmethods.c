// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the nmethod, or another CodeBlob, around an address.
 *
 * A code heap is an array of segments of 2^n bytes with a map of one byte for each segment: 0xff is
 * free, 0 begins a block, any other value says how many segments to go back. A block is a header
 * and, if the block is used, a CodeBlob behind it. The CodeBlob is the right one if its code begins
 * at the address. Other threads change the map meanwhile, but not the bytes that lead to a block in
 * use. Every step is checked against the memory that the heap has committed.
 */
#include "hotspot/nmethods.h"

#include <string.h>

#define HEAPS_MAX	 8
#define STEPS_MAX	 4096
#define OBJECT_MAX_BYTES 4096 /* no offset of a CodeHeap or array is beyond this */
#define SEGMENT_FREE	 0xff
#define SEGMENT_LOG2_MAX 20
#define LEVEL_MAX	 4
#define INVOCATION_BCI	 (-1)
#define WORD_BYTES	 8
#define FRAME_MAX_WORDS	 (1 << 17) /* 1 MiB, the default size of a thread's whole stack */

/* The memory that a VirtualSpace has committed. */
struct span {
	uintptr_t low, high;
};

struct heap {
	struct span memory, segmap;
	int32_t log2_segment;
};

static bool is_small(size_t offset)
{
	return offset <= OBJECT_MAX_BYTES;
}

static bool find_array(struct nmethods *n, const struct vmstructs *vm)
{
	n->heap = vmstructs_find_static(vm, "CodeCache", "_heap");
	n->heaps = vmstructs_find_static(vm, "CodeCache", "_heaps");
	if (!n->heaps)
		return n->heap != NULL;
	return (vmstructs_find_offset(vm, "GrowableArrayBase", "_len", &n->array_len) ||
		vmstructs_find_offset(vm, "GenericGrowableArray", "_len", &n->array_len)) &&
	       vmstructs_find_offset(vm, "GrowableArray<int>", "_data", &n->array_data) &&
	       is_small(n->array_len) && is_small(n->array_data);
}

static bool find_heap(struct nmethods *n, const struct vmstructs *vm)
{
	return vmstructs_find_offset(vm, "CodeHeap", "_memory", &n->memory) &&
	       vmstructs_find_offset(vm, "CodeHeap", "_segmap", &n->segmap) &&
	       vmstructs_find_offset(vm, "CodeHeap", "_log2_segment_size", &n->log2_segment) &&
	       vmstructs_find_offset(vm, "VirtualSpace", "_low", &n->low) &&
	       vmstructs_find_offset(vm, "VirtualSpace", "_high", &n->high) &&
	       vmstructs_find_offset(vm, "HeapBlock::Header", "_used", &n->used) &&
	       vmstructs_find_type_size(vm, "HeapBlock", &n->header_bytes) && is_small(n->memory) &&
	       is_small(n->segmap) && is_small(n->log2_segment) && is_small(n->low) &&
	       is_small(n->high) && n->used < n->header_bytes && is_small(n->header_bytes);
}

static void grow(size_t *bytes, size_t end)
{
	if (*bytes < end)
		*bytes = end;
}

/* Looks up offsets for frames. Each field may be missing. */
static void find_frame(struct nmethods *n, const struct vmstructs *vm)
{
	n->has_frame_size = vmstructs_find_offset(vm, "CodeBlob", "_frame_size", &n->frame_size) &&
			    is_small(n->frame_size);
	if (n->has_frame_size)
		grow(&n->blob_bytes, n->frame_size + sizeof(int32_t));
	/*
	 * The field was an int in older JVMs and has 16 bits now. If its type is not known, 16 bits
	 * are read, which are the int's lower bits too.
	 */
	n->complete_is_int = vmstructs_is_declared(vm, "CodeBlob", "_frame_complete_offset", "int");
	n->has_complete =
		vmstructs_find_offset(vm, "CodeBlob", "_frame_complete_offset", &n->complete) &&
		is_small(n->complete);
	if (n->has_complete)
		grow(&n->blob_bytes, n->complete + (n->complete_is_int ? 4 : 2));
}

static bool find_blobs(struct nmethods *n, const struct vmstructs *vm)
{
	n->code_is_pointer = vmstructs_find_offset(vm, "CodeBlob", "_code_begin", &n->code);
	if ((!n->code_is_pointer &&
	     !vmstructs_find_offset(vm, "CodeBlob", "_code_offset", &n->code)) ||
	    !is_small(n->code))
		return false;
	n->blob_bytes = n->code + sizeof(uint64_t);
	find_frame(n, vm);
	return true;
}

static void find_entry(struct nmethods *n, const struct vmstructs *vm)
{
	n->entry_is_pointer =
		vmstructs_find_offset(vm, "nmethod", "_verified_entry_point", &n->entry);
	n->has_entry =
		(n->entry_is_pointer ||
		 vmstructs_find_offset(vm, "nmethod", "_verified_entry_offset", &n->entry)) &&
		is_small(n->entry) &&
		n->entry + (n->entry_is_pointer ? sizeof(uintptr_t) : sizeof(uint16_t)) <=
			n->nmethod_bytes;
}

static bool find_nmethod(struct nmethods *n, const struct vmstructs *vm)
{
	return vmstructs_find_offset(vm, "nmethod", "_comp_level", &n->level) &&
	       vmstructs_find_offset(vm, "nmethod", "_entry_bci", &n->entry_bci) &&
	       vmstructs_find_type_size(vm, "nmethod", &n->nmethod_bytes) &&
	       is_small(n->nmethod_bytes) && n->blob_bytes <= n->nmethod_bytes &&
	       n->level < n->nmethod_bytes && n->entry_bci + sizeof(int32_t) <= n->nmethod_bytes;
}

void nmethods_init(struct nmethods *nmethods, const struct vmstructs *vm)
{
	*nmethods = (struct nmethods){.module = vm->module};
	nmethods->on = find_array(nmethods, vm) && find_heap(nmethods, vm) &&
		       find_blobs(nmethods, vm) && find_nmethod(nmethods, vm);
	if (nmethods->on)
		find_entry(nmethods, vm);
}

static uintptr_t read_pointer(uintptr_t addr)
{
	uintptr_t value;

	memcpy(&value, (const void *)addr, sizeof(value));
	return value;
}

static int32_t read_i32(uintptr_t addr)
{
	int32_t value;

	memcpy(&value, (const void *)addr, sizeof(value));
	return value;
}

static uint16_t read_u16(uintptr_t addr)
{
	uint16_t value;

	memcpy(&value, (const void *)addr, sizeof(value));
	return value;
}

static uint8_t read_u8(uintptr_t addr)
{
	return *(const uint8_t *)addr;
}

/* Reads an address in a static variable of the JVM; 0: the variable is not set yet. */
static uintptr_t read_static(const struct nmethods *n, const void *at)
{
	uintptr_t value = 0;

	if (at && module_holds(&n->module, at, sizeof(value), PF_R))
		value = read_pointer((uintptr_t)at);
	return value % sizeof(value) == 0 ? value : 0;
}

static struct span read_span(const struct nmethods *n, uintptr_t space)
{
	return (struct span){.low = read_pointer(space + n->low),
			     .high = read_pointer(space + n->high)};
}

/* Whether len bytes at addr are committed. */
static bool holds(const struct span *span, uintptr_t addr, size_t len)
{
	return addr >= span->low && addr <= span->high && len <= span->high - addr;
}

/* Reads the heap whose address is at. False: the heap is not sound, or does not hold addr. */
static bool read_heap(const struct nmethods *n, uintptr_t at, uintptr_t addr, struct heap *ret)
{
	if (at == 0 || at % sizeof(at) != 0)
		return false;
	ret->memory = read_span(n, at + n->memory);
	ret->segmap = read_span(n, at + n->segmap);
	ret->log2_segment = read_i32(at + n->log2_segment);
	return ret->log2_segment > 0 && ret->log2_segment <= SEGMENT_LOG2_MAX &&
	       holds(&ret->memory, addr, 1);
}

static bool find_heap_of(const struct nmethods *n, uintptr_t addr, struct heap *ret)
{
	const uintptr_t array = read_static(n, n->heaps);
	uintptr_t data;
	int32_t len;

	if (read_heap(n, read_static(n, n->heap), addr, ret))
		return true;
	if (array == 0)
		return false;
	len = read_i32(array + n->array_len);
	data = read_pointer(array + n->array_data);
	for (int32_t i = 0; i < len && i < HEAPS_MAX && data != 0; i++) {
		if (read_heap(n, read_pointer(data + (size_t)i * sizeof(data)), addr, ret))
			return true;
	}
	return false;
}

/*
 * The block that holds addr, or 0. The block's header, and behind it as many bytes as asked for,
 * can be read.
 */
static uintptr_t find_block(const struct nmethods *n, const struct heap *heap, uintptr_t addr,
			    size_t bytes)
{
	uintptr_t segment = (addr - heap->memory.low) >> heap->log2_segment, block;
	uint8_t back = SEGMENT_FREE;

	for (int i = 0; i < STEPS_MAX && back != 0; i++) {
		if (!holds(&heap->segmap, heap->segmap.low + segment, 1))
			return 0;
		back = read_u8(heap->segmap.low + segment);
		if (back == SEGMENT_FREE || back > segment)
			return 0;
		segment -= back;
	}
	block = heap->memory.low + (segment << heap->log2_segment);
	if (back != 0 || !holds(&heap->memory, block, n->header_bytes + bytes) ||
	    read_u8(block + n->used) == 0)
		return 0;
	return block;
}

static uintptr_t read_code(const struct nmethods *n, uintptr_t blob)
{
	if (n->code_is_pointer)
		return read_pointer(blob + n->code);
	return blob + (uintptr_t)(intptr_t)read_i32(blob + n->code);
}

/* The blob whose code begins at code, or 0. As many bytes of the blob as asked for can be read. */
static uintptr_t find_blob(const struct nmethods *n, uintptr_t code, size_t bytes)
{
	struct heap heap;
	uintptr_t block, blob;

	if (!n->on || !find_heap_of(n, code, &heap))
		return 0;
	block = find_block(n, &heap, code, bytes);
	blob = block + n->header_bytes;
	return block != 0 && read_code(n, blob) == code ? blob : 0;
}

/*
 * Reads frame size and completion. A negative completion, of a frame that is never safe to walk,
 * becomes 0.
 */
static struct wire_frame read_frame(const struct nmethods *n, uintptr_t blob)
{
	const int32_t words = n->has_frame_size ? read_i32(blob + n->frame_size) : 0;
	struct wire_frame frame = {0};
	int32_t complete = 0;

	if (words <= 0 || words > FRAME_MAX_WORDS)
		return frame;
	if (n->has_complete)
		complete = n->complete_is_int ? read_i32(blob + n->complete)
					      : (int16_t)read_u16(blob + n->complete);
	frame.size = (uint32_t)words * WORD_BYTES;
	frame.complete = complete > 0 ? (uint32_t)complete : 0;
	return frame;
}

static uint32_t read_entry(const struct nmethods *n, uintptr_t blob, uintptr_t code)
{
	uintptr_t entry;

	if (!n->has_entry)
		return 0;
	if (!n->entry_is_pointer)
		return read_u16(blob + n->entry);
	entry = read_pointer(blob + n->entry);
	return entry >= code && entry - code <= INT32_MAX ? (uint32_t)(entry - code) : 0;
}

bool nmethods_find(const struct nmethods *nmethods, const void *code, struct nmethods_facts *ret)
{
	const uintptr_t addr = (uintptr_t)code;
	const uintptr_t blob = find_blob(nmethods, addr, nmethods->nmethod_bytes);
	uint8_t level;

	if (blob == 0)
		return false;
	/*
	 * The field was an int in older JVMs and is a byte now. The lowest byte is read in both
	 * cases.
	 */
	level = read_u8(blob + nmethods->level);
	if (level > LEVEL_MAX)
		return false;
	ret->level = level;
	ret->is_osr = read_i32(blob + nmethods->entry_bci) != INVOCATION_BCI;
	ret->frame = read_frame(nmethods, blob);
	if (ret->frame.size > 0)
		ret->frame.entry = read_entry(nmethods, blob, addr);
	return true;
}

bool nmethods_find_stub(const struct nmethods *nmethods, const void *code, struct wire_frame *ret)
{
	const uintptr_t blob = find_blob(nmethods, (uintptr_t)code, nmethods->blob_bytes);
	struct wire_frame frame;

	if (blob == 0)
		return false;
	frame = read_frame(nmethods, blob);
	if (frame.size == 0)
		return false;
	*ret = frame;
	return true;
}
