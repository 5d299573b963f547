// SPDX-License-Identifier: Apache-2.0
/*
 * Parsers that attack: each role of this test does one thing that a parser taken over by a file
 * would do. Whoever runs the test as another user than root sees no change of the UID.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "confine/parser.h"
#include "confine/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLENTY	    (UINT64_C(1) << 40)
#define LITTLE	    (UINT64_C(64) << 20)
#define PATIENCE_MS 20000

enum attack {
	OPEN_FILE,
	OPEN_SOCKET,
	TRACE,
	EXECUTE,
	KILL_PARENT,
	SIGNAL_PARENT,
	FORK,
	EXECUTABLE_MEMORY,
	MAKE_EXECUTABLE,
	READ_MEMORY,
	CHANGE_LIMITS,
	OWN_SIGNALS,
	CHOOSE_SIGNAL,
	SIGNAL_INPUT,
	LEASE,
	NOTIFY,
	SEND_FILE,
	FILE_IN_MEMORY,
	ATTACKS,
};

static void attack(enum attack attack, int sock)
{
	static char *const arguments[] = {"true", NULL};
	struct rlimit *const none = NULL;

	switch (attack) {
	case OPEN_FILE:
		syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
		break;
	case OPEN_SOCKET:
		syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
		break;
	case TRACE:
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		break;
	case EXECUTE:
		syscall(SYS_execve, "/bin/true", arguments, NULL);
		break;
	case KILL_PARENT:
		syscall(SYS_kill, 1, 0);
		break;
	case SIGNAL_PARENT:
		syscall(SYS_tgkill, 1, 1, 0);
		break;
	case FORK:
		syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		break;
	case EXECUTABLE_MEMORY:
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case MAKE_EXECUTABLE:
		mprotect((void *)((uintptr_t)&attack & ~(uintptr_t)4095), 4096,
			 PROT_READ | PROT_WRITE | PROT_EXEC);
		break;
	case READ_MEMORY:
		syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0);
		break;
	case CHANGE_LIMITS:
		syscall(SYS_setpriority, 0, 0, 19, none);
		break;
	/* By these the kernel would send any signal to any process of this UID. */
	case OWN_SIGNALS:
		fcntl(STDIN_FILENO, F_SETOWN, getpid());
		break;
	case CHOOSE_SIGNAL:
		fcntl(STDIN_FILENO, F_SETSIG, SIGKILL);
		break;
	case SIGNAL_INPUT:
		fcntl(STDIN_FILENO, F_SETFL, O_ASYNC);
		break;
	case LEASE:
		fcntl(STDIN_FILENO, F_SETLEASE, F_UNLCK);
		break;
	case NOTIFY:
		fcntl(STDIN_FILENO, F_NOTIFY, DN_ACCESS);
		break;
	/* The collector would close a file, which its file system may hold back. */
	case SEND_FILE:
		parser_send(sock, &attack, sizeof(attack), STDIN_FILENO);
		break;
	/* Of which each would hold memory that no limit of a process counts. */
	case FILE_IN_MEMORY:
		memfd_create("more", MFD_CLOEXEC);
		break;
	default:
		break;
	}
}

/* Answers each number with itself, once it has done what the number says. */
static void serve_attacks(int sock)
{
	enum attack wanted;

	while (parser_receive(sock, &wanted, sizeof(wanted), NULL) == 0) {
		attack(wanted, sock);
		parser_send(sock, &wanted, sizeof(wanted), -1);
	}
}

/* Answers with the errno of an open. */
static void serve_open(int sock)
{
	const int err = open("/dev/null", O_RDONLY) < 0 ? errno : 0;

	parser_send(sock, &err, sizeof(err), -1);
}

/* Answers with the number of descriptors that lead anywhere but to /dev/null and to the socket. */
static void serve_descriptors(int sock)
{
	int others = 0;
	struct stat st;

	for (int fd = 0; fd < 1024; fd++)
		others += fd != sock && fstat(fd, &st) == 0 && !S_ISCHR(st.st_mode);
	parser_send(sock, &others, sizeof(others), -1);
}

