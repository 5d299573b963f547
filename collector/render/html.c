// SPDX-License-Identifier: Apache-2.0
/*
 * One page with its style, script and data. The page's policy allows the style and the script by
 * their hashes and nothing else: no network and no other script, whatever a name contains.
 *
 *   <meta policy> <title> <style> <script of data> <script>
 */
#include "encode/packed.h"
#include "encode/text.h"
#include "render/graph.h"
#include "render/html_data.h"
#include "render/render.h"
#include "render/svg_assets.h"

#include "base/cleanup.h"

#include <errno.h>

static void write_head(const char *title, FILE *stream)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; script-src 'sha256-",
	      stream);
	packed_write_base64(html_app_js_sha256, sizeof(html_app_js_sha256), stream);
	fputs("'; style-src 'sha256-", stream);
	packed_write_base64(html_app_css_sha256, sizeof(html_app_css_sha256), stream);
	fputs("'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
	      stream);
	text_write_xml(stream, title);
	fprintf(stream, "</title>\n<style>%s</style>\n</head>\n<body>\n", html_app_css);
	fputs("<noscript>This flame graph is drawn by a script: allow scripts for this file.\n"
	      "</noscript>\n<script type=\"application/x-fgcollect\" id=\"fg-data\">",
	      stream);
}

int render_html(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	static const struct render_options defaults = {0};
	_cleanup_(graph_fini) struct graph graph = {0};
	int rc;

	if (!options)
		options = &defaults;
	rc = options->diff ? graph_init_compared(&graph, options->diff)
			   : graph_init(&graph, profile);
	if (rc < 0)
		return rc;
	errno = 0;
	write_head(options->title ? options->title : "Flame Graph", stream);
	rc = html_data_write(&graph, options, stream);
	fprintf(stream, "</script>\n<script>%s</script>\n</body>\n</html>\n", html_app_js);
	if (rc == 0 && ferror(stream))
		rc = errno ? -errno : -EIO;
	return rc;
}
