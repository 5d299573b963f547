// SPDX-License-Identifier: Apache-2.0
/* Formats and the suffixes that choose them, see render.h. */
#include "render/render.h"

#include <errno.h>
#include <string.h>

static const char *const suffixes[] = {
	[RENDER_FOLDED] = ".folded",
	[RENDER_SVG] = ".svg",
	[RENDER_HTML] = ".html",
};

int render_format_of(const char *path, enum render_format *ret)
{
	const size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const size_t suffix_len = strlen(suffixes[i]);

		if (len > suffix_len && strcmp(path + len - suffix_len, suffixes[i]) == 0) {
			*ret = (enum render_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *render_suffix(enum render_format format)
{
	return suffixes[format];
}

const char *render_suffixes(void)
{
	return ".folded .svg .html";
}

static int write_format(const struct profile *profile, enum render_format format,
			const struct render_options *options, FILE *stream)
{
	switch (format) {
	case RENDER_FOLDED:
		return render_folded(profile, options, stream);
	case RENDER_SVG:
		return render_svg(profile, options, stream);
	case RENDER_HTML:
		return render_html(profile, options, stream);
	}
	return -EINVAL;
}

int render_write(const struct profile *profile, enum render_format format,
		 const struct render_options *options, FILE *stream)
{
	const int rc = write_format(profile, format, options, stream);

	if (rc < 0)
		return rc;
	return fflush(stream) == 0 ? 0 : -errno;
}
