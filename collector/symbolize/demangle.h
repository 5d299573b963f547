// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a C++ or Rust linker name -> the name in the source, in one of three styles
 * units:   bytes
 * threads: any; needs up to about 1 MiB of stack
 * errors:  0: use the name as it is
 * source:  the Itanium C++ ABI, Rust's legacy and v0 mangling; libiberty
 */
#ifndef FG_SYMBOLIZE_DEMANGLE_H
#define FG_SYMBOLIZE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum demangle_style {
	DEMANGLE_PLAIN,	 /* std::vector<int>::push_back */
	DEMANGLE_SIMPLE, /* std::vector<...>::push_back */
	DEMANGLE_FULL,	 /* std::vector<int>::push_back(int const&) */
	DEMANGLE_STYLES,
};

/* The style that word means: plain, simple or full. -EINVAL: no style. */
int demangle_style_of(const char *word, enum demangle_style *ret);
const char *demangle_style_word(enum demangle_style style);
/* The words of all styles, with spaces between them. */
const char *demangle_style_words(void);

/* Longer names stay as they are. */
#define DEMANGLE_MAX_BYTES 8192

/* A quick test whether a name may be mangled. */
bool demangle_is_candidate(const char *name);

/*
 * Writes the demangled name to buf, terminated, and returns its length. 0: the name is not mangled,
 * or the text does not fit. The suffix @plt of a PLT entry's name stays behind the text.
 */
size_t demangle_name(const char *name, enum demangle_style style, char *buf, size_t size);

#endif