/* Takes memory until there is none, and answers with the MiB. */
static void serve_memory(int sock)
{
	int mib = 0;

	while (mib < 1024 && mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		mib++;
	parser_send(sock, &mib, sizeof(mib), -1);
}

/* What a process could have of the process that forked it. */
struct inheritance {
	char random[16];	 /* of which the C library makes the stack canary */
	const void *data, *code; /* where the program lies, */
	const void *library;	 /* and the C library */
	bool has_environment;
};

static struct inheritance own_inheritance(void)
{
	static char data;
	struct inheritance ret = {.data = &data,
				  .code = (const void *)(uintptr_t)&own_inheritance,
				  .library = (const void *)(uintptr_t)&getauxval,
				  .has_environment = getenv("FG_TEST_SECRET") != NULL};

	memcpy(ret.random, (const void *)getauxval(AT_RANDOM), sizeof(ret.random));
	return ret;
}

static void serve_inheritance(int sock)
{
	const struct inheritance own = own_inheritance();

	parser_send(sock, &own, sizeof(own), -1);
}

static void serve_for_ever(int sock)
{
	for (volatile unsigned n = 0;; n++)
		;
}

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_UNWIND] = {.serve = serve_attacks, .memory_bytes = PLENTY, .cpu_seconds = 10},
	[PARSER_SYMBOLS] = {.serve = serve_open,
			    .memory_bytes = PLENTY,
			    .cpu_seconds = 10,
			    .opens_fail = true},
	[PARSER_DEBUG] = {.serve = serve_descriptors, .memory_bytes = PLENTY, .cpu_seconds = 10},
	[PARSER_LINES] = {.serve = serve_memory, .memory_bytes = LITTLE, .cpu_seconds = 10},
	[PARSER_NAMES] = {.serve = serve_for_ever, .memory_bytes = PLENTY, .cpu_seconds = 1},
	[PARSER_MAPS] = {.serve = serve_inheritance, .memory_bytes = PLENTY, .cpu_seconds = 10},
};

static int start(void **state)
{
	return zygote_start();
}

static int stop(void **state)
{
	clock_pretend(0);
	zygote_stop();
	return 0;
}

static struct parser new_parser(enum parser_role role)
{
	struct parser parser;

	assert_int_equal(parser_start(role, &parser), 0);
	return parser;
}

static struct zygote_stats stats_now(void)
{
	struct zygote_stats stats;

	zygote_tend();
	zygote_stats(&stats);
	return stats;
}

static int ask_for_number(enum parser_role role)
{
	struct parser parser = new_parser(role);
	int number;

	assert_int_equal(parser_receive(parser.sock, &number, sizeof(number), NULL), 0);
	parser_stop(&parser);
	return number;
}

/* The value of a line of the parser's status. */
static void read_status(pid_t pid, const char *key, char *ret, size_t size)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	ret[0] = '\0';
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			snprintf(ret, size, "%s", line + strlen(key) + 2);
	}
	fclose(file);
	ret[strcspn(ret, "\n")] = '\0';
}

static void assert_status(pid_t pid, const char *key, const char *expected)
{
	char value[256];

	read_status(pid, key, value, sizeof(value));
	assert_string_equal(value, expected);
}

static void assert_ids(pid_t pid, uint32_t id)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "%u\t%u\t%u\t%u", id, id, id, id);
	assert_status(pid, "Uid", expected);
	assert_status(pid, "Gid", expected);
}

static void a_parser_has_no_rights(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);

	assert_status(parser.pid, "CapEff", "0000000000000000");
	assert_status(parser.pid, "CapPrm", "0000000000000000");
	assert_status(parser.pid, "CapInh", "0000000000000000");
	assert_status(parser.pid, "CapAmb", "0000000000000000");
	assert_status(parser.pid, "Seccomp", "2");
	assert_status(parser.pid, "NoNewPrivs", "1");
	if (geteuid() == 0) {
		assert_status(parser.pid, "CapBnd", "0000000000000000");
		assert_ids(parser.pid, stats_now().uid);
		assert_status(parser.pid, "Groups", " ");
	}
	parser_stop(&parser);
}

