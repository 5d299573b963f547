// SPDX-License-Identifier: Apache-2.0
/* Follows a JVM's list of threads to their names, see thread_names.h. */
#include "vm/thread_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD	       8
#define BATCH	       1024 /* JavaThreads that are looked at together */
#define HIGHEST_ADDR   (UINT64_C(1) << 47)
#define REMAPPED       12 /* one of these four bits says by how much a reference is shifted */
#define REMAPPED_MAX   16
#define NARROW_MAX     3
#define COMPACT_HEADER 8 /* of an object: then of an array, too, and its length is behind */
#define MAX_TEXT_BYTES ((size_t)2 * THREAD_NAME_BYTES + sizeof(uint32_t))

/* ---- the layout ---- */

static bool small(const struct vm_tables *tables, const char *key, uint32_t *ret)
{
	return vm_tables_small(tables, key, VM_TABLES_MAX_OFFSET, ret);
}

static bool find_list(struct thread_layout *layout, const struct vm_tables *tables)
{
	int64_t list;

	if (vm_tables_value(tables, "ThreadsSMRSupport::_java_thread_list", &list)) {
		layout->list = (uint64_t)list;
		return small(tables, "ThreadsList::_length", &layout->list_len) &&
		       small(tables, "ThreadsList::_threads", &layout->list_threads);
	}
	layout->is_linked = true;
	layout->list = tables->own[VM_OWN_THREADS];
	return layout->list != 0 && vm_tables_own(tables, VM_OWN_NEXT_THREAD, &layout->next);
}

static bool find_members(struct thread_layout *layout, const struct vm_tables *tables)
{
	layout->is_handle = tables->thread_object_is_handle;
	return find_list(layout, tables) &&
	       (small(tables, "Thread::_osthread", &layout->os_thread) ||
		small(tables, "JavaThread::_osthread", &layout->os_thread)) &&
	       small(tables, "OSThread::_thread_id", &layout->thread_id) &&
	       small(tables, "JavaThread::_threadObj", &layout->object) &&
	       (!layout->is_handle || vm_tables_own(tables, VM_OWN_HANDLE, &layout->handle));
}

/* A value behind a static's address; what cannot be read is 0. */
static uint64_t value_of(struct vm_memory *memory, const struct vm_tables *tables,
			 const char *const keys[2], enum vm_own_value own, size_t bytes)
{
	uint64_t value = 0;
	int64_t at = 0;

	if (!vm_tables_value(tables, keys[0], &at) && !vm_tables_value(tables, keys[1], &at))
		at = (int64_t)tables->own[own];
	if (at != 0 && vm_memory_get(memory, (uint64_t)at, &value, bytes) < 0)
		value = 0;
	return value;
}

static void find_narrow(struct thread_layout *layout, struct vm_memory *memory,
			const struct vm_tables *tables)
{
	static const char *const base[] = {"CompressedOops::_base",
					   "CompressedOops::_narrow_oop._base"};
	static const char *const shift[] = {"CompressedOops::_shift",
					    "CompressedOops::_narrow_oop._shift"};

	layout->narrow_base = value_of(memory, tables, base, VM_OWN_NARROW_BASE, WORD);
	layout->narrow_shift =
		(uint32_t)value_of(memory, tables, shift, VM_OWN_NARROW_SHIFT, sizeof(uint32_t));
	if (layout->narrow_shift > NARROW_MAX)
		layout->narrow_shift = NARROW_MAX;
}

/* A mask of colours is there in every JVM, and is 0 without the collector. */
static bool is_coloured(struct vm_memory *memory, const struct vm_tables *tables)
{
	uint64_t at, mask = 0;
	int64_t instance;
	uint32_t member;

	return vm_tables_value(tables, "ZGlobalsForVMStructs::_instance_p", &instance) &&
	       small(tables, "ZGlobalsForVMStructs::_ZPointerLoadBadMask", &member) &&
	       vm_memory_get(memory, (uint64_t)instance, &at, sizeof(at)) == 0 &&
	       vm_memory_get(memory, at + member, &at, sizeof(at)) == 0 &&
	       vm_memory_get(memory, at, &mask, sizeof(mask)) == 0 && mask != 0;
}

static int find_class(struct vm_memory *memory, const struct vm_tables *tables,
		      enum vm_own_value own, uint64_t *ret)
{
	if (tables->own[own] == 0)
		return -ENOTSUP;
	return vm_memory_get(memory, tables->own[own], ret, sizeof(*ret));
}

