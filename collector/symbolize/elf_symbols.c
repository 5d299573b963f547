// SPDX-License-Identifier: Apache-2.0
/*
 * An ELF file's functions as one sorted array of 16 bytes each and one pool of names, so that
 * libelf's copy of the file can be freed. A name stays mangled until a caller asks for it: of a
 * libjvm's 50,000 functions a profile shows a few hundred.
 *
 * One file, because the array and the pool are nobody else's, and what a parser sends of them is
 * checked by what is said of them here.
 */
#include "symbolize/elf_symbols.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/map64.h"
#include "base/serial.h"
#include "elf/cfi_table.h"
#include "elf/elf_functions.h"
#include "elf/mini_debug.h"
#include "symbolize/demangle.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLT_SUFFIX	    "@plt"
#define MAX_NAME_BYTES	    (16u << 10)
#define MAX_DEMANGLED_BYTES 4096	/* of one name; longer names are of no use to a reader */
#define MAX_DEMANGLED_TOTAL (32u << 20) /* of one file; then names stay mangled */
#define PAGE_BYTES	    4096u	/* the smallest page of all machines */
#define MAX_NESTED	    32		/* functions between an address and its function */
#define LONG_FUNCTION_BYTES (16u << 10) /* hardly any function is longer */
#define MEAN_FUNCTION_BYTES 1024	/* more than the mean of any library */

struct entry {
	uint64_t elf_addr;
	uint32_t size;
	uint32_t name; /* offset in names */
};

struct elf_symbols {
	uint64_t serial;
	struct entry *entries; /* sorted by address, one for each address */
	size_t count;
	char *names;
	size_t names_bytes;
	struct elf_layout layout;
	struct elf_starts starts;
	struct map64 shown; /* index of an entry and style -> its demangled text */
	struct arena demangled;
	enum elf_symbols_source source;
	bool is_private;
	char soname[ELF_FILE_SONAME_BYTES];
	struct elf_symbols *debug; /* a debug file that came later, or NULL */
	unsigned mark;
};

/*
 * Orders by address, then the best name first. Equal ranks are ordered by place in the file, so
 * that results are always equal.
 */
static int compare(const void *left, const void *right)
{
	const struct elf_function *a = left, *b = right;

	if (a->elf_addr != b->elf_addr)
		return a->elf_addr < b->elf_addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/*
 * Keeps one function for each address, and drops labels inside of functions. A function without a
 * size gets all bytes up to the next function, also to one without a name: that one must not get
 * its name. Returns the number of functions that are left.
 */
static size_t select_functions(struct elf_function *functions, size_t count,
			       const struct elf_starts *starts)
{
	uint64_t covered_end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct elf_function *function = &functions[i];

		if (kept > 0 && functions[kept - 1].elf_addr == function->elf_addr)
			continue;
		if (function->is_label && function->size == 0 && function->elf_addr < covered_end)
			continue;
		if (function->elf_addr + function->size > covered_end)
			covered_end = function->elf_addr + function->size;
		functions[kept++] = *function;
	}
	for (size_t i = 0; i < kept; i++) {
		struct elf_function *function = &functions[i];
		const uint64_t gap =
			i + 1 < kept ? function[1].elf_addr - function->elf_addr : UINT64_MAX;
		uint64_t start;

		if (function->size != 0)
			continue;
		function->size = gap < function->room ? (uint32_t)gap : function->room;
		if (elf_starts_find_next(starts, function->elf_addr, &start) == 0 &&
		    start - function->elf_addr < function->size)
			function->size = (uint32_t)(start - function->elf_addr);
	}
	return kept;
}

/* The length without @VERSION, limited to what a reader would want to see. */
static size_t name_len(const char *name)
{
	const size_t len = strnlen(name, MAX_NAME_BYTES);
	const char *version = memchr(name, '@', len);

	return version ? (size_t)(version - name) : len;
}

static size_t suffix_len(const struct elf_function *function)
{
	return function->is_plt ? sizeof(PLT_SUFFIX) - 1 : 0;
}