/* Whether this process's user namespace has the IDs that are nobody's. */
static bool has_own_ids(void)
{
	unsigned inside = 0, outside, count = 0;
	bool has_them = false;
	FILE *file = fopen("/proc/self/uid_map", "re");

	assert_non_null(file);
	while (fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
		has_them |= inside <= RIGHTS_FIRST_ID &&
			    count - 1 >= RIGHTS_FIRST_ID + RIGHTS_IDS - 1 - inside;
	fclose(file);
	return has_them;
}

static void no_stranger_has_a_parsers_uid(void **state)
{
	uint32_t first;

	if (geteuid() != 0 || !has_own_ids())
		skip();
	first = stats_now().uid;
	assert_in_range(first, RIGHTS_FIRST_ID, RIGHTS_FIRST_ID + RIGHTS_IDS - 1);
	zygote_stop();
	assert_int_equal(zygote_start(), 0);
	assert_int_not_equal(stats_now().uid, first);
}

static bool has_random_layout(void)
{
	char text[8] = "0";
	FILE *file = fopen("/proc/sys/kernel/randomize_va_space", "re");

	if (file) {
		assert_non_null(fgets(text, sizeof(text), file));
		fclose(file);
	}
	return text[0] != '0' && !(personality(0xffffffff) & ADDR_NO_RANDOMIZE);
}

static void a_parser_has_nothing_of_the_collectors_memory(void **state)
{
	struct inheritance own, its;
	struct parser parser;

	assert_int_equal(setenv("FG_TEST_SECRET", "a token", 1), 0);
	zygote_stop();
	assert_int_equal(zygote_start(), 0);
	own = own_inheritance();
	assert_int_equal(unsetenv("FG_TEST_SECRET"), 0);
	assert_true(own.has_environment);
	parser = new_parser(PARSER_MAPS);
	assert_int_equal(parser_receive(parser.sock, &its, sizeof(its), NULL), 0);
	parser_stop(&parser);
	assert_false(its.has_environment);
	assert_memory_not_equal(its.random, own.random, sizeof(own.random));
	if (has_random_layout()) {
		assert_ptr_not_equal(its.data, own.data);
		assert_ptr_not_equal(its.code, own.code);
		assert_ptr_not_equal(its.library, own.library);
	}
}

static void the_kernel_takes_memory_of_a_parser_first(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)parser.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "1000\n");
	parser_stop(&parser);
}

static void a_forbidden_call_ends_a_parser_and_no_other(void **state)
{
	struct parser other = new_parser(PARSER_UNWIND);
	enum attack answer = ATTACKS, harmless = ATTACKS;

	for (enum attack a = 0; a < ATTACKS; a++) {
		struct parser parser = new_parser(PARSER_UNWIND);
		const uint64_t before = stats_now().forbidden;
#ifdef FG_SANITIZED
		if (a == OPEN_FILE) { /* a sanitizer looks for symbols, see serve_open */
			parser_stop(&parser);
			continue;
		}
#endif
		print_message("attack %d\n", (int)a);
		assert_int_equal(parser_send(parser.sock, &a, sizeof(a), -1), 0);
		assert_int_equal(parser_receive(parser.sock, &answer, sizeof(answer), NULL),
				 -EBADMSG);
		close(parser.sock);
		for (int i = 0; i < PATIENCE_MS && stats_now().forbidden == before; i++)
			usleep(1000);
		assert_int_equal(stats_now().forbidden, before + 1);
	}
	assert_int_equal(parser_send(other.sock, &harmless, sizeof(harmless), -1), 0);
	assert_int_equal(parser_receive(other.sock, &answer, sizeof(answer), NULL), 0);
	parser_stop(&other);
}

