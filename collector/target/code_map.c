// SPDX-License-Identifier: Apache-2.0
/*
 * Which piece of generated code was at an address at a time, see code_map.h.
 *
 * Ranges, living and dead, are nodes in one array. A hash from page number to the links of the
 * nodes that touch the page, oldest first, makes look-ups short; what spans very many pages is in
 * a short list of its own. Because a load ends whatever it overlaps, ranges that share an address
 * follow each other in time in the order in which they were added: a look-up walks from the newest
 * back and stops at the first one born by then. Every table has a maximum, for what is stored
 * comes from inside a container.
 */
#include "target/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NONE UINT32_MAX

#define PAGE_SHIFT 12
#define PAGE_BYTES (UINT64_C(1) << PAGE_SHIFT)

/* A page has room for 256 pieces of 16 bytes; the rest is for the dead. */
#define PAGE_LINKS_MAX 512

/* Ranges of more pages are not linked to them. An ordinary JVM has hardly any such range. */
#define BIG_PAGES 64
#define BIG_MAX	  64

enum node_state {
	NODE_FREE,
	NODE_LIVE,
	NODE_DEAD,     /* nothing took its place */
	NODE_REPLACED, /* dead, and at least a byte of it belongs to a later range */
	NODE_STATES,
};

struct node {
	struct code_range range;
	uint64_t order;	     /* of arrival, and of birth among those that share an address */
	uint32_t prev, next; /* in the list of its state */
	uint32_t epoch;	     /* the resync since whose begin it was last heard of */
	uint8_t state;
	bool is_big;
};

/* Nodes of one state, those that entered it first at the head. The living are in no list. */
struct node_list {
	uint32_t first, last;
	size_t count;
};

/* What a node covers of a page: low <= offset < high. Here so that most nodes need no visit. */
struct link {
	uint32_t id;
	uint16_t low, high;
};

struct page {
	struct page *next; /* in the hash's bucket */
	uint64_t number;
	uint32_t count, size;
	struct link links[]; /* the newest last */
};

struct code_map {
	struct node *nodes;
	uint32_t used, size; /* of nodes; what is behind used was never used */
	struct node_list lists[NODE_STATES];

	struct page **buckets;
	unsigned int bucket_bits;
	size_t page_count, page_bytes, link_count;
	uint64_t seed,
		factor; /* unknown to who sends addresses, so that they cannot be made to collide */

	uint32_t bigs[BIG_MAX]; /* the newest last */
	size_t big_count;

	uint64_t next_order;
	uint32_t epoch;
	bool is_resyncing;
	uint64_t resync_ns;
	struct code_map_stats stats;
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
}

/* ---- pages ---- */

static uint64_t end_of(const struct code_range *range)
{
	return range->addr + range->size;
}

static uint64_t first_page(const struct code_range *range)
{
	return range->addr >> PAGE_SHIFT;
}

static uint64_t last_page(const struct code_range *range)
{
	return (end_of(range) - 1) >> PAGE_SHIFT;
}

static size_t bucket_of(const struct code_map *map, uint64_t number)
{
	uint64_t hash = (number ^ map->seed) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 32) * map->factor;
	return (size_t)(hash >> (64 - map->bucket_bits));
}

/* Where the pointer to the page is, or would be. */
static struct page **page_slot(const struct code_map *map, uint64_t number)
{
	struct page **slot = &map->buckets[bucket_of(map, number)];

	while (*slot && (*slot)->number != number)
		slot = &(*slot)->next;
	return slot;
}

/* Doubles the hash's buckets; without memory for it buckets become longer, and that is all. */
static void grow_buckets(struct code_map *map)
{
	const size_t count = (size_t)1 << map->bucket_bits;
	struct page **old = map->buckets, **buckets = calloc(count * 2, sizeof(struct page *));

	if (!buckets)
		return;
	map->buckets = buckets;
	map->bucket_bits++;
	for (size_t i = 0; i < count; i++) {
		for (struct page *page = old[i], *next; page; page = next) {
			struct page **bucket = &buckets[bucket_of(map, page->number)];

			next = page->next;
			page->next = *bucket;
			*bucket = page;
		}
	}
	free(old);
}

static size_t bytes_of_page(uint32_t size)
{
	return sizeof(struct page) + size * sizeof(struct link);
}

/* Makes room for one more link in *slot, which may be NULL. */
static int grow_page(struct code_map *map, struct page **slot, uint64_t number)
{
	const uint32_t old_size = *slot ? (*slot)->size : 0;
	const uint32_t size = old_size ? old_size * 2 : 4;
	struct page *page = realloc(*slot, bytes_of_page(size));

	if (!page)
		return -ENOMEM;
	if (old_size == 0) {
		*page = (struct page){.number = number};
		map->page_count++;
	}
	map->page_bytes += bytes_of_page(size) - (old_size ? bytes_of_page(old_size) : 0);
	page->size = size;
	*slot = page;
	return 0;
}

