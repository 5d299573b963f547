// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks, as every flame graph tool reads them:
 *
 *   line = frame { ";" frame } " " count "\n"      root first, leaf last, count a plain integer
 *
 * A frame is its name and its kind's suffix. Readers take a second number before the count for a
 * count before. Therefore no frame may end in spaces, or in spaces and a number: such spaces become
 * '_' wherever the frame stands, so that a method has one name. So do the spaces of a frame that
 * would make its line a comment, or a sample's first line in perf script. And the only stack of a
 * file must not look like the first line of a recording, see import/detect.c.
 *
 * Nodes of different kinds or names may get the same text; such nodes are chained and walked as
 * one. Below nodes that were chained, a method may have several levels of compilation although
 * levels are merged: these nodes are chained too, and the level of the heaviest is written. Lines
 * are written in order without being held in memory: one path is kept, and a list of what is still
 * to be written, last first. There is no recursion, because stacks may be 100,000 deep.
 */
#include "base/array.h"
#include "base/utf8.h"
#include "encode/bytes.h"
#include "encode/text.h"
#include "profile/frame_text.h"
#include "profile/recording_format.h"
#include "render/render.h"

#include "base/cleanup.h"
#include "base/map64.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	   0u
#define KNOWN_BITS 12
#define TAIL_BYTES 44		 /* ' ' and UINT64_MAX, twice, and '\0' */
#define NO_FRAMES  "[no frames]" /* a stack without frames has no other form */

enum column {
	COLUMN_BEFORE = DIFF_BEFORE,
	COLUMN_AFTER = DIFF_AFTER,
	COLUMNS,
};

/* Output that is still to be written below the first path_len bytes of the path. */
struct item {
	const char *text;
	const char *method;	/* equal for all levels of compilation if these are merged */
	uint64_t weight;	/* of the node whose text it is */
	uint64_t self[COLUMNS]; /* without a diff all samples are in COLUMN_AFTER */
	size_t path_len;
	uint32_t node;	       /* the first node in the list of twins, which ends at ROOT */
	char tail[TAIL_BYTES]; /* " 42": a stack ends here; ";": frames follow */
};

/* What a node's text and method are, which were found before. */
struct known {
	uint64_t key; /* name, kind, and whether at the root; 0: none */
	const char *text;
	const char *method;
};

struct folder {
	const struct profile *profile;
	const struct profile_diff *diff; /* or NULL */
	bool hides_addresses, merges_levels;
	struct intern names;
	struct map64 texts;   /* name and kind -> text */
	struct map64 methods; /* text, and whether at the root -> struct item's method */
	struct intern method_names;
	struct bytes method;
	struct bytes text;
	struct bytes hidden; /* text without addresses */
	struct bytes path;
	struct known
		*known; /* 1 << KNOWN_BITS items, by key: of most nodes nothing else is looked up */
	uint32_t *twins; /* node -> the next node with an equal text below an equal path */
	struct item *items;
	size_t count;
	size_t size;
};

/* The end of the spaces that a reader would take for the end of the stack, or 0. */
static size_t end_of_risky_spaces(const char *text, size_t len)
{
	size_t end = len;

	while (end > 0 && ascii_is_digit(text[end - 1]))
		end--;
	if (end > 0 && text[end - 1] == '.') {
		size_t whole = end - 1;

		while (whole > 0 && ascii_is_digit(text[whole - 1]))
			whole--;
		if (whole < end - 1)
			end = whole;
	}
	return end > 0 && text[end - 1] == ' ' ? end : 0;
}

static bool is_signed_number(const char *word, size_t len)
{
	const size_t sign = len > 1 && word[0] == '-';
	size_t i = sign;

	while (i < len && (ascii_is_digit(word[i]) || (word[i] == '/' && i > sign)))
		i++;
	return len > sign && i == len;
}

