// SPDX-License-Identifier: Apache-2.0
/* The points of the agent and of real libjvms, and files that are broken or lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "elf/probe_notes.h"
#include "probe_image.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CODE	      PROBE_IMAGE_CODE
#define CODE_END      (PROBE_IMAGE_CODE + PROBE_IMAGE_CODE_BYTES)
#define SEMAPHORE     (PROBE_IMAGE_DATA + 0x10)
#define SEMAPHORE_OFF (PROBE_IMAGE_DATA_OFF + 0x10)

/* What a test has made; freed when it ends. */
static struct probe_image image;
static struct probe_notes *notes;

static int begin(void **state)
{
	probe_image_init(&image, EM_X86_64);
	notes = NULL;
	return 0;
}

static int end(void **state)
{
	probe_image_fini(&image);
	probe_notes_free(notes);
	return 0;
}

static void assert_counts(uint32_t count, uint32_t unsound, uint32_t surplus)
{
	probe_notes_free(notes);
	notes = NULL;
	assert_int_equal(probe_image_load(&image, &notes), 0);
	assert_int_equal(notes->count, count);
	assert_int_equal(notes->unsound, unsound);
	assert_int_equal(notes->surplus, surplus);
}

/* The image has one point, which was left out as unsound. */
static void assert_unsound(void)
{
	assert_counts(0, 1, 0);
	image.notes_len = 0;
}

static int load_file(const char *path, struct probe_notes **ret)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	err = probe_notes_load(fd, ret);
	close(fd);
	return err;
}

static const struct probe_point *assert_agent_point(const char *name, bool has_semaphore)
{
	const struct probe_point *const point = probe_notes_find(notes, "fgagent", name, NULL);

	assert_non_null(point);
	assert_true(point->is_nop);
	assert_int_equal(point->semaphore_off != 0, has_semaphore);
	return point;
}

static void points_of_the_agent_are_found(void **state)
{
	const struct probe_point *alloc, *arm, *lock;

	assert_int_equal(load_file(FG_AGENT, &notes), 0);
	assert_int_equal(notes->unsound, 0);
	assert_int_equal(notes->surplus, 0);
	alloc = assert_agent_point("alloc", true);
	arm = assert_agent_point("alloc__arm", true);
	lock = assert_agent_point("lock__arm", true);
	assert_agent_point("alloc__arm_16k", true);
	assert_agent_point("alloc__arm_64k", true);
	assert_agent_point("alloc__arm_2m", true);
	assert_agent_point("lock_enter", true);
	assert_agent_point("lock_entered", true);
	assert_agent_point("alloc__sample", false);
	assert_agent_point("lock_enter__sample", false);
	assert_agent_point("lock_entered__sample", false);
	assert_int_equal(alloc->semaphore_off, arm->semaphore_off);
	assert_true(alloc->file_off != arm->file_off);
	assert_true(alloc->semaphore_off != lock->semaphore_off);
	assert_null(probe_notes_find(notes, "fgagent", "alloc", alloc));
	assert_null(probe_notes_find(notes, "hotspot", "alloc", NULL));
}

/* Reads what the file has at a point. */
static void read_code(const char *path, const struct probe_point *point, unsigned char ret[4])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, ret, 4, (off_t)point->file_off), 4);
	close(fd);
}

static void assert_jvm(const char *path)
{
	const struct probe_point *begins, *ends, *throws;
	unsigned char code[4];

	assert_int_equal(load_file(path, &notes), 0);
	assert_int_equal(notes->unsound, 0);
	begins = probe_notes_find(notes, "hotspot", "thread__park__begin", NULL);
	ends = probe_notes_find(notes, "hotspot", "thread__park__end", NULL);
	throws = probe_notes_find(notes, "", "JVM_FillInStackTrace", NULL);
	assert_non_null(begins);
	assert_non_null(ends);
	assert_non_null(throws);
	assert_true(begins->is_nop && ends->is_nop && !throws->is_nop);
	assert_int_equal(begins->semaphore_off, 0);
	assert_true(begins->file_off != ends->file_off);
	assert_null(probe_notes_find(notes, "", "JVM_FillInStackTrace", throws));
	assert_null(probe_notes_find(notes, "hotspot", "object__alloc", NULL));
#ifdef __x86_64__
	read_code(path, begins, code);
	assert_int_equal(code[0], 0x90);
	read_code(path, throws, code);
	assert_true(code[0] == 0x55 || code[0] == 0xf3 || code[0] == 0x41); /* push or endbr64 */
#endif
	probe_notes_free(notes);
	notes = NULL;
}

