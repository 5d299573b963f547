// SPDX-License-Identifier: Apache-2.0
/* What stacks say of locks and exceptions, with the frames of real JVMs, in all styles of names. */
#include "probes/probe_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAX_FRAMES 16

struct frames {
	struct frame frames[MAX_FRAMES];
	char text[1024];
	size_t n;
};

/* Names with a space between them, leaf first. "libjvm:" and "stub:" are no frames of Java. */
static const struct frames *parse(const char *names)
{
	static struct frames parsed;
	char *at;

	parsed.n = 0;
	strcpy(parsed.text, names);
	for (at = strtok(parsed.text, " "); at; at = strtok(NULL, " ")) {
		const bool is_jvm = strncmp(at, "libjvm:", 7) == 0;
		const bool is_stub = strncmp(at, "stub:", 5) == 0;

		parsed.frames[parsed.n++] = (struct frame){.name = at,
							   .kind = is_jvm    ? FRAME_JVM
								   : is_stub ? FRAME_STUB
									     : FRAME_JIT};
	}
	return &parsed;
}

static void check_lock(const char *names, const char *expected)
{
	const struct frames *const parsed = parse(names);
	char class[PROBE_FRAMES_CLASS_BYTES] = "none";

	assert_int_equal(probe_frames_lock(parsed->frames, parsed->n, class), expected != NULL);
	if (expected)
		assert_string_equal(class, expected);
}

#define PARK	"libjvm:Unsafe_Park jdk/internal/misc/Unsafe.park "
#define PARKED	PARK "java/util/concurrent/locks/LockSupport.park "
#define AQS	"java/util/concurrent/locks/AbstractQueuedSynchronizer"
#define LOCKS	"java/util/concurrent/locks/"
#define J_LOCKS "java.util.concurrent.locks."

static void locks_are_named_by_their_class(void **state)
{
	/* 17 and 25 */
	check_lock(PARKED AQS ".acquire " AQS ".acquire " LOCKS "ReentrantLock$Sync.lock " LOCKS
			      "ReentrantLock.lock a/B.c",
		   J_LOCKS "ReentrantLock");
	check_lock(PARKED AQS ".acquire " AQS ".acquire " LOCKS
			      "ReentrantReadWriteLock$WriteLock.lock a/B.c",
		   J_LOCKS "ReentrantReadWriteLock");
	check_lock(PARKED AQS ".acquire " AQS ".acquireShared " LOCKS
			      "ReentrantReadWriteLock$ReadLock.lock a/B.c",
		   J_LOCKS "ReentrantReadWriteLock");
	check_lock(PARK "java/util/concurrent/locks/LockSupport.parkNanos " AQS ".acquire " AQS
			".tryAcquireNanos " LOCKS "ReentrantLock$Sync.tryLockNanos a/B.c",
		   J_LOCKS "ReentrantLock");
	check_lock(PARKED AQS ".acquire " AQS ".acquireSharedInterruptibly "
			      "java/util/concurrent/Semaphore.acquire a/B.c",
		   "java.util.concurrent.Semaphore");
	check_lock(PARKED LOCKS "StampedLock.acquireWrite " LOCKS "StampedLock.writeLock a/B.c",
		   J_LOCKS "StampedLock");
	/* 11 */
	check_lock("libjvm:Unsafe_Park jdk/internal/misc/Unsafe.park " LOCKS "LockSupport.park " AQS
		   ".parkAndCheckInterrupt " AQS ".acquireQueued " AQS ".acquire " LOCKS
		   "ReentrantLock$NonfairSync.lock a/B.c",
		   J_LOCKS "ReentrantLock");
	/* A lock of a library's own. */
	check_lock(PARKED AQS ".acquire " AQS ".acquire org/x/Pool$Guard.enter a/B.c",
		   "org.x.Pool");
	/* After a condition's signal. */
	check_lock(PARKED AQS ".acquire " AQS "$ConditionObject.await a/B.c",
		   J_LOCKS "AbstractQueuedSynchronizer");
	/* A virtual thread's carrier has other frames between. */
	check_lock("libjvm:x stub:y " PARKED AQS ".acquire stub:z " AQS ".acquire " LOCKS
		   "ReentrantLock.lock",
		   J_LOCKS "ReentrantLock");
}