/* Whether the word is a time of perf script, such as 12.000001: */
static bool is_time(const char *word, size_t len)
{
	size_t i = 0;

	while (i < len && (ascii_is_digit(word[i]) || word[i] == '.'))
		i++;
	return len > 3 && i + 1 == len && ascii_is_digit(word[0]) && word[i] == ':';
}

/* Whether the word is what stands behind a PID in perf script: a CPU, or the name of a record. */
static bool is_behind_pid(const char *word, size_t len)
{
	return (len > 2 && word[0] == '[' && word[len - 1] == ']' &&
		is_signed_number(word + 1, len - 2)) ||
	       (len > 4 && memcmp(word, "PERF", 4) == 0);
}

/* Whether the text would be the first line of a sample in perf script, see import/perf_header.h. */
static bool is_header(const char *text, size_t len)
{
	bool has_pid = false;

	for (size_t at = 0, end; at < len; at = end + 1) {
		const char *const space = memchr(text + at, ' ', len - at);

		end = space ? (size_t)(space - text) : len;
		if (at > 0 && end > at &&
		    (is_time(text + at, end - at) ||
		     (has_pid && is_behind_pid(text + at, end - at))))
			return true;
		if (end > at)
			has_pid = is_signed_number(text + at, end - at);
	}
	return false;
}

static void replace_spaces(struct bytes *out)
{
	for (char *c = out->data, *end = c + out->len; c < end; c++)
		if (*c == ' ')
			*c = '_';
}

/* Whether a line that begins so, or is so alone, would be a comment. */
static bool is_comment(const struct bytes *text)
{
	return text->len > 0 && text->data[0] == '#' && (text->len == 1 || text->data[1] == ' ');
}

static void encode(struct bytes *out, const char *name, enum frame_kind kind)
{
	const char *const suffix = frame_kind_suffix(kind);

	out->len = 0;
	text_clean(out, *name ? name : "?", "?");
	bytes_add(out, suffix, strlen(suffix));
	for (char *c = out->data, *end = c + out->len; c < end; c++)
		if (*c == ';')
			*c = ':';
	for (size_t i = end_of_risky_spaces(out->data, out->len); i > 0 && out->data[i - 1] == ' ';
	     i--)
		out->data[i - 1] = '_';
	if (is_comment(out) || is_header(out->data, out->len))
		replace_spaces(out);
	if (is_comment(out) || (out->len + 1 == sizeof(RECORDING_FORMAT_MAGIC) - 1 &&
				memcmp(out->data, RECORDING_FORMAT_MAGIC, out->len) == 0))
		bytes_add(out, "_", 1);
}

