// SPDX-License-Identifier: Apache-2.0
/*
 * Finds and reads the list of stubs, see stub_list.h. A StubCodeDesc is
 *
 *   next | group | name | (an int, up to some JDK) | where the code begins | where it ends | ...
 */
#include "outside/stub_list.h"

#include "base/array.h"
#include "base/unaligned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD	       8
#define ALIGNMENT      16 /* of what malloc returns */
#define DESC_BYTES     48
#define NAME_AT	       16
#define CODE_AT	       24
#define CODE_AT_OLD    32 /* behind the int */
#define MAX_STUB_BYTES (UINT64_C(1) << 20)
#define MAX_SCANS      4
#define MIN_CHAIN      16
#define CHUNK_BYTES    ((size_t)64 << 10)
#define CANDIDATES     512
#define HIGHEST_ADDR   (UINT64_C(1) << 47)

struct desc {
	uint64_t next, name, begin, end;
};

static bool is_pointer(uint64_t addr)
{
	return addr >= VM_MEMORY_PAGE_BYTES && addr < HIGHEST_ADDR && addr % WORD == 0;
}

/* Whether the code lies in a blob that is no nmethod. */
static bool is_in_stub(const struct blob_list *blobs, uint64_t begin, uint64_t end)
{
	const struct code_blob *const blob = blob_list_find(blobs, begin);

	return blob && blob->kind == BLOB_STUB && end <= blob->code + blob->size;
}

/* A stub that is being generated has no end yet. */
static bool decode(const uint8_t *bytes, uint32_t code_at, struct desc *ret)
{
	*ret = (struct desc){.next = unaligned_u64(bytes, 0),
			     .name = unaligned_u64(bytes, NAME_AT),
			     .begin = unaligned_u64(bytes, code_at),
			     .end = unaligned_u64(bytes, code_at + WORD)};
	return (ret->next == 0 || is_pointer(ret->next)) && ret->name >= VM_MEMORY_PAGE_BYTES &&
	       ret->name < HIGHEST_ADDR && ret->begin > 0 && ret->begin < HIGHEST_ADDR &&
	       (ret->end == 0 ||
		(ret->end >= ret->begin && ret->end - ret->begin <= MAX_STUB_BYTES));
}

/* ---- reading a list ---- */

static int add(struct stub_list *list, const struct desc *desc)
{
	if (ARRAY_RESERVE(list->at, list->size, list->count + 1) < 0)
		return -ENOMEM;
	list->at[list->count++] = (struct stub_desc){.addr = desc->begin,
						     .size = (uint32_t)(desc->end - desc->begin),
						     .name_at = desc->name};
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct stub_desc *const one = a, *const other = b;

	return one->addr < other->addr ? -1 : one->addr > other->addr;
}

/*
 * Reads the chain that begins at head into an empty list. -EPROTO: a descriptor is none, or the
 * chain has no end. *looks counts the descriptors.
 */
static int read_chain(struct vm_memory *memory, const struct blob_list *blobs, uint64_t head,
		      struct stub_list *ret, size_t *looks)
{
	uint8_t bytes[DESC_BYTES];
	struct desc desc = {.next = head};
	int err = 0;

	for (size_t n = 0; !err && desc.next; n++) {
		if (n == STUB_LIST_MAX)
			return -EPROTO;
		++*looks;
		err = vm_memory_get_kept(memory, desc.next, bytes, sizeof(bytes));
		if (!err && !decode(bytes, ret->code_at, &desc))
			err = -EPROTO;
		if (!err && desc.end > desc.begin && is_in_stub(blobs, desc.begin, desc.end))
			err = add(ret, &desc);
	}
	if (!err && ret->count > 0)
		qsort(ret->at, ret->count, sizeof(*ret->at), by_addr);
	return err;
}

/* ---- finding the list ---- */

/* Words of the library's variables that may be pointers to descriptors. */
struct candidates {
	uint64_t at[CANDIDATES]; /* of the variables */
	struct vm_piece pieces[CANDIDATES];
	uint8_t bytes[CANDIDATES][DESC_BYTES];
	size_t n;
};

/* What a search uses. */
struct search {
	struct vm_memory *memory;
	const struct vm_span *data;
	const struct blob_list *blobs;
	struct stub_list best;
	size_t looks; /* at descriptors of chains */
	struct candidates candidates;
	uint8_t chunk[CHUNK_BYTES];
};

/* Takes the chain instead of the best one so far, if it is longer. */
static int try_chain(struct search *search, size_t i, uint32_t code_at)
{
	struct candidates *const candidates = &search->candidates;
	struct stub_list chain = {.head_at = candidates->at[i],
				  .head = candidates->pieces[i].addr,
				  .code_at = code_at};
	struct desc desc;
	int err;

	if (!decode(candidates->bytes[i], code_at, &desc) ||
	    !is_in_stub(search->blobs, desc.begin, desc.end))
		return 0;
	err = read_chain(search->memory, search->blobs, chain.head, &chain, &search->looks);
	if (err || chain.count < MIN_CHAIN || chain.count <= search->best.count) {
		free(chain.at);
		return err == -ENOMEM ? err : 0;
	}
	free(search->best.at);
	search->best = chain;
	return 0;
}

/* Whether the search may go on: variables that begin long chains may be made up. */
static bool may_look(const struct search *search)
{
	return search->looks < STUB_LIST_MAX_LOOKS;
}

