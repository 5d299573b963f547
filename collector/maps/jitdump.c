// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a jitdump, see jitdump.h. All numbers are in the host's byte order:
 *
 *   header:  u32 magic "JiTD", version 1, size 40, ELF machine, 0, pid; u64 time, flags 0
 *   record:  u32 id, size of the whole record; u64 time; and
 *     0 code load:   u32 pid, tid; u64 vma, addr, size, index; name, NUL; the code's bytes
 *     1 code move:   u32 pid, tid; u64 vma, old addr, new addr, size, index of its code load
 *     2 debug info:  u64 addr of the code, entries; each u64 addr, u32 line, discriminator, file,
 *                    NUL; belongs to the code load behind the debug info
 *     3 close:       nothing
 *
 * Records are made in a buffer that has room for the largest, and are written whole.
 */
#include "maps/jitdump.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/root_file.h"
#include "base/utf8.h"
#include "code/code_name.h"
#include "memory/process_memory.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#define MAGIC		  0x4A695444u
#define VERSION		  1
#define FLUSH_INTERVAL_NS (100 * CLOCK_NS_PER_MS)
#define FLUSH_BYTES	  (64u << 10)
#define INDEX_BITS	  24

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#error "which ELF machine is this?"
#endif

enum record_id {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	DEBUG_INFO = 2,
	CODE_CLOSE = 3,
};

struct file_header {
	uint32_t magic, version, total_size, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct prefix {
	uint32_t id, total_size;
	uint64_t time_ns;
};

struct code_load {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
};

struct code_move {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, old_addr, new_addr, size, index;
};

struct debug_info {
	struct prefix prefix;
	uint64_t addr, n_entries;
};

struct debug_entry {
	uint64_t addr;
	uint32_t line, discriminator;
};

static_assert(sizeof(struct file_header) == 40, "as perf reads it");
static_assert(sizeof(struct prefix) == 16, "as perf reads it");
static_assert(sizeof(struct code_load) == 56, "as perf reads it");
static_assert(sizeof(struct code_move) == 64, "as perf reads it");
static_assert(sizeof(struct debug_info) == 32, "as perf reads it");
static_assert(sizeof(struct debug_entry) == 16, "as perf reads it");

#define MAX_LOAD_BYTES                                                                             \
	(JITDUMP_MAX_LINE_BYTES + sizeof(struct code_load) + CODE_NAME_MAX_BYTES + 1 +             \
	 JITDUMP_MAX_CODE_BYTES)
#define OUT_BYTES (MAX_LOAD_BYTES + FLUSH_BYTES)

struct jitdump {
	int fd;
	char *path;
	void *page; /* a mapping by which perf finds the file */
	size_t page_bytes;
	uint64_t max_bytes, file_bytes; /* file_bytes: flushed, always whole records */
	bool has_ended;			/* the file or the disk is full */
	uint64_t first_index;
	uint32_t last_number;
	uint64_t pending_ns; /* when the oldest record in the buffer came; 0: none */
	struct jitdump_stats stats;
	uint64_t unflushed; /* loads in the buffer */
	size_t used;
	uint8_t out[OUT_BYTES];
};

/* ---- the file ---- */

/*
 * Whether the file at our path is the jitdump of an earlier process with our PID: a file of our
 * user whose header has the PID. perf would take that process's code for ours.
 */
static bool is_leftover(int dirfd, const char *name)
{
	_cleanup_close_ const int path_fd = root_file_open_beside(dirfd, name);
	struct file_header header;
	struct stat st;

	if (path_fd < 0 || fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid())
		return false;

	_cleanup_close_ const int fd = root_file_read_beside(path_fd);

	return fd >= 0 && read(fd, &header, sizeof(header)) == (ssize_t)sizeof(header) &&
	       header.magic == MAGIC && header.pid == (uint32_t)getpid();
}

static int create_file(int dirfd, const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dirfd, name, flags, 0600);

