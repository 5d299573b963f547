// SPDX-License-Identifier: Apache-2.0
/* The table as plain text, see top_print.h. */
#include "top/top_print.h"

#include "top/top_lines.h"

static void print_line(struct bytes *line, FILE *stream)
{
	while (line->len > 0 && line->data[line->len - 1] == ' ')
		line->len--;
	fwrite(line->data, 1, line->len, stream);
	fputc('\n', stream);
}

static void print_text(const char *text, unsigned width, struct bytes *line, FILE *stream)
{
	line->len = 0;
	top_text_fit(text, width, false, line);
	print_line(line, stream);
}

void top_print(const struct top_view *view, const struct top_facts *facts, unsigned width,
	       size_t most_rows, FILE *stream)
{
	const unsigned columns = width ? width : TOP_ANY_WIDTH;
	const size_t n = view->n_rows < most_rows ? view->n_rows : most_rows;
	struct bytes line = {0};

	print_text(facts->summary, TOP_ANY_WIDTH, &line, stream);
	print_text(facts->quality, TOP_ANY_WIDTH, &line, stream);
	top_line_state(view, TOP_ANY_WIDTH, &line);
	print_line(&line, stream);
	top_line_head(view, columns, &line);
	print_line(&line, stream);
	for (size_t i = 0; i < n; i++) {
		top_line_row(view, &view->rows[i], columns, &line);
		print_line(&line, stream);
	}
	if (n < view->n_rows)
		fprintf(stream, "%zu more\n", view->n_rows - n);
	if (facts->figures.samples == 0)
		fputs("no samples: nothing of it ran in this time; a longer one (-d SECS, of a "
		      "store --from and --to) may have some\n",
		      stream);
	bytes_fini(&line);
}
