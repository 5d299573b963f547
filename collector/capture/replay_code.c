// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the code ranges of a capture by the pages that they touch, see replay_code.h. Each page has
 * a list of its ranges, because few ranges share a page.
 */
#include "capture/replay_code.h"

#include "capture/capture_format.h"
#include "code/inline_table.h"
#include "foreign/foreign_map.h"
#include "process/code_inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12
#define BIG_PAGES  16 /* a range on more pages is in a list of its own */
#define BIG	   UINT64_MAX
#define MAX_RANGES                                                                                 \
	512 /* ranges of a list, which is walked for each frame; no recording finds more */

/* A range, and the record that the range was decoded from. */
struct known {
	struct code_range range;
	struct wire_record record;
	struct known *next; /* next of all ranges */
};

struct link {
	struct known *known;
	struct link *next; /* next of the page */
	uint32_t count;	   /* number of links from this one on */
};

struct replay_code {
	struct process *process; /* borrowed */
	struct known *first;
	struct map64 pages; /* page number, or BIG -> first struct link */
	struct code_map_watch watch;
};

/* ---- decoding ---- */

static enum code_kind kind_of(uint8_t kind)
{
	if (kind == WIRE_CODE_NATIVE_WRAPPER)
		return CODE_NATIVE_WRAPPER;
	return kind == WIRE_CODE_OSR ? CODE_OSR : CODE_JAVA;
}

static struct code_frame frame_of(const struct wire_frame *said)
{
	return (struct code_frame){
		.size = said->size, .complete = said->complete, .entry = said->entry};
}

static int decode_load(const struct wire_record *record, struct code_range *ret)
{
	struct wire_method_load load;

	if (wire_decode_method_load(record, &load) < 0 ||
	    !code_range_is_valid(load.addr, load.size) || load.frame.size > CODE_FRAME_MAX_BYTES)
		return -EINVAL;
	ret->addr = load.addr;
	ret->size = load.size;
	ret->kind = (uint8_t)kind_of(load.code_kind);
	ret->level = load.level;
	ret->frame = frame_of(&load.frame);
	return 0;
}

static int decode_stub(const struct wire_record *record, struct code_range *ret)
{
	struct wire_stub stub;

	if (record->kind != WIRE_STUB || wire_decode_stub(record, &stub) < 0 ||
	    !code_range_is_valid(stub.addr, stub.size) || stub.frame.size > CODE_FRAME_MAX_BYTES)
		return -EINVAL;
	ret->addr = stub.addr;
	ret->size = stub.size;
	ret->kind = CODE_STUB;
	ret->level = CODE_LEVEL_UNKNOWN;
	ret->frame = frame_of(&stub.frame);
	return 0;
}

/* Decodes a range without its names and its inline table. */
static int decode(const struct replay_code_fact *fact, struct code_range *ret)
{
	*ret = (struct code_range){.birth_ns = fact->birth_ns,
				   .death_ns = fact->death_ns ? fact->death_ns : CODE_TIME_FOREVER};
	return fact->record.kind == WIRE_METHOD_LOAD ? decode_load(&fact->record, ret)
						     : decode_stub(&fact->record, ret);
}

/* Adds the range's names, from the process's pool, and a new inline table. */
static int name_range(struct process *process, const struct wire_record *record,
		      struct code_range *ret)
{
	struct wire_method_load load;
	struct code_method names;
	struct wire_stub stub;

	if (record->kind == WIRE_STUB) {
		if (wire_decode_stub(record, &stub) < 0)
			return -EINVAL;
		ret->name = process_name(process, stub.name.data, stub.name.len);
		return ret->name ? 0 : -EINVAL;
	}
	if (wire_decode_method_load(record, &load) < 0)
		return -EINVAL;
	ret->inlines = code_inlines_read(process, &load, &names);
	ret->class_name = names.class_name;
	ret->name = names.name;
	ret->signature = names.signature;
	ret->source_file = names.source_file;
	return ret->name ? 0 : -EINVAL;
}

/* ---- ranges ---- */

static int add_link(struct replay_code *code, uint64_t page, struct known *known)
{
	struct link *const next = map64_find(&code->pages, page);
	struct link *link;

	if (next && next->count == MAX_RANGES)
		return -EINVAL;
	link = malloc(sizeof(*link));
	if (!link)
		return -ENOMEM;
	*link = (struct link){.known = known, .next = next, .count = next ? next->count + 1 : 1};
	if (map64_put(&code->pages, page, link) == 0)
		return 0;
	free(link);
	return -ENOMEM;
}

static int add_links(struct replay_code *code, struct known *known)
{
	const uint64_t first = known->range.addr >> PAGE_SHIFT;
	const uint64_t last = (known->range.addr + known->range.size - 1) >> PAGE_SHIFT;
	int err = 0;

	if (last - first >= BIG_PAGES)
		return add_link(code, BIG, known);
	for (uint64_t page = first; !err && page <= last; page++)
		err = add_link(code, page, known);
	return err;
}

