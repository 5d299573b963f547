// SPDX-License-Identifier: Apache-2.0
/* Reads a capture's facts, see replay_facts.h. */
#include "capture/replay_facts.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_PURPOSE UINT64_C(0x7265706c6179)

static const char *copy_text(struct replay_facts *facts, struct capture_cursor *cursor)
{
	char text[CAPTURE_MAX_TEXT];
	const char *copy;

	capture_get_text(cursor, text, sizeof(text));
	copy = arena_copy(&facts->texts, text, strlen(text));
	return copy ? copy : "";
}

/* ---- files ---- */

static uint64_t hash_mapping(const struct replay_facts *facts, pid_t pid,
			     const struct mapping *mapping)
{
	const uint64_t dev = (uint64_t)mapping->dev_major << 32 | mapping->dev_minor;
	const uint64_t hash =
		quick_hash_mix(facts->seed, (uint64_t)pid ^ dev << 16, mapping->inode);

	return hash ^ quick_hash_text(facts->seed, mapping->path, strlen(mapping->path));
}

static int read_file(struct replay_facts *facts, struct capture_cursor *cursor)
{
	const uint64_t number = capture_get_up_to(cursor, CAPTURE_MAX_FILES);
	const pid_t pid = (pid_t)capture_get_up_to(cursor, CAPTURE_MAX_PIDS);
	struct replay_file *file;
	struct mapping mapping = {0};

	mapping.dev_major = (uint32_t)capture_get_up_to(cursor, UINT32_MAX);
	mapping.dev_minor = (uint32_t)capture_get_up_to(cursor, UINT32_MAX);
	mapping.inode = capture_get(cursor);
	mapping.path = copy_text(facts, cursor);
	if (cursor->failed || number != facts->n_files + 1)
		return -EINVAL;
	if (ARRAY_RESERVE(facts->files, facts->files_size, facts->n_files + 1) < 0)
		return -ENOMEM;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->hash = hash_mapping(facts, pid, &mapping);
	facts->files[facts->n_files++] = file;
	return map64_put(&facts->by_mapping, file->hash, file);
}

/* Reads a number, and returns its file. NULL: the cursor has failed. */
static struct replay_file *file_at(struct replay_facts *facts, struct capture_cursor *cursor)
{
	const uint64_t number = capture_get_up_to(cursor, facts->n_files);

	if (number > 0)
		return facts->files[number - 1];
	cursor->failed = true;
	return NULL;
}

static int read_layout(struct capture_cursor *cursor, struct elf_layout *ret)
{
	const uint8_t *build_id;

	ret->segment_count = (size_t)capture_get_up_to(cursor, ELF_LAYOUT_MAX_SEGMENTS);
	for (size_t i = 0; i < ret->segment_count; i++) {
		struct elf_segment *const segment = &ret->segments[i];

		segment->elf_addr = capture_get(cursor);
		segment->file_off = capture_get(cursor);
		segment->mem_bytes = capture_get(cursor);
		segment->file_bytes = capture_get(cursor);
		segment->is_executable = capture_get_bool(cursor);
	}
	build_id = capture_get_data(cursor, sizeof(ret->build_id), &ret->build_id_len);
	if (cursor->failed)
		return -EINVAL;
	memcpy(ret->build_id, build_id, ret->build_id_len);
	return 0;
}

static int read_table(struct replay_facts *facts, struct capture_cursor *cursor)
{
	struct replay_file *const file = file_at(facts, cursor);
	const enum table_of of = (enum table_of)capture_get_up_to(cursor, CAPTURE_TABLE_KINDS - 1);
	const char *const reason = copy_text(facts, cursor);
	const char *soname;

	if (!file || cursor->failed)
		return -EINVAL;
	file->is_known[of] = true;
	file->reason[of] = reason;
	if (reason[0])
		return 0;
	soname = copy_text(facts, cursor);
	if (of == TABLE_SYMBOLS)
		file->soname = soname;
	if (!file->layout)
		file->layout = calloc(1, sizeof(*file->layout));
	return file->layout ? read_layout(cursor, file->layout) : -ENOMEM;
}

