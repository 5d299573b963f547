// SPDX-License-Identifier: Apache-2.0
/*
 * Three steps from a mapping to its symbols, see module_cache.h:
 *
 *   (pid, start) -> struct memo    what was found for that mapping; the hot path, one look-up
 *   (device, inode) -> struct file what a file that could be opened turned out to hold
 *   struct module                  a table, owned by a list, pointed to by memos and files
 *
 * A table that is evicted leaves its memos and files without one; the next find loads it again.
 */
#include "symbolize/module_cache.h"

#include "base/cleanup.h"
#include "base/map64.h"
#include "symbolize/module_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define MAX_MEMOS                                                                                  \
	(256u << 10) /* then all is forgotten; only a target that maps on and on gets here */
#define MAX_FILES (64u << 10)

struct module {
	struct elf_symbols *symbols;
	uint64_t last_use;
	struct module *next;
};

/* Neither module nor reason: not looked at yet, or evicted. */
struct memo {
	uint64_t start, inode;
	uint32_t dev_major, dev_minor;
	struct module *module;
	const char *reason;
	struct memo *next; /* of the same process */
};

struct file {
	struct stat st;
	uint64_t mapped_inode; /* the same file as the last mapping of it named it */
	dev_t mapped_dev;
	struct module *module;
	const char *reason;
};

struct module_cache {
	size_t max_bytes;
	struct map64 memos;	/* memo_key -> memo */
	struct map64 processes; /* pid -> its first memo */
	struct map64 files;	/* file_key by stat -> file, owned */
	struct map64 mapped;	/* file_key as in the mapping -> file */
	struct module *modules;
	struct elf_symbols *vdso;
	const char *vdso_reason;
	uint64_t now; /* rises with every use */
	uint64_t loads, hits, evicted;
};

/* A pid has 22 bits; addresses of one process 2^54 apart share a memo, which is slow but right. */
static uint64_t memo_key(pid_t pid, uint64_t start)
{
	return (uint64_t)pid << 42 | (start >> 12 & ((UINT64_C(1) << 42) - 1));
}

static uint64_t file_key(dev_t dev, uint64_t inode)
{
	return inode ^ (uint64_t)dev * UINT64_C(0x9e3779b97f4a7c15);
}

int module_cache_new(size_t max_bytes, struct module_cache **ret)
{
	struct module_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->max_bytes = max_bytes;
	*ret = cache;
	return 0;
}

static void forget_files(struct module_cache *cache)
{
	size_t pos = 0;
	uint64_t key;
	void *file;

	while (map64_next(&cache->files, &pos, &key, &file))
		free(file);
	map64_fini(&cache->files);
	map64_fini(&cache->mapped);
}

static void forget_memos(struct module_cache *cache)
{
	size_t pos = 0;
	uint64_t key;
	void *memo;

	while (map64_next(&cache->memos, &pos, &key, &memo))
		free(memo);
	map64_fini(&cache->memos);
	map64_fini(&cache->processes);
}

void module_cache_free(struct module_cache *cache)
{
	if (!cache)
		return;
	forget_memos(cache);
	forget_files(cache);
	for (struct module *module = cache->modules, *next; module; module = next) {
		next = module->next;
		elf_symbols_free(module->symbols);
		free(module);
	}
	elf_symbols_free(cache->vdso);
	free(cache);
}

void module_cache_forget(struct module_cache *cache, pid_t pid)
{
	struct memo *memo = map64_remove(&cache->processes, (uint64_t)pid);

	for (struct memo *next; memo; memo = next) {
		next = memo->next;
		map64_remove(&cache->memos, memo_key(pid, memo->start));
		free(memo);
	}
}

static struct memo *add_memo(struct module_cache *cache, pid_t pid, uint64_t start)
{
	struct memo *memo = calloc(1, sizeof(*memo));

	if (!memo)
		return NULL;
	if (cache->memos.count >= MAX_MEMOS)
		forget_memos(cache);
	memo->start = start;
	memo->next = map64_find(&cache->processes, (uint64_t)pid);
	if (map64_put(&cache->memos, memo_key(pid, start), memo) < 0) {
		free(memo);
		return NULL;
	}
	if (map64_put(&cache->processes, (uint64_t)pid, memo) < 0) {
		map64_remove(&cache->memos, memo_key(pid, start));
		free(memo);
		return NULL;
	}
	return memo;
}

