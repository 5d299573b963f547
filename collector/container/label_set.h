// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   hostile keys and values -> a bounded set of labels that are safe to be shown
 * units:   bytes
 * threads: one at a time
 * errors:  a label without room is left out and counted
 * source:  none
 *
 * utf8_clean cleans keys and values. A key keeps the first value that is added. A zero-filled
 * struct label_set is valid and empty.
 */
#ifndef FG_CONTAINER_LABEL_SET_H
#define FG_CONTAINER_LABEL_SET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABEL_SET_MAX	  64
#define LABEL_KEY_BYTES	  320 /* Kubernetes allows 317 */
#define LABEL_VALUE_BYTES 256

struct label {
	const char *key, *value;
};

struct label_set {
	struct arena texts;
	struct label labels[LABEL_SET_MAX];
	size_t count;
	uint64_t left_out; /* labels: too many, too long, or no memory */
};

void label_set_add(struct label_set *set, const char *key, const char *value);
/* key and value need not be terminated. */
void label_set_add_parts(struct label_set *set, const char *key, size_t key_len, const char *value,
			 size_t value_len);
void label_set_add_all(struct label_set *set, const struct label_set *from);
const char *label_set_find(const struct label_set *set, const char *key); /* NULL: none */
void label_set_fini(struct label_set *set);

#endif
