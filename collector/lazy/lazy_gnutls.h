// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   GnuTLS -> its functions, for TLS and tokens of --http
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  GnuTLS
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_GNUTLS_H
#define FG_LAZY_LAZY_GNUTLS_H

#include "lazy/lazy_library.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#define LAZY_GNUTLS(X)                                                                             \
	X(gnutls_certificate_allocate_credentials)                                                 \
	X(gnutls_certificate_free_credentials)                                                     \
	X(gnutls_certificate_get_peers)                                                            \
	X(gnutls_certificate_set_x509_key_mem)                                                     \
	X(gnutls_certificate_set_x509_trust_mem)                                                   \
	X(gnutls_certificate_verify_peers)                                                         \
	X(gnutls_memcmp)                                                                           \
	X(gnutls_strerror)

extern struct lazy_gnutls {
	LAZY_GNUTLS(LAZY_MEMBER)
} lazy_gnutls;

/* Before the first call of any. */
const char *lazy_gnutls_load(void);

#define gnutls_certificate_allocate_credentials lazy_gnutls.gnutls_certificate_allocate_credentials
#define gnutls_certificate_free_credentials	lazy_gnutls.gnutls_certificate_free_credentials
#define gnutls_certificate_get_peers		lazy_gnutls.gnutls_certificate_get_peers
#define gnutls_certificate_set_x509_key_mem	lazy_gnutls.gnutls_certificate_set_x509_key_mem
#define gnutls_certificate_set_x509_trust_mem	lazy_gnutls.gnutls_certificate_set_x509_trust_mem
#define gnutls_certificate_verify_peers		lazy_gnutls.gnutls_certificate_verify_peers
#define gnutls_memcmp				lazy_gnutls.gnutls_memcmp
#define gnutls_strerror				lazy_gnutls.gnutls_strerror

#endif
