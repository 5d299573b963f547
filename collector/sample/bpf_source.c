// SPDX-License-Identifier: Apache-2.0
/* Loads the programs of samples and reads their ring buffer, see bpf_source.h. */
#include "sample/bpf_source.h"

#include "guard/heap_bytes.h"
#include "sample/bpf_parse.h"
#include "sample/bpf_wanted.h"
#include "sample/uprobe_multi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAMPLE_BYTES (16u << 10) /* with a deep stack of a server */
#define REST_BYTES   (BPF_PAGE_BYTES + sizeof(struct bpf_sample_head) + 1024)
#define RING_MS	     1650
#define TELL_EVERY   64	   /* calls */
#define PROBE_HZ     5000u /* for the ring buffer of probes, if no limit is set */
#define PROBE_MS     400   /* the reader comes four times meanwhile */

struct bpf_source {
	struct bpf_object *object;
	struct bpf_link *exec_link; /* or NULL: programs that begin are not noted */
	struct ring_buffer *ring;
	struct bpf_shared *shared;
	int program_fds[BPF_KINDS];
	int payers_fd, rates_fd, park_rates_fd; /* of probes */
	bool is_of_probes, has_links;
	int nothing_fd; /* a program that does nothing; 0: none */
	const char *variant;
	size_t ring_bytes;
	struct bpf_wanted wanted;
	size_t left_out, most_left_out; /* wanted processes that are not in the table */
	uint64_t told,
		n_told; /* a sum of what the table of payers has, and how often it was right */
	/* While bpf_source_read runs: */
	void (*fn)(void *arg, const struct record *record);
	void *arg;
	uint64_t *broken;
	size_t bytes_read;
};

static const struct {
	enum bpf_variant variant;
	const char *name;
} variants[] = {
	{BPF_EXACT, "exact"},
	{BPF_SLICES, "slices"},
	{BPF_SCRATCH, "scratch"},
};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

/* The program of a kind is called by this word and the variant. */
static const char *const kind_words[BPF_KINDS] = {
	[BPF_KIND_CPU] = "sample",	    [BPF_KIND_ALLOC] = "alloc",
	[BPF_KIND_ENTER] = "enter",	    [BPF_KIND_ENTERED] = "entered",
	[BPF_KIND_PARK] = "park",	    [BPF_KIND_PARK_END] = "unpark",
	[BPF_KIND_EXCEPTION] = "exception", [BPF_KIND_DEAD] = "dead",
};

static unsigned most_hz(const struct bpf_source_options *options)
{
	const size_t all = options->is_of_probes ? PROBE_HZ : options->n_cpus * options->hz;

	return (unsigned)(options->max_hz && options->max_hz < all ? options->max_hz : all);
}

size_t bpf_source_fit_ring(const struct bpf_source_options *options)
{
	const size_t ms = options->is_of_probes ? PROBE_MS : RING_MS;
	const size_t largest = options->stack_bytes + REST_BYTES;
	const size_t each = largest < SAMPLE_BYTES ? largest : SAMPLE_BYTES;
	const size_t wanted = (size_t)most_hz(options) * ms / 1000 * each;
	size_t bytes = BPF_SOURCE_LEAST_BYTES;

	while (bytes < wanted && bytes < BPF_SOURCE_MAX_BYTES)
		bytes *= 2;
	return bytes;
}

/* Whether a program is of the variant, or of all of them. */
static bool is_of_variant(const char *program, const char *variant)
{
	const char *const end = strrchr(program, '_');

	return (end && strcmp(end + 1, variant) == 0) || strcmp(program, "note_exec") == 0;
}

/* So many in BPF_RATE_NS. */
static uint64_t limit_of(unsigned hz)
{
	const uint64_t limit = hz * BPF_RATE_NS / UINT64_C(1000000000);

	return hz && !limit ? 1 : limit;
}