static void points_of_libjvm_are_found(void **state)
{
	glob_t found;

	if (glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found) != 0) {
		print_message("no JDK\n");
		skip();
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		assert_jvm(found.gl_pathv[i]);
	globfree(&found);
}

static void a_file_without_points_is_told_from_a_broken_one(void **state)
{
	glob_t found;

	assert_int_equal(glob("/lib/*-linux-gnu/libz.so.1", 0, NULL, &found), 0);
	assert_int_equal(load_file(found.gl_pathv[0], &notes), -ENOENT);
	globfree(&found);
	assert_int_equal(probe_image_load(&image, &notes), -ENOENT);
	image.type = SHT_PROGBITS;
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_int_equal(probe_image_load(&image, &notes), -ENOEXEC);
	image.header.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(probe_image_load(&image, &notes), -ENOEXEC);
}

static void a_file_of_32_bits_is_none_of_ours(void **state)
{
	const struct {
		Elf32_Ehdr header;
		Elf32_Phdr code;
	} file = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_386,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof(Elf32_Ehdr),
			   .e_ehsize = sizeof(Elf32_Ehdr),
			   .e_phentsize = sizeof(Elf32_Phdr),
			   .e_phnum = 1},
		.code = {.p_type = PT_LOAD,
			 .p_flags = PF_X,
			 .p_filesz = sizeof(Elf32_Ehdr),
			 .p_memsz = sizeof(Elf32_Ehdr)},
	};
	const int fd = files_open_memory(&file, sizeof(file));

	assert_int_equal(probe_notes_load(fd, &notes), -ENOEXEC);
	close(fd);
}

static void a_note_becomes_a_point_of_the_file(void **state)
{
	probe_image_add(&image, "fgagent", "alloc", CODE + 0x20, SEMAPHORE);
	assert_counts(1, 0, 0);
	assert_string_equal(notes->points[0].provider, "fgagent");
	assert_string_equal(notes->points[0].name, "alloc");
	assert_int_equal(notes->points[0].elf_addr, CODE + 0x20);
	assert_int_equal(notes->points[0].file_off, PROBE_IMAGE_CODE_OFF + 0x20);
	assert_int_equal(notes->points[0].semaphore_off, SEMAPHORE_OFF);
	assert_true(notes->points[0].is_nop);
}

static void notes_of_others_are_not_kept(void **state)
{
	char desc[] = "........"
		      "........"
		      "........"
		      "fgagent\0alloc\0";
	const uint64_t addrs[] = {CODE, PROBE_IMAGE_BASE, 0};

	memcpy(desc, addrs, sizeof(addrs));
	probe_image_add(&image, "libc", "setjmp", CODE, 0);
	probe_image_add(&image, "hotspot", "object__alloc", CODE, 0);
	probe_image_add(&image, "fgagent2", "alloc", CODE, 0);
	probe_image_add(&image, "fg", "alloc", CODE, 0);
	probe_image_add_raw(&image, "stapsdu", 3, desc, sizeof(desc));
	probe_image_add_raw(&image, "GNU", 3, desc, sizeof(desc));
	probe_image_add_raw(&image, "stapsdt", 4, desc, sizeof(desc));
	probe_image_add(&image, "hotspot", "thread__park__begin", CODE, 0);
	probe_image_add(&image, "hotspot", "thread__park__end", CODE, 0);
	assert_counts(2, 0, 0);
}

static void points_of_one_name_are_all_found(void **state)
{
	const struct probe_point *first, *second;

	probe_image_add(&image, "hotspot", "thread__park__begin", CODE, 0);
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	probe_image_add(&image, "hotspot", "thread__park__begin", CODE + 1, 0);
	assert_counts(3, 0, 0);
	first = probe_notes_find(notes, "hotspot", "thread__park__begin", NULL);
	second = probe_notes_find(notes, "hotspot", "thread__park__begin", first);
	assert_int_equal(first->elf_addr, CODE);
	assert_int_equal(second->elf_addr, CODE + 1);
	assert_null(probe_notes_find(notes, "hotspot", "thread__park__begin", second));
}

