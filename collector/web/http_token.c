// SPDX-License-Identifier: Apache-2.0
/* Keeps the token of a file, see http_token.h. */
#include "web/http_token.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/thread.h"
#include "lazy/lazy_gnutls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS " \t\r\n"

/* What is wrong, in words; "" of an error of the system. */
static const char *explain(int err)
{
	switch (err) {
	case -EPERM:
		return "others may read or write it: chmod 600";
	case -EBADF:
		return "is no file";
	case -EMSGSIZE:
		return "its first line has to have 16 to 255 characters, such as openssl rand -hex "
		       "32 writes";
	default:
		return strerror(-err);
	}
}

static int check(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return -EBADF;
	return st->st_mode & (S_IROTH | S_IWOTH | S_IWGRP) ? -EPERM : 0;
}

/* The first line without blanks around it. */
static int read_line(int fd, char ret[HTTP_TOKEN_MOST + 1])
{
	char bytes[2 * HTTP_TOKEN_MOST] = "";
	const ssize_t n = read(fd, bytes, sizeof(bytes) - 1);
	const char *line = bytes + strspn(bytes, BLANKS);
	size_t len = strcspn(line, "\r\n");

	if (n < 0)
		return -errno;
	while (len > 0 && strchr(BLANKS, line[len - 1]))
		len--;
	if (len < HTTP_TOKEN_LEAST || len > HTTP_TOKEN_MOST)
		return -EMSGSIZE;
	memset(ret, 0, HTTP_TOKEN_MOST + 1);
	memcpy(ret, line, len);
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

static uint64_t state_of(const struct stat *st)
{
	return ((uint64_t)st->st_mtim.tv_sec * 1000003 + (uint64_t)st->st_mtim.tv_nsec) * 1000003 ^
	       ((uint64_t)st->st_ctim.tv_sec * 1000003 + (uint64_t)st->st_ctim.tv_nsec) ^
	       (uint64_t)st->st_ino << 20 ^ (uint64_t)st->st_size;
}

/* 1: the file has not changed. */
static int read_file(struct http_token *token, char ret[HTTP_TOKEN_MOST + 1])
{
	_cleanup_close_ int fd = open(token->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (token->text[0] && state_of(&st) == token->seen)
		return 1;
	err = check(&st);
	if (!err)
		err = read_line(fd, ret);
	if (!err)
		token->seen = state_of(&st);
	return err;
}

/* One thread at a time calls it. */
void http_token_refresh(struct http_token *token)
{
	char text[HTTP_TOKEN_MOST + 1] = "";
	const int rc = read_file(token, text);

	if (rc == 1)
		return;
	pthread_mutex_lock(&token->lock);
	memcpy(token->text, text, sizeof(text));
	pthread_mutex_unlock(&token->lock);
	explicit_bzero(text, sizeof(text));
	if (rc < 0 && rc != token->err)
		log_error("--http-token-file %s: %s: until then nobody is let in", token->path,
			  explain(rc));
	token->err = rc;
}

int http_token_open(struct http_token *token, const char *path)
{
	const char *const why = lazy_gnutls_load();

	if (why) {
		log_error("--http-token-file: %s", why);
		return -ELIBACC;
	}
	*token = (struct http_token){.path = strdup(path)};
	if (!token->path)
		return -ENOMEM;
	pthread_mutex_init(&token->lock, NULL);
	http_token_refresh(token);
	return token->err < 0 ? token->err : 0;
}

void http_token_close(struct http_token *token)
{
	if (!token->path)
		return;
	pthread_mutex_destroy(&token->lock);
	free(token->path);
	explicit_bzero(token, sizeof(*token));
}

bool http_token_is(struct http_token *token, const char *text)
{
	char given[HTTP_TOKEN_MOST + 1] = "";
	const size_t len = strlen(text);

	if (len > HTTP_TOKEN_MOST)
		return false;
	memcpy(given, text, len);
	THREAD_HOLD(&token->lock);
	return gnutls_memcmp(given, token->text, sizeof(given)) == 0 && token->text[0];
}
