// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   files of certificates and of a key -> what the server speaks TLS with
 * units:   none
 * threads: any
 * errors:  negative errno, said on stderr
 * source:  RFC 7468 (PEM); GnuTLS
 *
 * The files are read once: certificates that are renewed are used when the daemon starts again.
 */
#ifndef FG_WEB_HTTP_TLS_H
#define FG_WEB_HTTP_TLS_H

#define HTTP_TLS_MOST_BYTES (1u << 20) /* of a file */
#define HTTP_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* Texts in PEM, owned. A zero-filled struct is empty: there is no TLS. */
struct http_tls {
	char *cert, *key;
	char *ca; /* NULL: clients are asked for no certificate */
};

/* ca NULL: none. */
int http_tls_read(struct http_tls *tls, const char *cert, const char *key, const char *ca);
void http_tls_fini(struct http_tls *tls);

#endif