static size_t span_of_hex(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && isxdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* Replaces 0x7f10ab by 0x..., so that texts are equal even if addresses differ from run to run. */
static void hide_addresses(struct folder *folder)
{
	struct bytes *const text = &folder->text;
	struct bytes *const out = &folder->hidden;

	out->len = 0;
	for (size_t i = 0; i < text->len;) {
		const char *const from = text->data + i;
		const size_t digits = text->len - i > 2 && from[0] == '0' && from[1] == 'x'
					      ? span_of_hex(from + 2, text->len - i - 2)
					      : 0;

		if (digits > 0)
			bytes_add(out, "0x...", 5);
		else
			bytes_add_char(out, *from);
		i += digits > 0 ? 2 + digits : 1;
	}
	text->len = 0;
	bytes_add(text, out->data, out->len);
	text->failed |= out->failed;
}

/*
 * A node's text. The text is made once for each name and kind, because most names are in many
 * nodes.
 */
static const char *text_of(struct folder *folder, const struct profile_node *node)
{
	const uint64_t key = (uint64_t)(uintptr_t)node->name << 4 | node->kind;
	const char *text = map64_find(&folder->texts, key);

	if (text)
		return text;
	encode(&folder->text, node->name, (enum frame_kind)node->kind);
	if (folder->hides_addresses)
		hide_addresses(folder);
	text = intern_add(&folder->names, bytes_text(&folder->text), folder->text.len);
	if (!text || folder->text.failed || map64_put(&folder->texts, key, (void *)text) < 0)
		return NULL;
	return text;
}

/*
 * What is equal for all texts that a reader takes for one Java method, at whatever level of
 * compilation, or else the text.
 */
static const char *method_of(struct folder *folder, const char *text, bool is_root)
{
	const uint64_t key = (uint64_t)(uintptr_t)text << 1 | is_root;
	const char *method = map64_find(&folder->methods, key);
	struct frame frame;

	if (method)
		return method;
	folder->method.len = 0;
	bytes_add(&folder->method, text, strlen(text));
	bytes_add_char(&folder->method, '\0');
	if (folder->method.failed)
		return NULL;
	frame = frame_text_parse(folder->method.data, folder->method.len - 1, is_root);
	method = text;
	if (frame_kind_is_java(frame.kind))
		method = intern_add_str(&folder->method_names, frame.name);
	return method && map64_put(&folder->methods, key, (void *)method) == 0 ? method : NULL;
}

/* Sets the item's text and method, those of a node. -ENOMEM */
static int find_text(struct folder *folder, const struct profile_node *node, bool is_root,
		     struct item *item)
{
	const uint64_t key =
		((uint64_t)(uintptr_t)node->name << 4 | node->kind) << 1 | (uint64_t)is_root;
	struct known *const known =
		&folder->known[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KNOWN_BITS)];

	if (known->key != key) {
		const char *const text = text_of(folder, node);
		const char *const method =
			text && folder->merges_levels ? method_of(folder, text, is_root) : text;

		if (!text || !method)
			return -ENOMEM;
		*known = (struct known){key, text, method};
	}
	item->text = known->text;
	item->method = known->method;
	return 0;
}

static int push(struct folder *folder, const struct item *item)
{
	if (ARRAY_RESERVE(folder->items, folder->size, folder->count + 1) < 0)
		return -ENOMEM;
	folder->items[folder->count++] = *item;
	return 0;
}

static int push_line(struct folder *folder, struct item item)
{
	if (item.self[COLUMN_BEFORE] == 0 && item.self[COLUMN_AFTER] == 0)
		return 0;
	if (folder->diff)
		snprintf(item.tail, sizeof(item.tail), " %" PRIu64 " %" PRIu64,
			 item.self[COLUMN_BEFORE], item.self[COLUMN_AFTER]);
	else
		snprintf(item.tail, sizeof(item.tail), " %" PRIu64, item.self[COLUMN_AFTER]);
	return push(folder, &item);
}

static int by_text(const void *a, const void *b)
{
	const struct item *const x = a, *const y = b;
	const int order = strcmp(x->method, y->method);

	return order != 0 ? order : strcmp(x->text, y->text);
}

/*
 * Orders items by their output, in reverse: the last item is written first, and lines come out
 * sorted.
 */
static int by_output_reversed(const void *a, const void *b)
{
	const struct item *const x = b;
	const struct item *const y = a;
	const char *p = x->text;
	const char *q = y->text;
	bool p_tail = false;
	bool q_tail = false;

	for (;; p++, q++) {
		if (*p == '\0' && !p_tail) {
			p = x->tail;
			p_tail = true;
		}
		if (*q == '\0' && !q_tail) {
			q = y->tail;
			q_tail = true;
		}
		if (*p != *q || *p == '\0')
			return (int)(unsigned char)*p - (int)(unsigned char)*q;
	}
}

static void sort_from(struct folder *folder, size_t first,
		      int (*order)(const void *a, const void *b))
{
	if (folder->count - first > 1)
		qsort(folder->items + first, folder->count - first, sizeof(*folder->items), order);
}

static void set_counts(const struct folder *folder, uint32_t id, uint64_t ret[COLUMNS])
{
	if (folder->diff)
		memcpy(ret, folder->diff->nodes[id].self, COLUMNS * sizeof(*ret));
	else
		ret[COLUMN_AFTER] = folder->profile->nodes[id].self;
}

