// SPDX-License-Identifier: Apache-2.0
/* Looks through the whole command line for an option that asks for help, see help.h. */
#include "base/help.h"

#include <stddef.h>

bool help_is_asked(int argc, char **argv, const char *short_options,
		   const struct option *long_options, int *ret_words)
{
	const int said = opterr;
	bool is_asked = false;
	int option;

	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, short_options, long_options, NULL)) >= 0)
		is_asked |= option == 'h';
	*ret_words = optind;
	opterr = said;
	optind = 0;
	return is_asked;
}
