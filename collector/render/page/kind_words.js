// SPDX-License-Identifier: Apache-2.0
/* Kinds of samples in words. */

const KIND_WORDS = { cpu: "CPU samples", wall: "wall-clock time", offcpu: "off-CPU time",
	alloc: "allocated bytes", objects: "allocated objects", lock: "time waiting for locks",
	contentions: "waits for locks", exceptions: "exceptions" };