static int push_children(struct folder *folder, uint32_t parent, size_t path_len)
{
	const struct profile_node *const nodes = folder->profile->nodes;

	for (uint32_t id = nodes[parent].first_child; id; id = nodes[id].next_sibling) {
		struct item item = {
			.weight = nodes[id].total,
			.path_len = path_len,
			.node = id,
			.tail = ";",
		};
		int rc;

		rc = find_text(folder, &nodes[id], parent == ROOT, &item);
		set_counts(folder, id, item.self);
		if (rc == 0)
			rc = push(folder, &item);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Joins items of equal text, or of the same method, among the sorted items from first on. */
static void join_twins(struct folder *folder, size_t first)
{
	size_t kept = first;

	for (size_t i = first + 1; i < folder->count; i++) {
		struct item *const into = &folder->items[kept];
		const struct item *const item = &folder->items[i];

		if (item->method != into->method) {
			folder->items[++kept] = *item;
			continue;
		}
		folder->twins[item->node] = into->node;
		into->node = item->node;
		if (item->weight > into->weight) {
			into->text = item->text;
			into->weight = item->weight;
		}
		for (int column = 0; column < COLUMNS; column++)
			into->self[column] += item->self[column];
	}
	if (folder->count > first)
		folder->count = kept + 1;
}

/* Puts the items below a node, and below its twins, on the list. */
static int expand(struct folder *folder, uint32_t node, size_t path_len)
{
	const size_t first = folder->count;
	size_t last;

	do {
		const int rc = push_children(folder, node, path_len);

		if (rc < 0)
			return rc;
		node = folder->twins[node];
	} while (node);
	sort_from(folder, first, by_text);
	join_twins(folder, first);
	last = folder->count;
	for (size_t i = first; i < last; i++) {
		const int rc = push_line(folder, folder->items[i]);

		if (rc < 0)
			return rc;
	}
	sort_from(folder, first, by_output_reversed);
	return 0;
}

static int write_items(struct folder *folder, FILE *stream)
{
	while (folder->count > 0) {
		const struct item item = folder->items[--folder->count];
		int rc = 0;

		folder->path.len = item.path_len;
		bytes_add(&folder->path, item.text, strlen(item.text));
		bytes_add(&folder->path, item.tail, strlen(item.tail));
		if (folder->path.failed)
			return -ENOMEM;
		if (item.tail[0] == ';') {
			rc = expand(folder, item.node, folder->path.len);
		} else {
			bytes_add_char(&folder->path, '\n');
			if (fwrite(bytes_text(&folder->path), 1, folder->path.len, stream) !=
			    folder->path.len)
				rc = errno ? -errno : -EIO;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void folder_fini(struct folder *folder)
{
	bytes_fini(&folder->text);
	bytes_fini(&folder->hidden);
	bytes_fini(&folder->path);
	bytes_fini(&folder->method);
	map64_fini(&folder->texts);
	map64_fini(&folder->methods);
	intern_fini(&folder->method_names);
	intern_fini(&folder->names);
	free(folder->known);
	free(folder->twins);
	free(folder->items);
}

int render_folded(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	_cleanup_(folder_fini) struct folder folder = {
		.profile = profile,
		.diff = options ? options->diff : NULL,
		.hides_addresses = options && options->hides_addresses,
		.merges_levels = options && options->merges_levels,
	};
	struct item no_frames = {.text = NO_FRAMES};
	int rc;

	set_counts(&folder, ROOT, no_frames.self);
	folder.twins = calloc(profile->count, sizeof(*folder.twins));
	folder.known = calloc((size_t)1 << KNOWN_BITS, sizeof(*folder.known));
	if (!folder.twins || !folder.known)
		return -ENOMEM;
	errno = 0;
	rc = expand(&folder, ROOT, 0);
	if (rc == 0)
		rc = push_line(&folder, no_frames);
	if (rc < 0)
		return rc;
	sort_from(&folder, 0, by_output_reversed);
	return write_items(&folder, stream);
}
