// SPDX-License-Identifier: Apache-2.0
/*
 * Unpacks mini debug info, see mini_debug.h: an ELF file with little but a .symtab, compressed with
 * xz. The unpacked size has a limit, and so has the memory that xz takes. The bytes are memory of
 * the process, which has a limit too, and no file, of which a process could have many.
 */
#include "elf/mini_debug.h"

#include "base/cleanup.h"
#include "elf/elf_section.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define MAX_PACKED_BYTES (64u << 20)
#define MAX_XZ_BYTES	 (96u << 20) /* memory for the dictionary of xz -9 */
#define FIRST_BYTES	 (256u << 10)

/* Makes room for more. The last byte is one that no file within the limit needs. */
static int grow(lzma_stream *stream, char **bytes, size_t *capacity)
{
	const size_t most = MINI_DEBUG_MAX_BYTES + 1;
	size_t wanted = *capacity ? 2 * *capacity : FIRST_BYTES;
	char *grown;

	if (*capacity == most)
		return -EFBIG;
	if (wanted > most)
		wanted = most;
	grown = realloc(*bytes, wanted);
	if (!grown)
		return -ENOMEM;
	*bytes = grown;
	stream->next_out = (uint8_t *)grown + *capacity;
	stream->avail_out = wanted - *capacity;
	*capacity = wanted;
	return 0;
}

static int unpack(lzma_stream *stream, char **bytes)
{
	lzma_ret result = LZMA_OK;
	size_t capacity = 0;
	int err = 0;

	while (!err && result == LZMA_OK) {
		if (stream->avail_out == 0)
			err = grow(stream, bytes, &capacity);
		if (!err)
			result = lzma_code(stream, LZMA_FINISH);
	}
	if (err || result == LZMA_STREAM_END)
		return err;
	return result == LZMA_MEM_ERROR	       ? -ENOMEM
	       : result == LZMA_MEMLIMIT_ERROR ? -EFBIG
					       : -ENOEXEC;
}

int mini_debug_unpack(const struct elf_file *file, char **ret, size_t *ret_len)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(file, ".gnu_debugdata", &header);
	_cleanup_free_ char *bytes = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	Elf_Data *data;
	int err;

	if (!section)
		return -ENOENT;
	err = elf_section_read(section, MAX_PACKED_BYTES, &data);
	if (err)
		return err;
	if (lzma_stream_decoder(&stream, MAX_XZ_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	err = unpack(&stream, &bytes);
	if (!err && stream.total_out > MINI_DEBUG_MAX_BYTES)
		err = -EFBIG;
	*ret_len = err ? *ret_len : stream.total_out;
	lzma_end(&stream);
	if (err)
		return err;
	*ret = bytes;
	bytes = NULL;
	return 0;
}
