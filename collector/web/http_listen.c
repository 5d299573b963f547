// SPDX-License-Identifier: Apache-2.0
/* Listens for requests, see http_listen.h. */
#include "web/http_listen.h"

#include "base/clock.h"
#include "base/log.h"
#include "intake/listen.h"
#include "web/http_places.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

static int bind_at(int fd, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	memcpy(addr.sun_path, path, strlen(path) + 1);
	/* The file has the mode of the socket from the start. umask is of all threads. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return -errno;
	return 0;
}

static int listen_at(const char *path, int *ret_fd)
{
	int fd, err = listen_prepare_private(path, "--http");

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = fd < 0 ? -errno : bind_at(fd, path);
	if (!err) {
		*ret_fd = fd;
		return 0;
	}
	log_error("--http unix:%s: cannot listen there: %s", path, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Drops the library's messages about errors of clients. The library would write each of them to
 * stderr.
 */
static void ignore_message(void *arg, const char *format, va_list args)
{
	(void)arg, (void)format, (void)args;
}

static struct MHD_OptionItem option(enum MHD_OPTION name, intptr_t value, const void *pointer)
{
	return (struct MHD_OptionItem){name, value, (void *)(uintptr_t)pointer};
}

/* fd: a Unix socket that listens; -1: the library opens one at the address. */
static void set_place(const struct http_listen_options *options, int fd,
		      struct MHD_OptionItem ret[4])
{
	size_t n = 0;

	if (fd >= 0) {
		ret[n++] = option(MHD_OPTION_LISTEN_SOCKET, fd, NULL);
	} else {
		ret[n++] = option(MHD_OPTION_SOCK_ADDR, 0, &options->address->addr);
		ret[n++] = option(MHD_OPTION_LISTEN_BACKLOG_SIZE, BACKLOG, NULL);
		ret[n++] = option(MHD_OPTION_LISTENING_ADDRESS_REUSE, 1, NULL);
	}
	ret[n] = option(MHD_OPTION_END, 0, NULL);
}

static void set_tls(const struct http_tls *tls, struct MHD_OptionItem ret[5])
{
	size_t n = 0;

	if (tls->cert) {
		ret[n++] = option(MHD_OPTION_HTTPS_MEM_CERT, 0, tls->cert);
		ret[n++] = option(MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key);
		ret[n++] = option(MHD_OPTION_HTTPS_PRIORITIES, 0, HTTP_TLS_PRIORITIES);
	}
	if (tls->cert && tls->ca)
		ret[n++] = option(MHD_OPTION_HTTPS_MEM_TRUST, 0, tls->ca);
	ret[n] = option(MHD_OPTION_END, 0, NULL);
}

/*
 * poll, because libmicrohttpd 0.9.75 loses time with epoll: when one call of epoll_wait returns
 * exactly as many events as the library asks for, 128, the library waits for further ones, with all
 * its patience, before it looks at these.
 */
static struct MHD_Daemon *start(const struct http_listen_options *options, int fd)
{
	const bool is_six = fd < 0 && options->address->addr.ss_family == AF_INET6;
	const bool is_tls = fd < 0 && options->tls->cert;
	const unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG |
			       MHD_ALLOW_SUSPEND_RESUME | (is_tls ? MHD_USE_TLS : 0u) |
			       (is_six ? MHD_USE_IPv6 : 0u);
	struct MHD_OptionItem place[4], tls[5];

	set_place(options, fd, place);
	set_tls(is_tls ? options->tls : &(struct http_tls){0}, tls);
	return MHD_start_daemon(flags, 0, NULL, NULL, options->on_request, options->arg,
				MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL, MHD_OPTION_ARRAY,
				place, MHD_OPTION_ARRAY, tls, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned)HTTP_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned)HTTP_SILENCE_SEC, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)HTTP_MAX_REQUEST_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
				MHD_OPTION_NOTIFY_CONNECTION, options->on_connection, options->arg,
				MHD_OPTION_NOTIFY_COMPLETED, options->on_answered, options->arg,
				MHD_OPTION_END);
}

/*
 * Has the kernel drop what clients do not take, also of connections that the library has closed.
 * Connections inherit the option.
 */
static void bound_unread(struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);
	const unsigned most_ms = HTTP_MAX_ANSWER_NS / CLOCK_NS_PER_MS;

	if (info)
		setsockopt(info->listen_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most_ms,
			   sizeof(most_ms));
}

/* daemon NULL: it does not listen. */
static unsigned port_of(struct MHD_Daemon *daemon, const struct sockaddr_storage *addr)
{
	const union MHD_DaemonInfo *const info =
		daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;

	/* Addresses of both families have the port at the same place. */
	return info ? info->port : ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static void write_url(struct MHD_Daemon *daemon, const struct sockaddr_storage *addr, bool is_tls,
		      char ret[HTTP_URL_BYTES])
{
	const bool is_six = addr->ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";

	if (is_six)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)addr)->sin6_addr, host,
			  sizeof(host));
	else
		inet_ntop(AF_INET, &((const struct sockaddr_in *)addr)->sin_addr, host,
			  sizeof(host));
	snprintf(ret, HTTP_URL_BYTES, is_six ? "%s://[%s]:%u" : "%s://%s:%u",
		 is_tls ? "https" : "http", host, port_of(daemon, addr));
}

int http_listen(const struct http_listen_options *options, struct MHD_Daemon **ret,
		char ret_url[HTTP_URL_BYTES])
{
	const struct http_address *const address = options->address;
	int fd = -1, err = address->unix_path ? listen_at(address->unix_path, &fd) : 0;

	if (err)
		return err;
	errno = 0;
	*ret = start(options, fd);
	if (!*ret) {
		err = errno ? -errno : -EADDRNOTAVAIL;
		write_url(NULL, &address->addr, options->tls->cert != NULL, ret_url);
		log_error("--http: cannot listen at %s: %s: choose another address or port",
			  address->unix_path ? address->unix_path : ret_url, strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (address->unix_path) {
		snprintf(ret_url, HTTP_URL_BYTES, "unix:%s", address->unix_path);
		return 0;
	}
	bound_unread(*ret);
	write_url(*ret, &address->addr, options->tls->cert != NULL, ret_url);
	return 0;
}

bool http_is_local(const struct http_address *address)
{
	const struct sockaddr_in6 *const six = (const struct sockaddr_in6 *)&address->addr;

	if (address->unix_path)
		return true;
	if (address->addr.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return http_peer_of((const struct sockaddr *)&address->addr) == INADDR_LOOPBACK;
}
