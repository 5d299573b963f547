// SPDX-License-Identifier: Apache-2.0
/* Draws what a store has, see web_graph.h. */
#include "web/web_graph.h"

#include "base/cleanup.h"
#include "draw/draw_compare.h"
#include "draw/draw_render.h"
#include "history/history_draw.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#define STAMP_BYTES 24u
#define TITLE_BYTES 80
#define NOTES_BYTES (LOG_CATCH_BYTES + 1024u)
#define NS_PER_SEC  UINT64_C(1000000000)

/* A page's own policy, in its head, says which script and style it has. */
#define PAGE_POLICY  "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
#define OTHER_POLICY "default-src 'none'; style-src 'unsafe-inline'; sandbox"

static const char *type_of(enum render_format format)
{
	switch (format) {
	case RENDER_HTML:
		return "text/html; charset=utf-8";
	case RENDER_SVG:
		return "image/svg+xml";
	case RENDER_FOLDED:
	case RENDER_PERF_TEXT:
		return "text/plain; charset=utf-8";
	case RENDER_SPEEDSCOPE:
	case RENDER_FIREFOX:
		return WEB_TYPE_JSON;
	case RENDER_PPROF:
	case RENDER_RECORDING:
		break;
	}
	return "application/octet-stream";
}

/* "20261126T031000Z"; "" past the years of clocks. */
static void stamp(uint64_t ns, char ret[STAMP_BYTES])
{
	const time_t seconds = (time_t)(ns / NS_PER_SEC);
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(ret, STAMP_BYTES, "%Y%m%dT%H%M%SZ", &tm);
}

/* "org.example.Shop-PID-4711-20261126T031000Z-20261126T031500Z.svg": letters that harm nowhere. */
static void name_file(struct web_answer *answer, const char *target, const char *what,
		      const struct store_range *range, enum render_format format)
{
	char clean[TITLE_BYTES + 1], from[STAMP_BYTES], to[STAMP_BYTES];
	size_t n = 0;

	for (; *target && n < TITLE_BYTES; target++) {
		if (isalnum((unsigned char)*target) || (n > 0 && strchr("._", *target)))
			clean[n++] = *target;
		else if (n > 0 && clean[n - 1] != '-')
			clean[n++] = '-';
	}
	clean[n] = '\0';
	stamp(range->from_ns, from);
	stamp(range->to_ns, to);
	snprintf(answer->file_name, sizeof(answer->file_name), "%s%s%s-%s%s",
		 n > 0 ? clean : "samples", what, from, to, render_suffix(format));
}

static int read_side(const struct web_context *context, const struct web_query *query,
		     const struct web_side *side, struct draw_input *ret)
{
	const struct store_query asked = web_context_query(context, query, side);
	int err = draw_input_init(ret);

	if (!err)
		err = history_draw(context->dir, &asked, ret);
	if (!err && query->is_reversed)
		err = draw_input_reverse(ret);
	return err;
}

static int draw(struct web_query *query, const struct draw_input *before,
		const struct draw_input *after)
{
	return query->what == WEB_DIFF ? draw_compare(&query->draw, before, after)
				       : draw_render(&query->draw, after);
}

/* What is not whole is said in what people look at, because a frame shows no headers. */
static void note_losses(struct web_query *query, const struct draw_input *after,
			const char *warnings, char ret[NOTES_BYTES])
{
	const char *const notes = after->recording.notes ? after->recording.notes : "";
	const enum render_format format = query->draw.format;

	if (warnings[0] && format == RENDER_HTML)
		query->draw.render.losses = warnings;
	if (!warnings[0] || format != RENDER_SVG)
		return;
	snprintf(ret, NOTES_BYTES, "%s%s%s", query->what == WEB_GRAPH ? notes : "",
		 query->what == WEB_GRAPH && notes[0] ? "; " : "", warnings);
	query->draw.render.notes = ret;
}

int web_graph_answer(const struct web_context *context, struct web_query *query,
		     struct web_answer *answer)
{
	_cleanup_(draw_input_fini) struct draw_input before = {0};
	_cleanup_(draw_input_fini) struct draw_input after = {0};
	const enum render_format format = query->draw.format;
	char notes[NOTES_BYTES];
	const char *target;
	int err = 0;

	if (query->what == WEB_DIFF)
		err = read_side(context, query, &query->before, &before);
	if (!err)
		err = read_side(context, query, &query->after, &after);
	if (!err)
		err = web_answer_open(answer, context->pool);
	if (err)
		return err;
	answer->type = type_of(format);
	answer->policy = format == RENDER_HTML ? PAGE_POLICY : OTHER_POLICY;
	target = after.target ? after.target : "";
	if (format != RENDER_HTML)
		name_file(answer, target, query->what == WEB_DIFF ? "-diff-" : "-",
			  &query->after.range, format);
	note_losses(query, &after, context->caught->warnings, notes);
	query->draw.stream = answer->stream;
	return web_answer_close(answer, draw(query, &before, &after));
}
