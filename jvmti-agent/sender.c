// SPDX-License-Identifier: Apache-2.0
/*
 * The life of a connection:
 *
 *   dial, greet -> HELLO -> recording on -> resynchronise -> send batches ... -> recording off
 *        ^                                        ^  after a full buffer  |          |
 *        |  back off, 50 ms to 1 s                +-----------------------+          |
 *        +-------------------------- gone, or took no byte for 5 s ------------------+
 *
 * A collector that takes no byte is left alone for 30 s, and then for 60 s, unless another socket
 * stands at the path meanwhile.
 *
 * With socket=listen: the collector dials, and the thread waits until then. At the JVM's end the
 * last batch, the losses and BYE are sent instead. With delay= all of it begins later, and the
 * JVM's events of code with it.
 *
 * One file, because each step of a connection decides what the next one may send and how long it
 * may wait, and the state of the connection is what they share.
 */
#include "sender.h"

#include "clock.h"
#include "jni_thread.h"
#include "resync.h"
#include "shared/wire.h"
#include "warn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES	   (512u << 10) /* for HotSpot's guard and shadow pages while attached */
#define MESSAGE_BYTES	   (64u << 10)
#define BACK_OFF_MIN_NS	   (50 * CLOCK_NS_PER_MS)
#define BACK_OFF_MAX_NS	   CLOCK_NS_PER_S
#define BACK_OFF_SYNCED_NS (400 * CLOCK_NS_PER_MS) /* limit after a complete resync */
#define BACK_OFF_MISLED_NS (10 * CLOCK_NS_PER_S)   /* from what is no collector */
#define UNREAD_MIN_NS	   (30 * CLOCK_NS_PER_S)   /* from who does not read */
#define UNREAD_MAX_NS	   (60 * CLOCK_NS_PER_S)
#define LASTING_NS	   (5 * CLOCK_NS_PER_S) /* so long a connection resets the back-off */
#define RESYNC_WAIT_MIN_NS CLOCK_NS_PER_S
#define RESYNC_WAIT_MAX_NS (64 * CLOCK_NS_PER_S)
#define RESYNC_APART_NS	   (500 * CLOCK_NS_PER_MS) /* so that losses are mended within a second */
#define RESYNC_REST	   2 /* so that no more than a third of a processor is taken */
#define LOOK_NS		   CLOCK_NS_PER_S
#define WIDE_TIMES	   16u /* so many buffers may wait while all code is repeated */
#define WIDE_MAX_BYTES	   (16u << 20)
#define PAGE_MAX_BYTES	   (64u << 10)

static void drop_uplink(struct sender *sender)
{
	recorder_stop(sender->recorder);
	uplink_close(&sender->uplink);
}

static int send_records(struct sender *sender, const uint8_t *records, size_t len)
{
	int err = uplink_is_open(&sender->uplink) ? uplink_send(&sender->uplink, records, len)
						  : -ENOTCONN;

	sender->has_sent = true;
	sender->is_unread |= err == -ETIMEDOUT && !atomic_load(&sender->quit);
	if (err < 0)
		drop_uplink(sender);
	return err;
}

/* The records of the next message, which may have been begun. Returns their bytes; 0: none wait. */
static size_t next_records(const struct sender *sender, const uint8_t **ret)
{
	const size_t begun = uplink_begun(&sender->uplink);

	return recorder_peek(sender->recorder, begun > 0 ? begun : MESSAGE_BYTES, ret);
}

/* Sends all records that wait. Returns 0, or negative errno once the connection has ended. */
static int flush(struct sender *sender)
{
	const uint8_t *records;
	size_t len;
	int err = uplink_is_open(&sender->uplink) ? 0 : -ENOTCONN;

	while (err == 0 && (len = next_records(sender, &records)) > 0) {
		err = send_records(sender, records, len);
		if (err == 0)
			recorder_consume(sender->recorder, len);
	}
	return err;
}

/* Sends what the socket takes at once. flush is the next to send. */
static int offer(void *context)
{
	struct sender *sender = context;
	const uint8_t *records;
	size_t len;
	int err = uplink_is_open(&sender->uplink) ? 0 : -ENOTCONN;

	while (err == 0 && (len = next_records(sender, &records)) > 0) {
		err = uplink_offer(&sender->uplink, records, len);
		if (err == 0)
			recorder_consume(sender->recorder, len);
	}
	if (err < 0 && err != -EAGAIN)
		drop_uplink(sender);
	return err == -EAGAIN ? 0 : err;
}

