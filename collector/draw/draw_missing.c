// SPDX-License-Identifier: Apache-2.0
/* Options that users know from other tools, see draw_missing.h. */
#include "draw/draw_missing.h"

#include "options/tables.h"

#include <stddef.h>
#include <string.h>

const char *draw_missing_find(const char *option)
{
	for (const struct missing_option *missing = missing_options; missing->name; missing++)
		if (strcmp(missing->name, option) == 0)
			return missing->instead;
	return NULL;
}
