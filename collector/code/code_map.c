// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the code range that was at an address at a time, see code_map.h.
 *
 * Ranges, living and dead, are nodes in one array. code_pages.h finds the nodes that touch a page,
 * in the order in which they were added. Because a load ends all ranges that it overlaps, ranges
 * that share an address follow each other in time in this order too: a look-up walks from the
 * newest node back and stops at the first node that was born by the time asked for. Every table has
 * a maximum, because code events come from inside a container.
 *
 * One file, because each operation changes lists, index and lives of ranges together.
 */
#include "code/code_map.h"

#include "base/array.h"
#include "code/code_pages.h"
#include "code/inline_table.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum node_state {
	NODE_FREE,
	NODE_LIVE,
	NODE_DEAD,     /* no later range overlaps the node */
	NODE_REPLACED, /* dead, and a later range overlaps it */
	NODE_STATES,
};

struct node {
	struct code_range range;
	uint64_t order;	     /* by arrival; nodes that share an address: also by birth */
	uint32_t prev, next; /* neighbours in the list of its state */
	uint32_t epoch;	     /* the resync during or after which the node was last heard of */
	uint8_t state;
};

/*
 * Nodes of one state. The node that entered the state first is at the head. In the list of the
 * living, nodes that a resync repeats move to the tail. So epochs never fall towards the tail, and
 * the nodes to bury are at the head.
 */
struct node_list {
	uint32_t first, last;
	size_t count;
};

struct code_map {
	struct node *nodes;
	uint32_t used, size; /* number of nodes that were ever used, and of allocated nodes */
	struct node_list lists[NODE_STATES];

	struct code_pages pages; /* index of all nodes that are not free */

	uint64_t next_order;
	uint32_t epoch;
	bool is_resyncing;
	uint64_t resync_ns;
	struct code_map_stats stats;
	struct code_span unlisted[CODE_MAP_MAX_UNLISTED]; /* a ring, indexed by stats.unlisted */
	uint32_t rests[CODE_MAP_RESTS];			  /* nodes of the rests of the last add */
	size_t n_rests;
	const struct code_map_watch *watch; /* or NULL */
	struct {
		code_map_rename_fn fn; /* NULL: no renaming is under way */
		void *arg;
		uint32_t next; /* the first node that has not been renamed */
	} renaming;
};

/* ---- lists ---- */

static void list_add(struct code_map *map, uint32_t id, uint8_t state)
{
	struct node_list *list = &map->lists[state];
	struct node *node = &map->nodes[id];

	node->state = state;
	node->prev = list->last;
	node->next = NONE;
	if (list->last == NONE)
		list->first = id;
	else
		map->nodes[list->last].next = id;
	list->last = id;
	list->count++;
	if (state == NODE_LIVE)
		map->stats.live_bytes += node->range.size;
}

static void list_remove(struct code_map *map, uint32_t id)
{
	struct node *node = &map->nodes[id];
	struct node_list *list = &map->lists[node->state];

	if (node->prev == NONE)
		list->first = node->next;
	else
		map->nodes[node->prev].next = node->next;
	if (node->next == NONE)
		list->last = node->prev;
	else
		map->nodes[node->next].prev = node->prev;
	list->count--;
	if (node->state == NODE_LIVE)
		map->stats.live_bytes -= node->range.size;
}

/* ---- nodes ---- */

static void unlink_node(struct code_map *map, uint32_t id)
{
	const struct code_range *range = &map->nodes[id].range;

	code_pages_remove(&map->pages, id, range->addr, range->size);
}

static void unlist(struct code_map *map, uint32_t id)
{
	const struct code_range *range = &map->nodes[id].range;

	map->unlisted[map->stats.unlisted++ % CODE_MAP_MAX_UNLISTED] =
		(struct code_span){.addr = range->addr, .size = range->size};
}

static void forget(struct code_map *map, uint32_t id)
{
	if (map->nodes[id].state != NODE_REPLACED)
		unlist(map, id);
	list_remove(map, id);
	unlink_node(map, id);
	inline_table_free(map->nodes[id].range.inlines);
	map->nodes[id].range.inlines = NULL;
	list_add(map, id, NODE_FREE);
	map->stats.expired++;
}

static bool forget_oldest_dead(struct code_map *map)
{
	uint32_t id = map->lists[NODE_REPLACED].first;

	if (id == NONE)
		id = map->lists[NODE_DEAD].first;
	if (id == NONE)
		return false;
	forget(map, id);
	return true;
}

