// SPDX-License-Identifier: Apache-2.0
/*
 * Libraries made by the host's compiler, whole, stripped and broken in every way that the reader
 * claims to stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/elf_symbols.h"
#include "fixture.h"

#define BUILD_ID "0123456789abcdef"

/* What is without a symbol behind fixture_code is in the same segment, and nobody's. */
static const char c_source[] =
	"int first(int x) { return x * 3 + 1; }\n"
	"static __attribute__((noinline)) int hidden(int x) { return x / 7; }\n"
	"int second(int x) { return hidden(x) + 1; }\n"
	"#define GLOBAL(n) \".globl \" #n \"\\n\"\n"
	"#define FUNC(n) \".type \" #n \", @function\\n\"\n"
	"#define SIZE(n, s) \".size \" #n \", \" #s \"\\n\"\n"
	"__asm__(\".pushsection fixture_code,\\\"ax\\\",@progbits\\n\"\n"
	"GLOBAL(unsized) FUNC(unsized) \"unsized: .skip 32\\n\"\n"
	"GLOBAL(sized) FUNC(sized) \"sized: .skip 16\\n\" SIZE(sized, 8)\n"
	"FUNC(outer) \"outer: .skip 16\\n\"\n"
	"FUNC(inner) \"inner: .skip 16\\n\" SIZE(inner, 16) \".skip 32\\n\" SIZE(outer, 64)\n"
	"FUNC(holder) \"holder: .skip 16\\n inside: .skip 16\\n\" SIZE(holder, 32)\n"
	"\"lone: .skip 16\\n marker: .skip 16\\n\"\n"
	"\"local_alias:\\n\" FUNC(local_alias)\n"
	"\".weak weak_alias\\n weak_alias:\\n\" FUNC(weak_alias)\n"
	"GLOBAL(__global_alias) FUNC(__global_alias) \"__global_alias:\\n\"\n"
	"GLOBAL(global_alias) FUNC(global_alias) \"global_alias: .skip 16\\n\"\n"
	"SIZE(local_alias, 16) SIZE(weak_alias, 16) SIZE(__global_alias, 16)\n"
	"SIZE(global_alias, 16)\n"
	"FUNC(nameXVERSION) \"nameXVERSION: .skip 16\\n\" SIZE(nameXVERSION, 16)\n"
	"FUNC(last) \"last: .skip 16\\n\"\n"
	"\".section fixture_behind,\\\"ax\\\",@progbits\\n .skip 64\\n\"\n"
	"\".popsection\");\n";

static const char cxx_source[] =
	"struct Compiler { int run(const char *what, long n); template <class T> T get(T t); };\n"
	"int Compiler::run(const char *what, long n) { return what[n]; }\n"
	"template <class T> T Compiler::get(T t) { return t * 3; }\n"
	"template int Compiler::get<int>(int);\n";

static char *c_path;		     /* NULL: no compiler */
static struct fixture_bytes c_bytes; /* of c_path */

static int make_fixtures(void **state)
{
	if (!fixture_has_compiler())
		return 0;
	c_path = fixture_new_library("c", c_source,
				     "-Wl,--build-id=0x" BUILD_ID ",-soname,libc-fixture.so.3");
	c_bytes = fixture_read(c_path);
	return 0;
}

static int remove_fixtures(void **state)
{
	free(c_path);
	free(c_bytes.data);
	return fixture_remove_all(state);
}

/* A copy to be broken. */
static struct fixture_bytes copy_fixture(void)
{
	struct fixture_bytes copy = {.data = malloc(c_bytes.len), .len = c_bytes.len};

	assert_non_null(copy.data);
	memcpy(copy.data, c_bytes.data, c_bytes.len);
	return copy;
}

static Elf64_Ehdr *header_of(const struct fixture_bytes *bytes)
{
	return (void *)bytes->data;
}

