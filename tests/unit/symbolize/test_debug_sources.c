// SPDX-License-Identifier: Apache-2.0
/*
 * Where names come from once a file is stripped: files made by the host's tools, and found or
 * refused in a directory that plays the target's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/elf_symbols.h"
#include "fixture.h"

#define BUILD_ID "abcdef0123456789"
#define BY_ID	 "usr/lib/debug/.build-id/ab/cdef0123456789.debug"
#define LIBRARY	 "/opt/fixture.so" /* in the target's root */

static const char source[] =
	"void *malloc(unsigned long); int stranger(int); int foreign(int);\n"
	"static __attribute__((noinline)) int hidden(int x) { return x / 7; }\n"
	"int shown(int x) { return stranger(x) + foreign(hidden(x) + 1) + 1; }\n"
	"void *(*taken)(unsigned long) = malloc;\n"
	"void *again(void) { return malloc(4); }\n";

static char *root, *whole; /* the target's, and the library in it as the compiler made it */

/* Runs a line of shell in the target's root. */
#define run(...) fixture_run(root, __VA_ARGS__)

static bool has_tool(const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "command -v %s >/dev/null", name);
	if (system(line) == 0) /* NOLINT: the test's own text */
		return true;
	print_message("no %s\n", name);
	return false;
}

/* Puts the library in its place, stripped of all but what it exports. */
static int make_root(void **state)
{
	root = fixture_new_path("root");
	mkdir(root, 0700);
	whole = fixture_new_library("c", source, "-Wl,--build-id=0x" BUILD_ID);
	run("rm -rf ./*; mkdir -p opt usr/lib/debug/.build-id/ab; strip -o opt/fixture.so %s",
	    whole);
	return 0;
}

static int free_root(void **state)
{
	free(root);
	free(whole);
	return 0;
}

static struct elf_symbols *load_at(const char *path)
{
	struct debug_place place = {.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
				    .path = path};
	struct elf_symbols *symbols;
	char *full;
	int fd;

	assert_true(place.root >= 0);
	assert_true(asprintf(&full, "%s%s", root, path) > 0);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(elf_symbols_load(fd, &place, &symbols), 0);
	close(fd);
	close(place.root);
	free(full);
	return symbols;
}

static void assert_source(enum elf_symbols_source expected)
{
	struct elf_symbols *symbols = load_at(LIBRARY);

	assert_int_equal(elf_symbols_source(symbols), expected);
	assert_int_equal(fixture_has_name(symbols, "hidden"), expected > ELF_SYMBOLS_DYNSYM);
	assert_true(fixture_has_name(symbols, "shown"));
	elf_symbols_free(symbols);
}

static void a_stripped_library_has_its_exports_alone(void **state)
{
	assert_source(ELF_SYMBOLS_DYNSYM);
}

static void mini_debug_info_adds_what_is_not_exported(void **state)
{
	if (!has_tool("xz"))
		skip();
	run("nm -D %s --format=posix --defined-only | awk '{print $1}' | sort >d;"
	    "nm %s --format=posix --defined-only |"
	    " awk '$2 ~ /[TtD]/ {print $1}' | sort | comm -13 d - >k;"
	    "objcopy --only-keep-debug %s m; objcopy -S --keep-symbols=k m; xz m;"
	    "objcopy --add-section .gnu_debugdata=m.xz opt/fixture.so",
	    whole, whole, whole);
	assert_source(ELF_SYMBOLS_MINI_DEBUG);
}

static void mini_debug_info_without_end_leaves_the_exports(void **state)
{
	if (!has_tool("xz"))
		skip();
	run("{ objcopy --only-keep-debug %s m; cat m; head -c 140000000 /dev/zero; } | xz -0 >m.xz;"
	    "objcopy --add-section .gnu_debugdata=m.xz opt/fixture.so",
	    whole);
	assert_source(ELF_SYMBOLS_DYNSYM);
}

static void mini_debug_info_that_is_broken_leaves_the_exports(void **state)
{
	if (!has_tool("xz"))
		skip();
	run("xz <%s | head -c 400 >m.xz; objcopy --add-section .gnu_debugdata=m.xz opt/fixture.so",
	    whole);
	assert_source(ELF_SYMBOLS_DYNSYM);
	run("xz <opt/fixture.so >m.xz; objcopy --update-section .gnu_debugdata=m.xz "
	    "opt/fixture.so");
	assert_source(ELF_SYMBOLS_DYNSYM);
	run("echo nothing >m.xz; objcopy --update-section .gnu_debugdata=m.xz opt/fixture.so");
	assert_source(ELF_SYMBOLS_DYNSYM);
}

static void a_debug_file_is_found_by_build_id_in_the_targets_root(void **state)
{
	run("objcopy --only-keep-debug %s " BY_ID, whole);
	assert_source(ELF_SYMBOLS_DEBUG_FILE);
}

