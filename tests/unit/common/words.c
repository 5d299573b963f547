// SPDX-License-Identifier: Apache-2.0
/* Command lines of tests, see words.h. */
#include "common/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <getopt.h>
#include <string.h>

struct words words_of(const char *program, const char *line)
{
	static char name[32], text[1024];
	struct words words = {.argc = 1, .argv = {name}};

	assert_true(strlen(program) < sizeof(name) && strlen(line) < sizeof(text));
	strcpy(name, program);
	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		assert_true(words.argc < WORDS_MAX);
		words.argv[words.argc++] = word;
	}
	optind = 0; /* getopt starts anew */
	opterr = 0;
	return words;
}
