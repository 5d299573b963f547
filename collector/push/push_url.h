// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   otlp+https://host:4318/path -> protocol, and the URL that requests go to
 * units:   none
 * threads: any
 * errors:  -EINVAL with the reason
 * source:  RFC 3986, by libcurl's URL API; OTLP's path of profiles; Pyroscope's push.v1
 *
 * The path that the protocol asks for is added behind the path that is given, unless the URL ends
 * with the protocol's path already. A URL with a user or a password is refused: everybody sees the
 * command line, and the URL is a label of metrics.
 */
#ifndef FG_PUSH_PUSH_URL_H
#define FG_PUSH_PUSH_URL_H

#define PUSH_URL_BYTES 512

enum push_protocol {
	PUSH_OTLP,
	PUSH_PYROSCOPE,
};
#define PUSH_PROTOCOLS 2

struct push_url {
	enum push_protocol protocol;
	char name[PUSH_URL_BYTES];  /* as it was given */
	char http[PUSH_URL_BYTES];  /* https://host:4318/v1development/profiles */
	char ready[PUSH_URL_BYTES]; /* https://host:4318/ready, of which Pyroscope tells */
};

/*
 * ret_why: valid for good, set on -EINVAL. Loads libcurl: every target has a URL, so whoever has a
 * target may call its functions.
 */
int push_url_parse(const char *text, struct push_url *ret, const char **ret_why);

#endif
