// SPDX-License-Identifier: Apache-2.0
/* Loads the program of samples and reads its ring buffer, see bpf_source.h. */
#include "sample/bpf_source.h"

#include "guard/heap_bytes.h"
#include "sample/bpf_parse.h"
#include "sample/bpf_wanted.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define SAMPLE_BYTES (16u << 10) /* with a deep stack of a server */
#define REST_BYTES   (BPF_PAGE_BYTES + sizeof(struct bpf_sample_head) + 1024)
#define RING_MS	     1650

struct bpf_source {
	struct bpf_object *object;
	struct bpf_link *exec_link; /* or NULL: programs that begin are not noted */
	struct ring_buffer *ring;
	struct bpf_shared *shared;
	int program_fd;
	const char *variant;
	size_t ring_bytes;
	struct bpf_wanted wanted;
	size_t left_out, most_left_out; /* wanted processes that are not in the table */
	/* While bpf_source_read runs: */
	void (*fn)(void *arg, const struct record *record);
	void *arg;
	uint64_t *broken;
	size_t bytes_read;
};

static const struct {
	enum bpf_variant variant;
	const char *program, *name;
} variants[] = {
	{BPF_EXACT, "sample_exact", "exact"},
	{BPF_SLICES, "sample_slices", "slices"},
	{BPF_SCRATCH, "sample_scratch", "scratch"},
};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

size_t bpf_source_fit_ring(const struct bpf_source_options *options)
{
	const size_t all = options->n_cpus * options->hz;
	const size_t most = options->max_hz && options->max_hz < all ? options->max_hz : all;
	const size_t largest = options->stack_bytes + REST_BYTES;
	const size_t each = largest < SAMPLE_BYTES ? largest : SAMPLE_BYTES;
	const size_t wanted = most * RING_MS / 1000 * each;
	size_t bytes = BPF_SOURCE_LEAST_BYTES;

	while (bytes < wanted && bytes < BPF_SOURCE_MAX_BYTES)
		bytes *= 2;
	return bytes;
}

/* Chooses one of the programs, and sets what is set before the kernel has the object. */
static int prepare(struct bpf_object *object, const char *name,
		   const struct bpf_source_options *options, size_t ring_bytes)
{
	const struct bpf_config config = {
		.stack_bytes = options->stack_bytes,
		.interval_ns = options->max_hz
				       ? options->n_cpus * UINT64_C(1000000000) / options->max_hz
				       : 0,
	};
	struct bpf_map *const ring = bpf_object__find_map_by_name(object, "ring");
	struct bpf_map *const settings = bpf_object__find_map_by_name(object, ".rodata.config");
	struct bpf_map *const wide = bpf_object__find_map_by_name(object, "wide_drafts");
	struct bpf_program *program;
	int err;

	bpf_object__for_each_program(program, object)
	{
		const char *const each = bpf_program__name(program);

		err = bpf_program__set_autoload(program, strcmp(each, name) == 0 ||
								 strcmp(each, "note_exec") == 0);
		if (err)
			return err;
	}
	err = bpf_map__set_initial_value(settings, &config, sizeof(config));
	if (!err)
		err = bpf_map__set_max_entries(ring, (__u32)ring_bytes);
	if (!err && strcmp(name, "sample_scratch") == 0)
		err = bpf_map__set_max_entries(wide, (__u32)libbpf_num_possible_cpus());
	return err;
}

static int on_bytes(void *arg, void *data, size_t size)
{
	struct bpf_source *const source = arg;
	struct record record;

	if (bpf_parse(data, size, &record) < 0)
		++*source->broken;
	else
		source->fn(source->arg, &record);
	source->bytes_read += size;
	return source->bytes_read < source->ring_bytes ? 0 : -EAGAIN; /* the record is done with */
}

/* Takes the loaded object's descriptors and memory. */
static int take_object(struct bpf_source *source, const char *name)
{
	const int shared_fd = bpf_object__find_map_fd_by_name(source->object, ".data.shared");
	void *shared;

	source->program_fd =
		bpf_program__fd(bpf_object__find_program_by_name(source->object, name));
	source->wanted.fd = bpf_object__find_map_fd_by_name(source->object, "wanted");
	shared = mmap(NULL, sizeof(*source->shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd,
		      0);
	if (shared == MAP_FAILED)
		return -errno;
	source->shared = shared;
	source->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(source->object, "ring"),
					on_bytes, source, NULL);
	if (!source->ring)
		return -errno;
	__atomic_store_n(&source->shared->is_all, 1, __ATOMIC_RELAXED);
	/* Best effort: without it, the first samples of a new program are not there. */
	source->exec_link =
		bpf_program__attach(bpf_object__find_program_by_name(source->object, "note_exec"));
	return 0;
}

