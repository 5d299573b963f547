// SPDX-License-Identifier: Apache-2.0
/* What was found, as JSON, see doctor.h. */
#include "inspect/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_BYTES 2048

static const char *const state_names[FINDING_STATES] = {"ok", "note", "problem"};

/* Text from outside may be no UTF-8, and may steer a terminal; both become '?'. */
static json_t *clean_text(const char *text)
{
	char clean[TEXT_BYTES];
	json_t *value;
	size_t len = 0;

	for (; text[len] && len < sizeof(clean) - 1; len++) {
		const unsigned char c = (unsigned char)text[len];

		clean[len] = c < 0x20 || c == 0x7f ? '?' : text[len];
	}
	clean[len] = '\0';
	value = json_string(clean);
	for (size_t i = 0; !value && i < len; i++) {
		if ((unsigned char)clean[i] >= 0x80)
			clean[i] = '?';
	}
	return value ? value : json_string(clean);
}

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
	json_object_set_new(object, "object", clean_text(finding->object ? finding->object : ""));
	json_object_set_new(object, "what", clean_text(what));
	if (fix && finding->state != FINDING_OK)
		json_object_set_new(object, "fix", clean_text(fix));
	json_array_append_new(doctor->findings, object);
	doctor->counts[finding->state]++;
}
