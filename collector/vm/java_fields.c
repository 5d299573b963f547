// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the fields of a class, see java_fields.h. Up to JDK 20 a field is six u2:
 *
 *	flags | name | type | initial value | low, high: the offset << 2, and 1 if it has one
 *
 * and since JDK 21 numbers of code/unsigned5.h, behind two that say how many fields are the
 * program's and how many the JVM's own:
 *
 *	name | type | offset | flags | more flags, and a number for each of three of them
 *
 * A name and a type are indices of symbols in the class's constant pool.
 */
#include "vm/java_fields.h"

#include "code/unsigned5.h"

#include <errno.h>
#include <string.h>

#define COUNT(array)   (sizeof(array) / sizeof(*(array)))
#define WORD	       8
#define SLOTS	       6 /* of a field, each a u2 */
#define IS_STATIC      0x0008
#define HAS_OFFSET     1 /* in the low bits of a u2 */
#define HAS_INITIAL    0x01
#define HAS_GENERIC    0x04
#define HAS_CONTENTION 0x10

/* What is known of one field. */
struct field {
	uint32_t name, type, at, flags;
};

/* A walk through the bytes that describe a class's fields. */
struct walk {
	struct vm_memory *memory;
	const struct java_fields_layout *layout;
	uint64_t pool;
	uint32_t pool_len;
	uint8_t bytes[JAVA_FIELDS_MAX_BYTES];
	size_t len, pos;
	uint32_t left; /* fields of the program's */
	uint32_t references[JAVA_FIELDS_MAX];
	size_t n_references;
};

bool java_fields_layout_init(struct java_fields_layout *layout, const struct vm_tables *tables)
{
	*layout = (struct java_fields_layout){0};
	layout->is_stream = vm_tables_own(tables, VM_OWN_FIELD_STREAM, &layout->fields);
	return (layout->is_stream || (vm_tables_own(tables, VM_OWN_FIELDS, &layout->fields) &&
				      vm_tables_own(tables, VM_OWN_FIELD_COUNT, &layout->count))) &&
	       vm_tables_own(tables, VM_OWN_ARRAY_LEN, &layout->array_len) &&
	       vm_tables_own(tables, layout->is_stream ? VM_OWN_U1_DATA : VM_OWN_U2_DATA,
			     &layout->array_data) &&
	       vm_tables_small(tables, "InstanceKlass::_constants", VM_TABLES_MAX_OFFSET,
			       &layout->constants) &&
	       vm_tables_small(tables, "sizeof(ConstantPool)", VM_TABLES_MAX_OFFSET,
			       &layout->pool_bytes) &&
	       vm_tables_small(tables, "ConstantPool::_length", VM_TABLES_MAX_OFFSET,
			       &layout->pool_len) &&
	       vm_tables_small(tables, "Symbol::_length", VM_TABLES_MAX_OFFSET,
			       &layout->symbol_len) &&
	       (vm_tables_small(tables, "Symbol::_body", VM_TABLES_MAX_OFFSET,
				&layout->symbol_body) ||
		vm_tables_small(tables, "Symbol::_body[0]", VM_TABLES_MAX_OFFSET,
				&layout->symbol_body));
}

/* ---- the bytes ---- */

static int read_array(struct walk *walk, uint64_t klass)
{
	const struct java_fields_layout *const layout = walk->layout;
	const uint32_t item_bytes = layout->is_stream ? 1 : sizeof(uint16_t);
	uint64_t array = 0;
	int32_t len = 0;
	int err = vm_memory_get(walk->memory, klass + layout->fields, &array, sizeof(array));

	if (!err)
		err = vm_memory_get(walk->memory, array + layout->array_len, &len, sizeof(len));
	if (!err && (len < 0 || (uint32_t)len > sizeof(walk->bytes) / item_bytes))
		err = -EPROTO;
	walk->len = err ? 0 : (size_t)len * item_bytes;
	if (!err && walk->len > 0)
		err = vm_memory_get(walk->memory, array + layout->array_data, walk->bytes,
				    walk->len);
	return err;
}

static int read_pool(struct walk *walk, uint64_t klass)
{
	const struct java_fields_layout *const layout = walk->layout;
	int32_t len = 0;
	int err = vm_memory_get(walk->memory, klass + layout->constants, &walk->pool,
				sizeof(walk->pool));

	if (!err)
		err = vm_memory_get(walk->memory, walk->pool + layout->pool_len, &len, sizeof(len));
	if (!err && (len < 0 || len > UINT16_MAX))
		err = -EPROTO;
	walk->pool_len = err ? 0 : (uint32_t)len;
	return err;
}

static bool read_number(struct walk *walk, uint32_t *ret)
{
	return unsigned5_read(walk->bytes, walk->len, true, &walk->pos, ret);
}

