// SPDX-License-Identifier: Apache-2.0
/*
 * Colours by name, see name_colors.h:
 *
 *   line  = [ name ] "->rgb(" R "," G "," B ")"      decimal, 0 to 255; the last "->" counts
 *
 * flamegraph.pl writes its root with an empty name.
 */
#include "render/name_colors.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "encode/bytes.h"
#include "encode/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARROW	   "->"
#define MAX_LINE   (64u << 10)
#define MAX_NAMES  (4u << 20) /* further names are left out */
#define FIRST_SIZE 256u

void name_colors_fini(struct name_colors *colors)
{
	intern_fini(&colors->names);
	free(colors->items);
	free(colors->index);
	*colors = (struct name_colors){0};
}

/* The place of name in the index, or the free place where name belongs. */
static uint32_t *place_of(const struct name_colors *colors, const char *name)
{
	size_t i = quick_hash_text(colors->seed, name, strlen(name)) & (colors->index_size - 1);

	while (colors->index[i] && strcmp(colors->items[colors->index[i] - 1].name, name) != 0)
		i = (i + 1) & (colors->index_size - 1);
	return &colors->index[i];
}

static int make_room(struct name_colors *colors)
{
	const size_t size = colors->size ? colors->size * 2 : FIRST_SIZE;
	struct name_color *items;
	uint32_t *index;

	if (colors->count < colors->size)
		return 0;
	if (colors->seed == 0)
		colors->seed = quick_hash_seed(FIRST_SIZE);
	items = realloc(colors->items, size * sizeof(*items));
	if (!items)
		return -ENOMEM;
	colors->items = items;
	index = calloc(size * 2, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(colors->index);
	colors->index = index;
	colors->size = size;
	colors->index_size = size * 2;
	for (size_t i = 0; i < colors->count; i++)
		*place_of(colors, items[i].name) = (uint32_t)i + 1;
	return 0;
}

static int put(struct name_colors *colors, const char *name, uint32_t rgb, bool replaces)
{
	uint32_t *place;
	int err = make_room(colors);

	if (err)
		return err;
	place = place_of(colors, name);
	if (*place) {
		if (replaces)
			colors->items[*place - 1].rgb = rgb;
		return 0;
	}
	if (colors->count == MAX_NAMES)
		return 0;
	name = intern_add_str(&colors->names, name);
	if (!name)
		return -ENOMEM;
	colors->items[colors->count++] = (struct name_color){name, rgb};
	*place = (uint32_t)colors->count;
	return 0;
}

/* Reads the colour, and cuts line where the name ends. */
static bool parse(char *line, uint32_t *ret)
{
	unsigned red, green, blue;
	char *arrow = NULL, end = '\0';

	line[strcspn(line, "\r\n")] = '\0';
	for (char *at = line; (at = strstr(at, ARROW)); at++)
		arrow = at;
	if (!arrow || sscanf(arrow, ARROW "rgb(%3u,%3u,%3u%c", &red, &green, &blue, &end) != 4 ||
	    end != ')' || red > 255 || green > 255 || blue > 255)
		return false;
	*arrow = '\0';
	*ret = red << 16 | green << 8 | blue;
	return true;
}

int name_colors_read(struct name_colors *colors, FILE *stream)
{
	_cleanup_free_ char *line = malloc(MAX_LINE);
	uint32_t rgb;
	int err = line ? 0 : -ENOMEM;

	for (uint64_t number = 1; !err && fgets(line, MAX_LINE, stream); number++) {
		if (parse(line, &rgb))
			err = put(colors, line, rgb, true);
		else if (colors->ignored++ == 0)
			colors->first_ignored = number;
	}
	return !err && ferror(stream) ? -EIO : err;
}

static int by_name(const void *a, const void *b)
{
	const struct name_color *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

int name_colors_write(const struct name_colors *colors, FILE *stream)
{
	_cleanup_free_ struct name_color *sorted = malloc((colors->count + 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	if (colors->count > 0)
		memcpy(sorted, colors->items, colors->count * sizeof(*sorted));
	qsort(sorted, colors->count, sizeof(*sorted), by_name);
	for (size_t i = 0; i < colors->count; i++)
		fprintf(stream, "%s" ARROW "rgb(%u,%u,%u)\n", sorted[i].name,
			(unsigned)(sorted[i].rgb >> 16 & 255), (unsigned)(sorted[i].rgb >> 8 & 255),
			(unsigned)(sorted[i].rgb & 255));
	return ferror(stream) ? -EIO : 0;
}

/* Writes the name with its suffix, and replaces bytes that would end a line. */
static void write_name(struct bytes *out, const struct profile_node *node)
{
	const char *const suffix = frame_kind_suffix((enum frame_kind)node->kind);

	text_clean(out, node->name, "?");
	bytes_add(out, suffix, strlen(suffix));
}

const uint32_t *name_colors_find(const struct name_colors *colors, const struct profile_node *node)
{
	_cleanup_(bytes_fini) struct bytes name = {0};
	uint32_t number;

	if (colors->count == 0)
		return NULL;
	write_name(&name, node);
	if (name.failed)
		return NULL;
	number = *place_of(colors, bytes_text(&name));
	return number ? &colors->items[number - 1].rgb : NULL;
}

int name_colors_add(struct name_colors *colors, const struct profile_node *node, uint32_t rgb)
{
	_cleanup_(bytes_fini) struct bytes name = {0};

	write_name(&name, node);
	return name.failed ? -ENOMEM : put(colors, bytes_text(&name), rgb, false);
}
