// SPDX-License-Identifier: Apache-2.0
/* Symbols from a server on the loopback device, which has files under /buildid/ID/debuginfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/child.h"
#include "symbolize/debuginfod.h"
#include "symbolize/parsers.h"
#include "fixture.h"

#define BUILD_ID "abcdef0123456789"
#define OTHER_ID "abcdef0123456788"

static const char source[] =
	"static __attribute__((noinline)) int hidden(int x) { return x / 7; }\n"
	"int shown(int x) { return hidden(x) + 1; }\n";

static char *dir;
static pid_t server; /* 0: none */

/* Serves dir on a port of the kernel's choice, and says so to the library. */
static void start_server(void)
{
	char line[256] = "", url[64];
	int pipe_fds[2], port = 0;
	FILE *out;

	assert_int_equal(pipe(pipe_fds), 0);
	server = fork();
	if (server == 0) {
		dup2(pipe_fds[1], 1);
		execlp("python3", "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1",
		       "--directory", dir, (char *)NULL);
		_exit(1);
	}
	close(pipe_fds[1]);
	out = fdopen(pipe_fds[0], "r");
	assert_non_null(fgets(line, sizeof(line), out));
	fclose(out);
	assert_int_equal(sscanf(line, "Serving HTTP on 127.0.0.1 port %d", &port), 1);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
	setenv("DEBUGINFOD_URLS", url, 1);
}

static int make_server(void **state)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!library || !fixture_has_compiler()) {
		print_message("no libdebuginfod.so.1 or no compiler\n");
		return 0;
	}
	dir = fixture_new_path("server");
	fixture_run("/", "mkdir -p %s/cache", dir);
	setenv("DEBUGINFOD_CACHE_PATH", dir, 1);
	unsetenv("http_proxy");
	unsetenv("HTTP_PROXY");
	setenv("no_proxy", "127.0.0.1", 1);
	start_server();
	return 0;
}

static int stop_server(void **state)
{
	if (server > 0)
		child_end(server);
	free(dir);
	return fixture_remove_all(state);
}

/* A stripped library with that build ID; what was stripped is served as file's, or not at all. */
static struct elf_symbols *load_stripped(const char *build_id, const char *served_as)
{
	struct elf_symbols *symbols;
	char *path, option[64];

	snprintf(option, sizeof(option), "-Wl,--build-id=0x%s", build_id);
	path = fixture_new_library("c", source, option);
	if (served_as)
		fixture_run(dir,
			    "mkdir -p %s/buildid/%s && objcopy --only-keep-debug %s "
			    "%s/buildid/%s/debuginfo",
			    dir, served_as, path, dir, served_as);
	fixture_run("/", "strip %s", path);
	assert_int_equal(fixture_load(path, &symbols), 0);
	free(path);
	return symbols;
}

static bool has_hidden(struct elf_symbols *symbols)
{
	uint64_t offset;

	for (uint64_t addr = 0; addr < 0x8000; addr++) {
		const char *name = elf_symbols_find(symbols, addr, &offset);

		if (name && strcmp(name, "hidden") == 0)
			return true;
	}
	return false;
}

/* Until all that was asked for has been answered. */
static struct debuginfod_stats improve(struct debuginfod *debuginfod, struct elf_symbols *symbols)
{
	struct debuginfod_stats stats = {0};

	for (int i = 0; i < 1000; i++) {
		debuginfod_improve(debuginfod, symbols, 1);
		if (stats.found + stats.failed > 0)
			break;
		usleep(10000);
		debuginfod_stats(debuginfod, &stats);
	}
	return stats;
}

static void need_server(void)
{
	if (!server)
		skip();
}

static void names_come_from_the_server(void **state)
{
	struct debuginfod *debuginfod;
	struct debuginfod_stats stats;
	struct elf_symbols *symbols;
	uint64_t serial;

	need_server();
	symbols = load_stripped(BUILD_ID, BUILD_ID);
	serial = elf_symbols_serial(symbols);
	assert_false(has_hidden(symbols));
	assert_int_equal(debuginfod_start(&debuginfod), 0);
	stats = improve(debuginfod, symbols);
	assert_int_equal(stats.asked, 1);
	assert_int_equal(stats.found, 1);
	assert_true(has_hidden(symbols));
	assert_int_not_equal(elf_symbols_serial(symbols), serial);
	assert_int_equal(elf_symbols_source(symbols), ELF_SYMBOLS_DEBUG_FILE);
	debuginfod_stop(debuginfod);
	elf_symbols_free(symbols);
}

