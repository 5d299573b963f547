// SPDX-License-Identifier: Apache-2.0
/*
 * The page over a directory of graphs, see graph_index.h. A graph's name says all that the page
 * says of it: "20261121T234718Z-3f2a4b5c6d7e-shop-1-app.jar-4711.html" is of 2026-11-21 23:47, of
 * the container 3f2a4b5c6d7e, and of shop-1-app.jar-4711.
 */
#include "draw/graph_index.h"

#include "base/cleanup.h"
#include "encode/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART	  ".fgcollect-index.part"
#define MARK	  "<!DOCTYPE html><!-- fgcollect graphs -->\n"
#define TIME_LEN  17 /* 20261121T234718Z- */
#define ID_DIGITS 12

static const char head[] =
	MARK "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	     "<meta name=\"viewport\" content=\"width=device-width\"><title>Flame graphs</title>\n"
	     "<style>\n"
	     ":root { color-scheme: light dark; font: 14px/1.5 sans-serif; }\n"
	     "table { border-collapse: collapse; }\n"
	     "td, th { padding: 2px 12px 2px 0; text-align: left; vertical-align: top; }\n"
	     "tr { border-top: 1px solid #8884; }\n"
	     "a { margin-right: 8px; white-space: nowrap; }\n"
	     "small { opacity: 0.7; }\n"
	     "</style></head><body>\n<h1>Flame graphs</h1>\n";

/* A graph, by its name. The texts are borrowed. */
struct entry {
	const char *name;
	const char *program; /* up to program_len bytes */
	size_t program_len;
	const char *id; /* of its container, ID_DIGITS long; NULL: in none */
};

static bool is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == ID_DIGITS && text[ID_DIGITS] == '-';
}

static struct entry entry_of(const char *name)
{
	const char *const who = name + TIME_LEN;
	const char *const program = is_id(who) ? who + ID_DIGITS + 1 : who;
	const char *const dash = strrchr(program, '-');
	const char *const end =
		dash ? dash + 1 + strspn(dash + 1, "0123456789") : program + strlen(program);

	return (struct entry){.name = name,
			      .program = program,
			      .program_len = (size_t)(end - program),
			      .id = is_id(who) ? who : NULL};
}

static int compare_programs(const struct entry *a, const struct entry *b)
{
	const size_t least = a->program_len < b->program_len ? a->program_len : b->program_len;
	const int order = memcmp(a->program, b->program, least);

	if (order)
		return order;
	if (a->program_len != b->program_len)
		return a->program_len < b->program_len ? -1 : 1;
	return strncmp(a->id ? a->id : "", b->id ? b->id : "", ID_DIGITS);
}

/* Programs by name, and of each one the newest graph first. */
static int by_program(const void *a, const void *b)
{
	const int order = compare_programs(a, b);
	const struct entry *const ea = a, *const eb = b;

	return order ? order : strcmp(eb->name, ea->name);
}

static int newest_first(const void *a, const void *b)
{
	return strcmp(((const struct entry *)b)->name, ((const struct entry *)a)->name);
}

/* A program: entries from first on. */
static size_t program_end(const struct entry *entries, size_t n, size_t first)
{
	size_t end = first + 1;

	while (end < n && compare_programs(&entries[first], &entries[end]) == 0)
		end++;
	return end;
}

/* Keeps all graphs of the programs that have the newest ones. Returns how many graphs that are. */
static size_t keep_newest(struct entry *entries, size_t n)
{
	const char *oldest = "";
	size_t programs = 0, kept = 0;
	struct entry *newest = calloc(n + 1, sizeof(*newest));

	if (!newest)
		return n;
	for (size_t i = 0; i < n; i = program_end(entries, n, i))
		newest[programs++] = entries[i];
	qsort(newest, programs, sizeof(*newest), newest_first);
	if (programs > GRAPH_INDEX_PROGRAMS)
		oldest = newest[GRAPH_INDEX_PROGRAMS - 1].name;
	free(newest);
	for (size_t i = 0, end; i < n; i = end) {
		const bool is_kept = strcmp(entries[i].name, oldest) >= 0;

		end = program_end(entries, n, i);
		for (size_t j = i; is_kept && j < end; j++)
			entries[kept++] = entries[j];
	}
	return kept;
}

static void print_program(const struct entry *entries, size_t n, FILE *stream)
{
	char program[GRAPH_DIR_NAME_BYTES];

	snprintf(program, sizeof(program), "%.*s", (int)entries[0].program_len, entries[0].program);
	fputs("<tr><td>", stream);
	text_write_xml(stream, program);
	if (entries[0].id)
		fprintf(stream, "<br><small>%.*s</small>", ID_DIGITS, entries[0].id);
	fputs("</td><td>", stream);
	for (size_t i = 0; i < n && i < GRAPH_INDEX_LINKS; i++) {
		const char *const at = entries[i].name;

		fputs("<a href=\"", stream);
		text_write_xml(stream, at);
		fprintf(stream, "\">%.4s-%.2s-%.2s %.2s:%.2s</a>\n", at, at + 4, at + 6, at + 9,
			at + 11);
	}
	if (n > GRAPH_INDEX_LINKS)
		fprintf(stream, "<small>and %zu older</small>", n - GRAPH_INDEX_LINKS);
	fputs("</td></tr>\n", stream);
}

int graph_index_print(const struct graph_dir *dir, FILE *stream)
{
	_cleanup_free_ struct entry *entries = calloc(dir->count + 1, sizeof(*entries));
	size_t n = 0, kept;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < dir->count; i++)
		entries[n++] = entry_of(dir->files[i].name);
	qsort(entries, n, sizeof(*entries), by_program);
	kept = keep_newest(entries, n);
	fputs(head, stream);
	fprintf(stream, "<p>%zu graphs; times are of their begin, in UTC.</p>\n", n);
	if (kept < n)
		fprintf(stream, "<p>%zu graphs of other programs have no place here.</p>\n",
			n - kept);
	fputs("<table><tr><th>Program</th><th>Graphs</th></tr>\n", stream);
	for (size_t i = 0, end; i < kept; i = end) {
		end = program_end(entries, kept, i);
		print_program(entries + i, end - i, stream);
	}
	fputs("</table></body></html>\n", stream);
	return ferror(stream) ? -EIO : 0;
}

/* Whether nothing is there, or a page of ours. */
static int check_place(int dir_fd)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	_cleanup_close_ const int fd = openat(dir_fd, GRAPH_INDEX_NAME, flags);
	char bytes[sizeof(MARK) - 1];

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EEXIST : -errno;
	if (read(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes) ||
	    memcmp(bytes, MARK, sizeof(bytes)) != 0)
		return -EEXIST;
	return 0;
}

static int print_to(const struct graph_dir *dir, int fd)
{
	FILE *const stream = fdopen(fd, "w");
	int err;

	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	err = graph_index_print(dir, stream);
	return fclose(stream) == 0 ? err : -errno;
}

int graph_index_write(const struct graph_dir *dir)
{
	int err = check_place(dir->fd), fd;

	if (err)
		return err;
	unlinkat(dir->fd, PART, 0);
	fd = openat(dir->fd, PART, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = print_to(dir, fd);
	if (!err && renameat(dir->fd, PART, dir->fd, GRAPH_INDEX_NAME) < 0)
		err = -errno;
	if (err)
		unlinkat(dir->fd, PART, 0);
	return err;
}
