// SPDX-License-Identifier: Apache-2.0
/* Loads the BPF programs of waits, and reads their ring buffer, see wait_source.h. */
#include "wall/wait_source.h"

#include "sample/bpf_wanted.h"
#include "sample/bpf_waits_layout.h"
#include "wall/bpf_waits_parse.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define MAX_TYPES    ((size_t)32 << 20) /* of that file; it has some 6 MiB */
#define N_LINKS	     2

/* The kernel's function that defers work, before and from Linux 7.0. */
#define SCHEDULE      "bpf_task_work_schedule_resume"
#define SCHEDULE_IMPL SCHEDULE "_impl"

struct wait_source {
	struct bpf_object *object;
	struct bpf_link *links[N_LINKS];
	struct ring_buffer *ring;
	struct bpf_waits_shared *shared;
	int counts_fd, payers_fd, part_fd; /* borrowed from the object, as wanted.fd is */
	size_t ring_bytes;
	struct bpf_wanted wanted;
	size_t left_out; /* wanted processes that are not in the table */
	uint64_t broken;
	/* While wait_source_read runs: */
	wait_source_fn fn;
	void *arg;
};

/* What of the kernel is needed. */
struct needs {
	bool has_schedule, has_schedule_impl;
};

/*
 * Whether a name of the kernel's types is the text: names stand one behind the other, terminated.
 */
static bool has_name(const char *bytes, size_t len, const char *name)
{
	const size_t name_len = strlen(name) + 1;
	const char *found = bytes;

	while ((found = memmem(found, len - (size_t)(found - bytes), name, name_len))) {
		if (found > bytes && found[-1] == '\0')
			return true;
		found++;
	}
	return false;
}

static char *read_types(size_t *ret_len)
{
	const int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
	char *const bytes = fd < 0 ? NULL : malloc(MAX_TYPES);
	size_t len = 0;
	ssize_t got = 1;

	while (bytes && got > 0 && len < MAX_TYPES) {
		got = read(fd, bytes + len, MAX_TYPES - len);
		len += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	*ret_len = len;
	return bytes;
}

static int find_needs(struct needs *ret, char why[BPF_LOAD_WHY_BYTES])
{
	size_t len;
	char *bytes;
	int err = bpf_load_check(why);

	if (err)
		return err;
	bytes = read_types(&len);
	if (bytes) {
		ret->has_schedule = has_name(bytes, len, SCHEDULE);
		ret->has_schedule_impl = has_name(bytes, len, SCHEDULE_IMPL);
	}
	free(bytes);
	if (ret->has_schedule || ret->has_schedule_impl)
		return 0;
	snprintf(why, BPF_LOAD_WHY_BYTES,
		 "the kernel cannot defer work of a BPF program to a thread (" SCHEDULE
		 ", Linux 6.18)");
	return -EOPNOTSUPP;
}

int wait_source_check(char why[BPF_LOAD_WHY_BYTES])
{
	struct needs needs = {0};

	return find_needs(&needs, why);
}

static int on_bytes(void *arg, void *data, size_t size)
{
	struct wait_source *const source = arg;
	struct wait_reading wait;

	if (bpf_waits_parse(data, size, &wait) < 0)
		source->broken++;
	else
		source->fn(source->arg, &wait);
	return 0;
}

/* Sets what is set before the kernel has the object. */
static int prepare(struct bpf_object *object, const struct wait_source_options *options)
{
	const struct bpf_waits_config config = {
		.quantum_ns =
			options->quantum_ns ? options->quantum_ns : WAIT_SOURCE_DEFAULT_QUANTUM_NS,
		.stack_bytes = options->stack_bytes,
	};
	const size_t ring_bytes =
		options->ring_bytes ? options->ring_bytes : WAIT_SOURCE_DEFAULT_RING_BYTES;
	int err;

	err = bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.config"),
					 &config, sizeof(config));
	if (!err && !options->has_wakers) {
		err = bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "wakers"), 1);
		if (!err)
			err = bpf_map__set_max_entries(
				bpf_object__find_map_by_name(object, "waker_pendings"), 1);
		bpf_program__set_autoload(bpf_object__find_program_by_name(object, "on_waking"),
					  false);
	}
	if (err)
		return err;
	return bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "ring"),
					(__u32)ring_bytes);
}

/* Takes the loaded object's descriptors and memory. */
static int take_object(struct wait_source *source)
{
	struct bpf_object *const object = source->object;
	void *shared;

	source->wanted.fd = bpf_object__find_map_fd_by_name(object, "wanted");
	source->counts_fd = bpf_object__find_map_fd_by_name(object, "counts");
	source->payers_fd = bpf_object__find_map_fd_by_name(object, "payers");
	source->part_fd = bpf_object__find_map_fd_by_name(object, "part");
	shared = mmap(NULL, sizeof(*source->shared), PROT_READ, MAP_SHARED,
		      bpf_object__find_map_fd_by_name(object, ".data.shared"), 0);
	if (shared == MAP_FAILED)
		return -errno;
	source->shared = shared;
	source->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), on_bytes,
					source, NULL);
	return source->ring ? 0 : -errno;
}

/* Hooks the programs: that of wakers first, so that no chosen wait is without. */
static int hook(struct wait_source *source, bool has_wakers)
{
	static const char *const names[N_LINKS] = {"on_waking", "on_switch"};

	for (size_t i = has_wakers ? 0 : 1; i < N_LINKS; i++) {
		source->links[i] = bpf_program__attach(
			bpf_object__find_program_by_name(source->object, names[i]));
		if (!source->links[i])
			return -errno;
	}
	return 0;
}