/* Names that overlap in the file do not overlap in the pool, so the limit is checked here too. */
static int copy_names(struct elf_symbols *symbols, const struct elf_function *functions)
{
	size_t bytes = 0, at = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		bytes += name_len(functions[i].name) + suffix_len(&functions[i]) + 1;
		if (bytes > ELF_FILE_MAX_STRINGS_BYTES)
			return -EFBIG;
	}
	symbols->names = malloc(bytes);
	if (!symbols->names)
		return -ENOMEM;
	symbols->names_bytes = bytes;
	for (size_t i = 0; i < symbols->count; i++) {
		const size_t len = name_len(functions[i].name), more = suffix_len(&functions[i]);

		memcpy(symbols->names + at, functions[i].name, len);
		memcpy(symbols->names + at + len, PLT_SUFFIX, more);
		symbols->names[at + len + more] = '\0';
		symbols->entries[i].name = (uint32_t)at;
		at += len + more + 1;
	}
	return 0;
}

static int compile(struct elf_symbols *symbols, struct elf_functions *functions,
		   const struct elf_starts *starts)
{
	if (functions->count == 0)
		return 0;
	qsort(functions->items, functions->count, sizeof(*functions->items), compare);
	symbols->count = select_functions(functions->items, functions->count, starts);
	symbols->entries = malloc(symbols->count * sizeof(*symbols->entries));
	if (!symbols->entries)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->count; i++)
		symbols->entries[i] = (struct entry){
			.elf_addr = functions->items[i].elf_addr,
			.size = functions->items[i].size,
		};
	return copy_names(symbols, functions->items);
}

/* starts is borrowed. */
static int make(const struct elf_layout *layout, struct elf_functions *functions,
		const struct elf_starts *starts, struct elf_symbols **ret)
{
	struct elf_symbols *symbols = calloc(1, sizeof(*symbols));
	int err;

	if (!symbols)
		return -ENOMEM;
	symbols->serial = serial_next();
	symbols->layout = *layout;
	err = compile(symbols, functions, starts);
	if (err) {
		elf_symbols_free(symbols);
		return err;
	}
	*ret = symbols;
	return 0;
}

/* A mapped file and its debug file. Names of functions are borrowed from these. */
struct parts {
	int fd;
	struct elf_file file;
	int debug_fd;	  /* -1: none */
	char *mini_debug; /* NULL: none */
	struct elf_file debug;
	struct elf_functions functions;
	enum elf_symbols_source source;
	bool is_private; /* a debug file is in the target's root */
};

static void close_debug(struct parts *parts)
{
	elf_file_close(&parts->debug);
	if (parts->debug_fd >= 0)
		close(parts->debug_fd);
	free(parts->mini_debug);
	parts->debug_fd = -1;
	parts->mini_debug = NULL;
}

static void close_parts(struct parts *parts)
{
	elf_functions_fini(&parts->functions);
	close_debug(parts);
	elf_file_close(&parts->file);
}

/*
 * Takes the functions of the debug file, which has been opened unless err says otherwise. If the
 * debug file is broken or missing, the mapped file's own names are used.
 */
static int add_debug(struct parts *parts, int err, enum elf_symbols_source source)
{
	if (!err)
		err = elf_functions_add(&parts->functions, &parts->debug, &parts->file.layout,
					SHT_SYMTAB);
	if (parts->functions.count > 0) {
		parts->source = source;
		return 0;
	}
	close_debug(parts);
	return err == -ENOMEM ? err : 0;
}

static int add_mini_debug(struct parts *parts)
{
	size_t len;
	int err = mini_debug_unpack(&parts->file, &parts->mini_debug, &len);

	if (!err)
		err = elf_file_open_image(parts->mini_debug, len, &parts->debug);
	return add_debug(parts, err, ELF_SYMBOLS_MINI_DEBUG);
}

