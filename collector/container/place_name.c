// SPDX-License-Identifier: Apache-2.0
/* Chooses what a program is called, see place_name.h. */
#include "container/place_name.h"

#include "container/container.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_known(const char *text)
{
	return text && text[0];
}

const char *place_name_of(const struct place_name *name)
{
	if (is_known(name->pod) && !container_is_pod_uid(name->pod, strlen(name->pod)))
		return name->pod;
	if (is_known(name->container))
		return name->container;
	return is_known(name->service) ? name->service : "";
}

void place_name_write(const struct place_name *name, char *ret, size_t size)
{
	const char *const place = place_name_of(name);
	const char *const program = name->program ? name->program : "";

	if (!place[0] || strcmp(place, program) == 0)
		snprintf(ret, size, "%s", program);
	else
		snprintf(ret, size, "%s%s%s", place, program[0] ? ": " : "", program);
}
