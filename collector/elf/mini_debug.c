// SPDX-License-Identifier: Apache-2.0
/*
 * Unpacks mini debug info, see mini_debug.h: an ELF file with little but a .symtab, compressed with
 * xz. The file is unpacked piece by piece into a memfd. The unpacked size has a limit, and so has
 * the memory that xz takes.
 */
#include "elf/mini_debug.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "elf/elf_section.h"

#include <errno.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_PACKED_BYTES (64u << 20)
#define MAX_XZ_BYTES	 (96u << 20) /* memory for the dictionary of xz -9 */
#define PIECE_BYTES	 (64u << 10)

static int unpack(lzma_stream *stream, int fd)
{
	unsigned char piece[PIECE_BYTES];
	lzma_ret result = LZMA_OK;
	int err = 0;

	while (!err && result == LZMA_OK) {
		stream->next_out = piece;
		stream->avail_out = sizeof(piece);
		result = lzma_code(stream, LZMA_FINISH);
		if (stream->total_out > MINI_DEBUG_MAX_BYTES)
			return -EFBIG;
		err = file_write_all(fd, piece, sizeof(piece) - stream->avail_out);
	}
	if (err || result == LZMA_STREAM_END)
		return err;
	return result == LZMA_MEM_ERROR	       ? -ENOMEM
	       : result == LZMA_MEMLIMIT_ERROR ? -EFBIG
					       : -ENOEXEC;
}

int mini_debug_open(const struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(file, ".gnu_debugdata", &header);
	_cleanup_close_ int fd = -1;
	lzma_stream stream = LZMA_STREAM_INIT;
	Elf_Data *data;
	int err, ret;

	if (!section)
		return -ENOENT;
	err = elf_section_read(section, MAX_PACKED_BYTES, &data);
	if (err)
		return err;
	fd = memfd_create("mini debug info", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (lzma_stream_decoder(&stream, MAX_XZ_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	err = unpack(&stream, fd);
	lzma_end(&stream);
	if (err)
		return err;
	ret = fd;
	fd = -1;
	return ret;
}