/* The memo of that mapping, emptied if the address now holds something else; NULL if out of memory.
 */
static struct memo *find_memo(struct module_cache *cache, pid_t pid, const struct mapping *mapping)
{
	struct memo *memo = map64_find(&cache->memos, memo_key(pid, mapping->start));

	if (!memo)
		memo = add_memo(cache, pid, mapping->start);
	if (!memo ||
	    (memo->start == mapping->start && memo->inode == mapping->inode &&
	     memo->dev_major == mapping->dev_major && memo->dev_minor == mapping->dev_minor))
		return memo;
	memo->start = mapping->start;
	memo->inode = mapping->inode;
	memo->dev_major = mapping->dev_major;
	memo->dev_minor = mapping->dev_minor;
	memo->module = NULL;
	memo->reason = NULL;
	return memo;
}

static size_t count_bytes(const struct module_cache *cache)
{
	size_t bytes = cache->vdso ? elf_symbols_bytes(cache->vdso) : 0;

	for (const struct module *module = cache->modules; module; module = module->next)
		bytes += elf_symbols_bytes(module->symbols);
	return bytes;
}

/* Nothing points to module any more. */
static void detach(struct module_cache *cache, const struct module *module)
{
	uint64_t key;
	void *value;

	for (size_t pos = 0; map64_next(&cache->memos, &pos, &key, &value);) {
		struct memo *memo = value;

		if (memo->module == module)
			memo->module = NULL;
	}
	for (size_t pos = 0; map64_next(&cache->files, &pos, &key, &value);) {
		struct file *file = value;

		if (file->module == module)
			file->module = NULL;
	}
}

/* The newest one stays, however large, for the caller is about to use it. */
static void evict(struct module_cache *cache, const struct module *newest)
{
	while (count_bytes(cache) > cache->max_bytes) {
		struct module **oldest = NULL, *module;

		for (struct module **at = &cache->modules; *at; at = &(*at)->next) {
			if (*at != newest && (!oldest || (*at)->last_use < (*oldest)->last_use))
				oldest = at;
		}
		if (!oldest)
			return;
		module = *oldest;
		*oldest = module->next;
		detach(cache, module);
		elf_symbols_free(module->symbols);
		free(module);
		cache->evicted++;
	}
}

/* Takes symbols. */
static struct module *add_module(struct module_cache *cache, struct elf_symbols *symbols)
{
	struct module *module;

	for (module = cache->modules; module; module = module->next) {
		if (elf_symbols_equal(module->symbols, symbols)) {
			elf_symbols_free(symbols);
			return module;
		}
	}
	module = malloc(sizeof(*module));
	if (!module) {
		elf_symbols_free(symbols);
		return NULL;
	}
	*module =
		(struct module){.symbols = symbols, .last_use = cache->now, .next = cache->modules};
	cache->modules = module;
	evict(cache, module);
	return module;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* What is known of the file st, emptied if it has changed; NULL if out of memory. */
static struct file *find_file(struct module_cache *cache, const struct stat *st)
{
	const uint64_t key = file_key(st->st_dev, st->st_ino);
	struct file *file = map64_find(&cache->files, key);

	if (!file) {
		if (cache->files.count >= MAX_FILES)
			forget_files(cache);
		file = calloc(1, sizeof(*file));
		if (!file || map64_put(&cache->files, key, file) < 0) {
			free(file);
			return NULL;
		}
	}
	if (!is_same_file(&file->st, st))
		*file = (struct file){.st = *st};
	return file;
}

/* Remembered under the mapping's own numbers too, for when the process is gone. */
static void note_mapping(struct module_cache *cache, struct file *file,
			 const struct mapping *mapping)
{
	file->mapped_dev = makedev(mapping->dev_major, mapping->dev_minor);
	file->mapped_inode = mapping->inode;
	/* Without memory for it, a process that is gone has no names: that has a reason. */
	(void)map64_put(&cache->mapped, file_key(file->mapped_dev, file->mapped_inode), file);
}

static struct module *find_mapped(const struct module_cache *cache, const struct mapping *mapping)
{
	const dev_t dev = makedev(mapping->dev_major, mapping->dev_minor);
	const struct file *file = map64_find(&cache->mapped, file_key(dev, mapping->inode));

