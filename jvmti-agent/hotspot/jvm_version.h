// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   java.vm.name and java.vm.version -> whether the JVM's method events can be trusted
 * units:   none
 * threads: any
 * errors:  a name or version that is not understood is trusted
 * source:  JDK-8173361, JDK-8305165: HotSpot 8 before 8u382 may crash by delivering the event
 */
#ifndef FGAGENT_HOTSPOT_JVM_VERSION_H
#define FGAGENT_HOTSPOT_JVM_VERSION_H

#include <stdbool.h>

/* NULL: the name or version is not known. */
bool jvm_version_is_safe(const char *vm_name, const char *vm_version);

#endif
