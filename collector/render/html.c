// SPDX-License-Identifier: Apache-2.0
/*
 * One page with its style, its script and its data. The policy that it states allows these two
 * texts by their hashes and nothing else: no network, no other script, whatever a name contains.
 *
 *   <meta policy> <title> <style> <script of data> <script>
 */
#include "render/graph.h"
#include "render/html_data.h"
#include "render/packed.h"
#include "render/render.h"
#include "render/svg_assets.h"
#include "render/text.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Of each node the samples before in it and below it; untouched if nothing is compared. */
static int sum_before(const struct profile *profile, const uint64_t *before, uint64_t **ret)
{
	uint64_t *sums;

	if (!before)
		return 0;
	sums = malloc(profile->count * sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	memcpy(sums, before, profile->count * sizeof(*sums));
	for (uint32_t id = profile->count - 1; id > 0; id--)
		sums[profile->nodes[id].parent] += sums[id];
	*ret = sums;
	return 0;
}

int render_html(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	static const struct render_options defaults = {0};
	_cleanup_(graph_fini) struct graph graph = {0};
	_cleanup_free_ uint64_t *sums = NULL;
	int rc;

	if (!options)
		options = &defaults;
	rc = sum_before(profile, options->before, &sums);
	if (rc == 0)
		rc = graph_init_compared(&graph, profile, sums);
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