	if (fd < 0 && errno == EEXIST && is_leftover(dirfd, name) && unlinkat(dirfd, name, 0) == 0)
		fd = openat(dirfd, name, flags, 0600);
	if (fd < 0)
		return errno == ELOOP ? -EEXIST : -errno; /* a symlink at the path is refused too */
	return fd;
}

static int write_header(struct jitdump *dump)
{
	const struct file_header header = {
		.magic = MAGIC,
		.version = VERSION,
		.total_size = sizeof(header),
		.machine = MACHINE,
		.pid = (uint32_t)getpid(),
		.time_ns = clock_now_ns(),
	};

	dump->file_bytes = sizeof(header);
	return file_write_all(dump->fd, &header, sizeof(header));
}

static int map_page(struct jitdump *dump)
{
	dump->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	dump->page = mmap(NULL, dump->page_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump->fd, 0);
	return dump->page == MAP_FAILED ? -errno : 0;
}

static int refuse_dir(const char *dir, const char *name, int err)
{
	if (err == -EEXIST)
		log_error("%s/%s is there already and is not ours: remove it, or choose another "
			  "place with --jitdump",
			  dir, name);
	else
		log_error("cannot write a jitdump into %s: %s: choose another place with --jitdump",
			  dir, strerror(-err));
	return err;
}

static int refuse_map(const char *dir, int err)
{
	log_error("cannot map a file in %s for execution: %s: perf finds a jitdump by that: choose "
		  "a place with --jitdump that is not mounted noexec",
		  dir, strerror(-err));
	return err;
}

/* Writes the header and maps the file. If either fails, the new file is removed. */
static int begin_file(struct jitdump *dump, int dirfd, const char *dir, const char *name)
{
	int err = write_header(dump);

	if (err) {
		refuse_dir(dir, name, err);
	} else {
		err = map_page(dump);
		if (err)
			refuse_map(dir, err);
	}
	if (err)
		unlinkat(dirfd, name, 0);
	return err;
}

static struct jitdump *new_dump(const char *dir, const char *name, uint64_t max_bytes)
{
	struct jitdump *dump = malloc(sizeof(*dump)); /* pages are touched only when used */

	if (!dump)
		return NULL;
	memset(dump, 0, offsetof(struct jitdump, out));
	if (asprintf(&dump->path, "%s/%s", dir, name) < 0) {
		free(dump);
		return NULL;
	}
	dump->fd = -1;
	dump->page = MAP_FAILED;
	dump->max_bytes = max_bytes;
	/*
	 * perf inject names files by PID and index, so the indices of an earlier dump must not
	 * occur again.
	 */
	dump->first_index = (uint64_t)time(NULL) << INDEX_BITS;
	return dump;
}

static void free_dump(struct jitdump *dump)
{
	if (dump->page != MAP_FAILED)
		munmap(dump->page, dump->page_bytes);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->path);
	free(dump);
}

int jitdump_open(const char *dir, uint64_t max_bytes, struct jitdump **ret)
{
	_cleanup_close_ int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[sizeof("jit--2147483648.dump")];
	struct jitdump *dump;
	int err;

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	if (dirfd < 0)
		return refuse_dir(dir, name, -errno);
	dump = new_dump(dir, name, max_bytes);
	if (!dump)
		return refuse_dir(dir, name, -ENOMEM);
	err = dump->fd = create_file(dirfd, name);
	if (err < 0) {
		refuse_dir(dir, name, err);
		free_dump(dump);
		return err;
	}
	err = begin_file(dump, dirfd, dir, name);
	if (err) {
		free_dump(dump);
		return err;
	}
	*ret = dump;
	return 0;
}

/* ---- flushing ---- */

/*
 * Ends the file. Nothing is written behind an incomplete record: readers go from record to record,
 * and cannot skip an incomplete record.
 */
