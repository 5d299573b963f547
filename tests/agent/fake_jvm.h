// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   as much of a JVM as the agent calls, driven by a test
 * units:   method i has the address FAKE_CODE_BASE + i * 256 and a size of 100
 * threads: as in a JVM: the agent's own attaches and has events generated, the test posts others
 * errors:  what a JVM would not forgive (a leak apart) aborts the program
 * source:  the JVMTI and JNI specifications
 *
 * Functions that the agent has no business calling are NULL.
 */
#ifndef FAKE_JVM_H
#define FAKE_JVM_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_CODE_BASE	0x7f0000000000ull
#define FAKE_CODE_BYTES 100

struct fake_jvm {
	/* Set by the test. */
	const char *vm_version;
	size_t n_methods; /* that exist, for GenerateEvents */
	size_t n_stubs;
	size_t n_inlined;  /* byte i of each method, below this, is from the method i + 1 further */
	size_t name_bytes; /* length of method 0's name, 0 for the usual */
	size_t stub_name_bytes;	  /* length of every stub's name, 0 for the usual */
	bool no_source_files;	  /* refuses that capability */
	bool no_lines;		  /* and this one */
	bool no_method_events;	  /* refuses this one */
	int jdk;		  /* whose version of JVMTI this JVM has, 0 for 17 */
	bool no_monitor_events;	  /* has not got that capability */
	size_t class_bytes;	  /* length of every class's signature, 0 for the usual */
	atomic_bool alloc_taken;  /* another agent has that capability */
	atomic_bool broken_names; /* GetMethodName fails */
	atomic_bool no_weak_refs; /* NewWeakGlobalRef has no memory */
	atomic_uint collected;	  /* objects of classes below this are */
	atomic_bool attach_fails;
	atomic_bool generate_fails;
	/* Seen by the test. */
	jvmtiEventCallbacks callbacks;
	jvmtiCapabilities capabilities;
	bool is_live;		 /* VMInit was posted */
	atomic_uint enabled[64]; /* by event - JVMTI_MIN_EVENT_TYPE_VAL: times enabled */
	atomic_int attached, attaches, generated;
	atomic_int returned;	 /* GenerateEvents, so often */
	atomic_long allocations; /* not yet deallocated */
	atomic_long local_refs;	 /* not yet deleted */
	atomic_long weak_refs;	 /* not yet deleted */
	/* The events of probes, their capabilities, and what was asked for. */
	atomic_bool may_sample, may_watch;
	atomic_bool is_sampling, is_entering, is_entered;
	atomic_int heap_interval, alloc_requests;
	atomic_bool disposed;
};

extern struct fake_jvm fake_jvm;

JavaVM *fake_jvm_start(void);

void fake_jvm_post_init(void);
void fake_jvm_post_death(void);
void fake_jvm_post_load(size_t method);
/* With inlining as the caller says, see jvmticmlr.h. */
void fake_jvm_post_load_with(size_t method, const void *compile_info);
void fake_jvm_post_unload(size_t method);
void fake_jvm_post_stub(size_t stub);

/*
 * Class i is fake/C<i>. An event is delivered only while it is enabled; one that is late is
 * delivered in any case, as by a thread that has found it enabled and was then held up.
 */
void fake_jvm_post_alloc(size_t class, int64_t size);
void fake_jvm_post_late_alloc(size_t class, int64_t size);
void fake_jvm_post_enter(size_t class);
void fake_jvm_post_entered(size_t class);
void fake_jvm_post_late_entered(size_t class);

const void *fake_jvm_address(size_t method);

#endif
