// SPDX-License-Identifier: Apache-2.0
/* What jansson leaves to those who use it, see json_value.h. */
#include "base/json_value.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

json_t *json_value_new_text(const char *text)
{
	const size_t len = text ? strlen(text) : 0;
	_cleanup_free_ char *clean = malloc(len + 1);

	if (!clean)
		return NULL;
	utf8_clean(text, len, clean, len + 1);
	return json_string(clean);
}