static void a_file_that_was_moved_is_read_as_it_lies(void **state)
{
	image.base = PROBE_IMAGE_BASE + 0x40;
	probe_image_add(&image, "fgagent", "alloc", CODE + 0x20 - 0x40, SEMAPHORE - 0x40);
	probe_image_add(&image, "fgagent", "alloc__sample", CODE + 0x21 - 0x40, 0);
	assert_counts(2, 0, 0);
	assert_int_equal(notes->points[0].elf_addr, CODE + 0x20);
	assert_int_equal(notes->points[0].semaphore_off, SEMAPHORE_OFF);
	assert_int_equal(notes->points[1].semaphore_off, 0);
	image.base = PROBE_IMAGE_BASE - 0x40;
	image.notes_len = 0;
	probe_image_add(&image, "fgagent", "alloc", CODE + 0x20 + 0x40, SEMAPHORE + 0x40);
	assert_counts(1, 0, 0);
	assert_int_equal(notes->points[0].elf_addr, CODE + 0x20);
	image.base = 0; /* there is no section: as the note says */
	assert_counts(1, 0, 0);
	assert_int_equal(notes->points[0].elf_addr, CODE + 0x60);
}

static void points_outside_of_code_are_unsound(void **state)
{
	static const uint64_t places[] = {0,	      CODE - 1,		CODE_END, PROBE_IMAGE_DATA,
					  UINT64_MAX, UINT64_C(1) << 63};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		probe_image_add(&image, "fgagent", "alloc", places[i], 0);
		assert_unsound();
	}
	image.code.p_memsz = 2 * PROBE_IMAGE_CODE_BYTES; /* not in the file */
	probe_image_add(&image, "fgagent", "alloc", CODE_END, 0);
	assert_unsound();
	image.code.p_filesz = image.code.p_memsz = UINT64_MAX - CODE; /* past the file's end */
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_unsound();
	image.code.p_offset = -(uint64_t)PROBE_IMAGE_CODE_OFF; /* code behind the last offset */
	image.code.p_filesz = image.code.p_memsz = 3 * PROBE_IMAGE_CODE_OFF;
	probe_image_add(&image, "fgagent", "alloc", CODE + 2 * PROBE_IMAGE_CODE_OFF, 0);
	assert_unsound();
}

static void the_last_byte_of_code_can_be_a_point(void **state)
{
	probe_image_add(&image, "fgagent", "alloc", CODE_END - 1, 0);
	assert_counts(1, 0, 0);
}

static void code_that_cannot_be_run_has_no_points(void **state)
{
	image.code.p_flags = PF_R | PF_W;
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_unsound();
}

static void a_point_is_a_nop(void **state)
{
	memcpy(image.text, "\x0f\x1f\x44\x00\x00\xcc\x0f\x1f\x40\x00\x00", 11);
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_counts(1, 0, 0);
	image.notes_len = 0;
	probe_image_add(&image, "fgagent", "alloc", CODE + 5, 0);
	assert_unsound();
	probe_image_add(&image, "fgagent", "alloc", CODE + 6, 0);
	assert_unsound();
}

static void the_nop_of_aarch64_is_a_point_there_alone(void **state)
{
	probe_image_fini(&image);
	probe_image_init(&image, EM_AARCH64);
	probe_image_add(&image, "fgagent", "alloc", CODE + 4, 0);
	assert_counts(1, 0, 0);
	image.notes_len = 0;
	memcpy(image.text + 6, "\x1f\x20\x03\xd5", 4);
	probe_image_add(&image, "fgagent", "alloc", CODE + 6, 0);
	assert_unsound();
	image.text[0] = 0x90;
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_unsound();
	image.header.e_machine = EM_X86_64;
	probe_image_add(&image, "fgagent", "alloc", CODE + 12, 0);
	assert_unsound();
	image.header.e_machine = EM_386;
	probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_unsound();
}

static void a_semaphore_is_even_and_in_writable_bytes_of_the_file(void **state)
{
	static const uint64_t places[] = {
		PROBE_IMAGE_DATA - 2,			       /* before */
		PROBE_IMAGE_DATA + PROBE_IMAGE_DATA_BYTES,     /* .bss */
		PROBE_IMAGE_DATA + PROBE_IMAGE_DATA_BYTES - 1, /* half of it */
		SEMAPHORE + 1,
		CODE,
		1,
		UINT64_MAX,
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		probe_image_add(&image, "fgagent", "alloc", CODE, places[i]);
		assert_unsound();
	}
	probe_image_add(&image, "fgagent", "alloc", CODE,
			PROBE_IMAGE_DATA + PROBE_IMAGE_DATA_BYTES - 2);
	assert_counts(1, 0, 0);
	image.notes_len = 0;
	image.data.p_filesz = 1;
	probe_image_add(&image, "fgagent", "alloc", CODE, PROBE_IMAGE_DATA);
	assert_unsound();
}

