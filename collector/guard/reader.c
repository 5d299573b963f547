// SPDX-License-Identifier: Apache-2.0
/*
 * A reader is a process that reach.h has forked, a socket to it, and memory that both have mapped
 * (struct slot). A message to it is one byte, with a descriptor if the call has one, and says that
 * the slot has a request; a byte back says that the slot has the answer. The process ends when the
 * socket does.
 */
#include "guard/reader.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/reach.h"
#include "base/thread.h"
#include "guard/helpers.h"
#include "guard/turn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS	   UINT64_C(100000000) /* between two looks whether calls are to end */
#define KEPT_BYTES (512u << 10)	       /* of an idle reader's answer; the rest is given back */

struct slot {
	pid_t pid; /* the reader's; 0: it has not begun */
	const struct reader_role *role;
	size_t len;
	int64_t result;
	uint64_t back_ns;
	_Alignas(16) char request[READER_REQUEST_BYTES];
	_Alignas(4096) char bytes[READER_MAX_BYTES];
};

struct reader {
	struct slot *slot;
	int sock, cpu; /* cpu: that the process is bound to; -1: none */
	bool is_out;   /* a call has begun and not ended */
	bool is_dead;
	unsigned round;	     /* of reach_start */
	struct reader *next; /* among the idle */
};

/* ---- the process ---- */

static _Noreturn void serve(int sock, struct slot *slot)
{
	char byte;
	int fd;

	prctl(PR_SET_NAME, "fgcollect-read");
	turn_ask_short(); /* somebody waits for each call */
	__atomic_store_n(&slot->pid, getpid(), __ATOMIC_RELEASE);
	while (reach_receive(sock, &byte, sizeof(byte), &fd) == (ssize_t)sizeof(byte)) {
		slot->result = slot->role->run(slot->request, slot->len, fd, slot->bytes);
		if (fd >= 0)
			close(fd);
		slot->back_ns = clock_read_ns(CLOCK_MONOTONIC);
		if (reach_send(sock, &byte, sizeof(byte), REACH_NO_FD) < 0)
			break;
	}
	_exit(0);
}