static int try_candidates(struct search *search)
{
	struct candidates *const candidates = &search->candidates;
	int err = 0;

	vm_memory_gather(search->memory, candidates->pieces, candidates->n);
	for (size_t i = 0; !err && i < candidates->n && may_look(search); i++) {
		if (!candidates->pieces[i].is_read)
			continue;
		err = try_chain(search, i, CODE_AT);
		if (!err)
			err = try_chain(search, i, CODE_AT_OLD);
	}
	candidates->n = 0;
	return err;
}

static int add_candidate(struct search *search, uint64_t at, uint64_t value)
{
	struct candidates *const candidates = &search->candidates;
	const size_t i = candidates->n;

	if (!is_pointer(value) || value % ALIGNMENT != 0 ||
	    (value >= search->data->low && value < search->data->high))
		return 0;
	candidates->at[i] = at;
	candidates->pieces[i] =
		(struct vm_piece){.addr = value, .into = candidates->bytes[i], .len = DESC_BYTES};
	candidates->n++;
	return candidates->n == CANDIDATES ? try_candidates(search) : 0;
}

static int search_chunk(struct search *search, uint64_t at, size_t len)
{
	int err = 0;

	if (vm_memory_get(search->memory, at, search->chunk, len) < 0)
		return search->memory->err;
	for (size_t i = 0; !err && i + WORD <= len; i += WORD)
		err = add_candidate(search, at + i, unaligned_u64(search->chunk, i));
	return err;
}

/* Finds the head, and reads the list. */
static int find(struct stub_list *list, struct vm_memory *memory, const struct vm_span *data,
		const struct blob_list *blobs)
{
	struct search *const search = calloc(1, sizeof(*search));
	int err = search ? 0 : -ENOMEM;

	if (err)
		return err;
	search->memory = memory;
	search->data = data;
	search->blobs = blobs;
	for (uint64_t at = data->low; !err && at < data->high && may_look(search);
	     at += CHUNK_BYTES) {
		const uint64_t left = data->high - at;

		err = search_chunk(search, at, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES);
	}
	if (!err)
		err = try_candidates(search);
	list->looks = search->looks;
	if (!err && search->best.head_at) {
		search->best.looks = search->looks;
		search->best.scans = list->scans;
		search->best.blobs = list->blobs;
		free(list->at);
		*list = search->best;
		search->best.at = NULL;
	}
	free(search->best.at);
	free(search);
	return err;
}

/* ---- keeping it up to date ---- */

static bool is_worth_a_search(const struct stub_list *list, const struct vm_span *data,
			      const struct blob_list *blobs)
{
	return list->scans < MAX_SCANS && list->blobs != blobs->count && data->high > data->low &&
	       data->high <= HIGHEST_ADDR && data->high - data->low <= STUB_LIST_MAX_BYTES;
}

static const struct stub_desc *find_desc(const struct stub_list *list, uint64_t addr)
{
	const struct stub_desc key = {.addr = addr};

	return list->count > 0 ? bsearch(&key, list->at, list->count, sizeof(*list->at), by_addr)
			       : NULL;
}

static void count_news(struct stub_list *list, const struct stub_list *before)
{
	uint32_t news = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct stub_desc *const old = find_desc(before, list->at[i].addr);

		news += !old || old->size != list->at[i].size ||
			old->name_at != list->at[i].name_at;
		list->at[i].news = news;
	}
}

static void forget_news(struct stub_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->at[i].news = 0;
}

/* Reads the list again. A list that makes no sense any more leaves what was known. */
static int read_again(struct stub_list *list, struct vm_memory *memory, uint64_t head,
		      const struct blob_list *blobs)
{
	struct stub_list now = *list;
	size_t looks = 0;
	int err;

	now.head = head;
	now.at = NULL;
	now.count = 0;
	now.size = 0;
	err = read_chain(memory, blobs, head, &now, &looks);
	if (err) {
		free(now.at);
		return err == -ENOMEM ? err : 0;
	}
	count_news(&now, list);
	free(list->at);
	*list = now;
	return 0;
}

int stub_list_update(struct stub_list *list, struct vm_memory *memory, const struct vm_span *data,
		     const struct blob_list *blobs)
{
	uint64_t head = 0;

	forget_news(list);
	if (!list->head_at) {
		int err;

		if (!is_worth_a_search(list, data, blobs))
			return 0;
		list->scans++;
		list->blobs = blobs->count;
		err = find(list, memory, data, blobs);
		count_news(list, &(const struct stub_list){0});
		return err;
	}
	if (vm_memory_get(memory, list->head_at, &head, sizeof(head)) < 0)
		return memory->err;
	return head == list->head ? 0 : read_again(list, memory, head, blobs);
}

void stub_list_fini(struct stub_list *list)
{
	free(list->at);
	*list = (struct stub_list){0};
}

const struct stub_desc *stub_list_in(const struct stub_list *list, const struct code_blob *blob,
				     size_t *ret_n)
{
	const size_t low = ARRAY_COUNT_BELOW(0, list->count, i, list->at[i].addr < blob->code);
	const size_t end =
		ARRAY_COUNT_BELOW(low, list->count, i, list->at[i].addr < blob->code + blob->size);

	*ret_n = end - low;
	return *ret_n > 0 ? list->at + low : NULL;
}

bool stub_list_has_news(const struct stub_list *list)
{
	return list->count > 0 && list->at[list->count - 1].news > 0;
}

/* Many blobs may be said to lie over the same stubs, so none of the stubs is walked through. */
bool stub_list_has_new(const struct stub_list *list, const struct code_blob *blob)
{
	size_t n;
	const struct stub_desc *const in = stub_list_in(list, blob, &n);
	const uint32_t before = n > 0 && in > list->at ? in[-1].news : 0;

	return n > 0 && in[n - 1].news > before;
}