/* Chooses the programs of a variant, and sets what is set before the kernel has the object. */
static int prepare(struct bpf_object *object, const char *variant,
		   const struct bpf_source_options *options, size_t ring_bytes)
{
	const struct bpf_config config = {
		.stack_bytes = options->stack_bytes,
		.wants_watched = options->wants_watched,
		.interval_ns = options->max_hz
				       ? options->n_cpus * UINT64_C(1000000000) / options->max_hz
				       : 0,
		.process_probe_limit = limit_of(options->process_max_hz),
		.probe_limit = limit_of(options->max_hz),
	};
	struct bpf_map *const ring = bpf_object__find_map_by_name(object, "ring");
	struct bpf_map *const settings = bpf_object__find_map_by_name(object, ".rodata.config");
	struct bpf_map *const wide = bpf_object__find_map_by_name(object, "wide_drafts");
	struct bpf_program *program;
	int err;

	bpf_object__for_each_program(program, object)
	{
		err = bpf_program__set_autoload(program,
						is_of_variant(bpf_program__name(program), variant));
		if (!err && options->has_links)
			err = bpf_program__set_expected_attach_type(
				program, (enum bpf_attach_type)UPROBE_MULTI_TYPE);
		if (err)
			return err;
	}
	err = bpf_map__set_initial_value(settings, &config, sizeof(config));
	if (!err)
		err = bpf_map__set_max_entries(ring, (__u32)ring_bytes);
	if (!err && strcmp(variant, "scratch") == 0)
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

/* -1 for the programs of kinds that the object does not have. */
static void take_programs(struct bpf_source *source, const char *variant)
{
	const struct bpf_program *program;
	char name[32];

	for (unsigned kind = 0; kind < BPF_KINDS; kind++) {
		snprintf(name, sizeof(name), "%s_%s", kind_words[kind], variant);
		program = bpf_object__find_program_by_name(source->object, name);
		source->program_fds[kind] = program ? bpf_program__fd(program) : -1;
	}
}

/* Takes the loaded object's descriptors and memory. */
static int take_object(struct bpf_source *source, const char *variant)
{
	const int shared_fd = bpf_object__find_map_fd_by_name(source->object, ".data.shared");
	struct bpf_program *exec;
	void *shared;

	take_programs(source, variant);
	source->payers_fd = bpf_object__find_map_fd_by_name(source->object, "payers");
	source->rates_fd = bpf_object__find_map_fd_by_name(source->object, "rates");
	source->park_rates_fd = bpf_object__find_map_fd_by_name(source->object, "park_rates");
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
	if (source->is_of_probes)
		return 0;
	__atomic_store_n(&source->shared->is_all, 1, __ATOMIC_RELAXED);
	/* Best effort: without it, the first samples of a new program are not there. */
	exec = bpf_object__find_program_by_name(source->object, "note_exec");
	source->exec_link = bpf_program__attach(exec);
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

	err = options->is_of_probes
		      ? bpf_load_open(bpf_probes_bytes, bpf_probes_len, &source->object)
		      : bpf_load_open(bpf_sampler_bytes, bpf_sampler_len, &source->object);
	if (err)
		return err;
	err = prepare(source->object, variants[i].name, options, source->ring_bytes);
	if (!err)
		err = bpf_object__load(source->object);
	if (!err)
		err = take_object(source, variants[i].name);
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

static int load_nothing(struct bpf_source *source)
{
	const int fd = uprobe_multi_load_nothing();

	if (fd < 0)
		return fd;
	source->nothing_fd = fd;
	source->has_links = true;
	return 0;
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
	source->is_of_probes = options->is_of_probes;
	source->ring_bytes =
		options->ring_bytes ? options->ring_bytes : bpf_source_fit_ring(options);
	err = load_any(source, options);
	if (!err && options->has_links)
		err = load_nothing(source);
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
	if (source->nothing_fd > 0)
		close(source->nothing_fd);
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

int bpf_source_program(const struct bpf_source *source, int kind)
{
	if (!source->has_links)
		return 0;
	return kind < 0 ? source->nothing_fd : source->program_fds[kind];
}

int bpf_source_attach(const struct bpf_source *source, int event_fd, unsigned kind)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, source->program_fds[kind]) < 0 ? -errno : 0;
}

uint64_t bpf_source_hits(const struct bpf_source *source, pid_t pid, unsigned kind)
{
	const struct bpf_process_kind key = {.pid = (__u32)pid, .kind = (__u16)kind};
	struct bpf_park_rate parks = {0};
	struct bpf_rate rate = {0};

	if (kind == BPF_KIND_PARK_END) {
		bpf_map_lookup_elem(source->park_rates_fd, &key.pid, &parks);
		return parks.all_hits;
	}
	bpf_map_lookup_elem(source->rates_fd, &key, &rate);
	return rate.all_hits;
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

/*
 * Whether the kernel's table has whose the processes are. From time to time that is told anew,
 * because the table may have lost the least recent ones.
 */
static bool are_told(struct bpf_source *source, const pid_t *pids, const uint64_t *groups, size_t n)
{
	uint64_t sum = n;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (uint64_t)pids[i] ^ groups[i] << 1) * UINT64_C(0x9e3779b97f4a7c15);
	if (sum == source->told && ++source->n_told % TELL_EVERY != 0)
		return true;
	source->told = sum;
	return false;
}

/* A PID without room in the table is of group 0. */
void bpf_source_want_of(struct bpf_source *source, const pid_t *pids, const uint64_t *groups,
			size_t n, size_t n_groups)
{
	if (!are_told(source, pids, groups, n)) {
		for (size_t i = 0; i < n; i++) {
			const __u32 pid = (__u32)pids[i];

			bpf_map_update_elem(source->payers_fd, &pid, &groups[i], BPF_ANY);
		}
	}
	__atomic_store_n(&source->shared->part,
			 n_groups > 1 ? source->ring_bytes / 4 / n_groups : 0, __ATOMIC_RELAXED);
	bpf_source_want(source, pids, n);
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
		.unwatched = __atomic_load_n(&shared->unwatched, __ATOMIC_RELAXED),
		.deaths_lost = __atomic_load_n(&shared->deaths_lost, __ATOMIC_RELAXED),
	};
}
