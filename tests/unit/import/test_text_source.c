// SPDX-License-Identifier: Apache-2.0
/* What a file is packed and encoded in does not matter: its stacks are the same. */
#include "imported.h"

#include "encode/compressor.h"

#include <errno.h>
#include <stdio.h>

/* A frame as zstd writes it of a few bytes: no packing, its size in one byte, no checksum. */
static size_t pack_zstd(const char *text, char *ret)
{
	const size_t len = strlen(text);
	const char head[] = {0x28,
			     (char)0xb5,
			     0x2f,
			     (char)0xfd,
			     0x20,
			     (char)len,
			     (char)(len << 3 | 1),
			     (char)(len >> 5),
			     0};

	assert_true(len < 256);
	memcpy(ret, head, sizeof(head));
	memcpy(ret + sizeof(head), text, len);
	return sizeof(head) + len;
}

static size_t pack(enum compression how, const char *text, char *ret)
{
	static struct compressor compressor;
	char *data = NULL;
	size_t len = 0;
	FILE *const stream = open_memstream(&data, &len);

	assert_int_equal(compressor_init(&compressor, how, stream), 0);
	compressor_add(&compressor, text, strlen(text));
	assert_int_equal(compressor_finish(&compressor), 0);
	compressor_fini(&compressor);
	fclose(stream);
	memcpy(ret, data, len);
	free(data);
	return len;
}

static void check_bytes(const char *data, size_t len, const char *expected)
{
	struct imported imported;

	import_bytes(&imported, &all_marks, data, len);
	assert_int_equal(imported.rc, 0);
	check_profile(&imported.profile, expected);
	assert_int_equal(imported.report.ignored, 0);
	imported_fini(&imported);
}

static void check_text(const char *text, const char *expected)
{
	check_bytes(text, strlen(text), expected);
}

/* Each text in each form, once and twice behind itself, and what is cut. */
static void check_forms(const char *text, const char *expected, const char *twice)
{
	for (int form = 0; form < 3; form++) {
		char packed[2048];
		struct imported imported;
		const size_t len = form == 0   ? pack(COMPRESSION_GZIP, text, packed)
				   : form == 1 ? pack(COMPRESSION_XZ, text, packed)
					       : pack_zstd(text, packed);

		check_bytes(packed, len, expected);
		memcpy(packed + len, packed, len);
		check_bytes(packed, 2 * len, twice);
		import_bytes(&imported, &all_marks, packed, len - 3);
		assert_int_equal(imported.rc, -EINVAL);
		assert_non_null(strstr(imported.report.first_reason, "cut or damaged"));
		imported_fini(&imported);
	}
}

static void texts_are_unpacked(void **state)
{
	check_forms("a;b 3\n", "a;b 3\n", "a;b 6\n");
	check_forms("app 7 [000] 1.1: 250 cycles: \n\t            1004 f+0x4 (/app)\n\n",
		    "app;f 250\n", "app;f 500\n");
	check_forms("\xef\xbb\xbf"
		    "a;\xc3\xa4 1\n",
		    "a;\xc3\xa4 1\n", "?a;\xc3\xa4 1\na;\xc3\xa4 1\n");
}

static void byte_order_marks_are_left_out(void **state)
{
	check_text("\xef\xbb\xbf"
		   "a;b 1\na;c 2\n",
		   "a;b 1\na;c 2\n");
	check_text("\xef\xbb\xbf"
		   "app 7 [000] 1.1: 250 cycles: \n\t            1004 f (/app)\n\n",
		   "app;f 250\n");
	check_text("\xef\xbb\xbf"
		   "# x\na;b 1\n",
		   "a;b 1\n");
	check_text("a;b 1\n", "a;b 1\n");
}

/* Makes UTF-16 of a text whose characters take 16 bits at most. */
static size_t widen(const uint16_t *text, size_t n, bool is_big, char *ret)
{
	for (size_t i = 0; i < n; i++) {
		ret[2 * i + is_big] = (char)text[i];
		ret[2 * i + !is_big] = (char)(text[i] >> 8);
	}
	return 2 * n;
}

static void utf_16_is_read_in_both_orders(void **state)
{
	static const uint16_t plain[] = {0xfeff, 'a', ';', 'b', ' ', '3', '\r', '\n'};
	static const uint16_t wide[] = {0xfeff, 'a',	';', 0xe4, 0x20ac,
					0xd83d, 0xdd25, ' ', '1',  '\n'};
	static const uint16_t half[] = {0xfeff, 'a', ';', 0xd83d, 'b', 0xdd25, ' ', '1', '\n'};
	char data[64];

	for (int is_big = 0; is_big < 2; is_big++) {
		check_bytes(data, widen(plain, 8, is_big, data), "a;b 3\n");
		check_bytes(data, widen(wide, 10, is_big, data),
			    "a;\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5 1\n");
		check_bytes(data, widen(half, 9, is_big, data),
			    "a;\xef\xbf\xbd"
			    "b\xef\xbf\xbd 1\n");
	}
}

/* A character may stand at the end of what is read at once. */
static void long_utf_16_is_whole(void **state)
{
	const size_t n = 100000;
	char *const data = malloc(2 + 12 * n), *to = data;
	char expected[32];

	to[0] = (char)0xff;
	to[1] = (char)0xfe;
	to += 2;
	for (size_t i = 0; i < n; i++, to += 12)
		memcpy(to,
		       (const char[]){(char)0xac, 0x20, ';', 0, 'b', 0, ' ', 0, '1', 0, '\n', 0},
		       12);
	snprintf(expected, sizeof(expected), "\xe2\x82\xac;b %zu\n", n);
	check_bytes(data, 2 + 12 * n, expected);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_unpacked),
		cmocka_unit_test(byte_order_marks_are_left_out),
		cmocka_unit_test(utf_16_is_read_in_both_orders),
		cmocka_unit_test(long_utf_16_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