static void a_debug_file_is_found_by_its_link_in_each_place(void **state)
{
	static const char *const places[] = {"opt", "opt/.debug", "usr/lib/debug/opt"};

	run("objcopy --only-keep-debug %s f.debug; objcopy --add-gnu-debuglink=f.debug "
	    "opt/fixture.so; mkdir -p opt/.debug usr/lib/debug/opt",
	    whole);
	assert_source(ELF_SYMBOLS_DYNSYM);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		run("cp f.debug %s/", places[i]);
		assert_source(ELF_SYMBOLS_DEBUG_FILE);
		run("rm %s/f.debug", places[i]);
	}
}

static void without_build_id_the_checksum_decides(void **state)
{
	run("objcopy -R .note.gnu.build-id %s w; objcopy --only-keep-debug w opt/f.debug;"
	    "strip -o opt/fixture.so w; objcopy --add-gnu-debuglink=opt/f.debug opt/fixture.so",
	    whole);
	assert_source(ELF_SYMBOLS_DEBUG_FILE);
	run("echo >>opt/f.debug");
	assert_source(ELF_SYMBOLS_DYNSYM);
}

static void a_debug_file_of_another_build_is_refused(void **state)
{
	char *other = fixture_new_library("c", source, "-Wl,--build-id=0xabcdef0123456788");

	run("objcopy --only-keep-debug %s " BY_ID "; cp " BY_ID " opt/f.debug;"
	    "objcopy --add-gnu-debuglink=opt/f.debug opt/fixture.so",
	    other);
	assert_source(ELF_SYMBOLS_DYNSYM);
	free(other);
}

static void a_link_to_the_file_itself_ends(void **state)
{
	run("cd opt; objcopy --add-gnu-debuglink=fixture.so fixture.so; ln -s ../../../../.."
	    "/../opt/fixture.so ../" BY_ID);
	assert_source(ELF_SYMBOLS_DYNSYM);
}

static void what_is_no_regular_file_does_not_block(void **state)
{
	run("mkfifo " BY_ID);
	assert_source(ELF_SYMBOLS_DYNSYM);
	run("rm " BY_ID "; ln -s /dev/zero " BY_ID);
	assert_source(ELF_SYMBOLS_DYNSYM);
	run("rm " BY_ID "; mkdir " BY_ID);
	assert_source(ELF_SYMBOLS_DYNSYM);
}

static void a_link_out_of_the_root_stays_inside(void **state)
{
	run("objcopy --only-keep-debug %s ../outside.debug; ln -s $PWD/../outside.debug " BY_ID,
	    whole);
	assert_source(ELF_SYMBOLS_DYNSYM);
	run("rm " BY_ID "; ln -s ../../../../../../outside.debug " BY_ID);
	assert_source(ELF_SYMBOLS_DYNSYM);
	/* The same link leads somewhere if that is inside. */
	run("mv ../outside.debug .");
	assert_source(ELF_SYMBOLS_DEBUG_FILE);
}

static void compressed_tables_are_read(void **state)
{
	if (!has_tool("eu-elfcompress"))
		skip();
	run("cp %s opt/fixture.so; eu-elfcompress -f -n .symtab -n .strtab -t zlib opt/fixture.so",
	    whole);
	assert_source(ELF_SYMBOLS_SYMTAB);
}

/* Says of a compressed table that it is larger than there is memory. */
static void compressed_tables_that_lie_are_refused(void **state)
{
	struct fixture_bytes bytes;
	struct elf_symbols *symbols;
	Elf64_Shdr *sections;
	unsigned lies = 0;
	char *path;

	if (!has_tool("eu-elfcompress"))
		skip();
	run("cp %s opt/fixture.so; eu-elfcompress -f -n .symtab -n .strtab -t zlib opt/fixture.so",
	    whole);
	assert_true(asprintf(&path, "%s" LIBRARY, root) > 0);
	bytes = fixture_read(path);
	sections = (void *)(bytes.data + ((Elf64_Ehdr *)(void *)bytes.data)->e_shoff);
	for (unsigned i = 0; i < ((Elf64_Ehdr *)(void *)bytes.data)->e_shnum; i++) {
		if (!(sections[i].sh_flags & SHF_COMPRESSED))
			continue;
		((Elf64_Chdr *)(void *)(bytes.data + sections[i].sh_offset))->ch_size = UINT64_C(1)
											<< 46;
		lies++;
	}
	assert_int_equal(lies, 2);
	assert_int_equal(fixture_load_bytes(bytes.data, bytes.len, &symbols), 0);
	assert_int_equal(elf_symbols_source(symbols), ELF_SYMBOLS_DYNSYM);
	elf_symbols_free(symbols);
	free(bytes.data);
	free(path);
}

