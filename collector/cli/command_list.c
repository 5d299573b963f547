// SPDX-License-Identifier: Apache-2.0
/* fgcollect list: what the daemon knows; without one, whoever dials within a moment. */
#include "cli/commands.h"
#include "inspect/jvm_list.h"
#include "live/engine.h"
#include "serve/control.h"
#include "serve/control_client.h"
#include "serve/counted.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

#define REDIAL_NS (1200 * CLOCK_NS_PER_MS)
#define NAMES_NS  (1000 * CLOCK_NS_PER_MS) /* for names of containers that are being read */
#define STEP_NS	  (50 * CLOCK_NS_PER_MS)
#define LIMIT_NS  (15 * CLOCK_NS_PER_SEC)

static int list_of_daemon(const struct options *options, json_t **ret)
{
	struct control_client *client;
	json_t *request, *answer;
	int err = control_client_open(options->socket_path, &client);

	if (err)
		return err;
	request = json_object();
	json_object_set_new(request, "op", json_string("list"));
	control_targets_to_json(&options->recording, request);
	err = control_client_ask(client, request, &answer, NULL);
	if (!err) {
		*ret = json_incref(json_object_get(answer, "list"));
		json_decref(answer);
	}
	control_client_close(client);
	return err;
}

static int list_alone(const struct options *options, json_t **ret)
{
	const struct engine_options engine_options = {
		.socket_path = options->socket_path,
		.map_dir = options->map_dir,
		.table_bytes = options->table_bytes,
	};
	const uint64_t start = clock_now_ns();
	struct engine engine;
	uint32_t connected = 0, current = 0;
	char why[DIAGNOSE_BYTES];
	uint64_t waited = 0;
	int err = engine_open(&engine, &engine_options);

	if (err)
		return err;
	engine.targets.map_style = options->map_style;
	engine.targets.names_wait_ns = NAMES_NS;
	while (!engine.is_interrupted &&
	       (waited < REDIAL_NS || (current < connected && waited < LIMIT_NS))) {
		engine_step(&engine, STEP_NS);
		engine_count_jvms(&engine, &connected, &current);
		waited = clock_now_ns() - start;
	}
	targets_settle_names(&engine.targets);
	*ret = jvm_list_to_json(&engine.targets, counted_list(&engine, NULL));
	if (!*ret)
		err = -ENOMEM;
	else
		err = jvm_list_select(*ret, &options->recording, &engine.targets,
				      options->socket_path, why);
	if (err == -EAGAIN)
		log_error("%s", why);
	engine_close(&engine);
	return err;
}

int command_list_ask(const struct options *options, json_t **ret)
{
	const int err = list_of_daemon(options, ret);

	return err == -ENOENT ? list_alone(options, ret) : err;
}

int command_list(const struct options *options)
{
	json_t *list = NULL;

	if (command_list_ask(options, &list) < 0 || !list)
		return EXIT_FAILURE;
	if (options->json) {
		json_dumpf(list, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		if (json_array_size(json_object_get(list, "jvms")) == 0)
			log_info("no JVM with the agent is connected at %s", options->socket_path);
		jvm_list_print(list, stdout);
	}
	json_decref(list);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
