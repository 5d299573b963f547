// SPDX-License-Identifier: Apache-2.0
/*
 * What one sample costs behind the hold: its walk, the naming of its frames, its way into the tree.
 * Samples the machine as `fgcollect record` does, by the same parts, and times the steps of each
 * sample of a JVM with the agent. unwind_cost.py starts the JVM.
 *
 * Usage, as root: unwind_cost SOCKET MAP_DIR SECONDS [HZ] [STACK_BYTES]
 *
 * Prints median and 99th percentile in microseconds of CPU time, by how many physical frames the
 * samples have, and what a sample costs on the average from the ring on. A sample that is taken of
 * this very program adds some 50 microseconds to whatever it interrupts, which is the kernel's cost
 * and not the step's: what was interrupted is left out, and counted.
 */
#include "loop/engine.h"

#include "base/clock.h"
#include "symbolize/parsers.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_SAMPLES  (1u << 20)
#define MAX_HITS     (1u << 16)
#define AGENT_NS     (10 * CLOCK_NS_PER_SEC)
#define STEP_NS	     (50 * CLOCK_NS_PER_MS)
#define FRAMES_FEW   40
#define FRAMES_MANY  120
#define CLASSES	     3
#define WARM_UP_PART 5 /* of the time: files are read once, names are new */

enum step_of_sample { WALK, NAME, ADD, BOTH, STEPS };

static const char *const step_names[STEPS] = {"walk", "name", "add", "walk+name"};

struct timing {
	uint64_t start_ns, end_ns; /* as samples count */
	uint32_t ns[STEPS];
	uint32_t depth; /* physical frames */
	uint32_t frames;
};