static void an_open_of_a_parser_may_only_fail(void **state)
{
	assert_int_equal(ask_for_number(PARSER_SYMBOLS), EACCES);
}

static void a_parser_has_no_descriptors_of_the_collector(void **state)
{
	const int secret = memfd_create("secret", 0); /* not even closed by execve */

	assert_true(secret >= 0);
	zygote_stop();
	assert_int_equal(zygote_start(), 0);
#ifdef FG_SANITIZED
	assert_true(ask_for_number(PARSER_DEBUG) <= 1); /* stderr stays */
#else
	assert_int_equal(ask_for_number(PARSER_DEBUG), 0);
#endif
	close(secret);
}

static void a_parser_has_so_much_memory(void **state)
{
	const int mib = ask_for_number(PARSER_LINES);

#ifdef FG_SANITIZED
	assert_true(mib > 0); /* a sanitizer reserves more memory than a limit would leave */
#else
	assert_in_range(mib, 1, 64);
#endif
}

static void a_parser_that_computes_for_ever_ends(void **state)
{
	struct parser parser = new_parser(PARSER_NAMES);
	const uint64_t before = stats_now().killed;
	char byte;

	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	for (int i = 0; i < PATIENCE_MS && stats_now().killed == before; i++)
		usleep(1000);
	assert_int_equal(stats_now().killed, before + 1);
	close(parser.sock);
}

static void a_parser_is_killed_by_its_number(void **state)
{
	struct parser parser = new_parser(PARSER_NAMES), other = new_parser(PARSER_UNWIND);
	enum attack harmless = ATTACKS;
	char byte;

	zygote_kill_parser(parser.id, true);
	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	assert_int_equal(stats_now().died, 0);
	assert_int_equal(stats_now().killed, 1);
	close(parser.sock);
	assert_int_equal(parser_send(other.sock, &harmless, sizeof(harmless), -1), 0);
	assert_int_equal(parser_receive(other.sock, &harmless, sizeof(harmless), NULL), 0);
	parser_stop(&other);
}

static void a_crash_is_counted(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);
	char byte;

	if (geteuid() != 0) {
		parser_stop(&parser);
		skip();
	}
	assert_int_equal(kill(parser.pid, SIGSEGV), 0);
	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	for (int i = 0; i < PATIENCE_MS && stats_now().died == 0; i++)
		usleep(1000);
	assert_int_equal(stats_now().died, 1);
	assert_int_equal(stats_now().forbidden, 0);
	close(parser.sock);
}

static void parsers_end_with_the_zygote(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);
	char byte;

	zygote_stop();
	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	close(parser.sock);
	assert_false(zygote_is_used());
}

static pid_t parent_of(pid_t pid)
{
	char text[32];

	read_status(pid, "PPid", text, sizeof(text));
	return atoi(text);
}

static void a_zygote_that_ends_is_replaced(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);
	const pid_t zygote = parent_of(parser.pid), keeper = parent_of(zygote);
	char byte;

	assert_int_equal(parent_of(keeper), getpid());
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(kill(parent_of(parser.pid), SIGSEGV), 0);
		/* The parser ends with the zygote. */
		assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
		close(parser.sock);
		parser = new_parser(PARSER_UNWIND);
		assert_int_equal(parent_of(parent_of(parser.pid)), keeper);
		assert_int_equal(stats_now().restarted, i);
		assert_int_equal(stats_now().died, 0);
		assert_true(stats_now().is_running);
	}
	assert_status(parser.pid, "CapEff", "0000000000000000");
	parser_stop(&parser);
}

/* So much time passes, in which the collector looks often; nothing else does anything meanwhile. */
static void look_for(uint64_t ns)
{
	const uint64_t began_ns = clock_now_ns();

	for (uint64_t passed_ns = 0; passed_ns <= ns; passed_ns += CLOCK_NS_PER_SEC / 10) {
		clock_pretend(began_ns + passed_ns);
		zygote_tend();
	}
}

static struct parser begun_parser(void)
{
	struct parser parser;