static Elf64_Shdr *section_of(const struct fixture_bytes *bytes, uint32_t type)
{
	const Elf64_Ehdr *header = header_of(bytes);
	Elf64_Shdr *sections = (void *)(bytes->data + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type == type)
			return &sections[i];
	}
	fail_msg("no section of type %u", type);
	return NULL;
}

static Elf64_Shdr *strings_of(const struct fixture_bytes *bytes, const Elf64_Shdr *table)
{
	return (Elf64_Shdr *)(void *)(bytes->data + header_of(bytes)->e_shoff) + table->sh_link;
}

static Elf64_Sym *symbol_of(const struct fixture_bytes *bytes, const char *name)
{
	const Elf64_Shdr *table = section_of(bytes, SHT_SYMTAB);
	const char *strings = (char *)bytes->data + strings_of(bytes, table)->sh_offset;
	Elf64_Sym *symbols = (void *)(bytes->data + table->sh_offset);

	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		if (strcmp(strings + symbols[i].st_name, name) == 0)
			return &symbols[i];
	}
	fail_msg("no symbol %s", name);
	return NULL;
}

static char *name_of(const struct fixture_bytes *bytes, const char *name)
{
	return (char *)bytes->data + strings_of(bytes, section_of(bytes, SHT_SYMTAB))->sh_offset +
	       symbol_of(bytes, name)->st_name;
}

/* "name+offset" or "-" of what stands offset behind the symbol called symbol. */
static void assert_at(const struct fixture_bytes *bytes, const char *symbol, uint64_t offset,
		      const char *expected)
{
	const uint64_t addr = symbol_of(&c_bytes, symbol)->st_value + offset;
	struct elf_symbols *symbols;
	char found[256] = "-";
	const char *name;
	uint64_t at;

	assert_int_equal(fixture_load_bytes(bytes->data, bytes->len, &symbols), 0);
	name = elf_symbols_find(symbols, addr, &at);
	if (name)
		snprintf(found, sizeof(found), "%s+%u", name, (unsigned)at);
	assert_string_equal(found, expected);
	elf_symbols_free(symbols);
}

/* Loading the broken copy is expected, and has given so many symbols. Frees the copy. */
static size_t assert_loads(struct fixture_bytes *broken, int expected)
{
	struct elf_symbols *symbols = NULL;
	size_t count = 0;

	assert_int_equal(fixture_load_bytes(broken->data, broken->len, &symbols), expected);
	if (symbols)
		count = elf_symbols_count(symbols);
	elf_symbols_free(symbols);
	free(broken->data);
	return count;
}

static void functions_are_found_with_their_offset(void **state)
{
	fixture_need_compiler();
	assert_at(&c_bytes, "first", 0, "first+0");
	assert_at(&c_bytes, "second", 1, "second+1");
	assert_at(&c_bytes, "hidden", 2, "hidden+2");
}

static void a_gap_behind_a_sized_function_is_nobodys(void **state)
{
	fixture_need_compiler();
	assert_at(&c_bytes, "sized", 7, "sized+7");
	assert_at(&c_bytes, "sized", 8, "-");
}

static void an_unsized_function_ends_at_the_next_or_with_its_section(void **state)
{
	fixture_need_compiler();
	assert_at(&c_bytes, "unsized", 31, "unsized+31");
	assert_at(&c_bytes, "unsized", 32, "sized+0");
	assert_at(&c_bytes, "last", 15, "last+15");
	assert_at(&c_bytes, "last", 16, "-");
}

static void behind_a_nested_function_the_outer_goes_on(void **state)
{
	fixture_need_compiler();
	assert_at(&c_bytes, "outer", 15, "outer+15");
	assert_at(&c_bytes, "outer", 16, "inner+0");
	assert_at(&c_bytes, "outer", 32, "outer+32");
	assert_at(&c_bytes, "outer", 63, "outer+63");
}

static void a_label_counts_only_outside_of_functions(void **state)
{
	fixture_need_compiler();
	assert_at(&c_bytes, "holder", 20, "holder+20");
	assert_at(&c_bytes, "lone", 4, "lone+4");
}