static bool forget_oldest_dead_of_page(struct code_map *map, uint64_t number)
{
	const struct code_page *page = code_pages_find(&map->pages, number);

	for (uint32_t i = 0; page && i < page->count; i++) {
		const uint32_t id = page->links[i].id;

		if (map->nodes[id].state != NODE_LIVE) {
			forget(map, id);
			return true;
		}
	}
	return false;
}

static int link_to_page(struct code_map *map, uint64_t number, struct code_link link)
{
	int err = code_pages_add(&map->pages, number, link);

	if (err == -ENOSPC && forget_oldest_dead_of_page(map, number))
		err = code_pages_add(&map->pages, number, link);
	return err;
}

/* Puts the node into the index. On failure the node may be in part of the index. */
static int link_node(struct code_map *map, uint32_t id)
{
	const uint64_t addr = map->nodes[id].range.addr;
	const uint32_t size = map->nodes[id].range.size;
	const uint64_t first = code_page_number(addr), last = code_page_last(addr, size);

	if (code_pages_is_big(addr, size))
		return code_pages_add_big(&map->pages, id);
	while (map->pages.link_count + (last - first + 1) > CODE_MAP_MAX_LINKS) {
		if (!forget_oldest_dead(map))
			return -ENOSPC;
	}
	for (uint64_t n = first; n <= last; n++) {
		struct code_link link = code_link_of(id, addr, size, n);
		int err;

		link.birth_ns = map->nodes[id].range.birth_ns;
		err = link_to_page(map, n, link);
		if (err)
			return err;
	}
	return 0;
}

static void rename_range(struct code_range *range, code_map_rename_fn fn, void *arg)
{
	const char **const names[] = {&range->class_name, &range->name, &range->signature,
				      &range->source_file};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (*names[i])
			*names[i] = fn(arg, *names[i]);
	}
}

/* Makes a node that is neither in a list nor in the index yet. */
static int new_node(struct code_map *map, const struct code_range *range, uint32_t *ret)
{
	struct node_list *unused = &map->lists[NODE_FREE];
	uint32_t id;

	if (unused->count == 0 && map->used == CODE_MAP_MAX_RANGES && !forget_oldest_dead(map))
		return -ENOSPC;
	if (unused->count == 0 && ARRAY_RESERVE(map->nodes, map->size, map->used + 1) < 0)
		return -ENOMEM;
	id = unused->count > 0 ? unused->first : map->used;
	if (unused->count > 0)
		list_remove(map, id);
	else
		map->used++;
	map->nodes[id] = (struct node){
		.range = *range,
		.order = map->next_order++,
		.epoch = map->epoch,
		.state = NODE_LIVE,
	};
	map->nodes[id].range.death_ns = CODE_TIME_FOREVER;
	if (map->renaming.fn) /* a rest has the names of an old range */
		rename_range(&map->nodes[id].range, map->renaming.fn, map->renaming.arg);
	*ret = id;
	return 0;
}

static void set_birth(struct code_map *map, uint32_t id, uint64_t birth_ns)
{
	struct code_range *range = &map->nodes[id].range;
	const uint64_t first = code_page_number(range->addr);
	const uint64_t last = code_page_last(range->addr, range->size);

	range->birth_ns = birth_ns;
	if (code_pages_is_big(range->addr, range->size))
		return;
	for (uint64_t n = first; n <= last; n++)
		code_pages_link(&map->pages, n, id)->birth_ns = birth_ns;
}

/* ---- life and death ---- */

static uint64_t end_of(const struct code_range *range)
{
	return range->addr + range->size;
}

/* A clock that runs backwards must not make a life end before the birth. */
static void end_life(struct code_map *map, uint32_t id, uint64_t time_ns)
{
	struct code_range *range = &map->nodes[id].range;

	range->death_ns = time_ns > range->birth_ns ? time_ns : range->birth_ns;
	list_remove(map, id);
	list_add(map, id, NODE_DEAD);
}

static bool covers(const struct code_range *range, uint64_t addr)
{
	return addr - range->addr < range->size;
}

