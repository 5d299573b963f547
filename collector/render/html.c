// SPDX-License-Identifier: Apache-2.0
/*
 * One page with its style, script and data. The page's policy allows the style and the script by
 * their hashes and nothing else: no network and no other script, whatever a name contains.
 *
 *   <meta policy> <title> <style> { <script of data of a kind> } <packed script> <script>
 *
 * The last script unpacks the packed one, which does all else. The policy has the hashes of both.
 */
#include "encode/packed.h"
#include "encode/text.h"
#include "render/graph.h"
#include "render/html_data.h"
#include "render/render.h"
#include "render/svg_assets.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static void write_head(const char *title, FILE *stream)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; script-src 'sha256-",
	      stream);
	packed_write_base64(html_begin_js_sha256, sizeof(html_begin_js_sha256), stream);
	fputs("' 'sha256-", stream);
	packed_write_base64(html_app_js_sha256, sizeof(html_app_js_sha256), stream);
	fputs("'; style-src 'sha256-", stream);
	packed_write_base64(html_app_css_sha256, sizeof(html_app_css_sha256), stream);
	fputs("'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
	      stream);
	text_write_xml(stream, title);
	fprintf(stream, "</title>\n<style>%s</style>\n</head>\n<body>\n", html_app_css);
	fputs("<noscript>This flame graph is drawn by a script: allow scripts for this file.\n"
	      "</noscript>\n",
	      stream);
}

/* The data of a kind. keys: of the kinds before it, of several, which are named; or NULL. */
static int write_kind(const struct profile_part *part, const struct render_options *options,
		      struct svg_keys *keys, FILE *stream)
{
	_cleanup_(graph_fini) struct graph graph = {0};
	int rc = options->diff ? graph_init_compared(&graph, options->diff)
			       : graph_init(&graph, part->profile);

	if (rc < 0)
		return rc;
	fputs("<script type=\"application/x-fgcollect\"", stream);
	fputs(keys && keys->count > 0 ? "" : " id=\"fg-data\"", stream);
	if (keys) {
		fputs(" data-kind=\"", stream);
		text_write_xml(stream, part->kind->name);
		fputs("\"", stream);
	}
	fputs(">", stream);
	rc = html_data_write(&graph, options, keys, stream);
	fputs("</script>\n", stream);
	return rc;
}

/* The title is all kinds'; what else is said in words is of the first. */
static int write_kinds(const struct profile_part *parts, size_t n,
		       const struct render_options *options, FILE *stream)
{
	_cleanup_(svg_keys_fini) struct svg_keys keys = {.count = 0};
	char subtitle[PROFILE_PART_BYTES];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct render_options changed = *options;

		if (i > 0) {
			changed.subtitle = profile_part_text(&parts[i], subtitle);
			changed.notes = NULL;
			changed.losses = NULL;
			changed.kind = parts[i].kind;
			changed.info = parts[i].info;
			changed.timeline = parts[i].timeline;
		}
		rc = write_kind(&parts[i], &changed, n > 1 ? &keys : NULL, stream);
	}
	return rc;
}

static int write_scripts(FILE *stream)
{
	_cleanup_(packer_freep) struct packer *packer = packer_new(stream, PACKED_SMALL);

	if (!packer)
		return -ENOMEM;
	fputs("<script type=\"application/x-fgcollect-script\" id=\"fg-script\">\n", stream);
	packer_add(packer, html_app_js, strlen(html_app_js));
	if (packer_end(packer) < 0)
		return -ENOMEM;
	fprintf(stream, "</script>\n<script>%s</script>\n", html_begin_js);
	return 0;
}

int render_html(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	static const struct render_options defaults = {0};
	struct profile_part parts[PROFILE_MAX_KINDS];
	size_t n;
	int rc;

	if (!options)
		options = &defaults;
	errno = 0;
	n = render_parts(profile, options, parts);
	write_head(options->title ? options->title : "Flame Graph", stream);
	rc = write_kinds(parts, n, options, stream);
	if (rc == 0)
		rc = write_scripts(stream);
	fputs("</body>\n</html>\n", stream);
	if (rc == 0 && ferror(stream))
		rc = errno ? -errno : -EIO;
	return rc;
}