/* Each entry's name as objdump gives it; the count, by which an empty list is seen. */
static unsigned compare_plt(const char *tool, const char *file)
{
	struct elf_symbols *symbols = load_at(file);
	char line[256], *command, found[256], expected[256];
	unsigned long long addr;
	unsigned n = 0;
	uint64_t offset;
	FILE *pipe;

	assert_true(asprintf(&command, "%s -d %s%s | grep '@plt>:$'", tool, root, file) > 0);
	pipe = popen(command, "r"); /* NOLINT: the test's own text */
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		const char *name;

		assert_int_equal(sscanf(line, "%llx <%255[^>]>", &addr, expected), 2);
		name = elf_symbols_find(symbols, addr + 4, &offset);
		snprintf(found, sizeof(found), "%s", name ? name : "-");
		assert_string_equal(found, expected);
		assert_int_equal(offset, 4);
		n++;
	}
	pclose(pipe);
	free(command);
	elf_symbols_free(symbols);
	return n;
}

static void entries_of_the_plt_bear_the_name_of_what_they_lead_to(void **state)
{
	static const char *const forms[] = {"-Wl,-z,lazy", "-Wl,-z,now",
					    "-fcf-protection=full -Wl,-z,ibtplt,-z,lazy",
					    "-fcf-protection=full -Wl,-z,ibtplt,-z,now"};

	if (!has_tool("objdump"))
		skip();
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		char *path = fixture_new_library("c", source, forms[i]);

		run("strip -o opt/fixture.so %s", path);
		print_message("%s\n", forms[i]);
		assert_true(compare_plt("objdump", LIBRARY) >= 2);
		free(path);
	}
}

static void entries_of_an_aarch64_plt_are_named_too(void **state)
{
	static const char *const forms[] = {"", "-mbranch-protection=standard -Wl,-z,force-bti"};

	if (!has_tool("aarch64-linux-gnu-gcc") || !has_tool("aarch64-linux-gnu-objdump"))
		skip();
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		run("cat >s.c <<'END'\n%s\nEND\n"
		    "aarch64-linux-gnu-gcc -w -O1 -fPIC -shared -nostdlib -s %s -o opt/fixture.so "
		    "s.c",
		    source, forms[i]);
		assert_true(compare_plt("aarch64-linux-gnu-objdump", LIBRARY) >= 2);
	}
}

/* Every function of a whole file is found in a stripped one by its start. */
static void assert_starts(const char *options, bool drops_sections)
{
	char *path = fixture_new_library("c", source, options), *stripped, line[256], *command;
	struct fixture_bytes bytes;
	struct elf_symbols *symbols;
	unsigned long long addr;
	unsigned n = 0;
	uint64_t start;
	FILE *pipe;

	run("strip -o opt/fixture.so %s", path);
	assert_true(asprintf(&stripped, "%s" LIBRARY, root) > 0);
	bytes = fixture_read(stripped);
	if (drops_sections) {
		((Elf64_Ehdr *)(void *)bytes.data)->e_shoff = 0;
		((Elf64_Ehdr *)(void *)bytes.data)->e_shnum = 0;
		((Elf64_Ehdr *)(void *)bytes.data)->e_shstrndx = 0;
	}
	assert_int_equal(fixture_load_bytes(bytes.data, bytes.len, &symbols), 0);
	assert_true(asprintf(&command, "nm %s | grep -i ' t '", path) > 0);
	pipe = popen(command, "r"); /* NOLINT: the test's own text */
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		addr = strtoull(line, NULL, 16);
		assert_int_equal(elf_symbols_find_start(symbols, addr + 1, &start), 0);
		assert_int_equal(start, addr);
		n++;
	}
	assert_int_equal(n, 3);
	pclose(pipe);
	elf_symbols_free(symbols);
	free(bytes.data);
	free(stripped);
	free(command);
	free(path);
}

static void functions_without_a_name_have_a_start(void **state)
{
	assert_starts("", false);
	assert_starts("-Wl,--no-eh-frame-hdr", false);
	assert_starts("", true);
}

int main(void)
{
#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, free_root)
	const struct CMUnitTest tests[] = {
		IN_ROOT(a_stripped_library_has_its_exports_alone),
		IN_ROOT(mini_debug_info_adds_what_is_not_exported),
		IN_ROOT(mini_debug_info_without_end_leaves_the_exports),
		IN_ROOT(mini_debug_info_that_is_broken_leaves_the_exports),
		IN_ROOT(a_debug_file_is_found_by_build_id_in_the_targets_root),
		IN_ROOT(a_debug_file_is_found_by_its_link_in_each_place),
		IN_ROOT(without_build_id_the_checksum_decides),
		IN_ROOT(a_debug_file_of_another_build_is_refused),
		IN_ROOT(a_link_to_the_file_itself_ends),
		IN_ROOT(what_is_no_regular_file_does_not_block),
		IN_ROOT(a_link_out_of_the_root_stays_inside),
		IN_ROOT(compressed_tables_are_read),
		IN_ROOT(compressed_tables_that_lie_are_refused),
		IN_ROOT(entries_of_the_plt_bear_the_name_of_what_they_lead_to),
		IN_ROOT(entries_of_an_aarch64_plt_are_named_too),
		IN_ROOT(functions_without_a_name_have_a_start),
	};

	if (!fixture_has_compiler())
		return FIXTURE_NO_COMPILER;
	return cmocka_run_group_tests(tests, NULL, fixture_remove_all);
}
