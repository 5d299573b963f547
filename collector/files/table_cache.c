// SPDX-License-Identifier: Apache-2.0
/*
 * Three steps lead from a mapping to its table, see table_cache.h:
 *
 *   (pid, start) -> struct memo      the result for the mapping; the hot path, one look-up
 *   memo -> struct module            a file, held by a descriptor
 *   module -> tables                 made of the file; an evicted table is loaded again
 *
 * The first step is made here, the others by table_store. A thread of table_loader makes a table;
 * without a loader the table is made at once.
 *
 * One file, because all three steps read and change what is remembered of a mapping.
 */
#include "files/table_cache.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "files/module_file.h"
#include "files/opening.h"
#include "guard/heap_bytes.h"
#include "guard/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Limit of memos. Only an owner that maps ever new places reaches the limit. */
#define MAX_MEMOS (256u << 10)
/* When an owner makes room, so much of the limit is left for others. */
#define ROOM(limit) ((limit) / 8 * 7)

#define MAX_LIKELY_JOBS 64
#define RELOAD_NS	(1 * CLOCK_NS_PER_SEC) /* least time from an eviction to the next load */
#define SHARE_NS	(100 * CLOCK_NS_PER_MS)

struct memo {
	uint64_t start, inode;
	uint32_t dev_major, dev_minor;
	struct module *module; /* or NULL */
	bool is_others;	       /* module is of another scope than this process's */
	const char *reason;    /* why the file could not be found, or NULL */
	uint64_t shared_ns;    /* when the process last said that it needs a file being loaded */
	struct memo *next;     /* the next memo of the process */
};

/* A process of which mappings are known. */
struct known_process {
	struct memo *first;
	size_t count;	/* of memos */
	uint64_t group; /* owner_group */
};

struct vdso {
	void *table;
	const char *reason;
};

struct table_cache {
	struct map64 memos;	/* what was found for a mapping */
	struct map64 processes; /* PID -> struct known_process */
	size_t max_file_bytes;	/* of both, and of modules */
	bool is_lowered;	/* tables may be more than the limit */
	struct table_store store;
	struct table_loader *loader; /* NULL: files are read at once */
	bool has_stuck;		     /* the loader has threads that are stuck */
	owner_fn owner;		     /* or NULL */
	void *owner_arg;
	const struct table_source *source; /* answers in the place of files, or NULL */
	struct vdso vdso[TABLE_KINDS];
	struct pool jobs; /* of owners, at the loader */
	size_t max_jobs;
	size_t loading[TABLE_KINDS];
	uint64_t hits[TABLE_KINDS], put_off[TABLE_KINDS];
	uint64_t begun, begun_end; /* count of loads, and its limit; no limit if begun_end is 0 */
	bool is_patient;
	bool answer_passes; /* the last one */
	uint64_t missing;
	uint64_t forgotten; /* how often files and mappings of an owner were forgotten */
	uint64_t tries, opened, unopened, not_begun;
};

/* ---- life ---- */

/* The limit of descriptors for files, which leaves some for events, agents and clients. */
static size_t max_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 4 > TABLE_CACHE_MAX_FDS)
		return TABLE_CACHE_MAX_FDS;
	return (size_t)(limit.rlim_cur / 4);
}

int table_cache_new(size_t max_bytes, bool has_loader, struct table_cache **ret)
{
	struct table_cache *cache = calloc(1, sizeof(*cache));
	int err;

	if (!cache)
		return -ENOMEM;
	cache->store.max_bytes = max_bytes;
	cache->store.max_fds = max_fds();
	cache->max_file_bytes = SIZE_MAX;
	cache->max_jobs = TABLE_CACHE_MAX_JOBS;
	cache->is_patient = true;
	err = has_loader ? table_loader_start(&cache->loader) : 0;
	if (err) {
		free(cache);
		return err;
	}
	*ret = cache;
	return 0;
}

void table_cache_set_kind(struct table_cache *cache, enum table_of of,
			  const struct table_kind *kind)
{
	cache->store.kinds[of] = kind;
}

