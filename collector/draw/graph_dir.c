// SPDX-License-Identifier: Apache-2.0
/*
 * The directory of graphs, see graph_dir.h. Its list, .fgcollect-graphs, is text:
 *
 *   fgcollect graphs 2
 *   <seconds> <inode> <bytes> <payer> <name>      in the order in which they were written
 *
 * Version 1 had no payers.
 *
 * A line is ignored if it does not parse, or if its file is missing or is another file. The list
 * may name files that do not exist, but never lacks one that does.
 */
#include "draw/graph_dir.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "guard/fair.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIST	  ".fgcollect-graphs"
#define LIST_PART ".fgcollect-graphs.part"
#define PART	  ".fgcollect-part"
#define HEAD	  "fgcollect graphs 2\n"
#define MAX_SEC	  (INT64_C(1) << 40) /* of a time in the list */

#define NO_PAYER "nobody" /* of files in a list of version 1 */
#define MAX_LINE (2 * GRAPH_DIR_NAME_BYTES + 80)

#define MAX_SAME	1000 /* graphs whose names differ only in the number */
#define MAX_WHO_BYTES	16
#define MAX_PLACE_BYTES 48
#define MAX_WHAT_BYTES	96
#define WHO_DIGITS	12

/* ---- names ---- */

/*
 * Writes the last max bytes of text, cleaned. The end of a title is the class's own name, which
 * says more than the start.
 */
static void put_cleaned(const char *text, size_t max, char *ret)
{
	const size_t len = strlen(text);
	const char *from = len > max ? text + (len - max) : text;
	size_t n = 0;

	for (; from[n]; n++) {
		const char c = from[n];
		const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
				      (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';

		ret[n] = is_plain ? c : '_';
	}
	ret[n] = '\0';
	if (n == 0)
		strcpy(ret, "_");
}

void graph_name_write(const struct graph_name *name, unsigned n, char ret[GRAPH_DIR_NAME_BYTES])
{
	char who[MAX_WHO_BYTES + 1], what[MAX_WHAT_BYTES + 1], when[32], number[16] = "";
	char place[MAX_PLACE_BYTES + 2] = "";
	const time_t seconds = (time_t)name->unix_sec;
	char digits[WHO_DIGITS + 1];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(digits, sizeof(digits), "%s", name->container);
	put_cleaned(digits[0] ? digits : name->comm, MAX_WHO_BYTES, who);
	if (name->place && name->place[0]) {
		put_cleaned(name->place, MAX_PLACE_BYTES, place);
		strcat(place, "-");
	}
	put_cleaned(name->title, MAX_WHAT_BYTES, what);
	if (n > 1)
		snprintf(number, sizeof(number), ".%u", n);
	snprintf(ret, GRAPH_DIR_NAME_BYTES, "%s-%s-%s%s-%d%s%s", when, who, place, what,
		 (int)name->pid, number, render_suffix(name->format));
}

bool graph_name_is_one(const char *text)
{
	static const char form[] = "ddddddddTddddddZ-";
	const size_t len = strlen(text);

	if (len >= GRAPH_DIR_NAME_BYTES || len < sizeof(form) || strchr(text, '/'))
		return false;
	for (size_t i = 0; form[i]; i++) {
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	}
	return true;
}

/* ---- who pays ---- */

struct graph_payer {
	const char *id; /* borrowed from graph_dir.texts */
	uint64_t bytes, files;
};

/* The payer of that ID, made if there is none; NULL without memory. */
static struct graph_payer *payer_of(struct graph_dir *dir, const char *id)
{
	const char *const text = intern_add_str(&dir->texts, id);
	struct graph_payer *payer = NULL;

	if (text)
		payer = map64_find(&dir->payers, (uintptr_t)text);
	if (payer || !text)
		return payer;
	payer = calloc(1, sizeof(*payer));
	if (!payer)
		return NULL;
	payer->id = text;
	if (map64_put(&dir->payers, (uintptr_t)text, payer) < 0) {
		free(payer);
		return NULL;
	}
	return payer;
}

const char *graph_payer_id(const struct graph_payer *payer)
{
	return payer->id;
}

static void free_payers(struct graph_dir *dir)
{
	map64_fini_all(&dir->payers, free);
	intern_fini(&dir->texts);
}

/*
 * Forgets payers without files. Containers come and go for as long as the daemon runs. If memory is
 * short, the payers stay.
 */
static void forget_payers(struct graph_dir *dir)
{
	struct graph_dir anew = {0};
	size_t kept = 0, pos = 0;
	struct graph_payer *to;
	uint64_t key;
	void *payer;

	while (map64_next(&dir->payers, &pos, &key, &payer))
		kept += ((struct graph_payer *)payer)->files > 0;
	if (dir->payers.count < 2 * kept + 64)
		return;
	for (size_t i = 0; i < dir->count; i++) {
		if (!payer_of(&anew, dir->files[i].payer->id)) {
			free_payers(&anew);
			return;
		}
	}
	for (size_t i = 0; i < dir->count; i++) {
		to = payer_of(&anew, dir->files[i].payer->id);
		to->files++;
		to->bytes += dir->files[i].bytes;
		dir->files[i].payer = to;
	}
	free_payers(dir);
	dir->texts = anew.texts;
	dir->payers = anew.payers;
}

/* ---- the list ---- */

static int add_file(struct graph_dir *dir, const struct graph_file *file, const char *payer_id)
{
	struct graph_payer *const payer = payer_of(dir, payer_id);

	if (!payer || ARRAY_RESERVE(dir->files, dir->size, dir->count + 1) < 0)
		return -ENOMEM;
	dir->files[dir->count] = *file;
	dir->files[dir->count].name = strdup(file->name);
	if (!dir->files[dir->count].name)
		return -ENOMEM;
	dir->name_bytes += heap_bytes(strlen(file->name) + 1);
	dir->files[dir->count].payer = payer;
	payer->files++;
	payer->bytes += file->bytes;
	dir->count++;
	dir->bytes += file->bytes;
	return 0;
}

/* Whether the file is still the file that was written. */
static bool is_ours(const struct graph_dir *dir, const struct graph_file *file, struct stat *ret)
{
	return fstatat(dir->fd, file->name, ret, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(ret->st_mode) && (uint64_t)ret->st_ino == file->inode;
}

/* The texts of *ret and *ret_payer are borrowed from line. */
static bool parse_line(char *line, struct graph_file *ret, const char **ret_payer)
{
	char *space;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &ret->unix_sec, &ret->inode,
		   &ret->bytes, &at) != 3 ||
	    at == 0)
		return false;
	ret->name = line + at;
	*ret_payer = NO_PAYER;
	space = strchr(ret->name, ' ');
	if (space) {
		*space = '\0';
		*ret_payer = ret->name;
		ret->name = space + 1;
	}
	return graph_name_is_one(ret->name);
}

