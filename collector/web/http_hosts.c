// SPDX-License-Identifier: Apache-2.0
/*
 * Compares Host headers with names, see http_hosts.h. A Host header is one of
 *
 *   NAME, NAME:PORT, 1.2.3.4, 1.2.3.4:PORT, [::1], [::1]:PORT
 *
 * Any port will do: a forwarded port has another number at its other end. Case does not count, and
 * neither does one dot at the end of a name.
 */
#include "web/http_hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define DIGITS	   "0123456789"
#define NAME_BYTES DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_."

bool http_host_is_valid(const char *text)
{
	if (strcmp(text, "*") == 0)
		return true;
	if (strncmp(text, "*.", 2) == 0)
		text += 2;
	return text[0] && text[0] != '.' && strlen(text) < HTTP_HOST_MAX_BYTES - 2 &&
	       text[strspn(text, NAME_BYTES)] == '\0';
}

static void cut_last_dot(char *name)
{
	const size_t len = strlen(name);

	if (len > 1 && name[len - 1] == '.')
		name[len - 1] = '\0';
}

int http_hosts_add(struct http_hosts *hosts, const char *name)
{
	char *own;

	if (!http_host_is_valid(name))
		return -EINVAL;
	if (hosts->count == HTTP_HOSTS_MAX)
		return -ENOSPC;
	own = hosts->names[hosts->count++];
	snprintf(own, HTTP_HOST_MAX_BYTES, "%s", name);
	cut_last_dot(own);
	return 0;
}

/* name, and name with each domain. A name that is too long is none. */
static void add_with_domains(struct http_hosts *hosts, const char *name, const char *const *domains,
			     size_t n_domains)
{
	char whole[HTTP_HOST_MAX_BYTES];

	http_hosts_add(hosts, name);
	for (size_t i = 0; i < n_domains; i++) {
		if (domains[i][0] &&
		    snprintf(whole, sizeof(whole), "%s.%s", name, domains[i]) < (int)sizeof(whole))
			http_hosts_add(hosts, whole);
	}
}

void http_hosts_add_own(struct http_hosts *hosts, const char *host, const char *const *domains,
			size_t n_domains)
{
	char first[HTTP_HOST_MAX_BYTES];
	size_t len;

	if (!host || host[0] == '*' || !http_host_is_valid(host))
		return;
	len = strcspn(host, ".");
	snprintf(first, sizeof(first), "%.*s", (int)len, host);
	add_with_domains(hosts, first, domains, n_domains);
	if (host[len])
		http_hosts_add(hosts, host);
}

void http_hosts_read_own(struct http_hosts *hosts)
{
	struct __res_state resolver = {0};
	const char *domains[MAXDNSRCH];
	struct utsname host;
	size_t count = 0;

	if (res_ninit(&resolver) == 0) {
		while (count < MAXDNSRCH && resolver.dnsrch[count]) {
			domains[count] = resolver.dnsrch[count];
			count++;
		}
	}
	uname(&host);
	http_hosts_add_own(hosts, host.nodename, domains, count);
	http_hosts_add_own(hosts, getenv("FGCOLLECT_HOST"), domains, count);
	res_nclose(&resolver);
}

static bool is_below(const char *name, const char *domain)
{
	const size_t len = strlen(name), domain_len = strlen(domain);

	return len > domain_len + 1 && name[len - domain_len - 1] == '.' &&
	       strcasecmp(name + len - domain_len, domain) == 0;
}

static bool fits(const char *name, const char *own)
{
	if (strcmp(own, "*") == 0)
		return true;
	return strncmp(own, "*.", 2) == 0 ? is_below(name, own + 2) : strcasecmp(name, own) == 0;
}

/* Takes the port away, and the brackets of an address of IPv6. False: that is no Host header. */
static bool split(const char *header, char *ret_host, bool *ret_is_bracketed)
{
	const bool is_bracketed = header[0] == '[';
	const char *begin = header + is_bracketed;
	const size_t len = strcspn(begin, is_bracketed ? "]" : ":");
	const char *end = begin + len;

	if (is_bracketed && *end++ != ']')
		return false;
	if (*end && (*end != ':' || end[1 + strspn(end + 1, DIGITS)]))
		return false;
	if (len == 0 || len >= HTTP_HOST_MAX_BYTES)
		return false;
	memcpy(ret_host, begin, len);
	ret_host[len] = '\0';
	*ret_is_bracketed = is_bracketed;
	return true;
}

bool http_hosts_have(const struct http_hosts *hosts, const char *header)
{
	char host[HTTP_HOST_MAX_BYTES];
	struct in6_addr six;
	struct in_addr four;
	bool is_bracketed;

	if (!split(header, host, &is_bracketed))
		return false;
	if (is_bracketed)
		return inet_pton(AF_INET6, host, &six) == 1;
	if (inet_pton(AF_INET, host, &four) == 1)
		return true;
	cut_last_dot(host);
	if (strcasecmp(host, "localhost") == 0)
		return true;
	for (size_t i = 0; i < hosts->count; i++) {
		if (fits(host, hosts->names[i]))
			return true;
	}
	return false;
}
