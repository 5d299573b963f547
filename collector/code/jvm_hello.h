// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an agent's hello record -> attributes and values of the agent's JVM, by key
 * units:   bytes
 * threads: the model's
 * errors:  -ENOMEM; attributes and values past a limit are left out and counted, texts are cut
 * source:  shared/README.md; the keys are in jvmti-agent/README.md
 *
 * An attribute is a text ("jvm.version"). A value is a number, mostly from HotSpot's vmStructs
 * ("Method::_constMethod"). Texts live until the next jvm_hello_set or jvm_hello_fini. A
 * zero-filled struct jvm_hello is valid and empty.
 */
#ifndef FG_CODE_JVM_HELLO_H
#define FG_CODE_JVM_HELLO_H

#include "base/arena.h"
#include "shared/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JVM_MAX_ATTRS	   256
#define JVM_MAX_VALUES	   512
#define JVM_MAX_TEXT_BYTES 4096

struct jvm_attr {
	const char *key, *text; /* NULL: there was no memory */
};

struct jvm_value {
	const char *key; /* NULL: there was no memory */
	int64_t value;
};

struct jvm_hello {
	struct arena texts;
	struct jvm_attr *attrs;
	size_t n_attrs;
	struct jvm_value *values;
	size_t n_values;
};

/*
 * Replaces an earlier hello. Each attribute, value or text left out or cut adds 1 to bad_records.
 */
int jvm_hello_set(struct jvm_hello *hello, const struct wire_hello *wire, uint64_t *bad_records);
void jvm_hello_fini(struct jvm_hello *hello);
size_t jvm_hello_bytes(const struct jvm_hello *hello); /* its memory */

/* An attribute's text, or NULL. */
const char *jvm_hello_attr(const struct jvm_hello *hello, const char *key);
/* Sets ret to a value; false if the hello has no such value. */
bool jvm_hello_value(const struct jvm_hello *hello, const char *key, int64_t *ret);

#endif
