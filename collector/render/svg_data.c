// SPDX-License-Identifier: Apache-2.0
/* Encodes the whole tree for the script, see svg_data.h. */
#include "render/svg_data.h"

#include "base/arena.h"
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

/*
 * Nodes with one name, kind and look share a key. The key's module is that of the first such node.
 */
struct key {
	const struct profile_node *node;
	struct look look;
	uint32_t uses;
	uint32_t id;
};

struct encoder {
	const struct graph *graph;
	const struct looks *looks;
	struct arena arena;
	struct map64 by_id;
	struct key **keys; /* by ID, once sorted */
	size_t key_count;
	size_t key_size;
	struct key **key_of; /* key of each node, in the graph's order */
	struct bytes data;
};

/* Addresses take 48 bits, kinds and classes 4, shades 3. */
static uint64_t id_of(const struct profile_node *node, struct look look)
{
	return (uint64_t)(uintptr_t)node->name << 11 | (uint64_t)node->kind << 7 |
	       (uint64_t)look.class << 3 | look.shade;
}

/*
 * Finds or adds the node's key. Without a diff the look depends on name and kind only, so the look
 * is computed once for each key.
 */
static int add_key(struct encoder *encoder, uint32_t number, struct key **ret)
{
	const struct profile *const profile = encoder->graph->profile;
	const struct profile_node *const node = &profile->nodes[number];
	struct look look = {0};
	uint64_t id;
	struct key *key;

	if (encoder->looks->diff)
		look = look_of(encoder->looks, profile, number);
	id = id_of(node, look);
	key = map64_find(&encoder->by_id, id);

	if (!key) {
		if (encoder->key_count == encoder->key_size) {
			const size_t size = encoder->key_size ? encoder->key_size * 2 : 256;
			struct key **keys = realloc(encoder->keys, size * sizeof(*keys));

			if (!keys)
				return -ENOMEM;
			encoder->keys = keys;
			encoder->key_size = size;
		}
		key = arena_alloc(&encoder->arena, sizeof(*key));
		if (!key || map64_put(&encoder->by_id, id, key) < 0)
			return -ENOMEM;
		if (!encoder->looks->diff)
			look = look_of(encoder->looks, profile, number);
		*key = (struct key){.node = node, .look = look, .id = (uint32_t)encoder->key_count};
		encoder->keys[encoder->key_count++] = key;
	}
	key->uses++;
	*ret = key;
	return 0;
}

/*
 * Keys with equally many uses keep the order of first use, so that equal profiles give equal files.
 */
static int by_uses(const void *a, const void *b)
{
	const struct key *const x = *(struct key *const *)a;
	const struct key *const y = *(struct key *const *)b;

	if (x->uses != y->uses)
		return x->uses < y->uses ? 1 : -1;
	return x->id < y->id ? -1 : 1;
}

static int collect_keys(struct encoder *encoder)
{
	const struct graph *const graph = encoder->graph;

	encoder->key_of = malloc(graph->count * sizeof(*encoder->key_of));
	if (!encoder->key_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->count; i++) {
		const int rc = add_key(encoder, graph->order[i], &encoder->key_of[i]);

		if (rc < 0)
			return rc;
	}
	if (encoder->key_count > 0)
		qsort(encoder->keys, encoder->key_count, sizeof(struct key *), by_uses);
	return 0;
}

/* Writes the chosen colour of a name, if the name has one. */
static void encode_chosen(const struct encoder *encoder, const struct profile_node *node,
			  struct bytes *out)
{
	const struct name_colors *const chosen =
		encoder->looks->diff ? NULL : encoder->looks->chosen;
	const uint32_t *const rgb = chosen ? name_colors_find(chosen, node) : NULL;
	char text[16];

	if (!rgb)
		return;
	snprintf(text, sizeof(text), "%s#%06" PRIx32, node->module ? "\t" : "\t\t", *rgb);
	bytes_add(out, text, strlen(text));
}