struct bench {
	struct engine engine;
	struct sampler *sampler;
	struct hold hold;
	struct profile profile;
	uint64_t warm_ns;
	uint64_t longest_ns; /* of all samples, the first ones too */
	struct timing *timings;
	size_t n_timings;
	uint64_t hits_ns[MAX_HITS]; /* when samples of this program were taken, rising */
	size_t n_hits, n_interrupted;
	uint64_t read_ns; /* of CPU time, from the rings into the hold */
	uint64_t n_read;
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

static void on_record(void *arg, const struct record *record)
{
	struct bench *bench = arg;

	if (record->kind == RECORD_LOST || record->kind == RECORD_THROTTLED)
		return;
	if (record->kind == RECORD_SAMPLE && record->pid == getpid() && bench->n_hits < MAX_HITS)
		bench->hits_ns[bench->n_hits++] = record->time_ns;
	hold_add(&bench->hold, record);
	bench->n_read++;
}

static void keep(struct bench *bench, const uint64_t at[ADD + 2], struct timing given)
{
	struct timing *timing = &bench->timings[bench->n_timings];

	if (at[ADD + 1] - at[WALK] > bench->longest_ns)
		bench->longest_ns = at[ADD + 1] - at[WALK];
	if (bench->n_timings == MAX_SAMPLES || given.start_ns < bench->warm_ns)
		return;
	*timing = given;
	for (int i = WALK; i <= ADD; i++)
		timing->ns[i] = (uint32_t)(at[i + 1] - at[i]);
	timing->ns[BOTH] = (uint32_t)(at[ADD] - at[WALK]);
	bench->n_timings++;
}

/* What the sample needs of files and of helpers, so that only its own cost is measured. */
static void load_tables(struct bench *bench, const struct record *record, struct stack *stack)
{
	static struct frame frames[SYMBOLIZER_MAX_FRAMES];
	struct symbolizer_verdict verdict = {.is_waiting = true};

	for (int i = 0; i < 100 && verdict.is_waiting; i++) {
		const struct symbolizer_context context = {
			.process = targets_find(&bench->engine.targets, record->pid),
			.time_ns = record->time_ns,
		};

		if (!context.process || !unwinder_walk(bench->engine.unwinder, context.process,
						       record->time_ns, &record->sample, stack))
			return;
		symbolizer_name(bench->engine.symbolizer, &context, stack, frames, &verdict);
		if (verdict.is_waiting)
			engine_step(&bench->engine, STEP_NS);
	}
}

static void take_sample(struct bench *bench, const struct record *record)
{
	static struct stack stack;
	static struct frame frames[SYMBOLIZER_MAX_FRAMES];
	struct process *process = targets_find(&bench->engine.targets, record->pid);
	struct symbolizer_context context = {.time_ns = record->time_ns};
	struct symbolizer_verdict verdict;
	uint64_t at[ADD + 2]; /* when each step began, and when the last one ended */
	struct timing timing = {.start_ns = clock_now_ns()};
	size_t n;

	if (!process || !process->jvm)
		return;
	load_tables(bench, record, &stack);
	process = targets_find(&bench->engine.targets, record->pid);
	if (!process)
		return;
	context.process = process;
	at[WALK] = cpu_ns();
	unwinder_walk(bench->engine.unwinder, process, record->time_ns, &record->sample, &stack);
	unwinder_accept(bench->engine.unwinder, &stack, true);
	at[NAME] = cpu_ns();
	n = symbolizer_name(bench->engine.symbolizer, &context, &stack, frames, &verdict);
	at[ADD] = cpu_ns();
	if (profile_add(&bench->profile, frames, n, 1) < 0)
		bench->hold.dropped++;
	at[ADD + 1] = cpu_ns();
	timing.end_ns = clock_now_ns();
	timing.depth = stack.depth;
	timing.frames = (uint32_t)n;
	keep(bench, at, timing);
}

static void take_held(struct bench *bench, uint64_t until_ns)
{
	const struct record *record;

	while ((record = hold_next(&bench->hold, until_ns))) {
		if (record->kind == RECORD_SAMPLE)
			take_sample(bench, record);
		else
			targets_apply_record(&bench->engine.targets, record);
	}
}

static bool wait_for_agent(struct bench *bench)
{
	const uint64_t end = clock_now_ns() + AGENT_NS;
	uint32_t connected = 0, current = 0;

	while ((connected == 0 || current < connected) && clock_now_ns() < end) {
		engine_step(&bench->engine, STEP_NS);
		engine_count_jvms(&bench->engine, &connected, &current);
	}
	return current > 0;
}

static void sample_for(struct bench *bench, uint64_t duration_ns)
{
	const uint64_t start = clock_now_ns();

	bench->warm_ns = start + duration_ns / WARM_UP_PART;
	targets_refresh(&bench->engine.targets);
	while (clock_now_ns() < start + duration_ns) {
		const uint64_t before = cpu_ns();

		sampler_read(bench->sampler, on_record, bench);
		bench->read_ns += cpu_ns() - before;
		take_held(bench, clock_now_ns() - HOLD_NS);
		engine_step(&bench->engine, STEP_NS);
	}
	sampler_stop(bench->sampler);
	sampler_read(bench->sampler, on_record, bench);
}

/* ---- figures ---- */

static int compare_times(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Both are in order of time once the hits of the CPUs have been put together. */
static void drop_interrupted(struct bench *bench)
{
	size_t hit = 0, kept = 0;

	qsort(bench->hits_ns, bench->n_hits, sizeof(bench->hits_ns[0]), compare_times);
	for (size_t i = 0; i < bench->n_timings; i++) {
		const struct timing *timing = &bench->timings[i];

		while (hit < bench->n_hits && bench->hits_ns[hit] < timing->start_ns)
			hit++;
		if (hit == bench->n_hits || bench->hits_ns[hit] > timing->end_ns)
			bench->timings[kept++] = *timing;
	}
	bench->n_interrupted = bench->n_timings - kept;
	bench->n_timings = kept;
}

static int compare(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int class_of(uint32_t depth)
{
	return depth < FRAMES_FEW ? 0 : depth <= FRAMES_MANY ? 1 : 2;
}

/* Of one step; scratch has room for all timings. */
static void print_step(const struct bench *bench, int class, int step, uint32_t *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < bench->n_timings; i++) {
		if (class_of(bench->timings[i].depth) == class)
			scratch[n++] = bench->timings[i].ns[step];
	}
	qsort(scratch, n, sizeof(*scratch), compare);
	printf("  %s %6.1f %6.1f", step_names[step], scratch[n / 2] / 1e3,
	       scratch[n - 1 - n / 100] / 1e3);
}

static void print_class(const struct bench *bench, int class, uint32_t *scratch)
{
	static const char *const names[CLASSES] = {"< 40", "40-120", "> 120"};
	uint64_t depth = 0, frames = 0;
	size_t n = 0;

	for (size_t i = 0; i < bench->n_timings; i++) {
		if (class_of(bench->timings[i].depth) != class)
			continue;
		depth += bench->timings[i].depth;
		frames += bench->timings[i].frames;
		n++;
	}
	if (n == 0)
		return;
	printf("%-6s %6zu samples %6.1f physical %6.1f named ", names[class], n,
	       (double)depth / (double)n, (double)frames / (double)n);
	for (int step = WALK; step < STEPS; step++)
		print_step(bench, class, step, scratch);
	printf("\n");
}

static int print(const struct bench *bench)
{
	uint32_t *scratch = malloc((bench->n_timings + 1) * sizeof(*scratch));
	struct sampler_stats stats;
	struct unwinder_stats ends;
	uint64_t ns = 0;

	if (!scratch || bench->n_timings == 0) {
		free(scratch);
		fputs("no samples of a JVM with the agent\n", stderr);
		return EXIT_FAILURE;
	}
	puts("physical frames; microseconds of CPU time, median and 99th percentile of each step");
	for (int class = 0; class < CLASSES; class ++)
		print_class(bench, class, scratch);
	for (size_t i = 0; i < bench->n_timings; i++)
		ns += bench->timings[i].ns[BOTH] + bench->timings[i].ns[ADD];
	sampler_stats(bench->sampler, &stats);
	unwinder_stats(bench->engine.unwinder, &ends);
	printf("mean %.1f us a sample, and %.1f us from its ring into the hold; "
	       "lost %llu; %zu interrupted; the longest, with the first looks into files, %.1f "
	       "ms\n",
	       (double)ns / (double)bench->n_timings / 1e3,
	       (double)bench->read_ns / (double)bench->n_read / 1e3,
	       (unsigned long long)(stats.lost + bench->hold.dropped), bench->n_interrupted,
	       (double)bench->longest_ns / 1e6);
	for (int end = 0; end < STACK_ENDS; end++) {
		if (ends.ends[end])
			printf("%s %llu, ", stack_end_name((enum stack_end)end),
			       (unsigned long long)ends.ends[end]);
	}
	printf("joined %llu, extended %llu\n", (unsigned long long)ends.joined,
	       (unsigned long long)ends.extended);
	free(scratch);
	return EXIT_SUCCESS;
}

static int run(struct bench *bench, const struct sampler_options *options, double seconds)
{
	int result;

	if (!wait_for_agent(bench)) {
		fputs("no agent has connected\n", stderr);
		return EXIT_FAILURE;
	}
	if (sampler_open(options, &bench->sampler) < 0)
		return EXIT_FAILURE;
	sample_for(bench, (uint64_t)(seconds * 1e9));
	drop_interrupted(bench);
	result = print(bench);
	sampler_close(bench->sampler);
	return result;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	const struct sampler_options options = {
		.hz = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 999,
		.stack_bytes = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10)
					: SAMPLER_DEFAULT_STACK_BYTES,
	};
	struct engine_options engine;
	int result = EXIT_FAILURE;

	zygote_become(argc, argv, parser_roles);
	if (argc < 4) {
		fputs("usage: unwind_cost SOCKET MAP_DIR SECONDS [HZ] [STACK_BYTES]\n", stderr);
		return 2;
	}
	engine = (struct engine_options){.socket_path = argv[1],
					 .map_dir = argv[2],
					 .table_bytes = TABLE_CACHE_DEFAULT_BYTES};
	bench.timings = malloc(MAX_SAMPLES * sizeof(*bench.timings));
	if (!bench.timings || profile_init(&bench.profile, 0) < 0 ||
	    engine_open(&bench.engine, &engine) < 0)
		return EXIT_FAILURE;
	result = run(&bench, &options, strtod(argv[3], NULL));
	hold_fini(&bench.hold);
	profile_fini(&bench.profile);
	engine_close(&bench.engine);
	free(bench.timings);
	return result;
}
