// SPDX-License-Identifier: Apache-2.0
/* What is written of a profile, for tests of what reads or makes profiles. */
#ifndef FG_TESTS_RENDER_RENDERED_H
#define FG_TESTS_RENDER_RENDERED_H

#include "render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The caller frees; ret_len is for bytes that are no text. */
static inline char *rendered(const struct profile *profile, enum render_format format,
			     const struct render_options *options, size_t *ret_len)
{
	char *data = NULL;
	FILE *const stream = open_memstream(&data, ret_len);

	assert_non_null(stream);
	assert_int_equal(render_write(profile, format, options, stream), 0);
	fclose(stream);
	return data;
}

/* The caller frees. */
static inline char *written(const struct profile *profile, enum render_format format,
			    const struct render_options *options)
{
	size_t len;
	char *const text = rendered(profile, format, options, &len);

	assert_int_equal(strlen(text), len);
	return text;
}

#endif