static int load(struct wait_source *source, const struct wait_source_options *options,
		const struct needs *needs)
{
	int err;

	if (needs->has_schedule)
		err = bpf_load_open(bpf_waits_bytes, bpf_waits_len, &source->object);
	else
		err = bpf_load_open(bpf_waits_before7_bytes, bpf_waits_before7_len,
				    &source->object);
	if (!err)
		err = prepare(source->object, options);
	if (!err)
		err = bpf_object__load(source->object);
	if (!err)
		err = take_object(source);
	return err ? err : hook(source, options->has_wakers);
}

int wait_source_open(const struct wait_source_options *options, struct wait_source **ret,
		     char why[BPF_LOAD_WHY_BYTES])
{
	struct needs needs = {0};
	struct wait_source *source;
	int err;

	err = find_needs(&needs, why);
	if (err)
		return err;
	source = calloc(1, sizeof(*source));
	if (source)
		source->ring_bytes =
			options->ring_bytes ? options->ring_bytes : WAIT_SOURCE_DEFAULT_RING_BYTES;
	err = source ? load(source, options, &needs) : -ENOMEM;
	if (err) {
		bpf_load_explain(err, why);
		wait_source_close(source);
		return err;
	}
	*ret = source;
	return 0;
}

void wait_source_close(struct wait_source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < N_LINKS; i++)
		bpf_link__destroy(source->links[i]);
	ring_buffer__free(source->ring);
	if (source->shared)
		munmap(source->shared, sizeof(*source->shared));
	bpf_object__close(source->object);
	bpf_wanted_fini(&source->wanted);
	free(source);
}

/* Tells the program whose the processes are. A PID without room in the table is of group 0. */
static void tell_owners(struct wait_source *source, const struct wait_owners *owners,
			const pid_t *pids, size_t n)
{
	const bool has_several = owners && owners->groups && owners->n_groups > 1;
	const __u64 part = has_several ? source->ring_bytes / 2 / owners->n_groups : 0;
	const __u32 zero = 0;

	for (size_t i = 0; has_several && i < n; i++) {
		const __u32 pid = (__u32)pids[i];

		bpf_map_update_elem(source->payers_fd, &pid, &owners->groups[i], BPF_ANY);
	}
	bpf_map_update_elem(source->part_fd, &zero, &part, BPF_ANY);
}

size_t wait_source_want(struct wait_source *source, const struct wait_owners *owners,
			const pid_t *pids, size_t n)
{
	tell_owners(source, owners, pids, n);
	source->left_out = bpf_wanted_set(&source->wanted, pids, n);
	return source->left_out;
}

void wait_source_read(struct wait_source *source, wait_source_fn fn, void *arg)
{
	source->fn = fn;
	source->arg = arg;
	ring_buffer__consume(source->ring);
}

/* The sum of all CPUs' counts. */
static uint64_t count_waits(const struct wait_source *source)
{
	const int n = libbpf_num_possible_cpus();
	struct bpf_waits_counts *const counts = n > 0 ? calloc((size_t)n, sizeof(*counts)) : NULL;
	const __u32 zero = 0;
	uint64_t waits = 0;

	if (counts && bpf_map_lookup_elem(source->counts_fd, &zero, counts) == 0) {
		for (int i = 0; i < n; i++)
			waits += counts[i].waits;
	}
	free(counts);
	return waits;
}

void wait_source_stats(const struct wait_source *source, struct wait_source_stats *ret)
{
	const struct bpf_waits_shared *const shared = source->shared;

	*ret = (struct wait_source_stats){
		.waits = count_waits(source),
		.sampled = __atomic_load_n(&shared->sampled, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&shared->lost, __ATOMIC_RELAXED),
		.refused = __atomic_load_n(&shared->refused, __ATOMIC_RELAXED),
		.unread = __atomic_load_n(&shared->unread, __ATOMIC_RELAXED),
		.unended = __atomic_load_n(&shared->unended, __ATOMIC_RELAXED),
		.wakers_lost = __atomic_load_n(&shared->wakers_lost, __ATOMIC_RELAXED),
		.broken = source->broken,
		.unlisted = source->left_out,
	};
}

static const struct counter counters[] = {
	COUNTER_SUM(struct wait_source_stats, waits, "recordings.threads.waits",
		    "thread_waits_total", "Waits of threads that were looked at when they ended."),
	COUNTER_SUM(struct wait_source_stats, sampled, "recordings.threads.waits_chosen",
		    "thread_waits_chosen_total",
		    "Of these, those that were chosen by their length."),
	COUNTER_SUM(
		struct wait_source_stats, lost, "recordings.threads.waits_lost",
		"thread_waits_lost_total",
		"Chosen waits for which there was no room, or whose thread went on or ended first.",
		COUNTER_PLUS(offsetof(struct wait_source_stats, broken))),
	COUNTER_SUM(struct wait_source_stats, refused, "recordings.threads.waits_refused",
		    "thread_waits_refused_total",
		    "Chosen waits that the kernel would not have read; later ones stood for them."),
	COUNTER_SUM(struct wait_source_stats, unread, "recordings.threads.waits_unread",
		    "thread_waits_unread_total", "Chosen waits whose stack could not be read."),
	COUNTER_SUM(
		struct wait_source_stats, unended, "recordings.threads.waits_unended",
		"thread_waits_unended_total",
		"Waits whose end the kernel did not tell, so that none of them could be chosen."),
};

const struct counters wait_source_counters = COUNTERS(struct wait_source_stats, counters);
