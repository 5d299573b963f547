// SPDX-License-Identifier: Apache-2.0
/*
 * Looks for what is meant, first among the processes that are known, see starting.h. If nothing
 * fits, all processes of the host are read, so that the message can say what there is instead.
 */
#include "serve/starting.h"

#include "base/clock.h"
#include "base/process_stat.h"
#include "capture/recording_capture.h"

#include <errno.h>
#include <stdlib.h>

enum phase {
	SURVEY, /* of all processes of the host */
	NAMES,	/* of JVMs without an agent are being read */
	LOOK,	/* at the processes that are known */
	EXPECT, /* processes that may be known in a moment */
	AGAIN,	/* a second look and expectation: names may have been read meanwhile */
	DECIDE,
	OPEN, /* the sampler */
};

/* The next phase after a look at processes all of which are not meant. */
static enum phase after_none(struct starting *starting)
{
	if (starting->has_expected && starting->survey.is_done && !starting->has_looked_again)
		return AGAIN;
	if (starting->options.pid > 0 || starting->survey.is_done ||
	    survey_begin(&starting->survey, &starting->engine->targets) < 0)
		return DECIDE;
	return SURVEY;
}

int starting_begin(const struct starting *demand, struct starting **ret)
{
	struct starting *const starting = calloc(1, sizeof(*starting));
	const struct recording_options *const options = &demand->options;

	if (!starting)
		return -ENOMEM;
	*starting = *demand;
	starting->phase = LOOK;
	starting->asks_names = selector_asks_names(&options->select);
	if (starting->asks_names) {
		targets_want_names(&starting->engine->targets);
		starting->options.last_pid = process_stat_last_pid();
	}
	if (recording_needs_survey(options))
		starting->phase = after_none(starting);
	*ret = starting;
	return 0;
}

/* Returns 0 if what is meant is known. message NULL: as diagnose_targets says. */
static int look(const struct starting *starting, char message[DIAGNOSE_BYTES])
{
	return diagnose_targets(&starting->options, &starting->engine->targets,
				starting->socket_path, message);
}

static enum phase after_look(struct starting *starting)
{
	const int err = look(starting, NULL);

	if (!err || err == -ENOTUNIQ)
		return DECIDE;
	if (starting->may_expect && !starting->has_expected &&
	    young_processes_begin(&starting->young_processes, starting->engine,
				  &starting->options) == 0)
		return EXPECT;
	return after_none(starting);
}

/* Whether the name that is meant may be one that is being read. */
static bool is_being_read(const struct starting *starting)
{
	return !selector_is_empty(&starting->options.select) &&
	       containers_are_asked(&starting->engine->targets.containers);
}

static enum starting_state decide(struct starting *starting)
{
	if (look(starting, starting->message))
		return starting->may_expect && is_being_read(starting) ? STARTING_EXPECTS
								       : STARTING_REFUSED;
	starting->error = engine_open_sampler(starting->engine, &starting->options,
					      starting->wake_fd, &starting->opening);
	starting->phase = OPEN;
	return starting->error ? STARTING_FAILED : STARTING_SLEEPS;
}

/* Who is named after the beginning is recorded from then on. */
static bool awaits_names(const struct starting *starting)
{
	return selector_needs_names(&starting->options.select) &&
	       targets_await_names(&starting->engine->targets, look(starting, NULL) == 0,
				   clock_now_ns());
}

enum starting_state starting_step(struct starting *starting, uint64_t until_ns)
{
	switch ((enum phase)starting->phase) {
	case SURVEY:
		if (survey_step(&starting->survey, &starting->engine->targets, until_ns))
			starting->phase = NAMES;
		return STARTING_GOES_ON;
	case NAMES:
		if (awaits_names(starting))
			return STARTING_SLEEPS;
		starting->phase = starting->has_expected ? AGAIN : LOOK;
		return STARTING_GOES_ON;
	case AGAIN:
		starting->has_looked_again = true;
		starting->has_expected = false;
		starting->phase = LOOK;
		return STARTING_GOES_ON;
	case LOOK:
		starting->phase = after_look(starting);
		return STARTING_GOES_ON;
	case EXPECT:
		if (!young_processes_step(&starting->young_processes, until_ns))
			return STARTING_GOES_ON;
		if (starting->young_processes.count > 0)
			return STARTING_EXPECTS;
		young_processes_end(&starting->young_processes);
		starting->has_expected = true;
		starting->phase = after_none(starting);
		return STARTING_GOES_ON;
	case DECIDE:
		return decide(starting);
	case OPEN:
		break;
	}
	return sampler_opening_is_done(starting->opening) ? STARTING_OPENED : STARTING_SLEEPS;
}

static int start(const struct starting *starting, struct sampler *sampler, struct recording **ret)
{
	struct engine *const engine = starting->engine;
	struct recording *recording;
	int err;

	err = engine_start_recording(engine, &starting->options, sampler, NULL, &recording);
	if (err || !starting->options.has_capture) {
		*ret = err ? NULL : recording;
		return err;
	}
	err = recording_capture_start(recording, &engine->model);
	if (err)
		engine_end_recording(engine, recording);
	else
		*ret = recording;
	return err;
}

int starting_end(struct starting *starting, struct recording **ret)
{
	struct sampler *sampler = NULL;
	int err = 0;

	if (starting->opening)
		err = sampler_opening_end(starting->opening, &sampler);
	if (!err && ret && sampler)
		err = start(starting, sampler, ret);
	else
		sampler_close(sampler);
	survey_end(&starting->survey, &starting->engine->targets);
	young_processes_end(&starting->young_processes);
	if (starting->asks_names)
		targets_unwant_names(&starting->engine->targets);
	free(starting);
	return err;
}