static void end_file(struct jitdump *dump, int err)
{
	dump->has_ended = true;
	dump->stats.written -= dump->unflushed;
	dump->stats.skipped += dump->unflushed;
	if (ftruncate(dump->fd, (off_t)dump->file_bytes) < 0)
		log_error("cannot shorten %s: %s: perf may find half a record at its end",
			  dump->path, strerror(errno));
	log_error("cannot write %s: %s: code from now on has no names in it: make room and start "
		  "anew, or choose another place with --jitdump",
		  dump->path, strerror(-err));
}

static void flush(struct jitdump *dump)
{
	if (dump->used > 0 && !dump->has_ended) {
		const int err = file_write_all(dump->fd, dump->out, dump->used);

		if (err)
			end_file(dump, err);
		else
			dump->file_bytes += dump->used;
	}
	dump->used = 0;
	dump->unflushed = 0;
	dump->pending_ns = 0;
}

uint64_t jitdump_due_ns(const struct jitdump *dump)
{
	return dump->pending_ns ? dump->pending_ns + FLUSH_INTERVAL_NS : 0;
}

void jitdump_step(struct jitdump *dump, uint64_t now_ns)
{
	if (dump->pending_ns && now_ns >= jitdump_due_ns(dump))
		flush(dump);
}

/* ---- records ---- */

static uint8_t *put(uint8_t *to, const void *data, size_t len)
{
	memcpy(to, data, len);
	return to + len;
}

/* Reads all of the code or none. Half of a method would be shown as the whole method. */
static int read_code(const struct jitdump_load *load, uint8_t *to)
{
	const struct code_range *range = load->range;
	const struct iovec ours = {.iov_base = to, .iov_len = range->size};
	const struct iovec theirs = {.iov_base = (void *)(uintptr_t)range->addr,
				     .iov_len = range->size};
	const ssize_t n = process_memory_read(load->pid, &ours, &theirs, 1);

	if (n < 0)
		return (int)n;
	return (size_t)n == range->size ? 0 : -EFAULT;
}

/* Writes the lines to to, which has room for JITDUMP_MAX_LINE_BYTES. Returns the end. */
static uint8_t *put_lines(uint8_t *to, const struct jitdump_load *load)
{
	struct debug_info info = {.prefix = {.id = DEBUG_INFO, .time_ns = load->time_ns},
				  .addr = load->range->addr};
	uint8_t *end = to + sizeof(info);

	for (size_t i = 0; i < load->n_lines; i++) {
		const struct jitdump_line *line = &load->lines[i];
		const struct debug_entry entry = {.addr = line->addr, .line = line->line};
		const size_t len = strlen(line->file) + 1;

		if ((size_t)(end - to) + sizeof(entry) + len > JITDUMP_MAX_LINE_BYTES)
			break;
		end = put(end, &entry, sizeof(entry));
		utf8_clean(line->file, len - 1, (char *)end, len); /* the name is from outside */
		end += strlen((const char *)end) + 1;
		info.n_entries++;
	}
	if (info.n_entries == 0)
		return to;
	info.prefix.total_size = (uint32_t)(end - to);
	memcpy(to, &info, sizeof(info));
	return end;
}

/*
 * Writes the load to to, which has room for the rest of MAX_LOAD_BYTES. Returns the length, or
 * negative errno.
 */
static ssize_t put_load(uint8_t *to, const struct jitdump_load *load, uint64_t first_index)
{
	const struct code_range *range = load->range;
	struct code_load record = {
		.prefix = {.id = CODE_LOAD, .time_ns = load->time_ns},
		.pid = (uint32_t)load->pid,
		.tid = (uint32_t)load->pid,
		.vma = range->addr,
		.addr = range->addr,
		.size = range->size,
		.index = first_index + range->dump_index,
	};
	uint8_t *code = to + sizeof(record);
	int err;

	code += code_name(range, (char *)code);
	*code++ = '\0';
	err = read_code(load, code);
	if (err)
		return err;
	record.prefix.total_size = (uint32_t)(code - to) + range->size;
	memcpy(to, &record, sizeof(record));
	return record.prefix.total_size;
}

