// SPDX-License-Identifier: Apache-2.0
/* The options that choose targets by name, see target_options.h. */
#include "cli/target_options.h"

#include "base/log.h"

#include <assert.h>
#include <errno.h>

static_assert(TARGET_OPTIONS_END - TARGET_OPTION_CONTAINER == SELECTOR_PARTS, "one for each part");

bool target_options_are(int option)
{
	return option >= TARGET_OPTION_CONTAINER && option < TARGET_OPTIONS_END;
}

int target_options_apply(struct selector *selector, int option, const char *text)
{
	const struct selector_part *part = &selector_parts[option - TARGET_OPTION_CONTAINER];
	const char *why = part->set(selector, text);

	if (!why)
		return 0;
	log_error("--%s %s: %s", part->name, text, why);
	return -EINVAL;
}
