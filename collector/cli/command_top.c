// SPDX-License-Identifier: Apache-2.0
/*
 * fgcollect top: through the daemon if there is one, else in this process. The window is asked for
 * when a table is due; everything else, on the screen, is done with what was asked for last.
 */
#include "cli/commands.h"
#include "top/held_log.h"
#include "cli/progress.h"
#include "cli/recorder.h"
#include "recording/report.h"

#include "base/clock.h"
#include "base/log.h"
#include "top/top_print.h"
#include "top/top_screen.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXIT_USAGE   2
#define ROWS_OF_TEXT 40
#define ROWS_OF_JSON 500
#define FIRST_NS     (1 * CLOCK_NS_PER_SEC) /* until the first table, which shows this time */
#define PATIENCE_NS  (1 * CLOCK_NS_PER_SEC) /* more, for a table of too little time */
#define HOLDING_NS   (HOLD_NS + 100 * CLOCK_NS_PER_MS) /* delay of samples */

struct top {
	const struct options *options;
	struct recorder *recorder;
	struct top_view view;
	struct window_copy copy;
	struct recording_status status;
	struct top_facts facts;
	char target[160], summary[REPORT_BYTES + 256], quality[REPORT_BYTES];
	struct held_log log;
	uint64_t begun_ns; /* the command */
};

static void say_pids(const struct recording_options *options, char *ret, size_t size)
{
	snprintf(ret, size, "PID %d", (int)options->pid);
	for (size_t i = 0; i < options->n_more_pids; i++) {
		const size_t len = strlen(ret);

		snprintf(ret + len, size - len, ", %d", (int)options->more_pids[i]);
	}
}

/* Says what is recorded. */
static void say_target(const struct recording_options *options, char *ret, size_t size)
{
	if (options->pid > 0)
		say_pids(options, ret, size);
	else if (!selector_is_empty(&options->select))
		selector_say(&options->select, ret, size);
	else
		snprintf(ret, size, "%s", options->all ? "all processes" : "all JVMs");
}

static const struct profile_kind *kind_shown(const struct top *top)
{
	const struct recording_status *const status = &top->status;

	return status->n_parts ? status->parts[0].kind->profile : &profile_kind_cpu;
}

/* Says which stacks are in the table. Only profiles of time have threads that wait. */
static void say_waits(const struct top *top, char ret[WAITS_SAY_BYTES])
{
	const struct top_choice *choice = &top->view.choice;

	waits_say(&top->view.table.waits, &choice->waits, top_choice_way(choice), kind_shown(top),
		  ret);
}

static void say_summary(struct top *top)
{
	const struct recording_options *recording = &top->options->recording;
	const double seconds = (double)top->copy.covered_ns / 1e9;
	const double rate = seconds > 0 ? (double)top->copy.quality.samples / seconds : 0;
	const char *state = top->status.is_done ? ", ended" : "";
	const struct profile_kind *const kind = kind_shown(top);
	char jvms[32], said[WAITS_SAY_BYTES], amount[PROFILE_AMOUNT_BYTES];
	char cores[PROFILE_CORES_BYTES];

	say_waits(top, said);
	if (kind != &profile_kind_cpu && !profile_kind_is_of_threads(kind)) {
		snprintf(top->summary, sizeof(top->summary),
			 "%s%s%s: %s%s%s a second (%s), last %.1f s", top->target,
			 top->view.is_paused ? " [paused]" : "", state,
			 report_jvms(top->status.jvms, jvms), top->status.jvms ? ", " : "",
			 profile_kind_amount(kind, (uint64_t)(rate + 0.5), amount), kind->name,
			 seconds);
		return;
	}
	if (profile_kind_is_of_threads(kind)) {
		snprintf(top->summary, sizeof(top->summary),
			 "%s%s%s: %s%s%.1f threads (%s), read %u times a second, last %.1f s%s%s",
			 top->target, top->view.is_paused ? " [paused]" : "", state,
			 report_jvms(top->status.jvms, jvms), top->status.jvms ? ", " : "",
			 rate / 1e6, kind->name, top->status.wall_hz, seconds, said[0] ? "; " : "",
			 said);
		return;
	}
	profile_cores_text(top->copy.quality.samples *
				   profile_cpu_period_ns(top->status.event, recording->hz),
			   top->copy.covered_ns, cores);
	snprintf(top->summary, sizeof(top->summary),
		 "%s%s%s: %s%s%s%s%.0f samples/s of %s at %u Hz, last %.1f s%s%s", top->target,
		 top->view.is_paused ? " [paused]" : "", state, report_jvms(top->status.jvms, jvms),
		 top->status.jvms ? ", " : "", cores, cores[0] ? ", " : "", rate, top->status.event,
		 recording->hz, seconds, said[0] ? "; " : "", said);
}

