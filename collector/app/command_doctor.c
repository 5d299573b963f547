// SPDX-License-Identifier: Apache-2.0
/* fgcollect doctor: says what is in the way, and how to remove it. Exit 0 if nothing is. */
#include "app/commands.h"
#include "app/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void print_findings(const struct doctor *doctor)
{
	json_t *finding;
	size_t i;

	json_array_foreach (doctor->findings, i, finding) {
		const char *state = text_at(finding, "state"), *object = text_at(finding, "object");

		printf("%-8s %s: %s%s%s\n", state[0] == 'p' ? "PROBLEM" : state,
		       text_at(finding, "check"), object, object[0] ? " " : "",
		       text_at(finding, "what"));
		if (text_at(finding, "fix")[0])
			printf("%-8s   fix: %s\n", "", text_at(finding, "fix"));
	}
	if (doctor->counts[FINDING_PROBLEM] > 0)
		printf("\n%zu problem%s: profiles will not be whole.\n",
		       doctor->counts[FINDING_PROBLEM],
		       doctor->counts[FINDING_PROBLEM] > 1 ? "s" : "");
	else
		printf("\nNo problem: profiles will be whole.\n");
}

static void print_json(const struct doctor *doctor)
{
	json_t *report =
		json_pack("{s:s, s:b, s:O}", "version", FG_VERSION, "whole",
			  doctor->counts[FINDING_PROBLEM] == 0, "findings", doctor->findings);

	json_dumpf(report, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(report);
}

int command_doctor(const struct options *options)
{
	struct doctor doctor = {.options = options, .findings = json_array()};
	json_t *list = NULL;

	doctor_check_host(&doctor);
	doctor_check_places(&doctor);
	command_list_ask(options, &list);
	doctor_check_jvms(&doctor, list);
	if (options->json)
		print_json(&doctor);
	else
		print_findings(&doctor);
	json_decref(list);
	json_decref(doctor.findings);
	if (fflush(stdout) != 0)
		return EXIT_FAILURE;
	return doctor.counts[FINDING_PROBLEM] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
