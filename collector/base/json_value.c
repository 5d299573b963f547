// SPDX-License-Identifier: Apache-2.0
/* What jansson leaves to those who use it, see json_value.h. */
#include "base/json_value.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

const char *json_value_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

json_int_t json_value_int(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

uint64_t json_value_count(const json_t *object, const char *key)
{
	const json_int_t value = json_value_int(object, key);

	return value > 0 ? (uint64_t)value : 0;
}

bool json_value_bool(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

void json_value_put_count(json_t *object, const char *key, uint64_t count)
{
	json_object_set_new(object, key, json_integer((json_int_t)count));
}

json_t *json_value_new_text(const char *text)
{
	const size_t len = text ? strlen(text) : 0;
	_cleanup_free_ char *clean = malloc(len + 1);

	if (!clean)
		return NULL;
	utf8_clean(text, len, clean, len + 1);
	return json_string(clean);
}
