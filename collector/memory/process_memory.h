// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   pieces of a process's memory -> their bytes
 * units:   bytes
 * threads: the model's
 * errors:  negative errno; the first -EPERM of all processes is logged, with the remedy
 * source:  process_vm_readv(2)
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

#endif
