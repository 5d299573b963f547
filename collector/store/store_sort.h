// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sum -> the same sum, with nodes numbered as a tree is drawn
 * units:   none
 * threads: one at a time
 * errors:  -ENOMEM: the sum may have kinds of either order
 * source:  none
 *
 * A sum numbers nodes in the order in which windows brought them. In the order of a drawing, the
 * nodes of a stack follow one another, and siblings are sorted by name: a recording of a merged
 * hour is a fifth smaller then.
 */
#ifndef FG_STORE_STORE_SORT_H
#define FG_STORE_STORE_SORT_H

#include "store/store_sum.h"

/* To be called after store_sum_finish. */
int store_sort(struct store_sum *sum);

#endif