static int grow_rows(struct replay_file *file)
{
	const size_t wanted = file->n_rows + 1;
	size_t size = file->rows_size, sizes[3] = {size, size, size};

	if (ARRAY_RESERVE(file->rows, size, wanted) < 0 ||
	    ARRAY_RESERVE(file->row_starts, sizes[0], wanted) < 0 ||
	    ARRAY_RESERVE(file->row_ends, sizes[1], wanted) < 0 ||
	    ARRAY_RESERVE(file->rbx_offs, sizes[2], wanted) < 0)
		return -ENOMEM;
	file->rows_size = size;
	return 0;
}

static int read_row(struct replay_facts *facts, struct capture_cursor *cursor)
{
	struct replay_file *const file = file_at(facts, cursor);
	const uint64_t start = capture_get(cursor);
	const uint64_t len = capture_get_up_to(cursor, UINT32_MAX);
	struct cfi_row row = {0};
	int64_t rbx_off;
	uint64_t flags;

	row.cfa_off = (int32_t)capture_get_signed(cursor);
	row.cfa_add = (int32_t)capture_get_signed(cursor);
	row.fp_off = (int32_t)capture_get_signed(cursor);
	row.ra_off = (int32_t)capture_get_signed(cursor);
	row.kind = (uint8_t)capture_get_up_to(cursor, CFI_PLT);
	row.cfa_reg = (uint8_t)capture_get_up_to(cursor, UINT8_MAX);
	row.save_reg = (uint8_t)capture_get_up_to(cursor, UINT8_MAX);
	flags = capture_get_up_to(cursor, 15);
	rbx_off = capture_get_signed(cursor);
	if (!file || cursor->failed || len == 0 || start > UINT64_MAX - len)
		return -EINVAL;
	if (grow_rows(file) < 0)
		return -ENOMEM;
	row.is_signal = flags & 1;
	row.is_root = flags >> 1 & 1;
	row.fp_is_at_reg = flags >> 2 & 1;
	row.ra_is_at_reg = flags >> 3 & 1;
	file->rows[file->n_rows] = row;
	file->row_starts[file->n_rows] = start;
	file->row_ends[file->n_rows] = start + len;
	file->rbx_offs[file->n_rows++] = (int32_t)rbx_off;
	return 0;
}

static bool cut_suffix(char *text, const char *suffix)
{
	const size_t len = strlen(text), n = strlen(suffix);

	if (len <= n || strcmp(text + len - n, suffix) != 0)
		return false;
	text[len - n] = '\0';
	return true;
}

/* Reads a function. A function is as long as the addresses that were asked for say. */
static int read_symbol(struct replay_facts *facts, struct capture_cursor *cursor)
{
	struct replay_file *const file = file_at(facts, cursor);
	struct elf_function function = {.elf_addr = capture_get(cursor)};
	char text[CAPTURE_MAX_TEXT];

	function.size = function.room = (uint32_t)capture_get_up_to(cursor, UINT32_MAX - 1) + 1;
	capture_get_text(cursor, text, sizeof(text));
	if (!file || cursor->failed || text[0] == '\0')
		return -EINVAL;
	function.is_plt = cut_suffix(text, "@plt");
	function.name = arena_copy(&facts->texts, text, strlen(text));
	function.rank = function.size; /* of several facts of one function the longest holds */
	if (!function.name || elf_functions_reserve(&file->functions, 1) < 0)
		return -ENOMEM;
	file->functions.items[file->functions.count++] = function;
	return 0;
}

static int read_start(struct replay_facts *facts, struct capture_cursor *cursor)
{
	struct replay_file *const file = file_at(facts, cursor);
	const uint64_t start = capture_get(cursor);

	if (!file || cursor->failed)
		return -EINVAL;
	if (ARRAY_RESERVE(file->starts, file->starts_size, file->n_starts + 1) < 0)
		return -ENOMEM;
	file->starts[file->n_starts++] = start;
	return 0;
}

/* ---- names and code ---- */

static uint64_t hash_call(const struct replay_facts *facts, const struct kernel_call *call)
{
	return quick_hash_mix(facts->seed, call->addr, call->caller);
}

