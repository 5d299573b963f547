// SPDX-License-Identifier: Apache-2.0
/* Claims about loop/engine.h: what a turn of the loop does, and leaves to the next turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/temp_dir.h"
#include "confine/zygote.h"
#include "loop/engine.h"
#include "symbolize/parsers.h"

/* The engine gives up rights without which the sanitizer cannot look for leaks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static uint8_t bytes[4096];
static unsigned n_heard;
static uint64_t seq;

/* Agents have much to say: each record takes longer than a turn that also writes has for all. */
static void hear_slowly(void *arg, const struct intake_event *event)
{
	const struct timespec pause = {.tv_nsec = CLOCK_NS_PER_MS};

	(void)arg;
	n_heard += event->kind == INTAKE_RECORD;
	nanosleep(&pause, NULL);
}

static void send_all(int fd, const void *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void say(int fd, struct wire_buf *buf)
{
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES];

	assert_false(buf->overflow);
	wire_encode_message(bytes, seq++, 1);
	wire_encode_frame(frame, buf->len);
	send_all(fd, frame, sizeof(frame));
	send_all(fd, buf->data, buf->len);
	buf->len = WIRE_MESSAGE_HEADER_BYTES;
}

static int dial(struct engine *engine, const char *path, struct wire_buf *buf)
{
	const struct wire_resync resync = {.epoch = 1, .complete = true};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(addr.sun_path, path, strlen(path) + 1);
	assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	send_all(fd, greeting, sizeof(greeting));
	while (recv(fd, greeting, sizeof(greeting), MSG_DONTWAIT) != sizeof(greeting))
		engine_step(engine, CLOCK_NS_PER_MS);
	wire_encode_hello(buf, &(struct wire_hello){.pid = (uint32_t)getpid()}, NULL, NULL);
	wire_encode_resync(buf, WIRE_RESYNC_BEGIN, &resync);
	wire_encode_resync(buf, WIRE_RESYNC_END, &resync);
	say(fd, buf);
	return fd;
}

static void say_load(int fd, struct wire_buf *buf, uint64_t number)
{
	wire_encode_method_load(buf, 0,
				&(struct wire_method_load){
					.time_ns = clock_now_ns(),
					.addr = 0x7f0000000000 + 0x100 * number,
					.size = 0x80,
					.level = 4,
					.code_kind = WIRE_CODE_JAVA,
					.class_sig = wire_str_from("LA;"),
					.method = wire_str_from("a"),
					.method_sig = wire_str_from("()V"),
				});
	say(fd, buf);
}

/* Each turn finds something to hear, and perf maps are written nevertheless. */
static void a_turn_that_has_heard_much_writes_no_perf_map(void **state)
{
	struct wire_buf buf = {
		.data = bytes, .size = sizeof(bytes), .len = WIRE_MESSAGE_HEADER_BYTES};
	char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 8];
	const struct engine_options options = {.socket_path = path, .map_dir = dir};
	struct engine engine;
	int fd;

	(void)state;
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/agent", dir);
	assert_int_equal(engine_open(&engine, &options), 0);
	engine.listener.heard = hear_slowly;
	fd = dial(&engine, path, &buf);
	for (uint64_t number = 0; engine.outputs.writes < 3; number++) {
		const uint64_t written = engine.outputs.writes;

		say_load(fd, &buf, number);
		n_heard = 0;
		engine_step(&engine, CLOCK_NS_PER_MS);
		if (engine.outputs.writes > written)
			assert_int_equal(n_heard, 0);
	}
	close(fd);
	engine_close(&engine);
	temp_dir_remove(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_that_has_heard_much_writes_no_perf_map),
	};

	zygote_become(argc, argv, parser_roles);
	return cmocka_run_group_tests_name("engine_turns", tests, NULL, NULL);
}
