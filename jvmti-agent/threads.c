// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the full names of threads.
 *
 * Once a second the last PID in /proc/loadavg tells whether a process or thread was created in this
 * PID namespace. Only then the task directory is listed. A new thread is looked at one scan later,
 * when it has a name for sure. Only if a thread's comm has exactly 15 bytes does the agent's thread
 * attach and ask the JVM for all names. The thread ID behind a java.lang.Thread is found by the
 * pointer in its field eetop, then JavaThread::_osthread, then OSThread::_thread_id. The thread may
 * end at any moment, so the last two are read through /proc/self/mem, which fails with EIO where a
 * plain read would crash. HotSpot makes the same two system calls, openat and pread64, so a seccomp
 * profile that lets a JVM start lets the agent do this; process_vm_readv is not allowed everywhere,
 * and some profiles end whoever calls it.
 */
#include "threads.h"

#include "clock.h"
#include "jni_thread.h"
#include "own_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SCAN_NS	       CLOCK_NS_PER_S
#define CANDIDATES_MAX 64

struct candidate {
	uint32_t tid;
	char comm[THREADS_COMM_BYTES + 1];
};

/* What one scan has found. */
struct scan {
	struct threads *threads;
	struct threads_bits present;
	struct candidate candidates[CANDIDATES_MAX];
	size_t n_candidates;
	JNIEnv *jni;
	jvmtiEnv *jvmti;
	struct recorder *recorder;
	jfieldID eetop;
	struct own_fd memory; /* of this process, while names are asked for */
};

static bool has_bit(const struct threads_bits *bits, uint32_t tid)
{
	return bits->words[tid % THREADS_BITS / 64] >> (tid % 64) & 1;
}

static void set_bit(struct threads_bits *bits, uint32_t tid)
{
	bits->words[tid % THREADS_BITS / 64] |= 1ull << (tid % 64);
}

void threads_init(struct threads *threads, bool wanted, const struct vmstructs *vm)
{
	threads->on =
		wanted &&
		(vmstructs_find_offset(vm, "Thread", "_osthread", &threads->osthread_at) ||
		 vmstructs_find_offset(vm, "JavaThread", "_osthread", &threads->osthread_at)) &&
		vmstructs_find_offset(vm, "OSThread", "_thread_id", &threads->thread_id_at);
}

void threads_restart(struct threads *threads)
{
	memset(&threads->present, 0, sizeof(threads->present));
	memset(&threads->done, 0, sizeof(threads->done));
	threads->first = true;
	threads->scan_at_ns = 0;
}

bool threads_is_cut_from(const char *comm, const char *name)
{
	const size_t len = strlen(name);

	if (len <= THREADS_COMM_BYTES || strlen(comm) != THREADS_COMM_BYTES)
		return false;
	/* JDK 22 and later leave the middle out: 7 bytes, "..", the last 6 bytes. */
	return memcmp(comm, name, THREADS_COMM_BYTES) == 0 ||
	       (memcmp(comm, name, 7) == 0 && memcmp(comm + 7, "..", 2) == 0 &&
		memcmp(comm + 9, name + len - 6, 6) == 0);
}

/* Reads up to size-1 bytes of a small file and adds a terminator. Returns the length, or -1. */
static ssize_t read_small(const char *path, char *to, size_t size)
{
	struct own_fd own = own_fd_take(open(path, O_RDONLY | O_CLOEXEC));
	ssize_t len;

	if (own.fd < 0)
		return -1;
	len = pread(own.fd, to, size - 1, 0);
	own_fd_close(&own);
	if (len >= 0)
		to[len] = 0;
	return len;
}

static uint32_t read_number(const char *text)
{
	uint32_t number = 0;

	while (*text >= '0' && *text <= '9')
		number = number * 10 + (uint32_t)(*text++ - '0');
	return number;
}

/* Whether a process or thread may have been created since the last call. */
static bool is_anything_new(struct threads *threads)
{
	char text[128];
	const char *last;
	uint32_t last_pid;

	if (read_small("/proc/loadavg", text, sizeof(text)) <= 0)
		return true;
	last = strrchr(text, ' ');
	last_pid = last ? read_number(last + 1) : 0;
	if (last_pid == threads->last_pid)
		return false;
	threads->last_pid = last_pid;
	return true;
}

/* Notes the thread if its name is of a length that the kernel may have cut. */
static void look_at(struct scan *scan, uint32_t tid)
{
	struct candidate *candidate = &scan->candidates[scan->n_candidates];
	char path[64], comm[32];

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	if (read_small(path, comm, sizeof(comm)) != THREADS_COMM_BYTES + 1)
		return;
	candidate->tid = tid;
	memcpy(candidate->comm, comm, THREADS_COMM_BYTES);
	candidate->comm[THREADS_COMM_BYTES] = 0;
	scan->n_candidates++;
}

static void visit(struct scan *scan, uint32_t tid)
{
	struct threads *threads = scan->threads;

	set_bit(&scan->present, tid);
	if (has_bit(&threads->done, tid))
		return;
	if (scan->n_candidates == CANDIDATES_MAX ||
	    (!threads->first && !has_bit(&threads->present, tid))) {
		threads->again = true;
		return;
	}
	set_bit(&threads->done, tid);
	look_at(scan, tid);
}

