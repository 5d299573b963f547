// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVM's tables -> the few values that the collector's unwinder needs
 * units:   offsets and sizes in bytes, addresses, constants
 * threads: any
 * errors:  values that this JVM does not have are left out
 * source:  shared/README.md, HELLO's values; the names are HotSpot's, of JDK 8 to 26
 */
#ifndef FGAGENT_HOTSPOT_WANTED_H
#define FGAGENT_HOTSPOT_WANTED_H

#include "hotspot/vmstructs.h"
#include "shared/wire.h"

#define WANTED_MAX 256

/* Fills values and returns their number. Their keys are static texts. */
size_t wanted_collect(const struct vmstructs *vm, struct wire_value values[WANTED_MAX]);

#endif
