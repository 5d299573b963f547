// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the methods of one inline table, numbered in the order in which they were added
 * units:   indices from 0
 * threads: one at a time, under the naming lock
 * errors:  false when it is full
 * source:  shared/README.md, "inline table"
 *
 * Zero-filled it is empty. Clearing costs as much as what was added.
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
	uint16_t buckets[METHOD_SET_BUCKETS]; /* index plus one, 0 if free */
};

void method_set_clear(struct method_set *set);
/* Adds it if it is not there. */
bool method_set_add(struct method_set *set, jmethodID method);
/* The index of a method that has been added. */
uint32_t method_set_find(const struct method_set *set, jmethodID method);

#endif
