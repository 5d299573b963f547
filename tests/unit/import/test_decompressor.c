// SPDX-License-Identifier: Apache-2.0
/*
 * A gzip file at once and in pieces gives the same bytes, or the same error; an xz file in pieces.
 */
#include "import/decompressor.h"

#include "encode/compressor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PLAIN_BYTES (3 * DECOMPRESSOR_BYTES + 17)

static char plain[PLAIN_BYTES];
static char *file; /* gzip, of two members */
static size_t file_len, first_len;

struct pieces {
	const char *data;
	size_t len, size; /* of each piece */
	bool is_xz;
	int err; /* at the end, instead of it */
};

static int next(void *arg, const char **ret, size_t *ret_len)
{
	struct pieces *const pieces = arg;
	const size_t n = pieces->len < pieces->size ? pieces->len : pieces->size;

	*ret = pieces->data;
	*ret_len = n;
	pieces->data += n;
	pieces->len -= n;
	return n == 0 ? pieces->err : 0;
}

static void add_member(FILE *stream, const char *data, size_t len)
{
	static struct compressor compressor;

	assert_int_equal(compressor_init(&compressor, COMPRESSION_GZIP, stream), 0);
	compressor_add(&compressor, data, len);
	assert_int_equal(compressor_finish(&compressor), 0);
	compressor_fini(&compressor);
	fflush(stream);
}

static int set_up(void **state)
{
	FILE *const stream = open_memstream(&file, &file_len);

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (char)(i * i >> 7);
	add_member(stream, plain, 1000);
	first_len = file_len;
	add_member(stream, plain + 1000, sizeof(plain) - 1000);
	return fclose(stream);
}

static int tear_down(void **state)
{
	free(file);
	return 0;
}

/*
 * In pieces of that size; 0, with what is wanted taken, the error that is kept, or -ENODATA: more
 * is there.
 */
static int read_pieces(const struct pieces *whole, size_t wanted, uint64_t max)
{
	static struct decompressor decompressor;
	static char taken[PLAIN_BYTES];
	struct pieces pieces = *whole;
	const struct decompressor_source source = {.next = next, .arg = &pieces};
	int err = 0;

	assert_int_equal(pieces.is_xz ? decompressor_init_xz(&decompressor, &source, max)
				      : decompressor_init_gzip(&decompressor, &source, max),
			 0);
	if (decompressor_take(&decompressor, taken, wanted)) {
		assert_memory_equal(taken, plain, wanted);
		err = decompressor_at_end(&decompressor) || decompressor.err ? decompressor.err
									     : -ENODATA;
	} else {
		err = decompressor.err;
	}
	/* What has ended or failed gives no more. */
	assert_int_equal(decompressor_take(&decompressor, NULL, 1), err == -ENODATA);
	decompressor_fini(&decompressor);
	return err;
}

/* Of a file's first len bytes: wanted bytes come out of it, or the error. */
static void check(const char *data, size_t len, size_t wanted, uint64_t max, int err)
{
	static const size_t sizes[] = {1, 7, 4096, SIZE_MAX};
	unsigned char *all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const struct pieces pieces = {.data = data, .len = len, .size = sizes[i]};

		assert_int_equal(read_pieces(&pieces, wanted, max), err);
	}
	assert_int_equal(decompressor_gunzip(data, len, max, &all, &n), err);
	assert_int_equal(n, err ? 0 : wanted);
	if (!err)
		assert_memory_equal(all, plain, wanted);
	free(all);
}

static void all_members_come_out(void **state)
{
	check(file, first_len, 1000, 1000, 0);
	check(file, file_len, sizeof(plain), sizeof(plain), 0);
}

static void a_member_may_be_empty(void **state)
{
	static const char empty[] = "\x1f\x8b\x08\0\0\0\0\0\0\3" /* no name, no time */
				    "\3\0\0\0\0\0\0\0\0";

	check(empty, sizeof(empty), 0, 1000, 0);
}

static void what_is_cut_or_followed_by_something_else_is_refused(void **state)
{
	char *const more = malloc(file_len + 2);

	assert_non_null(more);
	memcpy(more, file, file_len);
	memcpy(more + file_len, "xy", 2);
	check(more, file_len + 2, sizeof(plain), sizeof(plain), -EINVAL);
	check(more, first_len - 1, 1000, 1000, -EINVAL);
	check(more, file_len - 8, sizeof(plain), sizeof(plain), -EINVAL);
	check(more, 0, 1, 1, -EINVAL);
	more[file_len - 5] ^= 1; /* the checksum */
	check(more, file_len, sizeof(plain), sizeof(plain), -EINVAL);
	free(more);
}

