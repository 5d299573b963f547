// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's symbols at the last reading, and code that came and went since, see kernel_code.h.
 */
#include "symbolize/kernel_code.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/serial.h"
#include "code/code_map.h"
#include "code/name_pool.h"
#include "symbolize/kernel_hidden.h"
#include "symbolize/kernel_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MODULES_BYTES (4u << 20)
#define MAX_DEAD	  20000
#define TOLD_KEPT_NS	  UINT64_C(10000000000) /* no sample waits longer */

struct kernel_code {
	struct kernel_code_files files;
	struct kernel_reader *reader;	/* NULL: files are read by the caller's thread */
	struct kernel_symbols *symbols; /* NULL: symbols cannot be read */
	uint64_t serial;		/* identifies symbols */
	uint64_t modules_hash;
	uint64_t read_ns, look_ns; /* when symbols, modules were looked at last */
	uint64_t pause_ns;	   /* wait before symbols are read for a missing name */
	bool is_read_for_name; /* symbols were read for a missing name, which is looked up next */
	struct code_map *told;
	struct name_pool names; /* names in told */
	uint64_t told_low, told_high;
	struct kernel_code_stats stats;
	char problem[400], hidden[80];
};

static uint64_t hash_bytes(uint64_t hash, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Hashes names and addresses of modules: "nf_tables 100 2 nft_a,nft_b, Live 0xffffffffc0a00000". */
static uint64_t hash_modules(const char *path)
{
	_cleanup_free_ char *text = NULL;
	const ssize_t len = file_read_whole(path, MAX_MODULES_BYTES, &text);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = len > 0 ? text : ""; *p;) {
		const size_t line = strcspn(p, "\n"), name = strcspn(p, " \n");
		const char *last = memrchr(p, ' ', line);

		hash = hash_bytes(hash, p, name);
		if (last)
			hash = hash_bytes(hash, last, (size_t)(p + line - last));
		p += line + (p[line] == '\n');
	}
	return hash;
}

static void take_symbols(struct kernel_code *code, struct kernel_symbols *symbols, int err)
{
	struct kernel_rights rights;

	code->stats.reads++;
	if (err && code->symbols)
		return; /* old symbols are better than none */
	kernel_symbols_free(code->symbols);
	code->symbols = symbols;
	code->serial = serial_next();
	code->problem[0] = '\0';
	if (!err)
		return;
	rights = kernel_rights_read(err);
	kernel_hidden_sentence(&rights, code->problem, sizeof(code->problem));
	kernel_hidden_frame(&rights, code->hidden, sizeof(code->hidden));
}

static void read_symbols(struct kernel_code *code, uint64_t now_ns)
{
	struct kernel_symbols *symbols = NULL;
	int err;

	code->read_ns = now_ns;
	if (code->reader && kernel_reader_start(code->reader) == 0)
		return;
	err = code->files.load(code->files.symbols, &symbols);
	take_symbols(code, symbols, err);
}

/* Takes what the thread has read, if that is done. */
static void take_reading(struct kernel_code *code)
{
	struct kernel_symbols *symbols;
	int err;

	if (code->reader && kernel_reader_take(code->reader, &symbols, &err))
		take_symbols(code, symbols, err);
}

static bool is_reading(const struct kernel_code *code)
{
	return code->reader && kernel_reader_is_busy(code->reader);
}

int kernel_code_use_thread(struct kernel_code *code)
{
	return code->reader
		       ? 0
		       : kernel_reader_new(code->files.load, code->files.symbols, &code->reader);
}

uint64_t kernel_code_reads(const struct kernel_code *code)
{
	return code->stats.reads + (code->reader && kernel_reader_is_done(code->reader));
}

uint64_t kernel_code_late(const struct kernel_code *code)
{
	return code->stats.late;
}

int kernel_code_new(const struct kernel_code_files *files, uint64_t now_ns,
		    struct kernel_code **ret)
{
	static const struct kernel_code_files kernels = {"/proc/kallsyms", "/proc/modules", NULL};
	struct kernel_code *code = calloc(1, sizeof(*code));
	int err;