/* The live node at addr, or NONE. Only the newest node at an address can be alive. */
static uint32_t live_at(const struct code_map *map, uint64_t addr)
{
	const struct code_page *page = code_pages_find(&map->pages, code_page_number(addr));
	const unsigned int offset = code_page_offset(addr);

	for (uint32_t i = page ? page->count : 0; i-- > 0;) {
		const struct code_link *link = &page->links[i];

		if (offset < link->low || offset >= link->high)
			continue;
		if (map->nodes[link->id].state == NODE_LIVE)
			return link->id;
		break;
	}
	for (size_t i = map->pages.big_count; i-- > 0;) {
		const struct node *node = &map->nodes[map->pages.bigs[i]];

		if (node->state == NODE_LIVE && covers(&node->range, addr))
			return map->pages.bigs[i];
	}
	return NONE;
}

/* The claim of a new range on its addresses. */
struct claim {
	const struct node *node;
	uint32_t id;
	uint64_t time_ns;			 /* when nodes that live there end */
	uint64_t last_death_ns;			 /* of all nodes there before; 0: none */
	struct code_range rests[CODE_MAP_RESTS]; /* what remains of dead nodes */
	size_t n_rests;
};

static void add_rest(struct claim *claim, const struct code_range *range, uint64_t from,
		     uint64_t to)
{
	struct code_range *rest = &claim->rests[claim->n_rests];

	if (from >= to || claim->n_rests == CODE_MAP_RESTS)
		return;
	*rest = *range;
	rest->addr = from;
	rest->size = (uint32_t)(to - from);
	rest->is_rest = true;
	rest->frame = (struct code_frame){0};
	rest->inlines = NULL;
	claim->n_rests++;
}

static void claim_from(struct code_map *map, struct claim *claim, uint32_t id)
{
	struct node *node = &map->nodes[id];

	if (id == claim->id || node->state == NODE_FREE ||
	    node->range.addr >= end_of(&claim->node->range) ||
	    claim->node->range.addr >= end_of(&node->range))
		return;
	if (node->state == NODE_LIVE) {
		end_life(map, id, claim->time_ns);
		map->stats.evicted++;
	}
	if (node->state == NODE_DEAD) {
		add_rest(claim, &node->range, node->range.addr, claim->node->range.addr);
		add_rest(claim, &node->range, end_of(&claim->node->range), end_of(&node->range));
		list_remove(map, id);
		list_add(map, id, NODE_REPLACED);
		unlist(map, id);
	}
	if (!node->range.is_rest && node->range.death_ns > claim->last_death_ns)
		claim->last_death_ns = node->range.death_ns;
}

static void claim_from_page(struct code_map *map, struct claim *claim, uint64_t number)
{
	const struct code_page *page = code_pages_find(&map->pages, number);
	const struct code_range *range = &claim->node->range;
	const struct code_link mine = code_link_of(claim->id, range->addr, range->size, number);

	for (uint32_t i = 0; page && i < page->count; i++) {
		const struct code_link *link = &page->links[i];

		if (link->low < mine.high && mine.low < link->high)
			claim_from(map, claim, link->id);
	}
}

/* Marks all nodes that the claiming node overlaps as replaced, and ends those that live. */
static void claim_addresses(struct code_map *map, struct claim *claim)
{
	const struct code_range *range = &claim->node->range;
	const uint64_t first = code_page_number(range->addr);
	const uint64_t last = code_page_last(range->addr, range->size);

	for (size_t i = 0; i < map->pages.big_count; i++)
		claim_from(map, claim, map->pages.bigs[i]);
	if (last - first < map->used + (uint64_t)CODE_BIG_PAGES) {
		for (uint64_t n = first; n <= last; n++)
			claim_from_page(map, claim, n);
		return;
	}
	for (uint32_t id = 0; id < map->used; id++) /* fewer nodes than pages */
		claim_from(map, claim, id);
}

/* ---- operations ---- */

int code_map_new(struct code_map **ret)
{
	struct code_map *map = calloc(1, sizeof(*map));
	int err;

	if (!map)
		return -ENOMEM;
	err = code_pages_init(&map->pages);
	if (err) {
		free(map);
		return err;
	}
	for (int state = 0; state < NODE_STATES; state++)
		map->lists[state] = (struct node_list){.first = NONE, .last = NONE};
	*ret = map;
	return 0;
}

bool code_map_free_some(struct code_map *map, size_t max)
{
	for (; max > 0 && map->used > 0; max--) {
		const struct node *node = &map->nodes[--map->used];

		if (node->state != NODE_FREE)
			inline_table_free(node->range.inlines);
	}
	return map->used == 0 && code_pages_free_some(&map->pages, max);
}

