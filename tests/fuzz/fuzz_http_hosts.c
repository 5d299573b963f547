// SPDX-License-Identifier: Apache-2.0
/*
 * Host headers against the names of this host. The input is lines: the first is the header, the
 * others are names. A header is ours if, without its port and its last dot, it is a name that was
 * added, below a domain that was added, an address, or localhost: asked here in another way.
 */
#include "fuzzer.h"

#include "web/http_hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lower(const char *text, char ret[HTTP_HOST_MAX_BYTES])
{
	snprintf(ret, HTTP_HOST_MAX_BYTES, "%s", text);
	for (char *at = ret; *at; at++)
		*at = (char)tolower((unsigned char)*at);
}

/* Lower case, without one dot at the end, as names are kept. */
static void plain(const char *text, char ret[HTTP_HOST_MAX_BYTES])
{
	size_t len;

	lower(text, ret);
	len = strlen(ret);
	if (len > 1 && ret[len - 1] == '.')
		ret[len - 1] = '\0';
}

static bool is_of(const char *host, const char *own)
{
	char name[HTTP_HOST_MAX_BYTES], domain[HTTP_HOST_MAX_BYTES];
	const char *dot;

	lower(own, domain);
	plain(host, name);
	if (strcmp(domain, "*") == 0)
		return true;
	if (strncmp(domain, "*.", 2) != 0)
		return strcmp(name, domain) == 0;
	for (dot = strchr(name + 1, '.'); name[0] && dot; dot = strchr(dot + 1, '.')) {
		if (strcmp(dot + 1, domain + 2) == 0)
			return true;
	}
	return false;
}

static bool is_ours(const struct http_hosts *hosts, const char *header)
{
	char host[HTTP_HOST_MAX_BYTES], name[HTTP_HOST_MAX_BYTES];
	const bool is_six = header[0] == '[';
	const char *const end = strchr(header, is_six ? ']' : ':');
	const size_t len = end ? (size_t)(end - header) - is_six : strlen(header);
	const char *port = end ? end + is_six : header + len;
	struct in6_addr six;
	struct in_addr four;

	if ((is_six && !end) || len == 0 || len >= sizeof(host))
		return false;
	if (*port && *port != ':')
		return false;
	for (port += *port == ':'; *port; port++) {
		if (!isdigit((unsigned char)*port))
			return false;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, header + is_six);
	if (is_six || inet_pton(AF_INET, host, &four) == 1)
		return !is_six || inet_pton(AF_INET6, host, &six) == 1;
	plain(host, name);
	if (strcmp(name, "localhost") == 0)
		return true;
	for (size_t i = 0; i < hosts->count; i++) {
		if (is_of(host, hosts->names[i]))
			return true;
	}
	return false;
}

static void add(struct http_hosts *hosts, const char *name)
{
	const size_t before = hosts->count;
	const bool is_valid = http_host_is_valid(name);
	const int err = http_hosts_add(hosts, name);

	if ((err == 0) != (is_valid && before < HTTP_HOSTS_MAX) ||
	    hosts->count != before + (err == 0))
		abort();
	if (err == 0 && name[0] != '*' && !http_hosts_have(hosts, name))
		abort(); /* a name that was added is ours */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_hosts hosts;
	char *const text = strndup((const char *)data, size), *at = text, *header, *name;

	if (!text)
		return 0;
	memset(&hosts, 0, sizeof(hosts));
	header = strsep(&at, "\n");
	while ((name = strsep(&at, "\n"))) {
		if (name[0] == '+') /* as the host's own name, with a domain */
			http_hosts_add_own(&hosts, name + 1, (const char *const[]){header}, 1);
		else
			add(&hosts, name);
	}
	if (http_hosts_have(&hosts, header) != is_ours(&hosts, header))
		abort();
	free(text);
	return 0;
}