	assert_int_equal(parser_begin(PARSER_UNWIND, &parser), 0);
	return parser;
}

static void assert_starts(struct parser *parser)
{
	assert_int_equal(parser_receive(parser->sock, &parser->pid, sizeof(parser->pid), NULL), 0);
}

static void a_zygote_that_takes_no_request_is_replaced(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND), waiting;
	const pid_t zygote = parent_of(parser.pid), keeper = parent_of(zygote);

	assert_int_equal(kill(zygote, SIGSTOP), 0);
	look_for(2 * ZYGOTE_PATIENCE_NS); /* without a request nobody knows, and nobody waits */
	assert_int_equal(stats_now().restarted, 0);
	waiting = begun_parser();
	look_for(ZYGOTE_PATIENCE_NS);
	clock_pretend(0);
	assert_starts(&waiting); /* by the next zygote */
	for (int i = 0; i < PATIENCE_MS && stats_now().restarted == 0; i++)
		usleep(1000);
	assert_int_equal(stats_now().restarted, 1);
	assert_true(stats_now().is_running);
	assert_int_not_equal(parent_of(waiting.pid), zygote);
	assert_int_equal(parent_of(parent_of(waiting.pid)), keeper);
	parser_stop(&waiting);
	close(parser.sock);
}

static void who_waits_for_a_parser_has_a_silent_zygote_replaced(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);

	assert_int_equal(kill(parent_of(parser.pid), SIGSTOP), 0);
	close(parser.sock);
	parser = new_parser(PARSER_UNWIND);
	assert_int_equal(stats_now().restarted, 1);
	parser_stop(&parser);
}

/* As after the whole service was frozen. */
static void time_in_which_the_collector_stood_still_does_not_count(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND), waiting;
	const pid_t zygote = parent_of(parser.pid);

	assert_int_equal(kill(zygote, SIGSTOP), 0);
	waiting = begun_parser();
	zygote_tend();
	clock_pretend(clock_now_ns() + 60 * CLOCK_NS_PER_SEC);
	zygote_tend();
	look_for(CLOCK_NS_PER_SEC);
	clock_pretend(0);
	assert_int_equal(kill(zygote, SIGCONT), 0);
	assert_starts(&waiting);
	assert_int_equal(parent_of(waiting.pid), zygote);
	assert_int_equal(stats_now().restarted, 0);
	parser_stop(&waiting);
	parser_stop(&parser);
}

/* As where the kernel refuses a process: nothing parses in this role. */
static void a_parser_that_cannot_be_started_is_counted(void **state)
{
	struct parser parser;
	char byte;

	assert_int_equal(parser_begin(PARSER_JARS, &parser), 0);
	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	for (int i = 0; i < PATIENCE_MS && stats_now().not_started == 0; i++)
		usleep(1000);
	assert_int_equal(stats_now().not_started, 1);
	assert_int_equal(stats_now().restarted, 0);
	parser_stop(&parser);
}

static void a_request_has_not_waited_before_it_was_made(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND), waiting;
	const pid_t zygote = parent_of(parser.pid);

	assert_int_equal(kill(zygote, SIGSTOP), 0);
	zygote_tend(); /* takes all that was said before */
	clock_pretend(clock_now_ns() + 60 * CLOCK_NS_PER_SEC);
	waiting = begun_parser();
	look_for(ZYGOTE_PATIENCE_NS - CLOCK_NS_PER_SEC / 10);
	clock_pretend(0);
	assert_int_equal(kill(zygote, SIGCONT), 0);
	assert_starts(&waiting);
	assert_int_equal(parent_of(waiting.pid), zygote);
	assert_int_equal(stats_now().restarted, 0);
	parser_stop(&waiting);
	parser_stop(&parser);
}

