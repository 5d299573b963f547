// SPDX-License-Identifier: Apache-2.0
/*
 * Tells of new blobs, see code_telling.h. For some blobs together: read them again, read their
 * debug information, read the names of all methods in it, read the blobs once more, write records.
 */
#include "outside/code_telling.h"

#include "outside/guest_names.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(GUEST_NAMES_MAX >= BLOB_WINDOWS_MAX, "each blob has a guest's name");

#define PARTS	       3
#define STUB_GAP_BYTES 32 /* CodeEntryAlignment */

/* What is read of one nmethod. */
struct nmethod_scopes {
	bool is_there; /* the blob is what it was */
	bool has;      /* it has debug information */
	bool is_lost;  /* it has some that cannot be read */
	struct scopes_places places;
	struct scopes scopes;
};

struct telling_some {
	struct code_telling *telling;
	const struct code_blob *blobs;
	size_t n;
	struct nmethod_scopes each[BLOB_WINDOWS_MAX];
	struct vm_piece pieces[BLOB_WINDOWS_MAX * PARTS];
	struct guest_names guests;
	uint8_t *bytes;
};

/* ---- debug information ---- */

static uint32_t bytes_of(const struct scopes_places *places)
{
	return places->pcs.len + places->scopes.len + places->methods.len;
}

static bool is_there(struct telling_some *some, size_t i)
{
	struct code_blob again;

	return blob_windows_decode(some->telling->windows, i, &again) &&
	       code_blob_is(&again, &some->blobs[i]);
}

static bool find_places(const struct telling_some *some, size_t i, struct scopes_places *ret)
{
	const struct blob_windows *const windows = some->telling->windows;

	return some->blobs[i].kind == BLOB_NMETHOD &&
	       scopes_layout_find(&windows->layout->scopes, blob_windows_blob(windows, i),
				  some->blobs[i].addr, ret);
}

/*
 * Finds where the debug information is. Leaves out the blobs for whose information there is no
 * room any more. Returns the bytes that are to be read.
 */
static size_t find_all_places(struct telling_some *some)
{
	size_t bytes = 0;

	for (size_t i = 0; i < some->n; i++) {
		struct nmethod_scopes *const each = &some->each[i];

		each->is_there = is_there(some, i);
		each->has = each->is_there && find_places(some, i, &each->places);
		if (!each->has)
			continue;
		if (bytes_of(&each->places) > CODE_TELLING_SCOPE_BYTES) {
			each->has = false;
			each->is_lost = true;
			continue;
		}
		if (bytes + bytes_of(&each->places) > CODE_TELLING_SCOPE_BYTES) {
			some->n = i;
			break;
		}
		bytes += bytes_of(&each->places);
	}
	return bytes;
}

static const uint8_t *add_piece(struct telling_some *some, size_t *n, size_t *used,
				const struct scopes_span *span)
{
	uint8_t *const into = some->bytes + *used;

	some->pieces[(*n)++] = (struct vm_piece){.addr = span->at, .into = into, .len = span->len};
	*used += span->len;
	return into;
}

static void set_scopes(struct telling_some *some, size_t i, size_t *n, size_t *used)
{
	struct nmethod_scopes *const each = &some->each[i];

	each->scopes = (struct scopes){
		.layout = &some->telling->windows->layout->scopes,
		.pcs = add_piece(some, n, used, &each->places.pcs),
		.pcs_len = each->places.pcs.len,
		.scopes = add_piece(some, n, used, &each->places.scopes),
		.scopes_len = each->places.scopes.len,
		.methods = add_piece(some, n, used, &each->places.methods),
		.methods_len = each->places.methods.len,
		.code_bytes = some->blobs[i].size,
	};
}

static int read_scopes(struct telling_some *some)
{
	const size_t bytes = find_all_places(some);
	size_t n = 0, used = 0;

	some->bytes = malloc(bytes ? bytes : 1);
	if (!some->bytes)
		return -ENOMEM;
	for (size_t i = 0; i < some->n; i++) {
		if (some->each[i].has)
			set_scopes(some, i, &n, &used);
	}
	vm_memory_gather(some->telling->memory, some->pieces, n);
	n = 0;
	for (size_t i = 0; i < some->n; i++) {
		for (int k = 0; some->each[i].has && k < PARTS; k++)
			some->each[i].is_lost |= !some->pieces[n++].is_read;
	}
	return some->telling->memory->err;
}

/* ---- names ---- */

static int want_names(struct telling_some *some, size_t i)
{
	struct code_telling *const telling = some->telling;
	const struct nmethod_scopes *const each = &some->each[i];
	int err;

	if (!each->is_there || some->blobs[i].kind == BLOB_STUB)
		return 0;
	err = method_names_want(telling->names, some->blobs[i].method);
	if (err || !each->has || each->is_lost)
		return err;
	err = inline_section_want(telling->section, &each->scopes, telling->names);
	telling->frames += telling->section->walk.frames;
	return err;
}

/* Leaves out the blobs behind the one with which the step has enough to decode or to name. */
static int read_names(struct telling_some *some)
{
	struct code_telling *const telling = some->telling;
	int err = 0;

	for (size_t i = 0; !err && i < some->n; i++) {
		err = want_names(some, i);
		if (code_telling_is_enough(telling))
			some->n = i + 1;
	}
	if (!err)
		err = method_names_read(telling->names, telling->memory, telling->methods);
	if (!err)
		guest_names_read(&some->guests, telling->memory, telling->names, some->blobs,
				 some->n);
	return err ? err : telling->memory->err;
}

/* ---- records ---- */

static const char *text_at(struct code_telling *telling, uint64_t at)
{
	return blob_names_text(telling->windows->names, telling->memory, at);
}

