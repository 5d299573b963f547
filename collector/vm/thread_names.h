// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   threads of a JVM, by their IDs -> the names of their java.lang.Thread
 * units:   thread IDs in the process's own PID namespace; bytes
 * threads: one at a time, any
 * errors:  negative errno: -ENOTSUP the tables lack a member; those of java_fields.h, vm_memory.h
 * source:  HotSpot's threadSMR.hpp, thread.hpp, oopHandle.hpp and java.lang.Thread of JDK 8 to 25
 *
 * A list leads to each JavaThread. From a JavaThread one way leads to the thread's ID, and another
 * one to its java.lang.Thread, the String that is its name, and the array with the String's text.
 * The JVM goes on meanwhile: a thread may end, and a collector of garbage may move what was about
 * to be read. What does not look like a name is none, and whoever takes a name compares it with
 * what the kernel has of it. No object is looked for that generational ZGC has moved.
 */
#ifndef FG_VM_THREAD_NAMES_H
#define FG_VM_THREAD_NAMES_H

#include "vm/java_fields.h"

#define THREAD_NAMES_MAX	 256   /* that are wanted at a time */
#define THREAD_NAMES_MAX_THREADS 16384 /* of a JVM, that are looked at */
#define THREAD_NAME_BYTES	 1024  /* of modified UTF-8; a longer name is cut */

struct thread_layout {
	bool is_valid;
	uint64_t list;	  /* addr of a pointer to the list, or to the first JavaThread */
	bool is_linked;	  /* each JavaThread leads to the next one */
	bool is_handle;	  /* JavaThread::_threadObj leads to a reference, or is one */
	bool is_coloured; /* references have generational ZGC's colours */
	uint32_t list_len, list_threads, next;
	uint32_t os_thread, thread_id, object, handle;
	uint32_t name;	       /* in a java.lang.Thread */
	uint32_t value, coder; /* in a String; coder 0: each character has two bytes */
	uint32_t array_len;    /* in an array */
	uint32_t reference_bytes;
	uint64_t narrow_base;
	uint32_t narrow_shift;
};

/* Reads what the tables lead to, once a JVM. After an error the layout is not valid. */
int thread_layout_init(struct thread_layout *layout, struct vm_memory *memory,
		       const struct vm_tables *tables);

/* Called for each of the threads that has a name; name is terminated, len at most as above. */
typedef void (*thread_names_fn)(void *arg, uint32_t tid, const char *name, size_t len);

/* Looks for the names of n threads, THREAD_NAMES_MAX at most. -ENOMEM, and as above. */
int thread_names_read(struct vm_memory *memory, const struct thread_layout *layout,
		      const uint32_t *tids, size_t n, thread_names_fn take, void *arg);

#endif
