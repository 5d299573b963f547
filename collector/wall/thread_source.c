// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the BPF program of threads over all threads, and reads its ring buffer, see thread_source.h.
 *
 * An iterator is a descriptor that is read to its end. The program writes one byte to it when the
 * ring buffer is half full, and read(2) returns with that byte.
 *
 * A read(2) that waits for a page of a process may end by no signal, and neither does the program
 * whose thread waits. So a reader (guard/reader.h) reads, and this thread waits for the reader.
 */
#include "wall/thread_source.h"

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/reach.h"
#include "guard/reader.h"
#include "sample/bpf_threads_layout.h"
#include "sample/bpf_wanted.h"
#include "wall/bpf_threads_parse.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOK_NS UINT64_C(100000000) /* between two looks whether calls are to end */

struct thread_source {
	struct bpf_object *object;
	struct bpf_link *threads, *asker;
	struct ring_buffer *ring;
	struct bpf_threads_shared *shared;
	int taken_fd, stackless_fd; /* borrowed from the object, as wanted.fd is */
	struct bpf_wanted wanted;
	size_t left_out; /* wanted processes that are not in the table */
	uint64_t broken, unlisted;
	pid_t runner; /* for other threads: the reader's process; 0: there is none */
	/* While thread_source_tick runs: */
	thread_source_fn fn;
	void *arg;
};

static int on_bytes(void *arg, void *data, size_t size)
{
	struct thread_source *const source = arg;
	struct thread_reading reading;

	if (bpf_threads_parse(data, size, &reading) < 0)
		source->broken++;
	else
		source->fn(source->arg, &reading);
	return 0;
}

/* Sets what is set before the kernel has the object. */
static int prepare(struct bpf_object *object, const struct thread_source_options *options)
{
	const struct bpf_threads_config config = {.stack_bytes = options->stack_bytes};
	const size_t ring_bytes =
		options->ring_bytes ? options->ring_bytes : THREAD_SOURCE_DEFAULT_RING_BYTES;
	int err;

	err = bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.config"),
					 &config, sizeof(config));
	if (err)
		return err;
	return bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "ring"),
					(__u32)ring_bytes);
}

/* Takes the loaded object's descriptors and memory. */
static int take_object(struct thread_source *source)
{
	struct bpf_object *const object = source->object;
	void *shared;

	source->wanted.fd = bpf_object__find_map_fd_by_name(object, "wanted");
	source->taken_fd = bpf_object__find_map_fd_by_name(object, "taken");
	source->stackless_fd = bpf_object__find_map_fd_by_name(object, "stackless");
	shared = mmap(NULL, sizeof(*source->shared), PROT_READ, MAP_SHARED,
		      bpf_object__find_map_fd_by_name(object, ".data.shared"), 0);
	if (shared == MAP_FAILED)
		return -errno;
	source->shared = shared;
	source->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), on_bytes,
					source, NULL);
	if (!source->ring)
		return -errno;
	source->threads = bpf_program__attach_iter(
		bpf_object__find_program_by_name(object, "read_threads"), NULL);
	if (!source->threads)
		return -errno;
	source->asker = bpf_program__attach_iter(
		bpf_object__find_program_by_name(object, "note_asker"), NULL);
	return source->asker ? 0 : -errno;
}

static int load(struct thread_source *source, const struct thread_source_options *options)
{
	int err;

	err = bpf_load_open(bpf_threads_bytes, bpf_threads_len, &source->object);
	if (!err)
		err = prepare(source->object, options);
	if (!err)
		err = bpf_object__load(source->object);
	return err ? err : take_object(source);
}

int thread_source_open(const struct thread_source_options *options, struct thread_source **ret,
		       char why[BPF_LOAD_WHY_BYTES])
{
	struct thread_source *source;
	int err;

	err = bpf_load_check(why);
	if (err)
		return err;
	source = calloc(1, sizeof(*source));
	err = source ? load(source, options) : -ENOMEM;
	if (err) {
		bpf_load_explain(err, why);
		thread_source_close(source);
		return err;
	}
	*ret = source;
	return 0;
}

void thread_source_close(struct thread_source *source)
{
	if (!source)
		return;
	bpf_link__destroy(source->asker);
	bpf_link__destroy(source->threads);
	ring_buffer__free(source->ring);
	if (source->shared)
		munmap(source->shared, sizeof(*source->shared));
	bpf_object__close(source->object);
	bpf_wanted_fini(&source->wanted);
	free(source);
}

size_t thread_source_want(struct thread_source *source, const pid_t *pids, size_t n)
{
	source->left_out = bpf_wanted_set(&source->wanted, pids, n);
	return source->left_out;
}

