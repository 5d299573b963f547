// SPDX-License-Identifier: Apache-2.0
/*
 * Looks through the whole command line for an option that asks for help, see help.h.
 *
 * getopt_long moves words behind the options. An option at the end whose value is missing would
 * take such a word for its value at the next look: so this look has a copy.
 */
#include "options/help.h"

#include <stdlib.h>
#include <string.h>

#define HELP_ALL "help-all"

void help_look(struct help *help, int argc, char **argv, const char *short_options,
	       const struct option *long_options)
{
	const int said = opterr;
	int option, index = -1;

	*help = (struct help){.argv = calloc((size_t)argc + 1, sizeof(*argv))};
	if (!help->argv)
		return;
	memcpy(help->argv, argv, (size_t)argc * sizeof(*argv));
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, help->argv, short_options, long_options, &index)) >= 0) {
		help->is_of_all |= index >= 0 && strcmp(long_options[index].name, HELP_ALL) == 0;
		help->is_asked |= option == 'h' || help->is_of_all;
		index = -1; /* of a letter there is none */
	}
	help->words = help->argv + optind;
	help->n_words = argc - optind;
	opterr = said;
	optind = 0;
}

void help_fini(struct help *help)
{
	free(help->argv);
	*help = (struct help){0};
}
