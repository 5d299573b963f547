// SPDX-License-Identifier: Apache-2.0
/* Which options go together, see option_row.h. */
#include "options/option_row.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The option of that number, of any of the commands; NULL: none of them has it. */
static const struct option_row *find_row(const struct option_row *rows, int number,
					 unsigned commands)
{
	for (const struct option_row *row = rows; row->number; row++) {
		if (row->number == number && row->commands & commands)
			return row;
	}
	return NULL;
}

static const struct option_row *row_of(const struct options_given *given, int number,
				       unsigned commands)
{
	return find_row(given->rows, number, commands);
}

bool option_rows_have(const struct option_row *rows, int number, unsigned commands)
{
	return find_row(rows, number, commands) != NULL;
}

size_t options_given_most(int argc, char **argv)
{
	size_t letters = 1;

	for (int i = 0; i < argc; i++)
		letters += strlen(argv[i]);
	return letters;
}

void options_given_add(struct options_given *given, int number, const char *text)
{
	given->list[given->count++] = (struct option_given){row_of(given, number, ~0u), text};
}

const struct option_row *options_given_take(struct options_given *given, size_t place)
{
	struct option_given *const option = &given->list[place];
	const struct option_row *const row = row_of(given, option->row->number, given->command);

	if (row)
		option->row = row;
	else
		log_error("%s goes with %s", option->row->told, option->row->where);
	return row;
}

const char *options_given_text(const struct options_given *given, int number)
{
	const char *text = NULL;

	for (size_t i = 0; i < given->count; i++) {
		if (given->list[i].row->number == number)
			text = given->list[i].text;
	}
	return text;
}

const char *options_given_marked(const struct options_given *given, unsigned mark)
{
	for (size_t i = 0; i < given->count; i++) {
		if (given->list[i].row->marks & mark)
			return given->list[i].row->told;
	}
	return NULL;
}

/* Whether the word is one of those with commas between them. */
static bool is_in(const char *text, const char *word, size_t len)
{
	for (; *text; text += *text == ',') {
		const size_t n = strcspn(text, ",");

		if (n == len && memcmp(text, word, len) == 0)
			return true;
		text += n;
	}
	return false;
}

/*
 * The first word that is in the text, and its length; "" if words are NULL, which any text has.
 * NULL: none is.
 */
static const char *find_word(const char *words, const char *text, int *ret_len)
{
	*ret_len = 0;
	if (!words)
		return "";
	for (; *words; words += *words == ' ') {
		const size_t len = strcspn(words, " ");

		if (is_in(text, words, len)) {
			*ret_len = (int)len;
			return words;
		}
		words += len;
	}
	return NULL;
}

/* Says that two options do not go together. */
static void say_not(const struct options_given *given, const struct option_given *option,
		    const struct option_rule *rule, const struct option_other *other, char *why)
{
	int own_len, len;
	const char *const own = find_word(rule->own, option->text, &own_len);
	const char *const word =
		find_word(other->words, options_given_text(given, other->number), &len);

	snprintf(why, OPTION_WHY_BYTES, "%s%s%.*s does not go with %s%s%.*s%s%s", option->row->told,
		 own_len ? " " : "", own_len, own, row_of(given, other->number, ~0u)->told,
		 len ? " " : "", len, word, rule->why ? ": " : "", rule->why ? rule->why : "");
}

static int check_rule(const struct options_given *given, const struct option_given *option,
		      const struct option_rule *rule, char *why)
{
	int len;

	if (!(rule->commands & given->command) || !find_word(rule->own, option->text, &len))
		return 0;
	for (const struct option_other *other = rule->list; other->number; other++) {
		const char *const text = options_given_text(given, other->number);

		if (!text || !find_word(other->words, text, &len))
			continue;
		if (rule->is_needed)
			return 0;
		say_not(given, option, rule, other, why);
		return -EINVAL;
	}
	if (!rule->is_needed)
		return 0;
	snprintf(why, OPTION_WHY_BYTES, "%s goes with %s%s%s", option->row->told, rule->others,
		 rule->why ? ": " : "", rule->why ? rule->why : "");
	return -EINVAL;
}

int options_given_check(const struct options_given *given, char why[OPTION_WHY_BYTES])
{
	int err = 0;

	for (size_t i = 0; !err && i < given->count; i++) {
		const struct option_given *const option = &given->list[i];

		/* Of an option that is given more than once, the last value counts. */
		if (options_given_text(given, option->row->number) != option->text)
			continue;
		for (size_t n = 0; !err && n < option->row->n_rules; n++)
			err = check_rule(given, option, &option->row->rules[n], why);
	}
	return err;
}