static int open_debug(struct parts *parts, const struct debug_place *place)
{
	return place ? debug_file_open(parts->fd, &parts->file, place, &parts->is_private)
		     : -ENOENT;
}

static int add_debug_file(struct parts *parts, const struct debug_place *place)
{
	const int fd = open_debug(parts, place);

	parts->debug_fd = fd < 0 ? -1 : fd;
	return add_debug(parts, fd < 0 ? fd : elf_file_open_debug(fd, &parts->debug),
			 ELF_SYMBOLS_DEBUG_FILE);
}

/*
 * Finds out whether the debug file is in the target's root. Its functions are not needed, but lines
 * may be read from the file later.
 */
static void note_debug(struct parts *parts, const struct debug_place *place)
{
	_cleanup_close_ int fd = open_debug(parts, place);

	(void)fd;
}

/* Reads the first source that has functions: .symtab, mini debug info, a debug file. */
static int add_static(struct parts *parts, const struct debug_place *place)
{
	const int err =
		elf_functions_add(&parts->functions, &parts->file, &parts->file.layout, SHT_SYMTAB);
	int debug_err;

	if (parts->functions.count > 0) {
		parts->source = ELF_SYMBOLS_SYMTAB;
		note_debug(parts, place);
		return 0;
	}
	debug_err = add_mini_debug(parts);
	if (!debug_err && parts->functions.count == 0)
		debug_err = add_debug_file(parts, place);
	else if (!debug_err)
		note_debug(parts, place);
	if (debug_err)
		return debug_err;
	return parts->functions.count > 0 ? 0 : err;
}

static int add_all(struct parts *parts, const struct debug_place *place)
{
	const int static_err = add_static(parts, place);
	const int dynamic_err =
		elf_functions_add(&parts->functions, &parts->file, &parts->file.layout, SHT_DYNSYM);
	const int err = static_err ? static_err : dynamic_err;

	if (parts->functions.count == 0 && err)
		return err;
	if (parts->source == ELF_SYMBOLS_NONE && parts->functions.count > 0)
		parts->source = ELF_SYMBOLS_DYNSYM;
	return elf_functions_add_plt(&parts->functions, &parts->file) == -ENOMEM ? -ENOMEM : 0;
}

/*
 * Whether functions are so few for their code, and so far from each other, that some are missing.
 */
static bool lacks_functions(const struct elf_layout *layout, const struct elf_starts *starts)
{
	uint64_t code_bytes = 0, longest = 0;

	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];
		const uint64_t bytes = segment->is_executable ? segment->file_bytes : 0;
		const uint64_t of_segment = elf_starts_longest(starts, segment->elf_addr, bytes);

		code_bytes += bytes;
		if (of_segment > longest)
			longest = of_segment;
	}
	return longest > LONG_FUNCTION_BYTES &&
	       code_bytes / (starts->count + 1) > MEAN_FUNCTION_BYTES;
}

/*
 * Starts of functions are optional: without starts, code without symbols has less exact names.
 * Where .eh_frame has none for much of the code, the code itself is looked at.
 */
static void load_starts(const struct parts *parts, struct elf_starts *ret)
{
	struct elf_starts more;

	if (elf_starts_load(parts->fd, &parts->file.layout.eh_frame_hdr, ret) < 0 &&
	    elf_starts_scan(parts->fd, &parts->file, ret) < 0)
		*ret = (struct elf_starts){0};
	if (lacks_functions(&parts->file.layout, ret) &&
	    cfi_table_find_starts(parts->fd, &parts->file, &more) == 0)
		(void)elf_starts_merge(ret, &more);
}

int elf_symbols_load(int fd, const struct debug_place *place, struct elf_symbols **ret)
{
	struct parts parts = {.fd = fd, .debug_fd = -1};
	struct elf_starts starts = {0};
	int err = elf_file_open(fd, &parts.file);

	if (err)
		return err;
	err = add_all(&parts, place);
	if (!err) {
		load_starts(&parts, &starts);
		err = make(&parts.file.layout, &parts.functions, &starts, ret);
	}
	if (err) {
		elf_starts_fini(&starts);
	} else {
		(*ret)->source = parts.source;
		(*ret)->is_private = parts.is_private;
		elf_file_read_soname(&parts.file, (*ret)->soname);
		(*ret)->starts = starts;
	}
	close_parts(&parts);
	return err;
}

