// SPDX-License-Identifier: Apache-2.0
/* Encodes the whole tree for the script, see svg_data.h. */
#include "render/svg_data.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/map64.h"
#include "encode/bytes.h"
#include "encode/packed.h"
#include "encode/text.h"
#include "render/kinds.h"
#include "render/name_colors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RECENT_BITS 12
#define RECENT	    (1u << RECENT_BITS)

/*
 * Nodes with one name, kind and look share a key. The key's module is that of the first such node.
 */
struct key {
	const struct profile_node *node;
	struct look look;
	uint32_t uses;
	uint32_t place; /* among the keys by first use, later in the file */
};

struct recent {
	uint64_t id; /* 0: none */
	uint32_t key;
};

/* What is needed while keys are found. */
struct finder {
	struct svg_data *data;
	struct map64 by_id; /* id -> number + 1 in keys */
	struct key *keys;
	uint32_t count;
	uint32_t size;
	/* Keys that were met last, by ID: a look-up of most nodes touches nothing else. */
	struct recent *recent;
};

/* Addresses take 48 bits, kinds and classes 4, shades 3. */
static uint64_t id_of(const struct profile_node *node, struct look look)
{
	return (uint64_t)(uintptr_t)node->name << 11 | (uint64_t)node->kind << 7 |
	       (uint64_t)look.class << 3 | look.shade;
}

/*
 * Without a diff the look depends on name and kind only, so the look is found once for each key.
 */
static int add_key(struct finder *finder, uint64_t id, uint32_t node, struct look look)
{
	const struct svg_data *const data = finder->data;
	const struct profile *const profile = data->graph->profile;

	if (ARRAY_RESERVE(finder->keys, finder->size, finder->count + 1) < 0 ||
	    map64_put(&finder->by_id, id, (void *)((uintptr_t)finder->count + 1)) < 0)
		return -ENOMEM;
	if (!data->looks->diff)
		look = look_of(data->looks, profile, node);
	finder->data->classes |= 1u << look.class;
	finder->keys[finder->count] =
		(struct key){.node = &profile->nodes[node], .look = look, .place = finder->count};
	finder->count++;
	return 0;
}

/* Finds or adds the node's key. */
static int find_key(struct finder *finder, uint32_t node, uint32_t *ret)
{
	const struct svg_data *const data = finder->data;
	const struct profile *const profile = data->graph->profile;
	struct look look = {0};
	struct recent *recent;
	uint64_t id;

	if (data->looks->diff)
		look = look_of(data->looks, profile, node);
	id = id_of(&profile->nodes[node], look);
	recent = &finder->recent[id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
	if (recent->id != id) {
		uintptr_t found = (uintptr_t)map64_find(&finder->by_id, id);

		if (!found && add_key(finder, id, node, look) < 0)
			return -ENOMEM;
		*recent = (struct recent){id, found ? (uint32_t)(found - 1) : finder->count - 1};
	}
	finder->keys[recent->key].uses++;
	*ret = recent->key;
	return 0;
}

/*
 * Keys with equally many uses keep the order of first use, so that equal profiles give equal files.
 */
static int by_uses(const void *a, const void *b)
{
	const struct key *const x = a;
	const struct key *const y = b;

	if (x->uses != y->uses)
		return x->uses < y->uses ? 1 : -1;
	return x->place < y->place ? -1 : 1;
}

static int find_keys(struct finder *finder)
{
	struct svg_data *const data = finder->data;

	data->key_of = malloc(data->graph->count * sizeof(*data->key_of));
	finder->recent = calloc(RECENT, sizeof(*finder->recent));
	if (!data->key_of || !finder->recent)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->graph->count; i++) {
		const int rc = find_key(finder, graph_node(data->graph, i), &data->key_of[i]);

		if (rc < 0)
			return rc;
	}
	if (finder->count > 0)
		qsort(finder->keys, finder->count, sizeof(*finder->keys), by_uses);
	return 0;
}

/* Writes the chosen colour of a name, if the name has one. */
static void encode_chosen(const struct looks *looks, const struct profile_node *node,
			  struct bytes *out)
{
	const struct name_colors *const chosen = looks->diff ? NULL : looks->chosen;
	const uint32_t *const rgb = chosen ? name_colors_find(chosen, node) : NULL;
	char text[16];

	if (!rgb)
		return;
	snprintf(text, sizeof(text), "%s#%06" PRIx32, node->module ? "\t" : "\t\t", *rgb);
	bytes_add(out, text, strlen(text));
}

static void encode_key(const struct looks *looks, const struct key *key, struct bytes *out)
{
	const struct profile_node *const node = key->node;

	bytes_add_char(out, (char)('a' + key->look.class));
	bytes_add_char(out, (char)('0' + key->look.shade));
	text_clean(out, node->name, UTF8_REPLACEMENT);
	if (node->module) {
		bytes_add_char(out, '\t');
		text_clean(out, node->module, UTF8_REPLACEMENT);
	}
	encode_chosen(looks, node, out);
	bytes_add_char(out, '\n');
}

/*
 * Looks up the line that out has from begin on, in the trees before; *ret is its number + 1, or 0.
 * A new line gets the number id.
 */
