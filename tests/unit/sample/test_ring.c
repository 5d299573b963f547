// SPDX-License-Identifier: Apache-2.0
/* A ring whose kernel is this test: records that wrap around come out whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sample/ring.h"

#define DATA_BYTES 65536u

static struct perf_event_mmap_page *control;
static unsigned char *ring_data;

/* Writes one record of size bytes, its body filled with fill, as the kernel would. */
static void put(uint16_t size, unsigned char fill)
{
	const struct perf_event_header header = {.type = 4711, .size = size};
	const uint64_t head = control->data_head;

	for (uint16_t i = 0; i < size; i++) {
		const unsigned char byte =
			i < sizeof(header) ? ((const unsigned char *)&header)[i] : fill;

		ring_data[(head + i) % DATA_BYTES] = byte;
	}
	control->data_head = head + size;
}

/* The caller closes. */
static int make_ring(struct ring *ret)
{
	const int fd = memfd_create("ring", 0);

	assert_int_equal(ftruncate(fd, sysconf(_SC_PAGESIZE) + (off_t)DATA_BYTES), 0);
	assert_int_equal(ring_open(ret, fd, DATA_BYTES), 0);
	control = ret->base;
	ring_data = (unsigned char *)ret->base + sysconf(_SC_PAGESIZE);
	return fd;
}

static void wrapped_records_come_out_whole(void **state)
{
	struct ring ring;
	const int fd = make_ring(&ring);
	size_t len;

	assert_null(ring_next(&ring, &len));
	srand(3);
	for (int round = 0; round < 2000; round++) {
		const uint16_t size = (uint16_t)(8 + 8 * (rand() % 1000));
		const unsigned char fill = (unsigned char)round;
		const unsigned char *record;

		put(size, fill);
		record = ring_next(&ring, &len);
		assert_non_null(record);
		assert_int_equal(len, size);
		for (size_t i = sizeof(struct perf_event_header); i < len; i++)
			assert_int_equal(record[i], fill);
		assert_null(ring_next(&ring, &len));
		ring_done(&ring);
		assert_int_equal(control->data_tail, control->data_head);
	}
	ring_close(&ring);
	close(fd);
}

static void broken_size_ends_the_reading_rather_than_looping(void **state)
{
	struct ring ring;
	const int fd = make_ring(&ring);
	size_t len;

	control->data_head = 64; /* zeroes: a record of size 0 */
	assert_null(ring_next(&ring, &len));
	put(16, 1);
	assert_non_null(ring_next(&ring, &len));
	ring_close(&ring);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrapped_records_come_out_whole),
		cmocka_unit_test(broken_size_ends_the_reading_rather_than_looping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