static void a_semaphore_lies_within_the_first_4_gib_of_the_file(void **state)
{
	image.data.p_offset = UINT64_C(0xffffff00);
	probe_image_add(&image, "fgagent", "alloc", CODE, PROBE_IMAGE_DATA + 0xfe);
	assert_counts(1, 0, 0);
	assert_int_equal(notes->points[0].semaphore_off, UINT64_C(0xfffffffe));
	image.notes_len = 0;
	image.data.p_offset = UINT64_C(0x100000000);
	probe_image_add(&image, "fgagent", "alloc", CODE, PROBE_IMAGE_DATA);
	assert_unsound();
	image.data.p_offset = 0; /* 0 would say that there is none */
	probe_image_add(&image, "fgagent", "alloc", CODE, PROBE_IMAGE_DATA);
	assert_unsound();
}

static void notes_that_do_not_hold_their_texts_are_unsound(void **state)
{
	char desc[sizeof(uint64_t) * 3 + sizeof("fgagent") + sizeof("alloc")];
	const uint64_t addrs[] = {CODE, PROBE_IMAGE_BASE, 0};

	memcpy(desc, addrs, sizeof(addrs));
	memcpy(desc + sizeof(addrs), "fgagent\0alloc", sizeof("fgagent\0alloc"));
	for (size_t len = 0; len < sizeof(desc); len++) {
		probe_image_add_raw(&image, "stapsdt", 3, desc, len);
		assert_unsound();
	}
	probe_image_add_raw(&image, "stapsdt", 3, desc, sizeof(desc)); /* no arguments at all */
	assert_counts(1, 0, 0);
}

static void names_are_short_and_clean(void **state)
{
	char name[PROBE_NOTES_NAME_BYTES + 1];

	memset(name, 'a', sizeof(name));
	name[PROBE_NOTES_NAME_BYTES] = '\0';
	probe_image_add(&image, "fgagent", name, CODE, 0);
	assert_unsound();
	probe_image_add(&image, "fgagent", "", CODE, 0);
	assert_unsound();
	probe_image_add(&image, "fgagent", "a\nb", CODE, 0);
	assert_unsound();
	name[PROBE_NOTES_NAME_BYTES - 1] = '\0';
	probe_image_add(&image, "fgagent", name, CODE, 0);
	assert_counts(1, 0, 0);
	assert_string_equal(notes->points[0].name, name);
}

static void ten_thousand_notes_are_counted_and_the_first_kept(void **state)
{
	for (unsigned i = 0; i < 10000; i++)
		probe_image_add(&image, "fgagent", "alloc", CODE + i % PROBE_IMAGE_CODE_BYTES, 0);
	assert_true(image.notes_len <= PROBE_NOTES_MAX_BYTES);
	assert_counts(PROBE_NOTES_MAX, 0, 10000 - PROBE_NOTES_MAX);
	assert_int_equal(notes->points[PROBE_NOTES_MAX - 1].elf_addr, CODE + PROBE_NOTES_MAX - 1);
}

static void a_section_past_the_limit_is_not_read(void **state)
{
	while (image.notes_len <= PROBE_NOTES_MAX_BYTES)
		probe_image_add(&image, "fgagent", "alloc", CODE, 0);
	assert_int_equal(probe_image_load(&image, &notes), -EFBIG);
}

static void an_exported_function_is_a_point_at_its_entry(void **state)
{
	probe_image_add_function(&image, "JVM_FillInStackTrace2", CODE + 8, 1);
	probe_image_add_function(&image, "JVM_FillInStackTrace", CODE + 0x40, 1);
	assert_counts(1, 0, 0);
	assert_string_equal(notes->points[0].provider, "");
	assert_string_equal(notes->points[0].name, "JVM_FillInStackTrace");
	assert_int_equal(notes->points[0].file_off, PROBE_IMAGE_CODE_OFF + 0x40);
	assert_false(notes->points[0].is_nop);
}

/* libjava.so imports the function of libjvm.so. */
static void an_imported_function_is_no_point(void **state)
{
	probe_image_add_function(&image, "JVM_FillInStackTrace", 0, SHN_UNDEF);
	assert_int_equal(probe_image_load(&image, &notes), -ENOENT);
}

static void a_function_outside_of_the_file_is_unsound(void **state)
{
	image.code.p_memsz = 2 * PROBE_IMAGE_CODE_BYTES;
	probe_image_add_function(&image, "JVM_FillInStackTrace", CODE_END + 8, 1);
	assert_unsound();
}

static void a_file_cut_anywhere_ends_in_a_table_or_an_error(void **state)
{
	size_t tables = 0;

	probe_image_add(&image, "fgagent", "alloc", CODE, SEMAPHORE);
	probe_image_add(&image, "hotspot", "thread__park__begin", CODE + 1, 0);
	probe_image_add_function(&image, "JVM_FillInStackTrace", CODE + 0x40, 1);
	for (image.file_bytes = 0; image.file_bytes < 0x3500; image.file_bytes += 7) {
		const int err = probe_image_load(&image, &notes);

		assert_true(err == 0 || err == -ENOENT || err == -ENOEXEC || err == -EFBIG);
		tables += err == 0;
		probe_notes_free(notes);
		notes = NULL;
	}
	assert_true(tables > 0);
}