static void remove_page_link(struct code_map *map, uint64_t number, uint32_t id)
{
	struct page **slot = page_slot(map, number), *page = *slot;
	uint32_t i = 0;

	while (page && i < page->count && page->links[i].id != id)
		i++;
	if (!page || i == page->count)
		return;
	memmove(&page->links[i], &page->links[i + 1], (page->count - i - 1) * sizeof(struct link));
	map->link_count--;
	if (--page->count > 0)
		return;
	*slot = page->next;
	map->page_count--;
	map->page_bytes -= bytes_of_page(page->size);
	free(page);
}

/* ---- nodes ---- */

static void remove_big(struct code_map *map, uint32_t id)
{
	size_t i = 0;

	while (i < map->big_count && map->bigs[i] != id)
		i++;
	if (i == map->big_count)
		return;
	map->big_count--;
	memmove(&map->bigs[i], &map->bigs[i + 1], (map->big_count - i) * sizeof(map->bigs[0]));
}

static void unlink_node(struct code_map *map, uint32_t id)
{
	const struct node *node = &map->nodes[id];

	if (node->is_big) {
		remove_big(map, id);
		return;
	}
	for (uint64_t n = first_page(&node->range); n <= last_page(&node->range); n++)
		remove_page_link(map, n, id);
}

static void forget(struct code_map *map, uint32_t id)
{
	list_remove(map, id);
	unlink_node(map, id);
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

static bool forget_oldest_dead_of_page(struct code_map *map, const struct page *page)
{
	for (uint32_t i = 0; i < page->count; i++) {
		const uint32_t id = page->links[i].id;

		if (map->nodes[id].state != NODE_LIVE) {
			forget(map, id);
			return true;
		}
	}
	return false;
}

static int link_to_page(struct code_map *map, uint64_t number, struct link link)
{
	struct page **slot;

	if (map->page_count >= (size_t)1 << map->bucket_bits)
		grow_buckets(map);
	slot = page_slot(map, number);
	if (*slot && (*slot)->count == PAGE_LINKS_MAX) {
		if (!forget_oldest_dead_of_page(map, *slot))
			return -ENOSPC;
		slot = page_slot(map, number); /* it may have been in a page that is gone */
	}
	if (!*slot || (*slot)->count == (*slot)->size) {
		const int err = grow_page(map, slot, number);

		if (err)
			return err;
	}
	(*slot)->links[(*slot)->count++] = link;
	map->link_count++;
	return 0;
}

static struct link link_of(const struct code_range *range, uint32_t id, uint64_t number)
{
	const uint64_t page_addr = number << PAGE_SHIFT, last = end_of(range) - 1;

	return (struct link){
		.id = id,
		.low = range->addr > page_addr ? (uint16_t)(range->addr - page_addr) : 0,
		.high = (uint16_t)(last - page_addr < PAGE_BYTES ? last - page_addr + 1
								 : PAGE_BYTES),
	};
}

/* Puts the node into the index. Stops half-way on failure. */
static int link_node(struct code_map *map, uint32_t id)
{
	const struct code_range range = map->nodes[id].range;
	const uint64_t first = first_page(&range), last = last_page(&range);
	const uint64_t page_count = last - first + 1;

	if (page_count > BIG_PAGES) {
		map->nodes[id].is_big = true;
		if (map->big_count == BIG_MAX)
			return -ENOSPC;
		map->bigs[map->big_count++] = id;
		return 0;
	}
	while (map->link_count + page_count > CODE_MAP_MAX_LINKS) {
		if (!forget_oldest_dead(map))
			return -ENOSPC;
	}
	for (uint64_t n = first; n <= last; n++) {
		const int err = link_to_page(map, n, link_of(&range, id, n));

		if (err)
			return err;
	}
	return 0;
}

static int grow_nodes(struct code_map *map)
{
	const uint32_t size = map->size ? map->size * 2 : 256;
	struct node *nodes = realloc(map->nodes, size * sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	map->nodes = nodes;
	map->size = size;
	return 0;
}

/* A node that lives and is in no list and not in the index. */
static int new_node(struct code_map *map, const struct code_range *range, uint32_t *ret)
{
	struct node_list *unused = &map->lists[NODE_FREE];
	uint32_t id;

	if (unused->count == 0 && map->used == CODE_MAP_MAX_RANGES && !forget_oldest_dead(map))
		return -ENOSPC;
	if (unused->count == 0 && map->used == map->size) {
		const int err = grow_nodes(map);

		if (err)
			return err;
	}
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
	*ret = id;
	return 0;
}

/* ---- life and death ---- */

/* Clocks that run backwards must not make a life that ends before it began. */
static void end_life(struct code_map *map, uint32_t id, uint64_t time_ns)
{
	struct code_range *range = &map->nodes[id].range;

	range->death_ns = time_ns > range->birth_ns ? time_ns : range->birth_ns;
	list_add(map, id, NODE_DEAD);
	map->stats.live--;
}

static bool covers(const struct code_range *range, uint64_t addr)
{
	return addr - range->addr < range->size;
}

/* The newest node at addr is the only one there that can be alive. */
static uint32_t live_at(const struct code_map *map, uint64_t addr)
{
	const struct page *page = *page_slot(map, addr >> PAGE_SHIFT);
	const unsigned int offset = addr & (PAGE_BYTES - 1);

	for (uint32_t i = page ? page->count : 0; i-- > 0;) {
		const struct link *link = &page->links[i];

		if (offset < link->low || offset >= link->high)
			continue;
		if (map->nodes[link->id].state == NODE_LIVE)
			return link->id;
		break;
	}
	for (size_t i = map->big_count; i-- > 0;) {
		const struct node *node = &map->nodes[map->bigs[i]];

		if (node->state == NODE_LIVE && covers(&node->range, addr))
			return map->bigs[i];
	}
	return NONE;
}

/* A new range's claim on its addresses. */
struct claim {
	const struct node *node;
	uint32_t id;
	uint64_t time_ns;	/* when those that still live there end */
	uint64_t last_death_ns; /* of all that were there before; 0: none */
};

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
		list_remove(map, id);
		list_add(map, id, NODE_REPLACED);
	}
	if (node->range.death_ns > claim->last_death_ns)
		claim->last_death_ns = node->range.death_ns;
}