void code_map_free(struct code_map *map)
{
	if (!map)
		return;
	code_map_free_some(map, SIZE_MAX);
	code_pages_fini(&map->pages);
	free(map->nodes);
	free(map);
}

/* HotSpot names new adapters "I2C/C2I adapters(0xbbeb)", and in a resync "I2C/C2I adapters". */
static bool is_short_for(const struct code_range *known, const struct code_range *said)
{
	return known->kind == CODE_STUB && !known->class_name && known->name && said->name &&
	       strncmp(known->name, said->name, strlen(said->name)) == 0;
}

static bool is_repeat(const struct code_range *known, const struct code_range *said, bool is_resync)
{
	if (known->addr != said->addr || known->size != said->size || known->kind != said->kind ||
	    known->class_name != said->class_name || known->signature != said->signature)
		return false;
	return known->name == said->name || (is_resync && is_short_for(known, said));
}

/* Moves the node to the tail of the living when a resync first repeats the node. */
static void confirm(struct code_map *map, uint32_t id)
{
	if (map->nodes[id].epoch == map->epoch)
		return;
	map->nodes[id].epoch = map->epoch;
	list_remove(map, id);
	list_add(map, id, NODE_LIVE);
}

/* The live node that range repeats, or NONE. */
static uint32_t find_repeat(const struct code_map *map, const struct code_range *range,
			    bool is_resync)
{
	const uint32_t id = live_at(map, range->addr);

	return id != NONE && is_repeat(&map->nodes[id].range, range, is_resync) ? id : NONE;
}

static void take_repeat(struct code_map *map, uint32_t id, const struct code_range *range)
{
	struct code_range *known = &map->nodes[id].range;

	confirm(map, id);
	map->stats.repeats++;
	if (known->level == CODE_LEVEL_UNKNOWN)
		known->level = range->level;
	if (known->frame.size == 0)
		known->frame = range->frame;
	if (known->inlines) {
		inline_table_free(range->inlines);
		return;
	}
	map->stats.relisted += range->inlines != NULL;
	known->inlines = range->inlines;
}

static int insert_node(struct code_map *map, const struct code_range *range, uint32_t *ret)
{
	int err = new_node(map, range, ret);

	if (err)
		return err;
	err = link_node(map, *ret);
	if (err) {
		unlink_node(map, *ret);
		list_add(map, *ret, NODE_FREE);
	}
	return err;
}

/* A rest without memory is left out: only lists lack that rest. */
static void keep_rests(struct code_map *map, const struct claim *claim)
{
	map->n_rests = 0;
	for (size_t i = 0; i < claim->n_rests; i++) {
		uint32_t id;

		if (insert_node(map, &claim->rests[i], &id) < 0)
			continue;
		map->nodes[id].range.death_ns = claim->rests[i].death_ns;
		list_add(map, id, NODE_DEAD);
		map->rests[map->n_rests++] = id;
	}
}

size_t code_map_rests(const struct code_map *map, const struct code_range *ret[CODE_MAP_RESTS])
{
	size_t n = 0;

	for (size_t i = 0; i < map->n_rests; i++) {
		const struct node *node = &map->nodes[map->rests[i]];

		if (node->state == NODE_DEAD && node->range.is_rest)
			ret[n++] = &node->range;
	}
	return n;
}

/* Renames the range that lives at addr, so that its names can be compared with new ones. */
static void rename_at(struct code_map *map, uint64_t addr)
{
	const uint32_t id = live_at(map, addr);

	if (id != NONE)
		rename_range(&map->nodes[id].range, map->renaming.fn, map->renaming.arg);
}

int code_map_add(struct code_map *map, const struct code_range *range, bool is_resync)
{
	struct claim claim = {.time_ns = range->birth_ns};
	struct code_range renamed;
	uint32_t id;
	int err = code_range_is_valid(range->addr, range->size) ? 0 : -EINVAL;

	if (map->renaming.fn && !err) {
		renamed = *range;
		rename_range(&renamed, map->renaming.fn, map->renaming.arg);
		rename_at(map, range->addr);
		range = &renamed;
	}

	id = err ? NONE : find_repeat(map, range, is_resync);
	if (id != NONE) {
		take_repeat(map, id, range);
		return 0;
	}
	err = err ? err : insert_node(map, range, &id);
	if (err) {
		inline_table_free(range->inlines);
		map->stats.rejected++;
		return err;
	}
	list_add(map, id, NODE_LIVE);
	/*
	 * A node that a resync contradicts ended before the resync began, like a node left out of a
	 * resync.
	 */
	if (is_resync && map->is_resyncing)
		claim.time_ns = map->resync_ns;
	claim.id = id;
	claim.node = &map->nodes[id];
	claim_addresses(map, &claim);
	if (is_resync || range->birth_ns < claim.last_death_ns)
		set_birth(map, id, claim.last_death_ns);
	keep_rests(map, &claim);
	map->stats.loads++;
	return 1;
}

