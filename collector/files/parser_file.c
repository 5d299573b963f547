// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of the socket while a parser gets its files, see parser_file.h. The collector opens at
 * most MAX_WISHES debug files for one file, so that a hostile parser cannot ask without end.
 */
#include "files/parser_file.h"

#include "base/cleanup.h"
#include "base/root_file.h"
#include "confine/parser.h"

#include <errno.h>
#include <unistd.h>

#define MAX_WISHES 64

/* The first bytes that the collector sends, with the file; a layout may follow. */
struct request {
	bool has_place, has_layout;
};

enum answer_kind { ANSWER_WISH, ANSWER_DONE };

struct answer {
	enum answer_kind kind;
	int err;
	unsigned at; /* of a wish */
	struct debug_wish wish;
};

/* What the collector answers to a wish. It comes with a file if err is 0. */
struct offer {
	int err;
	unsigned at;
	bool is_targets;
};

/* ---- the parser ---- */

static int ask_collector(void *arg, const struct debug_wish *wish, unsigned *at,
			 bool *ret_is_targets)
{
	const struct answer answer = {.kind = ANSWER_WISH, .at = *at, .wish = *wish};
	const int sock = ((const struct parser_file *)arg)->sock;
	struct offer offer;
	int fd;

	if (parser_send(sock, &answer, sizeof(answer), -1) < 0 ||
	    parser_receive(sock, &offer, sizeof(offer), &fd) < 0 || offer.err || fd < 0)
		return -ENOENT;
	*at = offer.at;
	*ret_is_targets = offer.is_targets;
	return fd;
}

int parser_file_receive(int sock, struct parser_file *ret)
{
	struct request request;
	int err;

	*ret = (struct parser_file){.sock = sock};
	err = parser_receive(sock, &request, sizeof(request), &ret->fd);
	if (!err && request.has_layout)
		err = parser_receive(sock, &ret->layout, sizeof(ret->layout), NULL);
	if (err || ret->fd < 0)
		return -EBADMSG;
	ret->has_place = request.has_place;
	ret->place = (struct debug_place){.root = -1,
					  .whose = request.has_layout ? &ret->layout : NULL,
					  .ask = ask_collector,
					  .arg = ret};
	return 0;
}

int parser_file_done(const struct parser_file *file, int err)
{
	const struct answer answer = {.kind = ANSWER_DONE, .err = err};

	return parser_send(file->sock, &answer, sizeof(answer), -1);
}

/* ---- the collector ---- */

/* Returns the error that ends the load, or 0. */
static int grant(int sock, const struct debug_place *place, const struct answer *wish,
		 bool *is_private)
{
	struct offer offer = {.at = wish->at};
	const struct reach_target parser = {sock, &offer, sizeof(offer)};
	_cleanup_close_ const int path_fd =
		debug_paths_find(place, &wish->wish, &offer.at, &offer.is_targets);

	if (path_fd >= 0 && root_file_hand(path_fd, &parser) == 0) {
		*is_private |= offer.is_targets;
		return 0;
	}
	offer.err = -ENOENT;
	return parser_send(sock, &offer, sizeof(offer), -1);
}

/* Serves the parser's wishes. Returns the error that the parser says. */
static int hear(int sock, const struct debug_place *place, bool *is_private)
{
	struct answer answer;

	for (unsigned wishes = 0; wishes < MAX_WISHES; wishes++) {
		int err = parser_receive(sock, &answer, sizeof(answer), NULL);

		if (err)
			return err;
		if (answer.kind == ANSWER_DONE)
			return answer.err;
		if (answer.kind != ANSWER_WISH || !place)
			return -EBADMSG;
		err = grant(sock, place, &answer, is_private);
		if (err)
			return err;
	}
	return -EBADMSG;
}

/* The errors of a file. A parser has too little memory for a file that is too large. */
static int error_of(int err)
{
	switch (err) {
	case 0:
	case -ENOENT:
	case -ENOEXEC:
	case -EFBIG:
	case -EINVAL:
	case -EIO:
		return err;
	case -ENOMEM:
		return -EFBIG;
	default:
		return -EBADMSG;
	}
}

int parser_file_send(int sock, int path_fd, const struct debug_place *place, bool *ret_is_private)
{
	const struct elf_layout *const whose = place ? place->whose : NULL;
	const struct request request = {.has_place = place != NULL, .has_layout = whose != NULL};
	const struct reach_target parser = {sock, &request, sizeof(request)};
	int err = root_file_hand(path_fd, &parser);

	*ret_is_private = false;
	if (!err && whose)
		err = parser_send(sock, whose, sizeof(*whose), -1);
	return err ? err : error_of(hear(sock, place, ret_is_private));
}