static int find_fields(struct thread_layout *layout, struct vm_memory *memory,
		       const struct vm_tables *tables)
{
	struct java_field name = {.name = "name", .type = "Ljava/lang/String;"};
	struct java_field text[] = {
		{.name = "value", .type = "[B"},
		{.name = "coder", .type = "B"},
		{.name = "value", .type = "[C"},
	};
	struct java_fields_layout fields;
	struct java_fields_form thread, string;
	uint64_t klass = 0;
	int err = java_fields_layout_init(&fields, tables) ? 0 : -ENOTSUP;

	if (!err)
		err = find_class(memory, tables, VM_OWN_THREAD_KLASS, &klass);
	if (!err)
		err = java_fields_find(memory, &fields, klass, &name, 1, &thread);
	if (!err)
		err = find_class(memory, tables, VM_OWN_STRING_KLASS, &klass);
	if (!err)
		err = java_fields_find(memory, &fields, klass, text, 3, &string);
	if (err)
		return err;
	layout->name = name.at;
	layout->value = text[0].at ? text[0].at : text[2].at;
	layout->coder = text[0].at ? text[1].at : 0;
	layout->reference_bytes = thread.reference_bytes == 4 ? 4 : 8;
	layout->array_len = string.first;
	return name.at && layout->value ? 0 : -EPROTO;
}

int thread_layout_init(struct thread_layout *layout, struct vm_memory *memory,
		       const struct vm_tables *tables)
{
	int err;

	*layout = (struct thread_layout){0};
	if (!find_members(layout, tables))
		return -ENOTSUP;
	find_narrow(layout, memory, tables);
	layout->is_coloured = is_coloured(memory, tables);
	err = find_fields(layout, memory, tables);
	layout->is_valid = !err;
	return err;
}

/* ---- reading ---- */

/* What is known of one thread that is wanted. */
struct wanted {
	uint32_t tid;
	uint64_t at; /* where the next step reads; 0: the way has ended */
	uint64_t value;
	uint64_t text; /* the String's array */
	uint8_t coder;
	uint32_t chars;
};

struct search {
	struct vm_memory *memory;
	const struct thread_layout *layout;
	struct wanted wanted[THREAD_NAMES_MAX];
	size_t n; /* of wanted threads, found ones first */
	size_t n_found;
	uint64_t *threads; /* JavaThreads */
	size_t n_threads;
	struct vm_piece pieces[BATCH];
	uint64_t words[BATCH];
	uint8_t texts[THREAD_NAMES_MAX][MAX_TEXT_BYTES];
};

static bool is_addr(uint64_t addr)
{
	return addr != 0 && addr < HIGHEST_ADDR;
}

/* The address in a reference, by itself or by its colours. */
static uint64_t uncoloured(const struct thread_layout *layout, uint64_t reference)
{
	if (!layout->is_coloured)
		return reference;
	for (uint32_t bit = REMAPPED; bit < REMAPPED_MAX; bit++) {
		if (reference >> bit & 1)
			return reference >> (bit + 1);
	}
	return 0;
}

static uint64_t decoded(const struct thread_layout *layout, uint64_t reference)
{
	if (layout->reference_bytes == 8)
		return uncoloured(layout, reference);
	return reference ? layout->narrow_base + (reference << layout->narrow_shift) : 0;
}

/* Reads bytes of each found thread at its place, into value; who has none there is left out. */
static void read_values(struct search *search, uint32_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n_found; i++) {
		search->wanted[i].value = 0;
		search->pieces[n++] = (struct vm_piece){.addr = search->wanted[i].at,
							.into = &search->wanted[i].value,
							.len = bytes};
	}
	vm_memory_gather(search->memory, search->pieces, n);
	n = 0;
	for (size_t i = 0; i < search->n_found; i++) {
		if (search->pieces[i].is_read)
			search->wanted[n++] = search->wanted[i];
	}
	search->n_found = n;
}

/* Goes on to where the values lead, and a member there. */
static void follow(struct search *search, bool is_reference, uint32_t member)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n_found; i++) {
		struct wanted *const wanted = &search->wanted[i];
		const uint64_t addr =
			is_reference ? decoded(search->layout, wanted->value) : wanted->value;

		if (!is_addr(addr))
			continue;
		wanted->at = addr + member;
		search->wanted[n++] = *wanted;
	}
	search->n_found = n;
}

