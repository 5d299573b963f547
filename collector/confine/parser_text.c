// SPDX-License-Identifier: Apache-2.0
/*
 * One message with the head and the descriptor of a file in memory, see parser_text.h. The file's
 * size is the length of the text.
 */
#include "confine/parser_text.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "confine/parser.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int parser_text_send(int sock, const void *head, size_t head_len, const char *text, size_t len)
{
	_cleanup_close_ const int fd = memfd_create("fgcollect-text", MFD_CLOEXEC);
	const int err = fd < 0 ? -errno : file_write_all(fd, text, len);

	if (err)
		return err;
	/* The head has room in the socket's empty buffer. */
	return parser_send(sock, head, head_len, fd);
}

int parser_text_receive(int sock, void *head, size_t head_len, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	struct stat st;
	ssize_t n;
	int fd;

	if (parser_receive(sock, head, head_len, &fd) < 0 || fd < 0)
		return -EBADMSG;
	len = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
	text = malloc(len + 1);
	n = text ? file_read_at(fd, text, len, 0) : -ENOMEM;
	close(fd);
	if (!text)
		return -ENOMEM;
	if (n < (ssize_t)len)
		return -EBADMSG;
	text[len] = '\0';
	*ret = text;
	*ret_len = len;
	text = NULL;
	return 0;
}