static int read_kernel(struct replay_facts *facts, struct capture_cursor *cursor)
{
	const uint64_t addr = capture_get(cursor);
	const struct kernel_call call = {.addr = addr, .caller = capture_get(cursor)};
	const enum frame_kind kind = frame_kind_of_word(copy_text(facts, cursor));
	struct frame *frame = arena_alloc(&facts->texts, sizeof(*frame));

	if (!frame)
		return -ENOMEM;
	*frame = (struct frame){.kind = kind};
	frame->name = copy_text(facts, cursor);
	frame->module = copy_text(facts, cursor);
	if (!frame->module[0])
		frame->module = NULL;
	if (cursor->failed || kind == FRAME_KINDS || !frame->name[0])
		return -EINVAL;
	return map64_put(&facts->kernel, hash_call(facts, &call), frame);
}

static uint64_t hash_line(const struct replay_facts *facts, const struct replay_file *file,
			  uint64_t elf_addr)
{
	return quick_hash_mix(facts->seed, file->hash, elf_addr);
}

static struct replay_item *keep_item(struct replay_facts *facts, enum capture_kind kind,
				     const struct capture_cursor *fields)
{
	struct replay_item *item = arena_alloc(&facts->texts, sizeof(*item));

	if (item)
		*item = (struct replay_item){.kind = kind, .fields = *fields};
	return item;
}

static int read_lines(struct replay_facts *facts, struct capture_cursor *cursor)
{
	const struct replay_file *const file = file_at(facts, cursor);
	const uint64_t elf_addr = capture_get(cursor);
	struct replay_item *item;

	if (!file || cursor->failed)
		return -EINVAL;
	item = keep_item(facts, CAPTURE_LINES, cursor);
	return item ? map64_put(&facts->lines, hash_line(facts, file, elf_addr), item) : -ENOMEM;
}

static int read_sample(struct replay_facts *facts, struct capture_cursor *cursor)
{
	const uint64_t id = capture_get(cursor);
	struct replay_item *item;

	if (cursor->failed)
		return -EINVAL;
	item = keep_item(facts, CAPTURE_SAMPLE, cursor);
	return item ? map64_put(&facts->samples, id, item) : -ENOMEM;
}

/* ---- the file ---- */

static int read_header(struct replay_facts *facts, struct capture_cursor *cursor)
{
	static const struct arch *const archs[] = {&arch_x86_64, &arch_aarch64};
	char name[32];
	uint64_t n_regs;

	capture_get_text(cursor, name, sizeof(name));
	n_regs = capture_get(cursor);
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
		if (strcmp(archs[i]->name, name) == 0 && archs[i]->n_regs == n_regs)
			facts->arch = archs[i];
	}
	return cursor->failed || !facts->arch ? -EINVAL : 0;
}

static int read_end(struct replay_facts *facts, struct capture_cursor *cursor)
{
	struct profile_info *const info = &facts->info;

	info->host = copy_text(facts, cursor);
	info->boot_id = copy_text(facts, cursor);
	info->kernel = copy_text(facts, cursor);
	info->event = copy_text(facts, cursor);
	info->program = copy_text(facts, cursor);
	info->hz = (unsigned)capture_get_up_to(cursor, UINT32_MAX);
	info->start_unix_ns = capture_get(cursor);
	facts->start_ns = capture_get(cursor);
	info->duration_ns = capture_get(cursor);
	info->quality.lost_samples = capture_get(cursor);
	info->quality.stackless_samples = capture_get(cursor);
	facts->left_out = capture_get(cursor);
	facts->has_end = !cursor->failed;
	return cursor->failed ? -EINVAL : 0;
}

static int add_item(struct replay_facts *facts, enum capture_kind kind,
		    const struct capture_cursor *fields)
{
	if (ARRAY_RESERVE(facts->items, facts->items_size, facts->n_items + 1) < 0)
		return -ENOMEM;
	facts->items[facts->n_items++] = (struct replay_item){.kind = kind, .fields = *fields};
	return 0;
}

