// SPDX-License-Identifier: Apache-2.0
/* Which class a jar starts. The jars are made here, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "container/jar_manifest.h"

#define MANIFEST "META-INF/MANIFEST.MF"

static char class[JAR_CLASS_BYTES];

/* ---- the text ---- */

static const char *parse(const char *text)
{
	class[0] = '\0';
	return jar_manifest_parse(text, strlen(text), class) < 0 ? "none" : class;
}

static void the_main_class_is_what_the_manifest_names(void **state)
{
	assert_string_equal(parse("Manifest-Version: 1.0\r\nMain-Class: com.example.Shop\r\n\r\n"),
			    "com.example.Shop");
	assert_string_equal(parse("Main-Class:Shop"), "Shop");
	assert_string_equal(parse("main-class:  Shop  \n"), "Shop");
	assert_string_equal(parse("Main-Class: Shop\rClass-Path: a.jar\r"), "Shop");
}

static void what_a_launcher_starts_goes_before_the_launcher(void **state)
{
	assert_string_equal(parse("Main-Class: org.springframework.boot.loader.JarLauncher\n"
				  "Start-Class: com.example.Shop\n"),
			    "com.example.Shop");
	assert_string_equal(parse("Start-Class: com.example.Shop\nMain-Class: a.Launcher\n"),
			    "com.example.Shop");
	assert_string_equal(parse("Start-Class: com.example.Shop\n"), "none");
}

static void a_line_goes_on_behind_a_blank(void **state)
{
	assert_string_equal(parse("Main-Class: com.exam\r\n ple.Shop\r\nA: b\r\n"),
			    "com.example.Shop");
	assert_string_equal(parse("Main-\n Class: Shop\n"), "Shop");
	assert_string_equal(parse("A: b\n Main-Class: Shop\n"), "none");
}

static void other_sections_and_names_do_not_count(void **state)
{
	assert_string_equal(parse("A: b\n\nMain-Class: Shop\n"), "none");
	assert_string_equal(parse("X-Main-Class: Shop\nMain-Classes: Shop\nMain-Class:\n"), "none");
	assert_string_equal(parse(""), "none");
	assert_string_equal(parse(" Main-Class: Shop"), "none");
}

static void names_without_end_and_control_characters_do_no_harm(void **state)
{
	char text[4096] = "Main-Class: ";

	memset(text + 12, 'n', sizeof(text) - 13);
	text[sizeof(text) - 1] = '\0';
	assert_string_equal(parse(text), "none");
	text[100] = '\n'; /* a begin that would have room is no name either */
	text[101] = ' ';
	assert_string_equal(parse(text), "none");
	assert_string_equal(parse("Main-Class: a\033[31m\n"), "a?[31m");
}

/* ---- the file ---- */

/* A jar that grows. */
struct jar {
	unsigned char bytes[8192];
	size_t len, directory_at;
	unsigned char directory[1024];
	size_t directory_len;
};

static void put(unsigned char *to, size_t *len, const void *bytes, size_t n)
{
	memcpy(to + *len, bytes, n);
	*len += n;
}

static void put_number(unsigned char *to, size_t *len, uint32_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[(*len)++] = i < sizeof(value) ? (unsigned char)(value >> 8 * i) : 0;
}

static size_t deflate_text(const char *text, unsigned char *ret, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)text,
			   .avail_in = (unsigned)strlen(text),
			   .next_out = ret,
			   .avail_out = (unsigned)size};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return size - stream.avail_out;
}

/* is_packed: by deflate, else stored. */
static void add_file(struct jar *jar, const char *name, const char *text, bool is_packed)
{
	unsigned char packed[2048];
	size_t n = strlen(text);
	const uint32_t at = (uint32_t)jar->len;

	if (is_packed)
		n = deflate_text(text, packed, sizeof(packed));
	else
		memcpy(packed, text, n);
	put_number(jar->bytes, &jar->len, 0x04034b50, 4);
	put_number(jar->bytes, &jar->len, 0, 4);
	put_number(jar->bytes, &jar->len, is_packed ? 8 : 0, 2);
	put_number(jar->bytes, &jar->len, 0, 16);
	put_number(jar->bytes, &jar->len, (uint32_t)strlen(name), 2);
	put_number(jar->bytes, &jar->len, 3, 2);
	put(jar->bytes, &jar->len, name, strlen(name));
	put(jar->bytes, &jar->len, "ext", 3);
	put(jar->bytes, &jar->len, packed, n);
	put_number(jar->directory, &jar->directory_len, 0x02014b50, 4);
	put_number(jar->directory, &jar->directory_len, 0, 6);
	put_number(jar->directory, &jar->directory_len, is_packed ? 8 : 0, 2);
	put_number(jar->directory, &jar->directory_len, 0, 8);
	put_number(jar->directory, &jar->directory_len, (uint32_t)n, 4);
	put_number(jar->directory, &jar->directory_len, (uint32_t)strlen(text), 4);
	put_number(jar->directory, &jar->directory_len, (uint32_t)strlen(name), 2);
	put_number(jar->directory, &jar->directory_len, 0, 12);
	put_number(jar->directory, &jar->directory_len, at, 4);
	put(jar->directory, &jar->directory_len, name, strlen(name));
}

