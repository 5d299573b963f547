// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file, and its debug files as they are asked for -> a parser, which says when it has
 *          all
 * units:   none
 * threads: any; both sides wait as long as the file's file system and the other side do
 * errors:  those of the kind of file that the parser says; -EBADMSG: the parser has died, or lies
 * source:  none
 *
 * The collector sends the file's descriptor. The parser asks for debug files by build ID and name;
 * the collector finds these (elf/debug_paths.h) and has descriptors sent. Then the parser says that
 * it has all, or an error.
 */
#ifndef FG_FILES_PARSER_FILE_H
#define FG_FILES_PARSER_FILE_H

#include "elf/debug_paths.h"

#include <stdbool.h>

/*
 * The collector's side. The file is opened for the parser by root_file_hand: path_fd may be of
 * O_PATH. place may be NULL. *ret_is_private: a file of the target's root was sent.
 */
int parser_file_send(int sock, int path_fd, const struct debug_place *place, bool *ret_is_private);

/* What a parser gets. Its place points into the struct itself, which must not move. */
struct parser_file {
	int sock, fd;
	bool has_place;
	struct debug_place place; /* asks the collector */
	struct elf_layout layout;
};

/* The parser's side. */
int parser_file_receive(int sock, struct parser_file *ret);
/* err: 0 or a negative errno. From then on no debug file can be asked for. */
int parser_file_done(const struct parser_file *file, int err);

#endif