static int read_record(struct replay_facts *facts, uint8_t kind, struct capture_cursor fields)
{
	if (!facts->arch && kind != CAPTURE_HEADER)
		return -EINVAL;
	switch (kind) {
	case CAPTURE_HEADER:
		return read_header(facts, &fields);
	case CAPTURE_PROCESS:
	case CAPTURE_MAPPINGS:
	case CAPTURE_THREAD:
	case CAPTURE_CODE:
	case CAPTURE_MEMORY:
	case CAPTURE_STEP:
		return add_item(facts, (enum capture_kind)kind, &fields);
	case CAPTURE_FILE:
		return read_file(facts, &fields);
	case CAPTURE_TABLE:
		return read_table(facts, &fields);
	case CAPTURE_ROW:
		return read_row(facts, &fields);
	case CAPTURE_SYMBOL:
		return read_symbol(facts, &fields);
	case CAPTURE_START:
		return read_start(facts, &fields);
	case CAPTURE_KERNEL:
		return read_kernel(facts, &fields);
	case CAPTURE_LINES:
		return read_lines(facts, &fields);
	case CAPTURE_SAMPLE:
		return read_sample(facts, &fields);
	case CAPTURE_END:
		return read_end(facts, &fields);
	default:
		return 0; /* a kind of a later version */
	}
}

static int read_records(struct replay_facts *facts)
{
	const size_t start = sizeof(CAPTURE_MAGIC); /* the magic, and the version */
	struct capture_cursor cursor = {.at = facts->bytes + start,
					.end = facts->bytes + facts->len};
	int err = 0;

	while (!err && cursor.at < cursor.end) {
		const uint8_t kind = *cursor.at++;
		struct capture_cursor fields = {0};
		size_t len;

		fields.at = capture_get_data(&cursor, CAPTURE_MAX_BYTES, &len);
		fields.end = fields.at + len;
		if (cursor.failed || facts->n_records++ == CAPTURE_MAX_RECORDS)
			return -EINVAL;
		err = read_record(facts, kind, fields);
	}
	return err;
}

int replay_facts_read(uint8_t *bytes, size_t len, struct replay_facts *ret, const char **ret_reason)
{
	const size_t start = sizeof(CAPTURE_MAGIC);
	int err;

	*ret = (struct replay_facts){
		.bytes = bytes, .len = len, .seed = quick_hash_seed(HASH_PURPOSE)};
	*ret_reason = "the file is no capture: record --capture makes one";
	if (len < start || memcmp(bytes, CAPTURE_MAGIC, start - 1) != 0)
		return -EINVAL;
	*ret_reason = "the capture is of another version of fgcollect, which can replay it";
	if (bytes[start - 1] != CAPTURE_VERSION)
		return -EINVAL;
	err = read_records(ret);
	*ret_reason = err == -ENOMEM ? "there is not enough memory for the capture"
				     : "the capture is damaged";
	if (!err && !ret->has_end) {
		*ret_reason = "the capture has no end: it was cut short";
		err = -EINVAL;
	}
	return err;
}

static void file_free(struct replay_file *file)
{
	if (!file)
		return;
	free(file->layout);
	free(file->rows);
	free(file->row_starts);
	free(file->row_ends);
	free(file->rbx_offs);
	elf_functions_fini(&file->functions);
	free(file->starts);
	cfi_table_free(file->unwind);
	elf_symbols_free(file->symbols);
	free(file);
}

void replay_facts_fini(struct replay_facts *facts)
{
	for (size_t i = 0; i < facts->n_files; i++)
		file_free(facts->files[i]);
	free(facts->files);
	free(facts->items);
	map64_fini(&facts->samples);
	map64_fini(&facts->by_mapping);
	map64_fini(&facts->kernel);
	map64_fini(&facts->lines);
	arena_fini(&facts->texts);
	free(facts->bytes);
	*facts = (struct replay_facts){0};
}

struct replay_file *replay_facts_file(const struct replay_facts *facts, pid_t pid,
				      const struct mapping *mapping)
{
	return map64_find(&facts->by_mapping, hash_mapping(facts, pid, mapping));
}

bool replay_facts_kernel(const struct replay_facts *facts, const struct kernel_call *call,
			 struct frame *ret)
{
	const struct frame *const known = map64_find(&facts->kernel, hash_call(facts, call));

	if (known)
		*ret = *known;
	return known;
}

