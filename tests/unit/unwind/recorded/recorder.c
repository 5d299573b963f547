// SPDX-License-Identifier: Apache-2.0
/*
 * Records stacks of a JVM from within, on aarch64: a JVMTI agent and a JNI library in one.
 *
 *	-agentpath:librecorder.so=DIRECTORY
 *
 * One thread stops every other in turn by a signal, whose handler writes what a profiler's sample
 * would hold, and beside it what is true: HotSpot's own walk of the Java frames
 * (AsyncGetCallTrace), and libgcc's walk of the native ones. When the JVM ends, the names of
 * methods, the mappings and the generated code are written. See README.md.
 *
 * samples: for each, in words of 8 bytes: thread, time, x0..x30, sp, pc; count of Java frames
 * (negative: HotSpot says why not) and for each the method's ID and bytecode index; count of native
 * frames and their addresses; length of the stack's copy; then that copy.
 */
#include <jvmti.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define STACK_BYTES   (24u << 10)
#define FRAMES_MAX    512
#define REGS	      33
#define METHODS_MAX   65536
#define PATIENCE_NS   100000000
#define GAP_US	      300
#define ADDR_BITS     48
#define RECORD_SIGNAL SIGPROF

/* HotSpot's, which no header declares. */
struct call_frame {
	jint bci;
	jmethodID method;
};

struct call_trace {
	JNIEnv *env;
	jint count;
	struct call_frame *frames;
};

typedef void (*get_call_trace_fn)(struct call_trace *trace, jint depth, void *ucontext);

static JavaVM *vm;
static jvmtiEnv *jvmti;
static get_call_trace_fn get_call_trace;
static char directory[512];
static int samples_fd = -1;
static sem_t is_written;
static atomic_bool is_over, is_going;
static _Atomic pid_t wanted_thread;
static jmethodID methods[METHODS_MAX];
static uint32_t n_methods;

/* ---- a sample ---- */

struct natives {
	uint64_t addrs[FRAMES_MAX];
	uint64_t n;
	uint64_t from; /* the address at which the thread was stopped */
	bool has_begun;
};

static _Unwind_Reason_Code take_native(struct _Unwind_Context *context, void *arg)
{
	struct natives *natives = arg;
	const uint64_t addr = _Unwind_GetIP(context) & ((UINT64_C(1) << ADDR_BITS) - 1);

	natives->has_begun |= addr == natives->from;
	if (natives->has_begun && addr != 0 && natives->n < FRAMES_MAX)
		natives->addrs[natives->n++] = addr;
	return _URC_NO_REASON;
}

static void write_word(uint64_t word)
{
	if (write(samples_fd, &word, sizeof(word)) != sizeof(word))
		_exit(1);
}

static void write_java(void *ucontext)
{
	static struct call_frame frames[FRAMES_MAX];
	struct call_trace trace = {.frames = frames};

	if ((*vm)->GetEnv(vm, (void **)&trace.env, JNI_VERSION_1_6) != JNI_OK) {
		write_word(0);
		return;
	}
	get_call_trace(&trace, FRAMES_MAX, ucontext);
	write_word((uint64_t)(int64_t)trace.count);
	for (jint i = 0; i < trace.count; i++) {
		write_word((uint64_t)(uintptr_t)frames[i].method);
		write_word((uint64_t)(int64_t)frames[i].bci);
		if (n_methods < METHODS_MAX)
			methods[n_methods++] = frames[i].method;
	}
}

static void write_natives(uint64_t pc)
{
	static struct natives natives;

	natives = (struct natives){.from = pc};
	_Unwind_Backtrace(take_native, &natives);
	write_word(natives.n);
	for (uint64_t i = 0; i < natives.n; i++)
		write_word(natives.addrs[i]);
}

/* What lies above the thread's stack is its own block, to which the thread pointer points. */
static void write_stack(uint64_t sp)
{
	const uint64_t end = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	const uint64_t bytes = end > sp && end - sp < STACK_BYTES ? end - sp : STACK_BYTES;

	write_word(bytes);
	if (write(samples_fd, (const void *)(uintptr_t)sp, bytes) != (ssize_t)bytes)
		_exit(1);
}