static void what_the_server_does_not_have_is_asked_for_once(void **state)
{
	struct debuginfod *debuginfod;
	struct debuginfod_stats stats;
	struct elf_symbols *symbols;

	need_server();
	symbols = load_stripped("1234567812345678", NULL);
	assert_int_equal(debuginfod_start(&debuginfod), 0);
	stats = improve(debuginfod, symbols);
	assert_int_equal(stats.failed, 1);
	for (int i = 0; i < 20; i++) {
		debuginfod_improve(debuginfod, symbols, 1);
		usleep(1000);
	}
	debuginfod_stats(debuginfod, &stats);
	assert_int_equal(stats.asked, 1);
	assert_false(has_hidden(symbols));
	debuginfod_stop(debuginfod);
	elf_symbols_free(symbols);
}

static void another_files_symbols_are_refused(void **state)
{
	struct debuginfod *debuginfod;
	struct elf_symbols *symbols;

	need_server();
	elf_symbols_free(load_stripped(BUILD_ID, OTHER_ID));
	symbols = load_stripped(OTHER_ID, NULL);
	assert_int_equal(debuginfod_start(&debuginfod), 0);
	assert_int_equal(improve(debuginfod, symbols).failed, 1);
	assert_false(has_hidden(symbols));
	debuginfod_stop(debuginfod);
	elf_symbols_free(symbols);
}

/* A stopped server takes connections, for the kernel does that, and says nothing. */
static void a_server_that_is_silent_holds_nobody_up(void **state)
{
	struct debuginfod *debuginfod;
	struct elf_symbols *symbols;

	need_server();
	symbols = load_stripped("8765432187654321", NULL);
	kill(server, SIGSTOP);
	assert_int_equal(debuginfod_start(&debuginfod), 0);
	debuginfod_improve(debuginfod, symbols, 1);
	usleep(200000);
	debuginfod_stop(debuginfod);
	kill(server, SIGCONT);
	elf_symbols_free(symbols);
}

/* Another user may ask all the same. */
static void who_asks_for_many_files_makes_room(void **state)
{
	static const char *const ids[] = {"1111111111111111", "2222222222222222",
					  "3333333333333333", "4444444444444444"};
	static const uint64_t groups[] = {1, 1, 1, 2};
	struct debuginfod *debuginfod;
	struct debuginfod_stats stats;
	struct elf_symbols *symbols[4];

	need_server();
	assert_int_equal(debuginfod_start(&debuginfod), 0);
	debuginfod_set_max_files(debuginfod, 2);
	for (int i = 0; i < 4; i++) {
		symbols[i] = load_stripped(ids[i], NULL);
		debuginfod_improve(debuginfod, symbols[i], groups[i]);
	}
	debuginfod_stats(debuginfod, &stats);
	assert_int_equal(stats.left_out, 1);
	assert_int_equal(stats.forgotten, 1);
	debuginfod_stop(debuginfod);
	for (int i = 0; i < 4; i++)
		elf_symbols_free(symbols[i]);
}

static void without_urls_nobody_is_asked(void **state)
{
	struct debuginfod *debuginfod;

	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(debuginfod_start(&debuginfod), -ENOENT);
	setenv("DEBUGINFOD_URLS", "", 1);
	assert_int_equal(debuginfod_start(&debuginfod), -ENOENT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_from_the_server),
		cmocka_unit_test(who_asks_for_many_files_makes_room),
		cmocka_unit_test(what_the_server_does_not_have_is_asked_for_once),
		cmocka_unit_test(another_files_symbols_are_refused),
		cmocka_unit_test(a_server_that_is_silent_holds_nobody_up),
		cmocka_unit_test(without_urls_nobody_is_asked),
	};
	int failed;

	zygote_become(argc, argv, parser_roles);
	failed = cmocka_run_group_tests(tests, make_server, stop_server);
	/* And the same once more, with files read by parsers. */
	if (zygote_start() < 0)
		return 1;
	failed += cmocka_run_group_tests_name("with parsers", tests, make_server, stop_server);
	zygote_stop();
	return failed;
}