void table_cache_set_max_jobs(struct table_cache *cache, size_t max_jobs)
{
	cache->max_jobs = max_jobs;
}

void table_cache_set_owner(struct table_cache *cache, owner_fn owner, void *arg)
{
	cache->owner = owner;
	cache->owner_arg = arg;
}

static struct owner owner_of(const struct table_cache *cache, pid_t pid)
{
	if (!cache->owner)
		return (struct owner){.user = (uint64_t)pid};
	return cache->owner(cache->owner_arg, pid);
}

void table_cache_set_limits(struct table_cache *cache, size_t max_bytes, size_t max_file_bytes)
{
	cache->is_lowered |= max_bytes < cache->store.max_bytes;
	cache->store.max_bytes = max_bytes;
	cache->max_file_bytes = max_file_bytes;
}

static void forget_all(struct table_cache *cache)
{
	map64_fini_all(&cache->memos, free);
	map64_fini_all(&cache->processes, free);
	table_store_forget(&cache->store);
}

void table_cache_free(struct table_cache *cache)
{
	if (!cache)
		return;
	forget_all(cache); /* jobs then belong to no module, and the loader drops them */
	table_loader_stop(cache->loader);
	for (int of = 0; of < TABLE_KINDS; of++) {
		if (cache->vdso[of].table)
			cache->store.kinds[of]->free(cache->vdso[of].table);
	}
	table_store_fini(&cache->store);
	pool_fini(&cache->jobs);
	free(cache);
}

/* ---- memos ---- */

/*
 * A key of PID, which has 22 bits, and address. Addresses of one process 2^54 apart share a memo,
 * which is slow but right.
 */
static uint64_t memo_key(pid_t pid, uint64_t start)
{
	return (uint64_t)pid << 42 | (start >> 12 & ((UINT64_C(1) << 42) - 1));
}

static void set_module(struct table_cache *cache, struct memo *memo, struct module *module)
{
	if (module)
		table_store_hold(module);
	if (memo->module)
		table_store_release(&cache->store, memo->module);
	memo->module = module;
	memo->is_others = false;
}

void table_cache_forget(struct table_cache *cache, pid_t pid)
{
	struct known_process *process = map64_remove(&cache->processes, (uint64_t)pid);

	if (!process)
		return;
	for (struct memo *memo = process->first, *next; memo; memo = next) {
		next = memo->next;
		map64_remove(&cache->memos, memo_key(pid, memo->start));
		set_module(cache, memo, NULL);
		free(memo);
	}
	free(process);
}

static struct known_process *find_process(struct table_cache *cache, pid_t pid)
{
	struct known_process *process = map64_find(&cache->processes, (uint64_t)pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->group = owner_group(owner_of(cache, pid));
	if (map64_put(&cache->processes, (uint64_t)pid, process) == 0)
		return process;
	free(process);
	return NULL;
}

static struct memo *add_memo(struct table_cache *cache, pid_t pid, uint64_t start)
{
	struct known_process *process = find_process(cache, pid);
	struct memo *memo = process ? calloc(1, sizeof(*memo)) : NULL;