static bool parse_clock(const char *line, struct wall_clock *ret)
{
	return sscanf(line, "clock %39s %" SCNd64 " %" SCNd64, ret->boot, &ret->boot_sec,
		      &ret->unix_sec) == 3 &&
	       ret->boot_sec >= 0 && ret->boot_sec < MAX_SEC && ret->unix_sec >= 0 &&
	       ret->unix_sec < MAX_SEC;
}

static int read_list(struct graph_dir *dir)
{
	_cleanup_fclose_ FILE *stream = NULL;
	char line[MAX_LINE];
	const char *payer;
	const int fd = openat(dir->fd, LIST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct wall_clock clock;
	struct graph_file file;
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	stream = fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && dir->count < GRAPH_DIR_MAX_FILES && fgets(line, sizeof(line), stream)) {
		if (parse_clock(line, &clock))
			dir->clock = clock;
		if (!parse_line(line, &file, &payer) || !is_ours(dir, &file, &st))
			continue;
		file.bytes = (uint64_t)st.st_size;
		err = add_file(dir, &file, payer);
	}
	return err;
}

static int put_line(FILE *stream, const struct graph_file *file)
{
	return fprintf(stream, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s\n", file->unix_sec,
		       file->inode, file->bytes, file->payer->id, file->name) < 0
		       ? -EIO
		       : 0;
}

static int put_clock(FILE *stream, const struct wall_clock *clock)
{
	return clock->boot[0] && fprintf(stream, "clock %s %" PRId64 " %" PRId64 "\n", clock->boot,
					 clock->boot_sec, clock->unix_sec) < 0
		       ? -EIO
		       : 0;
}

