// SPDX-License-Identifier: Apache-2.0
/*
 * What the loop would wait for, and what it waits for: the longest time of each call, on the clock
 * and of this thread's processor time. Run by hand, as root: long_calls [rounds] [busy processes]
 */
#include "base/clock.h"
#include "sample/sampler_opening.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BUSY 64

struct watch {
	uint64_t began_ns, began_cpu_ns;
	uint64_t longest_ns, longest_cpu_ns;
};

static void begin(struct watch *watch)
{
	watch->began_ns = clock_now_ns();
	watch->began_cpu_ns = clock_thread_ns();
}

static void end(struct watch *watch)
{
	const uint64_t ns = clock_now_ns() - watch->began_ns;
	const uint64_t cpu_ns = clock_thread_ns() - watch->began_cpu_ns;

	watch->longest_ns = ns > watch->longest_ns ? ns : watch->longest_ns;
	watch->longest_cpu_ns = cpu_ns > watch->longest_cpu_ns ? cpu_ns : watch->longest_cpu_ns;
}

static void say(const char *what, const struct watch *watch)
{
	printf("%-28s %9.3f ms, processor %9.3f ms\n", what, (double)watch->longest_ns / 1e6,
	       (double)watch->longest_cpu_ns / 1e6);
}

/* tasks NULL: the caller opens and closes. */
static void measure_events(struct worker *worker, int rounds)
{
	const struct sampler_options options = {.hz = 99,
						.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES,
						.follows_all = true,
						.worker = worker};
	const int wake_fd = eventfd(0, EFD_CLOEXEC);
	struct watch opens = {0}, stops = {0}, closes = {0};

	for (int i = 0; i < rounds; i++) {
		struct sampler_opening *opening;
		struct sampler *sampler;
		eventfd_t count;
		int err = 0;

		begin(&opens);
		if (worker)
			err = sampler_opening_start(&options, wake_fd, &opening);
		else
			err = sampler_open(&options, &sampler);
		end(&opens);
		if (worker && !err) {
			eventfd_read(wake_fd, &count);
			begin(&opens);
			err = sampler_opening_end(opening, &sampler);
			end(&opens);
		}
		if (err)
			exit(1);
		poll(NULL, 0, 100);
		begin(&stops);
		sampler_stop(sampler);
		end(&stops);
		begin(&closes);
		sampler_close(sampler);
		end(&closes);
	}
	printf("%s\n", worker ? "a thread opens and closes:" : "the caller opens and closes:");
	say("  open", &opens);
	say("  stop", &stops);
	say("  close", &closes);
	close(wake_fd);
}

static void be_busy(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned i = 0;; i++)
		;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 20;
	const int busy = argc > 2 ? atoi(argv[2]) : 0;
	struct worker *worker;
	pid_t children[MAX_BUSY];

	for (int i = 0; i < busy && i < MAX_BUSY; i++) {
		children[i] = fork();
		if (children[i] == 0)
			be_busy();
	}
	measure_events(NULL, rounds);
	if (worker_new(&worker) < 0)
		return 1;
	measure_events(worker, rounds);
	worker_free(worker);
	for (int i = 0; i < busy && i < MAX_BUSY; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return 0;
}