bool replay_facts_lines(const struct replay_facts *facts, const struct line_place *place,
			struct capture_cursor *ret)
{
	const struct replay_file *const file = replay_facts_file(facts, place->pid, place->mapping);
	const struct replay_item *item = NULL;

	if (file)
		item = map64_find(&facts->lines, hash_line(facts, file, place->elf_addr));
	if (item)
		*ret = item->fields;
	return item;
}

/* ---- tables ---- */

/* A row's place in the order of starts: its start and its index. */
struct row_order {
	uint64_t start;
	size_t index;
};

static int compare_rows(const void *left, const void *right)
{
	const struct row_order *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/*
 * Puts a row behind the others. A row that starts where the last row starts replaces the last row.
 */
static void put_row(struct cfi_rows *to, uint64_t start, const struct cfi_row *row, int32_t rbx_off)
{
	const uint64_t offset = start - to->base;
	size_t *const n = &to->stats.rows;

	if (start < to->base || offset > UINT32_MAX)
		return;
	if (*n > 0 && to->rows[*n - 1].start == offset)
		--*n;
	to->rows[*n] = *row;
	to->rows[*n].start = (uint32_t)offset;
	to->rbx_offs[(*n)++] = rbx_off;
}

/*
 * Copies the rows in their order. Behind a row's end nothing is known, unless another row begins
 * there.
 */
static void fill_rows(const struct replay_file *file, const struct row_order *order,
		      struct cfi_rows *to)
{
	static const struct cfi_row outside = {.kind = CFI_NONE, .cfa_reg = CFI_OUTSIDE};

	to->base = file->n_rows > 0 ? order[0].start : 0;
	if (file->n_rows == 0)
		put_row(to, 0, &outside, CFI_UNKNOWN);
	for (size_t i = 0; i < file->n_rows; i++) {
		const size_t at = order[i].index;
		const bool is_last = i + 1 == file->n_rows;

		put_row(to, file->row_starts[at], &file->rows[at], file->rbx_offs[at]);
		if (is_last || order[i + 1].start > file->row_ends[at])
			put_row(to, file->row_ends[at], &outside, CFI_UNKNOWN);
	}
}

struct cfi_table *replay_file_unwind(struct replay_file *file)
{
	const size_t n = file->n_rows;
	struct cfi_rows rows = {0};
	struct row_order *order;

	if (file->unwind || !file->layout)
		return file->unwind;
	order = calloc(n + 1, sizeof(*order));
	rows.rows = calloc(2 * n + 1, sizeof(*rows.rows));
	rows.rbx_offs = calloc(2 * n + 1, sizeof(*rows.rbx_offs));
	for (size_t i = 0; order && i < n; i++)
		order[i] = (struct row_order){.start = file->row_starts[i], .index = i};
	if (order && rows.rows && rows.rbx_offs) {
		qsort(order, n, sizeof(*order), compare_rows);
		fill_rows(file, order, &rows);
		if (cfi_table_make(&rows, file->layout, &file->unwind) < 0)
			file->unwind = NULL;
	} else {
		free(rows.rows);
		free(rows.rbx_offs);
	}
	free(order);
	return file->unwind;
}

static struct elf_starts make_starts(const struct replay_file *file)
{
	struct elf_starts starts = {0};

	if (file->n_starts == 0)
		return starts;
	qsort(file->starts, file->n_starts, sizeof(*file->starts), array_by_u64);
	starts.base = file->starts[0];
	starts.offsets = calloc(file->n_starts, sizeof(*starts.offsets));
	for (size_t i = 0; starts.offsets && i < file->n_starts; i++) {
		if (file->starts[i] - starts.base <= INT32_MAX)
			starts.offsets[starts.count++] = (int32_t)(file->starts[i] - starts.base);
	}
	return starts;
}

struct elf_symbols *replay_file_symbols(struct replay_file *file)
{
	struct elf_starts starts;

	if (file->symbols || !file->layout)
		return file->symbols;
	starts = make_starts(file);
	if (elf_symbols_make(file->layout, &file->functions, &starts,
			     file->soname ? file->soname : "", &file->symbols) < 0)
		file->symbols = NULL;
	return file->symbols;
}
