// SPDX-License-Identifier: Apache-2.0
/* Puts the page together, see web_page.h. */
#include "web/web_page.h"

#include "encode/packed.h"
#include "web/web_page_assets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int web_page_make(char **ret, size_t *ret_len)
{
	FILE *const stream = open_memstream(ret, ret_len);

	if (!stream)
		return -ENOMEM;
	fprintf(stream,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>fgcollect</title>\n"
		"<style>%s</style>\n</head>\n<body>\n"
		"<noscript>This page is drawn by a script: allow scripts for this server.\n"
		"</noscript>\n<script>%s</script>\n</body>\n</html>\n",
		web_page_css, web_page_js);
	if (fclose(stream) == 0)
		return 0;
	free(*ret);
	*ret = NULL;
	return -ENOMEM;
}

char *web_page_policy(void)
{
	char *policy = NULL;
	size_t len = 0;
	FILE *const stream = open_memstream(&policy, &len);

	if (!stream)
		return NULL;
	fputs("default-src 'none'; connect-src 'self'; frame-src 'self'; frame-ancestors 'self'; "
	      "img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-",
	      stream);
	packed_write_base64(web_page_js_sha256, sizeof(web_page_js_sha256), stream);
	fputs("'; style-src 'sha256-", stream);
	packed_write_base64(web_page_css_sha256, sizeof(web_page_css_sha256), stream);
	fputs("'", stream);
	return fclose(stream) == 0 ? policy : NULL;
}
