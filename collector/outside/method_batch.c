// SPDX-License-Identifier: Apache-2.0
/*
 * Follows the pointers of all methods of a batch together, step by step, see method_batch.h:
 *
 *   Method -> ConstMethod -> ConstantPool -> its class, and the symbols of name and signature
 *   -> the class's symbol, and that of the source file -> lengths -> texts
 *
 * Lines lie in the ConstMethod.
 */
#include "outside/method_batch.h"

#include "base/unaligned.h"
#include "code/line_table.h"

#include <string.h>

#define WORD	      8
#define LOWEST_ADDR   4096
#define HIGHEST_ADDR  (UINT64_C(1) << 56)
#define MAX_POOL_SIZE 65536

static bool is_pointer(uint64_t addr)
{
	return addr >= LOWEST_ADDR && addr < HIGHEST_ADDR && addr % WORD == 0;
}

static void add(struct method_batch_step *step, struct method_batch_entry *owner, uint64_t addr,
		void *into, uint32_t len)
{
	step->owners[step->n] = owner;
	step->pieces[step->n++] = (struct vm_piece){.addr = addr, .into = into, .len = len};
}

static void run(struct vm_memory *memory, struct method_batch_step *step)
{
	vm_memory_gather(memory, step->pieces, step->n);
	for (size_t i = 0; i < step->n; i++) {
		if (!step->pieces[i].is_read && step->owners[i])
			step->owners[i]->is_named = false;
		if (!step->pieces[i].is_read)
			memset(step->pieces[i].into, 0, step->pieces[i].len);
	}
	step->n = 0;
}

/* What an entry asks for in each step; false: the entry cannot be named. */

static bool ask_const_method(const struct vm_layout *layout, struct method_batch_entry *entry,
			     struct method_batch_step *step)
{
	if (!is_pointer(entry->method))
		return false;
	add(step, entry, entry->method + layout->method_const_method, &entry->const_method, WORD);
	return true;
}

static bool ask_head(const struct vm_layout *layout, struct method_batch_entry *entry,
		     struct method_batch_step *step)
{
	if (!is_pointer(entry->const_method))
		return false;
	add(step, entry, entry->const_method, entry->head, layout->const_method_bytes);
	return true;
}

/* The line number table lies behind the bytecodes, and other tables may follow. */
static void ask_lines(const struct vm_layout *layout, struct method_batch_entry *entry,
		      struct method_batch_step *step)
{
	const uint16_t at = layout->const_method_flags;
	const uint64_t bytes =
		(uint64_t)unaligned_u32(entry->head, layout->const_method_words) * WORD;
	const uint64_t before = (uint64_t)layout->const_method_bytes +
				unaligned_u16(entry->head, layout->const_method_code_size);
	uint32_t flags;

	if (!layout->has_lines || bytes <= before)
		return;
	flags = layout->const_method_flags_are_u4 ? unaligned_u32(entry->head, at)
						  : unaligned_u16(entry->head, at);
	if (!(flags & layout->flag_has_lines))
		return;
	entry->lines_len = bytes - before < METHOD_BATCH_LINE_BYTES ? (uint32_t)(bytes - before)
								    : METHOD_BATCH_LINE_BYTES;
	add(step, NULL, entry->const_method + before, entry->lines, entry->lines_len);
}

static bool ask_pool(const struct vm_layout *layout, struct method_batch_entry *entry,
		     struct method_batch_step *step)
{
	memcpy(&entry->pool, entry->head + layout->const_method_constants, WORD);
	entry->indices[METHOD_BATCH_NAME] =
		unaligned_u16(entry->head, layout->const_method_name_index);
	entry->indices[METHOD_BATCH_SIGNATURE] =
		unaligned_u16(entry->head, layout->const_method_signature_index);
	if (!is_pointer(entry->pool) || !entry->indices[METHOD_BATCH_NAME] ||
	    !entry->indices[METHOD_BATCH_SIGNATURE])
		return false;
	ask_lines(layout, entry, step);
	add(step, entry, entry->pool + layout->pool_holder, &entry->holder, WORD);
	add(step, entry, entry->pool + layout->pool_length, &entry->pool_length,
	    sizeof(entry->pool_length));
	if (layout->source_file == VM_SOURCE_FILE_IN_POOL)
		add(step, NULL, entry->pool + layout->source_file_index,
		    &entry->indices[METHOD_BATCH_SOURCE], sizeof(uint16_t));
	return true;
}

