// SPDX-License-Identifier: Apache-2.0
/* Frames of threads that wait for work, see idle_frames.h. */
#include "profile/idle_frames.h"

#include <stddef.h>
#include <string.h>

const char *const idle_frames[] = {
	/* pools of the JDK */
	"java/util/concurrent/ThreadPoolExecutor.getTask",
	"java/util/concurrent/ScheduledThreadPoolExecutor$DelayedWorkQueue.take",
	"java/util/concurrent/ForkJoinPool.awaitWork",
	"java/util/concurrent/DelayScheduler.run",
	"*/forkjoin/ForkJoinPool.awaitWork", /* copies: Scala's, Akka's, Pekko's */
	"jsr166y/ForkJoinPool.awaitWork",
	/* the JDK's own threads */
	"java/lang/ref/Reference.waitForReferencePendingList",
	"java/lang/ref/Reference.tryHandlePending", /* JDK 8 */
	"JVM_WaitForReferencePendingList",
	"java/lang/ref/ReferenceQueue.remove*",
	"java/lang/ref/NativeReferenceQueue.remove*",
	"jdk/jfr/internal/PlatformRecorder.takeNap",
	/* what waits for connections, and for any of them to have something to read */
	"sun/nio/ch/EPoll.wait",
	"sun/nio/ch/EPollArrayWrapper.epollWait",
	"sun/nio/ch/Net.accept",
	"sun/nio/ch/ServerSocketChannelImpl.*ccept*",
	"sun/nio/ch/NioSocketImpl.accept",
	"java/net/PlainSocketImpl.socketAccept",
	/* pools and loops of frameworks */
	"io/netty/channel/epoll/Native.epollWait*",
	"io/netty/channel/nio/NioEventLoop.select",
	"io/netty/channel/nio/NioIoHandler.select", /* Netty 4.2 */
	"io/netty/util/HashedWheelTimer$Worker.waitForNextTick",
	"io/netty/util/concurrent/SingleThreadEventExecutor.takeTask",
	"io/netty/util/concurrent/GlobalEventExecutor.takeTask",
	"*/io/netty/channel/epoll/Native.epollWait*", /* copies: gRPC's and others' */
	"*/io/netty/channel/nio/NioEventLoop.select",
	"*/io/netty/channel/nio/NioIoHandler.select",
	"*/io/netty/util/HashedWheelTimer$Worker.waitForNextTick",
	"*/io/netty/util/concurrent/SingleThreadEventExecutor.takeTask",
	"*/io/netty/util/concurrent/GlobalEventExecutor.takeTask",
	"com/hazelcast/internal/util/concurrent/MPSCQueue.take*",
	"com/hazelcast/spi/impl/operationexecutor/impl/OperationQueueImpl.take",
	"com/hazelcast/internal/util/concurrent/BackoffIdleStrategy.idle",
	"org/agrona/concurrent/*IdleStrategy.idle",
	"kafka/network/RequestChannel.receiveRequest",
	"kafka/utils/timer/SystemTimer.advanceClock",
	"org/apache/kafka/server/util/timer/SystemTimer.advanceClock",
	"akka/actor/LightArrayRevolverScheduler.waitNanos",
	"org/apache/pekko/actor/LightArrayRevolverScheduler.waitNanos",
	"org/apache/tomcat/util/threads/TaskQueue.take",
	"org/apache/tomcat/util/threads/TaskQueue.poll",
	"org/apache/catalina/core/StandardServer.await",
	"org/eclipse/jetty/util/thread/QueuedThreadPool*.idleJobPoll",
	"org/eclipse/jetty/util/thread/ReservedThreadExecutor$ReservedThread.reservedWait",
	"org/jboss/threads/EnhancedQueueExecutor$PoolThreadNode.park",
	"com/lmax/disruptor/*WaitStrategy.waitFor",
	/* HotSpot: compilers, the VM's thread, and threads that serve */
	"CompileQueue::get",
	"VMThread::wait_for_operation",
	"WatcherThread::sleep",
	"os::signal_wait",
	"check_pending_signals*",
	"jni_DestroyJavaVM*", /* DestroyJavaVM waits for the end of all threads but daemons */
	"Threads::destroy_vm",
	"*AttachListener::dequeue",
	/* HotSpot: garbage collectors */
	"GangWorker::wait_for_task",
	"*GangTaskDispatcher::worker_wait_for_task",
	"GCTaskManager::get_task",
	"G1*::sleep_before_next_cycle",
	"G1*::wait_for_next_cycle",
	"G1*::wait_for_completed_buffers",
	"G1ServiceThread::wait_for_task",
	"ShenandoahRegulatorThread::regulator_sleep",
	"ZMetronome::wait_for_tick",
	"XMetronome::wait_for_tick",
	"ZDriverPort::receive",
	"ZUncommitter::wait",
	/* the thread that started the JVM waits for the end of main */
	"CallJavaMainInNewThread",
	"ContinueInNewThread0",
	NULL,
};

