// SPDX-License-Identifier: Apache-2.0
/* Which frames say that a thread waits for work. */
#include "profile/idle_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_name_is_found_in_each_style(void **state)
{
	static const char *const names[] = {
		"java/util/concurrent/ThreadPoolExecutor.getTask",
		"java.util.concurrent.ThreadPoolExecutor.getTask",
		"ThreadPoolExecutor.getTask",
		"java/util/concurrent/ThreadPoolExecutor.getTask()Ljava/lang/Runnable;",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(idle_frame_roles(names[i], NULL), IDLE_FRAME);
	assert_int_equal(idle_frame_roles("CompileQueue::get(CompilerThread*)", NULL), IDLE_FRAME);
	assert_int_equal(idle_frame_roles("WatcherThread::sleep() const", NULL), IDLE_FRAME);
}

static void pools_and_threads_of_libraries_are_idle_also_in_copies(void **state)
{
	static const char *const frames[] = {
		"com.hazelcast.internal.util.concurrent.MPSCQueue.takeAll",
		"io/netty/channel/nio/NioIoHandler.select",
		"io.grpc.netty.shaded.io.netty.channel.epoll.Native.epollWait",
		"kafka/network/RequestChannel.receiveRequest",
		"org/apache/pekko/actor/LightArrayRevolverScheduler.waitNanos",
		"scala/concurrent/forkjoin/ForkJoinPool.awaitWork",
		"jni_DestroyJavaVM_inner",
		"Threads::destroy_vm()",
		"JVM_WaitForReferencePendingList",
	};
	static const char *const loops[] = {
		"sun.net.www.http.KeepAliveCache.run",
		"signal_thread_entry(JavaThread*, JavaThread*)",
		"org/apache/kafka/queue/KafkaEventQueue$EventHandler.handleEvents",
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		assert_int_equal(idle_frame_roles(frames[i], NULL), IDLE_FRAME);
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++)
		assert_int_equal(idle_frame_roles(loops[i], NULL), IDLE_LOOP);
	/* An application that waits for a connection of its pool has something to do. */
	assert_int_equal(idle_frame_roles("com/zaxxer/hikari/util/ConcurrentBag.borrow", NULL), 0);
}

static void only_the_whole_name_counts(void **state)
{
	static const char *const names[] = {
		"java/util/concurrent/ThreadPoolExecutor.getTaskCount",
		"my/java/util/concurrent/ThreadPoolExecutor.getTask",
		"java/util/concurrent/ThreadPoolExecutor",
		"",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(idle_frame_roles(names[i], NULL), 0);
}

static void waits_of_applications_are_no_idle_frames(void **state)
{
	static const char *const names[] = {
		"java/lang/Object.wait",
		"java/lang/Object.wait0",
		"java/lang/Thread.sleep",
		"java/util/concurrent/locks/LockSupport.parkNanos",
		"java/util/concurrent/LinkedBlockingQueue.take",
		"Monitor::wait_without_safepoint_check",
		"PosixSemaphore::wait",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(idle_frame_roles(names[i], NULL), IDLE_WAIT);
	assert_int_equal(idle_frame_roles("java/util/concurrent/FutureTask.get", NULL), 0);
	assert_int_equal(idle_frame_roles("Unsafe_Park", NULL), 0);
}

static void what_also_runs_tasks_is_a_loop(void **state)
{
	assert_int_equal(idle_frame_roles("java/util/TimerThread.mainLoop", NULL), IDLE_LOOP);
	assert_int_equal(idle_frame_roles("WorkerThread::run", NULL), IDLE_LOOP);
	assert_int_equal(idle_frame_roles("G1ConcurrentMarkThread::run_service", NULL), IDLE_LOOP);
	assert_int_equal(idle_frame_roles("wait_until", "libfgagent.so"), IDLE_LOOP);
	assert_int_equal(idle_frame_roles("syscall", "libc.so.6"), IDLE_WAIT); /* as it waits */
	assert_int_equal(idle_frame_roles("wait_until", "libagent.so"), 0);
}

static void a_star_is_any_text(void **state)
{
	assert_true(idle_frame_matches("com/acme/*.poll", "com/acme/a/Pool.poll"));
	assert_true(idle_frame_matches("com.acme.*.poll", "com/acme/Pool.poll"));
	assert_true(idle_frame_matches("*", ""));
	assert_true(idle_frame_matches("*ab*ab", "abaabab"));
	assert_true(idle_frame_matches("a*", "a::b(int, long)"));
	assert_false(idle_frame_matches("com/acme/*.poll", "com/acme/Pool.polls"));
	assert_false(idle_frame_matches("com/*/Pool.poll", "Pool.poll"));
	assert_false(idle_frame_matches("*ab*ab", "abba"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_found_in_each_style),
		cmocka_unit_test(only_the_whole_name_counts),
		cmocka_unit_test(pools_and_threads_of_libraries_are_idle_also_in_copies),
		cmocka_unit_test(waits_of_applications_are_no_idle_frames),
		cmocka_unit_test(what_also_runs_tasks_is_a_loop),
		cmocka_unit_test(a_star_is_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
