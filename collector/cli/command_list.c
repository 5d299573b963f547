// SPDX-License-Identifier: Apache-2.0
/* fgcollect list: what the daemon knows; without one, whoever dials within a moment. */
#include "cli/commands.h"
#include "inspect/jvm_list.h"
#include "loop/engine.h"
#include "serve/control.h"
#include "serve/control_client.h"
#include "serve/counted.h"
#include "serve/dial_wait.h"
#include "serve/request.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

#define DIAL_NS	 (4000 * CLOCK_NS_PER_MS) /* agents dial once a second, later on a busy host */
#define NAMES_NS (1000 * CLOCK_NS_PER_MS) /* for names of containers that are being read */
#define STEP_NS	 (50 * CLOCK_NS_PER_MS)
#define LIMIT_NS (15 * CLOCK_NS_PER_SEC)

static int list_of_daemon(const struct options *options, json_t **ret)
{
	struct control_client *client;
	json_t *request, *answer;
	int err = control_client_open(options->socket_path, &client);

	if (err)
		return err;
	request = json_object();
	json_object_set_new(request, "op", json_string("list"));
	request_put_list(&options->recording, request);
	err = control_client_ask(client, request, &answer, NULL);
	if (!err) {
		*ret = json_incref(json_object_get(answer, "list"));
		json_decref(answer);
	}
	control_client_close(client);
	return err;
}

/* Waits until every agent has dialled and told all code. */
static void wait_for_agents(struct engine *engine)
{
	const struct recording_options all = {0};
	const uint64_t start = clock_now_ns();
	uint32_t connected = 0, current = 0;
	struct dial_wait wait;
	uint64_t waited = 0;
	bool is_done = false;

	dial_wait_begin(&wait, engine, &all);
	while (!engine->is_interrupted && !is_done) {
		engine_step(engine, dial_wait_pause_ns(&wait, STEP_NS));
		engine_count_jvms(engine, &connected, &current);
		waited = clock_now_ns() - start;
		is_done = dial_wait_step(&wait, clock_now_ns()) || waited > DIAL_NS;
		is_done = is_done && (current >= connected || waited > LIMIT_NS);
	}
	dial_wait_end(&wait);
}

static int list_alone(const struct options *options, json_t **ret)
{
	const struct engine_options engine_options = {
		.socket_path = options->socket_path,
		.map_dir = options->map_dir,
		.table_bytes = options->table_bytes,
	};
	struct engine engine;
	char why[DIAGNOSE_BYTES];
	int err = engine_open(&engine, &engine_options);

	if (err)
		return err;
	engine.outputs.style = options->map_style;
	engine.targets.names_wait_ns = NAMES_NS;
	wait_for_agents(&engine);
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
