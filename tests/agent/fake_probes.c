// SPDX-License-Identifier: Apache-2.0
/* Finds points by their notes, and stops at them, see fake_probes.h. */
#include "fake_probes.h"

#include "peer.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define POINTS_MAX 16
#define DEATHS_MAX 16384

#if defined(__x86_64__)
static const uint8_t breakpoint[] = {0xcc};
#define POINT_BYTES 5
#elif defined(__aarch64__)
static const uint8_t breakpoint[] = {0x00, 0x00, 0x20, 0xd4};
#define POINT_BYTES 4
#endif

static struct point {
	char name[32];
	uintptr_t addr;
	uint16_t *semaphore; /* NULL: it has none */
	atomic_int hits;
	struct fake_hit last;
} points[POINTS_MAX];
static size_t n_points;
static atomic_flag is_noting = ATOMIC_FLAG_INIT; /* a thread writes a last hit */

static uint64_t deaths[DEATHS_MAX];
static atomic_size_t n_deaths;

/* The descriptor of a note: three addresses and three texts. */
static void take_note(const uint8_t *desc, uintptr_t base)
{
	struct point *point = &points[n_points++];
	const char *provider = (const char *)desc + 24;
	uint64_t addrs[3];

	CHECK(n_points <= POINTS_MAX);
	memcpy(addrs, desc, sizeof(addrs));
	CHECK(strcmp(provider, "fgagent") == 0);
	strncpy(point->name, provider + strlen(provider) + 1, sizeof(point->name) - 1);
	point->addr = base + addrs[0];
	if (addrs[2])
		point->semaphore = (uint16_t *)(base + addrs[2]);
}

static void take_notes(const uint8_t *notes, size_t size, uintptr_t base)
{
	for (size_t pos = 0; pos + 12 <= size;) {
		uint32_t head[3];
		size_t desc;

		memcpy(head, notes + pos, sizeof(head));
		desc = pos + 12 + ((head[0] + 3) & ~3u);
		CHECK(head[2] == 3 && strcmp((const char *)notes + pos + 12, "stapsdt") == 0);
		take_note(notes + desc, base);
		pos = desc + ((head[1] + 3) & ~3u);
	}
}

/* Maps the file; NULL: it cannot be read. */
static const uint8_t *map_file(const char *path, size_t *ret_size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *file;

	if (fd < 0)
		return NULL;
	CHECK(fstat(fd, &status) == 0);
	*ret_size = (size_t)status.st_size;
	file = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return file == MAP_FAILED ? NULL : file;
}

static void read_notes(const char *path, uintptr_t base)
{
	size_t size;
	const uint8_t *file = map_file(path, &size);
	const ElfW(Ehdr) *head = (const void *)file;
	const ElfW(Shdr) * sections;
	const char *names;

	if (!file)
		return;
	sections = (const void *)(file + head->e_shoff);
	names = (const char *)file + sections[head->e_shstrndx].sh_offset;
	for (size_t i = 0; i < head->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, ".note.stapsdt") == 0)
			take_notes(file + sections[i].sh_offset, sections[i].sh_size, base);
	}
	munmap((void *)(uintptr_t)file, size);
}

/*
 * The program itself, or the file that it has loaded as the agent. Others have notes of their own.
 */
static int look_at(struct dl_phdr_info *info, size_t size, void *first)
{
	(void)size;
	if (*(bool *)first)
		read_notes("/proc/self/exe", info->dlpi_addr);
	else if (strstr(info->dlpi_name, "libfgagent"))
		read_notes(info->dlpi_name, info->dlpi_addr);
	*(bool *)first = false;
	return 0;
}

