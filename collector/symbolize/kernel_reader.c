// SPDX-License-Identifier: Apache-2.0
/* Reads the kernel's symbols in a thread, see kernel_reader.h. */
#include "symbolize/kernel_reader.h"

#include "base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct kernel_reader {
	kernel_load_fn load;
	const char *path;
	pthread_t thread;
	bool is_busy;
	atomic_bool is_done; /* the thread no longer uses the members below */
	struct kernel_symbols *symbols;
	int err;
};

int kernel_reader_new(kernel_load_fn load, const char *path, struct kernel_reader **ret)
{
	struct kernel_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->load = load;
	reader->path = path;
	*ret = reader;
	return 0;
}

void kernel_reader_free(struct kernel_reader *reader)
{
	if (!reader)
		return;
	if (reader->is_busy)
		pthread_join(reader->thread, NULL);
	kernel_symbols_free(reader->symbols);
	free(reader);
}

static void *run(void *arg)
{
	struct kernel_reader *reader = arg;

	reader->err = reader->load(reader->path, &reader->symbols);
	atomic_store(&reader->is_done, true);
	return NULL;
}

int kernel_reader_start(struct kernel_reader *reader)
{
	int err;

	if (reader->is_busy)
		return 0;
	atomic_store(&reader->is_done, false);
	err = thread_start(&reader->thread, run, reader);
	reader->is_busy = !err;
	return err;
}

bool kernel_reader_is_busy(const struct kernel_reader *reader)
{
	return reader->is_busy;
}

bool kernel_reader_is_done(const struct kernel_reader *reader)
{
	return reader->is_busy && atomic_load(&reader->is_done);
}

size_t kernel_reader_done_bytes(const struct kernel_reader *reader)
{
	return kernel_reader_is_done(reader) ? kernel_symbols_bytes(reader->symbols) : 0;
}

bool kernel_reader_take(struct kernel_reader *reader, struct kernel_symbols **ret, int *ret_err)
{
	if (!kernel_reader_is_done(reader))
		return false;
	pthread_join(reader->thread, NULL);
	reader->is_busy = false;
	*ret = reader->symbols;
	*ret_err = reader->err;
	reader->symbols = NULL;
	return true;
}
