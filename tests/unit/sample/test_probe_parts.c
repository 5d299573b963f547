// SPDX-License-Identifier: Apache-2.0
/*
 * Two processes hit a probe, and the reader does not come: one fills the ring buffer, the other one
 * has its part of the room all the same, and no hit of either is lost. Needs root and a kernel with
 * BTF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/child.h"
#include "sample/bpf_source.h"
#include "sample/uprobe.h"

#define RING_BYTES  ((size_t)1 << 20)
#define STACK_BYTES 16384u
#define MANY	    20000u /* hits that fill the ring buffer many times */
#define FEW	    50u

enum { GREEDY, MODEST, N_CHILDREN };

struct child {
	pid_t pid;
	int to, from;
	struct uprobe uprobe;
	int event_fd;
};

struct seen {
	const struct child *children;
	uint64_t records[N_CHILDREN], hits[N_CHILDREN];
};

static const enum bpf_variant variants[] = {BPF_EXACT, BPF_SLICES, BPF_SCRATCH};

/* As the agent's point has its arguments: an identity, the size, the interval. */
__attribute__((noinline)) static void point(uint64_t number, uint64_t size, uint64_t interval)
{
	__asm__ volatile("" : : "r"(number), "r"(size), "r"(interval) : "memory");
}

/* Where in the program's file the point is. */
static int find_point(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uint64_t addr = (uint64_t)(uintptr_t)point - info->dlpi_addr;
	uint64_t *const file_off = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *const part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && addr - part->p_vaddr < part->p_filesz)
			*file_off = addr - part->p_vaddr + part->p_offset;
	}
	return 1; /* the program itself comes first */
}

/* Hits the point as often as it is told. On one CPU, because each has its own gap. */
static void hit(int from, int to)
{
	cpu_set_t cpus;
	uint32_t n;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(from, &n, sizeof(n)) == sizeof(n)) {
		for (uint32_t i = 0; i < n; i++)
			point(i, 16, 512 << 10);
		if (write(to, &n, sizeof(n)) != sizeof(n))
			break;
	}
	_exit(0);
}

static void start(struct child *child, const struct bpf_source *source, int file_fd)
{
	struct uprobe_place place = {.file_fd = file_fd};
	struct uprobe_who who = {.cpu = -1};
	char why[UPROBE_WHY_BYTES];
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	child->pid = fork();
	if (child->pid == 0)
		hit(to[0], from[1]);
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = from[0];
	dl_iterate_phdr(find_point, &place.file_off);
	uprobe_init(&child->uprobe, &place, UPROBE_PMU);
	who.pid = child->pid;
	child->event_fd = uprobe_open_event(&child->uprobe, &who, why);
	if (child->event_fd < 0)
		fail_msg("no event: %s", why);
	assert_int_equal(bpf_source_attach(source, child->event_fd, BPF_KIND_ALLOC), 0);
}

static void tell(const struct child *child, uint32_t n)
{
	assert_int_equal(write(child->to, &n, sizeof(n)), sizeof(n));
	assert_int_equal(read(child->from, &n, sizeof(n)), sizeof(n));
}

static void end(struct child *child)
{
	close(child->event_fd);
	uprobe_fini(&child->uprobe);
	close(child->to);
	close(child->from);
	child_end(child->pid);
}

static void on_record(void *arg, const struct record *record)
{
	struct seen *const seen = arg;

	for (size_t i = 0; i < N_CHILDREN; i++) {
		if (record->pid != seen->children[i].pid)
			continue;
		seen->records[i]++;
		seen->hits[i] += record->sample.weight;
	}
}

static void read_all(struct bpf_source *source, struct seen *seen)
{
	uint64_t broken = 0, before;

	do {
		before = seen->records[GREEDY] + seen->records[MODEST];
		bpf_source_read(source, on_record, seen, &broken);
	} while (seen->records[GREEDY] + seen->records[MODEST] > before);
	assert_int_equal(broken, 0);
}

static void check_variant(enum bpf_variant variant, int file_fd)
{
	const struct bpf_source_options options = {.variant = variant,
						   .is_of_probes = true,
						   .stack_bytes = STACK_BYTES,
						   .ring_bytes = RING_BYTES};
	const uint64_t groups[N_CHILDREN] = {7, 8};
	struct child children[N_CHILDREN];
	struct seen seen = {.children = children};
	pid_t pids[N_CHILDREN];
	struct bpf_source *source;
	char why[BPF_LOAD_WHY_BYTES];

	if (bpf_source_open(&options, &source, why) < 0)
		fail_msg("no samples of probes here: %s", why);
	for (size_t i = 0; i < N_CHILDREN; i++) {
		start(&children[i], source, file_fd);
		pids[i] = children[i].pid;
	}
	bpf_source_want_of(source, pids, groups, N_CHILDREN, N_CHILDREN);
	for (uint32_t i = 0; i < FEW; i++) {
		tell(&children[GREEDY], MANY / FEW);
		tell(&children[MODEST], 1);
	}
	read_all(source, &seen);
	print_message("%s: of %u hits %u records, of %u %u\n", bpf_source_variant(source), MANY,
		      (unsigned)seen.records[GREEDY], FEW, (unsigned)seen.records[MODEST]);
	/* The ring buffer was crowded early, and the modest one has got its part of it since. */
	assert_in_range(seen.records[GREEDY], 10, MANY / 10);
	assert_in_range(seen.records[MODEST], 4, FEW);
	/* One more hit of each stands for those that were left out. */
	for (size_t i = 0; i < N_CHILDREN; i++)
		tell(&children[i], 1);
	read_all(source, &seen);
	assert_int_equal(seen.hits[GREEDY], MANY + 1);
	assert_int_equal(seen.hits[MODEST], FEW + 1);
	assert_int_equal(bpf_source_counters(source).lost, 0);
	for (size_t i = 0; i < N_CHILDREN; i++)
		end(&children[i]);
	bpf_source_close(source);
}

static void each_has_a_part_and_nothing_is_lost(void **state)
{
	const int file_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);

	(void)state;
	assert_true(file_fd >= 0);
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		check_variant(variants[i], file_fd);
	close(file_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_a_part_and_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
