// SPDX-License-Identifier: Apache-2.0
/* Finds addresses in files, and asks for the functions inlined there; see inlined.h. */
#include "import/inlined.h"

#include "base/cleanup.h"
#include "confine/zygote.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/native_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The time for all answers of one file. A drawing can wait longer than a recording. */
#define FILE_WAIT_NS (10 * UINT64_C(1000000000))

struct file {
	char *path;		     /* as the perf script text names the file */
	struct elf_symbols *symbols; /* NULL: the file cannot be read */
	struct mapping mapping;	     /* as if this process had mapped the file; path is real_path */
	char *real_path;
};

struct inlined {
	struct file files[INLINED_MAX_FILES];
	size_t count;
	size_t last; /* index of the file found last; most frames are of few files */
	struct native_lines *lines;
	struct inlined_stats stats;
};

struct inlined *inlined_new(void)
{
	struct inlined *const inlined = calloc(1, sizeof(*inlined));

	if (!inlined)
		return NULL;
	inlined->lines = zygote_start() < 0 ? NULL : native_lines_new();
	if (!inlined->lines) {
		free(inlined);
		return NULL;
	}
	native_lines_wait(inlined->lines, FILE_WAIT_NS);
	return inlined;
}

void inlined_free(struct inlined *inlined)
{
	if (!inlined)
		return;
	for (size_t i = 0; i < inlined->count; i++) {
		free(inlined->files[i].path);
		free(inlined->files[i].real_path);
		elf_symbols_free(inlined->files[i].symbols);
	}
	native_lines_free(inlined->lines);
	zygote_stop();
	free(inlined);
}

static int read_symbols(struct file *file)
{
	const struct debug_place place = {.root = -1, .path = file->real_path};
	_cleanup_close_ int fd =
		open(file->real_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	file->mapping = (struct mapping){
		.path = file->real_path,
		.inode = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
	};
	return elf_symbols_load(fd, &place, &file->symbols);
}

/*
 * Whether the file can be read. stat comes before open, because opening a special file can have
 * effects.
 */
static bool open_file(struct file *file)
{
	struct stat st;

	file->real_path = file->path[0] == '/' ? realpath(file->path, NULL) : NULL;
	return file->real_path && stat(file->real_path, &st) == 0 && S_ISREG(st.st_mode) &&
	       read_symbols(file) == 0;
}

static struct file *find_file(struct inlined *inlined, const char *path)
{
	struct file *file;

	for (size_t i = 0; i < inlined->count; i++) {
		const size_t at = (inlined->last + i) % inlined->count;

		if (strcmp(inlined->files[at].path, path) != 0)
			continue;
		inlined->last = at;
		return &inlined->files[at];
	}
	file = &inlined->files[inlined->count];
	if (inlined->count == INLINED_MAX_FILES || !(file->path = strdup(path))) {
		inlined->stats.no_files++;
		return NULL;
	}
	inlined->last = inlined->count++;
	inlined->stats.no_files += !open_file(file);
	return file;
}

/* perf shows symbol versions, as in f@@GLIBC_2.34. The symbols read here have none. */
static const char *without_version(const char *name, char *buf, size_t size)
{
	const size_t len = strcspn(name, "@");

	if (len == 0 || name[len] == '\0' || len >= size)
		return name;
	memcpy(buf, name, len);
	buf[len] = '\0';
	return buf;
}

static bool find_elf_addr(struct file *file, const struct inlined_place *place, uint64_t *ret)
{
	char buf[1024];
	const char *const said = without_version(place->name, buf, sizeof(buf)), *name;
	uint64_t offset;

	if (place->has_offset) {
		if (elf_symbols_find_start_of(file->symbols, said, place->pc - place->offset, ret) <
		    0)
			return false;
		*ret += place->offset;
		return true;
	}
	/* The file's addresses are the process's addresses if the same name is found at pc. */
	name = elf_symbols_find(file->symbols, place->pc, &offset);
	*ret = place->pc;
	return name && strcmp(name, said) == 0;
}

size_t inlined_find(struct inlined *inlined, const struct inlined_place *place,
		    struct dwarf_place ret[DWARF_LINES_MAX_DEPTH])
{
	struct file *const file = find_file(inlined, place->file);
	struct native_lines_file wanted = {.pid = getpid()};
	uint64_t elf_addr;

	if (!file || !file->symbols)
		return 0;
	if (!find_elf_addr(file, place, &elf_addr)) {
		inlined->stats.no_symbols++;
		return 0;
	}
	wanted.serial = elf_symbols_serial(file->symbols);
	wanted.mapping = &file->mapping;
	return native_lines_find(inlined->lines, &wanted, elf_addr - place->is_return, ret);
}

void inlined_stats(const struct inlined *inlined, struct inlined_stats *ret)
{
	struct native_lines_stats lines;

	native_lines_stats(inlined->lines, &lines);
	*ret = inlined->stats;
	ret->no_debug = lines.failed;
	ret->late = lines.late;
}