static void marks_of_the_assembler_are_no_names(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture();
	memcpy(name_of(&copy, "marker"), "$x.ker", 6);
	assert_at(&c_bytes, "marker", 4, "marker+4");
	assert_at(&copy, "marker", 4, "lone+20");
	free(copy.data);
}

static void of_aliases_the_global_and_the_clean_one_is_shown(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	assert_at(&c_bytes, "local_alias", 3, "global_alias+3");
	copy = copy_fixture();
	symbol_of(&copy, "global_alias")->st_size = 0; /* size counts first */
	section_of(&copy, SHT_DYNSYM)->sh_type = SHT_NULL;
	assert_at(&copy, "local_alias", 3, "__global_alias+3");
	symbol_of(&copy, "__global_alias")->st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	assert_at(&copy, "local_alias", 3, "weak_alias+3");
	symbol_of(&copy, "weak_alias")->st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	memcpy(name_of(&copy, "weak_alias"), "w.a", 3);
	assert_at(&copy, "local_alias", 3, "local_alias+3");
	free(copy.data);
}

static void a_version_is_no_part_of_the_name(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture();
	name_of(&copy, "nameXVERSION")[4] = '@';
	assert_at(&copy, "nameXVERSION", 1, "name+1");
	free(copy.data);
}

static void a_stripped_library_names_what_it_exports(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture();
	section_of(&copy, SHT_SYMTAB)->sh_type = SHT_NULL;
	assert_at(&copy, "first", 0, "first+0");
	assert_at(&copy, "hidden", 0, "-");
	section_of(&copy, SHT_DYNSYM)->sh_type = SHT_NULL;
	assert_at(&copy, "first", 0, "-");
	assert_int_equal(assert_loads(&copy, 0), 0);
}

static void cxx_names_are_shown_without_parameters(void **state)
{
	struct elf_symbols *symbols;
	const char *name, *again;
	bool run = false, get = false;
	uint64_t offset;
	char *path;

	fixture_need_compiler();
	path = fixture_new_library("c++", cxx_source, "");
	assert_int_equal(fixture_load(path, &symbols), 0);
	for (uint64_t addr = 0; addr < 0x4000; addr++) {
		name = elf_symbols_find(symbols, addr, &offset);
		if (!name)
			continue;
		again = elf_symbols_find(symbols, addr, &offset);
		assert_ptr_equal(name, again);
		run |= strcmp(name, "Compiler::run") == 0;
		get |= strcmp(name, "Compiler::get<int>") == 0;
	}
	assert_true(run);
	assert_true(get);
	elf_symbols_free(symbols);
	free(path);
}

static void file_offsets_become_addresses_by_segment(void **state)
{
	struct elf_symbols *symbols;
	const Elf64_Phdr *segments;
	uint64_t addr = 0;
	unsigned seen = 0;

	fixture_need_compiler();
	segments = (const void *)(c_bytes.data + header_of(&c_bytes)->e_phoff);
	assert_int_equal(fixture_load(c_path, &symbols), 0);
	for (unsigned i = 0; i < header_of(&c_bytes)->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		seen++;
		assert_int_equal(elf_symbols_addr_of(symbols, segment->p_offset + 5, &addr), 0);
		assert_int_equal(addr, segment->p_vaddr + 5);
	}
	assert_int_equal(seen, 1);
	assert_int_equal(elf_symbols_addr_of(symbols, 1u << 30, &addr), -ENOENT);
	elf_symbols_free(symbols);
}