int elf_symbols_make(const struct elf_layout *layout, struct elf_functions *functions,
		     struct elf_starts *starts, const char *soname, struct elf_symbols **ret)
{
	const int err = make(layout, functions, starts, ret);

	if (err) {
		elf_starts_fini(starts);
		return err;
	}
	(*ret)->starts = *starts;
	(*ret)->source = functions->count > 0 ? ELF_SYMBOLS_SYMTAB : ELF_SYMBOLS_NONE;
	snprintf((*ret)->soname, sizeof((*ret)->soname), "%s", soname);
	return 0;
}

int elf_symbols_load_debug(int fd, const struct elf_layout *layout, struct elf_symbols **ret)
{
	static const struct elf_starts no_starts;
	struct elf_functions functions = {0};
	struct elf_file file;
	int err = elf_file_open_debug(fd, &file);

	if (err)
		return err;
	err = elf_functions_add(&functions, &file, layout, SHT_SYMTAB);
	if (!err)
		err = functions.count > 0 ? make(layout, &functions, &no_starts, ret) : -ENOENT;
	if (!err)
		(*ret)->source = ELF_SYMBOLS_DEBUG_FILE;
	elf_functions_fini(&functions);
	elf_file_close(&file);
	return err;
}

/* What precedes the arrays of a flat table: entries, names, starts. */
struct head {
	struct elf_layout layout;
	uint64_t count, names_bytes, starts_base, starts_count;
	uint32_t source;
	char soname[ELF_FILE_SONAME_BYTES];
};

void elf_symbols_flatten(const struct elf_symbols *symbols, struct flat_writer *writer)
{
	struct head head = {.layout = symbols->layout,
			    .count = symbols->count,
			    .names_bytes = symbols->names_bytes,
			    .starts_base = symbols->starts.base,
			    .starts_count = symbols->starts.count,
			    .source = symbols->source};

	memcpy(head.soname, symbols->soname, sizeof(head.soname));
	flat_write(writer, &head, sizeof(head));
	flat_write(writer, symbols->entries, symbols->count * sizeof(*symbols->entries));
	flat_write(writer, symbols->names, symbols->names_bytes);
	flat_write(writer, symbols->starts.offsets,
		   symbols->starts.count * sizeof(*symbols->starts.offsets));
}

/* Entries rise, and their names lie one behind the other, as copy_names puts them. */
static bool are_entries_sound(const struct elf_symbols *symbols)
{
	size_t at = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct entry *const entry = &symbols->entries[i];
		const size_t room = symbols->names_bytes - at;
		const size_t len = room > 0 ? strnlen(symbols->names + at, room) : 0;

		if (entry->name != at || len == room || len > MAX_NAME_BYTES + sizeof(PLT_SUFFIX) ||
		    (i > 0 && entry->elf_addr <= entry[-1].elf_addr))
			return false;
		at += len + 1;
	}
	return at == symbols->names_bytes;
}

static bool are_starts_sound(const struct elf_starts *starts)
{
	for (size_t i = 1; i < starts->count; i++) {
		if (starts->offsets[i] < starts->offsets[i - 1])
			return false;
	}
	return true;
}

static void read_arrays(struct flat_reader *reader, const struct head *head,
			struct elf_symbols *symbols)
{
	symbols->entries = flat_read_array(reader, head->count, sizeof(*symbols->entries),
					   ELF_FILE_MAX_SYMBOLS);
	symbols->names = flat_read_array(reader, head->names_bytes, 1, ELF_FILE_MAX_STRINGS_BYTES);
	symbols->starts.offsets = flat_read_array(reader, head->starts_count,
						  sizeof(*symbols->starts.offsets), ELF_STARTS_MAX);
	if (reader->err)
		return;
	symbols->count = (size_t)head->count;
	symbols->names_bytes = (size_t)head->names_bytes;
	symbols->starts.base = head->starts_base;
	symbols->starts.count = (size_t)head->starts_count;
	if (!are_entries_sound(symbols) || !are_starts_sound(&symbols->starts))
		reader->err = -EBADMSG;
}

