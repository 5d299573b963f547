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
