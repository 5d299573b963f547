// SPDX-License-Identifier: Apache-2.0
/*
 * A collector's stand-in: an nng PULL socket that prints what agents say, a record a line:
 *
 *   listener SOCKET [tables]
 *
 * A line is words separated by tabs: the connection's number, the record's kind, its flags, then
 * what the kind holds. Connections that come and go are lines too. Ends with SIGTERM.
 *
 * A load has its names however they were told, then its frame (size, complete, entry, in decimal),
 * which a stub has before its name, then its inline table in numbers: bytes, methods,
 * methods named here, regions, how the method itself is told, its ID and lines. With "tables" each
 * region follows as a line: the code's address, where it ends, and its frames, outermost first.
 */
#include "shared/wire.h"
#include "known.h"

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONNECTIONS_MAX 64

static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static bool with_tables;

/* What each connection has named; the last one to come takes the place of the first. */
static struct {
	int pipe;
	struct known known;
} connections[CONNECTIONS_MAX];

static struct known *find_known(int pipe)
{
	static size_t next;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (connections[i].pipe == pipe)
			return &connections[i].known;
	}
	next = (next + 1) % CONNECTIONS_MAX;
	known_clear(&connections[next].known);
	connections[next].pipe = pipe;
	return &connections[next].known;
}

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
	const char *what = event == NNG_PIPE_EV_ADD_POST ? "connected" : "disconnected";

	(void)arg;
	pthread_mutex_lock(&out_lock);
	printf("%d\t%s\n", nng_pipe_id(pipe), what);
	fflush(stdout);
	pthread_mutex_unlock(&out_lock);
}

static void print_str(struct wire_str s)
{
	putchar('\t');
	for (uint16_t i = 0; i < s.len; i++)
		putchar((unsigned char)s.data[i] < ' ' ? '?' : s.data[i]);
}

