// SPDX-License-Identifier: Apache-2.0
/*
 * Lines and inlined functions of ELF files, which belong to the targets. In the collector this code
 * runs in a process of its own, since libdw is not safe with every file. Faults of libdw therefore
 * end an input and not the fuzzer: a signal that libdw raises, or a library that libdw calls, is
 * left by a jump, as is libdw when it takes too long. What the sanitizers say of the code that
 * calls libdw is a find.
 *
 * What is found has a bounded depth, terminated texts, and is the same when asked again.
 */
#include "fuzzer.h"

#include "symbolize/dwarf_lines.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define MAX_ADDR 0x4000
#define STEP	 0x40
#define MAX_MS	 200 /* of libdw, for one input */

static sigjmp_buf back;
static volatile sig_atomic_t is_running;
static struct sigaction others_segv, others_bus, others_fpe, others_alarm;
static volatile size_t sink;

/*
 * A reader that was left by a jump is lost. Functions of strings are not checked, because libdw
 * calls them for texts that a file does not end.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:intercept_strlen=0:intercept_strchr=0:intercept_memcmp=0:"
	       "intercept_strndup=0:intercept_strspn=0:intercept_strstr=0:intercept_intrin=0:"
	       "replace_str=0";
}

static uint64_t pc_of(const void *context)
{
	const ucontext_t *const at = context;

#ifdef __aarch64__
	return at->uc_mcontext.pc;
#else
	return (uint64_t)at->uc_mcontext.gregs[REG_RIP];
#endif
}

static bool is_in_library(const void *context, bool with_libc)
{
	static const char *const libraries[] = {"libdw", "libelf", "libz", "liblzma", "libc."};
	Dl_info info;

	if (dladdr((const void *)(uintptr_t)pc_of(context), &info) == 0 || !info.dli_fname)
		return false;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries) - !with_libc; i++) {
		if (strstr(info.dli_fname, libraries[i]))
			return true;
	}
	return false;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *const other = signal == SIGSEGV	 ? &others_segv
					      : signal == SIGBUS ? &others_bus
								 : &others_fpe;

	/* The clock may strike while libc holds a lock. */
	if (is_running && is_in_library(context, signal != SIGVTALRM))
		siglongjmp(back, 1);
	if (signal == SIGVTALRM)
		return; /* it is not libdw that takes long: libFuzzer's own limit says so */
	other->sa_sigaction(signal, info, context);
}

static void set_up(void)
{
	const struct sigaction action = {.sa_sigaction = on_fault,
					 .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

	sigaction(SIGSEGV, &action, &others_segv);
	sigaction(SIGBUS, &action, &others_bus);
	sigaction(SIGFPE, &action, &others_fpe);
	sigaction(SIGVTALRM, &action, &others_alarm);
}

static void limit(unsigned ms)
{
	const struct itimerval timer = {.it_interval.tv_usec = ms ? 10000 : 0,
					.it_value.tv_usec = ms * 1000};

	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void ask(struct dwarf_lines *lines, uint64_t elf_addr)
{
	struct dwarf_place places[DWARF_LINES_MAX_DEPTH], again[DWARF_LINES_MAX_DEPTH];
	const size_t n = dwarf_lines_find(lines, elf_addr, places);

	if (n > DWARF_LINES_MAX_DEPTH || dwarf_lines_find(lines, elf_addr, again) != n)
		abort();
	for (size_t i = 0; i < n; i++) {
		sink += places[i].name ? strlen(places[i].name) : 0;
		sink += places[i].file ? strlen(places[i].file) : 0;
		if (places[i].line > INT32_MAX || places[i].line != again[i].line ||
		    (places[i].file && strchr(places[i].file, '/')))
			abort();
	}
}

static void read_lines(int fd, int shared_fd)
{
	struct dwarf_lines *lines;

	if (dwarf_lines_open(fd, shared_fd, &lines) < 0)
		return;
	for (uint64_t elf_addr = 0; elf_addr < MAX_ADDR; elf_addr += STEP)
		ask(lines, elf_addr);
	ask(lines, UINT64_MAX);
	dwarf_lines_close(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	static int is_set_up;

	if (!is_set_up++)
		set_up();
	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && sigsetjmp(back, 1) == 0) {
		is_running = 1;
		limit(MAX_MS);
		read_lines(fd, size % 4 == 0 ? fd : -1);
	}
	is_running = 0;
	limit(0);
	close(fd);
	return 0;
}