/* lld lays code where the page of the segment before it ends; both pages hold it. */
static void of_segments_in_one_page_the_one_with_code_is_meant(void **state)
{
	struct fixture_bytes copy;
	struct elf_symbols *symbols;
	Elf64_Phdr *code = NULL, *before = NULL, *segments;
	uint64_t addr = 0;

	fixture_need_compiler();
	copy = copy_fixture();
	segments = (void *)(copy.data + header_of(&copy)->e_phoff);
	for (unsigned i = 0; i < header_of(&copy)->e_phnum && !code; i++) {
		if (segments[i].p_type != PT_LOAD)
			continue;
		if (segments[i].p_flags & PF_X)
			code = &segments[i];
		else
			before = &segments[i];
	}
	assert_non_null(code);
	assert_non_null(before);
	before->p_filesz = code->p_offset + 8;
	before->p_memsz = before->p_filesz;
	code->p_vaddr += 0x10000;
	assert_int_equal(fixture_load_bytes(copy.data, copy.len, &symbols), 0);
	assert_int_equal(elf_symbols_addr_of(symbols, code->p_offset + 4, &addr), 0);
	assert_int_equal(addr, code->p_vaddr + 4);
	elf_symbols_free(symbols);
	free(copy.data);
}

static void the_build_id_is_read(void **state)
{
	static const unsigned char expected[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
	struct elf_symbols *symbols;
	const unsigned char *build_id;
	size_t len;

	fixture_need_compiler();
	assert_int_equal(fixture_load(c_path, &symbols), 0);
	build_id = elf_symbols_build_id(symbols, &len);
	assert_int_equal(len, sizeof(expected));
	assert_memory_equal(build_id, expected, len);
	elf_symbols_free(symbols);
}

static void the_soname_is_read(void **state)
{
	struct elf_symbols *symbols;

	fixture_need_compiler();
	assert_int_equal(fixture_load(c_path, &symbols), 0);
	assert_string_equal(elf_symbols_soname(symbols), "libc-fixture.so.3");
	elf_symbols_free(symbols);
}

static void equal_means_the_same_names_at_the_same_places(void **state)
{
	struct elf_symbols *one, *two, *other;
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture();
	memcpy(name_of(&copy, "hidden"), "HIDDEN", 6);
	assert_int_equal(fixture_load(c_path, &one), 0);
	assert_int_equal(fixture_load(c_path, &two), 0);
	assert_int_equal(fixture_load_bytes(copy.data, copy.len, &other), 0);
	assert_true(elf_symbols_equal(one, two));
	assert_false(elf_symbols_equal(one, other));
	elf_symbols_free(one);
	elf_symbols_free(two);
	elf_symbols_free(other);
	free(copy.data);
}

static void libjvm_names_its_functions(void **state)
{
	static const char pattern[] = "/usr/lib/jvm/*/lib/server/libjvm.so";
	struct elf_symbols *symbols;
	struct fixture_bytes bytes;
	const Elf64_Shdr *table;
	const Elf64_Sym *symbol;
	const char *strings;
	uint64_t offset;
	unsigned seen = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0) {
		print_message("no %s\n", pattern);
		skip();
	}
	bytes = fixture_read(found.gl_pathv[0]);
	table = section_of(&bytes, SHT_DYNSYM);
	strings = (char *)bytes.data + strings_of(&bytes, table)->sh_offset;
	symbol = (const void *)(bytes.data + table->sh_offset);
	assert_int_equal(fixture_load(found.gl_pathv[0], &symbols), 0);
	for (size_t i = 0; i < table->sh_size / sizeof(*symbol); i++) {
		const char *name = strings + symbol[i].st_name;

		if (symbol[i].st_value == 0 || strncmp(name, "JVM_Get", 7) != 0)
			continue;
		seen++;
		assert_string_equal(elf_symbols_find(symbols, symbol[i].st_value + 1, &offset),
				    name);
		assert_int_equal(offset, 1);
	}
	assert_true(seen > 20);
	assert_true(elf_symbols_bytes(symbols) < 16u << 20);
	elf_symbols_free(symbols);
	free(bytes.data);
	globfree(&found);
}