	if (!code)
		return -ENOMEM;
	code->files = files ? *files : kernels;
	if (!code->files.load)
		code->files.load = kernel_symbols_load_from;
	code->told_low = UINT64_MAX;
	err = name_pool_init(&code->names);
	if (!err)
		err = code_map_new(&code->told);
	if (err) {
		kernel_code_free(code);
		return err;
	}
	code->modules_hash = hash_modules(code->files.modules);
	code->look_ns = now_ns;
	code->pause_ns = KERNEL_READ_INTERVAL_NS;
	read_symbols(code, now_ns);
	*ret = code;
	return 0;
}

void kernel_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	kernel_reader_free(code->reader);
	kernel_symbols_free(code->symbols);
	code_map_free(code->told);
	name_pool_fini(&code->names);
	free(code);
}

static const char *move_name(void *arg, const char *name)
{
	return name_pool_add(arg, name, strlen(name));
}

/* Forgets old programs, because programs come and go as long as the machine runs. */
static void expire(struct kernel_code *code, uint64_t time_ns)
{
	struct name_pool fresh;

	code_map_expire(code->told, time_ns > TOLD_KEPT_NS ? time_ns - TOLD_KEPT_NS : 0, MAX_DEAD);
	if (!name_pool_is_due(&code->names, time_ns) || name_pool_init(&fresh) < 0)
		return;
	code_map_rename(code->told, move_name, &fresh);
	fresh.kept_bytes = name_pool_bytes(&fresh);
	fresh.moved_ns = time_ns;
	name_pool_fini(&code->names);
	code->names = fresh;
}

void kernel_code_apply(struct kernel_code *code, const struct record *record)
{
	const struct record_ksymbol *said = &record->ksymbol;
	struct code_range range = {
		.addr = said->addr,
		.size = said->len,
		.kind = CODE_STUB,
		.level = CODE_LEVEL_UNKNOWN,
		.class_name = said->is_bpf ? "[bpf]" : "[kernel]",
		.birth_ns = record->time_ns,
	};
	int err;

	code->stats.told++;
	expire(code, record->time_ns);
	range.name = name_pool_add(&code->names, said->name, strlen(said->name));
	/*
	 * A record of the end may be the first record of a program: the program has lived until
	 * then.
	 */
	err = said->is_gone && code_map_find(code->told, said->addr, record->time_ns)
		      ? 0
		      : code_map_add(code->told, &range, said->is_gone);
	if (said->is_gone)
		code_map_remove(code->told, said->addr, record->time_ns);
	code->stats.lost += err < 0;
	if (said->addr < code->told_low)
		code->told_low = said->addr;
	if (said->addr + said->len > code->told_high)
		code->told_high = said->addr + said->len;
}

static bool may_be_told(const struct kernel_code *code, uint64_t addr)
{
	return addr >= code->told_low && addr < code->told_high;
}

static bool find_symbol(const struct kernel_code *code, uint64_t addr, struct kernel_place *ret)
{
	const char *name, *module = NULL;

	name = code->symbols ? kernel_symbols_find(code->symbols, addr, &module) : NULL;
	if (name)
		*ret = (struct kernel_place){name, module, code->serial};
	return name;
}

void kernel_code_begin(struct kernel_code *code, uint64_t now_ns)
{
	if (now_ns >= code->read_ns + KERNEL_LOOK_INTERVAL_NS)
		read_symbols(code, now_ns);
}

/* Reads the symbols again if modules have come or gone. */
static void look_at_modules(struct kernel_code *code, uint64_t now_ns)
{
	uint64_t hash;

	if (now_ns < code->look_ns + KERNEL_LOOK_INTERVAL_NS ||
	    now_ns < code->read_ns + KERNEL_READ_INTERVAL_NS)
		return;
	code->look_ns = now_ns;
	hash = hash_modules(code->files.modules);
	if (hash != code->modules_hash)
		read_symbols(code, now_ns);
	code->modules_hash = hash;
}