static uint64_t page_of(const struct code_range *range)
{
	const uint64_t last = (range->addr + range->size - 1) >> PAGE_SHIFT;

	return last - (range->addr >> PAGE_SHIFT) >= BIG_PAGES ? BIG : range->addr >> PAGE_SHIFT;
}

static struct known *find_known(const struct replay_code *code, const struct code_range *range)
{
	const struct link *link = map64_find(&code->pages, page_of(range));

	for (; link; link = link->next) {
		const struct code_range *const other = &link->known->range;

		if (other->addr == range->addr && other->size == range->size &&
		    other->birth_ns == range->birth_ns)
			return link->known;
	}
	return NULL;
}

static bool is_same_record(const struct wire_record *a, const struct wire_record *b)
{
	return a->kind == b->kind && a->len == b->len &&
	       memcmp(a->payload, b->payload, a->len) == 0;
}

/*
 * Replaces what is known of a range. If the record is equal, the inline table stays, and caches
 * keep what they know of the table.
 */
static int update(struct replay_code *code, struct known *known, const struct code_range *range,
		  const struct wire_record *record)
{
	struct code_range named = *range;
	int err;

	if (is_same_record(&known->record, record)) {
		known->range.death_ns = range->death_ns;
		return 0;
	}
	err = name_range(code->process, record, &named);
	inline_table_free(known->range.inlines);
	known->range.inlines = NULL;
	if (err) {
		inline_table_free(named.inlines);
		return err;
	}
	known->range = named;
	known->record = *record;
	return 0;
}

int replay_code_add(struct replay_code *code, const struct replay_code_fact *fact)
{
	struct code_range range;
	struct known *known;
	int err = decode(fact, &range);

	if (err)
		return err;
	known = find_known(code, &range);
	if (known)
		return update(code, known, &range, &fact->record);
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	*known = (struct known){.range = range, .record = fact->record, .next = code->first};
	code->first = known; /* freed with the others, even after an error */
	err = name_range(code->process, &fact->record, &known->range);
	return err ? err : add_links(code, known);
}

/* ---- look-ups ---- */

/* The ranges at an address whose births are nearest to a time. */
struct nearest {
	uint64_t addr, time_ns;
	const struct code_range *before, *after; /* born at or before time_ns; born later */
};

static void consider(const struct link *link, struct nearest *nearest)
{
	for (; link; link = link->next) {
		const struct code_range *const range = &link->known->range;

		if (nearest->addr - range->addr >= range->size)
			continue;
		if (range->birth_ns <= nearest->time_ns) {
			if (!nearest->before || range->birth_ns > nearest->before->birth_ns)
				nearest->before = range;
		} else if (!nearest->after || range->birth_ns < nearest->after->birth_ns) {
			nearest->after = range;
		}
	}
}

/* Finds a range by the rule of code_map.h. */
static const struct code_range *find(void *arg, uint64_t addr, uint64_t time_ns,
				     const struct code_range *range)
{
	const struct replay_code *const code = arg;
	struct nearest nearest = {.addr = addr, .time_ns = time_ns};

	(void)range; /* the code map is empty */
	consider(map64_find(&code->pages, addr >> PAGE_SHIFT), &nearest);
	consider(map64_find(&code->pages, BIG), &nearest);
	if (nearest.before && (!nearest.after || time_ns < nearest.before->death_ns))
		return nearest.before;
	return nearest.after;
}

/* ---- life ---- */

int replay_code_new(struct process *process, struct replay_code **ret)
{
	struct replay_code *code = calloc(1, sizeof(*code));

	if (!code)
		return -ENOMEM;
	code->process = process;
	code->watch = (struct code_map_watch){.find = find, .arg = code};
	code_map_set_watch(process->code, &code->watch);
	*ret = code;
	return 0;
}

static void free_links(void *links)
{
	struct link *link = links;

	for (struct link *next; link; link = next) {
		next = link->next;
		free(link);
	}
}

void replay_code_free(struct replay_code *code)
{
	if (!code)
		return;
	code_map_set_watch(code->process->code, NULL);
	map64_fini_all(&code->pages, free_links);
	for (struct known *known = code->first, *next; known; known = next) {
		next = known->next;
		inline_table_free(known->range.inlines);
		free(known);
	}
	free(code);
}

int replay_code_add_foreign(struct process *process, const struct replay_code_fact *fact)
{
	struct foreign_map **const map = &process->foreign.map;
	char name[CAPTURE_MAX_TEXT];
	struct code_range range;
	struct wire_stub stub;

	if (fact->record.kind != WIRE_STUB || decode(fact, &range) < 0 ||
	    wire_decode_stub(&fact->record, &stub) < 0 || stub.name.len >= sizeof(name))
		return -EINVAL;
	if (!*map && foreign_map_new(map) < 0)
		return -ENOMEM;
	memcpy(name, stub.name.data, stub.name.len);
	name[stub.name.len] = '\0';
	range.name = name;
	return foreign_map_add(*map, &range) == -ENOMEM ? -ENOMEM : 0;
}
