// SPDX-License-Identifier: Apache-2.0
/*
 * Writes /tmp/perf-<pid>.map, see perf_map.h. A line is "start size name", hexadecimal; what perf
 * takes no notice of is a line whose name has less than three bytes.
 *
 * That is how a map says that it is ours: its first line is "0 0 fg", which perf skips and other
 * readers take for an empty piece of code at address 0. An index file elsewhere could get lost or
 * be out of step with the directory, and not every kernel and file system that /tmp may be on has
 * extended attributes for users.
 */
#include "target/perf_map.h"

#include "base/cleanup.h"
#include "base/process_stat.h"
#include "target/code_name.h"
#include "target/inline_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define TEMP_ATTEMPTS 8

static const char marker[] = "0 0 fg\n";

/* perf-<pid>.map, or with a dot and 16 digits behind it while it is being written. */
static struct perf_map_name map_name(pid_t pid)
{
	struct perf_map_name name;

	snprintf(name.text, sizeof(name.text), "perf-%d.map", (int)pid);
	return name;
}

static struct perf_map_name temp_name(pid_t pid)
{
	unsigned long long random = 0;
	struct perf_map_name name;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (unsigned long long)getpid(); /* O_EXCL is what makes it safe */
	snprintf(name.text, sizeof(name.text), "perf-%d.map.%016llx", (int)pid, random);
	return name;
}

/* ---- text ---- */

/*
 * The most bytes a line can have: two numbers, two spaces, a name and its end. One whole line always
 * fits into the buffer.
 */
#define LINE_MAX_BYTES (16 + 1 + 8 + 1 + CODE_NAME_MAX_BYTES + 1)