static bool list_tasks(struct scan *scan)
{
	struct threads *threads = scan->threads;
	const struct dirent *entry;
	DIR *tasks = opendir("/proc/self/task");

	if (!tasks)
		return false;
	threads->again = false;
	while ((entry = readdir(tasks))) {
		if (entry->d_name[0] != '.')
			visit(scan, read_number(entry->d_name));
	}
	closedir(tasks);
	threads->first = false;
	threads->present = scan->present;
	/* A thread ID that is gone may be used again by another thread. */
	for (size_t i = 0; i < THREADS_BITS / 64; i++)
		threads->done.words[i] &= scan->present.words[i];
	return true;
}

/*
 * Copies from an address of this process that may not be mapped any more. False: it is not mapped.
 */
static bool peek(const struct scan *scan, uint64_t addr, void *to, size_t len)
{
	return addr <= INT64_MAX && own_fd_is_own(&scan->memory) &&
	       pread(scan->memory.fd, to, len, (off_t)addr) == (ssize_t)len;
}

/* The thread ID of a JavaThread, or 0. */
static uint32_t read_tid(const struct scan *scan, uint64_t java_thread)
{
	const struct threads *threads = scan->threads;
	uint64_t osthread = 0;
	uint32_t tid = 0;

	if (java_thread == 0 ||
	    !peek(scan, java_thread + threads->osthread_at, &osthread, sizeof(osthread)) ||
	    osthread == 0)
		return 0;
	return peek(scan, osthread + threads->thread_id_at, &tid, sizeof(tid)) ? tid : 0;
}

static void send_name(const struct scan *scan, const struct candidate *candidate, jthread thread)
{
	JNIEnv *jni = scan->jni;
	jvmtiThreadInfo info = {0};

	if ((*scan->jvmti)->GetThreadInfo(scan->jvmti, thread, &info) != JVMTI_ERROR_NONE)
		return;
	if (info.name && threads_is_cut_from(candidate->comm, info.name)) {
		struct wire_thread record = {.tid = candidate->tid,
					     .name = wire_str_from(info.name)};

		if (record.name.len > 1000)
			record.name.len = 1000;
		if (recorder_add_thread(scan->recorder, &record) == RECORDER_FULL)
			recorder_count_loss(scan->recorder, WIRE_LOSS_BUFFER_FULL, 1);
	}
	if (info.name)
		(*scan->jvmti)->Deallocate(scan->jvmti, (unsigned char *)info.name);
	if (info.thread_group)
		(*jni)->DeleteLocalRef(jni, info.thread_group);
	if (info.context_class_loader)
		(*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

static void name_thread(const struct scan *scan, jthread thread)
{
	const jlong eetop = (*scan->jni)->GetLongField(scan->jni, thread, scan->eetop);
	const uint32_t tid = read_tid(scan, (uint64_t)eetop);

	for (size_t i = 0; tid != 0 && i < scan->n_candidates; i++) {
		if (scan->candidates[i].tid == tid)
			send_name(scan, &scan->candidates[i], thread);
	}
}

static bool find_eetop(struct scan *scan)
{
	JNIEnv *jni = scan->jni;
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");

	if (class) {
		scan->eetop = (*jni)->GetFieldID(jni, class, "eetop", "J");
		(*jni)->DeleteLocalRef(jni, class);
	}
	(*jni)->ExceptionClear(jni);
	return scan->eetop != NULL;
}

static void name_all(struct scan *scan)
{
	jthread *list = NULL;
	jint n = 0;

	if ((*scan->jvmti)->GetAllThreads(scan->jvmti, &n, &list) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		name_thread(scan, list[i]);
		(*scan->jni)->DeleteLocalRef(scan->jni, list[i]);
	}
	(*scan->jvmti)->Deallocate(scan->jvmti, (unsigned char *)list);
}

/* Names the candidates. False: this JVM or the kernel's settings do not allow that at all. */
static bool name_candidates(struct scan *scan)
{
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	uint8_t byte;
	bool good;

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE;
	scan->memory = own_fd_take(fd);
	good = peek(scan, (uintptr_t)&byte, &byte, 1) && find_eetop(scan);
	if (good)
		name_all(scan);
	own_fd_close(&scan->memory);
	return good;
}

void threads_scan(struct threads *threads, JavaVM *vm, jvmtiEnv *jvmti, struct recorder *recorder)
{
	const uint64_t now_ns = clock_monotonic_ns();
	struct scan scan = {.threads = threads, .jvmti = jvmti, .recorder = recorder};

	if (!threads->on || now_ns < threads->scan_at_ns)
		return;
	threads->scan_at_ns = now_ns + SCAN_NS;
	if (!own_fd_are_spare())
		return;
	if (!is_anything_new(threads) && !threads->again && !threads->first)
		return;
	threads->on = list_tasks(&scan);
	if (scan.n_candidates == 0)
		return;
	scan.jni = jni_thread_attach(vm);
	if (!scan.jni)
		return;
	threads->on = name_candidates(&scan);
	jni_thread_detach(vm);
}
