// SPDX-License-Identifier: Apache-2.0
/* Which of the two recorders it is, see recorder.h. */
#include "cli/recorder.h"

#include "base/log.h"

#include <errno.h>

/*
 * Opens the daemon's recorder, or a local one. With a daemon this process writes no maps, jitdumps
 * or tables, so their options are refused.
 */
int recorder_open(const struct options *options, struct recorder **ret)
{
	const int err = recorder_open_remote(options, ret);

	if (err == -ENOENT)
		return recorder_open_local(options, ret);
	if (err || (!options->map_names && !options->jitdump_dir && !options->table_bytes &&
		    !options->dump.kinds))
		return err;
	if (options->dump.kinds)
		log_error("--dump: a daemon records here: give --dump to fgcollect --watch, or "
			  "record past the daemon with a --socket of your own");
	else if (options->table_bytes)
		log_error("--symbol-cache %zu: a daemon keeps the tables here: give --symbol-cache "
			  "to fgcollect --watch",
			  options->table_bytes);
	else if (options->map_names)
		log_error("--map-names %s: a daemon writes the maps here: give --map-names to "
			  "fgcollect --watch",
			  options->map_names);
	else
		log_error(
			"--jitdump %s: a daemon records here: give --jitdump to fgcollect --watch",
			options->jitdump_dir);
	(*ret)->ops->close(*ret);
	return -EBUSY;
}
