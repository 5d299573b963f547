// SPDX-License-Identifier: Apache-2.0
/*
 * What getopt_long could not read, see option_fault.h.
 *
 * Of an option with a name, argv[optind - 1] is its word. Of a letter it may not be: while further
 * letters follow in the word ("-azF"), getopt_long has not gone past it. optopt is the letter, or
 * of a name the number of the option, which may be a letter too; 0: no option has that name, or
 * several begin so.
 */
#include "options/option_fault.h"

#include "options/nearest.h"

#include <stdio.h>
#include <string.h>

/* Numbers above are those of options without a letter. */
#define LETTERS 256

static bool is_letter_of(const struct option_names *names, int number)
{
	return number > 0 && number < LETTERS && number != ':' && strchr(names->letters, number);
}

static bool has_name(const char *word)
{
	return word[0] == '-' && word[1] == '-';
}

static size_t name_len(const char *name)
{
	return strcspn(name, "=");
}

static size_t count_beginning(const struct option_names *names, const char *name)
{
	size_t count = 0;

	for (const struct option *option = names->list; option->name; option++)
		count += strncmp(option->name, name, name_len(name)) == 0;
	return count;
}

static void type_name(struct option_fault *fault, const char *word)
{
	snprintf(fault->typed, sizeof(fault->typed), "%.*s", (int)name_len(word), word);
}

/* Whoever knows tools with one dash before names types "-kind". */
static const char *word_of_letter(const struct option_names *names, char *const *argv)
{
	for (int at = optind - 1; at <= optind; at++) {
		const char *const word = at > 0 ? argv[at] : NULL;

		if (!word || word[0] != '-' || word[1] != optopt || !word[2])
			continue;
		for (const struct option *option = names->list; option->name; option++) {
			if (strlen(option->name) == name_len(word + 1) &&
			    strncmp(option->name, word + 1, name_len(word + 1)) == 0)
				return word;
		}
	}
	return NULL;
}

static void read_letter(struct option_fault *fault, const struct option_names *names,
			char *const *argv)
{
	const char *const word = word_of_letter(names, argv);

	fault->kind = OPTION_FAULT_UNKNOWN;
	fault->letter = word ? 0 : optopt;
	if (word)
		type_name(fault, word);
	else
		snprintf(fault->typed, sizeof(fault->typed), "-%c", optopt);
}

void option_fault_read(struct option_fault *fault, const struct option_names *names, int answer,
		       char *const *argv)
{
	const char *const word = argv[optind - 1];

	*fault = (struct option_fault){0};
	if (answer == ':') {
		fault->kind = OPTION_FAULT_NEEDS_VALUE;
		if (has_name(word))
			type_name(fault, word);
		else
			snprintf(fault->typed, sizeof(fault->typed), "-%c", optopt);
		return;
	}
	if (optopt > 0 && optopt < LETTERS && !is_letter_of(names, optopt)) {
		read_letter(fault, names, argv);
		return;
	}
	type_name(fault, word);
	if (optopt)
		fault->kind = OPTION_FAULT_TAKES_NO_VALUE;
	else if (count_beginning(names, word + 2) > 1)
		fault->kind = OPTION_FAULT_AMBIGUOUS;
}

static bool command_has(const struct option_names *names, int number)
{
	return !names->command || option_rows_have(names->rows, number, names->command);
}

/* Those of the command alone, if it has any. */
static void tell_ambiguous(const struct option_fault *fault, const struct option_names *names,
			   char why[OPTION_WHY_BYTES])
{
	const char *const name = fault->typed + 2;
	const char *between = ": which is meant? ";
	size_t len = (size_t)snprintf(why, OPTION_WHY_BYTES, "%s", fault->typed);
	bool is_of_command = false;

	for (const struct option *option = names->list; option->name; option++)
		is_of_command |= strncmp(option->name, name, strlen(name)) == 0 &&
				 command_has(names, option->val);
	for (const struct option *option = names->list; option->name; option++) {
		if (strncmp(option->name, name, strlen(name)) != 0 ||
		    (is_of_command && !command_has(names, option->val)))
			continue;
		if (len + strlen(between) + strlen("--") + strlen(option->name) >= OPTION_WHY_BYTES)
			break;
		len += (size_t)snprintf(why + len, OPTION_WHY_BYTES - len, "%s--%s", between,
					option->name);
		between = ", ";
	}
}

static void tell_unknown(const struct option_fault *fault, const struct option_names *names,
			 const char *instead, char why[OPTION_WHY_BYTES])
{
	const char *const name = fault->typed + strspn(fault->typed, "-");
	struct nearest nearest;

	nearest_begin(&nearest, name, strlen(name));
	for (const struct option *option = names->list; option->name && !fault->letter; option++) {
		if (command_has(names, option->val))
			nearest_try(&nearest, option->name);
	}
	if (instead)
		snprintf(why, OPTION_WHY_BYTES, "%s: no such option; in place of it: %s",
			 fault->typed, instead);
	else if (nearest.found)
		snprintf(why, OPTION_WHY_BYTES, "%s: no such option; is --%s meant?", fault->typed,
			 nearest.found);
	else
		snprintf(why, OPTION_WHY_BYTES, "%s: no such option", fault->typed);
}

void option_fault_tell(const struct option_fault *fault, const struct option_names *names,
		       const char *instead, char why[OPTION_WHY_BYTES])
{
	switch (fault->kind) {
	case OPTION_FAULT_NEEDS_VALUE:
		snprintf(why, OPTION_WHY_BYTES, "%s: a value is needed", fault->typed);
		break;
	case OPTION_FAULT_TAKES_NO_VALUE:
		snprintf(why, OPTION_WHY_BYTES, "%s: it takes no value", fault->typed);
		break;
	case OPTION_FAULT_AMBIGUOUS:
		tell_ambiguous(fault, names, why);
		break;
	default:
		tell_unknown(fault, names, instead, why);
	}
}
