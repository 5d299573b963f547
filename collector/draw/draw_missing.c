// SPDX-License-Identifier: Apache-2.0
/* Options that users bring from other tools, see draw_missing.h. */
#include "draw/draw_missing.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *option;
	const char *instead;
} missing[] = {
	{"context",
	 "names stay without their lines; of --inline these are in .pb.gz, .speedscope.json and "
	 ".firefox.json"},
	{"flamechart",
	 "equal stacks are one frame here, whenever they were; .speedscope.json and .firefox.json "
	 "of a recording (.fgrec) show them in the order of time, and so do the viewers themselves "
	 "of the text of perf script"},
	{"nameattr",
	 "frames have no attributes here, for they are drawn anew in each window's width; the "
	 "colours of names can be chosen with --cp"},
	{"pretty-xml", "it would make files larger; xmllint --format does it to any"},
	{"quiet", "what was left out of a file is always said; 2>/dev/null hides it"},
	{"search-color", "found frames are marked in a colour that suits light and dark windows"},
	{"srcline",
	 "lines that perf script -F +srcline adds are not read; use --inline without +srcline"},
	{"stroke-color", "there are gaps between frames instead"},
	{"truncate-text-right",
	 "names are shortened by their qualifiers, so that the method's name stays"},
	{"uicolor", "texts have colours that suit light and dark windows"},
};

const char *draw_missing_find(const char *option)
{
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		if (strcmp(missing[i].option, option) == 0)
			return missing[i].instead;
	return NULL;
}