static void claim_from_page(struct code_map *map, struct claim *claim, uint64_t number)
{
	const struct page *page = *page_slot(map, number);
	const struct link mine = link_of(&claim->node->range, claim->id, number);

	for (uint32_t i = 0; page && i < page->count; i++) {
		const struct link *link = &page->links[i];

		if (link->low < mine.high && mine.low < link->high)
			claim_from(map, claim, link->id);
	}
}

/* Ends and marks as replaced all that the claiming node overlaps. */
static void claim_addresses(struct code_map *map, struct claim *claim)
{
	const uint64_t first = first_page(&claim->node->range);
	const uint64_t last = last_page(&claim->node->range);

	for (size_t i = 0; i < map->big_count; i++)
		claim_from(map, claim, map->bigs[i]);
	if (last - first < map->used + (uint64_t)BIG_PAGES) {
		for (uint64_t n = first; n <= last; n++)
			claim_from_page(map, claim, n);
		return;
	}
	for (uint32_t id = 0; id < map->used; id++) /* fewer than its pages */
		claim_from(map, claim, id);
}

/* ---- operations ---- */

int code_map_new(struct code_map **ret)
{
	struct code_map *map = calloc(1, sizeof(*map));
	uint64_t random[2] = {0, 0};

	if (!map)
		return -ENOMEM;
	map->bucket_bits = 6;
	map->buckets = calloc((size_t)1 << map->bucket_bits, sizeof(struct page *));
	if (!map->buckets) {
		free(map);
		return -ENOMEM;
	}
	/* Early in a boot there may be none yet: that is no reason to wait or to fail. */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random[0] = random[1] = (uint64_t)(uintptr_t)map;
	map->seed = random[0];
	map->factor = random[1] | 1;
	for (int state = 0; state < NODE_STATES; state++)
		map->lists[state] = (struct node_list){.first = NONE, .last = NONE};
	*ret = map;
	return 0;
}

void code_map_free(struct code_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < (size_t)1 << map->bucket_bits; i++) {
		for (struct page *page = map->buckets[i], *next; page; page = next) {
			next = page->next;
			free(page);
		}
	}
	free(map->buckets);
	free(map->nodes);
	free(map);
}

/* HotSpot says "I2C/C2I adapters(0xbbeb)" when it makes one, and "I2C/C2I adapters" in a resync. */
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