static void send_hello(struct sender *sender)
{
	struct wire_buf buf = {.size = HELLO_MAX_BYTES};
	void *memory =
		mmap(NULL, buf.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		recorder_count_loss(sender->recorder, WIRE_LOSS_NO_MEMORY, 1);
		drop_uplink(sender);
		return;
	}
	buf.data = memory;
	hello_encode(sender->hello, &buf);
	send_records(sender, buf.data, buf.len);
	munmap(memory, buf.size);
}

static void send_losses(struct sender *sender)
{
	uint8_t storage[128];
	struct wire_buf buf = {.data = storage, .size = sizeof(storage)};
	struct wire_loss loss;

	if (!recorder_take_loss(sender->recorder, &loss))
		return;
	wire_encode_loss(&buf, &loss);
	send_records(sender, buf.data, buf.len);
}

static void send_probes(struct sender *sender)
{
	uint8_t storage[128];
	struct wire_buf buf = {.data = storage, .size = sizeof(storage)};
	struct wire_probes probes;

	if (!probe_switch_tell(&sender->probes, &probes))
		return;
	wire_encode_probes(&buf, &probes);
	send_records(sender, buf.data, buf.len);
}

/* Does as the semaphores of the probes say, and tells what the probes have counted, in its time. */
static void look_at_probes(struct sender *sender)
{
	if (clock_monotonic_ns() < sender->probes.look_at_ns)
		return;
	probe_switch_look(&sender->probes);
	send_probes(sender);
}

static void send_bye(struct sender *sender)
{
	uint8_t storage[32];
	struct wire_buf buf = {.data = storage, .size = sizeof(storage)};
	const struct wire_bye bye = {.time_ns = clock_monotonic_ns(), .reason = WIRE_BYE_VM_DEATH};

	if (flush(sender) < 0)
		return;
	send_losses(sender);
	send_probes(sender);
	wire_encode_bye(&buf, &bye);
	send_records(sender, buf.data, buf.len);
}

/*
 * Sleeps until woken, until the connection has ended, or until then_ns. Meanwhile looks ten times a
 * second whether a tracer has come, and whether the connection still stands: its state, as
 * uplink_check has it.
 */
static int sleep_until(struct sender *sender, uint64_t then_ns)
{
	uint64_t until_ns;
	bool is_woken;
	int err;

	do {
		until_ns = probe_switch_next_look_ns();
		if (until_ns > then_ns)
			until_ns = then_ns;
		is_woken = wake_sleep(&sender->wake, until_ns);
		err = uplink_check(&sender->uplink);
	} while (err == 0 && !is_woken && until_ns < then_ns &&
		 probe_switch_is_quiet(&sender->probes));
	return err;
}

/* Sleeps as sleep_until does. Drops a dead connection. */
static void wait_until(struct sender *sender, uint64_t then_ns)
{
	const int err = sleep_until(sender, then_ns);

	wake_forget(&sender->wake);
	sender->is_misled = err == -EPROTO;
	if (err < 0)
		drop_uplink(sender);
}

static int flush_all(void *context)
{
	return flush(context);
}

/*
 * When the next resynchronisation may begin after a complete one: RESYNC_APART_NS after the begin
 * of this one, which a collector that did not read may have held up for long, but not before the
 * thread has rested for RESYNC_REST times as long as the thread has worked.
 */
static uint64_t next_resync_ns(uint64_t began_ns, uint64_t worked_ns)
{
	const uint64_t due_ns = began_ns + RESYNC_APART_NS;
	const uint64_t rested_ns = clock_monotonic_ns() + RESYNC_REST * worked_ns;

	return due_ns > rested_ns ? due_ns : rested_ns;
}

/*
 * The room of a buffer while all code is repeated. The room of a few buffers makes a repetition one
 * GenerateEvents and not many. Only pages that are used are memory.
 */
