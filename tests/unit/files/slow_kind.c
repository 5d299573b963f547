// SPDX-License-Identifier: Apache-2.0
/* A gate in front of each load, see slow_kind.h. */
#include "slow_kind.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_closed;
static int allowed, begun;
static const struct table_kind *order[64]; /* of those that have begun */
static atomic_int alive;

static void pass_gate(const struct table_kind *kind)
{
	pthread_mutex_lock(&lock);
	if (begun < (int)(sizeof(order) / sizeof(*order)))
		order[begun] = kind;
	begun++;
	pthread_cond_broadcast(&changed);
	while (is_closed && allowed == 0)
		pthread_cond_wait(&changed, &lock);
	allowed -= is_closed;
	pthread_mutex_unlock(&lock);
}

void slow_kind_close(void)
{
	pthread_mutex_lock(&lock);
	is_closed = true;
	allowed = begun = 0;
	pthread_mutex_unlock(&lock);
}

void slow_kind_let_one(void)
{
	pthread_mutex_lock(&lock);
	allowed++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void slow_kind_open(void)
{
	pthread_mutex_lock(&lock);
	is_closed = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void slow_kind_wait_begun(int count)
{
	pthread_mutex_lock(&lock);
	while (begun < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

const struct table_kind *slow_kind_begun(int n)
{
	const struct table_kind *kind;

	pthread_mutex_lock(&lock);
	kind = n <= begun ? order[n - 1] : NULL;
	pthread_mutex_unlock(&lock);
	return kind;
}

int slow_kind_alive(void)
{
	return atomic_load(&alive);
}

static int load(const struct table_kind *kind, int fd, void **ret)
{
	struct slow_table *table = calloc(1, sizeof(*table));
	ssize_t len;

	if (!table)
		return -ENOMEM;
	pass_gate(kind);
	len = pread(fd, table->text, sizeof(table->text) - 1, 0);
	if (len <= 0 || strncmp(table->text, "large", 5) == 0) {
		free(table);
		return len <= 0 ? -ENOENT : -EFBIG;
	}
	atomic_fetch_add(&alive, 1);
	*ret = table;
	return 0;
}

static int load_one(int fd, const struct debug_place *place, void **ret)
{
	(void)place;
	return load(&slow_kind, fd, ret);
}

static int load_too(int fd, const struct debug_place *place, void **ret)
{
	(void)place;
	return load(&slow_kind_too, fd, ret);
}

static void free_table(void *table)
{
	atomic_fetch_sub(&alive, 1);
	free(table);
}

static size_t bytes_of(const void *table)
{
	(void)table;
	return SLOW_KIND_BYTES;
}

static bool are_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct slow_table)) == 0;
}

#define KIND(load_)                                                                                \
	{                                                                                          \
		.load = load_, .free = free_table, .bytes = bytes_of, .equal = are_equal,          \
		.none_reason = "nothing in it", .large_reason = "too large",                       \
	}

const struct table_kind slow_kind = KIND(load_one), slow_kind_too = KIND(load_too);
