// SPDX-License-Identifier: Apache-2.0
/*
 * Follows HotSpot's pointers from a Method* to the method's names, see method_reader.h:
 *
 *   Method -> ConstMethod: indices of name and signature, bytecodes, line number table
 *                 |
 *                 +-> ConstantPool: Symbol* at each index; index of the source file
 *                          |
 *                          +-> its holder, an InstanceKlass: Symbol* of the class's name
 *
 * A Symbol is a length and as many bytes.
 */
#include "code/method_reader.h"

#include "base/hash.h"
#include "base/unaligned.h"
#include "code/line_table.h"
#include "memory/process_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#define WORD	      8
#define LOWEST_ADDR   4096
#define HIGHEST_ADDR  (UINT64_C(1) << 56) /* of user space with five levels of page tables */
#define MAX_PIECES    12
#define MAX_POOL_SIZE 65536

/* Pieces of the process's memory that one call reads. */
struct gather {
	struct iovec local[MAX_PIECES], remote[MAX_PIECES];
	unsigned long n;
	size_t bytes; /* bytes of all pieces */
};

static void gather_add(struct gather *gather, uint64_t addr, void *into, size_t len)
{
	gather->local[gather->n] = (struct iovec){.iov_base = into, .iov_len = len};
	gather->remote[gather->n] =
		(struct iovec){.iov_base = (void *)(uintptr_t)addr, .iov_len = len};
	gather->n++;
	gather->bytes += len;
}

static int gather_read(struct gather *gather, pid_t pid)
{
	const ssize_t n = process_memory_read(pid, gather->local, gather->remote, gather->n);

	if (n >= 0)
		return (size_t)n == gather->bytes ? 0 : -EFAULT;
	return n == -EPERM || n == -ESRCH || n == -ENOMEM || n == -ETIMEDOUT ? (int)n : -EFAULT;
}

static int read_at(pid_t pid, uint64_t addr, void *into, size_t len)
{
	struct gather gather = {0};

	gather_add(&gather, addr, into, len);
	return gather_read(&gather, pid);
}

/* For what a method may lack. */
static int unless_lacking(int err)
{
	return method_reader_may_try_again(err) ? err : 0;
}

static bool is_pointer(uint64_t addr)
{
	return addr >= LOWEST_ADDR && addr < HIGHEST_ADDR && addr % WORD == 0;
}

struct const_method {
	uint8_t bytes[VM_LAYOUT_MAX_CONST_METHOD_BYTES];
};

static int read_const_method(pid_t pid, const struct vm_layout *layout,
			     struct method_places *places, struct const_method *ret)
{
	int err;

	if (!is_pointer(places->method))
		return -ENOENT;
	err = read_at(pid, places->method + layout->method_const_method, &places->const_method,
		      WORD);
	if (err)
		return err;
	if (!is_pointer(places->const_method))
		return -ENOENT;
	err = read_at(pid, places->const_method, ret->bytes, layout->const_method_bytes);
	if (err)
		return err;
	memcpy(&places->pool, ret->bytes + layout->const_method_constants, WORD);
	places->name_index = unaligned_u16(ret->bytes, layout->const_method_name_index);
	places->signature_index = unaligned_u16(ret->bytes, layout->const_method_signature_index);
	return is_pointer(places->pool) && places->name_index && places->signature_index ? 0
											 : -ENOENT;
}

/* Finds the bytecodes and the number of bytes behind them. False: the ConstMethod is too small. */
static bool set_bytecodes(const struct vm_layout *layout, const struct const_method *from,
			  struct method_facts *facts, size_t *ret_behind)
{
	const uint64_t bytes =
		(uint64_t)unaligned_u32(from->bytes, layout->const_method_words) * WORD;

	facts->code_bytes = unaligned_u16(from->bytes, layout->const_method_code_size);
	facts->bytecodes = facts->places.const_method + layout->const_method_bytes;
	if (bytes < (uint64_t)layout->const_method_bytes + facts->code_bytes)
		return false;
	*ret_behind = bytes - layout->const_method_bytes - facts->code_bytes;
	return true;
}

static uint64_t pool_entry(const struct vm_layout *layout, uint64_t pool, uint16_t index)
{
	return pool + layout->pool_bytes + (uint64_t)index * WORD;
}