static size_t wide_bytes(const struct sender *sender)
{
	const size_t usual = sender->options->buffer_bytes, wide = usual * WIDE_TIMES;

	if (wide < WIDE_MAX_BYTES)
		return wide;
	return usual > WIDE_MAX_BYTES ? usual : WIDE_MAX_BYTES;
}

static void widen(struct sender *sender)
{
	recorder_widen(sender->recorder, wide_bytes(sender));
	sender->is_wide = true;
}

/* Gives the room back to the kernel, now or as soon as no record lies there. */
static void narrow(struct sender *sender)
{
	const size_t usual = sender->options->buffer_bytes, wide = wide_bytes(sender);
	const size_t kept = (usual + PAGE_MAX_BYTES - 1) / PAGE_MAX_BYTES * PAGE_MAX_BYTES;

	if (recorder_narrow(sender->recorder) > usual)
		return;
	if (kept < wide)
		madvise(sender->ring + kept, wide - kept, MADV_DONTNEED);
	sender->is_wide = false;
}

static void resynchronise(struct sender *sender)
{
	const uint64_t began_ns = clock_monotonic_ns();
	const uint64_t worked_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct resync resync = {
		.vm = sender->vm,
		.jvmti = sender->jvmti,
		.recorder = sender->recorder,
		.events = sender->events,
		.quit = &sender->quit,
		.flush = flush_all,
		.offer = offer,
		.context = sender,
		.epoch = ++sender->epoch,
	};

	atomic_store(&sender->recorder->need_resync, false);
	widen(sender);
	if (resync_run(&resync)) {
		sender->is_synced = true;
		sender->resync_wait_ns = RESYNC_WAIT_MIN_NS;
		sender->resync_at_ns = next_resync_ns(
			began_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - worked_ns);
	} else {
		atomic_store(&sender->recorder->need_resync, true);
		if (sender->resync_wait_ns < RESYNC_WAIT_MAX_NS)
			sender->resync_wait_ns *= 2;
		sender->resync_at_ns = clock_monotonic_ns() + sender->resync_wait_ns;
	}
	narrow(sender);
}

static bool is_live(const struct sender *sender)
{
	return !atomic_load(&sender->quit) && uplink_is_open(&sender->uplink);
}

/*
 * Sends what waits. Resynchronises if records were lost and the next resynchronisation may begin.
 */
static void send_all(struct sender *sender)
{
	const bool wanted = atomic_load(&sender->recorder->need_resync);

	flush(sender);
	if (sender->is_wide)
		narrow(sender);
	send_losses(sender);
	if (wanted && is_live(sender) && clock_monotonic_ns() >= sender->resync_at_ns)
		resynchronise(sender);
}

/*
 * When the next work is due even if nobody wakes the sender. That is in a second at the latest: if
 * others close the sender's descriptors, nothing can wake the sender.
 */
static uint64_t next_duty_ns(const struct sender *sender)
{
	uint64_t then_ns = clock_monotonic_ns() + LOOK_NS;

	if (atomic_load(&sender->recorder->need_resync) && sender->resync_at_ns < then_ns)
		then_ns = sender->resync_at_ns;
	if (sender->threads.on && sender->threads.scan_at_ns < then_ns)
		then_ns = sender->threads.scan_at_ns;
	if (sender->probes.look_at_ns < then_ns && !probe_switch_is_quiet(&sender->probes))
		then_ns = sender->probes.look_at_ns;
	return then_ns;
}

/*
 * Waits for records. Records are sent at whole multiples of WIRE_TICK_NS. So a starting JVM with a
 * few records each millisecond does not wake this thread and the collector for each of them, and
 * the collector knows when to look. A record after a pause of at least WIRE_TICK_NS is sent at
 * once. A thread that has looked at the probes alone does not wait for a tick.
 */
static void wait_for_work(struct sender *sender)
{
	const uint64_t now_ns = clock_monotonic_ns();

	if (sender->has_sent)
		wait_until(sender, now_ns - now_ns % WIRE_TICK_NS + WIRE_TICK_NS);
	sender->has_sent = false;
	if (!is_live(sender) || !recorder_idle(sender->recorder))
		return;
	wait_until(sender, next_duty_ns(sender));
	recorder_unidle(sender->recorder);
}