	if (!memo)
		return NULL;
	memo->start = start;
	if (map64_put(&cache->memos, memo_key(pid, start), memo) < 0) {
		free(memo);
		return NULL;
	}
	memo->next = process->first;
	process->first = memo;
	process->count++;
	return memo;
}

/* ---- room ---- */

static size_t file_bytes(const struct table_cache *cache)
{
	return cache->memos.count * heap_bytes(sizeof(struct memo)) + map64_bytes(&cache->memos) +
	       cache->processes.count * heap_bytes(sizeof(struct known_process)) +
	       map64_bytes(&cache->processes) + table_store_module_bytes(&cache->store);
}

static bool is_full(const struct table_cache *cache)
{
	return cache->memos.count >= MAX_MEMOS || table_store_is_full(&cache->store) ||
	       file_bytes(cache) > cache->max_file_bytes;
}

static bool has_room(const struct table_cache *cache)
{
	return cache->memos.count <= ROOM(MAX_MEMOS) &&
	       cache->store.count <= ROOM(TABLE_STORE_MAX) &&
	       file_bytes(cache) <= ROOM(cache->max_file_bytes);
}

/* The group whose processes have the most. */
static uint64_t find_greediest(const struct table_cache *cache)
{
	_cleanup_(pool_fini) struct pool pool = {0};
	uint64_t key, most;
	size_t pos = 0;
	void *value;

	while (map64_next(&cache->processes, &pos, &key, &value)) {
		const struct known_process *const process = value;

		pool_charge(&pool, process->group, process->count + 1);
	}
	return pool_greediest(&pool, &most);
}

/* A process of that group; false: there is none, or no more. *pos starts at 0. */
static bool next_of_group(const struct table_cache *cache, uint64_t group, size_t *pos,
			  pid_t *ret_pid)
{
	uint64_t key;
	void *value;

	while (map64_next(&cache->processes, pos, &key, &value)) {
		if (((const struct known_process *)value)->group != group)
			continue;
		*ret_pid = (pid_t)key;
		return true;
	}
	return false;
}

/* Forgets what is known of all processes of the group. Returns false without memory. */
static bool forget_group(struct table_cache *cache, uint64_t group)
{
	pid_t *pids = calloc(cache->processes.count + 1, sizeof(*pids));
	size_t pos = 0, n = 0;

	while (pids && next_of_group(cache, group, &pos, &pids[n]))
		n++;
	for (size_t i = 0; i < n; i++)
		table_cache_forget(cache, pids[i]);
	free(pids);
	table_store_drop_unused(&cache->store);
	map64_shrink(&cache->memos);
	map64_shrink(&cache->processes);
	return pids != NULL;
}

/* Files of processes that are gone go first; then the greediest owners make room. */
static void make_room(struct table_cache *cache)
{
	bool may_go_on = true;

	table_store_drop_unused(&cache->store);
	while (may_go_on && !has_room(cache) && cache->processes.count > 0) {
		may_go_on = forget_group(cache, find_greediest(cache));
		cache->forgotten++;
	}
	if (is_full(cache))
		forget_all(cache);
}

/* The mapping's memo, emptied if another mapping has its place now. NULL without memory. */
static struct memo *find_memo(struct table_cache *cache, pid_t pid, const struct mapping *mapping)
{
	struct memo *memo = map64_find(&cache->memos, memo_key(pid, mapping->start));

	if (!memo) {
		if (is_full(cache))
			make_room(cache);
		memo = add_memo(cache, pid, mapping->start);
	}
	if (!memo ||
	    (memo->start == mapping->start && memo->inode == mapping->inode &&
	     memo->dev_major == mapping->dev_major && memo->dev_minor == mapping->dev_minor))
		return memo;
	memo->start = mapping->start;
	memo->inode = mapping->inode;
	memo->dev_major = mapping->dev_major;
	memo->dev_minor = mapping->dev_minor;
	set_module(cache, memo, NULL);
	memo->reason = NULL;
	return memo;
}

/* ---- files ---- */

/*
 * Finds the module of another mapping with equal device and inode. The module must be held, so that
 * no other file can have got its numbers, and its file must be unchanged. Where stat(2) gives other
 * numbers than the mapping, the mapping's numbers may not be unique.
 */
static struct module *find_held(const struct table_cache *cache, const struct mapping *mapping,
				const struct file_scope *scope)
{
	struct module *module = table_store_find(&cache->store, mapping, scope);

	return module && module->path_fd >= 0 && module->st.st_dev == module->mapped_dev &&
			       module_file_is_same(module->path_fd, &module->st)
		       ? module
		       : NULL;
}

static bool has_any(const struct module *module)
{
	bool any = module->path_fd >= 0;

	for (int of = 0; of < TABLE_KINDS; of++)
		any |= module->slots[of].table || module->slots[of].job;
	return any;
}

/* Finds a module for a process that is gone: other processes may have mapped the file. */
static void find_others(struct table_cache *cache, const struct mapping *mapping,
			const struct file_scope *scope, struct memo *memo)
{
	struct module *module = table_store_find(&cache->store, mapping, NULL);

	if (!module || !has_any(module))
		return;
	set_module(cache, memo, module);
	memo->is_others = !file_scope_equal(&module->scope, scope);
}

/* Whether a failure is of this machine, or of a process that may answer later. */
static bool may_pass(int err)
{
	return is_shortage(err) || err == -ETIMEDOUT;
}

/*
 * Fills memo->module or memo->reason, or returns the reason of a failure after which to try again.
 */
static const char *open_file(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
			     struct memo *memo)
{
	struct module *module;
	struct opened opened;

