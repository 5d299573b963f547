// SPDX-License-Identifier: Apache-2.0
/* How methods and functions are called, see name_options.h. */
#include "cli/name_options.h"

#include "options/tables.h"

#include <errno.h>

static int set_java_names(struct options *options, const char *text)
{
	if (java_name_style_of(text, &options->recording.style.names.style) == 0)
		return 0;
	log_error("--java-names %s: no such style; there are: %s", text, java_name_styles());
	return -EINVAL;
}

static int set_cxx_names(struct options *options, const char *text)
{
	if (demangle_style_of(text, &options->recording.style.cxx_names) == 0)
		return 0;
	log_error("--cxx-names %s: no such style; there are: %s", text, demangle_style_words());
	return -EINVAL;
}

static int set_map_names(struct options *options, const char *text)
{
	struct perf_map_style style;

	if (perf_map_style_parse(text, &style) < 0) {
		log_error("--map-names %s: words with commas between them are needed, of: %s", text,
			  perf_map_style_words());
		return -EINVAL;
	}
	options->map_names = text;
	options->map_style = style;
	return 0;
}

int name_options_apply(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_JAVA_NAMES:
		return set_java_names(options, value);
	case OPTION_CXX_NAMES:
		return set_cxx_names(options, value);
	case OPTION_MAP_NAMES:
		return set_map_names(options, value);
	case OPTION_LINES:
		options->recording.style.names.has_lines = true;
		return 0;
	case OPTION_NATIVE_LINES:
		options->recording.style.has_native_lines = true;
		return 0;
	case OPTION_RAW_NAMES:
		options->recording.style.names.is_raw = true;
		return 0;
	default:
		return 1;
	}
}