/* What lies between stubs has the blob's name. Less than STUB_GAP_BYTES is no code. */
static bool tell_gap(struct code_telling *telling, const struct code_blob *blob, uint64_t from,
		     uint64_t to)
{
	return to < from + STUB_GAP_BYTES ||
	       code_records_part(&telling->out, from, (uint32_t)(to - from),
				 text_at(telling, blob->name_at));
}

static bool tell_stubs(struct code_telling *telling, const struct code_blob *blob,
		       const struct stub_desc *stubs, size_t n)
{
	const size_t before = telling->out.buf.len;
	uint64_t at = blob->code;
	bool fits = telling->n_stubs < CODE_TELLING_MAX_STUBS;

	telling->n_stubs += n;
	for (size_t i = 0; fits && i < n; i++) {
		if (stubs[i].addr < at)
			continue; /* a stub within the one before */
		fits = tell_gap(telling, blob, at, stubs[i].addr) &&
		       code_records_part(&telling->out, stubs[i].addr, stubs[i].size,
					 text_at(telling, stubs[i].name_at));
		at = stubs[i].addr + stubs[i].size;
	}
	fits = fits && tell_gap(telling, blob, at, blob->code + blob->size);
	if (!fits)
		telling->out.buf.len = before;
	return fits;
}

/* A blob that has a frame is one stub. */
static bool tell_stub(struct code_telling *telling, const struct code_blob *blob)
{
	size_t n;
	const struct stub_desc *const stubs = stub_list_in(telling->stubs, blob, &n);

	if (n > 0 && blob->frame.size == 0)
		return tell_stubs(telling, blob, stubs, n);
	return code_records_stub(&telling->out, blob, text_at(telling, blob->name_at));
}

/* Builds the section; without debug information that can be told it names the method alone. */
static bool make_section(struct telling_some *some, size_t i)
{
	struct code_telling *const telling = some->telling;
	struct nmethod_scopes *const each = &some->each[i];
	const uint64_t method = some->blobs[i].method;

	if (each->has && !each->is_lost &&
	    inline_section_encode(telling->section, &each->scopes, telling->names, method))
		return true;
	each->is_lost |= each->has;
	return inline_section_encode(telling->section, NULL, telling->names, method);
}

static bool tell_nmethod(struct telling_some *some, size_t i, bool *ret_is_named)
{
	struct code_telling *const telling = some->telling;
	struct inline_section *const section = telling->section;
	const char *const guest = some->guests.names[i];
	bool fits;

	*ret_is_named = make_section(some, i);
	fits = code_records_method(&telling->out, &some->blobs[i], section->bytes,
				   *ret_is_named ? section->len : 0, guest);
	if (fits && *ret_is_named)
		inline_section_note(section, telling->names);
	return fits;
}

static void tell(struct telling_some *some, size_t i)
{
	struct code_telling *const telling = some->telling;
	const struct code_blob *const blob = &some->blobs[i];
	const bool is_stub = blob->kind == BLOB_STUB;
	bool is_named = true;

	if (!(is_stub ? tell_stub(telling, blob) : tell_nmethod(some, i, &is_named)) ||
	    blob_list_add(telling->told, blob) < 0) {
		telling->has_more = true;
		return;
	}
	telling->stats->named++;
	telling->stats->unnamed += !is_named;
	telling->stats->uninlined += is_named && some->each[i].is_lost;
}

static bool is_span(const struct scopes_span *a, const struct scopes_span *b)
{
	return a->at == b->at && a->len == b->len;
}

static bool are_places(const struct scopes_places *a, const struct scopes_places *b)
{
	return is_span(&a->pcs, &b->pcs) && is_span(&a->scopes, &b->scopes) &&
	       is_span(&a->methods, &b->methods);
}

/* Whether the blob and its parts are still what they were before they were read. */
static bool is_same(struct telling_some *some, size_t i)
{
	const struct nmethod_scopes *const each = &some->each[i];
	struct scopes_places again;

	if (!each->is_there || !is_there(some, i))
		return false;
	return !each->has || (find_places(some, i, &again) && are_places(&again, &each->places));
}

static int tell_all(struct telling_some *some)
{
	struct code_telling *const telling = some->telling;

	blob_windows_read_again(telling->windows, some->blobs, some->n);
	for (size_t i = 0; !telling->memory->err && i < some->n; i++) {
		if (is_same(some, i))
			tell(some, i);
		else
			telling->stats->changed++;
	}
	return telling->memory->err;
}

bool code_telling_is_enough(const struct code_telling *telling)
{
	return telling->frames > CODE_TELLING_MAX_FRAMES || method_names_are_many(telling->names);
}

int code_telling_some(struct code_telling *telling, const struct code_blob *blobs, size_t n,
		      size_t *ret_n)
{
	struct telling_some *const some = calloc(1, sizeof(*some));
	int err = some ? 0 : -ENOMEM;

	if (!telling->section)
		telling->section = calloc(1, sizeof(*telling->section));
	if (!telling->section)
		err = -ENOMEM;
	if (!err) {
		some->telling = telling;
		some->blobs = blobs;
		some->n = n < BLOB_WINDOWS_MAX ? n : BLOB_WINDOWS_MAX;
		blob_windows_read_again(telling->windows, blobs, some->n);
		err = telling->memory->err;
	}
	if (!err)
		err = read_scopes(some);
	if (!err)
		err = read_names(some);
	if (!err)
		err = tell_all(some);
	if (!err)
		*ret_n = some->n;
	if (some)
		free(some->bytes);
	free(some);
	return err;
}

void code_telling_fini(struct code_telling *telling)
{
	free(telling->section);
	telling->section = NULL;
}
