// SPDX-License-Identifier: Apache-2.0
/*
 * Finds files by identity and tables by contents, see table_store.h. The least recently used table
 * is evicted first, of whatever kind. Tables are few (hundreds), so they stand in a list; files are
 * looked up by hash.
 */
#include "files/table_store.h"

#include "base/clock.h"
#include "base/hash.h"
#include "guard/heap_bytes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct stored_table {
	void *content;
	enum table_of of;
	uint64_t last_use;
	struct stored_table *next;
};

static const struct file_scope any_scope;

/* A hash. Different files may have equal keys, so each look-up also compares. */
static uint64_t key_of(dev_t dev, uint64_t inode, const struct file_scope *scope)
{
	uint64_t key = inode ^ (uint64_t)dev * UINT64_C(0x9e3779b97f4a7c15);

	key ^= (uint64_t)scope->mounts * UINT64_C(0xbf58476d1ce4e5b9);
	key ^= (uint64_t)scope->root_dev * UINT64_C(0x94d049bb133111eb);
	return key ^ (uint64_t)scope->root_inode * UINT64_C(0xd6e8feb86659fd93);
}

struct module_walk {
	size_t pos;
	struct module *next;
};

/* Walks all modules, in no order. A zero-filled walk begins. The returned module may be freed. */
static struct module *next_module(const struct table_store *store, struct module_walk *walk)
{
	struct module *module = walk->next;
	uint64_t key;
	void *value;

	if (!module && map64_next(&store->files, &walk->pos, &key, &value))
		module = value;
	walk->next = module ? module->next : NULL;
	return module;
}

/* ---- descriptors ---- */

static void close_file(struct table_store *store, struct module *module)
{
	if (module->path_fd < 0)
		return;
	close(module->path_fd);
	module->path_fd = -1;
	store->fds--;
}

static void close_oldest_file(struct table_store *store)
{
	struct module *oldest = NULL, *module;
	struct module_walk walk = {0};

	while ((module = next_module(store, &walk))) {
		if (module->path_fd >= 0 && (!oldest || module->last_use < oldest->last_use))
			oldest = module;
	}
	if (!oldest)
		return;
	close_file(store, oldest);
	store->fds_closed++;
}

/* Keeps the module's descriptor. Takes path_fd. */
static void keep_file(struct table_store *store, struct module *module, int path_fd)
{
	close_file(store, module);
	if (store->max_fds == 0) {
		close(path_fd);
		store->fds_closed++;
		return;
	}
	while (store->fds >= store->max_fds)
		close_oldest_file(store);
	module->path_fd = path_fd;
	module->last_use = ++store->now;
	store->fds++;
}

void table_store_hold(struct module *module)
{
	module->mappings++;
}

void table_store_release(struct table_store *store, struct module *module)
{
	assert(module->mappings > 0);
	if (--module->mappings == 0)
		close_file(store, module);
}

/* ---- files ---- */

/* Takes the module away from its jobs, whose tables are then dropped. */
static void disown_jobs(struct module *module)
{
	for (int of = 0; of < TABLE_KINDS; of++) {
		if (module->slots[of].job)
			module->slots[of].job->module = NULL;
	}
}

void table_store_forget(struct table_store *store)
{
	struct module_walk walk = {0};
	struct module *module;

	while ((module = next_module(store, &walk))) {
		close_file(store, module);
		disown_jobs(module);
		free(module);
	}
	store->count = 0;
	map64_fini(&store->files);
	map64_fini(&store->mapped);
}

/* Forgets the numbers that the file had in its last mapping. */
static void unlink_mapping(struct table_store *store, const struct module *module)
{
	const uint64_t keys[] = {key_of(module->mapped_dev, module->mapped_inode, &module->scope),
				 key_of(module->mapped_dev, module->mapped_inode, &any_scope)};

	for (size_t i = 0; i < 2; i++) {
		if (map64_find(&store->mapped, keys[i]) == module)
			map64_remove(&store->mapped, keys[i]);
	}
}

/* Takes the module out of the maps. False without memory: the module stays. */
static bool unlink_module(struct table_store *store, struct module *module)
{
	const uint64_t key = key_of(module->st.st_dev, module->st.st_ino, &module->scope);
	struct module *at = map64_find(&store->files, key);

	if (at == module && !module->next)
		map64_remove(&store->files, key);
	else if (at == module && map64_put(&store->files, key, module->next) < 0)
		return false;
	for (; at && at != module; at = at->next) {
		if (at->next == module) {
			at->next = module->next;
			break;
		}
	}
	unlink_mapping(store, module);
	return true;
}

void table_store_drop_unused(struct table_store *store)
{
	struct module *unused = NULL, *module;
	struct module_walk walk = {0};

	while ((module = next_module(store, &walk))) {
		if (module->mappings > 0)
			continue;
		module->next_unused = unused;
		unused = module;
	}
	while ((module = unused)) {
		unused = module->next_unused;
		if (!unlink_module(store, module))
			continue;
		close_file(store, module);
		disown_jobs(module);
		free(module);
		store->count--;
	}
	map64_shrink(&store->files);
	map64_shrink(&store->mapped);
}

