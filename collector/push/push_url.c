// SPDX-License-Identifier: Apache-2.0
/* Takes a URL apart, see push_url.h. */
#include "push/push_url.h"

#include "lazy/lazy_curl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *prefix, *path;
} protocols[] = {
	[PUSH_OTLP] = {"otlp+", "/v1development/profiles"},
	[PUSH_PYROSCOPE] = {"pyroscope+", "/push.v1.PusherService/Push"},
};

static int refuse(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EINVAL;
}

static bool has_part(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	const bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return has;
}

/* What the URL must not have. NULL: nothing. */
static const char *flaw_of(CURLU *url, const char *http)
{
	/* libcurl does not tell of a question mark with nothing behind it. */
	if (strpbrk(http, "?#"))
		return "a path may end the URL, and nothing behind it";
	if (curl_url_set(url, CURLUPART_URL, http, 0) != CURLUE_OK)
		return "no URL";
	if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
		return "a user and a password belong into files, see --push-config";
	return NULL;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	const size_t end_len = strlen(end);

	return len >= end_len && strncmp(text + len - end_len, end, end_len) == 0;
}

int push_url_parse(const char *text, struct push_url *ret, const char **ret_why)
{
	enum push_protocol protocol = PUSH_OTLP;
	struct push_url url = {0};
	const char *http, *why = lazy_curl_load();
	CURLU *parts;
	size_t len;

	if (why)
		return refuse(ret_why, why);
	while (strncmp(text, protocols[protocol].prefix, strlen(protocols[protocol].prefix)) != 0)
		if (++protocol == PUSH_PROTOCOLS)
			return refuse(ret_why, "otlp+http://, otlp+https://, pyroscope+http:// or "
					       "pyroscope+https:// is needed in front");
	http = text + strlen(protocols[protocol].prefix);
	if (strncmp(http, "http://", 7) != 0 && strncmp(http, "https://", 8) != 0)
		return refuse(ret_why, "http:// or https:// is needed behind the protocol");
	parts = curl_url();
	why = parts ? flaw_of(parts, http) : "no memory";
	curl_url_cleanup(parts);
	if (why)
		return refuse(ret_why, why);
	len = strlen(http);
	while (len > 0 && http[len - 1] == '/')
		len--;
	if (len + strlen(protocols[protocol].path) + 16 > sizeof(url.http))
		return refuse(ret_why, "the URL is too long");
	url.protocol = protocol;
	snprintf(url.name, sizeof(url.name), "%s%.*s", protocols[protocol].prefix, (int)len, http);
	snprintf(url.http, sizeof(url.http), "%.*s%s", (int)len, http,
		 ends_with(http, len, protocols[protocol].path) ? "" : protocols[protocol].path);
	if (ends_with(http, len, protocols[protocol].path))
		len -= strlen(protocols[protocol].path);
	snprintf(url.ready, sizeof(url.ready), "%.*s/ready", (int)len, http);
	*ret = url;
	return 0;
}