static int share_line(struct svg_keys *keys, const struct bytes *out, size_t begin, uint32_t id,
		      uint32_t *ret)
{
	const char *const line =
		out->failed ? NULL : intern_add(&keys->lines, out->data + begin, out->len - begin);
	const uint64_t key = (uint64_t)(uintptr_t)line;

	if (!line)
		return -ENOMEM;
	*ret = (uint32_t)(uintptr_t)map64_find(&keys->numbers, key);
	return *ret ? 0 : map64_put(&keys->numbers, key, (void *)((uintptr_t)id + 1));
}

/* Writes the lines of keys, and numbers the keys. numbers: by first use. */
static int encode_keys(struct finder *finder, struct svg_keys *shared, uint32_t *numbers)
{
	struct svg_data *const data = finder->data;
	struct bytes *const out = &data->lines;
	const uint32_t first = shared ? shared->count : 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < finder->count; i++) {
		const struct key *const key = &finder->keys[i];
		const size_t begin = out->len;
		uint32_t known = 0;

		encode_key(data->looks, key, out);
		if (shared && share_line(shared, out, begin, first + count, &known) < 0)
			return -ENOMEM;
		numbers[key->place] = known ? known - 1 : first + count++;
		if (known)
			out->len = begin;
	}
	if (shared)
		shared->count += count;
	data->n_lines = count;
	return out->failed ? -ENOMEM : 0;
}

static int number_keys(struct finder *finder, struct svg_keys *shared)
{
	struct svg_data *const data = finder->data;
	_cleanup_free_ uint32_t *numbers = calloc((size_t)finder->count + 1, sizeof(*numbers));
	const int rc = numbers ? encode_keys(finder, shared, numbers) : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < data->graph->count; i++)
		data->key_of[i] = numbers[data->key_of[i]];
	return rc;
}

static void finder_fini(struct finder *finder)
{
	map64_fini(&finder->by_id);
	free(finder->recent);
	free(finder->keys);
}

int svg_data_init(struct svg_data *data, const struct graph *graph, const struct looks *looks,
		  struct svg_keys *keys)
{
	_cleanup_(finder_fini) struct finder finder = {.data = data};
	int rc;

	*data = (struct svg_data){.graph = graph, .looks = looks};
	rc = find_keys(&finder);
	if (rc == 0)
		rc = number_keys(&finder, keys);
	if (rc < 0)
		svg_data_fini(data);
	return rc;
}

void svg_data_fini(struct svg_data *data)
{
	bytes_fini(&data->lines);
	free(data->key_of);
	*data = (struct svg_data){0};
}

void svg_keys_fini(struct svg_keys *keys)
{
	intern_fini(&keys->lines);
	map64_fini(&keys->numbers);
}

/*
 * The own samples of a node. An HTML page of a diff takes the samples of after here, and adds those
 * of before by itself, because its reader chooses the widths.
 */
static uint64_t own_of(const struct graph *graph, uint32_t id)
{
	return graph->diff ? graph->diff->nodes[id].self[DIFF_AFTER]
			   : graph->profile->nodes[id].self;
}

static void encode_nodes(const struct svg_data *data, struct packer *packer)
{
	const struct graph *const graph = data->graph;
	const struct profile_diff *const diff = data->looks->diff;

	for (uint32_t i = 0; i < graph->count; i++)
		packer_add_varint(packer, data->key_of[i]);
	for (uint32_t i = 0; i < graph->count; i++)
		packer_add_varint(packer, graph_levels_up(graph, i));
	for (uint32_t i = 0; i < graph->count; i++)
		packer_add_varint(packer, own_of(graph, graph_node(graph, i)));
	for (int side = 0; diff && side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < graph->count; i++)
			packer_add_varint(packer, diff->nodes[graph_node(graph, i)].self[side]);
}

void svg_data_encode(const struct svg_data *data, struct packer *packer)
{
	packer_add_varint(packer, data->n_lines);
	packer_add_varint(packer, data->lines.len);
	packer_add_varint(packer, data->graph->count);
	packer_add(packer, data->lines.data, data->lines.len);
	encode_nodes(data, packer);
}

static void encode_levels(const struct graph *graph, const struct level_counts *levels,
			  struct packer *packer)
{
	uint32_t n = 0, before = 0;

	for (uint32_t i = 0; levels && i < graph->count; i++)
		n += level_count(&levels[graph_node(graph, i)]) > 1;
	packer_add_varint(packer, n);
	for (uint32_t i = 0; n > 0 && i < graph->count; i++) {
		const struct level_counts *const counts = &levels[graph_node(graph, i)];

		if (level_count(counts) < 2)
			continue;
		packer_add_varint(packer, i - before);
		before = i;
		for (int level = 0; level < LEVELS; level++)
			packer_add_varint(packer, counts->totals[level]);
	}
}

int svg_data_write(const struct svg_data *data, const struct level_counts *levels, FILE *stream)
{
	/* The data are a tenth to a half of the file. */
	_cleanup_(packer_freep) struct packer *packer = packer_new(stream, PACKED_FAST);

	if (!packer)
		return -ENOMEM;
	svg_data_encode(data, packer);
	if (!data->looks->diff)
		encode_levels(data->graph, levels, packer);
	return packer_end(packer);
}