/* Reads where the class and the symbols are. *ret_source_file: the source file's symbol, or 0. */
static int read_pool(pid_t pid, const struct vm_layout *layout, struct method_places *places,
		     uint64_t *ret_source_file)
{
	const uint64_t pool = places->pool;
	struct gather head = {0}, entries = {0};
	uint16_t source_index = 0;
	int32_t length;
	int err;

	gather_add(&head, pool + layout->pool_holder, &places->holder, WORD);
	gather_add(&head, pool + layout->pool_length, &length, sizeof(length));
	err = gather_read(&head, pid);
	if (err)
		return err;
	if (!is_pointer(places->holder) || length > MAX_POOL_SIZE || places->name_index >= length ||
	    places->signature_index >= length)
		return -ENOENT;
	gather_add(&entries, places->holder + layout->klass_name, &places->symbols[METHOD_CLASS],
		   WORD);
	gather_add(&entries, pool_entry(layout, pool, places->name_index),
		   &places->symbols[METHOD_NAME], WORD);
	gather_add(&entries, pool_entry(layout, pool, places->signature_index),
		   &places->symbols[METHOD_SIGNATURE], WORD);
	if (layout->source_file != VM_SOURCE_FILE_NONE)
		gather_add(&entries,
			   (layout->source_file == VM_SOURCE_FILE_IN_POOL ? pool : places->holder) +
				   layout->source_file_index,
			   &source_index, sizeof(source_index));
	err = gather_read(&entries, pid);
	*ret_source_file = 0;
	if (!err && source_index && source_index < length)
		err = unless_lacking(read_at(pid, pool_entry(layout, pool, source_index),
					     ret_source_file, WORD));
	return err;
}

static uint16_t cut_len(uint16_t len)
{
	return len < METHOD_TEXT_MAX_BYTES ? len : METHOD_TEXT_MAX_BYTES;
}

static int read_lens(pid_t pid, const struct vm_layout *layout, struct method_places *places)
{
	struct gather lens = {0};
	int err;

	for (int i = 0; i < METHOD_TEXTS; i++) {
		if (!is_pointer(places->symbols[i]))
			return -ENOENT;
		gather_add(&lens, places->symbols[i] + layout->symbol_length, &places->lens[i],
			   sizeof(places->lens[i]));
	}
	err = gather_read(&lens, pid);
	for (int i = 0; !err && i < METHOD_TEXTS; i++) {
		if (places->lens[i] == 0)
			return -ENOENT;
		places->lens[i] = cut_len(places->lens[i]);
	}
	return err;
}

/*
 * Everything that names a method, read at one time: the pointers, and the texts to which they lead.
 * A class that takes the place of an unloaded class may have all structures and even all symbols at
 * equal addresses, so the bytes of the texts are compared too.
 */
struct snapshot {
	uint8_t bytes[5 * WORD + VM_LAYOUT_MAX_CONST_METHOD_BYTES +
		      METHOD_TEXTS * (sizeof(uint16_t) + METHOD_TEXT_MAX_BYTES)];
	size_t len;
	const uint8_t *lens[METHOD_TEXTS], *texts[METHOD_TEXTS]; /* pointers into bytes */
};

static void add_piece(struct snapshot *snapshot, struct gather *gather, uint64_t addr, size_t len)
{
	gather_add(gather, addr, snapshot->bytes + snapshot->len, len);
	snapshot->len += len;
}

/*
 * Adds a symbol's length and text. The text follows the length since JDK 9: one piece is faster
 * than two.
 */
static void add_symbol(struct snapshot *snapshot, struct gather *gather,
		       const struct vm_layout *layout, uint64_t symbol, size_t len)
{
	const bool is_one = layout->symbol_body == layout->symbol_length + sizeof(uint16_t);

	add_piece(snapshot, gather, symbol + layout->symbol_length,
		  sizeof(uint16_t) + (is_one ? len : 0));
	if (!is_one)
		add_piece(snapshot, gather, symbol + layout->symbol_body, len);
}

static int take_snapshot(pid_t pid, const struct vm_layout *layout,
			 const struct method_places *places, struct snapshot *ret)
{
	struct gather gather = {0};

	ret->len = 0;
	add_piece(ret, &gather, places->method + layout->method_const_method, WORD);
	add_piece(ret, &gather, places->const_method, layout->const_method_bytes);
	add_piece(ret, &gather, places->pool + layout->pool_holder, WORD);
	add_piece(ret, &gather, pool_entry(layout, places->pool, places->name_index), WORD);
	add_piece(ret, &gather, pool_entry(layout, places->pool, places->signature_index), WORD);
	add_piece(ret, &gather, places->holder + layout->klass_name, WORD);
	for (int i = 0; i < METHOD_TEXTS; i++) {
		ret->lens[i] = ret->bytes + ret->len;
		ret->texts[i] = ret->lens[i] + sizeof(uint16_t);
		add_symbol(ret, &gather, layout, places->symbols[i], places->lens[i]);
	}
	return gather_read(&gather, pid);
}

