// SPDX-License-Identifier: Apache-2.0
/* fgcollect --watch: keeps every JVM's map current and records when it is asked to. */
#include "cli/commands.h"
#include "loop/engine.h"
#include "guard/announced.h"
#include "serve/control.h"
#include "serve/daemon.h"
#include "serve/service.h"

#include "base/capability.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/root_file.h"
#include "container/place_name.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The container or user to whom lines about the process belong, as a line says it. */
static void name_owner(const struct process *process, char *ret, size_t size)
{
	const struct owner owner = process->owner;

	if (process->container_id[0])
		snprintf(ret, size, "container %.64s", process->container_id);
	else if (owner.user < OWNER_ALL)
		snprintf(ret, size, "user %" PRIu64, owner.user);
	else
		snprintf(ret, size, "a user that is not known");
}

/* Whether a line may say so. What is left out is summed up, by container and user. */
static bool may_announce(struct log_share *share, const struct process *process)
{
	char name[LOG_LIMIT_NAME];

	name_owner(process, name, sizeof(name));
	return log_share_allows(share, process->group, name, clock_now_ns());
}

/* The lines about JVMs. */
struct announcing {
	struct log_share share;
	struct announced announced;
};

/* Logs each JVM once when it has come, and once when it has ended. Tools that pass are none. */
static void announce(struct engine *engine, struct announcing *announcing)
{
	struct process *process;
	char called[PLACE_NAME_BYTES];
	size_t pos = 0;

	while ((process = targets_next(&engine->targets, &pos))) {
		const bool is_here = process->jvm && process->jvm->state == JVM_CURRENT &&
				     (engine->outputs.keeps_tools || !process_is_passing(process));
		const bool is_gone = process->jvm && process->gone_ns;

		if (is_here && !process->was_announced) {
			process_write_called(process, called, sizeof(called));
			if (announced_add(&announcing->announced, process->pid,
					  process->start_ticks) &&
			    may_announce(&announcing->share, process))
				log_info("PID %d: %s, %s", (int)process->pid, called,
					 process->container_id[0] ? process->container_id
								  : "no container");
			process->was_announced = true;
		} else if (is_gone && process->was_announced) {
			if (may_announce(&announcing->share, process))
				log_info("PID %d: ended", (int)process->pid);
			announced_remove(&announcing->announced, process->pid);
			process->was_announced = false;
		}
	}
	log_share_step(&announcing->share, "lines about JVMs that came or ended", clock_now_ns());
}

static int watch(struct engine *engine, const struct options *options)
{
	struct control *control = NULL;
	const struct daemon_options how = {.watch = &options->watch,
					   .recording = &options->recording,
					   .socket_path = options->socket_path};
	struct announcing announcing = {0};
	struct daemon daemon = {0};
	int err = control_open(engine, options->socket_path, &daemon.counts, &control);

	if (err)
		return err;
	err = daemon_open(&daemon, engine, &how);
	if (!err)
		log_info("watching at %s, maps in %s", options->socket_path, options->map_dir);
	while (!err && !engine->is_interrupted) {
		engine_step(engine, daemon_wait_ns(&daemon));
		daemon_step(&daemon);
		announce(engine, &announcing);
	}
	service_stopping(&daemon.service);
	control_finish(control);
	daemon_close(&daemon);
	control_close(control);
	announced_fini(&announcing.announced);
	return err;
}

/* The capability to listen on a port below 1024, if one is asked for. */
/* Without openat2 nothing that a container or another user may have changed is opened. */
static void say_if_files_are_refused(void)
{
	_cleanup_close_ const int fd = root_file_open_at(AT_FDCWD, "/", O_PATH, 0);

	if (fd < 0)
		log_warning("openat2 is refused: %s: files of processes give no names, and no perf "
			    "maps are written: let the seccomp profile allow openat2, which "
			    "RestrictSUIDSGID= of a systemd unit does not",
			    strerror(-fd));
}

static uint64_t capabilities_for(const struct watch_options *options)
{
	for (size_t i = 0; i < options->n_http; i++) {
		/* Addresses of both families have the port at the same place. */
		const struct sockaddr_in *const address = (const void *)&options->http[i].addr;

		if (!options->http[i].unix_path && ntohs(address->sin_port) < IPPORT_RESERVED)
			return UINT64_C(1) << CAP_NET_BIND_SERVICE;
	}
	return 0;
}

int command_watch(const struct options *options)
{
	const struct engine_options engine_options = {
		.socket_path = options->socket_path,
		.map_dir = options->map_dir,
		.map_bytes = options->watch.map_bytes,
		.memory_bytes = options->watch.memory_bytes,
		.jitdump_dir = options->jitdump_dir,
		.table_bytes = options->table_bytes,
		.dump = &options->dump,
		.capabilities = capabilities_for(&options->watch),
	};
	struct engine engine;
	int err;

	log_be_bounded();
	err = engine_open(&engine, &engine_options);
	if (err)
		return EXIT_FAILURE;
	engine.outputs.style = options->map_style;
	say_if_files_are_refused();
	err = watch(&engine, options);
	engine_close(&engine);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
