// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the kernel for the connections of a listening socket, and /proc for who is at their other
 * ends, see agent_holder.h. The kernel's answer is a struct unix_diag_msg for each connection, with
 * attributes (netlink(7)): the name that the socket was bound to, and the number of its peer.
 */
#include "inspect/agent_holder.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES	32768
#define ESTABLISHED	(1u << 1) /* TCP_ESTABLISHED of include/net/tcp_states.h */
#define MAX_DESCRIPTORS 65536	  /* of one process that are looked at */
#define MAX_CONNECTIONS 16	  /* of one name that are looked at */
#define LINK_BYTES	40

/* The connections of sockets of a name. */
struct search {
	const char *path;
	struct pair {
		uint32_t inode, peer;
	} pairs[MAX_CONNECTIONS];
	size_t count;
};

/* ---- who has a socket open ---- */

/* Whether one of the process's descriptors is the socket of that number. */
static bool has_socket(pid_t pid, uint32_t inode)
{
	char name[LINK_BYTES], wanted[LINK_BYTES], target[LINK_BYTES];
	const struct dirent *entry;
	bool has = false;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof(wanted), "socket:[%u]", inode);
	_cleanup_closedir_ DIR *dir = opendir(name);

	for (int i = 0; !has && i < MAX_DESCRIPTORS && dir && (entry = readdir(dir)); i++) {
		const ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		has = strcmp(target, wanted) == 0;
	}
	return has;
}

static pid_t find_process(uint32_t inode)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && has_socket(pid, inode))
			return pid;
	}
	return 0;
}

/* ---- the kernel's list ---- */

static int ask(void)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.body = {.sdiag_family = AF_UNIX,
			 .udiag_states = ESTABLISHED,
			 .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER},
	};
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0 && send(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool is_named(const struct rtattr *name, const char *path)
{
	const size_t len = RTA_PAYLOAD(name);

	/* The kernel's name may end with NUL, or not. */
	return strnlen(RTA_DATA(name), len) == strlen(path) &&
	       memcmp(RTA_DATA(name), path, strlen(path)) == 0;
}

static void take_connection(struct search *search, const struct nlmsghdr *head)
{
	const struct unix_diag_msg *const msg = NLMSG_DATA(head);
	unsigned len = head->nlmsg_len - (unsigned)NLMSG_LENGTH(sizeof(*msg));
	struct pair pair = {.inode = msg->udiag_ino};
	bool fits = false;

	for (struct rtattr *attr = (struct rtattr *)(msg + 1); RTA_OK(attr, len);
	     attr = RTA_NEXT(attr, len)) {
		if (attr->rta_type == UNIX_DIAG_NAME)
			fits = is_named(attr, search->path);
		else if (attr->rta_type == UNIX_DIAG_PEER)
			memcpy(&pair.peer, RTA_DATA(attr), sizeof(pair.peer));
	}
	if (fits && pair.peer && search->count < MAX_CONNECTIONS)
		search->pairs[search->count++] = pair;
}

/* Takes the messages of one datagram. Returns whether more will come. */
static bool take(struct search *search, const char *bytes, size_t len)
{
	for (const struct nlmsghdr *head = (const struct nlmsghdr *)bytes; NLMSG_OK(head, len);
	     head = NLMSG_NEXT(head, len)) {
		if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
			return false; /* the end, or an error */
		if (head->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
			take_connection(search, head);
	}
	return true;
}

pid_t agent_holder_find(pid_t pid, const char *path)
{
	_cleanup_close_ const int fd = ask();
	_cleanup_free_ char *bytes = malloc(ANSWER_BYTES);
	struct search search = {.path = path};
	ssize_t n;

	if (fd < 0 || !bytes)
		return 0;
	do
		n = recv(fd, bytes, ANSWER_BYTES, 0);
	while (n > 0 && take(&search, bytes, (size_t)n));
	for (size_t i = 0; i < search.count; i++) {
		if (has_socket(pid, search.pairs[i].inode))
			return find_process(search.pairs[i].peer);
	}
	return 0;
}
