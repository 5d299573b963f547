// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   pieces of a process's memory -> their bytes
 * units:   bytes
 * threads: the model's
 * errors:  negative errno; the first -EPERM of all processes is logged, with the remedy
 * source:  process_vm_readv(2)
 *
 * All reads of other processes' memory pass here. So a source can be put in the place of the
 * kernel: to note what was read, or to answer from what was noted.
 */
#ifndef FG_MEMORY_PROCESS_MEMORY_H
#define FG_MEMORY_PROCESS_MEMORY_H

#include <sys/types.h>
#include <sys/uio.h>

/*
 * Reads n pieces at from into n buffers at to, of equal lengths. Returns how many bytes were read:
 * fewer than asked for where a piece is not mapped, or -EFAULT if the first is not.
 */
ssize_t process_memory_read(pid_t pid, const struct iovec *to, const struct iovec *from,
			    unsigned long n);

/*
 * A source that answers in the place of the kernel. read returns what process_memory_read returns.
 */
struct process_memory_source {
	ssize_t (*read)(void *arg, pid_t pid, const struct iovec *to, const struct iovec *from,
			unsigned long n);
	void *arg;
};

/*
 * Sets the source that answers from now on; borrowed. NULL: the kernel. Returns the source before.
 */
const struct process_memory_source *process_memory_use(const struct process_memory_source *source);
/* Reads from the kernel, whatever source is set. */
ssize_t process_memory_read_live(pid_t pid, const struct iovec *to, const struct iovec *from,
				 unsigned long n);
/* Reads from the kernel into other pieces, on any thread, and logs nothing. */
ssize_t process_memory_read_plain(pid_t pid, const struct iovec *to, unsigned long n_to,
				  const struct iovec *from, unsigned long n_from);
/* Logs what has to be said of the result of a read. */
void process_memory_note(pid_t pid, ssize_t got);

#endif