static void every_cut_of_a_file_loads_or_is_no_elf(void **state)
{
	fixture_need_compiler();
	for (size_t len = 0; len < c_bytes.len; len += 64) {
		struct elf_symbols *symbols = NULL;
		const int err = fixture_load_bytes(c_bytes.data, len, &symbols);
		uint64_t offset;

		assert_true(err == 0 || err == -ENOEXEC);
		if (err)
			continue;
		for (uint64_t addr = 0; addr < 0x4000; addr += 8)
			elf_symbols_find(symbols, addr, &offset);
		elf_symbols_free(symbols);
	}
}

static void random_bytes_are_no_elf(void **state)
{
	unsigned char bytes[4096];
	struct elf_symbols *symbols;

	srand(1);
	for (unsigned round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)(rand() >> 7);
		if (round % 2)
			memcpy(bytes, ELFMAG "\2\1\1", 7);
		assert_int_equal(fixture_load_bytes(bytes, sizeof(bytes), &symbols), -ENOEXEC);
	}
}

/* Bytes that are mostly right get further than random ones. */
static void a_file_with_bytes_changed_never_ends_us(void **state)
{
	fixture_need_compiler();
	srand(2);
	for (unsigned round = 0; round < 2000; round++) {
		struct fixture_bytes copy = copy_fixture();
		const size_t sections = header_of(&copy)->e_shoff;
		struct elf_symbols *symbols = NULL;
		uint64_t offset;

		for (unsigned i = 0; i < 4; i++) {
			const size_t any = (size_t)rand();
			const size_t at =
				rand() % 2 ? any % 1024 : sections + any % (copy.len - sections);

			copy.data[at] = (unsigned char)rand();
		}
		if (fixture_load_bytes(copy.data, copy.len, &symbols) == 0) {
			for (uint64_t addr = 0; addr < 0x4000; addr += 16)
				elf_symbols_find(symbols, addr, &offset);
		}
		elf_symbols_free(symbols);
		free(copy.data);
	}
}

static void other_things_than_files_are_einval_at_once(void **state)
{
	char *fifo = fixture_new_path("fifo");
	struct elf_symbols *symbols;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(fixture_load(fifo, &symbols), -EINVAL);
	assert_int_equal(fixture_load("/", &symbols), -EINVAL);
	assert_int_equal(fixture_load("/dev/zero", &symbols), -EINVAL);
	free(fifo);
}

static void objects_and_foreign_byte_orders_are_no_elf_of_ours(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture();
	header_of(&copy)->e_type = ET_REL;
	assert_loads(&copy, -ENOEXEC);
	copy = copy_fixture();
	header_of(&copy)->e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	assert_loads(&copy, -ENOEXEC);
	copy = copy_fixture();
	header_of(&copy)->e_ident[EI_CLASS] = 3;
	assert_loads(&copy, -ENOEXEC);
}

/* One table broken: the other still counts. Both: no ELF. */
static void assert_breaks(void (*break_table)(const struct fixture_bytes *, Elf64_Shdr *))
{
	struct fixture_bytes copy = copy_fixture();

	break_table(&copy, section_of(&copy, SHT_SYMTAB));
	assert_at(&copy, "first", 0, "first+0");
	assert_at(&copy, "hidden", 0, "-");
	break_table(&copy, section_of(&copy, SHT_DYNSYM));
	assert_loads(&copy, -ENOEXEC);
}

static void link_past_the_end(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	(void)bytes;
	table->sh_link = 0xffff;
}

static void link_to_itself(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	const Elf64_Shdr *sections = (const void *)(bytes->data + header_of(bytes)->e_shoff);

	table->sh_link = (uint32_t)(table - sections);
}

static void size_entries_wrong(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	(void)bytes;
	table->sh_entsize = 1;
}

static void size_entries_zero(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	(void)bytes;
	table->sh_entsize = 0;
}

static void place_past_the_end(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	table->sh_offset = bytes->len - 24;
}

static void place_where_it_wraps(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	(void)bytes;
	table->sh_offset = UINT64_MAX - 24;
}

static void strings_past_the_end(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	strings_of(bytes, table)->sh_offset = bytes->len - 1;
}