static void print_frame(const struct wire_frame *frame, bool is_broken)
{
	printf("\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, frame->size, frame->complete, frame->entry);
	if (is_broken)
		printf("\tbroken");
}

static void print_hello(const struct wire_record *record)
{
	struct wire_hello hello;
	struct wire_value value;
	struct wire_attr attr;
	size_t pos = 0;

	if (wire_decode_hello(record, &hello) != 0)
		return;
	printf("\tpid=%" PRIu32 "\tflags=%" PRIu32 "\tbuffer=%" PRIu32, hello.pid, hello.flags,
	       hello.buffer_bytes);
	while (wire_hello_next_attr(&hello, &pos, &attr)) {
		print_str(attr.key);
		printf("=%.*s", attr.text.len, attr.text.data);
	}
	while (wire_hello_next_value(&hello, &pos, &value)) {
		print_str(value.key);
		printf("=%" PRId64, value.value);
	}
}

static void print_regions(int pipe, const struct known_load *known)
{
	for (uint32_t i = 0; i < known->n_regions; i++) {
		const struct known_region *region = &known->regions[i];

		printf("\n%d\tregion\t0\t%" PRIx64 "\t%" PRIx32, pipe, known->load.addr,
		       region->end);
		for (uint32_t j = 0; j < region->depth; j++) {
			const struct known_method *method =
				known->methods[region->frames[j].method];

			printf("\t%s%s@%" PRId32, method->class_sig, method->name,
			       region->frames[j].bci);
		}
	}
}

static void print_table(int pipe, const struct known_load *known)
{
	uint32_t n_named = 0;

	for (uint32_t i = 0; i < known->n_methods; i++)
		n_named += known->hows[i] != WIRE_METHOD_KNOWN;
	if (!known->has_table)
		return;
	printf("\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%u\t%" PRIu32 "\t%" PRIu32,
	       known->section_bytes, known->n_methods, n_named, known->n_regions, known->hows[0],
	       known->methods[0]->id, known->methods[0]->n_lines);
	if (with_tables)
		print_regions(pipe, known);
}

static void print_load(int pipe, const struct wire_record *record)
{
	const struct wire_method_load *load;
	struct known_load *known;
	int err = known_take(find_known(pipe), record, &known);

	if (err != 0) {
		printf("\tbroken\t%s", strerror(-err));
		return;
	}
	load = &known->load;
	printf("\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx32 "\t%u\t%u", load->time_ns, load->addr,
	       load->size, load->level, load->code_kind);
	print_str(load->class_sig);
	print_str(load->method);
	print_str(load->method_sig);
	print_str(load->source_file);
	print_frame(&load->frame, load->frame_is_broken);
	print_table(pipe, known);
}

static void print_small(const struct wire_record *record)
{
	struct wire_method_unload unload;
	struct wire_resync resync;
	struct wire_thread thread;
	struct wire_stub stub;
	struct wire_loss loss;

	if (wire_decode_resync(record, &resync) == 0 &&
	    (record->kind == WIRE_RESYNC_BEGIN || record->kind == WIRE_RESYNC_END)) {
		printf("\t%" PRIu64 "\t%" PRIu32 "\t%d", resync.time_ns, resync.epoch,
		       resync.complete);
	} else if (record->kind == WIRE_METHOD_UNLOAD &&
		   wire_decode_method_unload(record, &unload) == 0) {
		printf("\t%" PRIu64 "\t%" PRIx64, unload.time_ns, unload.addr);
	} else if (record->kind == WIRE_STUB && wire_decode_stub(record, &stub) == 0) {
		printf("\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx32, stub.time_ns, stub.addr, stub.size);
		print_frame(&stub.frame, stub.frame_is_broken);
		print_str(stub.name);
	} else if (record->kind == WIRE_LOSS && wire_decode_loss(record, &loss) == 0) {
		for (uint16_t i = 1; i < WIRE_LOSS_REASONS; i++)
			printf("\t%s=%" PRIu64, wire_loss_reason_name(i), loss.count[i]);
	} else if (record->kind == WIRE_THREAD && wire_decode_thread(record, &thread) == 0) {
		printf("\t%" PRIu32, thread.tid);
		print_str(thread.name);
	}
}

static const char *kind_name(uint16_t kind)
{
	static const char *const names[] = {
		[WIRE_HELLO] = "hello",
		[WIRE_RESYNC_BEGIN] = "resync begin",
		[WIRE_RESYNC_END] = "resync end",
		[WIRE_METHOD_LOAD] = "method load",
		[WIRE_METHOD_UNLOAD] = "method unload",
		[WIRE_STUB] = "stub",
		[WIRE_LOSS] = "loss",
		[WIRE_BYE] = "bye",
		[WIRE_THREAD] = "thread",
	};
	const bool is_known = kind < sizeof(names) / sizeof(names[0]) && names[kind];

	return is_known ? names[kind] : "unknown";
}

static void print_message(nng_msg *msg)
{
	const int pipe = nng_pipe_id(nng_msg_get_pipe(msg));
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record;

	if (wire_decode_message(nng_msg_body(msg), nng_msg_len(msg), &message) != 0) {
		printf("%d\tbroken\n", pipe);
		return;
	}
	printf("%d\tmessage\t%" PRIu64 "\t%zu\n", pipe, message.seq, nng_msg_len(msg));
	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) == 1) {
		printf("%d\t%s\t%u", pipe, kind_name(record.kind), record.flags);
		if (record.kind == WIRE_HELLO)
			print_hello(&record);
		else if (record.kind == WIRE_METHOD_LOAD)
			print_load(pipe, &record);
		else
			print_small(&record);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	nng_socket socket;
	char url[256];
	nng_msg *msg;

	if (argc != 2 && (argc != 3 || strcmp(argv[2], "tables") != 0)) {
		fprintf(stderr, "usage: listener SOCKET [tables]\n");
		return 2;
	}
	with_tables = argc == 3;
	snprintf(url, sizeof(url), "ipc://%s", argv[1]);
	if (nng_pull0_open(&socket) != 0 ||
	    nng_pipe_notify(socket, NNG_PIPE_EV_ADD_POST, on_pipe, NULL) != 0 ||
	    nng_pipe_notify(socket, NNG_PIPE_EV_REM_POST, on_pipe, NULL) != 0 ||
	    nng_listen(socket, url, NULL, 0) != 0) {
		fprintf(stderr, "listener: cannot listen on %s\n", argv[1]);
		return 1;
	}
	chmod(argv[1], 0666);
	printf("0\tlistening\n");
	fflush(stdout);
	while (nng_recvmsg(socket, &msg, 0) == 0) {
		pthread_mutex_lock(&out_lock);
		print_message(msg);
		fflush(stdout);
		pthread_mutex_unlock(&out_lock);
		nng_msg_free(msg);
	}
	return 0;
}