static void say_facts(struct top *top)
{
	struct top_facts *facts = &top->facts;
	const struct profile_kind *const kind = kind_shown(top);
	const uint64_t untimed = top->copy.timeline.lost_samples;
	char amount[PROFILE_AMOUNT_BYTES];
	size_t len;

	say_summary(top);
	report_quality(kind, &top->copy.quality, top->quality);
	len = strlen(top->quality);
	if (untimed > 0)
		snprintf(top->quality + len, sizeof(top->quality) - len, ", %s in no row",
			 profile_kind_amount(kind, untimed, amount));
	report_outside(top->status.outside, top->quality);
	*facts = (struct top_facts){
		.target = top->target,
		.kind = kind,
		.event = top->status.event,
		.summary = top->summary,
		.quality = top->quality,
		.hz = top->options->recording.hz,
		.jvms = top->status.jvms,
		.time_unix_s = (double)clock_unix_now_ns() / 1e9,
		.window_s = (double)top->copy.covered_ns / 1e9,
		.figures = top->copy.quality,
		.untimed = untimed,
	};
}

/*
 * Starts the recording again. A daemon forgets a recording that nobody asks for, for example while
 * this process was stopped.
 */
static int start_again(struct top *top)
{
	return top->recorder->ops->start(top->recorder, &top->options->recording);
}

/* The share of a core that one sample is; 0: samples are not of processor time. */
static double sample_cores(const struct top *top)
{
	const uint64_t period_ns =
		profile_cpu_period_ns(top->status.event, top->options->recording.hz);

	if (kind_shown(top) != &profile_kind_cpu || top->copy.covered_ns == 0)
		return 0;
	return (double)period_ns / (double)top->copy.covered_ns;
}

static int look(struct top *top)
{
	struct window_copy copy = {0};
	struct recording_status status;
	int err = top->recorder->ops->window(top->recorder, &status, &copy);

	if (err == -EREMOTEIO && start_again(top) == 0)
		err = top->recorder->ops->window(top->recorder, &status, &copy);
	if (err)
		return err;
	top_view_show(&top->view, NULL, NULL);
	window_copy_fini(&top->copy);
	top->copy = copy;
	top->status = status;
	top->view.sample_cores = sample_cores(top);
	return top_view_show(&top->view, &top->copy.profile, &top->copy.timeline);
}

/* ---- plain text and JSON ---- */

static unsigned terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col > 0 ? size.ws_col : 80;
}

static int print_json(const struct top *top)
{
	const size_t rows = top->options->top.rows ? top->options->top.rows : ROWS_OF_JSON;
	json_t *object = top_to_json(&top->view, &top->facts, rows);
	int failed =
		!object || json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(13)) < 0;

	json_decref(object);
	putchar('\n');
	failed |= fflush(stdout) != 0;
	return failed ? -EIO : 0;
}

static int print_table(const struct top *top)
{
	const size_t rows = top->options->top.rows ? top->options->top.rows : ROWS_OF_TEXT;

	top_print(&top->view, &top->facts, terminal_width(), rows, stdout);
	if (!top->options->top.is_once)
		putchar('\n');
	return fflush(stdout) == 0 ? 0 : -EIO;
}

/* Sampling begins when its events are open, which on a busy host takes a while. */
static int look_for_long(struct top *top)
{
	const uint64_t end_ns = clock_now_ns() + PATIENCE_NS;
	int err = look(top);

	while (!err && top_options_is_too_short(&top->options->top, top->copy.covered_ns) &&
	       clock_now_ns() < end_ns && !top->recorder->ops->is_interrupted(top->recorder)) {
		err = top->recorder->ops->wait(top->recorder, -1, PATIENCE_NS / 10);
		err = err ? err : look(top);
	}
	return err;
}

static int print(struct top *top)
{
	int err = look_for_long(top);

	if (err)
		return err;
	say_facts(top);
	err = top->options->json ? print_json(top) : print_table(top);
	if (err)
		log_error("cannot write the table: %s", strerror(-err));
	return err;
}