static void a_keeper_that_is_silent_too_is_said_to_be_lost(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND), waiting, next;
	const pid_t zygote = parent_of(parser.pid), keeper = parent_of(zygote);

	assert_int_equal(kill(keeper, SIGSTOP), 0);
	assert_int_equal(kill(zygote, SIGSTOP), 0);
	waiting = begun_parser();
	look_for(ZYGOTE_PATIENCE_NS);
	assert_true(stats_now().is_running);
	look_for(ZYGOTE_PATIENCE_NS);
	clock_pretend(0);
	assert_false(stats_now().is_running);
	assert_true(parser_start(PARSER_UNWIND, &next) < 0);
	assert_int_equal(kill(keeper, SIGKILL), 0); /* the others with it */
	close(waiting.sock);
	close(parser.sock);
}

static void a_stopped_zygote_ends_with_the_collector(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND);
	const pid_t zygote = parent_of(parser.pid);
	char byte;

	assert_int_equal(kill(zygote, SIGSTOP), 0);
	zygote_stop();
	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	close(parser.sock);
	for (int i = 0; i < PATIENCE_MS && kill(zygote, 0) == 0; i++)
		usleep(1000);
	assert_int_equal(kill(zygote, 0), -1);
}

static void without_a_zygote_nothing_is_parsed(void **state)
{
	struct parser parser = new_parser(PARSER_UNWIND), next;
	const pid_t keeper = parent_of(parent_of(parser.pid));
	char byte;
	int status;

	assert_int_equal(kill(keeper, SIGKILL), 0);
	/* The zygote and the parser end with the keeper. */
	assert_int_equal(parser_receive(parser.sock, &byte, 1, NULL), -EBADMSG);
	close(parser.sock);
	assert_int_equal(waitpid(keeper, &status, 0), keeper);
	assert_true(parser_start(PARSER_UNWIND, &next) < 0);
	assert_false(stats_now().is_running);
	assert_true(zygote_is_used()); /* so that nobody parses in the collector instead */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_parser_has_no_rights, start, stop),
		cmocka_unit_test_setup_teardown(the_kernel_takes_memory_of_a_parser_first, start,
						stop),
		cmocka_unit_test_setup_teardown(a_forbidden_call_ends_a_parser_and_no_other, start,
						stop),
		cmocka_unit_test_setup_teardown(an_open_of_a_parser_may_only_fail, start, stop),
		cmocka_unit_test_setup_teardown(a_parser_has_no_descriptors_of_the_collector, start,
						stop),
		cmocka_unit_test_setup_teardown(a_parser_has_so_much_memory, start, stop),
		cmocka_unit_test_setup_teardown(a_parser_that_computes_for_ever_ends, start, stop),
		cmocka_unit_test_setup_teardown(a_parser_is_killed_by_its_number, start, stop),
		cmocka_unit_test_setup_teardown(a_crash_is_counted, start, stop),
		cmocka_unit_test_setup_teardown(parsers_end_with_the_zygote, start, stop),
		cmocka_unit_test_setup_teardown(a_zygote_that_ends_is_replaced, start, stop),
		cmocka_unit_test_setup_teardown(without_a_zygote_nothing_is_parsed, start, stop),
		cmocka_unit_test_setup_teardown(no_stranger_has_a_parsers_uid, start, stop),
		cmocka_unit_test_setup_teardown(a_parser_has_nothing_of_the_collectors_memory,
						start, stop),
		cmocka_unit_test_setup_teardown(a_zygote_that_takes_no_request_is_replaced, start,
						stop),
		cmocka_unit_test_setup_teardown(who_waits_for_a_parser_has_a_silent_zygote_replaced,
						start, stop),
		cmocka_unit_test_setup_teardown(
			time_in_which_the_collector_stood_still_does_not_count, start, stop),
		cmocka_unit_test_setup_teardown(a_parser_that_cannot_be_started_is_counted, start,
						stop),
		cmocka_unit_test_setup_teardown(a_request_has_not_waited_before_it_was_made, start,
						stop),
		cmocka_unit_test_setup_teardown(a_keeper_that_is_silent_too_is_said_to_be_lost,
						start, stop),
		cmocka_unit_test_setup_teardown(a_stopped_zygote_ends_with_the_collector, start,
						stop),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