static bool ask_class(const struct vm_layout *layout, struct method_batch_entry *entry,
		      struct method_batch_step *step)
{
	if (!is_pointer(entry->holder) || entry->pool_length > MAX_POOL_SIZE ||
	    entry->indices[METHOD_BATCH_NAME] >= entry->pool_length ||
	    entry->indices[METHOD_BATCH_SIGNATURE] >= entry->pool_length)
		return false;
	add(step, entry, entry->holder + layout->klass_name, &entry->symbols[METHOD_BATCH_CLASS],
	    WORD);
	if (layout->source_file == VM_SOURCE_FILE_IN_KLASS)
		add(step, NULL, entry->holder + layout->source_file_index,
		    &entry->indices[METHOD_BATCH_SOURCE], sizeof(uint16_t));
	return true;
}

static bool ask_symbols(const struct vm_layout *layout, struct method_batch_entry *entry,
			struct method_batch_step *step)
{
	for (int i = METHOD_BATCH_NAME; i < METHOD_BATCH_TEXTS; i++) {
		if (entry->indices[i] == 0 || entry->indices[i] >= entry->pool_length)
			continue; /* of a source file */
		add(step, i == METHOD_BATCH_SOURCE ? NULL : entry,
		    entry->pool + layout->pool_bytes + (uint64_t)entry->indices[i] * WORD,
		    &entry->symbols[i], WORD);
	}
	return true;
}

static bool ask_lens(const struct vm_layout *layout, struct method_batch_entry *entry,
		     struct method_batch_step *step)
{
	for (int i = 0; i < METHOD_BATCH_TEXTS; i++) {
		if (is_pointer(entry->symbols[i]))
			add(step, i == METHOD_BATCH_SOURCE ? NULL : entry,
			    entry->symbols[i] + layout->symbol_length, &entry->lens[i],
			    sizeof(uint16_t));
		else if (i != METHOD_BATCH_SOURCE)
			return false;
	}
	return true;
}

static bool ask_texts(const struct vm_layout *layout, struct method_batch_entry *entry,
		      struct method_batch_step *step)
{
	for (int i = 0; i < METHOD_BATCH_TEXTS; i++) {
		if (entry->lens[i] == 0 && i != METHOD_BATCH_SOURCE)
			return false;
		if (entry->lens[i] > METHOD_BATCH_TEXT_BYTES)
			entry->lens[i] = METHOD_BATCH_TEXT_BYTES;
		if (entry->lens[i] > 0)
			add(step, i == METHOD_BATCH_SOURCE ? NULL : entry,
			    entry->symbols[i] + layout->symbol_body, entry->texts[i],
			    entry->lens[i]);
	}
	return true;
}

/*
 * A method's descriptor begins with its parameters in parentheses; no other text begins so. Lines
 * whose table has no end mark are not known.
 */
static bool check(const struct vm_layout *layout, struct method_batch_entry *entry,
		  struct method_batch_step *step)
{
	const struct line_table table = {.bytes = entry->lines,
					 .len = entry->lines_len,
					 .is_biased = layout->lines_are_biased};

	(void)step;
	entry->lines_len = (uint32_t)line_table_bytes(&table);
	entry->is_unlined = table.len > 0 && entry->lines_len == 0;
	return entry->texts[METHOD_BATCH_SIGNATURE][0] == '(';
}

/* Clears what says how much of the rest is valid, and not the rest, which is large. */
static void clear(struct method_batch_entry *entry)
{
	memset(entry->symbols, 0, sizeof(entry->symbols));
	memset(entry->indices, 0, sizeof(entry->indices));
	memset(entry->lens, 0, sizeof(entry->lens));
	entry->lines_len = 0;
	entry->is_unlined = false;
	entry->texts[METHOD_BATCH_SIGNATURE][0] = '\0';
	entry->is_named = true;
}

typedef bool (*ask_fn)(const struct vm_layout *layout, struct method_batch_entry *entry,
		       struct method_batch_step *step);

void method_batch_read(struct vm_memory *memory, const struct vm_layout *layout,
		       struct method_batch *batch)
{
	static const ask_fn asks[] = {ask_const_method, ask_head, ask_pool,  ask_class,
				      ask_symbols,	ask_lens, ask_texts, check};
	struct method_batch_step *const step = &batch->step;

	step->n = 0;
	for (size_t i = 0; i < batch->count; i++) {
		clear(&batch->entries[i]);
	}
	for (size_t k = 0; k < sizeof(asks) / sizeof(*asks); k++) {
		for (size_t i = 0; i < batch->count; i++) {
			struct method_batch_entry *const entry = &batch->entries[i];

			if (entry->is_named)
				entry->is_named = asks[k](layout, entry, step);
		}
		run(memory, step);
	}
}