/* Prints a table at each interval, or one table. */
static int run_plain(struct top *top)
{
	const struct top_options *options = &top->options->top;
	const uint64_t start_ns = clock_now_ns();
	uint64_t due_ns = start_ns + HOLDING_NS +
			  top_options_first_ns(options, start_ns - top->begun_ns, HOLDING_NS);
	int err = 0;

	do {
		uint64_t now = clock_now_ns();

		while (!err && now < due_ns && !top->recorder->ops->is_interrupted(top->recorder)) {
			err = top->recorder->ops->wait(top->recorder, -1, due_ns - now);
			now = clock_now_ns();
		}
		if (!err)
			err = print(top);
		due_ns += options->delay_ns;
	} while (!err && !options->is_once && !top->status.is_done &&
		 !top->recorder->ops->is_interrupted(top->recorder));
	return err;
}

/* ---- the screen ---- */

static bool is_hung_up(void)
{
	struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&polled, 1, 0) > 0 && (polled.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Handles all keys that wait. Returns whether there were any, or a resize. */
static bool take_keys(struct top *top)
{
	bool is_resized = false;
	uint32_t key;
	bool any = false;

	while ((key = top_screen_key(&is_resized)) != TOP_KEY_NONE) {
		if (top_view_key(&top->view, key, top_screen_page()) < 0)
			snprintf(top->view.note, sizeof(top->view.note), "out of memory");
		any = true;
	}
	if (is_resized)
		top_view_scroll(&top->view, top_screen_page());
	return any || is_resized;
}

/* Waits for a key, a resize, a signal or due_ns. */
static int wait_for(struct top *top, uint64_t due_ns)
{
	const uint64_t now = clock_now_ns();

	if (now >= due_ns)
		return 0;
	return top->recorder->ops->wait(top->recorder, STDIN_FILENO, due_ns - now);
}

static void paint(struct top *top)
{
	char line[TOP_NOTE_BYTES];

	held_log_last(&top->log, line, sizeof(line));
	if (line[0])
		memcpy(top->view.note, line, sizeof(line));
	say_facts(top);
	top->facts.quality += strcspn(top->quality, " ") + 1; /* no "quality: ", for 80 columns */
	top_screen_paint(&top->view, &top->facts);
}

static int run_screen(struct top *top)
{
	uint64_t due_ns = clock_now_ns() + FIRST_NS + HOLDING_NS;
	int err = 0;

	paint(top);
	while (!err && !top->view.is_done && !is_hung_up() &&
	       !top->recorder->ops->is_interrupted(top->recorder)) {
		bool is_new;

		err = wait_for(top, due_ns);
		is_new = take_keys(top);
		if (!err && clock_now_ns() >= due_ns) {
			due_ns = clock_now_ns() + top->options->top.delay_ns;
			if (!top->view.is_paused)
				err = look(top);
			top_view_scroll(&top->view, top_screen_page());
			is_new = true;
		}
		if (!err && is_new)
			paint(top);
	}
	return err;
}

static int run(struct top *top, bool has_screen)
{
	int err = has_screen ? top_screen_open() : -ENOTTY;

	if (err)
		return run_plain(top);
	held_log_begin(&top->log);
	err = run_screen(top);
	top_screen_close();
	held_log_end(&top->log);
	return err;
}

static int take_options(struct top *top)
{
	const struct top_options *options = &top->options->top;

	top_view_init(&top->view);
	top->view.mode = options->mode;
	top->view.sort = options->sort;
	top->view.choice.waits = top->options->render.waits;
	top->log = (struct held_log){.fd = -1, .real_fd = -1};
	say_target(&top->options->recording, top->target, sizeof(top->target));
	return options->filter ? top_view_set_filter(&top->view, options->filter) : 0;
}

int command_top(const struct options *options)
{
	const bool is_plain = options->json || options->top.is_once;
	static struct top top;
	int err;

	setlocale(LC_CTYPE, "");
	if (!is_plain && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error("top needs a terminal: give it --once for one table as plain text, or "
			  "--json for an object every two seconds");
		return EXIT_USAGE;
	}
	top.options = options;
	top.begun_ns = clock_now_ns();
	err = take_options(&top);
	if (!err)
		err = recorder_open(options, &top.recorder);
	if (!err) {
		err = top.recorder->ops->start(top.recorder, &options->recording);
		progress_clear();
		if (!err)
			err = run(&top, !is_plain);
		top.recorder->ops->close(top.recorder);
	}
	top_view_fini(&top.view);
	window_copy_fini(&top.copy);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