int code_map_remove(struct code_map *map, uint64_t addr, uint64_t time_ns)
{
	const uint32_t id = live_at(map, addr);

	if (id == NONE || map->nodes[id].range.addr != addr) {
		map->stats.unknown_unloads++;
		return 0;
	}
	end_life(map, id, time_ns);
	map->stats.unloads++;
	return 1;
}

void code_map_resync_begin(struct code_map *map, uint64_t time_ns)
{
	map->epoch++;
	map->is_resyncing = true;
	map->resync_ns = time_ns;
}

size_t code_map_resync_end(struct code_map *map, bool complete)
{
	const struct node_list *live = &map->lists[NODE_LIVE];
	size_t buried = 0;

	/*
	 * The cost grows with the number of buried nodes only: a resync without changes must not
	 * walk the whole map.
	 */
	while (map->is_resyncing && complete && live->first != NONE &&
	       map->nodes[live->first].epoch != map->epoch) {
		end_life(map, live->first, map->resync_ns);
		buried++;
	}
	map->is_resyncing = false;
	map->stats.buried += buried;
	return buried;
}

/* A time at an address, and the nodes at the address that are nearest to the time. */
struct moment {
	uint64_t addr, time_ns;
	const struct node *before; /* the newest node born by then */
	const struct node *after;  /* the oldest node born later */
};

/*
 * Called with nodes from the newest to the oldest. False: older nodes do not matter. The node is
 * not read if birth_ns decides: most of a look-up's cost is to fetch nodes into the cache.
 */
static bool consider(struct moment *moment, const struct node *node, uint64_t birth_ns)
{
	if (node->range.is_rest)
		return true;
	if (birth_ns > moment->time_ns) {
		if (!moment->after || node->order < moment->after->order)
			moment->after = node;
		return true;
	}
	if (!moment->before || node->order > moment->before->order)
		moment->before = node;
	return false;
}

static void consider_page(const struct code_map *map, struct moment *moment)
{
	const struct code_page *page = code_pages_find(&map->pages, code_page_number(moment->addr));
	const unsigned int offset = code_page_offset(moment->addr);

	for (uint32_t i = page ? page->count : 0; i-- > 0;) {
		const struct code_link *link = &page->links[i];

		if (offset >= link->low && offset < link->high &&
		    !consider(moment, &map->nodes[link->id], link->birth_ns))
			return;
	}
}

static void consider_bigs(const struct code_map *map, struct moment *moment)
{
	for (size_t i = map->pages.big_count; i-- > 0;) {
		const struct node *node = &map->nodes[map->pages.bigs[i]];

		if (covers(&node->range, moment->addr) &&
		    !consider(moment, node, node->range.birth_ns))
			return;
	}
}

const struct code_map_watch *code_map_set_watch(struct code_map *map,
						const struct code_map_watch *watch)
{
	const struct code_map_watch *const before = map->watch;

	map->watch = watch;
	return before;
}

static const struct code_range *find(const struct code_map *map, uint64_t addr, uint64_t time_ns)
{
	struct moment moment = {.addr = addr, .time_ns = time_ns};

	consider_page(map, &moment);
	if (map->pages.big_count > 0)
		consider_bigs(map, &moment);
	if (moment.before && (!moment.after || time_ns < moment.before->range.death_ns))
		return &moment.before->range;
	return moment.after ? &moment.after->range : NULL;
}

const struct code_range *code_map_find(const struct code_map *map, uint64_t addr, uint64_t time_ns)
{
	const struct code_range *range = find(map, addr, time_ns);

	return map->watch ? map->watch->find(map->watch->arg, addr, time_ns, range) : range;
}

const struct code_range *code_map_living(const struct code_map *map, uint64_t addr)
{
	const uint32_t id = live_at(map, addr);

	return id != NONE && map->nodes[id].range.addr == addr ? &map->nodes[id].range : NULL;
}

