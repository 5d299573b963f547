// SPDX-License-Identifier: Apache-2.0
/*
 * Parameters of requests. The first byte says what is asked for; the others are "name=value" with
 * '&' between them, not encoded. Of what is taken, ranges are not empty, keys are keys, cells are
 * bounded, and the same text means the same again. What is not taken is told in a sentence.
 */
#include "fuzzer.h"

#include "base/log.h"
#include "web/web_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOW_NS UINT64_C(1700000000000000000)

static void check(bool is)
{
	if (!is)
		abort();
}

static void add(struct web_parameters *parameters, const char *text, size_t len)
{
	const char *const equals = memchr(text, '=', len);
	const size_t name_len = equals ? (size_t)(equals - text) : len;

	web_parameters_add(parameters, text, name_len, equals ? equals + 1 : NULL,
			   equals ? len - name_len - 1 : 0);
}

static void add_all(struct web_parameters *parameters, const char *text, size_t len)
{
	while (len > 0) {
		const char *const end = memchr(text, '&', len);
		const size_t part = end ? (size_t)(end - text) : len;

		add(parameters, text, part);
		text += part + (end != NULL);
		len -= part + (end != NULL);
	}
}

static void check_side(const struct web_side *side)
{
	check(side->range.from_ns < side->range.to_ns);
	check(side->n_keys <= WEB_MAX_KEYS);
	for (size_t i = 0; i < side->n_keys; i++)
		check(store_process_is_key(side->keys[i]));
}

static void check_query(const struct web_query *query)
{
	check_side(&query->after);
	if (query->what == WEB_DIFF)
		check_side(&query->before);
	check(query->columns > 0 && query->rows > 0 && query->buckets > 0);
	check(query->columns * (uint64_t)query->rows <= WEB_MAX_CELLS || query->what != WEB_HEAT);
	check(query->buckets <= WEB_MAX_BUCKETS);
	check(query->draw.n_outputs == 0 && query->draw.to_stdout);
	check(query->what != WEB_DIFF || render_can_compare(query->draw.format));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct web_query query, again;
	struct web_parameters parameters = {0};
	struct log_catch caught = {0};
	enum web_what what;
	int err;

	if (size == 0)
		return 0;
	what = (enum web_what)(data[0] % (WEB_DIFF + 1));
	add_all(&parameters, (const char *)data + 1, size - 1);
	log_catch(&caught);
	err = web_query_parse(what, &parameters, NOW_NS, &query);
	check(err == 0 || (err == -EINVAL && caught.errors[0]));
	if (!err) {
		check_query(&query);
		check(web_query_parse(what, &parameters, NOW_NS, &again) == 0);
		check(again.after.range.from_ns == query.after.range.from_ns);
		check(again.before.range.to_ns == query.before.range.to_ns);
	}
	log_catch(NULL);
	web_parameters_fini(&parameters);
	return 0;
}