size_t table_store_module_bytes(const struct table_store *store)
{
	return store->count * heap_bytes(sizeof(struct module)) + map64_bytes(&store->files) +
	       map64_bytes(&store->mapped);
}

bool table_store_is_full(const struct table_store *store)
{
	return store->count >= TABLE_STORE_MAX;
}

static bool times_equal(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       times_equal(&a->st_mtim, &b->st_mtim) && times_equal(&a->st_ctim, &b->st_ctim);
}

static struct module *find_or_add(struct table_store *store, const struct stat *st,
				  const struct file_scope *scope)
{
	const uint64_t key = key_of(st->st_dev, st->st_ino, scope);
	struct module *first = map64_find(&store->files, key), *module;

	for (module = first; module; module = module->next) {
		if (module->st.st_dev == st->st_dev && module->st.st_ino == st->st_ino &&
		    file_scope_equal(&module->scope, scope))
			return module;
	}
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	*module = (struct module){.st = *st, .scope = *scope, .path_fd = -1, .next = first};
	if (map64_put(&store->files, key, module) < 0) {
		free(module);
		return NULL;
	}
	store->count++;
	return module;
}

/* Forgets what was loaded, because the file has changed. */
static void renew(struct module *module, const struct stat *st)
{
	disown_jobs(module);
	module->st = *st;
	for (int of = 0; of < TABLE_KINDS; of++)
		module->slots[of] = (struct table_slot){0};
}

/*
 * Notes the mapping's device and inode. A module without this note is not found for a process that
 * is gone.
 */
static void note_mapping(struct table_store *store, struct module *module,
			 const struct mapping *mapping)
{
	const dev_t dev = makedev(mapping->dev_major, mapping->dev_minor);

	if (module->mapped_dev != dev || module->mapped_inode != mapping->inode)
		unlink_mapping(store, module);
	module->mapped_dev = dev;
	module->mapped_inode = mapping->inode;
	(void)map64_put(&store->mapped, key_of(dev, mapping->inode, &module->scope), module);
	(void)map64_put(&store->mapped, key_of(dev, mapping->inode, &any_scope), module);
}

struct module *table_store_add(struct table_store *store, int path_fd, const struct stat *st,
			       const struct mapping *mapping, const struct file_scope *scope)
{
	struct module *module = find_or_add(store, st, scope);

	if (!module) {
		close(path_fd);
		return NULL;
	}
	if (!is_same_file(&module->st, st))
		renew(module, st);
	keep_file(store, module, path_fd);
	if (st->st_ino == mapping->inode) /* otherwise another file may be mapped by now */
		note_mapping(store, module, mapping);
	return module;
}

struct module *table_store_find(const struct table_store *store, const struct mapping *mapping,
				const struct file_scope *scope)
{
	const dev_t dev = makedev(mapping->dev_major, mapping->dev_minor);
	struct module *module =
		map64_find(&store->mapped, key_of(dev, mapping->inode, scope ? scope : &any_scope));

	if (!module || module->mapped_dev != dev || module->mapped_inode != mapping->inode ||
	    (scope && !file_scope_equal(&module->scope, scope)))
		return NULL;
	return module;
}

/* ---- tables ---- */

void table_store_fini(struct table_store *store)
{
	table_store_forget(store);
	for (struct stored_table *table = store->tables, *next; table; table = next) {
		next = table->next;
		store->kinds[table->of]->free(table->content);
		free(table);
	}
	*store = (struct table_store){0};
}

size_t table_store_count(const struct table_store *store, enum table_of of, size_t *ret_bytes)
{
	size_t count = 0, bytes = 0;

	for (const struct stored_table *table = store->tables; table; table = table->next) {
		if (table->of != of)
			continue;
		count++;
		bytes += store->kinds[of]->bytes(table->content);
	}
	*ret_bytes = bytes;
	return count;
}

size_t table_store_left_out(const struct table_store *store, enum table_of of)
{
	const struct table_kind *const kind = store->kinds[of];
	size_t left_out = 0;

	for (const struct stored_table *table = store->tables; table; table = table->next) {
		if (table->of == of && kind->left_out)
			left_out += kind->left_out(table->content);
	}
	return left_out;
}

static void remove_table(struct table_store *store, struct stored_table **at)
{
	struct stored_table *table = *at;
	const uint64_t now_ns = clock_now_ns();
	struct module_walk walk = {0};
	struct module *module;

	*at = table->next;
	while ((module = next_module(store, &walk))) {
		struct table_slot *slot = &module->slots[table->of];

		if (slot->table == table)
			*slot = (struct table_slot){.evicted_ns = now_ns};
	}
	store->kinds[table->of]->free(table->content);
	store->counts[table->of].evicted++;
	free(table);
}

