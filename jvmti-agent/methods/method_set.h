// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the methods of one inline table, numbered in the order in which they were added
 * units:   indices from 0
 * threads: one at a time, under the naming lock
 * errors:  false when the set is full
 * source:  shared/README.md, "inline table"
 *
 * A zero-filled struct is empty. The cost of clearing grows with the number of methods in the set.
 */
#ifndef FGAGENT_METHODS_METHOD_SET_H
#define FGAGENT_METHODS_METHOD_SET_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METHOD_SET_MAX	   4096u
#define METHOD_SET_BUCKETS (2 * METHOD_SET_MAX)

struct method_set {
	size_t n;
	jmethodID methods[METHOD_SET_MAX];
	uint16_t buckets[METHOD_SET_BUCKETS]; /* index + 1; 0: free */
};

void method_set_clear(struct method_set *set);
/* Adds the method if the set does not have it. */
bool method_set_add(struct method_set *set, jmethodID method);
/* The index of a method, which must be in the set. */
uint32_t method_set_find(const struct method_set *set, jmethodID method);

#endif
