// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a thread was called by the kernel and by its JVM, and when -> its name at a time
 * units:   CLOCK_MONOTONIC nanoseconds of the host; the kernel's names in modified UTF-8 if the
 *          thread is a JVM's; full names in UTF-8
 * threads: one at a time
 * errors:  none
 * source:  prctl(2) PR_SET_NAME; HotSpot's JVM_SetNativeThreadName, os::set_native_thread_name
 *
 * HotSpot tells the kernel a name where the thread itself takes it. The kernel keeps 15 bytes.
 * Where another thread gives the name, or the thread has attached itself by JNI, the kernel is not
 * told. So each name has the time at which it was first seen. A full name counts if the kernel's
 * would be cut from it, or if it was seen since the kernel's name came.
 */
#ifndef FG_VM_THREAD_HISTORY_H
#define FG_VM_THREAD_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_COMM_BYTES 16 /* of the kernel's name, terminated */
#define THREAD_COMMS	   8
#define THREAD_FULL_NAMES  4

/* The last names that the kernel had, the newest first. */
struct thread_comms {
	uint8_t count;
	struct thread_comm {
		uint64_t since_ns;
		char text[PROCESS_COMM_BYTES];
	} comms[THREAD_COMMS];
};

/* The last full names, the newest first; the texts are the owner's. */
struct thread_full_names {
	uint8_t count;
	struct thread_full_name {
		uint64_t since_ns;
		const char *text;
	} names[THREAD_FULL_NAMES];
};

/* Notes what the kernel calls the thread at a time. Of an older time only the first name is. */
void thread_comms_note(struct thread_comms *comms, const char *comm, uint64_t time_ns);
/* The newest; "" if none is known. */
const char *thread_comms_last(const struct thread_comms *comms);

/* Notes what the JVM calls the thread at a time. */
void thread_full_names_note(struct thread_full_names *names, const char *text, uint64_t time_ns);
/* Whether the JVM has called the thread by one name alone. NULL is legal. */
bool thread_full_names_are_one(const struct thread_full_names *names);

/*
 * The thread's name at a time, comm NULL or "" if what the kernel called it then is not known. Sets
 * *ret_comm to the kernel's name. NULL: that is the name.
 */
const char *thread_history_at(const struct thread_comms *comms,
			      const struct thread_full_names *names, uint64_t time_ns,
			      const char *comm, const char **ret_comm);

/*
 * Whether the JVM would have cut the full name to the kernel's. What is not ASCII may be cut within
 * a character, and is compared up to there.
 */
bool thread_history_is_cut_from(const char *comm, const char *full);

#endif