static void encode_key(const struct encoder *encoder, const struct key *key, struct bytes *out)
{
	const struct profile_node *const node = key->node;

	bytes_add_char(out, (char)('a' + key->look.class));
	bytes_add_char(out, (char)('0' + key->look.shade));
	text_clean(out, node->name, UTF8_REPLACEMENT);
	if (node->module) {
		bytes_add_char(out, '\t');
		text_clean(out, node->module, UTF8_REPLACEMENT);
	}
	encode_chosen(encoder, node, out);
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

/* Writes the lines of keys and numbers the keys. Returns the number of lines, or negative errno. */
static int64_t encode_keys(struct encoder *encoder, struct svg_keys *shared, struct bytes *out)
{
	const uint32_t first = shared ? shared->count : 0;
	uint32_t count = 0;

	for (size_t i = 0; i < encoder->key_count; i++) {
		struct key *const key = encoder->keys[i];
		const size_t begin = out->len;
		uint32_t known = 0;

		encode_key(encoder, key, out);
		if (shared && share_line(shared, out, begin, first + count, &known) < 0)
			return -ENOMEM;
		key->id = known ? known - 1 : first + count++;
		if (known)
			out->len = begin;
	}
	if (shared)
		shared->count += count;
	return count;
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

static void encode_nodes(struct encoder *encoder)
{
	const struct graph *const graph = encoder->graph;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < graph->count; i++)
		bytes_add_varint(&encoder->data, encoder->key_of[i]->id);
	for (uint32_t i = 0; i < graph->count; i++) {
		const uint32_t next = graph->depth[graph->order[i]];

		bytes_add_varint(&encoder->data, i ? depth + 1 - next : 0);
		depth = next;
	}
	for (uint32_t i = 0; i < graph->count; i++)
		bytes_add_varint(&encoder->data, own_of(graph, graph->order[i]));
	for (int side = 0; encoder->looks->diff && side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < graph->count; i++)
			bytes_add_varint(&encoder->data,
					 encoder->looks->diff->nodes[graph->order[i]].self[side]);
}

static int encode(struct encoder *encoder, struct svg_keys *shared)
{
	_cleanup_(bytes_fini) struct bytes names = {0};
	const int64_t count = encode_keys(encoder, shared, &names);

	if (count < 0)
		return (int)count;
	bytes_add_varint(&encoder->data, (uint64_t)count);
	bytes_add_varint(&encoder->data, names.len);
	bytes_add_varint(&encoder->data, encoder->graph->count);
	bytes_add(&encoder->data, names.data, names.len);
	encoder->data.failed |= names.failed;
	encode_nodes(encoder);
	return 0;
}

static void encoder_fini(struct encoder *encoder)
{
	arena_fini(&encoder->arena);
	map64_fini(&encoder->by_id);
	free(encoder->keys);
	free(encoder->key_of);
	bytes_fini(&encoder->data);
}

int svg_data_encode(const struct graph *graph, const struct looks *looks, struct svg_keys *keys,
		    struct bytes *out)
{
	_cleanup_(encoder_fini) struct encoder encoder = {.graph = graph, .looks = looks};
	int rc = collect_keys(&encoder);

	if (rc == 0)
		rc = encode(&encoder, keys);
	if (rc < 0)
		return rc;
	bytes_add(out, encoder.data.data, encoder.data.len);
	return encoder.data.failed || out->failed ? -ENOMEM : 0;
}

static void encode_levels(const struct graph *graph, const struct level_counts *levels,
			  struct bytes *out)
{
	uint32_t n = 0, before = 0;

	for (uint32_t i = 0; levels && i < graph->count; i++)
		n += level_count(&levels[graph->order[i]]) > 1;
	bytes_add_varint(out, n);
	for (uint32_t i = 0; n > 0 && i < graph->count; i++) {
		const struct level_counts *const counts = &levels[graph->order[i]];

		if (level_count(counts) < 2)
			continue;
		bytes_add_varint(out, i - before);
		before = i;
		for (int level = 0; level < LEVELS; level++)
			bytes_add_varint(out, counts->totals[level]);
	}
}

int svg_data_write(const struct graph *graph, const struct looks *looks,
		   const struct level_counts *levels, FILE *stream)
{
	_cleanup_(bytes_fini) struct bytes data = {0};
	int rc = svg_data_encode(graph, looks, NULL, &data);

	if (!looks->diff && rc == 0)
		encode_levels(graph, levels, &data);
	if (data.failed)
		rc = -ENOMEM;
	return rc < 0 ? rc : packed_write(&data, stream);
}
