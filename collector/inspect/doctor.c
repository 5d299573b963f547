// SPDX-License-Identifier: Apache-2.0
/* Findings as JSON, see doctor.h. */
#include "inspect/doctor.h"

#include "base/json_value.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_BYTES 2048

static const char *const state_names[FINDING_STATES] = {"ok", "note", "problem"};

void doctor_say(struct doctor *doctor, const struct finding *finding, const char *fix,
		const char *what_format, ...)
{
	json_t *object = json_object();
	char what[TEXT_BYTES];
	va_list args;

	va_start(args, what_format);
	vsnprintf(what, sizeof(what), what_format, args);
	va_end(args);
	json_object_set_new(object, "check", json_string(finding->check));
	json_object_set_new(object, "state", json_string(state_names[finding->state]));
	json_object_set_new(object, "object", json_value_new_text(finding->object));
	json_object_set_new(object, "what", json_value_new_text(what));
	if (fix && finding->state != FINDING_OK)
		json_object_set_new(object, "fix", json_value_new_text(fix));
	json_array_append_new(doctor->findings, object);
	doctor->counts[finding->state]++;
}
