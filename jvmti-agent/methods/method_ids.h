// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   jmethodID -> the ID under which this connection knows it
 * units:   IDs from 1 to METHOD_IDS_SLOTS: a slot's number plus one
 * threads: one at a time, under the naming lock
 * errors:  0 is no ID: a method that finds no slot goes without
 * source:  shared/README.md, "inline table"
 *
 * Four-way set associative: a method has a choice of four slots, and when all are taken one of
 * them changes hands. Its ID then means the new method from there on, and the old one is named
 * again when it comes again. What was changed since the last method_ids_keep can be taken back,
 * for a record that did not make it into the stream.
 *
 * A jmethodID is never used for another method in the life of a JVM, not even after its class has
 * gone. Zero-filled it is empty.
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
	uint32_t turn; /* which way changes hands next */
	size_t n_pending;
	struct {
		uint32_t slot;
		jmethodID before;
	} pending[METHOD_IDS_PENDING]; /* in the order of the changes */
};

/* The method's ID, or 0 if it has none. */
uint32_t method_ids_find(const struct method_ids *ids, jmethodID method);
/* An ID for a method that has none, or 0 if too much is pending. */
uint32_t method_ids_add(struct method_ids *ids, jmethodID method);

void method_ids_keep(struct method_ids *ids);
void method_ids_take_back(struct method_ids *ids);

#endif