	opening_run(pid, mapping, &opened);
	cache->tries++;
	module = find_held(cache, mapping, &opened.scope);
	if (module) {
		if (opened.fd >= 0)
			close(opened.fd);
		set_module(cache, memo, module);
		return NULL;
	}
	cache->opened += opened.fd >= 0;
	cache->unopened += opened.fd < 0;
	if (opened.fd >= 0) {
		set_module(cache, memo,
			   table_store_add(&cache->store, opened.fd, &opened.st, mapping,
					   &opened.scope));
		return memo->module ? NULL : "out of memory";
	}
	find_others(cache, mapping, &opened.scope, memo);
	if (!memo->module && !may_pass(opened.fd))
		memo->reason = opened.reason;
	return memo->module ? NULL : opened.reason;
}

/* Opens the file again, because its descriptor may have been closed. */
static const char *open_again(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
			      struct memo *memo)
{
	const char *reason;

	set_module(cache, memo, NULL);
	reason = open_file(cache, pid, mapping, memo);
	return memo->module && memo->module->path_fd < 0 ? "file is gone" : reason;
}

/* ---- loads ---- */

/* The mapping that is asked for, and its process. */
struct asked {
	pid_t pid;
	const struct mapping *mapping;
};

/*
 * Makes a job. For tables made with debug files, the job gets the target's root directory and the
 * file's path there. A process that has changed its root since its mapping was seen, as a program
 * that starts a container does, gives no root directory.
 */
static struct table_job *new_job(struct table_cache *cache, const struct asked *asked,
				 struct module *module, enum table_of of)
{
	struct table_job *job = table_store_new_job(&cache->store, module, of);

	if (job)
		job->owner = owner_of(cache, asked->pid);
	if (job && cache->store.kinds[of]->needs_place)
		table_job_place(job, opening_root(asked->pid, &module->scope),
				asked->mapping->path);
	return job;
}

/* Loads the table now. Returns why there is no table, or NULL. */
static const char *load_now(struct table_cache *cache, const struct asked *asked,
			    struct module *module, enum table_of of)
{
	struct table_job *job = new_job(cache, asked, module, of);

	if (!job)
		return "too many open files";
	table_job_run(job);
	return table_store_put(&cache->store, job);
}

static const char *wait_for(struct table_cache *cache, enum table_of of)
{
	if (cache->is_patient)
		cache->missing++;
	else
		cache->put_off[of]++;
	return "still loading";
}

static const char *put_off(struct table_cache *cache, enum table_of of)
{
	cache->put_off[of]++;
	return "put off";
}

/* The loader has the job no more. */
static void release_job(struct table_cache *cache, const struct table_job *job)
{
	pool_release(&cache->jobs, job->group, 1);
	cache->loading[table_store_kind_of(&cache->store, job)]--;
}

/* Whether there is room for a job of the group. If there is none, who has the most makes some. */
static bool has_job_room(struct table_cache *cache, uint64_t group)
{
	struct table_job *job = NULL;
	uint64_t payer;

	if (cache->jobs.sum < cache->max_jobs)
		return true;
	if (pool_choose(&cache->jobs, group, 1, &payer))
		job = table_loader_drop(cache->loader, payer);
	if (!job)
		return false;
	release_job(cache, job);
	cache->put_off[table_store_kind_of(&cache->store, job)]++;
	table_store_drop(&cache->store, job);
	return true;
}

/* False: there is no descriptor, or no memory. */
static bool start_job(struct table_cache *cache, const struct asked *asked, struct module *module,
		      enum table_of of, bool is_urgent)
{
	struct table_job *const job = new_job(cache, asked, module, of);

