// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> its owner: who pays for what is done for the process
 * units:   none
 * threads: the model's
 * errors:  none; a process that is gone is of a user that nobody is
 * source:  proc_pid_status(5), user_namespaces(7), subuid(5)
 *
 * An owner is a container and a user, or on the host a user alone. The user is the real user ID of
 * the process, as this program's user namespace has it, by /proc/<pid>/status: this file answers
 * also while the process hangs (base/process_stat.h). Whoever makes a user namespace stays the user
 * of all processes in it, unless they have subordinate user IDs: then they are one user more for
 * each range of these (guard/subordinates.h). A container may be many users without a namespace.
 * So a container, with all its users, has twice the share of one of its users. A user's processes
 * therefore leave something to the other users of the container, and a container leaves something
 * to other containers.
 */
#ifndef FG_GUARD_OWNER_H
#define FG_GUARD_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct owner {
	uint64_t container; /* a hash of its ID; 0: the process is in no container */
	uint64_t user;	    /* OWNER_ALL: all users of the container */
};

#define OWNER_NOBODY UINT64_MAX
#define OWNER_ALL    (UINT64_MAX - 1)

typedef struct owner (*owner_fn)(void *arg, pid_t pid);

/*
 * Reads which user IDs are subordinate, from etc/subuid below the host's root directory. On the
 * model's thread, or before there is one; again whenever the file may have changed.
 */
void owner_read_subordinates(int root_fd);
/* len: of the container's ID; 0: the process is in no container. Takes three system calls. */
struct owner owner_of_process(pid_t pid, const char *container_id, size_t len);
/* A container with all its users; len > 0. Takes no system call. */
struct owner owner_of_container(const char *container_id, size_t len);

static inline bool owner_is(struct owner a, struct owner b)
{
	return a.container == b.container && a.user == b.user;
}

/* A number for all that one container has, or one user of the host. */
uint64_t owner_group(struct owner owner);
/* How many different groups there are. Sorts them. */
size_t owner_count_groups(uint64_t *groups, size_t n);

/* How much of a pool an owner has, and how much the owner's container has. */
struct owner_use {
	size_t user, container;
};

/* Counts a part of the pool, which the holder has, for the owner. */
static inline void owner_count(struct owner_use *use, struct owner owner, struct owner holder)
{
	if (owner.container != holder.container)
		return;
	use->user += owner.user == holder.user;
	use->container += owner.container != 0;
}

/* share: that of a user. */
static inline bool owner_has_all(struct owner_use use, size_t share)
{
	return use.user >= share || use.container >= 2 * share;
}

#endif