static void mark_compressed(const struct fixture_bytes *bytes, Elf64_Shdr *table)
{
	(void)bytes;
	table->sh_flags |= SHF_COMPRESSED;
}

static void a_broken_table_is_left_out(void **state)
{
	fixture_need_compiler();
	assert_breaks(link_past_the_end);
	assert_breaks(link_to_itself);
	assert_breaks(size_entries_wrong);
	assert_breaks(size_entries_zero);
	assert_breaks(place_past_the_end);
	assert_breaks(place_where_it_wraps);
	assert_breaks(strings_past_the_end);
	assert_breaks(mark_compressed);
}

static void names_outside_of_the_strings_are_left_out(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture();
	symbol_of(&copy, "hidden")->st_name = 0x7fffffff;
	assert_at(&copy, "hidden", 0, "-");
	assert_at(&copy, "first", 0, "first+0");
	free(copy.data);
}

static void a_name_without_an_end_is_left_out(void **state)
{
	struct fixture_bytes copy;
	Elf64_Shdr *strings;
	size_t at;

	fixture_need_compiler();
	copy = copy_fixture();
	strings = strings_of(&copy, section_of(&copy, SHT_SYMTAB));
	at = symbol_of(&copy, "hidden")->st_name;
	strings->sh_size = at + 3; /* "hid" */
	assert_at(&copy, "hidden", 0, "-");
	free(copy.data);
}

static void functions_outside_of_code_are_left_out(void **state)
{
	struct fixture_bytes copy;
	size_t before;

	fixture_need_compiler();
	copy = copy_fixture();
	before = assert_loads(&copy, 0);
	copy = copy_fixture();
	symbol_of(&copy, "hidden")->st_value = 0x7fffffff0000;
	symbol_of(&copy, "outer")->st_shndx = SHN_UNDEF;
	assert_int_equal(assert_loads(&copy, 0), before - 2);
}

static void a_size_ends_with_the_segment(void **state)
{
	struct elf_symbols *symbols;
	struct fixture_bytes copy;
	uint64_t addr, offset;

	fixture_need_compiler();
	copy = copy_fixture();
	addr = symbol_of(&copy, "hidden")->st_value;
	symbol_of(&copy, "hidden")->st_size = UINT64_MAX;
	assert_int_equal(fixture_load_bytes(copy.data, copy.len, &symbols), 0);
	assert_null(elf_symbols_find(symbols, addr + 0x100000, &offset));
	assert_null(elf_symbols_find(symbols, addr - 0x800, &offset));
	assert_null(elf_symbols_find(symbols, UINT64_MAX, &offset));
	elf_symbols_free(symbols);
	free(copy.data);
}

/* A sparse file of the given size that starts with the bytes of broken; frees those. */
static int load_sparse(struct fixture_bytes *broken, off_t size)
{
	const int fd = memfd_create("sparse", MFD_CLOEXEC);
	struct elf_symbols *symbols = NULL;
	int err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, broken->data, broken->len), broken->len);
	assert_int_equal(ftruncate(fd, size), 0);
	err = elf_symbols_load(fd, NULL, &symbols);
	elf_symbols_free(symbols);
	close(fd);
	free(broken->data);
	return err;
}