int elf_symbols_restore(struct flat_reader *reader, bool is_private, struct elf_symbols **ret)
{
	struct elf_symbols *symbols = calloc(1, sizeof(*symbols));
	struct head head;

	if (!symbols)
		return -ENOMEM;
	flat_read(reader, &head, sizeof(head));
	if (!reader->err &&
	    (!elf_layout_is_sound(&head.layout) || head.source > ELF_SYMBOLS_SYMTAB ||
	     !memchr(head.soname, '\0', sizeof(head.soname))))
		reader->err = -EBADMSG;
	read_arrays(reader, &head, symbols);
	if (reader->err) {
		elf_symbols_free(symbols);
		return reader->err;
	}
	symbols->serial = serial_next();
	symbols->layout = head.layout;
	symbols->source = (enum elf_symbols_source)head.source;
	symbols->is_private = is_private;
	memcpy(symbols->soname, head.soname, sizeof(symbols->soname));
	*ret = symbols;
	return 0;
}

void elf_symbols_take_debug(struct elf_symbols *symbols, struct elf_symbols *debug)
{
	elf_symbols_free(symbols->debug);
	symbols->debug = debug;
	symbols->source = debug->source;
	symbols->serial = serial_next();
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	map64_fini(&symbols->shown);
	arena_fini(&symbols->demangled);
	elf_starts_fini(&symbols->starts);
	elf_symbols_free(symbols->debug);
	free(symbols->entries);
	free(symbols->names);
	free(symbols);
}

int elf_symbols_addr_of(const struct elf_symbols *symbols, uint64_t file_off,
			uint64_t *ret_elf_addr)
{
	return elf_layout_addr_of(&symbols->layout, file_off, ret_elf_addr);
}

/*
 * Finds the entry that holds elf_addr. The entry that starts next below may end before elf_addr,
 * inside of a larger entry.
 */
static const struct entry *find_entry(const struct elf_symbols *symbols, uint64_t elf_addr)
{
	const size_t low =
		ARRAY_COUNT_BELOW(0, symbols->count, i, symbols->entries[i].elf_addr <= elf_addr);

	for (size_t i = low; i > 0 && low - i < MAX_NESTED; i--) {
		const struct entry *entry = &symbols->entries[i - 1];

		if (elf_addr - entry->elf_addr < entry->size)
			return entry;
	}
	return NULL;
}

/* Returns the linker's name if memory is out. */
static const char *show(struct elf_symbols *symbols, const struct entry *entry,
			enum demangle_style style)
{
	const char *name = symbols->names + entry->name, *text = name;
	const uint64_t key = (uint64_t)(entry - symbols->entries) * DEMANGLE_STYLES + style;
	char buf[MAX_DEMANGLED_BYTES];
	const char *known;
	size_t len;

	if (!demangle_is_candidate(name))
		return name;
	known = map64_find(&symbols->shown, key);
	if (known)
		return known;
	if (symbols->demangled.total_bytes >= MAX_DEMANGLED_TOTAL)
		return name;
	len = demangle_name(name, style, buf, sizeof(buf));
	if (len > 0)
		text = arena_copy(&symbols->demangled, buf, len);
	if (!text)
		return name;
	/* If the text is not remembered, it is made again the next time, up to the limit above. */
	(void)map64_put(&symbols->shown, key, (void *)text);
	return text;
}