static void more_than_may_come_out_is_refused(void **state)
{
	check(file, first_len, 1000, 999, -EFBIG);
	check(file, file_len, sizeof(plain), sizeof(plain) - 1, -EFBIG);
}

static void error_of_the_source_is_kept(void **state)
{
	const struct pieces pieces = {.data = file, .len = first_len / 2, .size = 9, .err = -EIO};

	assert_int_equal(read_pieces(&pieces, 1000, 1000), -EIO);
}

static void what_is_left_over_is_no_end(void **state)
{
	const struct pieces both = {.data = file, .len = file_len, .size = 4096};
	const struct pieces one = {.data = file, .len = first_len, .size = 4096};

	assert_int_equal(read_pieces(&both, 1000, sizeof(plain)), -ENODATA);
	assert_int_equal(read_pieces(&one, 999, sizeof(plain)), -ENODATA);
}

static void pack_as_xz(const char *data, size_t len, char **ret, size_t *ret_len)
{
	static struct compressor compressor;
	FILE *const stream = open_memstream(ret, ret_len);

	assert_int_equal(compressor_init(&compressor, COMPRESSION_XZ, stream), 0);
	compressor_add(&compressor, data, len);
	assert_int_equal(compressor_finish(&compressor), 0);
	compressor_fini(&compressor);
	assert_int_equal(fclose(stream), 0);
}

/* Of an xz file's bytes, in pieces of several sizes. */
static void check_xz(const char *data, size_t len, size_t wanted, uint64_t max, int err)
{
	static const size_t sizes[] = {1, 7, 4096, SIZE_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const struct pieces pieces = {
			.data = data, .len = len, .size = sizes[i], .is_xz = true};

		assert_int_equal(read_pieces(&pieces, wanted, max), err);
	}
}

static void xz_is_unpacked_too(void **state)
{
	char *packed = NULL, *empty = NULL, *more;
	size_t len = 0, empty_len = 0;

	pack_as_xz(plain, sizeof(plain), &packed, &len);
	pack_as_xz(plain, 0, &empty, &empty_len);
	more = malloc(len + 2);
	assert_non_null(more);
	memcpy(more, packed, len);
	memcpy(more + len, "xy", 2);
	check_xz(packed, len, sizeof(plain), sizeof(plain), 0);
	check_xz(empty, empty_len, 0, 0, 0);
	check_xz(packed, len, sizeof(plain), sizeof(plain) - 1, -EFBIG);
	check_xz(packed, len - 1, sizeof(plain), sizeof(plain), -EINVAL);
	check_xz(packed, 0, 1, 1, -EINVAL);
	check_xz(more, len + 2, sizeof(plain), sizeof(plain), -EINVAL);
	more[len / 2] ^= 1;
	check_xz(more, len, sizeof(plain), sizeof(plain), -EINVAL);
	check_xz(file, file_len, sizeof(plain), sizeof(plain), -EINVAL);
	free(more);
	free(empty);
	free(packed);
}

/* A file of a few bytes may ask for 4 GiB. */
static void xz_that_takes_much_memory_is_refused(void **state)
{
	unsigned char packed[256];
	size_t len = 0;
	lzma_options_lzma options;
	const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

	assert_false(lzma_lzma_preset(&options, 0));
	options.dict_size = 64u << 20;
	assert_int_equal(lzma_stream_buffer_encode((lzma_filter *)filters, LZMA_CHECK_CRC32, NULL,
						   (const uint8_t *)plain, 1, packed, &len,
						   sizeof(packed)),
			 LZMA_OK);
	check_xz((const char *)packed, len, 1, 1, -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_members_come_out),
		cmocka_unit_test(a_member_may_be_empty),
		cmocka_unit_test(what_is_cut_or_followed_by_something_else_is_refused),
		cmocka_unit_test(more_than_may_come_out_is_refused),
		cmocka_unit_test(error_of_the_source_is_kept),
		cmocka_unit_test(what_is_left_over_is_no_end),
		cmocka_unit_test(xz_is_unpacked_too),
		cmocka_unit_test(xz_that_takes_much_memory_is_refused),
	};

	return cmocka_run_group_tests_name("decompressor", tests, set_up, tear_down);
}