static int read_count(struct walk *walk, uint64_t klass)
{
	uint32_t jvms_own;
	uint16_t count = 0;
	int err;

	if (walk->layout->is_stream)
		return read_number(walk, &walk->left) && read_number(walk, &jvms_own) ? 0 : -EPROTO;
	err = vm_memory_get(walk->memory, klass + walk->layout->count, &count, sizeof(count));
	walk->left = count;
	return err;
}

static bool next_of_stream(struct walk *walk, struct field *ret)
{
	uint32_t more, skipped;

	if (walk->left == 0 || !read_number(walk, &ret->name) || !read_number(walk, &ret->type) ||
	    !read_number(walk, &ret->at) || !read_number(walk, &ret->flags) ||
	    !read_number(walk, &more))
		return false;
	walk->left--;
	return (!(more & HAS_INITIAL) || read_number(walk, &skipped)) &&
	       (!(more & HAS_GENERIC) || read_number(walk, &skipped)) &&
	       (!(more & HAS_CONTENTION) || read_number(walk, &skipped));
}

static bool next_of_slots(struct walk *walk, struct field *ret)
{
	uint16_t slots[SLOTS];

	if (walk->left == 0 || walk->len - walk->pos < sizeof(slots))
		return false; /* the JVM's own fields and generic types stand behind */
	memcpy(slots, walk->bytes + walk->pos, sizeof(slots));
	walk->pos += sizeof(slots);
	walk->left--;
	*ret = (struct field){.flags = slots[0], .name = slots[1], .type = slots[2]};
	if (slots[4] & HAS_OFFSET)
		ret->at = ((uint32_t)slots[5] << 16 | slots[4]) >> 2;
	return true;
}

static bool next(struct walk *walk, struct field *ret)
{
	return walk->layout->is_stream ? next_of_stream(walk, ret) : next_of_slots(walk, ret);
}

/* ---- names ---- */

/* Reads a symbol. A symbol that is too long, or is none, becomes "". */
static int read_symbol(struct walk *walk, uint32_t index, char ret[JAVA_FIELDS_SYMBOL_BYTES])
{
	const struct java_fields_layout *const layout = walk->layout;
	uint64_t symbol = 0;
	uint16_t len = 0;
	int err;

	ret[0] = '\0';
	if (index >= walk->pool_len)
		return -EPROTO;
	err = vm_memory_get_kept(walk->memory,
				 walk->pool + layout->pool_bytes + (uint64_t)index * WORD, &symbol,
				 sizeof(symbol));
	if (!err)
		err = vm_memory_get_kept(walk->memory, symbol + layout->symbol_len, &len,
					 sizeof(len));
	if (err || len >= JAVA_FIELDS_SYMBOL_BYTES)
		return err;
	ret[len] = '\0';
	return vm_memory_get_kept(walk->memory, symbol + layout->symbol_body, ret, len);
}

static int take_field(struct walk *walk, const struct field *field, struct java_field *fields,
		      size_t n, struct java_fields_form *form)
{
	char name[JAVA_FIELDS_SYMBOL_BYTES], type[JAVA_FIELDS_SYMBOL_BYTES];
	int err;

	if (field->flags & IS_STATIC || field->at == 0 || field->at > JAVA_FIELDS_MAX_OFFSET)
		return 0;
	err = read_symbol(walk, field->name, name);
	if (!err)
		err = read_symbol(walk, field->type, type);
	if (err)
		return err;
	if (form->first == 0 || field->at < form->first)
		form->first = field->at;
	if ((type[0] == 'L' || type[0] == '[') && walk->n_references < COUNT(walk->references))
		walk->references[walk->n_references++] = field->at;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(fields[i].name, name) == 0 && strcmp(fields[i].type, type) == 0)
			fields[i].at = field->at;
	}
	return 0;
}

/* References lie side by side, so that the least distance of two is their size. */
static uint32_t least_distance(const uint32_t *at, size_t n)
{
	uint32_t least = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			if (at[k] > at[i] && (least == 0 || at[k] - at[i] < least))
				least = at[k] - at[i];
		}
	}
	return least;
}

int java_fields_find(struct vm_memory *memory, const struct java_fields_layout *layout,
		     uint64_t klass, struct java_field *fields, size_t n,
		     struct java_fields_form *ret)
{
	struct walk walk = {.memory = memory, .layout = layout};
	struct field field;
	int err = read_array(&walk, klass);

	*ret = (struct java_fields_form){0};
	for (size_t i = 0; i < n; i++)
		fields[i].at = 0;
	if (!err)
		err = read_pool(&walk, klass);
	if (!err)
		err = read_count(&walk, klass);
	for (size_t i = 0; !err && i < JAVA_FIELDS_MAX && next(&walk, &field); i++)
		err = take_field(&walk, &field, fields, n, ret);
	ret->reference_bytes = least_distance(walk.references, walk.n_references);
	vm_memory_forget(memory);
	return err;
}