const char *const idle_loops[] = {
	"java/util/TimerThread.mainLoop",
	"sun/rmi/transport/GC$Daemon.run",
	"sun/misc/GC$Daemon.run",
	"sun/net/www/http/KeepAliveCache.run", /* Keep-Alive-Timer */
	"org/apache/catalina/core/ContainerBase$ContainerBackgroundProcessor.run",
	"org/apache/kafka/queue/KafkaEventQueue$EventHandler.handleEvents",
	"kafka/log/LogCleaner$CleanerThread.doWork",
	"org/apache/kafka/storage/internals/log/LogCleaner$CleanerThread.doWork",
	"ch/qos/logback/core/AsyncAppenderBase$Worker.run",
	"org/quartz/simpl/SimpleThreadPool$WorkerThread.run",
	"org/quartz/core/QuartzSchedulerThread.run",
	"VMThread::loop",
	"signal_thread_entry",
	"ServiceThread::service_thread_entry",
	"NotificationThread::notification_thread_entry",
	"MonitorDeflationThread::monitor_deflation_thread_entry",
	"NMethodSweeper::sweeper_loop",
	"recorderthread_entry",
	"Jfr*Sampler*::run",
	"GangWorker::loop",
	"WorkerThread::run",
	"WorkerTaskDispatcher::worker_run_task",
	"*::run_service",
	"Z*::run_thread",
	"libfgagent.so", /* the agent's own thread */
	NULL,
};

const char *const idle_waits[] = {
	"java/lang/Object.wait*",
	"java/lang/Thread.sleep*",
	"java/util/concurrent/locks/LockSupport.park*",
	"java/util/concurrent/*Queue.take",
	"java/util/concurrent/*Queue.poll",
	"*Monitor::wait*",
	"MonitorLocker*::wait*",
	"*Semaphore::wait*",
	"os::naked_short_sleep",
	"ppoll",
	"syscall", /* futex(2), as the agent's thread waits */
	NULL,
};

static bool is_same(char pattern, char c)
{
	return pattern == c || (pattern == '/' && c == '.') || (pattern == '.' && c == '/');
}

/* Behind a name stand parameters, or " const". */
static bool is_end(char c)
{
	return c == '\0' || c == '(' || c == ' ';
}

/* Goes back to the last '*' alone, so that the time is the product of both lengths at most. */
static bool matches_whole(const char *pattern, const char *name)
{
	const char *behind_star = NULL, *from = NULL;

	for (;;) {
		if (*pattern == '*') {
			behind_star = ++pattern;
			from = name;
		} else if (*pattern == '\0' && is_end(*name)) {
			return true;
		} else if (*pattern && *name && is_same(*pattern, *name)) {
			pattern++;
			name++;
		} else if (behind_star && *from) {
			pattern = behind_star;
			name = ++from;
		} else {
			return false;
		}
	}
}

/* The pattern without its package, or NULL if it has none or the package has a '*'. */
static const char *without_package(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	const char *star = strchr(pattern, '*');

	return slash && (!star || star > slash) ? slash + 1 : NULL;
}

bool idle_frame_matches(const char *pattern, const char *name)
{
	const char *simple = without_package(pattern);

	return matches_whole(pattern, name) || (simple && matches_whole(simple, name));
}

static bool is_listed(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++) {
		if (idle_frame_matches(*patterns, name))
			return true;
	}
	return false;
}

unsigned idle_frame_roles(const char *name, const char *module)
{
	const bool is_loop =
		is_listed(idle_loops, name) || (module && is_listed(idle_loops, module));

	return (is_listed(idle_frames, name) ? IDLE_FRAME : 0u) | (is_loop ? IDLE_LOOP : 0u) |
	       (is_listed(idle_waits, name) ? IDLE_WAIT : 0u);
}
