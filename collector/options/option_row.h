// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   rows of the option table, and what a command line gives -> whether these go together
 * units:   none
 * threads: any, values
 * errors:  -EINVAL, with a sentence, or said on stderr
 * source:  README.md in this folder
 *
 * The rows themselves are made of the table, see options/tables.h. A command is a bit, for instance
 * OPTIONS_OF_RECORD. An option has a number, as for getopt_long. Rows of one number are what the
 * option is for several commands.
 */
#ifndef FG_OPTIONS_OPTION_ROW_H
#define FG_OPTIONS_OPTION_ROW_H

#include <stdbool.h>
#include <stddef.h>

/* A sentence about options. */
#define OPTION_WHY_BYTES 256

/* An option that a rule names. */
struct option_other {
	int number;	   /* 0 ends a list */
	const char *words; /* one of these has to be among the option's values; NULL: it is given */
};

struct option_rule {
	bool is_needed;	    /* one of the others has to be there; otherwise none may be */
	unsigned commands;  /* for which the rule holds */
	const char *own;    /* it holds if one of these is among the option's own values; or NULL */
	const char *others; /* "--kind wall or offcpu"; NULL unless is_needed */
	const char *why;    /* or NULL */
	const struct option_other *list;
};

struct option_row {
	int number;
	unsigned commands;
	const char *told;  /* "-p" */
	const char *where; /* the commands that have an option of that number: "record and top" */
	const struct option_rule *rules;
	size_t n_rules;
	unsigned marks; /* OPTIONS_FOR_PICTURES and so on: what C asks for */
};

/* An option of a command line, or a member of a request. */
struct option_given {
	const struct option_row *row;
	const char *text; /* borrowed; "": there is no value */
};

struct options_given {
	const struct option_row *rows; /* all; the last one's number is 0 */
	unsigned command;
	struct option_given *list; /* of the caller */
	size_t count;
};

/* Whether one of the commands has an option of that number. */
bool option_rows_have(const struct option_row *rows, int number, unsigned commands);
/* No more options than that can be in a command line. */
size_t options_given_most(int argc, char **argv);
/* Adds an option, whatever the command is. The list has room for it. */
void options_given_add(struct options_given *given, int number, const char *text);
/*
 * Makes the option of that place the one that the command has. NULL, and said: the command has no
 * such option.
 */
const struct option_row *options_given_take(struct options_given *given, size_t place);
/* The text that was given last. NULL: none was. */
const char *options_given_text(const struct options_given *given, int number);
/* The first option with that mark. NULL: none was given. */
const char *options_given_marked(const struct options_given *given, unsigned mark);
/* -EINVAL, and why: what is given does not go together, as the rules of the rows have it. */
int options_given_check(const struct options_given *given, char why[OPTION_WHY_BYTES]);

#endif