/* Reads the texts, and makes the fingerprint of all that was read with them. */
static int read_texts(pid_t pid, const struct vm_layout *layout, struct method_facts *facts)
{
	const struct method_places *places = &facts->places;
	struct snapshot snapshot;
	int err;

	err = take_snapshot(pid, layout, places, &snapshot);
	if (err)
		return err;
	for (int i = 0; i < METHOD_TEXTS; i++) {
		uint16_t len;

		memcpy(&len, snapshot.lens[i], sizeof(len));
		if (cut_len(len) != places->lens[i])
			return -ENOENT; /* the method has changed since its lengths were read */
		facts->texts[i].len = places->lens[i];
		memcpy(facts->texts[i].bytes, snapshot.texts[i], places->lens[i]);
	}
	facts->fingerprint = hash_seed_bytes(snapshot.bytes, snapshot.len);
	return 0;
}

/* The source file is optional: if its symbol cannot be read, the method has none. */
static int read_source_file(pid_t pid, const struct vm_layout *layout, uint64_t symbol,
			    struct method_text *ret)
{
	uint16_t len = 0;
	int err = 0;

	ret->len = 0;
	if (is_pointer(symbol))
		err = read_at(pid, symbol + layout->symbol_length, &len, sizeof(len));
	len = cut_len(len);
	if (!err && len)
		err = read_at(pid, symbol + layout->symbol_body, ret->bytes, len);
	if (!err)
		ret->len = len;
	return unless_lacking(err);
}

static int read_lines(pid_t pid, const struct vm_layout *layout, const struct const_method *from,
		      size_t behind, struct method_facts *facts)
{
	const uint16_t at = layout->const_method_flags;
	struct line_table table = {.bytes = facts->lines, .is_biased = layout->lines_are_biased};
	uint32_t flags;
	int err = 0;

	facts->lines_len = 0;
	if (!layout->has_lines)
		return 0;
	flags = layout->const_method_flags_are_u4 ? unaligned_u32(from->bytes, at)
						  : unaligned_u16(from->bytes, at);
	if (!(flags & layout->flag_has_lines))
		return 0;
	table.len = behind < sizeof(facts->lines) ? behind : sizeof(facts->lines);
	if (table.len)
		err = read_at(pid, facts->bytecodes + facts->code_bytes, facts->lines, table.len);
	if (!err && table.len)
		facts->lines_len = (uint32_t)line_table_bytes(&table);
	return unless_lacking(err);
}

/*
 * A method's descriptor begins with its parameters in parentheses. No other text begins with '('.
 */
static bool is_descriptor(const struct method_text *text)
{
	return text->bytes[0] == '(' &&
	       (text->len == METHOD_TEXT_MAX_BYTES || memchr(text->bytes, ')', text->len));
}

int method_reader_read(pid_t pid, const struct vm_layout *layout, uint64_t addr,
		       struct method_facts *ret)
{
	struct const_method from;
	uint64_t source_file;
	size_t behind;
	int err;

	ret->places = (struct method_places){.method = addr};
	err = read_const_method(pid, layout, &ret->places, &from);
	if (!err && !set_bytecodes(layout, &from, ret, &behind))
		err = -ENOENT;
	if (!err)
		err = read_pool(pid, layout, &ret->places, &source_file);
	if (!err)
		err = read_lens(pid, layout, &ret->places);
	if (!err)
		err = read_texts(pid, layout, ret);
	if (!err && !is_descriptor(&ret->texts[METHOD_SIGNATURE]))
		err = -ENOENT;
	if (!err)
		err = read_source_file(pid, layout, source_file, &ret->texts[METHOD_SOURCE_FILE]);
	if (!err)
		err = read_lines(pid, layout, &from, behind, ret);
	return err;
}

int method_reader_fingerprint(pid_t pid, const struct vm_layout *layout,
			      const struct method_places *places, uint64_t *ret)
{
	struct snapshot snapshot;
	const int err = take_snapshot(pid, layout, places, &snapshot);

	if (!err)
		*ret = hash_seed_bytes(snapshot.bytes, snapshot.len);
	return err;
}