static uint64_t later_birth(const struct node *node, uint64_t addr, uint32_t size,
			    uint64_t birth_ns)
{
	const struct code_range *const range = &node->range;
	const bool is_there =
		node->state == NODE_LIVE && range->addr < addr + size && addr < end_of(range);

	return is_there && range->birth_ns > birth_ns ? range->birth_ns : birth_ns;
}

static uint64_t last_birth_by_pages(const struct code_map *map, uint64_t addr, uint32_t size)
{
	uint64_t birth_ns = 0;

	for (uint64_t number = code_page_number(addr); number <= code_page_last(addr, size);
	     number++) {
		const struct code_page *const page = code_pages_find(&map->pages, number);

		for (uint32_t i = 0; page && i < page->count; i++)
			birth_ns =
				later_birth(&map->nodes[page->links[i].id], addr, size, birth_ns);
	}
	for (size_t i = 0; i < map->pages.big_count; i++)
		birth_ns = later_birth(&map->nodes[map->pages.bigs[i]], addr, size, birth_ns);
	return birth_ns;
}

uint64_t code_map_last_birth(const struct code_map *map, uint64_t addr, uint32_t size)
{
	uint64_t birth_ns = 0;

	if (code_pages_is_big(addr, size) && map->pages.big_count == CODE_BIG_MAX)
		return 0;
	if (code_page_last(addr, size) - code_page_number(addr) <
	    map->used + (uint64_t)CODE_BIG_PAGES)
		return last_birth_by_pages(map, addr, size);
	for (uint32_t id = 0; id < map->used; id++) /* fewer nodes than pages */
		birth_ns = later_birth(&map->nodes[id], addr, size, birth_ns);
	return birth_ns;
}

void code_map_name_living(struct code_map *map, uint64_t addr, const char *name)
{
	const uint32_t id = live_at(map, addr);
	struct code_range *const range = id != NONE ? &map->nodes[id].range : NULL;

	if (!range || range->addr != addr)
		return;
	range->class_name = range->signature = range->source_file = NULL;
	range->name = map->renaming.fn ? map->renaming.fn(map->renaming.arg, name) : name;
	range->is_read = true;
	map->stats.relisted++;
}

const struct code_range *code_map_next_living(const struct code_map *map, size_t *pos, size_t max,
					      bool *ret_ends)
{
	for (; max > 0 && *pos < map->used; max--) {
		const struct node *const node = &map->nodes[(*pos)++];

		if (node->state == NODE_LIVE)
			return &node->range;
	}
	*ret_ends = *pos >= map->used;
	return NULL;
}

void code_map_expire(struct code_map *map, uint64_t horizon_ns, size_t max_dead)
{
	code_map_expire_some(map, horizon_ns, max_dead, SIZE_MAX);
}

size_t code_map_expire_some(struct code_map *map, uint64_t horizon_ns, size_t max_dead, size_t max)
{
	const struct node_list *dead = &map->lists[NODE_DEAD];
	size_t n = 0;

	for (uint32_t id = map->lists[NODE_REPLACED].first, next; id != NONE && n < max;
	     id = next) {
		next = map->nodes[id].next;
		if (map->nodes[id].range.death_ns >= horizon_ns)
			continue;
		forget(map, id);
		n++;
	}
	for (; n < max && dead->count > max_dead; n++) {
		if (map->nodes[dead->first].range.death_ns >= horizon_ns)
			break;
		forget(map, dead->first);
	}
	return n;
}

struct list_entry {
	uint64_t addr; /* a copy beside the range, so that sorting stays in the cache */
	const struct code_range *range;
};

static int compare_entries(const void *left, const void *right)
{
	const uint64_t a = ((const struct list_entry *)left)->addr;
	const uint64_t b = ((const struct list_entry *)right)->addr;

	return (a > b) - (a < b);
}

uint64_t code_map_mark(const struct code_map *map)
{
	return map->next_order;
}

static bool is_listed(const struct node *node)
{
	return node->state == NODE_LIVE || node->state == NODE_DEAD;
}