	return file && file->mapped_dev == dev && file->mapped_inode == mapping->inode
		       ? file->module
		       : NULL;
}

static const char *reason_of_load(int err)
{
	switch (err) {
	case -ENOEXEC:
		return "no ELF";
	case -EFBIG:
		return "symbols too large";
	case -ENOMEM:
		return "out of memory";
	default:
		return "cannot be read";
	}
}

static bool is_transient(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE || err == -EINTR;
}

/* Fills file->module or file->reason; if neither, it is worth another try. */
static int load_file(struct module_cache *cache, int fd, struct file *file)
{
	struct elf_symbols *symbols;
	int err = elf_symbols_load(fd, &symbols);

	cache->loads++;
	if (!err) {
		file->module = add_module(cache, symbols);
		return file->module ? 0 : -ENOMEM;
	}
	if (!is_transient(err))
		file->reason = reason_of_load(err);
	return err;
}

/* Fills memo->module or memo->reason, or returns the reason of a failure worth another try. */
static const char *resolve(struct module_cache *cache, pid_t pid, const struct mapping *mapping,
			   struct memo *memo)
{
	const char *reason = NULL;
	struct file *file;
	struct stat st;
	_cleanup_close_ int fd = module_file_open(pid, mapping, &st, &reason);

	if (fd < 0) {
		memo->module = find_mapped(cache, mapping);
		if (!memo->module && !is_transient(fd))
			memo->reason = reason;
		return reason;
	}
	file = find_file(cache, &st);
	if (!file)
		return reason_of_load(-ENOMEM);
	note_mapping(cache, file, mapping);
	if (!file->module && !file->reason)
		reason = reason_of_load(load_file(cache, fd, file));
	memo->module = file->module;
	memo->reason = file->reason;
	return reason;
}

static struct elf_symbols *find_vdso(struct module_cache *cache, const struct mapping *mapping,
				     const char **ret_reason)
{
	_cleanup_close_ int fd = -1;

	/* That of a 32-bit process is another image. Its address space ends at 4 GiB. */
	if (sizeof(void *) == 8 && mapping->end <= UINT64_C(1) << 32) {
		*ret_reason = "vDSO of a 32-bit process";
		return NULL;
	}
	if (!cache->vdso && !cache->vdso_reason) {
		fd = module_file_open_vdso();
		if (fd < 0 || elf_symbols_load(fd, &cache->vdso) < 0)
			cache->vdso_reason = "vDSO cannot be read";
	}
	*ret_reason = cache->vdso_reason;
	return cache->vdso;
}

static struct elf_symbols *use(struct module_cache *cache, struct module *module)
{
	module->last_use = ++cache->now;
	return module->symbols;
}

struct elf_symbols *module_cache_find(struct module_cache *cache, pid_t pid,
				      const struct mapping *mapping, const char **ret_reason)
{
	struct memo *memo;

	if (mapping->inode == 0) {
		if (strcmp(mapping->path, "[vdso]") == 0)
			return find_vdso(cache, mapping, ret_reason);
		*ret_reason = "no file";
		return NULL;
	}
	memo = find_memo(cache, pid, mapping);
	if (!memo) {
		*ret_reason = reason_of_load(-ENOMEM);
		return NULL;
	}
	if (memo->module || memo->reason)
		cache->hits++;
	else
		*ret_reason = resolve(cache, pid, mapping, memo);
	if (memo->module)
		return use(cache, memo->module);
	if (memo->reason)
		*ret_reason = memo->reason;
	return NULL;
}

void module_cache_stats(const struct module_cache *cache, struct module_cache_stats *ret)
{
	struct module_cache_stats stats = {
		.modules = cache->vdso != NULL,
		.bytes = count_bytes(cache),
		.loads = cache->loads,
		.hits = cache->hits,
		.evicted = cache->evicted,
	};
	uint64_t key;
	void *value;

	for (const struct module *module = cache->modules; module; module = module->next)
		stats.modules++;
	for (size_t pos = 0; map64_next(&cache->memos, &pos, &key, &value);) {
		const struct memo *memo = value;

		stats.failed += memo->reason != NULL;
	}
	*ret = stats;
}