/* The call of reach.h, which does not end. */
static int run_reader(const void *request, size_t len, int fd)
{
	struct slot *slot;
	int memory;
	char byte;

	(void)request;
	(void)len;
	if (reach_receive(fd, &byte, sizeof(byte), &memory) != (ssize_t)sizeof(byte) || memory < 0)
		return -EBADMSG;
	slot = mmap(NULL, sizeof(*slot), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	close(memory);
	if (slot == MAP_FAILED)
		return -errno;
	serve(fd, slot);
}

static const struct reach_role reader_process = {run_reader, false};

/* ---- making and ending ---- */

static void end(struct reader *reader)
{
	if (reader->sock >= 0)
		close(reader->sock);
	if (reader->slot)
		munmap(reader->slot, sizeof(*reader->slot));
	free(reader);
}

static struct slot *make_slot(int *ret_memory)
{
	const int memory = memfd_create("fgcollect-reader", MFD_CLOEXEC);
	void *slot = MAP_FAILED;

	if (memory >= 0 && ftruncate(memory, sizeof(struct slot)) == 0)
		slot = mmap(NULL, sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, memory,
			    0);
	if (slot == MAP_FAILED) {
		if (memory >= 0)
			close(memory);
		return NULL;
	}
	*ret_memory = memory;
	return slot;
}

/* Has the process begin, with one end of a socket and the memory. */
static int begin_process(struct reader *reader, int memory)
{
	const char byte = 0;
	int socks[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	reader->sock = socks[0];
	err = reach_send(reader->sock, &byte, sizeof(byte), memory);
	if (!err)
		err = reach_leave(&reader_process, socks[1]);
	close(socks[1]);
	return err;
}

static struct reader *make(void)
{
	struct reader *const reader = calloc(1, sizeof(*reader));
	int memory = -1, err = -ENOMEM;

	if (!reader)
		return NULL;
	reader->sock = reader->cpu = -1;
	reader->round = reach_round();
	reader->slot = make_slot(&memory);
	if (reader->slot)
		err = begin_process(reader, memory);
	if (memory >= 0)
		close(memory);
	if (!err)
		return reader;
	end(reader);
	return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reader *idle;
static size_t n_idle;

static struct reader *take_idle(void)
{
	struct reader *reader;

	THREAD_HOLD(&lock);
	reader = idle;
	if (reader) {
		idle = reader->next;
		n_idle--;
	}
	return reader;
}

static bool is_over(const struct reader *reader)
{
	struct pollfd polled = {.fd = reader->sock, .events = POLLIN};

	/* Nobody has asked for anything: what is there to read is the end. */
	return reader->round != reach_round() || poll(&polled, 1, 0) != 0;
}

struct reader *reader_take(void)
{
	struct reader *reader;

	if (!reach_is_used())
		return NULL;
	while ((reader = take_idle())) {
		if (!is_over(reader))
			return reader;
		end(reader);
	}
	return make();
}

/* Another thread that takes the reader need not wait for one to be made. */
static bool put_idle(struct reader *reader)
{
	THREAD_HOLD(&lock);
	if (n_idle >= READER_MAX_IDLE)
		return false;
	reader->next = idle;
	idle = reader;
	n_idle++;
	return true;
}

void reader_give(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->is_out || reader->is_dead || !reach_is_used()) {
		end(reader);
		return;
	}
	if (reader->slot->result > KEPT_BYTES)
		(void)madvise(reader->slot->bytes + KEPT_BYTES,
			      sizeof(reader->slot->bytes) - KEPT_BYTES, MADV_REMOVE);
	if (!put_idle(reader))
		end(reader);
}

/* ---- calls ---- */

void reader_set(struct reader *reader, const struct reader_role *role, const void *request,
		size_t len)
{
	reader->slot->role = role;
	reader->slot->len = len <= READER_REQUEST_BYTES ? len : 0;
	if (reader->slot->len > 0)
		memcpy(reader->slot->request, request, reader->slot->len);
}

bool reader_begin(struct reader *reader, int fd)
{
	const char byte = 0;

	reader->is_dead = reach_send(reader->sock, &byte, sizeof(byte), fd) < 0;
	reader->is_out = !reader->is_dead;
	if (reader->is_dead)
		reader->slot->result = -ECHILD;
	return reader->is_out;
}

/* Takes the byte that says that there is an answer. */
static void take_answer(struct reader *reader)
{
	char byte;

	reader->is_dead = recv(reader->sock, &byte, sizeof(byte), MSG_DONTWAIT) != sizeof(byte);
	reader->is_out = false;
	if (!reader->is_dead)
		return;
	reader->slot->result = -ECHILD;
	reader->slot->back_ns = clock_read_ns(CLOCK_MONOTONIC);
}

bool reader_wait(struct reader *reader, uint64_t until_ns)
{
	struct pollfd polled = {.fd = reader->sock, .events = POLLIN};

	while (reader->is_out) {
		const uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
		const uint64_t ns = until_ns > now_ns ? until_ns - now_ns : 0;
		const struct timespec left = {.tv_sec = (time_t)(ns / CLOCK_NS_PER_SEC),
					      .tv_nsec = (long)(ns % CLOCK_NS_PER_SEC)};
		const int n = ppoll(&polled, 1, &left, NULL);

		if (n > 0)
			take_answer(reader);
		else if (n == 0)
			return false;
	}
	return true;
}

pid_t reader_pid(const struct reader *reader)
{
	return __atomic_load_n(&reader->slot->pid, __ATOMIC_ACQUIRE);
}

bool reader_process_is_busy(pid_t pid)
{
	char path[32], text[512];
	const char *state;

	if (pid == 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	state = strrchr(text, ')');
	return state && strncmp(state, ") R", 3) == 0;
}

bool reader_is_busy(const struct reader *reader)
{
	return reader_process_is_busy(reader_pid(reader));
}

/* There the process runs as soon as the caller waits, see helpers.c. */
static void bind_to_caller(struct reader *reader)
{
	const pid_t pid = reader_pid(reader);
	const int cpu = sched_getcpu();
	cpu_set_t set;

	if (pid == 0 || cpu < 0 || cpu >= CPU_SETSIZE || cpu == reader->cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set) == 0)
		reader->cpu = cpu;
}

bool reader_run(struct reader *reader, int fd, uint64_t wait_ns)
{
	bind_to_caller(reader);
	if (!reader_begin(reader, fd))
		return true; /* with an error */
	for (unsigned waits = 0; waits < HELPERS_BUSY_WAITS; waits++) {
		if (reader_wait(reader, clock_read_ns(CLOCK_MONOTONIC) + wait_ns))
			return true;
		if (!reader_is_busy(reader))
			break;
	}
	return reader_wait(reader, 0);
}

uint64_t reader_back_ns(const struct reader *reader)
{
	return reader->slot->back_ns;
}

ssize_t reader_result(const struct reader *reader, const void **ret_bytes)
{
	*ret_bytes = reader->slot->bytes;
	return (ssize_t)reader->slot->result;
}

/* ---- memory ---- */

struct memory_request {
	pid_t pid;
	uint32_t n;
	struct iovec from[READER_MAX_PIECES];
};

_Static_assert(sizeof(struct memory_request) <= READER_REQUEST_BYTES, "all pieces fit a request");

static ssize_t run_memory(const void *bytes, size_t len, int fd, void *ret)
{
	const struct memory_request *const request = bytes;
	const struct iovec to = {ret, READER_MAX_BYTES};
	const ssize_t got = process_vm_readv(request->pid, &to, 1, request->from, request->n, 0);

	(void)len;
	(void)fd;
	return got < 0 ? -errno : got;
}

static const struct reader_role memory_role = {run_memory};

void reader_set_memory(struct reader *reader, pid_t pid, const struct iovec *from, size_t n)
{
	struct memory_request *const request = (void *)reader->slot->request;

	reader->slot->role = &memory_role;
	reader->slot->len = offsetof(struct memory_request, from) + n * sizeof(*from);
	request->pid = pid;
	request->n = (uint32_t)n;
	memcpy(request->from, from, n * sizeof(*from));
}

/* Where a list of pieces has been filled or read up to. */
struct place {
	const struct iovec *pieces;
	size_t n, at, in_piece;
};

/* The next pieces of the list, of READER_MAX_BYTES together at most. Returns how many. */
static size_t cut(struct place *place, struct iovec *ret, size_t *ret_bytes)
{
	size_t n = 0, bytes = 0;

	while (place->at < place->n && n < READER_MAX_PIECES && bytes < READER_MAX_BYTES) {
		const struct iovec *const piece = &place->pieces[place->at];
		const size_t left = piece->iov_len - place->in_piece;
		const size_t part =
			left < READER_MAX_BYTES - bytes ? left : READER_MAX_BYTES - bytes;

		ret[n++] = (struct iovec){(char *)piece->iov_base + place->in_piece, part};
		bytes += part;
		place->in_piece += part;
		if (place->in_piece == piece->iov_len) {
			place->at++;
			place->in_piece = 0;
		}
	}
	*ret_bytes = bytes;
	return n;
}

static void fill(struct place *place, const char *bytes, size_t len)
{
	while (len > 0 && place->at < place->n) {
		const struct iovec *const piece = &place->pieces[place->at];
		const size_t left = piece->iov_len - place->in_piece;
		const size_t part = left < len ? left : len;

		memcpy((char *)piece->iov_base + place->in_piece, bytes, part);
		bytes += part;
		len -= part;
		place->in_piece += part;
		if (place->in_piece == piece->iov_len) {
			place->at++;
			place->in_piece = 0;
		}
	}
}

static ssize_t wait_for_result(struct reader *reader, const void **ret_bytes)
{
	if (!reader_begin(reader, REACH_NO_FD))
		return -ECHILD;
	while (!reader_wait(reader, clock_read_ns(CLOCK_MONOTONIC) + LOOK_NS)) {
		if (!reach_is_used())
			return -ECHILD;
	}
	return reader_result(reader, ret_bytes);
}

static ssize_t read_by(struct reader *reader, pid_t pid, struct place *to, struct place *from)
{
	struct iovec pieces[READER_MAX_PIECES];
	ssize_t sum = 0;

	while (from->at < from->n) {
		size_t bytes;
		const size_t n = cut(from, pieces, &bytes);
		const void *got;
		ssize_t result;

		reader_set_memory(reader, pid, pieces, n);
		result = wait_for_result(reader, &got);
		if (result < 0)
			return sum > 0 ? sum : result;
		fill(to, got, (size_t)result);
		sum += result;
		if ((size_t)result < bytes)
			break;
	}
	return sum;
}

ssize_t reader_read_memory(pid_t pid, const struct iovec *to, size_t n_to, const struct iovec *from,
			   size_t n_from)
{
	struct place into = {.pieces = to, .n = n_to}, out_of = {.pieces = from, .n = n_from};
	struct reader *reader;
	ssize_t got;

	if (!reach_is_begun()) {
		got = process_vm_readv(pid, to, n_to, from, n_from, 0);
		return got < 0 ? -errno : got;
	}
	reader = reader_take();
	got = reader ? read_by(reader, pid, &into, &out_of) : -ECHILD;
	reader_give(reader);
	return got;
}