	if (!job)
		return false;
	job->group = owner_group(job->owner);
	if (pool_charge(&cache->jobs, job->group, 1) < 0) {
		table_job_free(job);
		return false;
	}
	module->slots[of].job = job;
	cache->loading[of]++;
	table_loader_add(cache->loader, job, is_urgent);
	return true;
}

/* Has the loader load the table. Returns why the caller has to ask again. */
static const char *begin_load(struct table_cache *cache, const struct asked *asked,
			      struct module *module, enum table_of of)
{
	struct table_slot *slot = &module->slots[of];

	if (slot->job) {
		table_loader_hurry(cache->loader, slot->job, owner_of(cache, asked->pid));
		return wait_for(cache, of);
	}
	if ((slot->evicted_ns && clock_now_ns() < slot->evicted_ns + RELOAD_NS) ||
	    !has_job_room(cache, owner_group(owner_of(cache, asked->pid))))
		return put_off(cache, of);
	if (!start_job(cache, asked, module, of, true))
		return "too many open files";
	cache->begun++;
	return wait_for(cache, of);
}

static const char *load(struct table_cache *cache, const struct asked *asked, struct module *module,
			enum table_of of)
{
	if (!module->slots[of].job && cache->begun_end > 0 && cache->begun >= cache->begun_end)
		return put_off(cache, of);
	if (cache->loader)
		return begin_load(cache, asked, module, of);
	cache->begun++;
	return load_now(cache, asked, module, of);
}

void table_cache_allow(struct table_cache *cache, unsigned int loads)
{
	cache->begun_end = cache->begun + loads;
}

void table_cache_be_patient(struct table_cache *cache, bool is_patient)
{
	cache->is_patient = is_patient;
}

bool table_cache_is_patient(const struct table_cache *cache)
{
	return cache->is_patient;
}

uint64_t table_cache_missing(const struct table_cache *cache)
{
	return cache->missing;
}

uint64_t table_cache_put_off(const struct table_cache *cache)
{
	uint64_t sum = 0;

	for (int of = 0; of < TABLE_KINDS; of++)
		sum += cache->put_off[of];
	return sum;
}

uint64_t table_cache_loads(const struct table_cache *cache)
{
	return cache->store.counts[TABLE_UNWIND].loads + cache->store.counts[TABLE_SYMBOLS].loads;
}

bool table_cache_gets_on(const struct table_cache *cache)
{
	return cache->loader && table_loader_gets_on(cache->loader);
}

bool table_cache_step(struct table_cache *cache)
{
	struct table_job *job;
	bool any = cache->is_lowered;

	if (cache->is_lowered)
		table_store_evict(&cache->store);
	cache->is_lowered = false;
	if (cache->loader) {
		table_loader_tend(cache->loader, clock_now_ns());
		cache->has_stuck = table_loader_stuck(cache->loader, NULL) > 0;
		zygote_tend();
	}
	while (cache->loader && (job = table_loader_take(cache->loader))) {
		log_debug("files: a table of %s took %llu us%s%s", job->path ? job->path : "a file",
			  (unsigned long long)(job->took_ns / 1000), job->err ? ": " : "",
			  job->err ? strerror(-job->err) : "");
		release_job(cache, job);
		table_store_put(&cache->store, job);
		any = true;
	}
	return any;
}

int table_cache_fd(const struct table_cache *cache)
{
	return cache->loader ? table_loader_fd(cache->loader) : -1;
}

/* ---- answers ---- */

static void *find_vdso(struct table_cache *cache, enum table_of of, const struct mapping *mapping,
		       const char **ret_reason)
{
	struct vdso *vdso = &cache->vdso[of];
	int fd;

	/*
	 * The vDSO of a 32-bit process is another image. The address space of such a process ends
	 * at 4 GiB.
	 */
	if (sizeof(void *) == 8 && mapping->end <= UINT64_C(1) << 32) {
		*ret_reason = "vDSO of a 32-bit process";
		return NULL;
	}
	if (!vdso->table && !vdso->reason) {
		fd = module_file_open_vdso();
		if (fd < 0 || cache->store.kinds[of]->load(fd, NULL, &vdso->table) < 0)
			vdso->reason = "vDSO cannot be read";
		if (fd >= 0)
			close(fd);
	}
	if (!vdso->table)
		*ret_reason = vdso->reason;
	return vdso->table;
}

static bool has_file(const struct mapping *mapping)
{
	return mapping->inode != 0;
}

static struct memo *see(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
			const char **ret_reason)
{
	struct memo *memo = find_memo(cache, pid, mapping);

	*ret_reason = memo ? memo->reason : "out of memory";
	if (memo && !memo->module && !memo->reason)
		*ret_reason = open_file(cache, pid, mapping, memo);
	return memo;
}

void table_cache_see(struct table_cache *cache, pid_t pid, const struct mapping *mapping)
{
	const char *reason;

	if (has_file(mapping))
		see(cache, pid, mapping, &reason);
}

/* Another process may have asked first whose files do not answer. */
static void share_loads(struct table_cache *cache, pid_t pid, struct memo *memo)
{
	const uint64_t now_ns = clock_now_ns();
	struct owner owner;

	if (!cache->has_stuck || now_ns < memo->shared_ns + SHARE_NS)
		return;
	memo->shared_ns = now_ns;
	owner = owner_of(cache, pid);
	for (int of = 0; of < TABLE_KINDS; of++) {
		if (memo->module->slots[of].job)
			table_loader_share(cache->loader, memo->module->slots[of].job, owner);
	}
}

void table_cache_expect(struct table_cache *cache, pid_t pid, const struct mapping *mapping)
{
	const char *reason;
	struct memo *memo = has_file(mapping) ? see(cache, pid, mapping, &reason) : NULL;
	const struct asked asked = {.pid = pid, .mapping = mapping};

	if (memo && memo->module)
		share_loads(cache, pid, memo);
	for (int of = 0; memo && memo->module && of < TABLE_KINDS; of++) {
		const struct table_kind *const kind = cache->store.kinds[of];
		struct table_slot *slot = &memo->module->slots[of];

		if (!cache->loader || !kind || kind->is_on_demand || slot->table || slot->reason ||
		    slot->job || slot->evicted_ns)
			continue;
		if (cache->jobs.sum >= MAX_LIKELY_JOBS ||
		    !start_job(cache, &asked, memo->module, of, false))
			cache->not_begun++;
	}
}

/* Gets the table of a file that was found. Returns why there is no table, or NULL. */
static const char *get_table(struct table_cache *cache, enum table_of of, pid_t pid,
			     const struct mapping *mapping, struct memo *memo)
{
	const struct table_slot *slot = &memo->module->slots[of];
	const struct asked asked = {.pid = pid, .mapping = mapping};
	const char *reason;

	if (slot->table || slot->reason)
		return slot->reason;
	if (memo->module->path_fd < 0 && !slot->job) {
		reason = open_again(cache, pid, mapping, memo);
		if (reason)
			return reason;
		slot = &memo->module->slots[of];
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): open_again has set it */
		if (slot->table || slot->reason)
			return slot->reason;
	}
	return load(cache, &asked, memo->module, of);
}