uint32_t jitdump_number(struct jitdump *dump)
{
	return ++dump->last_number;
}

/* Whether the file has room for the buffer up to end. If not, the file ends. */
static bool has_room(struct jitdump *dump, const uint8_t *end)
{
	const uint64_t bytes = (uint64_t)(end - dump->out) + sizeof(struct prefix); /* CODE_CLOSE */

	if (dump->file_bytes + bytes <= dump->max_bytes)
		return true;
	flush(dump);
	if (!dump->has_ended)
		end_file(dump, -EFBIG);
	return false;
}

/* Keeps the record that was written behind the buffer's contents, up to end. */
static int keep(struct jitdump *dump, const uint8_t *end, uint64_t *used_bytes)
{
	if (!has_room(dump, end))
		return -ENOSPC;
	*used_bytes += (uint64_t)(end - dump->out) - dump->used;
	dump->used = (size_t)(end - dump->out);
	if (!dump->pending_ns)
		dump->pending_ns = clock_now_ns();
	return 0;
}

static int add_load(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes)
{
	uint8_t *end = dump->out + dump->used;
	ssize_t len;

	if (dump->has_ended)
		return -ENOSPC;
	if (load->range->size > JITDUMP_MAX_CODE_BYTES || *used_bytes >= JITDUMP_MAX_PROCESS_BYTES)
		return -EFBIG;
	if (load->n_lines > 0)
		end = put_lines(end, load);
	len = put_load(end, load, dump->first_index);
	return len < 0 ? (int)len : keep(dump, end + len, used_bytes);
}

int jitdump_add_load(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes)
{
	const int err = add_load(dump, load, used_bytes);

	if (err) {
		dump->stats.skipped++;
		return err;
	}
	dump->stats.written++;
	dump->unflushed++;
	if (dump->used >= FLUSH_BYTES)
		flush(dump);
	return 0;
}

int jitdump_add_repeat(struct jitdump *dump, const struct jitdump_load *load, uint64_t *used_bytes)
{
	const struct code_range *range = load->range;
	const struct code_move record = {
		.prefix = {.id = CODE_MOVE, .total_size = sizeof(record), .time_ns = load->time_ns},
		.pid = (uint32_t)load->pid,
		.tid = (uint32_t)load->pid,
		.vma = range->addr,
		.old_addr = range->addr,
		.new_addr = range->addr,
		.size = range->size,
		.index = dump->first_index + range->dump_index,
	};
	int err;

	if (dump->has_ended)
		return -ENOSPC;
	if (*used_bytes >= JITDUMP_MAX_PROCESS_BYTES)
		return -EFBIG;
	err = keep(dump, put(dump->out + dump->used, &record, sizeof(record)), used_bytes);
	if (!err && dump->used >= FLUSH_BYTES)
		flush(dump);
	return err;
}

void jitdump_stats(const struct jitdump *dump, struct jitdump_stats *ret)
{
	*ret = dump->stats;
}

void jitdump_close(struct jitdump *dump)
{
	if (!dump)
		return;
	flush(dump);
	if (!dump->has_ended) {
		const struct prefix record = {
			.id = CODE_CLOSE, .total_size = sizeof(record), .time_ns = clock_now_ns()};

		memcpy(dump->out, &record, sizeof(record));
		dump->used = sizeof(record);
		flush(dump);
	}
	free_dump(dump);
}

static const struct counter counters[] = {
	COUNTER_SUM(struct jitdump_stats, written, "jitdump_written", "jitdump_written_total",
		    "Code that was written into a jitdump."),
	COUNTER_SUM(struct jitdump_stats, skipped, "jitdump_skipped", "jitdump_skipped_total",
		    "Code that a jitdump had no room for."),
};

const struct counters jitdump_counters = COUNTERS(struct jitdump_stats, counters);