static void out_flush(struct perf_map_draft *out)
{
	size_t done = 0;

	while (!out->err && done < out->used) {
		const ssize_t n = write(out->fd, out->data + done, out->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			out->err = -errno;
	}
	out->written += out->used;
	out->used = 0;
}

static void out_char(struct perf_map_draft *out, char c)
{
	out->data[out->used++] = c;
}

static void out_hex(struct perf_map_draft *out, uint64_t value)
{
	char digits[16];
	size_t n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	while (n > 0)
		out_char(out, digits[--n]);
}

/* Whether there is room for another line; an address range is then to be named and ended. */
static bool begin_line(struct perf_map_draft *out, uint64_t addr, uint32_t size)
{
	if (out->written + out->used + LINE_MAX_BYTES > out->form.max_bytes)
		return false;
	if (sizeof(out->data) - out->used < LINE_MAX_BYTES)
		out_flush(out);
	out_hex(out, addr);
	out_char(out, ' ');
	out_hex(out, size);
	out_char(out, ' ');
	return true;
}

/* Regions with one name that follow each other are one line. */
struct unfolding {
	struct perf_map_draft *out;
	uint64_t addr;
	uint32_t start, end; /* of what is to be written; equal: nothing */
	bool is_full;
	size_t len;
	char name[CODE_NAME_MAX_BYTES];
};

static void end_run(struct unfolding *unfolding)
{
	struct perf_map_draft *out = unfolding->out;
	const uint32_t size = unfolding->end - unfolding->start;

	if (size == 0 || unfolding->is_full)
		return;
	unfolding->is_full = !begin_line(out, unfolding->addr + unfolding->start, size);
	if (unfolding->is_full)
		return;
	memcpy(out->data + out->used, unfolding->name, unfolding->len);
	out->used += unfolding->len;
	out_char(out, '\n');
}

static void add_region(void *arg, uint32_t start, uint32_t end, const struct inline_frame *frames,
		       size_t n)
{
	struct unfolding *unfolding = arg;
	const bool is_placed = unfolding->out->form.style.sourcepos;
	struct code_name_method methods[WIRE_INLINE_MAX_DEPTH];
	char name[CODE_NAME_MAX_BYTES];
	size_t len;

	for (size_t i = 0; i < n; i++) {
		const struct code_method *method = frames[i].method;

		methods[i] = (struct code_name_method){
			.class_name = method->class_name,
			.name = method->name,
			.signature = method->signature,
			.source_file = method->source_file,
			.line = is_placed ? code_method_first_line(method) : 0,
		};
	}
	len = code_name_unfolded(&unfolding->out->form.style, methods, n, name);
	if (len != unfolding->len || memcmp(name, unfolding->name, len) != 0) {
		end_run(unfolding);
		unfolding->start = start;
		unfolding->len = len;
		memcpy(unfolding->name, name, len);
	}
	unfolding->end = end;
}

static bool write_regions(struct perf_map_draft *out, const struct code_range *range)
{
	struct unfolding unfolding = {.out = out, .addr = range->addr};
	const struct inline_frame root = {.method = inline_table_root(range->inlines)};

	inline_table_walk(range->inlines, add_region, &unfolding);
	if (unfolding.end < range->size)
		add_region(&unfolding, unfolding.end, range->size, &root, 1);
	end_run(&unfolding);
	return !unfolding.is_full;
}

/* The lines of one range, in rising order and without overlap: as a rule one. */
static bool write_range(struct perf_map_draft *out, const struct code_range *range)
{
	if (out->form.style.unfold != PERF_MAP_FOLDED && range->inlines)
		return write_regions(out, range);
	if (!begin_line(out, range->addr, range->size))
		return false;
	out->used += code_name_styled(&out->form.style, range, out->data + out->used);
	out_char(out, '\n');
	return true;
}

void perf_map_add(struct perf_map_draft *out, const struct code_range *range)
{
	if (out->cut > 0 || !write_range(out, range))
		out->cut++;
}

/* What was added to the code map since. */
static int write_ranges(struct perf_map_draft *draft, const struct code_map *map, uint64_t since)
{
	_cleanup_free_ const struct code_range **ranges = NULL;
	const ssize_t count = code_map_list(map, since, &ranges);

	for (ssize_t i = 0; i < count && !draft->err; i++)
		perf_map_add(draft, ranges[i]);
	out_flush(draft); /* what is left to do when it appears is little */
	return count < 0 ? (int)count : 0;
}

/* ---- files ---- */

static int open_dir(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_temp(int dirfd, pid_t pid, struct perf_map_name *ret_name)
{
	for (int i = 0; i < TEMP_ATTEMPTS; i++) {
		const struct perf_map_name name = temp_name(pid);
		const int fd = openat(dirfd, name.text,
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd >= 0) {
			*ret_name = name;
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* ---- bases ---- */

/* Nobody but we can have made or changed it: it is the one we wrote, and ends where we ended it. */
static bool is_base(const struct perf_map_base *base, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 022) &&
	       st->st_dev == base->dev && st->st_ino == base->ino && st->st_size == base->size &&
	       st->st_mtim.tv_sec == base->mtime.tv_sec &&
	       st->st_mtim.tv_nsec == base->mtime.tv_nsec;
}

static bool copy_file(int from, int to, off_t size)
{
	while (size > 0) {
		const ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)size, 0);

		if (n <= 0)
			return false;
		size -= n;
	}
	return true;
}

/* Whether a line's address lies in one of the spans, which are in rising order. */
static bool is_in_spans(const char *line, const struct code_span *spans, size_t n)
{
	const uint64_t addr = strtoull(line, NULL, 16);
	size_t low = 0;

	while (n > low) {
		const size_t mid = low + (n - low) / 2;

		if (spans[mid].addr <= addr)
			low = mid + 1;
		else
			n = mid;
	}
	return low > 0 && addr - spans[low - 1].addr < spans[low - 1].size;
}

static void out_lines(struct perf_map_draft *out, const char *lines, size_t len)
{
	if (sizeof(out->data) - out->used < len)
		out_flush(out);
	memcpy(out->data + out->used, lines, len);
	out->used += len;
}

/* The lines of text but for those in the spans; returns how much of it they are, in whole lines. */
static size_t filter_lines(struct perf_map_draft *out, const char *text, size_t len,
			   const struct code_span *spans, size_t n)
{
	const char *const end = text + len, *kept = text, *line = text, *next;

	while ((next = memchr(line, '\n', (size_t)(end - line)))) {
		next++;
		if (line[0] != '0' && is_in_spans(line, spans, n)) { /* not the first line */
			out_lines(out, kept, (size_t)(line - kept));
			kept = next;
		}
		line = next;
	}
	out_lines(out, kept, (size_t)(line - kept));
	return (size_t)(line - text);
}

static bool copy_but(struct perf_map_draft *draft, int from, const struct code_span *spans,
		     size_t n)
{
	char text[sizeof(draft->data)];
	size_t held = 0;
	ssize_t got;

	while ((got = read(from, text + held, sizeof(text) - held)) > 0) {
		const size_t len = held + (size_t)got;
		const size_t done = filter_lines(draft, text, len, spans, n);

		held = len - done;
		memmove(text, text + done, held);
	}
	return got == 0 && held == 0 && !draft->err;
}

static bool copy_from(struct perf_map_draft *draft, const struct code_map *map, int from)
{
	const struct perf_map_base *base = &draft->form.base;
	struct code_span spans[CODE_MAP_MAX_UNLISTED];
	const ssize_t n = code_map_unlisted(map, base->unlisted, spans);

	if (n > 0)
		return copy_but(draft, from, spans, (size_t)n);
	if (n < 0 || !copy_file(from, draft->fd, base->size))
		return false;
	draft->written = (uint64_t)base->size;
	return true;
}

/* The draft begins as the last map did. False: it is empty, as it was. */
static bool copy_base(struct perf_map_draft *draft, const struct code_map *map)
{
	const struct perf_map_base *base = &draft->form.base;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (base->size == 0 || base->relisted != draft->relisted)
		return false;
	fd = openat(draft->dirfd, draft->name.text,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !is_base(base, &st))
		return false;
	if (copy_from(draft, map, fd))
		return true;
	/* Some file systems cannot; ftruncate leaves the offset where it is. */
	draft->used = 0;
	draft->written = 0;
	if (ftruncate(draft->fd, 0) < 0 || lseek(draft->fd, 0, SEEK_SET) < 0)
		draft->err = -errno;
	return false;
}

/* Everything, or what the last map lacks behind a copy of it. */
static int write_draft(struct perf_map_draft *draft, const struct code_map *map)
{
	struct code_map_stats stats;

	code_map_stats(map, &stats);
	draft->unlisted = stats.unlisted;
	draft->relisted = stats.relisted;
	if (copy_base(draft, map))
		return write_ranges(draft, map, draft->form.base.mark);
	draft->used = sizeof(marker) - 1;
	memcpy(draft->data, marker, sizeof(marker) - 1);
	return write_ranges(draft, map, 0);
}

int perf_map_draft(const char *dir, pid_t pid, const struct code_map *map,
		   const struct perf_map_form *form, struct perf_map_draft *ret)
{
	int err;

	ret->err = 0;
	ret->cut = ret->used = 0;
	ret->written = 0;
	ret->form = *form;
	ret->name = map_name(pid);
	ret->dirfd = open_dir(dir);
	if (ret->dirfd < 0)
		return ret->dirfd;
	ret->fd = open_temp(ret->dirfd, pid, &ret->temp);
	if (ret->fd < 0) {
		close(ret->dirfd);
		return ret->fd;
	}
	err = write_draft(ret, map);
	if (err)
		perf_map_drop(ret);
	return err;
}

bool perf_map_is_outdated(const struct perf_map_draft *draft, const struct code_map *map)
{
	struct code_map_stats stats;

	code_map_stats(map, &stats);
	return draft->unlisted != stats.unlisted || draft->relisted != stats.relisted;
}

/*
 * Puts the draft in the old map's place. An exchange, because a rename over a file makes ext4 write
 * the new one to the disk first (its auto_da_alloc), which takes longer than all the rest.
 */
static int replace(const struct perf_map_draft *draft)
{
	const int dirfd = draft->dirfd;
	int err;

	if (renameat2(dirfd, draft->temp.text, dirfd, draft->name.text, RENAME_EXCHANGE) < 0)
		return renameat(dirfd, draft->temp.text, dirfd, draft->name.text) < 0 ? -errno : 0;
	if (unlinkat(dirfd, draft->temp.text, 0) == 0)
		return 0;
	err = -errno; /* it was a directory: as it was before */
	renameat2(dirfd, draft->temp.text, dirfd, draft->name.text, RENAME_EXCHANGE);
	return err;
}

void perf_map_drop(struct perf_map_draft *draft)
{
	close(draft->fd);
	unlinkat(draft->dirfd, draft->temp.text, 0);
	close(draft->dirfd);
}

/* What the next draft can begin with; nothing if ranges had to be left out. */
static struct perf_map_base base_of(const struct perf_map_draft *draft, const struct code_map *map)
{
	struct stat st;

	if (draft->cut > 0 || fstat(draft->fd, &st) < 0)
		return (struct perf_map_base){0};
	return (struct perf_map_base){
		.mark = code_map_mark(map),
		.unlisted = draft->unlisted,
		.relisted = draft->relisted,
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
	};
}

ssize_t perf_map_publish(struct perf_map_draft *draft, const struct code_map *map,
			 struct perf_map_base *ret_base)
{
	int err;

	out_flush(draft);
	err = draft->err;
	if (!err && fchmod(draft->fd, 0644) < 0)
		err = -errno;
	*ret_base = base_of(draft, map);
	if (close(draft->fd) < 0 && !err) /* network file systems say here that they are full */
		err = -errno;
	if (!err)
		err = replace(draft);
	if (err)
		unlinkat(draft->dirfd, draft->temp.text, 0);
	close(draft->dirfd);
	return err ? err : (ssize_t)draft->cut;
}

ssize_t perf_map_write(const char *dir, pid_t pid, const struct code_map *map, uint64_t max_bytes)
{
	_cleanup_free_ struct perf_map_draft *draft = malloc(sizeof(*draft));
	const struct perf_map_form form = {.max_bytes = max_bytes};
	const int err = draft ? perf_map_draft(dir, pid, map, &form, draft) : -ENOMEM;
	struct perf_map_base base;

	return err ? err : perf_map_publish(draft, map, &base);
}

int perf_map_remove(const char *dir, pid_t pid)
{
	const struct perf_map_name name = map_name(pid);
	_cleanup_close_ int dirfd = open_dir(dir);

	if (dirfd < 0)
		return dirfd;
	return unlinkat(dirfd, name.text, 0) < 0 ? -errno : 0;
}

/* ---- old maps ---- */

/* The PID in a map's name or a temporary one's; 0 for any other name. */
static pid_t pid_of_name(const char *name, bool *ret_temp)
{
	int pid = 0, behind = 0;

	if (sscanf(name, "perf-%9d.map%n", &pid, &behind) != 1 || behind == 0 || pid <= 0)
		return 0;
	if (strlen(map_name(pid).text) !=
	    (size_t)behind) /* written with a sign, a space or zeros */
		return 0;
	name += behind;
	*ret_temp = name[0] == '.' && strspn(name + 1, "0123456789abcdef") == 16 && !name[17];
	return !name[0] || *ret_temp ? pid : 0;
}

bool perf_map_is_ours(int fd)
{
	char start[sizeof(marker) - 1];

	return pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
	       memcmp(start, marker, sizeof(start)) == 0;
}

/* Whether it is a map of this program's that was last written before that time. */
static bool is_ours(int dirfd, const char *name, bool is_temp, time_t before)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char start[sizeof(marker) - 1];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	if (st.st_mtim.tv_sec >= before)
		return false;
	n = read(fd, start, sizeof(start));
	if (n == 0)
		return is_temp; /* left behind before the first block was written */
	return n == sizeof(start) && memcmp(start, marker, sizeof(start)) == 0;
}

int perf_map_remove_old(const char *dir, long max_age_sec)
{
	_cleanup_closedir_ DIR *stream = opendir(dir);
	const struct dirent *entry;
	int removed = 0;

	if (!stream)
		return -errno;
	while ((entry = readdir(stream))) {
		bool is_temp = false;
		const pid_t pid = pid_of_name(entry->d_name, &is_temp);
		time_t before = time(NULL) - max_age_sec;

		if (pid == 0)
			continue;
		if (kill(pid, 0) == 0 || errno != ESRCH) /* a second's grace for rounding */
			before = process_stat_started_at(pid) - 1;
		if (is_ours(dirfd(stream), entry->d_name, is_temp, before) &&
		    unlinkat(dirfd(stream), entry->d_name, 0) == 0)
			removed++;
	}
	return removed;
}

/* ---- shadows ---- */

/* 1 if the process sees other mounts than we do, 0 if the same. */
static int sees_other_mounts(pid_t pid)
{
	char path[sizeof("/proc/-2147483648/ns/mnt")];
	struct stat theirs, ours;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &theirs) < 0 || stat("/proc/self/ns/mnt", &ours) < 0)
		return -errno;
	return theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino;
}

int perf_map_find_shadow(pid_t pid, pid_t inner_pid, char *ret_path, size_t size)
{
	/* Links are followed as perf would, but end within the container; nothing is opened. */
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	const struct perf_map_name name = map_name(inner_pid);
	char path[sizeof("/tmp/") + sizeof(name)];
	_cleanup_close_ int root = -1, fd = -1;
	const int other = sees_other_mounts(pid);
	char root_path[sizeof("/proc/-2147483648/root")];

	if (other <= 0)
		return other;
	snprintf(path, sizeof(path), "/tmp/%s", name.text);
	if (strlen(path) >= size)
		return -ERANGE;
	snprintf(root_path, sizeof(root_path), "/proc/%d/root", (int)pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path + 1, &how, sizeof(how));
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
	memcpy(ret_path, path, strlen(path) + 1);
	return 1;
}
