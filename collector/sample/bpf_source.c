// SPDX-License-Identifier: Apache-2.0
/* Loads the program of samples and reads its ring buffer, see bpf_source.h. */
#include "sample/bpf_source.h"

#include "base/capability.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map64.h"
#include "sample/bpf_parse.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define INITIAL_PID_NAMESPACE 0xeffffffc  /* the inode of /proc/<pid>/ns/pid */
#define SAMPLE_BYTES	      (16u << 10) /* with a deep stack of a server */
#define REST_BYTES	      (BPF_PAGE_BYTES + sizeof(struct bpf_sample_head) + 1024)
#define RING_MS		      1650
#define KEPT		      ((void *)1)

/* The object file, see CMakeLists.txt. */
extern const unsigned char bpf_object_bytes[];
extern const uint64_t bpf_object_len;

struct bpf_source {
	struct bpf_object *object;
	struct bpf_link *exec_link; /* or NULL: programs that begin are not noted */
	struct ring_buffer *ring;
	struct bpf_shared *shared;
	int program_fd, wanted_fd;
	const char *variant;
	size_t ring_bytes;
	struct map64 wanted; /* the PIDs in the kernel's table */
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

/* libbpf says line by line what the verifier says, which is of use to who looks for it alone. */
static int print(enum libbpf_print_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text = NULL, *rest, *line;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, args) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
	free(text);
	return 0;
}

static void set_print(void)
{
	libbpf_set_print(print);
}

static bool is_initial_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PID_NAMESPACE;
}

static bool is_confidential(void)
{
	char text[128];

	return file_read_small("/sys/kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

/* What is known to stand in the way; NULL: nothing. */
static const char *obstacle(void)
{
	const bool is_admin = capability_is_effective(CAP_SYS_ADMIN);

	if (!is_admin && !capability_is_effective(CAP_BPF))
		return "CAP_BPF is missing";
	if (!is_admin && !capability_is_effective(CAP_PERFMON))
		return "CAP_PERFMON is missing, without which a BPF program may not read memory";
	if (!is_initial_pid_namespace())
		return "fgcollect runs in a PID namespace, and BPF has the PIDs of the host";
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return "the kernel has no BTF (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)";
	if (is_confidential())
		return "the kernel is locked down (confidentiality)";
	return NULL;
}

static void explain(int err, char why[BPF_SOURCE_WHY_BYTES])
{
	const char *more = "; -v shows what the kernel's verifier says";

	if (err == -EPERM)
		more = ": CAP_BPF and CAP_PERFMON are needed, a seccomp profile that allows bpf, "
		       "and before Linux 5.11 a limit of locked memory (ulimit -l) for the ring";
	else if (err == -ENOMEM)
		more = ": its ring buffer is charged to the cgroup";
	snprintf(why, BPF_SOURCE_WHY_BYTES, "the BPF program cannot be loaded: %s%s",
		 strerror(-err), more);
}

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
	source->wanted_fd = bpf_object__find_map_fd_by_name(source->object, "wanted");
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
	const struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = "fgcollect"};
	int err;

	source->object = bpf_object__open_mem(bpf_object_bytes, bpf_object_len, &open);
	if (!source->object)
		return -errno;
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
		    char why[BPF_SOURCE_WHY_BYTES])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *const known = obstacle();
	struct bpf_source *source;
	int err;

	if (known) {
		snprintf(why, BPF_SOURCE_WHY_BYTES, "%s", known);
		return -EPERM;
	}
	source = calloc(1, sizeof(*source));
	if (!source) {
		snprintf(why, BPF_SOURCE_WHY_BYTES, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	pthread_once(&once, set_print);
	source->ring_bytes =
		options->ring_bytes ? options->ring_bytes : bpf_source_fit_ring(options);
	err = load_any(source, options);
	if (err) {
		explain(err, why);
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
	map64_fini(&source->wanted);
	free(source);
}

const char *bpf_source_variant(const struct bpf_source *source)
{
	return source->variant;
}

size_t bpf_source_ring_bytes(const struct bpf_source *source)
{
	return source->ring_bytes;
}

int bpf_source_attach(const struct bpf_source *source, int event_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, source->program_fd) < 0 ? -errno : 0;
}

static void want_all(struct bpf_source *source, bool is_all)
{
	__atomic_store_n(&source->shared->is_all, is_all, __ATOMIC_RELAXED);
}

/* False: the kernel's table is full. */
static bool add(struct bpf_source *source, pid_t pid)
{
	const __u32 key = (__u32)pid;
	const __u64 one = 1;

	if (map64_find(&source->wanted, key))
		return true;
	if (map64_put(&source->wanted, key, KEPT) < 0 ||
	    bpf_map_update_elem(source->wanted_fd, &key, &one, BPF_ANY) < 0) {
		map64_remove(&source->wanted, key);
		return false;
	}
	return true;
}

static void drop(struct bpf_source *source, uint64_t pid)
{
	const __u32 key = (__u32)pid;

	bpf_map_delete_elem(source->wanted_fd, &key);
	map64_remove(&source->wanted, pid);
}

/* Drops who is in the table and not among the PIDs. False: no memory. */
static bool drop_others(struct bpf_source *source, const struct map64 *now)
{
	uint64_t *const gone = malloc(source->wanted.count * sizeof(*gone)), pid;
	size_t n = 0, pos = 0;
	void *value;

	if (!gone)
		return false;
	while (map64_next(&source->wanted, &pos, &pid, &value)) {
		if (!map64_find(now, pid))
			gone[n++] = pid;
	}
	while (n > 0)
		drop(source, gone[--n]);
	free(gone);
	return true;
}

void bpf_source_want(struct bpf_source *source, const pid_t *pids, size_t n)
{
	struct map64 now = {0};
	bool fits = true;

	for (size_t i = 0; i < n && fits; i++)
		fits = map64_put(&now, (uint64_t)pids[i], KEPT) == 0;
	if (fits && source->wanted.count > 0)
		fits = drop_others(source, &now);
	for (size_t i = 0; i < n && fits; i++)
		fits = add(source, pids[i]);
	map64_fini(&now);
	want_all(source, !fits);
}

void bpf_source_want_one(struct bpf_source *source, pid_t pid)
{
	if (!add(source, pid))
		want_all(source, true);
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
