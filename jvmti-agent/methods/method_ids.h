// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   jmethodID -> the method's ID on this connection
 * units:   IDs from 1 to METHOD_IDS_SLOTS: number of the slot, plus 1
 * threads: one at a time, under the naming lock
 * errors:  0 is no ID: a method that finds no slot has none
 * source:  shared/README.md, "inline table"
 *
 * The table is four-way set associative: a method can be in one of four slots. When all four are
 * taken, a new method takes one of them over. The slot's ID then means the new method, and the old
 * method is named again when it occurs again. Changes since the last method_ids_keep can be taken
 * back, for a record that found no room in the stream.
 *
 * A JVM never uses a jmethodID for another method, not even after the method's class is unloaded. A
 * zero-filled struct is empty.
 */
#ifndef FGAGENT_METHODS_METHOD_IDS_H
#define FGAGENT_METHODS_METHOD_IDS_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#define METHOD_IDS_SLOTS   32768u
#define METHOD_IDS_WAYS	   4u
#define METHOD_IDS_PENDING 4096u

struct method_ids {
	jmethodID slots[METHOD_IDS_SLOTS];
	uint32_t turn; /* which of the four slots is taken over next */
	size_t n_pending;
	struct {
		uint32_t slot;
		jmethodID before;
	} pending[METHOD_IDS_PENDING]; /* in the order of the changes */
};

/* The method's ID, or 0. */
uint32_t method_ids_find(const struct method_ids *ids, jmethodID method);
/* Gives an ID to a method that has none; 0 if METHOD_IDS_PENDING changes are pending. */
uint32_t method_ids_add(struct method_ids *ids, jmethodID method);

void method_ids_keep(struct method_ids *ids);
void method_ids_take_back(struct method_ids *ids);

#endif