static void counts_past_the_bounds_are_efbig(void **state)
{
	struct fixture_bytes copy;

	fixture_need_compiler();
	copy = copy_fixture(); /* sections, as many as section 0 says */
	header_of(&copy)->e_shnum = 0;
	((Elf64_Shdr *)(void *)(copy.data + header_of(&copy)->e_shoff))->sh_size = 1u << 24;
	assert_int_equal(load_sparse(&copy, (off_t)4 << 30), -EFBIG);
	copy = copy_fixture(); /* program headers, as many as section 0 says */
	header_of(&copy)->e_phnum = PN_XNUM;
	((Elf64_Shdr *)(void *)(copy.data + header_of(&copy)->e_shoff))->sh_info = 1u << 24;
	assert_int_equal(load_sparse(&copy, (off_t)4 << 30), -EFBIG);
	copy = copy_fixture(); /* symbols */
	section_of(&copy, SHT_DYNSYM)->sh_type = SHT_NULL;
	section_of(&copy, SHT_SYMTAB)->sh_size = (5u << 20) * sizeof(Elf64_Sym);
	assert_int_equal(load_sparse(&copy, (off_t)4 << 30), -EFBIG);
	copy = copy_fixture(); /* strings */
	section_of(&copy, SHT_DYNSYM)->sh_type = SHT_NULL;
	strings_of(&copy, section_of(&copy, SHT_SYMTAB))->sh_size = 1u << 30;
	assert_int_equal(load_sparse(&copy, (off_t)4 << 30), -EFBIG);
}

/* What a parser sends of a table. The table must fit into a socket. */
static size_t flat_bytes(const struct elf_symbols *table, char *ret, size_t size)
{
	struct flat_writer writer = {0};
	int sockets[2];
	size_t len = 0;
	ssize_t n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	writer.sock = sockets[1];
	elf_symbols_flatten(table, &writer);
	assert_int_equal(writer.err, 0);
	close(sockets[1]);
	while ((n = read(sockets[0], ret + len, size - len)) > 0)
		len += (size_t)n;
	close(sockets[0]);
	assert_true(len < size);
	return len;
}

static int restore_bytes(const char *bytes, size_t len, struct elf_symbols **ret)
{
	struct flat_reader reader = {0};
	int sockets[2], err;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(write(sockets[1], bytes, len), len);
	close(sockets[1]);
	reader.sock = sockets[0];
	err = elf_symbols_restore(&reader, false, ret);
	close(sockets[0]);
	return err;
}

static void a_flat_table_becomes_an_equal_one(void **state)
{
	static char bytes[100000];
	struct elf_symbols *symbols, *copy;
	struct fixture_bytes file;
	size_t len;

	fixture_need_compiler();
	file = copy_fixture();
	assert_int_equal(fixture_load_bytes(file.data, file.len, &symbols), 0);
	free(file.data);
	len = flat_bytes(symbols, bytes, sizeof(bytes));
	assert_int_equal(restore_bytes(bytes, len, &copy), 0);
	assert_true(elf_symbols_equal(symbols, copy));
	assert_int_equal(elf_symbols_source(symbols), elf_symbols_source(copy));
	elf_symbols_free(copy);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(restore_bytes(bytes, cut, &copy), -EBADMSG);
	elf_symbols_free(symbols);
}

/* Asks for what is in a table of a liar. The answers may be anything, but a crash. */
static void ask_all(struct elf_symbols *symbols)
{
	uint64_t offset, start;
	size_t len;

	for (uint64_t addr = 0; addr < 0x6000; addr += 8) {
		elf_symbols_find(symbols, addr, &offset);
		elf_symbols_find_start(symbols, addr, &start);
		elf_symbols_addr_of(symbols, addr, &start);
	}
	elf_symbols_build_id(symbols, &len);
	assert_true(len <= ELF_LAYOUT_MAX_BUILD_ID);
	assert_true(strlen(elf_symbols_soname(symbols)) < ELF_FILE_SONAME_BYTES);
}

