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
static atomic_int alive;

static void pass_gate(void)
{
	pthread_mutex_lock(&lock);
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

int slow_kind_alive(void)
{
	return atomic_load(&alive);
}

static int load(int fd, const struct debug_place *place, void **ret)
{
	struct slow_table *table = calloc(1, sizeof(*table));
	ssize_t len;

	if (!table)
		return -ENOMEM;
	(void)place;
	pass_gate();
	len = pread(fd, table->text, sizeof(table->text) - 1, 0);
	if (len <= 0 || strncmp(table->text, "large", 5) == 0) {
		free(table);
		return len <= 0 ? -ENOENT : -EFBIG;
	}
	atomic_fetch_add(&alive, 1);
	*ret = table;
	return 0;
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

#define KIND                                                                                       \
	{                                                                                          \
		.load = load, .free = free_table, .bytes = bytes_of, .equal = are_equal,           \
		.none_reason = "nothing in it", .large_reason = "too large",                       \
	}

const struct table_kind slow_kind = KIND, slow_kind_too = KIND;