static void unload(struct bpf_source *source)
{
	ring_buffer__free(source->ring);
	bpf_link__destroy(source->exec_link);
	if (source->shared)
		munmap(source->shared, sizeof(*source->shared));
	bpf_object__close(source->object);
	source->ring = NULL;
	source->exec_link = NULL;
	source->shared = NULL;
	source->object = NULL;
}

static int load(struct bpf_source *source, const struct bpf_source_options *options, size_t i)
{
	int err;

	err = bpf_load_open(bpf_sampler_bytes, bpf_sampler_len, &source->object);
	if (err)
		return err;
	err = prepare(source->object, variants[i].program, options, source->ring_bytes);
	if (!err)
		err = bpf_object__load(source->object);
	if (!err)
		err = take_object(source, variants[i].program);
	if (!err) {
		source->variant = variants[i].name;
		return 0;
	}
	unload(source);
	return err;
}

static int load_any(struct bpf_source *source, const struct bpf_source_options *options)
{
	int err = -ENOENT;

	for (size_t i = 0; i < N_VARIANTS && err; i++) {
		if (options->variant == BPF_ANY_VARIANT || options->variant == variants[i].variant)
			err = load(source, options, i);
	}
	return err;
}

int bpf_source_open(const struct bpf_source_options *options, struct bpf_source **ret,
		    char why[BPF_LOAD_WHY_BYTES])
{
	struct bpf_source *source;
	int err;

	err = bpf_load_check(why);
	if (err)
		return err;
	source = calloc(1, sizeof(*source));
	if (!source) {
		snprintf(why, BPF_LOAD_WHY_BYTES, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	source->ring_bytes =
		options->ring_bytes ? options->ring_bytes : bpf_source_fit_ring(options);
	err = load_any(source, options);
	if (err) {
		bpf_load_explain(err, why);
		bpf_source_close(source);
		return err;
	}
	*ret = source;
	return 0;
}

void bpf_source_close(struct bpf_source *source)
{
	if (!source)
		return;
	unload(source);
	bpf_wanted_fini(&source->wanted);
	free(source);
}

const char *bpf_source_variant(const struct bpf_source *source)
{
	return source->variant;
}

size_t bpf_source_bytes(const struct bpf_source *source)
{
	return heap_bytes(sizeof(*source)) + map64_bytes(&source->wanted.pids);
}

size_t bpf_source_ring_bytes(const struct bpf_source *source)
{
	return source->ring_bytes;
}

int bpf_source_attach(const struct bpf_source *source, int event_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, source->program_fd) < 0 ? -errno : 0;
}

/* So many wanted processes are not in the table: samples of all come, not to lose any of theirs. */
static void note_left_out(struct bpf_source *source, size_t n)
{
	source->left_out = n;
	if (n > source->most_left_out)
		source->most_left_out = n;
	__atomic_store_n(&source->shared->is_all, n > 0, __ATOMIC_RELAXED);
}

void bpf_source_want(struct bpf_source *source, const pid_t *pids, size_t n)
{
	note_left_out(source, bpf_wanted_set(&source->wanted, pids, n));
}

void bpf_source_want_one(struct bpf_source *source, pid_t pid)
{
	if (!bpf_wanted_add(&source->wanted, pid))
		note_left_out(source, source->left_out + 1);
}

size_t bpf_source_most_left_out(const struct bpf_source *source)
{
	return source->most_left_out;
}

void bpf_source_read(struct bpf_source *source, void (*fn)(void *arg, const struct record *record),
		     void *arg, uint64_t *broken)
{
	source->fn = fn;
	source->arg = arg;
	source->broken = broken;
	source->bytes_read = 0;
	ring_buffer__consume(source->ring);
}

struct bpf_shared bpf_source_counters(const struct bpf_source *source)
{
	const struct bpf_shared *const shared = source->shared;

	return (struct bpf_shared){
		.is_all = __atomic_load_n(&shared->is_all, __ATOMIC_RELAXED),
		.taken = __atomic_load_n(&shared->taken, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&shared->lost, __ATOMIC_RELAXED),
		.merged = __atomic_load_n(&shared->merged, __ATOMIC_RELAXED),
		.unread = __atomic_load_n(&shared->unread, __ATOMIC_RELAXED),
	};
}
