// SPDX-License-Identifier: Apache-2.0
/* Judges who may look, see http_access.h. */
#include "web/http_access.h"

#include "lazy/lazy_gnutls.h"

#include <string.h>
#include <strings.h>

#define BEARER "Bearer "

enum http_verdict http_access_judge(struct http_access *access, const struct http_shown *shown,
				    bool is_data)
{
	/* Pages of other sites could have a browser ask, and measure how long answers take. */
	if (is_data && shown->fetch_site && strcasecmp(shown->fetch_site, "same-origin") != 0 &&
	    strcasecmp(shown->fetch_site, "none") != 0)
		return HTTP_CROSS;
	if (access->has_ca && shown->has_certificate)
		return HTTP_ALLOWED;
	if (access->has_token && shown->token && http_token_is(&access->token, shown->token))
		return HTTP_ALLOWED;
	if (access->has_token)
		return HTTP_ASKED;
	if (access->has_ca && shown->is_tls)
		return HTTP_UNCERTAIN;
	return shown->is_local ? HTTP_ALLOWED : HTTP_FORBIDDEN;
}

/* NULL: the connection is not encrypted. */
static gnutls_session_t session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *const info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return info ? info->tls_session : NULL;
}

/*
 * Whether the client has shown a certificate that the CA has signed for clients. Where there are
 * sessions, http_tls_read has loaded GnuTLS.
 */
static bool has_certificate(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
					 .data = (void *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
	unsigned status = 1;

	if (!session || !gnutls_certificate_get_peers(session, &(unsigned){0}))
		return false;
	return gnutls_certificate_verify_peers(session, &purpose, 1, &status) == 0 && status == 0;
}

enum http_verdict http_access_check(struct http_access *access, struct MHD_Connection *connection,
				    bool is_local, bool is_data)
{
	const char *const authorization = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	gnutls_session_t session = session_of(connection);
	struct http_shown shown = {
		.is_local = is_local,
		.is_tls = session != NULL,
		.has_certificate = access->has_ca && has_certificate(session),
		.fetch_site =
			MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site"),
	};
	char *password = NULL, *user = NULL;
	enum http_verdict verdict;

	if (authorization && strncasecmp(authorization, BEARER, strlen(BEARER)) == 0)
		shown.token = authorization + strlen(BEARER);
	else if (authorization)
		user = MHD_basic_auth_get_username_password(connection, &password);
	if (password)
		shown.token = password;
	verdict = http_access_judge(access, &shown, is_data);
	MHD_free(user);
	MHD_free(password);
	return verdict;
}

const char *http_access_say(enum http_verdict verdict)
{
	switch (verdict) {
	case HTTP_ALLOWED:
		return NULL;
	case HTTP_ASKED:
		return "the token of the daemon's --http-token-file is needed: as a password, with "
		       "any name, or as Authorization: Bearer TOKEN";
	case HTTP_FORBIDDEN:
		return "elsewhere than on 127.0.0.1 there are /metrics and /healthz alone: start "
		       "the daemon with --http-cert, --http-key and --http-token-file or "
		       "--http-client-ca, or come over loopback, by ssh -L or kubectl port-forward";
	case HTTP_UNCERTAIN:
		return "a certificate that the CA of --http-client-ca has signed is needed";
	case HTTP_CROSS:
		return "this is for the daemon's own page, and for programs: not for pages of "
		       "other "
		       "sites";
	}
	return "";
}
