// SPDX-License-Identifier: Apache-2.0
/*
 * Builds the section in two passes over the regions, see inline_section.h: the first collects the
 * methods; the second writes the regions, after all methods have been written.
 */
#include "outside/inline_section.h"

#include <string.h>

#define SECTION_HEADER_BYTES 8

static void begin(struct inline_section *section, const struct scopes *scopes)
{
	section->walk = (struct scopes_walk){.scopes = scopes};
	section->before.end = 0;
	section->before.depth = 0;
}

static bool next(struct inline_section *section)
{
	return section->walk.scopes && scopes_next(&section->walk, &section->region);
}

static void advance(struct inline_section *section)
{
	section->before.end = section->region.end;
	section->before.depth = section->region.depth;
	memcpy(section->before.frames, section->region.frames,
	       section->region.depth * sizeof(*section->region.frames));
}

int inline_section_want(struct inline_section *section, const struct scopes *scopes,
			struct method_names *names)
{
	const size_t most = names->methods.count + INLINE_SECTION_MAX_METHODS;
	int err = 0;

	begin(section, scopes);
	while (!err && next(section)) {
		for (uint32_t i = scopes_shared(&section->before, &section->region);
		     !err && i < section->region.depth && names->methods.count <= most; i++)
			err = method_names_want(names, section->region.frames[i].method);
		advance(section);
	}
	return err;
}

/* Gives the method a place in the table. */
static bool place(struct inline_section *section, const struct method_names *names, uint64_t method)
{
	struct named_method *const named = method_names_find(names, method);

	if (!named || !named->is_named)
		return false;
	if (named->table == section->serial)
		return true;
	if (section->n_methods == INLINE_SECTION_MAX_METHODS)
		return false;
	named->table = section->serial;
	named->place = section->n_methods;
	section->methods[section->n_methods++] = named;
	return true;
}

static bool collect(struct inline_section *section, const struct scopes *scopes,
		    const struct method_names *names, uint64_t compiled)
{
	bool is_good;

	section->serial++;
	section->n_methods = 0;
	is_good = place(section, names, compiled);
	begin(section, scopes);
	while (is_good && next(section)) {
		is_good = section->region.frames[0].method == compiled;
		for (uint32_t i = scopes_shared(&section->before, &section->region);
		     is_good && i < section->region.depth; i++)
			is_good = place(section, names, section->region.frames[i].method);
		advance(section);
	}
	return is_good && !section->walk.is_broken;
}

static void encode_methods(const struct inline_section *section, struct wire_buf *buf)
{
	wire_encode_inline_count(buf, section->n_methods);
	for (uint32_t i = 0; i < section->n_methods; i++) {
		const struct named_method *const named = section->methods[i];
		const struct wire_method method = {
			.id = named->id,
			.how = named->is_known ? WIRE_METHOD_KNOWN : WIRE_METHOD_NAMED,
			.class_sig = named->class_name,
			.name = named->name,
			.sig = named->signature,
			.source_file = named->source_file,
			.n_lines = named->n_lines,
		};

		wire_encode_inline_method(buf, &method, named->lines);
	}
}

static void encode_region(const struct inline_section *section, const struct method_names *names,
			  struct wire_buf *buf)
{
	const struct scopes_region *const region = &section->region;
	const uint32_t shared = scopes_shared(&section->before, region);
	const struct wire_region record = {.size = region->end - section->before.end,
					   .depth = region->depth,
					   .shared = shared};

	wire_encode_inline_region(buf, &record);
	for (uint32_t i = shared; i < region->depth; i++) {
		const struct wire_inline_frame frame = {
			.method = method_names_find(names, region->frames[i].method)->place,
			.bci = region->frames[i].bci,
		};

		wire_encode_inline_frame(buf, &frame);
	}
}

static uint32_t count_regions(struct inline_section *section, const struct scopes *scopes)
{
	uint32_t n = 0;

	begin(section, scopes);
	while (next(section))
		n++;
	return n;
}

/* Writes the length, which is known now, into the section's header. */
static bool finish(struct inline_section *section, const struct wire_buf *buf)
{
	const uint32_t len = (uint32_t)(buf->len - SECTION_HEADER_BYTES);

	for (int i = 0; i < 4; i++)
		buf->data[4 + i] = (uint8_t)(len >> (8 * i));
	section->len = buf->len;
	return !buf->overflow;
}

bool inline_section_encode(struct inline_section *section, const struct scopes *scopes,
			   const struct method_names *names, uint64_t compiled)
{
	struct wire_buf buf = {.data = section->bytes, .size = sizeof(section->bytes)};

	section->len = 0;
	if (!collect(section, scopes, names, compiled))
		return false;
	wire_encode_section(&buf, WIRE_SECTION_INLINE, NULL, 0);
	encode_methods(section, &buf);
	wire_encode_inline_count(&buf, count_regions(section, scopes));
	begin(section, scopes);
	while (!buf.overflow && next(section)) {
		encode_region(section, names, &buf);
		advance(section);
	}
	return finish(section, &buf);
}

void inline_section_note(const struct inline_section *section, struct method_names *names)
{
	for (uint32_t i = 0; i < section->n_methods; i++)
		method_names_note(names, section->methods[i]);
}
