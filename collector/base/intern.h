// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   equal texts -> one pointer
 * units:   bytes
 * threads: one at a time
 * errors:  NULL when memory is out
 * source:  none
 *
 * Texts are terminated, may be compared by pointer, and live until intern_fini. A zero-filled
 * struct intern is valid and empty.
 */
#ifndef FG_BASE_INTERN_H
#define FG_BASE_INTERN_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct intern {
	struct arena arena;
	struct intern_slot *slots;
	size_t size;
	size_t count;
};

const char *intern_add(struct intern *intern, const char *text, size_t len);
const char *intern_add_str(struct intern *intern, const char *text);
void intern_fini(struct intern *intern);
size_t intern_bytes(const struct intern *intern); /* its memory */

#endif
