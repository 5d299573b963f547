// SPDX-License-Identifier: Apache-2.0
/* Both ends of the socket to a parser of tables, see table_parser.h. */
#include "files/table_parser.h"

#include "confine/parser.h"
#include "files/parser_file.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void table_parser_serve(const struct table_kind *kind, int sock)
{
	struct flat_writer writer = {.sock = sock};
	struct parser_file file;
	void *table;
	int err;

	if (parser_file_receive(sock, &file) < 0)
		return;
	err = kind->load(file.fd, file.has_place ? &file.place : NULL, &table);
	if (parser_file_done(&file, err) == 0 && !err)
		kind->flatten(table, &writer);
}

static int ask(const struct table_kind *kind, int sock, int fd, const struct debug_place *place,
	       void **ret)
{
	struct flat_reader reader = {.sock = sock};
	bool is_private;
	const int err = parser_file_send(sock, fd, place, &is_private);

	return err ? err : kind->restore(&reader, is_private, ret);
}

int table_parser_load(const struct table_kind *kind, int fd, const struct debug_place *place,
		      struct table_parser *current, void **ret)
{
	struct parser parser;
	int err = parser_start(kind->role, &parser);

	if (err)
		return -EAGAIN;
	if (current) {
		current->id = parser.id;
		current->pid = parser.pid;
	}
	err = ask(kind, parser.sock, fd, place, ret);
	if (current)
		current->pid = 0;
	parser_stop(&parser); /* the parser may still be there, even if it has answered */
	return err;
}
