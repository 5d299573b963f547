// SPDX-License-Identifier: Apache-2.0
/* What is so unless the command line says otherwise, see options.h. */
#include "cli/options.h"

#include "base/clock.h"
#include "intake/intake.h"

void options_init(struct options *options)
{
	*options = (struct options){
		.socket_path = INTAKE_DEFAULT_SOCKET,
		.map_dir = "/tmp",
		.log_level = LOG_LEVEL_INFO,
		.dump = {.stream = stderr},
		.recording = {.duration_ns = OPTIONS_DEFAULT_SECONDS * CLOCK_NS_PER_SEC,
			      .stack_bytes = SAMPLER_DEFAULT_STACK_BYTES},
	};
	watch_options_init(&options->watch);
}