static void styles_of_names_do_not_matter(void **state)
{
	check_lock("jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park "
		   "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire "
		   "java.util.concurrent.locks.ReentrantLock.lock",
		   J_LOCKS "ReentrantLock");
	check_lock("Unsafe.park LockSupport.park AbstractQueuedSynchronizer.acquire "
		   "ReentrantLock.lock",
		   "ReentrantLock");
	check_lock("jdk/internal/misc/Unsafe.park(ZJ)V " LOCKS
		   "LockSupport.park(Ljava/lang/Object;)V " AQS ".acquire(I)V " LOCKS
		   "ReentrantLock.lock()V",
		   J_LOCKS "ReentrantLock");
	check_lock("jdk/internal/misc/Unsafe.park " LOCKS "LockSupport.park:211 " AQS
		   ".acquire:715 " LOCKS "ReentrantLock.lock:322",
		   J_LOCKS "ReentrantLock");
}

static void who_parks_for_work_waits_for_no_lock(void **state)
{
	check_lock(PARKED AQS "$ConditionObject.await "
			      "java/util/concurrent/LinkedBlockingQueue.take a/B.c",
		   NULL);
	check_lock(PARKED AQS "$ConditionNode.block "
			      "java/util/concurrent/ForkJoinPool.managedBlock a/B.c",
		   NULL);
	check_lock(PARKED "java/util/concurrent/ForkJoinPool.awaitWork a/B.c", NULL);
	check_lock(PARKED AQS ".acquire " AQS ".acquireSharedInterruptibly "
			      "java/util/concurrent/CountDownLatch.await a/B.c",
		   NULL);
	check_lock(PARKED "java/util/concurrent/FutureTask.awaitDone a/B.c", NULL);
	check_lock(PARKED "a/B.c", NULL);
	check_lock(PARKED, NULL);
	check_lock(PARKED AQS ".acquire", NULL);
	check_lock("libjvm:a libjvm:b", NULL);
	check_lock("", NULL);
}

static void check_exception(const char *names, size_t own, const char *expected)
{
	const struct frames *const parsed = parse(names);
	char class[PROBE_FRAMES_CLASS_BYTES];

	assert_int_equal(probe_frames_exception(parsed->frames, parsed->n, class), own);
	assert_string_equal(class, expected);
}

#define FILL                                                                                       \
	"libjvm:JVM_FillInStackTrace java/lang/Throwable.fillInStackTrace "                        \
	"java/lang/Throwable.fillInStackTrace java/lang/Throwable.<init> "

static void an_exception_is_its_outermost_constructor(void **state)
{
	check_exception(FILL "java/lang/Exception.<init> java/lang/RuntimeException.<init> "
			     "java/lang/IllegalStateException.<init> a/B.c",
			7, "java.lang.IllegalStateException");
	check_exception(FILL "a/B.c", 4, "java.lang.Throwable");
	check_exception(FILL "java/lang/Exception.<init> a/Refused.<init> a/B.c", 6, "a.Refused");
	check_exception(
		"libjvm:JVM_FillInStackTrace Throwable.fillInStackTrace(I)V "
		"Throwable.<init>(Ljava/lang/String;)V Error.<init>()V MyError.<init>()V B.c()V",
		5, "MyError");
	check_exception(FILL "java/lang/Exception.<init> a/B$Inner$Exception.<init> a/B.c", 6,
			"a.B$Inner$Exception");
}

static void a_constructor_that_throws_is_the_place(void **state)
{
	check_exception(FILL "java/lang/Exception.<init> java/lang/RuntimeException.<init> "
			     "java/lang/IllegalArgumentException.<init> a/Point.<init> a/B.c",
			7, "java.lang.IllegalArgumentException");
}

static void the_jvms_own_way_is_left_out(void **state)
{
	check_exception(FILL "java/lang/Exception.<init> java/lang/RuntimeException.<init> "
			     "java/lang/NullPointerException.<init> stub:call_stub "
			     "libjvm:JavaCalls::call_helper libjvm:Exceptions::new_exception a/B.c",
			10, "java.lang.NullPointerException");
	/* Nobody behind: the JVM's frames are all that there is. */
	check_exception(FILL "java/lang/Error.<init> libjvm:start", 5, "java.lang.Error");
}

static void what_is_no_such_stack_stays_whole(void **state)
{
	check_exception("", 0, "java.lang.Throwable");
	check_exception("libjvm:a libjvm:b", 0, "java.lang.Throwable");
	check_exception(FILL, 0, "java.lang.Throwable");
	check_exception("libjvm:JVM_FillInStackTrace nodots", 1, "java.lang.Throwable");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_are_named_by_their_class),
		cmocka_unit_test(styles_of_names_do_not_matter),
		cmocka_unit_test(who_parks_for_work_waits_for_no_lock),
		cmocka_unit_test(an_exception_is_its_outermost_constructor),
		cmocka_unit_test(a_constructor_that_throws_is_the_place),
		cmocka_unit_test(the_jvms_own_way_is_left_out),
		cmocka_unit_test(what_is_no_such_stack_stays_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
