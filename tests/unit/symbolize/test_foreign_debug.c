// SPDX-License-Identifier: Apache-2.0
/*
 * One library in two roots, as a volume is in several containers. In the one root lies a debug file
 * with the library's build ID and names of its own, which must not be seen anywhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/child.h"
#include "memory/space_reader.h"
#include "symbolize/module_cache.h"
#include "symbolize/parsers.h"
#include "fixture.h"

#define BUILD_ID "-Wl,--build-id=0xabcdef0123456789"
#define DEBUG_ID "usr/lib/debug/.build-id/ab/cdef0123456789.debug"
#define LIBRARY	 "/shared.so" /* in each root */

/* Both are laid out alike. */
static const char honest[] = "static __attribute__((noinline,used)) int honest(int x)\n"
			     "{ return x / 7; }\nint shown(int x) { return honest(x) + 1; }\n";
static const char forged[] = "static __attribute__((noinline,used)) int forged(int x)\n"
			     "{ return x / 7; }\nint shown(int x) { return forged(x) + 1; }\n";

/* A process in a root of its own, with the library mapped. */
struct tenant {
	pid_t pid;
	int said; /* a byte each time that it is in its place */
	struct address_space space;
	const struct mapping *library; /* borrowed of space */
};

static struct table_cache *cache;
static char *liar, *victim; /* roots */
static char *whole;	    /* the library as the compiler made it */

static void on_signal(int signo)
{
	(void)signo;
}

/* Moves to next, if there is one, when it gets a signal. */
static _Noreturn void live_in(const char *root, const char *next, int said)
{
	sigset_t usual, blocked;
	int fd;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &usual); /* but while it waits */
	prctl(PR_SET_PDEATHSIG, SIGKILL);	  /* where the test fails and leaves it behind */
	signal(SIGUSR1, on_signal);
	if (geteuid() != 0 && unshare(CLONE_NEWUSER) < 0)
		_exit(0);
	if (next && chdir(root) < 0)
		_exit(0);
	if (!next && (chroot(root) < 0 || chdir("/") < 0))
		_exit(0);
	fd = open(&LIBRARY[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(0);
	while (write(said, "x", 1) == 1) {
		sigsuspend(&usual);
		if (next && chroot(next) < 0)
			break;
	}
	_exit(0);
}

static void end_tenant(struct tenant *tenant)
{
	child_end(tenant->pid);
	tenant->pid = 0;
}

static void close_tenant(struct tenant *tenant)
{
	if (tenant->pid)
		end_tenant(tenant);
	close(tenant->said);
	address_space_fini(&tenant->space);
}

/* With next, the root is this process's at first. */
static struct tenant start_mover(const char *root, const char *next)
{
	struct tenant tenant = {0};
	int pipes[2];
	char byte;

	assert_int_equal(pipe(pipes), 0);
	tenant.pid = fork();
	assert_true(tenant.pid >= 0);
	if (tenant.pid == 0)
		live_in(root, next, pipes[1]);
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1) {
		print_message("a process may not be given a root of its own here\n");
		end_tenant(&tenant);
		skip();
	}
	tenant.said = pipes[0];
	assert_int_equal(address_space_read(&tenant.space, tenant.pid), 0);
	for (size_t i = 0; i < tenant.space.count; i++) {
		if (strstr(tenant.space.mappings[i].path, LIBRARY))
			tenant.library = &tenant.space.mappings[i];
	}
	assert_non_null(tenant.library);
	return tenant;
}

static struct tenant start_tenant(const char *root)
{
	return start_mover(root, NULL);
}

static int make_roots(void **state)
{
	char *other;

	liar = fixture_new_path("liar");
	victim = fixture_new_path("victim");
	whole = fixture_new_library("c", honest, BUILD_ID);
	other = fixture_new_library("c", forged, BUILD_ID);
	fixture_run("/", "rm -rf %s %s; mkdir -p %s/usr/lib/debug/.build-id/ab %s", liar, victim,
		    liar, victim);
	fixture_run("/", "strip -o %s" LIBRARY " %s && ln %s" LIBRARY " %s" LIBRARY, liar, whole,
		    liar, victim);
	fixture_run("/", "objcopy --only-keep-debug %s %s/" DEBUG_ID, other, liar);
	free(other);
	if (table_cache_new(64u << 20, false, &cache) < 0)
		return -1;
	module_cache_attach(cache);
	return 0;
}

static int free_roots(void **state)
{
	table_cache_free(cache);
	cache = NULL;
	free(liar);
	free(victim);
	free(whole);
	return 0;
}

static struct elf_symbols *symbols_of(const struct tenant *tenant)
{
	const char *reason = NULL;
	struct elf_symbols *symbols =
		module_cache_find(cache, tenant->pid, tenant->library, &reason);

	if (!symbols)
		fail_msg("%s", reason);
	return symbols;
}