/* shift: the bytes of a script in front of the jar, of which its numbers do not know. */
static void end_jar(struct jar *jar, const char *comment, uint32_t shift)
{
	jar->directory_at = jar->len;
	put(jar->bytes, &jar->len, jar->directory, jar->directory_len);
	put_number(jar->bytes, &jar->len, 0x06054b50, 4);
	put_number(jar->bytes, &jar->len, 0, 8);
	put_number(jar->bytes, &jar->len, (uint32_t)jar->directory_len, 4);
	put_number(jar->bytes, &jar->len, (uint32_t)jar->directory_at - shift, 4);
	put_number(jar->bytes, &jar->len, (uint32_t)strlen(comment), 2);
	put(jar->bytes, &jar->len, comment, strlen(comment));
}

static int read_bytes(const void *bytes, size_t len)
{
	const int fd = memfd_create("jar", MFD_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	class[0] = '\0';
	err = jar_manifest_read(fd, class);
	close(fd);
	return err;
}

static void the_manifest_is_found_packed_and_stored(void **state)
{
	for (int is_packed = 0; is_packed < 2; is_packed++) {
		struct jar jar = {.len = 0};

		add_file(&jar, "META-INF/", "", false);
		add_file(&jar, "a/B.class", "cafebabe", true);
		add_file(&jar, MANIFEST, "Main-Class: com.example.Shop\n", is_packed);
		end_jar(&jar, is_packed ? "a comment" : "", 0);
		assert_int_equal(read_bytes(jar.bytes, jar.len), 0);
		assert_string_equal(class, "com.example.Shop");
	}
}

static void a_script_may_stand_before_a_jar(void **state)
{
	static const char script[] = "#!/bin/sh\nexec java -jar \"$0\"\n";
	struct jar jar = {.len = 0};
	size_t entry;

	put(jar.bytes, &jar.len, script, strlen(script));
	add_file(&jar, MANIFEST, "Main-Class: Shop\n", true);
	entry = 42;
	jar.directory_len = entry;
	put_number(jar.directory, &jar.directory_len, 0,
		   4); /* where the file is without the script */
	jar.directory_len += strlen(MANIFEST);
	end_jar(&jar, "", (uint32_t)strlen(script));
	assert_int_equal(read_bytes(jar.bytes, jar.len), 0);
	assert_string_equal(class, "Shop");
}

static void what_is_no_jar_or_names_no_class_is_told(void **state)
{
	struct jar jar = {.len = 0};

	assert_int_equal(read_bytes("", 0), -EBADMSG);
	assert_int_equal(read_bytes("no jar, but longer than an end record", 37), -EBADMSG);
	end_jar(&jar, "", 0);
	assert_int_equal(read_bytes(jar.bytes, jar.len), -ENOENT);
	jar = (struct jar){.len = 0};
	add_file(&jar, MANIFEST, "A: b\n", true);
	end_jar(&jar, "", 0);
	assert_int_equal(read_bytes(jar.bytes, jar.len), -ENOENT);
}

/* Each byte is changed to some others: whatever is read, nothing outside of the jar is. */
static void a_jar_with_any_byte_changed_does_no_harm(void **state)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	struct jar jar = {.len = 0};

	add_file(&jar, "a/B.class", "cafebabe", true);
	add_file(&jar, MANIFEST, "Main-Class: com.example.Shop\n", true);
	end_jar(&jar, "comment", 0);
	for (size_t i = 0; i < jar.len; i++) {
		const unsigned char was = jar.bytes[i];

		for (size_t j = 0; j < sizeof(values); j++) {
			jar.bytes[i] = values[j];
			read_bytes(jar.bytes, jar.len);
			assert_true(strlen(class) < sizeof(class));
		}
		jar.bytes[i] = was;
		assert_true(read_bytes(jar.bytes, i) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_main_class_is_what_the_manifest_names),
		cmocka_unit_test(what_a_launcher_starts_goes_before_the_launcher),
		cmocka_unit_test(a_line_goes_on_behind_a_blank),
		cmocka_unit_test(other_sections_and_names_do_not_count),
		cmocka_unit_test(names_without_end_and_control_characters_do_no_harm),
		cmocka_unit_test(the_manifest_is_found_packed_and_stored),
		cmocka_unit_test(a_script_may_stand_before_a_jar),
		cmocka_unit_test(what_is_no_jar_or_names_no_class_is_told),
		cmocka_unit_test(a_jar_with_any_byte_changed_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