/* ---- the list ---- */

static int read_array(struct search *search, uint64_t list)
{
	const struct thread_layout *const layout = search->layout;
	uint64_t threads = 0;
	uint32_t len = 0;
	int err = vm_memory_get(search->memory, list + layout->list_len, &len, sizeof(len));

	if (!err)
		err = vm_memory_get(search->memory, list + layout->list_threads, &threads,
				    sizeof(threads));
	if (err || len == 0)
		return err;
	search->n_threads = len < THREAD_NAMES_MAX_THREADS ? len : THREAD_NAMES_MAX_THREADS;
	return vm_memory_get(search->memory, threads, search->threads,
			     search->n_threads * sizeof(*search->threads));
}

/* A list that changes may lead in a circle, and has an end all the same. */
static int read_linked(struct search *search, uint64_t thread)
{
	int err = 0;

	while (!err && is_addr(thread) && search->n_threads < THREAD_NAMES_MAX_THREADS / 4) {
		search->threads[search->n_threads++] = thread;
		err = vm_memory_get(search->memory, thread + search->layout->next, &thread,
				    sizeof(thread));
	}
	return err;
}

static int read_list(struct search *search)
{
	uint64_t list = 0;
	int err = vm_memory_get(search->memory, search->layout->list, &list, sizeof(list));

	if (err || !is_addr(list))
		return err;
	return search->layout->is_linked ? read_linked(search, list) : read_array(search, list);
}

/* Reads what each of n JavaThreads has at a member, or at what the words before lead to. */
static void read_words(struct search *search, const uint64_t *from, uint32_t member, size_t n,
		       uint32_t bytes)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t addr = is_addr(from[i]) ? from[i] + member : 0;

		search->pieces[i] =
			(struct vm_piece){.addr = addr, .into = &search->words[i], .len = bytes};
	}
	for (size_t i = 0; i < n; i++)
		search->words[i] = 0;
	vm_memory_gather(search->memory, search->pieces, n);
}

static void take_thread(struct search *search, uint32_t tid, uint64_t thread)
{
	for (size_t i = search->n_found; i < search->n; i++) {
		const struct wanted found = {.tid = tid, .at = thread + search->layout->object};

		if (search->wanted[i].tid != tid)
			continue;
		search->wanted[i] = search->wanted[search->n_found];
		search->wanted[search->n_found++] = found;
		return;
	}
}

/* Finds the JavaThreads of those that are wanted. */
static void find_threads(struct search *search)
{
	uint64_t os_threads[BATCH];

	for (size_t at = 0; at < search->n_threads && search->n_found < search->n; at += BATCH) {
		const size_t left = search->n_threads - at, n = left < BATCH ? left : BATCH;

		read_words(search, search->threads + at, search->layout->os_thread, n, WORD);
		memcpy(os_threads, search->words, n * sizeof(*os_threads));
		read_words(search, os_threads, search->layout->thread_id, n, sizeof(uint32_t));
		for (size_t i = 0; i < n; i++) {
			if (search->words[i] != 0)
				take_thread(search, (uint32_t)search->words[i],
					    search->threads[at + i]);
		}
	}
}

/* ---- names ---- */

/* From a JavaThread to the String. */
static void follow_to_strings(struct search *search)
{
	const struct thread_layout *const layout = search->layout;

	read_values(search, WORD);
	if (layout->is_handle) {
		follow(search, false, layout->handle);
		read_values(search, WORD);
	}
	/* A reference outside of objects has eight bytes in any case. */
	for (size_t i = 0; i < search->n_found; i++)
		search->wanted[i].value = uncoloured(layout, search->wanted[i].value);
	follow(search, false, layout->name);
	read_values(search, layout->reference_bytes);
	follow(search, true, 0);
}

static void read_coders(struct search *search)
{
	for (size_t i = 0; i < search->n_found; i++) {
		search->wanted[i].text = search->wanted[i].at;
		search->wanted[i].at += search->layout->coder;
		search->wanted[i].coder = 1;
	}
	if (!search->layout->coder)
		return;
	read_values(search, sizeof(uint8_t));
	for (size_t i = 0; i < search->n_found; i++)
		search->wanted[i].coder = (uint8_t)search->wanted[i].value;
}

static size_t text_bytes(const struct wanted *wanted)
{
	return (size_t)wanted->chars << (wanted->coder ? 1 : 0);
}

