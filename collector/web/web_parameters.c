// SPDX-License-Identifier: Apache-2.0
/* Keeps the parameters of a request, see web_parameters.h. */
#include "web/web_parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct web_parameters *parameters)
{
	const size_t size = parameters->size ? parameters->size * 2 : 16;
	struct web_parameter *all;

	if (parameters->n < parameters->size)
		return 0;
	if (parameters->n == WEB_MAX_PARAMETERS)
		return -E2BIG;
	all = realloc(parameters->all, size * sizeof(*all));
	if (!all)
		return -ENOMEM;
	parameters->all = all;
	parameters->size = size;
	return 0;
}

int web_parameters_add(struct web_parameters *parameters, const char *name, size_t name_len,
		       const char *value, size_t value_len)
{
	int err = make_room(parameters);
	char *both;

	if (err)
		return err;
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