/* Writes the list again, without files that are gone. If writing fails, the old list stays. */
static int write_list(struct graph_dir *dir)
{
	int fd, err;
	FILE *stream;

	unlinkat(dir->fd, LIST_PART, 0);
	fd = openat(dir->fd, LIST_PART, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	stream = fdopen(dup(fd), "w");
	err = stream && fputs(HEAD, stream) >= 0 ? 0 : -EIO;
	if (!err)
		err = put_clock(stream, &dir->clock);
	for (size_t i = 0; !err && i < dir->count; i++)
		err = put_line(stream, &dir->files[i]);
	if (stream && fclose(stream) != 0)
		err = -errno;
	if (!err && renameat(dir->fd, LIST_PART, dir->fd, LIST) < 0)
		err = -errno;
	if (err) {
		close(fd);
		unlinkat(dir->fd, LIST_PART, 0);
		return err;
	}
	if (dir->list_fd >= 0)
		close(dir->list_fd);
	dir->list_fd = fd;
	return 0;
}

/*
 * Adds a line to the list. An incomplete line is cut off, because the next line would be appended
 * to it.
 */
static int append_line(struct graph_dir *dir, const struct graph_file *file, const char *payer)
{
	char line[MAX_LINE];
	const int len = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s\n",
				 file->unix_sec, file->inode, file->bytes, payer, file->name);
	struct stat st;
	ssize_t n;
	int err;

	if (fstat(dir->list_fd, &st) < 0)
		return -errno;
	n = write(dir->list_fd, line, (size_t)len);
	if (n == len)
		return 0;
	err = n < 0 ? -errno : -ENOSPC;
	if (n > 0 && ftruncate(dir->list_fd, st.st_size) < 0)
		return -errno;
	return err;
}

/* Takes a reading of the clocks. Returns whether the list has to be written again. */
static bool note_clock(struct graph_dir *dir, const struct wall_clock *now)
{
	const int64_t jump = wall_clock_jump(&dir->clock, now);

	for (size_t i = 0; jump && i < dir->count; i++) {
		struct graph_file *const file = &dir->files[i];

		if (jump > 0 || file->unix_sec > (uint64_t)-jump)
			file->unix_sec += (uint64_t)jump;
		else
			file->unix_sec = 0;
	}
	if (jump)
		log_info("the wall clock was set by %+lld s: graphs keep their age",
			 (long long)jump);
	dir->clock = *now;
	return jump;
}

int graph_dir_open(struct graph_dir *dir, const char *path, const struct wall_clock *now)
{
	int err;

	*dir = (struct graph_dir){.list_fd = -1, .max_files = GRAPH_DIR_MAX_FILES};
	dir->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return -errno;
	if (flock(dir->fd, LOCK_EX | LOCK_NB) < 0)
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else
		err = read_list(dir);
	if (err == -ENOENT)
		err = 0;
	if (!err) {
		dir->settled_sec = wall_clock_is_one_boot(&dir->clock, now)
					   ? 0
					   : now->boot_sec + GRAPH_DIR_SETTLE_SEC;
		note_clock(dir, now);
		unlinkat(dir->fd, PART, 0); /* left by a daemon that ended while it wrote */
		err = write_list(dir);
	}
	if (err)
		graph_dir_close(dir);
	return err;
}

size_t graph_dir_bytes(const struct graph_dir *dir)
{
	return heap_bytes(dir->size * sizeof(*dir->files)) + dir->name_bytes +
	       intern_bytes(&dir->texts) + map64_bytes(&dir->payers) +
	       dir->payers.count * heap_bytes(sizeof(struct graph_payer));
}

void graph_dir_close(struct graph_dir *dir)
{
	for (size_t i = 0; i < dir->count; i++)
		free(dir->files[i].name);
	free(dir->files);
	free_payers(dir);
	if (dir->list_fd >= 0)
		close(dir->list_fd);
	if (dir->fd >= 0)
		close(dir->fd);
	*dir = (struct graph_dir){.fd = -1, .list_fd = -1};
}

/* ---- writing ---- */

static int write_part(struct graph_dir *dir, graph_write_fn write_graph, void *arg,
		      struct stat *ret)
{
	FILE *stream;
	int fd, err;

