// SPDX-License-Identifier: Apache-2.0
/* Reads certificates and a key, and says what is wrong with them; see http_tls.h. */
#include "web/http_tls.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "lazy/lazy_gnutls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int say(const char *option, const char *path, const char *why)
{
	log_error("%s %s: %s", option, path, why);
	return -EINVAL;
}

static int check(const char *option, const char *path, int fd, bool is_secret)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return say(option, path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > HTTP_TLS_MOST_BYTES)
		return say(option, path, "is no file, or larger than 1 MiB");
	if (is_secret && st.st_mode & (S_IROTH | S_IWOTH | S_IWGRP))
		return say(option, path, "others may read or write it: chmod 600");
	return 0;
}

static int read_text(const char *option, const char *path, bool is_secret, char **ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const int err = check(option, path, fd, is_secret);
	size_t len = 0;
	ssize_t n = 1;

	if (err)
		return err;
	*ret = calloc(1, HTTP_TLS_MOST_BYTES + 1);
	if (!*ret)
		return -ENOMEM;
	while (n > 0 && len < HTTP_TLS_MOST_BYTES) {
		n = read(fd, *ret + len, HTTP_TLS_MOST_BYTES - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? say(option, path, strerror(errno)) : 0;
}

static gnutls_datum_t datum_of(char *text)
{
	return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

/* The server's library would only say that it cannot start. */
static int try_all(const struct http_tls *tls, const char *cert, const char *ca)
{
	const gnutls_datum_t cert_text = datum_of(tls->cert), key_text = datum_of(tls->key);
	const gnutls_datum_t ca_text = tls->ca ? datum_of(tls->ca) : (gnutls_datum_t){0};
	gnutls_certificate_credentials_t credentials;
	int rc, err = 0;

	if (gnutls_certificate_allocate_credentials(&credentials) < 0)
		return -ENOMEM;
	rc = gnutls_certificate_set_x509_key_mem(credentials, &cert_text, &key_text,
						 GNUTLS_X509_FMT_PEM);
	if (rc < 0)
		err = say("--http-cert, --http-key", cert, gnutls_strerror(rc));
	if (!err && tls->ca) {
		rc = gnutls_certificate_set_x509_trust_mem(credentials, &ca_text,
							   GNUTLS_X509_FMT_PEM);
		if (rc <= 0)
			err = say("--http-client-ca", ca,
				  rc < 0 ? gnutls_strerror(rc) : "has no certificate in PEM");
	}
	gnutls_certificate_free_credentials(credentials);
	return err;
}

int http_tls_read(struct http_tls *tls, const char *cert, const char *key, const char *ca)
{
	const char *const why = lazy_gnutls_load();
	int err = why ? say("--http-cert", cert, why) : 0;

	*tls = (struct http_tls){0};
	if (!err)
		err = read_text("--http-cert", cert, false, &tls->cert);
	if (!err)
		err = read_text("--http-key", key, true, &tls->key);
	if (!err && ca)
		err = read_text("--http-client-ca", ca, false, &tls->ca);
	if (!err)
		err = try_all(tls, cert, ca);
	if (err)
		http_tls_fini(tls);
	return err;
}

void http_tls_fini(struct http_tls *tls)
{
	free(tls->cert);
	if (tls->key)
		explicit_bzero(tls->key, strlen(tls->key));
	free(tls->key);
	free(tls->ca);
	*tls = (struct http_tls){0};
}