static void assert_forged(const struct tenant *tenant, bool is_forged)
{
	struct elf_symbols *symbols = symbols_of(tenant);

	assert_true(fixture_has_name(symbols, "shown"));
	assert_int_equal(fixture_has_name(symbols, "forged"), is_forged);
}

static void a_forged_debug_file_names_its_own_root_alone(void **state)
{
	struct tenant a = start_tenant(liar), b = start_tenant(victim);

	assert_int_equal(a.library->inode, b.library->inode);
	assert_forged(&a, true);
	assert_forged(&b, false);
	assert_forged(&a, true);
	close_tenant(&a);
	close_tenant(&b);
}

static void who_is_first_makes_no_difference(void **state)
{
	struct tenant b = start_tenant(victim), a = start_tenant(liar);

	assert_forged(&b, false);
	assert_forged(&a, true);
	assert_forged(&b, false);
	close_tenant(&a);
	close_tenant(&b);
}

static void processes_of_one_root_share_a_debug_file(void **state)
{
	struct tenant a = start_tenant(liar), b = start_tenant(liar);
	struct table_stats stats;

	assert_ptr_equal(symbols_of(&a), symbols_of(&b));
	table_cache_table_stats(cache, TABLE_SYMBOLS, &stats);
	assert_int_equal(stats.loads, 1);
	close_tenant(&a);
	close_tenant(&b);
}

static void one_that_is_gone_is_not_named_by_a_debug_file_of_others(void **state)
{
	struct tenant a = start_tenant(liar), b = start_tenant(victim);
	const pid_t gone = b.pid;
	const char *reason = NULL;

	end_tenant(&b); /* before its file has been found */
	assert_forged(&a, true);
	assert_null(module_cache_find(cache, gone, b.library, &reason));
	assert_string_equal(reason, "file is gone");
	close_tenant(&a);
	close_tenant(&b);
}

/* As what starts a container does, which is the host's own. */
static void one_that_moves_into_a_root_is_named_by_none_of_its_debug_files(void **state)
{
	struct tenant mover = start_mover(victim, liar);
	char byte;

	table_cache_see(cache, mover.pid, mover.library);
	kill(mover.pid, SIGUSR1);
	assert_int_equal(read(mover.said, &byte, 1), 1);
	assert_forged(&mover, false);
	close_tenant(&mover);
}

/* Lines and what is inlined are asked for by a table's number. */
static void assert_numbers_differ(void)
{
	struct tenant a = start_tenant(liar), b = start_tenant(victim);

	assert_int_not_equal(elf_symbols_serial(symbols_of(&a)),
			     elf_symbols_serial(symbols_of(&b)));
	close_tenant(&a);
	close_tenant(&b);
}

static void equal_debug_files_of_two_roots_have_two_numbers(void **state)
{
	fixture_run("/", "mkdir -p %s/usr/lib/debug/.build-id/ab; cp %s/" DEBUG_ID " %s/" DEBUG_ID,
		    victim, liar, victim);
	assert_numbers_differ();
}

static void a_debug_file_that_only_has_lines_to_add_has_a_number_too(void **state)
{
	fixture_run("/", "cp %s %s" LIBRARY, whole, liar); /* the other root has the same file */
	assert_numbers_differ();
}

static void names_of_the_file_itself_are_shared(void **state)
{
	struct tenant a, b;

	fixture_run("/", "rm %s/" DEBUG_ID, liar);
	a = start_tenant(liar);
	b = start_tenant(victim);
	assert_ptr_equal(symbols_of(&a), symbols_of(&b));
	close_tenant(&a);
	close_tenant(&b);
}

int main(int argc, char **argv)
{
#define IN_ROOTS(test) cmocka_unit_test_setup_teardown(test, make_roots, free_roots)
	const struct CMUnitTest tests[] = {
		IN_ROOTS(a_forged_debug_file_names_its_own_root_alone),
		IN_ROOTS(who_is_first_makes_no_difference),
		IN_ROOTS(processes_of_one_root_share_a_debug_file),
		IN_ROOTS(one_that_is_gone_is_not_named_by_a_debug_file_of_others),
		IN_ROOTS(one_that_moves_into_a_root_is_named_by_none_of_its_debug_files),
		IN_ROOTS(equal_debug_files_of_two_roots_have_two_numbers),
		IN_ROOTS(a_debug_file_that_only_has_lines_to_add_has_a_number_too),
		IN_ROOTS(names_of_the_file_itself_are_shared),
	};
	int failed;

	zygote_become(argc, argv, parser_roles);
	if (!fixture_has_compiler())
		return FIXTURE_NO_COMPILER;
	failed = cmocka_run_group_tests(tests, NULL, fixture_remove_all);
	/* And the same once more, with files read by parsers. */
	if (zygote_start() < 0)
		return 1;
	failed += cmocka_run_group_tests_name("with parsers", tests, NULL, fixture_remove_all);
	zygote_stop();
	return failed;
}