	unlinkat(dir->fd, PART, 0);
	fd = openat(dir->fd, PART, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	stream = fdopen(fd, "w");
	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	err = write_graph(arg, stream);
	if (!err && (fflush(stream) != 0 || fstat(fd, ret) < 0))
		err = -errno;
	if (fclose(stream) != 0 && !err)
		err = -errno;
	return err;
}

/*
 * Finds a name that no file has. Only this process writes here, but a user may have put a file
 * here.
 */
static int free_name(const struct graph_dir *dir, const struct graph_name *name,
		     char ret[GRAPH_DIR_NAME_BYTES])
{
	struct stat st;

	for (unsigned n = 1; n <= MAX_SAME; n++) {
		graph_name_write(name, n, ret);
		if (fstatat(dir->fd, ret, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT ? 0 : -errno;
	}
	return -EEXIST;
}

/* Renames the part without replacing a file. Some file systems cannot refuse to replace. */
static int move_part(const struct graph_dir *dir, const char *name)
{
	if (renameat2(dir->fd, PART, dir->fd, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return renameat(dir->fd, PART, dir->fd, name) < 0 ? -errno : 0;
}

int graph_dir_write(struct graph_dir *dir, const struct wall_clock *now,
		    const struct graph_name *name, graph_write_fn write_graph, void *arg,
		    char ret[GRAPH_DIR_NAME_BYTES])
{
	struct graph_file file = {.unix_sec = (uint64_t)now->unix_sec, .name = ret};
	struct stat st = {0};
	int err;

	graph_name_write(name, 1, ret);
	err = note_clock(dir, now) ? write_list(dir) : 0;
	if (!err)
		err = write_part(dir, write_graph, arg, &st);
	if (!err)
		err = free_name(dir, name, ret);
	if (!err) {
		file.inode = (uint64_t)st.st_ino;
		file.bytes = (uint64_t)st.st_size;
		err = append_line(dir, &file, name->payer);
	}
	if (!err)
		err = move_part(dir, ret);
	if (err) {
		unlinkat(dir->fd, PART, 0);
		return err;
	}
	return add_file(dir, &file, name->payer);
}

/* ---- what goes ---- */

static void remove_file(struct graph_dir *dir, const struct graph_file *file)
{
	struct stat st;

	if (is_ours(dir, file, &st) && unlinkat(dir->fd, file->name, 0) == 0)
		dir->removed++;
	dir->bytes -= file->bytes;
	file->payer->bytes -= file->bytes;
	file->payer->files--;
	dir->name_bytes -= heap_bytes(strlen(file->name) + 1);
	free(file->name);
}

static uint64_t amount_of(const struct graph_payer *payer, bool of_bytes)
{
	return of_bytes ? payer->bytes : payer->files;
}

/* How much each payer may have of total; UINT64_MAX without memory to find that out. */
static uint64_t find_level(const struct graph_dir *dir, bool of_bytes, uint64_t total)
{
	uint64_t *wants = calloc(dir->payers.count + 1, sizeof(*wants)), key, level;
	size_t pos = 0, n = 0;
	void *payer;

	if (!wants)
		return UINT64_MAX;
	while (map64_next(&dir->payers, &pos, &key, &payer))
		wants[n++] = amount_of(payer, of_bytes);
	level = fair_level(wants, n, total);
	free(wants);
	return level;
}

/* Removes the oldest files of each payer who has more than the level. */
static void cut(struct graph_dir *dir, bool of_bytes, uint64_t total)
{
	const uint64_t level = find_level(dir, of_bytes, total);
	size_t kept = 0;

	for (size_t i = 0; i < dir->count; i++) {
		if (amount_of(dir->files[i].payer, of_bytes) > level)
			remove_file(dir, &dir->files[i]);
		else
			dir->files[kept++] = dir->files[i];
	}
	dir->count = kept;
}

static void remove_old(struct graph_dir *dir, const struct wall_clock *now, uint64_t keep_sec)
{
	size_t gone = 0;

	while (gone < dir->count &&
	       dir->files[gone].unix_sec + keep_sec < (uint64_t)now->unix_sec) {
		remove_file(dir, &dir->files[gone]);
		gone++;
	}
	dir->count -= gone;
	if (gone > 0)
		memmove(dir->files, dir->files + gone, dir->count * sizeof(*dir->files));
}

int graph_dir_expire(struct graph_dir *dir, const struct wall_clock *now, uint64_t keep_sec,
		     uint64_t keep_bytes)
{
	const bool has_jumped = note_clock(dir, now);
	const size_t before = dir->count;

	if (now->boot_sec >= dir->settled_sec)
		remove_old(dir, now, keep_sec);
	if (dir->bytes > keep_bytes)
		cut(dir, true, keep_bytes);
	if (dir->count >= dir->max_files)
		cut(dir, false, dir->max_files - 1);
	if (dir->count == before)
		return has_jumped ? write_list(dir) : 0;
	forget_payers(dir);
	return write_list(dir);
}
