// SPDX-License-Identifier: Apache-2.0
/* Frameworks and tasks of threads, see name_lists.h. */
#include "profile/name_lists.h"

#include <stdint.h>

const struct name_list framework_lists[] = {
	{"Spring", {"org/springframework/"}},
	{"Tomcat",
	 {"org/apache/tomcat/", "org/apache/catalina/", "org/apache/coyote/", "org/apache/jasper/",
	  "jakarta/servlet/", "javax/servlet/"}},
	{"Jetty", {"org/eclipse/jetty/"}},
	{"Netty", {"io/netty/"}},
	{"Reactor", {"reactor/"}},
	{"Hibernate", {"org/hibernate/"}},
	{"Undertow", {"io/undertow/"}},
	{"Vert.x", {"io/vertx/"}},
	{"Quarkus", {"io/quarkus/", "org/jboss/resteasy/reactive/"}},
	{"Micronaut", {"io/micronaut/"}},
	{"JDK", {"java/", "javax/", "jdk/", "sun/", "com/sun/"}},
};
const size_t framework_count = sizeof(framework_lists) / sizeof(*framework_lists);

const struct name_list plumbing_lists[] = {
	{"thread start",
	 {"clone",
	  "__clone",
	  "start_thread",
	  "thread_native_entry",
	  "java_start",
	  "Thread::call_run",
	  "JavaThread::run",
	  "JavaThread::thread_main_inner",
	  "_start",
	  "__libc_start_",
	  "ThreadJavaMain",
	  "JavaMain",
	  "jni_CallStaticVoidMethod",
	  "jni_invoke_static",
	  "JavaCalls::call",
	  "os::os_exception_wrapper",
	  "thread_entry",
	  "call_stub",
	  "java/lang/Thread.run",
	  "java/util/concurrent/ThreadPoolExecutor.runWorker",
	  "java/util/concurrent/ThreadPoolExecutor$Worker.run",
	  "java/util/concurrent/FutureTask.run",
	  "java/util/concurrent/Executors$RunnableAdapter.call",
	  "java/util/concurrent/ForkJoinWorkerThread.run",
	  "java/util/concurrent/ForkJoinPool.",
	  "org/apache/tomcat/util/threads/TaskThread$WrappingRunnable.run",
	  "org/apache/tomcat/util/threads/ThreadPoolExecutor",
	  "org/eclipse/jetty/util/thread/QueuedThreadPool",
	  "io/netty/util/concurrent/FastThreadLocalRunnable.run",
	  "io/netty/util/internal/ThreadExecutorMap$"}},
	{"JRuby",
	 {"org/jruby/ir/interpreter/",
	  "org/jruby/ir/IRTranslator.",
	  "org/jruby/ir/instructions/",
	  "org/jruby/ir/targets/",
	  "org/jruby/ir/runtime/IRRuntimeHelpers.invoke",
	  "org/jruby/internal/runtime/methods/",
	  "org/jruby/runtime/callsite/",
	  "org/jruby/runtime/Block",
	  "org/jruby/runtime/CallBlock",
	  "org/jruby/runtime/*IRBlockBody.",
	  "org/jruby/runtime/Helpers.invoke",
	  "org/jruby/runtime/CallType.",
	  "org/jruby/runtime/CallSite.",
	  "*$INVOKER$",
	  "org/jruby/Main.",
	  "org/jruby/Ruby.run",
	  "org/jruby/javasupport/JavaMethod.invoke",
	  "org/jruby/java/invokers/",
	  "*.invokeOther",
	  "org/jruby/ir/Compiler"}},
	{"Truffle",
	 {"com/oracle/truffle/", "org/graalvm/compiler/truffle/", "org/graalvm/truffle/",
	  "jdk/graal/compiler/truffle/", "org/truffleruby/core/inlined/",
	  "org/truffleruby/language/"}},
	{"Clojure",
	 {"clojure/lang/AFn.", "clojure/lang/AFunction", "clojure/lang/RestFn.",
	  "clojure/lang/Var.invoke", "clojure/lang/Var.applyTo", "clojure/lang/MultiFn.",
	  "clojure/lang/LazySeq.", "clojure/lang/Compiler$*Expr.eval",
	  "clojure/lang/Reflector.invoke", "clojure/core$apply.", "clojure/core$seq_",
	  "clojure/core$comp$fn_", "clojure/core$partial$fn_", "clojure/core$with_bindings_STAR_",
	  "clojure/core$binding_conveyor_fn$fn_"}},
	{"Groovy",
	 {"org/codehaus/groovy/runtime/callsite/", "org/codehaus/groovy/reflection/",
	  "org/codehaus/groovy/vmplugin/", "org/codehaus/groovy/runtime/ScriptBytecodeAdapter.",
	  "org/codehaus/groovy/runtime/InvokerHelper.", "org/codehaus/groovy/runtime/metaclass/",
	  "org/codehaus/groovy/runtime/MetaClassHelper.", "groovy/lang/MetaClassImpl.",
	  "groovy/lang/ExpandoMetaClass.", "groovy/lang/DelegatingMetaClass.",
	  "groovy/lang/MetaMethod.", "groovy/lang/Closure.call",
	  "groovy/lang/GroovyObjectSupport."}},
	{"method handles",
	 {"java/lang/invoke/", "jdk/internal/reflect/", "sun/reflect/",
	  "java/lang/reflect/Method.invoke", "java/lang/reflect/Constructor.newInstance"}},
};
const size_t plumbing_count = sizeof(plumbing_lists) / sizeof(*plumbing_lists);

const struct name_list task_lists[] = {
	{"[JIT compiler]", {"CompileBroker::"}},
	{"[GC]",
	 {"ConcurrentGCThread::", "WorkerThread::", "GangWorker::", "AbstractGangWorker::",
	  "GCTaskThread::", "VM_GC_", "VM_G1", "VM_GenCollect", "VM_Parallel", "VM_CollectFor",
	  "VM_Shenandoah", "VM_Z", "VM_X"}},
};
const size_t task_count = sizeof(task_lists) / sizeof(*task_lists);

static bool begins_with(const char *name, const char *start)
{
	for (; *start; name++, start++) {
		if (*name != *start && !(*name == '.' && *start == '/'))
			return false;
	}
	return true;
}

size_t name_list_find(const struct name_list *lists, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		for (const char *const *start = lists[i].starts; *start; start++) {
			if (begins_with(name, *start))
				return i;
		}
	}
	return SIZE_MAX;
}