static void a_flat_table_of_a_liar_is_refused_or_does_no_harm(void **state)
{
	static char bytes[100000];
	static const unsigned char lies[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	size_t len, refused = 0;
	struct elf_symbols *symbols;
	struct fixture_bytes file;

	fixture_need_compiler();
	file = copy_fixture();
	assert_int_equal(fixture_load_bytes(file.data, file.len, &symbols), 0);
	free(file.data);
	len = flat_bytes(symbols, bytes, sizeof(bytes));
	elf_symbols_free(symbols);
	for (size_t i = 0; i < len * sizeof(lies); i++) {
		const size_t at = i / sizeof(lies);
		const char truth = bytes[at];
		int err;

		bytes[at] = (char)lies[i % sizeof(lies)];
		err = restore_bytes(bytes, len, &symbols);
		bytes[at] = truth;
		refused += err != 0;
		assert_true(err == 0 || err == -EBADMSG);
		if (!err && i % 7 == 0)
			ask_all(symbols);
		if (!err)
			elf_symbols_free(symbols);
	}
	assert_true(refused > 100);
}

/* As memset and clone of musl: neither has a size, and the second has no name either. */
static void a_symbol_without_a_size_ends_where_another_function_begins(void **state)
{
	struct elf_function items[] = {
		{.elf_addr = 0x1000, .name = "fills", .room = 0x1000},
		{.elf_addr = 0x1200, .name = "later", .room = 0xe00},
	};
	struct elf_functions functions = {.items = items, .count = 2, .size = 2};
	struct elf_starts starts = {.base = 0x1000, .offsets = malloc(sizeof(int32_t)), .count = 1};
	const struct elf_layout layout = {0};
	struct elf_symbols *symbols;
	uint64_t offset, start;

	starts.offsets[0] = 0x80;
	assert_int_equal(elf_symbols_make(&layout, &functions, &starts, "", &symbols), 0);
	assert_string_equal(elf_symbols_find(symbols, 0x107f, &offset), "fills");
	assert_null(elf_symbols_find(symbols, 0x1080, &offset));
	assert_int_equal(elf_symbols_find_start(symbols, 0x1085, &start), 0);
	assert_int_equal(start, 0x1080);
	assert_string_equal(elf_symbols_find(symbols, 0x1200, &offset), "later");
	elf_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_with_their_offset),
		cmocka_unit_test(a_symbol_without_a_size_ends_where_another_function_begins),
		cmocka_unit_test(a_flat_table_becomes_an_equal_one),
		cmocka_unit_test(a_flat_table_of_a_liar_is_refused_or_does_no_harm),
		cmocka_unit_test(a_gap_behind_a_sized_function_is_nobodys),
		cmocka_unit_test(an_unsized_function_ends_at_the_next_or_with_its_section),
		cmocka_unit_test(behind_a_nested_function_the_outer_goes_on),
		cmocka_unit_test(a_label_counts_only_outside_of_functions),
		cmocka_unit_test(marks_of_the_assembler_are_no_names),
		cmocka_unit_test(of_aliases_the_global_and_the_clean_one_is_shown),
		cmocka_unit_test(a_version_is_no_part_of_the_name),
		cmocka_unit_test(a_stripped_library_names_what_it_exports),
		cmocka_unit_test(cxx_names_are_shown_without_parameters),
		cmocka_unit_test(file_offsets_become_addresses_by_segment),
		cmocka_unit_test(of_segments_in_one_page_the_one_with_code_is_meant),
		cmocka_unit_test(the_build_id_is_read),
		cmocka_unit_test(the_soname_is_read),
		cmocka_unit_test(equal_means_the_same_names_at_the_same_places),
		cmocka_unit_test(libjvm_names_its_functions),
		cmocka_unit_test(every_cut_of_a_file_loads_or_is_no_elf),
		cmocka_unit_test(random_bytes_are_no_elf),
		cmocka_unit_test(a_file_with_bytes_changed_never_ends_us),
		cmocka_unit_test(other_things_than_files_are_einval_at_once),
		cmocka_unit_test(objects_and_foreign_byte_orders_are_no_elf_of_ours),
		cmocka_unit_test(a_broken_table_is_left_out),
		cmocka_unit_test(names_outside_of_the_strings_are_left_out),
		cmocka_unit_test(a_name_without_an_end_is_left_out),
		cmocka_unit_test(functions_outside_of_code_are_left_out),
		cmocka_unit_test(a_size_ends_with_the_segment),
		cmocka_unit_test(counts_past_the_bounds_are_efbig),
	};

	return cmocka_run_group_tests(tests, make_fixtures, remove_fixtures);
}