int code_map_add(struct code_map *map, const struct code_range *range, bool is_resync)
{
	struct claim claim = {.time_ns = range->birth_ns};
	struct code_range *added;
	uint32_t id;
	int err;

	if (range->size == 0 || range->addr > UINT64_MAX - range->size) {
		map->stats.rejected++;
		return -EINVAL;
	}
	id = live_at(map, range->addr);
	if (id != NONE && is_repeat(&map->nodes[id].range, range, is_resync)) {
		map->nodes[id].epoch = map->epoch;
		map->stats.repeats++;
		return 0;
	}
	err = new_node(map, range, &id);
	if (!err) {
		err = link_node(map, id);
		if (err) {
			unlink_node(map, id);
			list_add(map, id, NODE_FREE);
		}
	}
	if (err) {
		map->stats.rejected++;
		return err;
	}
	/* What a resync contradicts was gone before it began, as for what it leaves out. */
	if (is_resync && map->is_resyncing)
		claim.time_ns = map->resync_ns;
	claim.id = id;
	claim.node = &map->nodes[id];
	claim_addresses(map, &claim);
	added = &map->nodes[id].range;
	if (is_resync || added->birth_ns < claim.last_death_ns)
		added->birth_ns = claim.last_death_ns;
	map->stats.loads++;
	map->stats.live++;
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
	size_t buried = 0;

	for (uint32_t id = 0; map->is_resyncing && complete && id < map->used; id++) {
		const struct node *node = &map->nodes[id];

		if (node->state == NODE_LIVE && node->epoch != map->epoch) {
			end_life(map, id, map->resync_ns);
			buried++;
		}
	}
	map->is_resyncing = false;
	map->stats.buried += buried;
	return buried;
}

/* The neighbours in time of a moment at an address. */
struct moment {
	uint64_t addr, time_ns;
	const struct node *before; /* the newest one born by then */
	const struct node *after;  /* the oldest one born later */
};

/* Nodes are shown from the newest on. False: older ones do not matter. */
static bool consider(struct moment *moment, const struct node *node)
{
	if (node->range.birth_ns > moment->time_ns) {
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
	const struct page *page = *page_slot(map, moment->addr >> PAGE_SHIFT);
	const unsigned int offset = moment->addr & (PAGE_BYTES - 1);

	for (uint32_t i = page ? page->count : 0; i-- > 0;) {
		const struct link *link = &page->links[i];

		if (offset >= link->low && offset < link->high &&
		    !consider(moment, &map->nodes[link->id]))
			return;
	}
}

static void consider_bigs(const struct code_map *map, struct moment *moment)
{
	for (size_t i = map->big_count; i-- > 0;) {
		const struct node *node = &map->nodes[map->bigs[i]];

		if (covers(&node->range, moment->addr) && !consider(moment, node))
			return;
	}
}

const struct code_range *code_map_find(const struct code_map *map, uint64_t addr, uint64_t time_ns)
{
	struct moment moment = {.addr = addr, .time_ns = time_ns};

	consider_page(map, &moment);
	if (map->big_count > 0)
		consider_bigs(map, &moment);
	if (moment.before && (time_ns < moment.before->range.death_ns || !moment.after))
		return &moment.before->range;
	return moment.after ? &moment.after->range : NULL;
}

void code_map_expire(struct code_map *map, uint64_t horizon_ns, size_t max_dead)
{
	const struct node_list *dead = &map->lists[NODE_DEAD];

	for (uint32_t id = map->lists[NODE_REPLACED].first, next; id != NONE; id = next) {
		next = map->nodes[id].next;
		if (map->nodes[id].range.death_ns < horizon_ns)
			forget(map, id);
	}
	while (dead->count > max_dead && map->nodes[dead->first].range.death_ns < horizon_ns)
		forget(map, dead->first);
}

struct list_entry {
	uint64_t addr; /* beside the range, so that sorting stays in the cache */
	const struct code_range *range;
};

static int compare_entries(const void *left, const void *right)
{
	const uint64_t a = ((const struct list_entry *)left)->addr;
	const uint64_t b = ((const struct list_entry *)right)->addr;

	return (a > b) - (a < b);
}

ssize_t code_map_list(const struct code_map *map, const struct code_range ***ret)
{
	const size_t size = map->stats.live + map->lists[NODE_DEAD].count;
	struct list_entry *entries = malloc((size + 1) * sizeof(*entries));
	const struct code_range **ranges = malloc((size + 1) * sizeof(*ranges));
	size_t count = 0;

	if (!entries || !ranges) {
		free(entries);
		free(ranges);
		return -ENOMEM;
	}
	for (uint32_t id = 0; id < map->used; id++) {
		const struct node *node = &map->nodes[id];

		if (node->state == NODE_LIVE || node->state == NODE_DEAD)
			entries[count++] = (struct list_entry){node->range.addr, &node->range};
	}
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count; i++)
		ranges[i] = entries[i].range;
	free(entries);
	*ret = ranges;
	return (ssize_t)count;
}

void code_map_stats(const struct code_map *map, struct code_map_stats *ret)
{
	*ret = map->stats;
	ret->dead = map->lists[NODE_DEAD].count + map->lists[NODE_REPLACED].count;
	ret->bytes = sizeof(*map) + map->size * sizeof(struct node) + map->page_bytes +
		     ((size_t)1 << map->bucket_bits) * sizeof(struct page *);
}