/*
 * From the Strings to their arrays, whose lengths are where an object's first field is. Of the text
 * no more is wanted than what a name may have.
 */
static void follow_to_arrays(struct search *search)
{
	const struct thread_layout *const layout = search->layout;

	for (size_t i = 0; i < search->n_found; i++)
		search->wanted[i].at = search->wanted[i].text + layout->value;
	read_values(search, layout->reference_bytes);
	follow(search, true, layout->array_len);
	for (size_t i = 0; i < search->n_found; i++)
		search->wanted[i].text = search->wanted[i].at;
	read_values(search, sizeof(uint32_t));
	for (size_t i = 0; i < search->n_found; i++) {
		struct wanted *const wanted = &search->wanted[i];
		const uint32_t bytes_a_char = layout->coder && wanted->coder ? 2 : 1;

		wanted->chars = (uint32_t)wanted->value / bytes_a_char;
		if (wanted->chars > THREAD_NAME_BYTES)
			wanted->chars = THREAD_NAME_BYTES;
	}
}

/*
 * The elements are right behind the length. Where an object's class has a whole word, JDKs before
 * 23 leave four bytes free there.
 */
static size_t free_bytes(const struct thread_layout *layout)
{
	return layout->array_len % WORD == 0 && layout->array_len != COMPACT_HEADER
		       ? sizeof(uint32_t)
		       : 0;
}

static void read_texts(struct search *search)
{
	const size_t more = free_bytes(search->layout);

	for (size_t i = 0; i < search->n_found; i++)
		search->pieces[i] = (struct vm_piece){
			.addr = search->wanted[i].text + sizeof(uint32_t),
			.into = search->texts[i],
			.len = (uint32_t)(text_bytes(&search->wanted[i]) + more),
		};
	vm_memory_gather(search->memory, search->pieces, search->n_found);
}

static const uint8_t *text_of(const struct search *search, size_t i)
{
	static const uint8_t zeros[sizeof(uint32_t)];
	const size_t more = free_bytes(search->layout);

	return search->texts[i] + (memcmp(search->texts[i], zeros, more) == 0 ? more : 0);
}

/* Writes a character of UTF-16 in modified UTF-8; returns the number of bytes. */
static size_t encode(uint32_t c, char *ret)
{
	if (c != 0 && c < 0x80) {
		ret[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		ret[0] = (char)(0xc0 | c >> 6);
		ret[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	ret[0] = (char)(0xe0 | c >> 12);
	ret[1] = (char)(0x80 | (c >> 6 & 0x3f));
	ret[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

static size_t write_name(const struct wanted *wanted, const uint8_t *text,
			 char ret[THREAD_NAME_BYTES + 1])
{
	size_t len = 0;

	for (uint32_t i = 0; i < wanted->chars && len + 3 <= THREAD_NAME_BYTES; i++) {
		uint16_t c = text[i];

		if (wanted->coder)
			memcpy(&c, text + (size_t)i * sizeof(c), sizeof(c));
		len += encode(c, ret + len);
	}
	ret[len] = '\0';
	return len;
}

static void take_names(const struct search *search, thread_names_fn take, void *arg)
{
	char name[THREAD_NAME_BYTES + 1];

	for (size_t i = 0; i < search->n_found; i++) {
		const struct wanted *const wanted = &search->wanted[i];

		if (search->pieces[i].is_read && wanted->chars > 0)
			take(arg, wanted->tid, name, write_name(wanted, text_of(search, i), name));
	}
}

int thread_names_read(struct vm_memory *memory, const struct thread_layout *layout,
		      const uint32_t *tids, size_t n, thread_names_fn take, void *arg)
{
	struct search *const search = n > 0 ? calloc(1, sizeof(*search)) : NULL;
	int err;

	if (n == 0)
		return 0;
	if (!search)
		return -ENOMEM;
	search->memory = memory;
	search->layout = layout;
	search->n = n < THREAD_NAMES_MAX ? n : THREAD_NAMES_MAX;
	for (size_t i = 0; i < search->n; i++)
		search->wanted[i].tid = tids[i];
	search->threads = calloc(THREAD_NAMES_MAX_THREADS, sizeof(*search->threads));
	err = search->threads ? read_list(search) : -ENOMEM;
	if (!err) {
		find_threads(search);
		follow_to_strings(search);
		read_coders(search);
		follow_to_arrays(search);
		read_texts(search);
		take_names(search, take, arg);
	}
	free(search->threads);
	free(search);
	return err;
}