static size_t all_bytes(const struct table_store *store)
{
	size_t bytes = 0;

	for (const struct stored_table *table = store->tables; table; table = table->next)
		bytes += store->kinds[table->of]->bytes(table->content);
	return bytes;
}

/* Evicts tables. The newest table stays, however large, because the caller is about to use it. */
static void evict(struct table_store *store, const struct stored_table *newest)
{
	while (store->tables->next && all_bytes(store) > store->max_bytes) {
		struct stored_table **oldest = NULL;

		for (struct stored_table **at = &store->tables; *at; at = &(*at)->next) {
			if (*at != newest && (!oldest || (*at)->last_use < (*oldest)->last_use))
				oldest = at;
		}
		remove_table(store, oldest);
	}
}

void table_store_evict(struct table_store *store)
{
	while (store->tables && all_bytes(store) > store->max_bytes) {
		struct stored_table **oldest = &store->tables;

		for (struct stored_table **at = &store->tables; *at; at = &(*at)->next) {
			if ((*at)->last_use < (*oldest)->last_use)
				oldest = at;
		}
		remove_table(store, oldest);
	}
}

/* Adds a table, or finds an equal one. Takes content. */
static struct stored_table *add_table(struct table_store *store, enum table_of of, void *content)
{
	const struct table_kind *kind = store->kinds[of];
	struct stored_table *table;

	for (table = store->tables; table; table = table->next) {
		if (table->of == of && kind->equal(table->content, content)) {
			kind->free(content);
			return table;
		}
	}
	table = malloc(sizeof(*table));
	if (!table) {
		kind->free(content);
		return NULL;
	}
	*table = (struct stored_table){
		.content = content, .of = of, .last_use = ++store->now, .next = store->tables};
	store->tables = table;
	evict(store, table);
	return table;
}

struct table_job *table_store_new_job(struct table_store *store, struct module *module,
				      enum table_of of)
{
	const int fd = module->path_fd < 0 ? -1 : fcntl(module->path_fd, F_DUPFD_CLOEXEC, 0);
	struct table_job *job;

	module->last_use = ++store->now;
	job = fd < 0 ? NULL : table_job_new(store->kinds[of], fd, (uint64_t)module->st.st_size);
	if (job) {
		job->module = module;
		job->device = module->st.st_dev;
		job->file =
			quick_hash_mix(quick_hash_seed(1), module->st.st_dev, module->st.st_ino);
	}
	return job;
}

static const char *reason_of(const struct table_kind *kind, int err)
{
	switch (err) {
	case -ENOENT:
		return kind->none_reason;
	case -ENOEXEC:
		return "no ELF";
	case -EFBIG:
		return kind->large_reason;
	case -EBADMSG:
		return "its parser died";
	case -EACCES:
	case -EPERM:
		return "permission denied";
	default:
		return "cannot be read";
	}
}

enum table_of table_store_kind_of(const struct table_store *store, const struct table_job *job)
{
	enum table_of of = 0;

	while (of < TABLE_KINDS - 1 && store->kinds[of] != job->kind)
		of++;
	return of;
}

/*
 * Fills the slot of the job's module, or returns the reason of a failure after which to try again.
 */
static const char *fill(struct table_store *store, enum table_of of, struct table_job *job)
{
	struct table_slot *slot = &((struct module *)job->module)->slots[of];

	slot->job = NULL;
	if (job->err == -ENOMEM)
		return "out of memory";
	if (job->err == -EAGAIN)
		return "no parser";
	if (job->err == -EMFILE || job->err == -ENFILE)
		return "too many open files";
	if (job->err) {
		slot->reason = reason_of(store->kinds[of], job->err);
		return slot->reason;
	}
	slot->table = add_table(store, of, job->content);
	job->content = NULL;
	return slot->table ? NULL : "out of memory";
}

void table_store_drop(struct table_store *store, struct table_job *job)
{
	struct module *const module = job->module;

	if (module)
		module->slots[table_store_kind_of(store, job)].job = NULL;
	table_job_free(job);
}

const char *table_store_put(struct table_store *store, struct table_job *job)
{
	const enum table_of of = table_store_kind_of(store, job);
	const char *reason;

	store->counts[of].loads++;
	store->counts[of].load_ns += job->took_ns;
	reason = job->module ? fill(store, of, job) : "file has changed";
	table_job_free(job);
	return reason;
}

bool table_store_is_private(const struct table_store *store, const struct module *module,
			    enum table_of of)
{
	const struct table_kind *kind = store->kinds[of];

	return kind->is_private && kind->is_private(module->slots[of].table->content);
}

void *table_store_use(struct table_store *store, const struct module *module, enum table_of of)
{
	struct stored_table *table = module->slots[of].table;

	table->last_use = ++store->now;
	return table->content;
}