/* Reads the iterator up to the next byte. Returns 0 at its end, or a negative errno. */
static ssize_t run_iterator(const void *request, size_t len, int fd, void *ret)
{
	ssize_t got;

	(void)request;
	(void)len;
	do
		got = read(fd, ret, 1);
	while (got < 0 && (errno == EINTR || errno == EAGAIN));
	return got < 0 ? -errno : got;
}

static const struct reader_role iterator_role = {run_iterator};

/* Since when this thread runs: it may have displaced another one. */
static void note_asker(struct thread_source *source)
{
	_cleanup_close_ const int fd = bpf_iter_create(bpf_link__fd(source->asker));
	char byte;

	if (fd >= 0)
		(void)!read(fd, &byte, sizeof(byte));
}

/* As run_iterator. Ends with -ECHILD when all calls are to end. */
static ssize_t run_by(struct thread_source *source, struct reader *reader, int fd)
{
	const void *bytes;
	bool is_back;

	note_asker(source);
	reader_set(reader, &iterator_role, NULL, 0);
	is_back = reader_run(reader, fd, LOOK_NS);
	__atomic_store_n(&source->runner, reader_pid(reader), __ATOMIC_RELAXED);
	while (!is_back && reach_is_used())
		is_back = reader_wait(reader, clock_now_ns() + LOOK_NS);
	return is_back ? reader_result(reader, &bytes) : -ECHILD;
}

/* Reads the iterator to its end, and the ring buffer whenever there is something in it. */
static int run(struct thread_source *source, int fd)
{
	struct reader *reader = NULL;
	ssize_t got;
	char byte;

	if (reach_is_begun()) {
		reader = reader_take();
		if (!reader)
			return -ECHILD;
		__atomic_store_n(&source->runner, reader_pid(reader), __ATOMIC_RELAXED);
	}
	do {
		got = reader ? run_by(source, reader, fd) : run_iterator(NULL, 0, fd, &byte);
		ring_buffer__consume(source->ring);
	} while (got > 0);
	__atomic_store_n(&source->runner, 0, __ATOMIC_RELAXED);
	reader_give(reader);
	return (int)got;
}

static uint64_t lost_so_far(const struct thread_source *source)
{
	return __atomic_load_n(&source->shared->lost, __ATOMIC_RELAXED) + source->broken;
}

int thread_source_tick(struct thread_source *source, thread_source_fn fn, void *arg,
		       uint64_t *ret_lost)
{
	const uint64_t lost = lost_so_far(source);
	int fd, err;

	source->unlisted += source->left_out;
	if (source->wanted.pids.count == 0) {
		*ret_lost = source->left_out;
		return 0;
	}
	fd = bpf_iter_create(bpf_link__fd(source->threads));
	if (fd < 0)
		return -errno;
	source->fn = fn;
	source->arg = arg;
	err = run(source, fd);
	close(fd);
	if (!err)
		*ret_lost = lost_so_far(source) - lost + source->left_out;
	return err;
}

void thread_source_forget(struct thread_source *source, pid_t tid)
{
	const __u32 key = (__u32)tid;

	bpf_map_delete_elem(source->taken_fd, &key);
}

bool thread_source_set_stackless(struct thread_source *source, pid_t pid, bool is_stackless)
{
	const __u32 key = (__u32)pid;
	const __u64 one = 1;

	if (!is_stackless)
		return bpf_map_delete_elem(source->stackless_fd, &key) == 0 || errno == ENOENT;
	return bpf_map_update_elem(source->stackless_fd, &key, &one, BPF_ANY) == 0;
}

uint64_t thread_source_progress(const struct thread_source *source, pid_t *ret_pid)
{
	*ret_pid = (pid_t)__atomic_load_n(&source->shared->reading, __ATOMIC_RELAXED);
	return __atomic_load_n(&source->shared->visited, __ATOMIC_RELAXED);
}

pid_t thread_source_runner(const struct thread_source *source)
{
	return __atomic_load_n(&source->runner, __ATOMIC_RELAXED);
}

void thread_source_stats(const struct thread_source *source, struct thread_source_stats *ret)
{
	const struct bpf_threads_shared *const shared = source->shared;

	*ret = (struct thread_source_stats){
		.visited = __atomic_load_n(&shared->visited, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&shared->lost, __ATOMIC_RELAXED),
		.lost_stacks = __atomic_load_n(&shared->lost_stacks, __ATOMIC_RELAXED),
		.broken = source->broken,
		.unlisted = source->unlisted,
	};
}
