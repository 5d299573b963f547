// SPDX-License-Identifier: Apache-2.0
/* Asks one selection after the other, see selections.h. */
#include "process/selections.h"

#include <errno.h>
#include <stdlib.h>

int selections_init(struct selections *selections, const struct selector *selector)
{
	const size_t n = selector_alternatives(selector);
	struct selector alternative;
	int err = 0;

	*selections = (struct selections){.each = calloc(n, sizeof(*selections->each))};
	if (!selections->each)
		return -ENOMEM;
	while (!err && selections->n < n) {
		selector_alternative(selector, selections->n, &alternative);
		err = selection_init(&selections->each[selections->n], &alternative);
		selections->n += !err;
	}
	if (err)
		selections_fini(selections);
	return err;
}

void selections_fini(struct selections *selections)
{
	for (size_t i = 0; i < selections->n; i++)
		selection_fini(&selections->each[i]);
	free(selections->each);
	*selections = (struct selections){0};
}

void selections_limit(struct selections *selections, bool only_jvms)
{
	for (size_t i = 0; i < selections->n; i++)
		selections->each[i].only_jvms = only_jvms;
}

void selections_read_on(const struct selections *selections, const struct targets *targets,
			uint64_t for_ns)
{
	for (size_t i = 0; i < selections->n; i++)
		selection_read_on(&selections->each[i], targets, for_ns);
}

void selections_narrow(struct selections *selections, const struct targets *targets)
{
	for (size_t i = 0; i < selections->n; i++)
		selection_narrow(&selections->each[i], targets);
}

bool selections_want(struct selections *selections, const struct process *process)
{
	for (size_t i = 0; i < selections->n; i++) {
		if (selection_wants(&selections->each[i], process))
			return true;
	}
	return false;
}

bool selections_fit(const struct selections *selections, const struct process *process)
{
	for (size_t i = 0; i < selections->n; i++) {
		if (selection_fits(&selections->each[i], process))
			return true;
	}
	return false;
}