static uint64_t *registers_of(ucontext_t *context, uint64_t args[6])
{
#if defined(__x86_64__)
	greg_t *const regs = context->uc_mcontext.gregs;

	args[0] = (uint64_t)regs[REG_RDI];
	args[1] = (uint64_t)regs[REG_RSI];
	args[2] = (uint64_t)regs[REG_RDX];
	args[3] = (uint64_t)regs[REG_RCX];
	args[4] = (uint64_t)regs[REG_R8];
	args[5] = (uint64_t)regs[REG_R9];
	regs[REG_RIP] -= (greg_t)sizeof(breakpoint);
	return (uint64_t *)&regs[REG_RIP];
#elif defined(__aarch64__)
	memcpy(args, context->uc_mcontext.regs, 6 * sizeof(*args));
	return (uint64_t *)&context->uc_mcontext.pc;
#endif
}

/* By the agent's own thread alone. */
static void note_deaths(const struct point *point, const struct fake_hit *hit)
{
	size_t n = atomic_load(&n_deaths);

	if (strcmp(point->name, "alloc_dead__sample") != 0)
		return;
	for (size_t i = 1; i < 6; i++) {
		if (hit->args[i] && n < DEATHS_MAX)
			deaths[n++] = hit->args[i];
	}
	atomic_store(&n_deaths, n);
}

static void on_breakpoint(int signal_number, siginfo_t *info, void *context)
{
	struct fake_hit hit;
	uint64_t *const pc = registers_of(context, hit.args);

	(void)info;
	for (size_t i = 0; i < n_points; i++) {
		if (points[i].addr != *pc)
			continue;
		memset(hit.class_sig, 0, sizeof(hit.class_sig));
		if (strncmp(points[i].name, "alloc_dead", 10) != 0)
			strncpy(hit.class_sig, (const char *)(uintptr_t)hit.args[0],
				sizeof(hit.class_sig) - 1);
		while (atomic_flag_test_and_set(&is_noting))
			continue;
		points[i].last = hit;
		note_deaths(&points[i], &hit);
		atomic_flag_clear(&is_noting);
		atomic_fetch_add(&points[i].hits, 1);
		*pc += POINT_BYTES;
		return;
	}
	signal(signal_number, SIG_DFL);
}

/* Code has no shadow in which the thread sanitizer could note a write. */
__attribute__((no_sanitize_thread)) static void set_breakpoint(uintptr_t addr)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *const begin = (void *)(addr & ~(page - 1));

	CHECK(mprotect(begin, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	for (size_t i = 0; i < sizeof(breakpoint); i++)
		((volatile uint8_t *)addr)[i] = breakpoint[i];
	__builtin___clear_cache((char *)addr, (char *)addr + sizeof(breakpoint));
	CHECK(mprotect(begin, 2 * page, PROT_READ | PROT_EXEC) == 0);
}

void fake_probes_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO};
	bool first = true;

	dl_iterate_phdr(look_at, &first);
	CHECK(n_points == 14);
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	for (size_t i = 0; i < n_points; i++)
		set_breakpoint(points[i].addr);
}

static struct point *find(const char *name)
{
	for (size_t i = 0; i < n_points; i++) {
		if (strcmp(points[i].name, name) == 0)
			return &points[i];
	}
	peer_fail(__FILE__, __LINE__, name);
}

static void add(const char *name, uint16_t n)
{
	uint16_t *const semaphore = find(name)->semaphore;

	CHECK(semaphore);
	__atomic_fetch_add(semaphore, n, __ATOMIC_RELAXED);
}

void fake_probes_raise(const char *point)
{
	add(point, 1);
}

void fake_probes_lower(const char *point)
{
	add(point, UINT16_MAX);
}

int fake_probes_hits(const char *point)
{
	return atomic_load(&find(point)->hits);
}

struct fake_hit fake_probes_last(const char *point)
{
	return find(point)->last;
}

size_t fake_probes_deaths(void)
{
	return atomic_load(&n_deaths);
}

bool fake_probes_is_dead(uint64_t number)
{
	for (size_t i = 0; i < fake_probes_deaths(); i++) {
		if (deaths[i] == number)
			return true;
	}
	return false;
}