/* The mark behind the first so many of the ranges added since; 0 without memory. */
static uint64_t find_until(const struct code_map *map, uint64_t since, size_t most)
{
	const size_t size = map->lists[NODE_LIVE].count + map->lists[NODE_DEAD].count;
	uint64_t *orders, low = since, high = map->next_order;
	size_t count = 0;

	if (size <= most || high - since <= most)
		return high;
	orders = malloc(size * sizeof(*orders));
	if (!orders)
		return 0;
	for (uint32_t id = 0; id < map->used; id++) {
		if (is_listed(&map->nodes[id]) && map->nodes[id].order >= since)
			orders[count++] = map->nodes[id].order;
	}
	while (count > most && low < high) {
		const uint64_t middle = low + (high - low + 1) / 2;
		size_t before = 0;

		for (size_t i = 0; i < count; i++)
			before += orders[i] < middle;
		if (before <= most)
			low = middle;
		else
			high = middle - 1;
	}
	free(orders);
	return high;
}

static ssize_t list_between(const struct code_map *map, uint64_t since, uint64_t until,
			    const struct code_range ***ret)
{
	size_t size = map->lists[NODE_LIVE].count + map->lists[NODE_DEAD].count;
	const struct code_range **ranges;
	struct list_entry *entries;
	size_t count = 0;

	if (size > until - since)
		size = until - since;
	entries = malloc((size + 1) * sizeof(*entries));
	ranges = malloc((size + 1) * sizeof(*ranges));
	if (!entries || !ranges) {
		free(entries);
		free(ranges);
		return -ENOMEM;
	}
	for (uint32_t id = 0; id < map->used; id++) {
		const struct node *node = &map->nodes[id];

		if (is_listed(node) && node->order >= since && node->order < until)
			entries[count++] = (struct list_entry){node->range.addr, &node->range};
	}
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count; i++)
		ranges[i] = entries[i].range;
	free(entries);
	*ret = ranges;
	return (ssize_t)count;
}

ssize_t code_map_list(const struct code_map *map, uint64_t since, const struct code_range ***ret)
{
	return list_between(map, since, map->next_order, ret);
}

ssize_t code_map_list_some(const struct code_map *map, uint64_t since, size_t most,
			   const struct code_range ***ret, uint64_t *ret_until)
{
	const uint64_t until = find_until(map, since, most);

	if (until < since)
		return -ENOMEM;
	*ret_until = until;
	return list_between(map, since, until, ret);
}

static int compare_spans(const void *a, const void *b)
{
	const struct code_span *left = a, *right = b;

	return (left->addr > right->addr) - (left->addr < right->addr);
}

ssize_t code_map_unlisted(const struct code_map *map, uint64_t since, struct code_span *ret)
{
	const uint64_t count = map->stats.unlisted - since;

	if (count > CODE_MAP_MAX_UNLISTED)
		return -ENOSPC;
	for (uint64_t i = 0; i < count; i++)
		ret[i] = map->unlisted[(since + i) % CODE_MAP_MAX_UNLISTED];
	qsort(ret, count, sizeof(*ret), compare_spans);
	return (ssize_t)count;
}

size_t code_map_bytes(const struct code_map *map)
{
	return heap_bytes(sizeof(*map)) + heap_bytes(map->size * sizeof(struct node)) +
	       code_pages_bytes(&map->pages);
}

void code_map_stats(const struct code_map *map, struct code_map_stats *ret)
{
	*ret = map->stats;
	ret->live = map->lists[NODE_LIVE].count;
	ret->dead = map->lists[NODE_DEAD].count + map->lists[NODE_REPLACED].count;
	ret->bytes = code_map_bytes(map);
}

void code_map_rename(struct code_map *map, code_map_rename_fn fn, void *arg)
{
	code_map_begin_rename(map, fn, arg);
	code_map_rename_some(map, map->used);
}

void code_map_begin_rename(struct code_map *map, code_map_rename_fn fn, void *arg)
{
	map->renaming.fn = fn;
	map->renaming.arg = arg;
	map->renaming.next = 0;
}

size_t code_map_rename_some(struct code_map *map, size_t max)
{
	size_t n = 0;

	for (; map->renaming.fn && map->renaming.next < map->used && n < max; n++) {
		struct node *node = &map->nodes[map->renaming.next++];

		if (node->state != NODE_FREE)
			rename_range(&node->range, map->renaming.fn, map->renaming.arg);
	}
	if (map->renaming.next >= map->used)
		map->renaming.fn = NULL;
	return n;
}

bool code_map_is_renaming(const struct code_map *map)
{
	return map->renaming.fn != NULL;
}