bool kernel_code_find(struct kernel_code *code, uint64_t addr, uint64_t time_ns, uint64_t now_ns,
		      struct kernel_place *ret)
{
	const struct code_range *told =
		may_be_told(code, addr) ? code_map_find(code->told, addr, time_ns) : NULL;
	const bool is_alive = told && told->birth_ns <= time_ns && time_ns < told->death_ns;
	bool is_named;

	take_reading(code);
	look_at_modules(code, now_ns);
	/*
	 * A program that does not live yet does not hide the symbol that was at the address before.
	 */
	is_named = !is_alive && find_symbol(code, addr, ret) &&
		   (!told || code->read_ns < told->birth_ns);
	if (told && !is_named) {
		*ret = (struct kernel_place){told->name, told->class_name, 0};
		return true;
	}
	return is_named;
}

/*
 * Reads the symbols for a missing name. If the name is still missing, the pause doubles, because
 * reading may never help.
 */
bool kernel_code_read_for(struct kernel_code *code, uint64_t addr, uint64_t now_ns,
			  struct kernel_place *ret)
{
	bool is_named = false;

	take_reading(code);
	if (!is_reading(code) && now_ns >= code->read_ns + code->pause_ns) {
		read_symbols(code, now_ns);
		code->is_read_for_name = true;
	}
	if (is_reading(code)) {
		code->stats.late++;
		return false;
	}
	if (code->is_read_for_name) {
		code->is_read_for_name = false;
		is_named = find_symbol(code, addr, ret);
		code->pause_ns = is_named ? KERNEL_READ_INTERVAL_NS : code->pause_ns * 2;
		if (code->pause_ns > KERNEL_READ_MAX_PAUSE_NS)
			code->pause_ns = KERNEL_READ_MAX_PAUSE_NS;
	}
	code->stats.unnamed += !is_named;
	return is_named;
}

uint64_t kernel_code_owner(const struct kernel_code *code, uint64_t addr, uint64_t now_ns)
{
	return may_be_told(code, addr) || now_ns >= code->look_ns + KERNEL_LOOK_INTERVAL_NS
		       ? 0
		       : code->serial;
}

const char *kernel_code_problem(const struct kernel_code *code)
{
	return code->problem[0] ? code->problem : NULL;
}

const char *kernel_code_hidden(const struct kernel_code *code)
{
	return code->hidden;
}

void kernel_code_stats(const struct kernel_code *code, struct kernel_code_stats *ret)
{
	*ret = code->stats;
	ret->symbols = code->symbols ? kernel_symbols_count(code->symbols) : 0;
	ret->bytes = kernel_symbols_bytes(code->symbols) + kernel_symbols_loading_bytes() +
		     code_map_bytes(code->told) + name_pool_bytes(&code->names);
	if (code->reader)
		ret->bytes += kernel_reader_done_bytes(code->reader);
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct kernel_code_stats, symbols, "kernel.symbols", "kernel_symbols",
		      "Symbols of the kernel that are known."),
	COUNTER_SUM(struct kernel_code_stats, reads, "kernel.reads", "kernel_symbol_reads_total",
		    "Times that the kernel's symbols were read."),
	COUNTER_SUM(struct kernel_code_stats, late, "kernel.late", "kernel_symbol_late_total",
		    "Look-ups that had to wait for the kernel's symbols to be read."),
	COUNTER_SUM(struct kernel_code_stats, told, "kernel.told", "kernel_code_told_total",
		    "Code that the kernel told of."),
	COUNTER_SUM(struct kernel_code_stats, lost, "kernel.lost", "kernel_code_lost_total",
		    "Code that the kernel told of and that there was no room for."),
	COUNTER_SUM(struct kernel_code_stats, unnamed, "kernel.unnamed", "kernel_unnamed_total",
		    "Addresses of the kernel without a name."),
};

const struct counters kernel_code_counters = COUNTERS(struct kernel_code_stats, counters);