static void on_signal(int signal, siginfo_t *info, void *ucontext)
{
	const ucontext_t *at = ucontext;
	const pid_t self = (pid_t)syscall(SYS_gettid);
	pid_t wanted = self;
	struct timespec now;

	(void)signal;
	(void)info;
	if (!atomic_compare_exchange_strong(&wanted_thread, &wanted, 0))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	write_word((uint64_t)self);
	write_word((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	for (int i = 0; i < 31; i++)
		write_word(at->uc_mcontext.regs[i]);
	write_word(at->uc_mcontext.sp);
	write_word(at->uc_mcontext.pc);
	write_java(ucontext);
	write_natives(at->uc_mcontext.pc);
	write_stack(at->uc_mcontext.sp);
	sem_post(&is_written);
}

static void stop_thread(pid_t thread)
{
	struct timespec until;
	pid_t wanted = thread;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	atomic_store(&wanted_thread, thread);
	if (syscall(SYS_tgkill, getpid(), thread, RECORD_SIGNAL) != 0)
		atomic_store(&wanted_thread, 0);
	else if (sem_timedwait(&is_written, &until) != 0 &&
		 !atomic_compare_exchange_strong(&wanted_thread, &wanted, 0))
		sem_wait(&is_written); /* it has begun after all */
}

static void *record(void *arg)
{
	const pid_t self = (pid_t)syscall(SYS_gettid);

	(void)arg;
	while (!atomic_load(&is_over)) {
		DIR *tasks = opendir("/proc/self/task");
		struct dirent *task;

		while (tasks && (task = readdir(tasks)) && !atomic_load(&is_over)) {
			const pid_t thread = (pid_t)strtol(task->d_name, NULL, 10);

			/* The first only waits; its stack ends elsewhere. */
			if (thread <= 0 || thread == self || thread == getpid())
				continue;
			if (atomic_load(&is_going))
				stop_thread(thread);
			usleep(GAP_US);
		}
		if (tasks)
			closedir(tasks);
	}
	return NULL;
}

/* ---- what the samples need besides ---- */

static FILE *create(const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return fopen(path, "w");
}

/* Its ID, HotSpot's Method and ConstMethod (to which IDs lead before JDK 25), and its name. */
static void write_method(FILE *out, jmethodID id)
{
	char *name = NULL, *signature = NULL;
	uintptr_t method;
	bool is_pointer;
	jclass holder;

	if (!id || (*jvmti)->GetMethodName(jvmti, id, &name, NULL, NULL) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetMethodDeclaringClass(jvmti, id, &holder) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetClassSignature(jvmti, holder, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	is_pointer = (uintptr_t)id > METHODS_MAX * 16;
	method = is_pointer ? *(uintptr_t *)id : 0;
	fprintf(out, "%lx %lx %lx %s %s\n", (unsigned long)(uintptr_t)id, (unsigned long)method,
		is_pointer ? ((unsigned long *)method)[1] : 0UL, signature, name);
}

static int compare_methods(const void *a, const void *b)
{
	const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

static void write_methods(void)
{
	FILE *out = create("methods");

	qsort(methods, n_methods, sizeof(methods[0]), compare_methods);
	for (uint32_t i = 0; out && i < n_methods; i++) {
		if (i == 0 || methods[i] != methods[i - 1])
			write_method(out, methods[i]);
	}
	if (out)
		fclose(out);
}

/* The mappings, and the bytes of those that hold generated code or the JVM's variables. */
static void write_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r"), *out = create("maps"), *code = create("code");
	unsigned long start, end, length;
	char line[1024], kind[8];
	bool is_jvm = false;

	while (maps && out && code && fgets(line, sizeof(line), maps)) {
		fputs(line, out);
		if (sscanf(line, "%lx-%lx %7s", &start, &end, kind) != 3)
			continue;
		is_jvm = strstr(line, "libjvm.so") || (is_jvm && !strchr(line, '/'));
		if (!(kind[0] == 'r' && kind[2] == 'x' && !strchr(line, '/')) &&
		    !(is_jvm && kind[0] == 'r' && kind[1] == 'w' && end - start < (4u << 20)))
			continue;
		length = end - start;
		fwrite(&start, sizeof(start), 1, code);
		fwrite(&length, sizeof(length), 1, code);
		fwrite((void *)start, 1, length, code);
	}
	if (maps)
		fclose(maps);
	if (out)
		fclose(out);
	if (code)
		fclose(code);
}

static void JNICALL on_end(jvmtiEnv *env, JNIEnv *jni)
{
	(void)env;
	(void)jni;
	atomic_store(&is_going, false);
	atomic_store(&is_over, true);
	usleep(2 * PATIENCE_NS / 1000);
	write_methods();
	write_mappings();
}

/* AsyncGetCallTrace wants somebody to be told of classes... */
static void JNICALL on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass loaded)
{
	(void)env;
	(void)jni;
	(void)thread;
	(void)loaded;
}

/* ... and names only methods that have an ID by then. */
static void JNICALL on_class(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass loaded)
{
	jmethodID *ids = NULL;
	jint n;

	(void)jni;
	(void)thread;
	if ((*env)->GetClassMethods(env, loaded, &n, &ids) == JVMTI_ERROR_NONE)
		(*env)->Deallocate(env, (unsigned char *)ids);
}

static void JNICALL on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	jclass *classes = NULL;
	pthread_t recorder;
	jint n = 0;

	(*env)->GetLoadedClasses(env, &n, &classes);
	for (jint i = 0; i < n; i++)
		on_class(env, jni, thread, classes[i]);
	pthread_create(&recorder, NULL, record, NULL);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *from, char *options, void *reserved)
{
	const jvmtiEventCallbacks callbacks = {.VMInit = on_start,
					       .VMDeath = on_end,
					       .ClassLoad = on_load,
					       .ClassPrepare = on_class};
	static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
					    JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE};
	const struct sigaction action = {.sa_sigaction = on_signal,
					 .sa_flags = SA_SIGINFO | SA_RESTART};
	struct natives natives = {0};
	char path[600];

	(void)reserved;
	vm = from;
	snprintf(directory, sizeof(directory), "%s", options ? options : ".");
	snprintf(path, sizeof(path), "%s/samples", directory);
	samples_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	*(void **)&get_call_trace = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
	if (samples_fd < 0 || !get_call_trace ||
	    (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	_Unwind_Backtrace(take_native, &natives); /* loads what it needs */
	sem_init(&is_written, 0, 0);
	sigaction(RECORD_SIGNAL, &action, NULL);
	(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
	return JNI_OK;
}

/* ---- native methods of Frames.java ---- */

JNIEXPORT void JNICALL Java_Frames_record(JNIEnv *env, jclass frames, jboolean on)
{
	(void)env;
	(void)frames;
	atomic_store(&is_going, on);
}

/* Frames of its own, whose return addresses are signed if the compiler was told so. */
__attribute__((noinline)) static long spin(long seed, int depth)
{
	volatile long room[6] = {seed};

	if (depth > 0)
		return spin(seed + depth, depth - 1) + room[depth % 6];
	for (int i = 0; i < 20; i++)
		room[i % 6] += seed * i;
	return room[2];
}

JNIEXPORT jlong JNICALL Java_Frames_inNative(JNIEnv *env, jclass frames, jlong seed)
{
	(void)env;
	(void)frames;
	return spin(seed, 5);
}

/* Native code that calls Java, which is below native code on the stack then. */
JNIEXPORT jlong JNICALL Java_Frames_callBack(JNIEnv *env, jclass frames, jint depth)
{
	static jmethodID called;

	if (!called)
		called = (*env)->GetStaticMethodID(env, frames, "calledBack", "(I)J");
	return (*env)->CallStaticLongMethod(env, frames, called, depth) + 1;
}