const char *elf_symbols_find(struct elf_symbols *symbols, uint64_t elf_addr, uint64_t *ret_offset)
{
	const struct entry *entry;
	const char *name = NULL;

	if (symbols->debug)
		name = elf_symbols_find(symbols->debug, elf_addr, ret_offset);
	if (name)
		return name;
	entry = find_entry(symbols, elf_addr);
	if (!entry)
		return NULL;
	*ret_offset = elf_addr - entry->elf_addr;
	return show(symbols, entry, DEMANGLE_PLAIN);
}

const char *elf_symbols_find_linker_name(const struct elf_symbols *symbols, uint64_t elf_addr,
					 uint64_t *ret_offset)
{
	const struct entry *entry;
	const char *name = NULL;

	if (symbols->debug)
		name = elf_symbols_find_linker_name(symbols->debug, elf_addr, ret_offset);
	if (name)
		return name;
	entry = find_entry(symbols, elf_addr);
	if (!entry)
		return NULL;
	*ret_offset = elf_addr - entry->elf_addr;
	return symbols->names + entry->name;
}

int elf_symbols_find_start_of(struct elf_symbols *symbols, const char *name, uint64_t addr,
			      uint64_t *ret_elf_addr)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct entry *const entry = &symbols->entries[i];

		if ((entry->elf_addr ^ addr) % PAGE_BYTES != 0 ||
		    (strcmp(symbols->names + entry->name, name) != 0 &&
		     strcmp(show(symbols, entry, DEMANGLE_PLAIN), name) != 0 &&
		     strcmp(show(symbols, entry, DEMANGLE_FULL), name) != 0))
			continue;
		*ret_elf_addr = entry->elf_addr;
		return 0;
	}
	return symbols->debug ? elf_symbols_find_start_of(symbols->debug, name, addr, ret_elf_addr)
			      : -ENOENT;
}

enum elf_symbols_source elf_symbols_source(const struct elf_symbols *symbols)
{
	return symbols->source;
}

const struct elf_layout *elf_symbols_layout(const struct elf_symbols *symbols)
{
	return &symbols->layout;
}

int elf_symbols_find_start(const struct elf_symbols *symbols, uint64_t elf_addr,
			   uint64_t *ret_elf_addr)
{
	return elf_starts_find(&symbols->starts, elf_addr, ret_elf_addr);
}

unsigned *elf_symbols_mark(struct elf_symbols *symbols)
{
	return &symbols->mark;
}

uint64_t elf_symbols_serial(const struct elf_symbols *symbols)
{
	return symbols->serial;
}

const unsigned char *elf_symbols_build_id(const struct elf_symbols *symbols, size_t *ret_len)
{
	*ret_len = symbols->layout.build_id_len;
	return symbols->layout.build_id;
}

const char *elf_symbols_soname(const struct elf_symbols *symbols)
{
	return symbols->soname;
}

bool elf_symbols_is_private(const struct elf_symbols *symbols)
{
	return symbols->is_private;
}

bool elf_symbols_equal(const struct elf_symbols *a, const struct elf_symbols *b)
{
	if (a->is_private || b->is_private || a->count != b->count ||
	    a->names_bytes != b->names_bytes || a->starts.count != b->starts.count ||
	    !elf_layout_equal(&a->layout, &b->layout) || strcmp(a->soname, b->soname) != 0)
		return false;
	if (a->starts.count > 0 && memcmp(a->starts.offsets, b->starts.offsets,
					  a->starts.count * sizeof(*a->starts.offsets)) != 0)
		return false;
	return a->count == 0 ||
	       (memcmp(a->entries, b->entries, a->count * sizeof(*a->entries)) == 0 &&
		memcmp(a->names, b->names, a->names_bytes) == 0);
}

size_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->count;
}

size_t elf_symbols_bytes(const struct elf_symbols *symbols)
{
	return (symbols->debug ? elf_symbols_bytes(symbols->debug) : 0) + sizeof(*symbols) +
	       symbols->count * sizeof(*symbols->entries) + symbols->names_bytes +
	       symbols->starts.count * sizeof(*symbols->starts.offsets) +
	       symbols->shown.size * sizeof(*symbols->shown.slots) + symbols->demangled.total_bytes;
}
