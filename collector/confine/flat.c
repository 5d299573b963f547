// SPDX-License-Identifier: Apache-2.0
/* Arrays over sockets, see flat.h. */
#include "confine/flat.h"

#include "confine/parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void flat_write(struct flat_writer *writer, const void *bytes, size_t len)
{
	if (!writer->err)
		writer->err = parser_send(writer->sock, bytes, len, -1);
}

void flat_read(struct flat_reader *reader, void *ret, size_t len)
{
	if (!reader->err)
		reader->err = parser_receive(reader->sock, ret, len, NULL);
	if (reader->err)
		memset(ret, 0, len);
}

void *flat_read_array(struct flat_reader *reader, uint64_t count, size_t bytes, uint64_t max)
{
	void *array;

	if (count > max && !reader->err)
		reader->err = -EBADMSG;
	if (count == 0 || reader->err)
		return NULL;
	array = malloc((size_t)count * bytes);
	if (!array) {
		reader->err = -ENOMEM;
		return NULL;
	}
	flat_read(reader, array, (size_t)count * bytes);
	if (!reader->err)
		return array;
	free(array);
	return NULL;
}
