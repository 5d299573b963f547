// SPDX-License-Identifier: Apache-2.0
/* fgcollect doctor: says what is in the way, and how to remove it. Exit 0 if nothing is. */
#include "base/json_value.h"
#include "base/reach.h"
#include "cli/commands.h"
#include "inspect/doctor_daemon.h"
#include "serve/control_client.h"

#include <stdio.h>
#include <stdlib.h>

static void print_findings(const struct doctor *doctor)
{
	json_t *finding;
	size_t i;

	json_array_foreach (doctor->findings, i, finding) {
		const char *state = json_value_text(finding, "state"),
			   *object = json_value_text(finding, "object");

		printf("%-8s %s: %s%s%s\n", state[0] == 'p' ? "PROBLEM" : state,
		       json_value_text(finding, "check"), object, object[0] ? " " : "",
		       json_value_text(finding, "what"));
		if (json_value_text(finding, "fix")[0])
			printf("%-8s   fix: %s\n", "", json_value_text(finding, "fix"));
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

/* Whether a daemon answers. If it may not be asked, why is said on stderr. */
static bool has_daemon(const struct options *options)
{
	struct control_client *client;

	if (control_client_open(options->socket_path, &client) < 0)
		return false;
	control_client_close(client);
	return true;
}

int command_doctor(const struct options *options)
{
	struct doctor doctor = {.socket_path = options->socket_path,
				.map_dir = options->map_dir,
				.stack_bytes = options->recording.stack_bytes,
				.source = options->recording.source,
				.findings = json_array()};
	struct doctor_daemons daemons = {.answers = has_daemon(options)};
	json_t *list = NULL;

	doctor_daemons_look(&daemons, options->socket_path);
	doctor_check_host(&doctor);
	doctor_check_places(&doctor);
	doctor_check_daemons(&doctor, &daemons);
	command_list_ask(options, &list);
	reach_start(); /* what agents have chosen may never answer; without it, the doctor waits */
	doctor_check_jvms(&doctor, list);
	reach_stop();
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