static void *ask_source(struct table_cache *cache, enum table_of of, pid_t pid,
			const struct mapping *mapping, const char **ret_reason)
{
	const struct table_source *const source = cache->source;
	enum table_answer answer = TABLE_ANSWER_STAYS;
	void *const table = source->find(source->arg, of, pid, mapping, ret_reason, &answer);

	cache->put_off[of] += answer == TABLE_ANSWER_LATE;
	cache->answer_passes = !table && answer != TABLE_ANSWER_STAYS;
	/* cppcheck-suppress returnDanglingLifetime ; the table is the source's own */
	return table;
}

/* Whether the mapping's answer is remembered: a table, or the reason why there is none. */
static bool is_remembered(const struct memo *memo, enum table_of of)
{
	const struct table_slot *const slot =
		memo && memo->module ? &memo->module->slots[of] : NULL;

	return memo && (memo->reason || (slot && (slot->table || slot->reason)));
}

bool table_cache_answer_passes(const struct table_cache *cache)
{
	return cache->answer_passes;
}

void *table_cache_find(struct table_cache *cache, enum table_of of, pid_t pid,
		       const struct mapping *mapping, const char **ret_reason)
{
	const uint64_t work = cache->tries + cache->begun + cache->missing + cache->put_off[of];
	const char *reason = NULL;
	struct memo *memo;

	if (cache->source)
		return ask_source(cache, of, pid, mapping, ret_reason);
	cache->answer_passes = false;
	if (!has_file(mapping)) {
		if (strcmp(mapping->path, "[vdso]") == 0)
			return find_vdso(cache, of, mapping, ret_reason);
		*ret_reason = "no file";
		return NULL;
	}
	memo = see(cache, pid, mapping, &reason);
	if (memo && memo->module)
		reason = get_table(cache, of, pid, mapping, memo);
	if (memo && memo->module && !reason && memo->is_others &&
	    table_store_is_private(&cache->store, memo->module, of))
		reason = "file is gone";
	cache->hits[of] +=
		work == cache->tries + cache->begun + cache->missing + cache->put_off[of];
	if (!reason)
		return table_store_use(&cache->store, memo->module, of);
	cache->answer_passes = !is_remembered(memo, of);
	*ret_reason = reason;
	return NULL;
}

