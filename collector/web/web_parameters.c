// SPDX-License-Identifier: Apache-2.0
/* Keeps the parameters of a request, see web_parameters.h. */
#include "web/web_parameters.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int web_parameters_add(struct web_parameters *parameters, const char *name, size_t name_len,
		       const char *value, size_t value_len)
{
	char *both;

	if (parameters->n == WEB_MAX_PARAMETERS)
		return -E2BIG;
	if (ARRAY_RESERVE(parameters->all, parameters->size, parameters->n + 1) < 0)
		return -ENOMEM;
	if (memchr(name, '\0', name_len) || (value && memchr(value, '\0', value_len)))
		return -EINVAL;
	both = calloc(1, name_len + value_len + 2);
	if (!both)
		return -ENOMEM;
	memcpy(both, name, name_len);
	if (value)
		memcpy(both + name_len + 1, value, value_len);
	parameters->all[parameters->n++] = (struct web_parameter){both, both + name_len + 1};
	return 0;
}

void web_parameters_fini(struct web_parameters *parameters)
{
	for (size_t i = 0; i < parameters->n; i++)
		free(parameters->all[i].name);
	free(parameters->all);
	*parameters = (struct web_parameters){0};
}
