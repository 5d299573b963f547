// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of this host, the Host header of a request -> whether the request is meant for us
 * units:   none
 * threads: one adds names; then any
 * errors:  -EINVAL for what is no name, -ENOSPC
 * source:  RFC 9110, 7.2 (Host) and 7.4 (misdirected requests); RFC 3986, 3.2.2; resolv.conf(5)
 *
 * A web page can have its own name lead to this host's address (DNS rebinding). Then browsers let
 * the page read what this host's server answers, as the answers of the page's own server. The Host
 * header of such a request has the page's name. An address in numbers is no such name, and neither
 * is localhost.
 */
#ifndef FG_WEB_HTTP_HOSTS_H
#define FG_WEB_HTTP_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_HOSTS_MAX	    32
#define HTTP_HOST_MAX_BYTES 256 /* of a name, with its end */

struct http_hosts {
	char names[HTTP_HOSTS_MAX][HTTP_HOST_MAX_BYTES];
	size_t count;
};

/* Whether text can be added: a name, "*.DOMAIN" for all names below that domain, or "*" for all. */
bool http_host_is_valid(const char *text);
int http_hosts_add(struct http_hosts *hosts, const char *name);
/*
 * Adds host, its first label, and both with each domain. host NULL or no name: nothing is added.
 * Names past HTTP_HOSTS_MAX are left out.
 */
void http_hosts_add_own(struct http_hosts *hosts, const char *host, const char *const *domains,
			size_t n_domains);
/*
 * Adds the names that this host has without a question to a name server: the host name, the name
 * that FGCOLLECT_HOST says, and both with the search domains of /etc/resolv.conf.
 */
void http_hosts_read_own(struct http_hosts *hosts);

/* header: HOST or HOST:PORT, as the client sent it. Addresses and localhost are always ours. */
bool http_hosts_have(const struct http_hosts *hosts, const char *header);

#endif