/* Sends records until the connection or the JVM ends. */
static void serve(struct sender *sender)
{
	sender->resync_wait_ns = RESYNC_WAIT_MIN_NS;
	sender->is_synced = false;
	threads_restart(&sender->threads);
	probe_switch_restart(&sender->probes);
	resynchronise(sender);
	while (is_live(sender)) {
		threads_scan(&sender->threads, sender->vm, sender->jvmti, sender->recorder);
		send_all(sender);
		if (is_live(sender))
			look_at_probes(sender);
		if (is_live(sender))
			wait_for_work(sender);
	}
}

static size_t storage_bytes(const struct sender *sender)
{
	return sizeof(struct naming_memory) + wide_bytes(sender);
}

/* Maps the memory that only a connection needs. */
static void *map_storage(const struct sender *sender)
{
	void *storage = mmap(NULL, storage_bytes(sender), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return storage == MAP_FAILED ? NULL : storage;
}

/* The buffer comes first, so that it begins at a page. */
static void open_storage(struct sender *sender, void *storage)
{
	const size_t bytes = sender->options->buffer_bytes;

	sender->ring = storage;
	sender->is_wide = false;
	naming_open(&sender->events->naming, (void *)(sender->ring + wide_bytes(sender)), bytes);
	recorder_open(sender->recorder, sender->ring, bytes);
}

static void close_storage(const struct sender *sender, void *storage)
{
	recorder_close(sender->recorder);
	naming_close(&sender->events->naming);
	munmap(storage, storage_bytes(sender));
}

/* Handles one connection, from HELLO to the end. */
static void converse(struct sender *sender)
{
	void *storage = map_storage(sender);

	if (!storage) {
		recorder_count_loss(sender->recorder, WIRE_LOSS_NO_MEMORY, 1);
		uplink_close(&sender->uplink);
		return;
	}
	atomic_store(&sender->connected, true);
	send_hello(sender);
	if (is_live(sender)) {
		open_storage(sender, storage);
		serve(sender);
		recorder_stop(sender->recorder);
	}
	if (uplink_is_open(&sender->uplink))
		send_bye(sender);
	uplink_close(&sender->uplink);
	close_storage(sender, storage);
	atomic_store(&sender->connected, false);
}

/* Sleeps until then_ns or until the JVM ends. */
static void doze(struct sender *sender, uint64_t then_ns)
{
	wake_forget(&sender->wake);
	if (!atomic_load(&sender->quit))
		probe_switch_look(&sender->probes);
	if (!atomic_load(&sender->quit))
		wake_sleep(&sender->wake, then_ns);
}

/* Dozes, and looks around once a second, as next_duty_ns says. */
static void doze_long(struct sender *sender, uint64_t then_ns, bool (*is_over)(struct sender *))
{
	while (!atomic_load(&sender->quit) && clock_monotonic_ns() < then_ns && !is_over(sender)) {
		const uint64_t look_ns = clock_monotonic_ns() + LOOK_NS;

		doze(sender, look_ns < then_ns ? look_ns : then_ns);
	}
}

static bool read_socket(const struct sender *sender, struct stat *ret)
{
	return syscall(SYS_newfstatat, AT_FDCWD, sender->options->socket, ret, 0) == 0;
}

/* Whether another socket stands where the last one was dialled. */
static bool is_other_socket(struct sender *sender)
{
	const struct stat *was = &sender->dialled;
	struct stat is;

	return !sender->options->listens && read_socket(sender, &is) &&
	       (is.st_dev != was->st_dev || is.st_ino != was->st_ino ||
		is.st_ctim.tv_sec != was->st_ctim.tv_sec ||
		is.st_ctim.tv_nsec != was->st_ctim.tv_nsec);
}

static void back_off(struct sender *sender)
{
	const uint64_t now_ns = clock_monotonic_ns();

	if (sender->is_unread)
		doze_long(sender, now_ns + sender->unread_ns, is_other_socket);
	else
		doze(sender, now_ns + sender->back_off_ns);
	sender->is_unread = false;
	sender->back_off_ns *= 2;
	if (sender->back_off_ns > BACK_OFF_MAX_NS)
		sender->back_off_ns = BACK_OFF_MAX_NS;
}

/* Waits for a collector to dial. Waiting costs next to nothing. */
static int hear_collector(struct sender *sender, struct uplink_patience patience)
{
	int fd;

	do {
		fd = listener_accept(&sender->listener);
		if (fd == -ETIMEDOUT)
			probe_switch_look(&sender->probes);
	} while (fd == -ETIMEDOUT);
	return fd < 0 ? fd : uplink_take(&sender->uplink, fd, patience);
}

/* Dials, or waits for a collector to dial. */
static int meet_collector(struct sender *sender)
{
	const struct uplink_patience patience = {.wake = &sender->wake, .hurry = &sender->quit};

	if (!own_fd_are_spare())
		return -EMFILE;
	if (sender->options->listens)
		return hear_collector(sender, patience);
	if (!read_socket(sender, &sender->dialled))
		return -errno;
	return uplink_open(&sender->uplink, sender->options->socket, patience);
}

/* How long the collector is left alone that has just been met. */
static void choose_back_off(struct sender *sender, uint64_t met_ns)
{
	if (met_ns >= LASTING_NS)
		sender->back_off_ns = BACK_OFF_MIN_NS;
	else if (sender->is_synced && sender->back_off_ns > BACK_OFF_SYNCED_NS)
		sender->back_off_ns = BACK_OFF_SYNCED_NS;
	if (sender->is_misled)
		sender->back_off_ns = BACK_OFF_MISLED_NS;
	sender->is_misled = false;
	if (!sender->is_unread)
		sender->unread_ns = 0;
	else
		sender->unread_ns = sender->unread_ns == 0 ? UNREAD_MIN_NS : UNREAD_MAX_NS;
}

static void meet_collectors(struct sender *sender)
{
	sender->back_off_ns = BACK_OFF_MIN_NS;
	while (!atomic_load(&sender->quit)) {
		if (meet_collector(sender) == 0) {
			const uint64_t begin_ns = clock_monotonic_ns();

			converse(sender);
			choose_back_off(sender, clock_monotonic_ns() - begin_ns);
		}
		back_off(sender);
	}
}

static bool is_never(struct sender *sender)
{
	(void)sender;
	return false;
}

static void wait_for_begin(struct sender *sender)
{
	doze_long(sender, clock_monotonic_ns() + sender->options->delay_s * CLOCK_NS_PER_S,
		  is_never);
}

/* Enables the events of code after the delay. False: the JVM ends, or refuses. */
static bool begin_late(struct sender *sender)
{
	bool good;

	wait_for_begin(sender);
	if (atomic_load(&sender->quit) || !jni_thread_attach(sender->vm))
		return false;
	good = events_enable(sender->jvmti);
	jni_thread_detach(sender->vm);
	if (!good)
		warn_line("idle: cannot enable the JVM's method events");
	return good;
}

static bool begin(struct sender *sender)
{
	if (sender->options->delay_s > 0 && !begin_late(sender))
		return false;
	while (!atomic_load(&sender->quit) && !own_fd_are_spare())
		doze(sender, clock_monotonic_ns() + LOOK_NS);
	if (atomic_load(&sender->quit))
		return false;
	return !sender->options->listens ||
	       listener_open(&sender->listener, sender->options->socket);
}

static void *run(void *arg)
{
	struct sender *sender = arg;

	prctl(PR_SET_NAME, "fgagent", 0, 0, 0);
	if (begin(sender))
		meet_collectors(sender);
	listener_close(&sender->listener);
	atomic_store(&sender->ended, 1);
	syscall(SYS_futex, &sender->ended, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	return NULL;
}

bool sender_start(struct sender *sender)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	bool started;

	sender->uplink = (struct uplink){.own.fd = -1};
	sender->listener.own.fd = -1;
	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attr, run, sender) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

void sender_finish(struct sender *sender, int wait_ms)
{
	const struct timespec wait = {.tv_sec = wait_ms / 1000,
				      .tv_nsec = (wait_ms % 1000) * 1000000L};

	recorder_stop(sender->recorder);
	atomic_store(&sender->quit, true);
	wake_post(&sender->wake);
	listener_wake(&sender->listener);
	if ((atomic_load(&sender->connected) || sender->options->listens) &&
	    atomic_load(&sender->ended) == 0)
		syscall(SYS_futex, &sender->ended, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
}