int table_cache_dup_file(struct table_cache *cache, pid_t pid, const struct mapping *mapping)
{
	const struct module *module;
	struct memo *memo;
	const char *reason;
	int fd;

	if (cache->source || !has_file(mapping))
		return -ENOENT;
	memo = see(cache, pid, mapping, &reason);
	if (!memo)
		return -ENOMEM;
	if (memo->module && memo->module->path_fd < 0)
		open_again(cache, pid, mapping, memo);
	module = memo->module;
	if (!module || module->path_fd < 0)
		return -ENOENT;
	if (memo->is_others || !module_file_has_same_bytes(module->path_fd, &module->st))
		return -ESTALE;
	fd = fcntl(module->path_fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

void table_cache_set_source(struct table_cache *cache, const struct table_source *source)
{
	cache->source = source;
}

/* ---- counters ---- */

void table_cache_stats(const struct table_cache *cache, struct table_cache_stats *ret)
{
	*ret = (struct table_cache_stats){
		.max_bytes = cache->store.max_bytes,
		.files = cache->store.count,
		.mappings = cache->memos.count,
		.bytes = file_bytes(cache),
		.forgotten = cache->forgotten,
		.descriptors = cache->store.fds,
		.max_descriptors = cache->store.max_fds,
		.opened = cache->opened,
		.unopened = cache->unopened,
		.descriptors_closed = cache->store.fds_closed,
		.not_begun = cache->not_begun,
	};
}

void table_cache_table_stats(const struct table_cache *cache, enum table_of of,
			     struct table_stats *ret)
{
	const struct table_counts *counts = &cache->store.counts[of];
	struct table_stats stats = {
		.loads = counts->loads,
		.load_ns = counts->load_ns,
		.evicted = counts->evicted,
		.hits = cache->hits[of],
		.put_off = cache->put_off[of],
		.loading = cache->loading[of],
		.stuck = cache->loader ? table_loader_stuck(cache->loader, cache->store.kinds[of])
				       : 0,
	};
	size_t pos = 0;
	uint64_t key;
	void *value;

	stats.tables = table_store_count(&cache->store, of, &stats.bytes);
	stats.left_out = table_store_left_out(&cache->store, of);
	if (cache->vdso[of].table) {
		stats.tables++;
		stats.bytes += cache->store.kinds[of]->bytes(cache->vdso[of].table);
	}
	while (map64_next(&cache->memos, &pos, &key, &value)) {
		const struct memo *memo = value;

		stats.failed += memo->reason || (memo->module && memo->module->slots[of].reason);
	}
	*ret = stats;
}
