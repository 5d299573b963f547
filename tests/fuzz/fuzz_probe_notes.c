// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of probe points. A point must be what its table says: a nop lies in the file at its
 * place, and its semaphore is where the kernel takes one. The first bytes of an input that is no
 * ELF file are taken for a table that a parser sends.
 */
#include "fuzzer.h"

#include "elf/probe_notes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile uint64_t sink;

static void check_names(const struct probe_notes *notes)
{
	const struct probe_point *point = NULL;

	if (notes->count > PROBE_NOTES_MAX)
		abort();
	for (size_t i = 0; i < notes->count; i++) {
		const struct probe_point *const each = &notes->points[i];

		point = probe_notes_find(notes, each->provider, each->name, NULL);
		if (!point || strcmp(point->name, each->name) != 0 || each->semaphore_off % 2 ||
		    each->semaphore_off > UINT32_MAX)
			abort();
	}
	sink += probe_notes_bytes(notes) + !probe_notes_equal(notes, notes);
}

static void check_places(const struct probe_notes *notes, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < notes->count; i++) {
		const struct probe_point *const point = &notes->points[i];
		const uint8_t *const code = data + point->file_off;

		/* The file need not have a function's bytes, or a semaphore's: the kernel looks. */
		if (point->is_nop && (point->file_off >= size ||
				      (code[0] != 0x90 && code[0] != 0x0f && code[0] != 0x1f)))
			abort();
	}
}

static void load(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct probe_notes *notes;

	if (fd < 0)
		return;
	if (write(fd, data, size) == (ssize_t)size && probe_notes_load(fd, &notes) == 0) {
		check_names(notes);
		check_places(notes, data, size);
		probe_notes_free(notes);
	}
	close(fd);
}

static void restore(const uint8_t *data, size_t size)
{
	const size_t len = size < sizeof(struct probe_notes) ? size : sizeof(struct probe_notes);
	struct flat_reader reader = {0};
	struct probe_notes *notes;
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return;
	reader.sock = socks[1];
	if (write(socks[0], data, len) == (ssize_t)len && shutdown(socks[0], SHUT_WR) == 0 &&
	    probe_notes_restore(&reader, &notes) == 0) {
		check_names(notes);
		probe_notes_free(notes);
	}
	close(socks[0]);
	close(socks[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		load(data, size);
	else
		restore(data, size);
	return 0;
}
