// SPDX-License-Identifier: Apache-2.0
/* Claims about cli/stdout_output.h: what a pipe took, and how much of it. */
#include "cli/stdout_output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>

#define LARGE_BYTES (1u << 20)

static int ends[2];
static char *received;
static size_t received_bytes;

static int set_up(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	received = malloc(LARGE_BYTES + 1);
	received_bytes = 0;
	return received && pipe(ends) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	free(received);
	return 0;
}

static void *receive(void *arg)
{
	const int fd = ends[0];
	ssize_t n;

	(void)arg;
	while ((n = read(fd, received + received_bytes, LARGE_BYTES + 1 - received_bytes)) > 0)
		received_bytes += (size_t)n;
	close(fd);
	return NULL;
}

static void every_byte_passes_with_its_number_and_sum(void **state)
{
	static const char bytes[] = "\0\r\n\x1a\xff<html>";
	struct stdout_output output;
	pthread_t reader;

	assert_int_equal(pthread_create(&reader, NULL, receive, NULL), 0);
	assert_int_equal(stdout_output_open(&output, ends[1]), 0);
	assert_int_equal(fwrite(bytes, 1, 3, output.stream), 3);
	assert_int_equal(fflush(output.stream), 0);
	assert_int_equal(fwrite(bytes + 3, 1, sizeof(bytes) - 3, output.stream), sizeof(bytes) - 3);
	assert_int_equal(stdout_output_close(&output), 0);
	close(ends[1]);
	pthread_join(reader, NULL);
	assert_int_equal(output.bytes, sizeof(bytes));
	assert_int_equal(received_bytes, sizeof(bytes));
	assert_memory_equal(received, bytes, sizeof(bytes));
	assert_int_equal(output.crc, crc32(0, (const Bytef *)bytes, sizeof(bytes)));
}

static void the_sum_is_the_one_that_gzip_has(void **state)
{
	struct stdout_output output;

	assert_int_equal(stdout_output_open(&output, ends[1]), 0);
	assert_true(fputs("123456789", output.stream) >= 0);
	assert_int_equal(stdout_output_close(&output), 0);
	assert_int_equal(output.crc, 0xcbf43926); /* the check value of this CRC */
	close(ends[0]);
	close(ends[1]);
}

static void a_descriptor_that_does_not_block_is_waited_for(void **state)
{
	char *bytes = calloc(1, LARGE_BYTES);
	struct stdout_output output;
	pthread_t reader;

	assert_non_null(bytes);
	memset(bytes, 'x', LARGE_BYTES);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(pthread_create(&reader, NULL, receive, NULL), 0);
	assert_int_equal(stdout_output_open(&output, ends[1]), 0);
	assert_int_equal(fwrite(bytes, 1, LARGE_BYTES, output.stream), LARGE_BYTES);
	assert_int_equal(stdout_output_close(&output), 0);
	close(ends[1]);
	pthread_join(reader, NULL);
	assert_int_equal(output.bytes, LARGE_BYTES);
	assert_int_equal(received_bytes, LARGE_BYTES);
	free(bytes);
}

static void a_reader_that_has_gone_is_an_error(void **state)
{
	struct stdout_output output;

	close(ends[0]);
	assert_int_equal(stdout_output_open(&output, ends[1]), 0);
	assert_true(fputs("lost", output.stream) >= 0); /* in the stream's own buffer */
	assert_int_equal(stdout_output_close(&output), -EPIPE);
	assert_int_equal(output.bytes, 0);
	close(ends[1]);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_byte_passes_with_its_number_and_sum),
		TEST(the_sum_is_the_one_that_gzip_has),
		TEST(a_descriptor_that_does_not_block_is_waited_for),
		TEST(a_reader_that_has_gone_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
