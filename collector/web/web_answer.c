// SPDX-License-Identifier: Apache-2.0
/* Keeps answers in memory files, see web_answer.h. */
#include "web/web_answer.h"

#include "base/file.h"
#include "base/json_value.h"
#include "base/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES 65536u
#define ERROR_BYTES  8192u /* the most of {"error": ...}, which is beyond the pool */

void web_pool_init(struct web_pool *pool, uint64_t max_bytes)
{
	*pool = (struct web_pool){0};
	pthread_mutex_init(&pool->lock, NULL);
	web_pool_set_max_bytes(pool, max_bytes);
}

void web_pool_fini(struct web_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
}

/* One client may not have all: an answer has a half at most. */
void web_pool_set_max_bytes(struct web_pool *pool, uint64_t max_bytes)
{
	THREAD_HOLD(&pool->lock);

	pool->max_bytes = max_bytes;
	pool->max_answer = max_bytes / 2;
}

uint64_t web_pool_bytes(struct web_pool *pool)
{
	THREAD_HOLD(&pool->lock);

	return pool->bytes;
}

/* Takes room for so many bytes more of an answer. */
static int take_room(struct web_answer *answer, uint64_t more)
{
	struct web_pool *const pool = answer->pool;
	int err = 0;

	THREAD_HOLD(&pool->lock);
	if (answer->bytes + more > pool->max_answer)
		err = -EFBIG;
	else if (pool->bytes + more > pool->max_bytes)
		err = -ENOBUFS;
	else
		pool->bytes += more;
	return err;
}

static void give_back(struct web_answer *answer)
{
	if (!answer->pool)
		return;
	pthread_mutex_lock(&answer->pool->lock);
	answer->pool->bytes -= answer->bytes;
	pthread_mutex_unlock(&answer->pool->lock);
	answer->bytes = 0;
}

static ssize_t write_bytes(void *arg, const char *bytes, size_t len)
{
	struct web_answer *const answer = arg;

	if (!answer->err)
		answer->err = take_room(answer, len);
	if (!answer->err)
		answer->bytes += len;
	if (!answer->err)
		answer->err = file_write_all(answer->fd, bytes, len);
	if (!answer->err)
		return (ssize_t)len;
	errno = -answer->err;
	return 0; /* an error, as fopencookie has it */
}

int web_answer_open(struct web_answer *answer, struct web_pool *pool)
{
	static const cookie_io_functions_t functions = {.write = write_bytes};

	*answer = (struct web_answer){.status = 200, .type = WEB_TYPE_JSON, .pool = pool};
	answer->fd = memfd_create("fgcollect-answer", MFD_CLOEXEC);
	if (answer->fd < 0)
		return -errno;
	answer->stream = fopencookie(answer, "w", functions);
	if (!answer->stream)
		return -ENOMEM;
	setvbuf(answer->stream, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

int web_answer_close(struct web_answer *answer, int err)
{
	if (answer->stream && fclose(answer->stream) != 0 && !answer->err)
		answer->err = -ENOMEM;
	answer->stream = NULL;
	return answer->err ? answer->err : err;
}

void web_answer_fini(struct web_answer *answer)
{
	web_answer_close(answer, 0);
	give_back(answer);
	if (answer->fd >= 0)
		close(answer->fd);
	answer->fd = -1;
}

int web_answer_json(struct web_answer *answer, struct web_pool *pool, json_t *value)
{
	int err = web_answer_open(answer, pool);

	if (!err && (!value || json_dumpf(value, answer->stream, WEB_ANSWER_JSON) < 0))
		err = -ENOMEM;
	json_decref(value);
	if (!err)
		fputc('\n', answer->stream);
	return web_answer_close(answer, err);
}

/* An error has its room also where answers have used up theirs. */
void web_answer_error(struct web_answer *answer, struct web_pool *pool, unsigned status,
		      const char *text)
{
	char bytes[ERROR_BYTES];
	json_t *value = json_pack("{s:o}", "error", json_value_new_text(text));
	const size_t len = value ? json_dumpb(value, bytes, sizeof(bytes) - 1, 0) : 0;

	web_answer_fini(answer);
	*answer = (struct web_answer){
		.status = status, .type = WEB_TYPE_JSON, .pool = pool, .fd = -1};
	json_decref(value);
	if (len == 0 || len >= sizeof(bytes))
		return;
	bytes[len] = '\n';
	answer->fd = memfd_create("fgcollect-error", MFD_CLOEXEC);
	if (answer->fd < 0 || write(answer->fd, bytes, len + 1) != (ssize_t)len + 1)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->bytes += len + 1;
	pthread_mutex_unlock(&pool->lock);
	answer->bytes = len + 1;
}

ssize_t web_answer_read(const struct web_answer *answer, uint64_t at, char *ret, size_t len)
{
	const uint64_t left = at < answer->bytes ? answer->bytes - at : 0;
	const ssize_t n = pread(answer->fd, ret, left < len ? (size_t)left : len, (off_t)at);

	return n < 0 ? -errno : n;
}