/* Sends a table through a socket. */
static int pass(const struct probe_notes *from, struct probe_notes **ret)
{
	struct flat_writer writer = {0};
	struct flat_reader reader = {0};
	int socks[2], err;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	writer.sock = socks[0];
	reader.sock = socks[1];
	probe_notes_flatten(from, &writer);
	assert_int_equal(writer.err, 0);
	close(socks[0]);
	err = probe_notes_restore(&reader, ret);
	close(socks[1]);
	return err;
}

static void a_flat_table_becomes_an_equal_one(void **state)
{
	struct probe_notes *other;

	probe_image_add(&image, "fgagent", "alloc", CODE, SEMAPHORE);
	probe_image_add(&image, "hotspot", "thread__park__begin", CODE + 1, 0);
	assert_counts(2, 0, 0);
	assert_int_equal(pass(notes, &other), 0);
	assert_true(probe_notes_equal(notes, other));
	other->points[1].semaphore_off = 2;
	assert_false(probe_notes_equal(notes, other));
	other->points[1] = notes->points[1];
	other->points[0].file_off++;
	assert_false(probe_notes_equal(notes, other));
	other->points[0] = notes->points[0];
	other->unsound++;
	assert_false(probe_notes_equal(notes, other));
	probe_notes_free(other);
}

/* The table is as before but for `lie`, and is refused. */
#define ASSERT_REFUSED(lie)                                                                        \
	do {                                                                                       \
		struct probe_notes liar = *notes;                                                  \
		struct probe_notes *other = NULL;                                                  \
		lie;                                                                               \
		assert_int_equal(pass(&liar, &other), -EBADMSG);                                   \
	} while (0)

static void a_flat_table_of_a_liar_is_refused(void **state)
{
	probe_image_add(&image, "fgagent", "alloc", CODE, SEMAPHORE);
	assert_counts(1, 0, 0);
	ASSERT_REFUSED(liar.count = PROBE_NOTES_MAX + 1);
	ASSERT_REFUSED(memset(liar.points[0].provider, 'a', sizeof(liar.points[0].provider)));
	ASSERT_REFUSED(memset(liar.points[0].name, 'a', sizeof(liar.points[0].name)));
	ASSERT_REFUSED(liar.points[0].name[0] = '\0');
	ASSERT_REFUSED(liar.points[0].name[1] = '\n');
	ASSERT_REFUSED(liar.points[0].semaphore_off = UINT64_C(1) << 32);
	ASSERT_REFUSED(liar.points[0].semaphore_off++);
	ASSERT_REFUSED(liar.points[0].file_off = UINT64_MAX);
	ASSERT_REFUSED(memset(&liar.points[0].is_nop, 2, 1));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(points_of_the_agent_are_found),
		TEST(points_of_libjvm_are_found),
		TEST(a_file_without_points_is_told_from_a_broken_one),
		TEST(a_file_of_32_bits_is_none_of_ours),
		TEST(a_note_becomes_a_point_of_the_file),
		TEST(notes_of_others_are_not_kept),
		TEST(points_of_one_name_are_all_found),
		TEST(a_file_that_was_moved_is_read_as_it_lies),
		TEST(points_outside_of_code_are_unsound),
		TEST(the_last_byte_of_code_can_be_a_point),
		TEST(code_that_cannot_be_run_has_no_points),
		TEST(a_point_is_a_nop),
		TEST(the_nop_of_aarch64_is_a_point_there_alone),
		TEST(a_semaphore_is_even_and_in_writable_bytes_of_the_file),
		TEST(a_semaphore_lies_within_the_first_4_gib_of_the_file),
		TEST(notes_that_do_not_hold_their_texts_are_unsound),
		TEST(names_are_short_and_clean),
		TEST(ten_thousand_notes_are_counted_and_the_first_kept),
		TEST(a_section_past_the_limit_is_not_read),
		TEST(an_exported_function_is_a_point_at_its_entry),
		TEST(an_imported_function_is_no_point),
		TEST(a_function_outside_of_the_file_is_unsound),
		TEST(a_file_cut_anywhere_ends_in_a_table_or_an_error),
		TEST(a_flat_table_becomes_an_equal_one),
		TEST(a_flat_table_of_a_liar_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
