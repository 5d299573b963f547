// SPDX-License-Identifier: Apache-2.0
/* Makes responses, see http_reply.h. */
#include "web/http_reply.h"

#include "base/json_value.h"
#include "web/web_page.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES  (64u << 10) /* that are read of an answer at a time */
#define HEADER_BYTES (LOG_CATCH_BYTES + 64)
#define WARNING	     "Fgcollect-Warning"
#define POLICY	     "Content-Security-Policy"
#define DATA_POLICY  "default-src 'none'; frame-ancestors 'self'"
#define AUTHENTICATE "Basic realm=\"fgcollect\", charset=\"UTF-8\""

/* What every response says. */
static void add_common(struct MHD_Response *response, const char *type)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
}

struct MHD_Response *http_reply_of(char *text, size_t len, const char *type)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (response)
		add_common(response, type);
	else
		free(text);
	return response;
}

/* Sends a response and gives it back. NULL: the connection ends. */
static enum MHD_Result send_once(struct MHD_Connection *connection, unsigned status,
				 struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, AUTHENTICATE);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result http_reply_text(struct MHD_Connection *connection, unsigned status,
				const char *text)
{
	char *copy = strdup(text);

	return copy ? send_once(connection, status,
				http_reply_of(copy, strlen(copy), HTTP_TYPE_TEXT))
		    : MHD_NO;
}

enum MHD_Result http_reply_error(struct MHD_Connection *connection, unsigned status,
				 const char *text)
{
	json_t *value = json_pack("{s:o}", "error", json_value_new_text(text));
	char *bytes = value ? json_dumps(value, 0) : NULL;
	struct MHD_Response *response =
		bytes ? http_reply_of(bytes, strlen(bytes), WEB_TYPE_JSON) : NULL;

	json_decref(value);
	if (response) {
		MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
		MHD_add_response_header(response, POLICY, DATA_POLICY);
	}
	return send_once(connection, status, response);
}

static ssize_t read_body(void *arg, uint64_t at, char *ret, size_t len)
{
	const ssize_t n = web_answer_read(arg, at, ret, len);

	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_body(void *arg)
{
	web_answer_fini(arg);
	free(arg);
}

/* Takes the answer over. */
static struct MHD_Response *response_of(struct web_answer *answer)
{
	struct web_answer *const kept = malloc(sizeof(*kept));
	struct MHD_Response *response;

	if (!kept) {
		web_answer_fini(answer);
		return NULL;
	}
	*kept = *answer;
	*answer = (struct web_answer){.fd = -1};
	response = MHD_create_response_from_callback(kept->bytes, BLOCK_BYTES, read_body, kept,
						     free_body);
	if (!response)
		free_body(kept);
	return response;
}

/* Texts of answers have no control characters. */
static void add_facts(struct MHD_Response *response, const struct web_answer *answer)
{
	char text[HEADER_BYTES];

	add_common(response, answer->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, POLICY, answer->policy ? answer->policy : DATA_POLICY);
	if (answer->file_name[0]) {
		snprintf(text, sizeof(text), "attachment; filename=\"%s\"", answer->file_name);
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, text);
	}
	if (answer->warning[0])
		MHD_add_response_header(response, WARNING, answer->warning);
	if (answer->retry_sec) {
		snprintf(text, sizeof(text), "%u", answer->retry_sec);
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, text);
	}
}

enum MHD_Result http_reply_answer(struct MHD_Connection *connection, struct web_answer *answer)
{
	const struct web_answer facts = *answer; /* its texts alone */
	struct MHD_Response *response;

	if (answer->status == 0) { /* nobody waits for it */
		web_answer_fini(answer);
		return MHD_NO;
	}
	response = response_of(answer);
	if (response)
		add_facts(response, &facts);
	return send_once(connection, facts.status, response);
}

struct MHD_Response *http_reply_page(void)
{
	struct MHD_Response *response = NULL;
	char *text, *policy = web_page_policy();
	size_t len;

	if (policy && web_page_make(&text, &len) == 0)
		response = http_reply_of(text, len, "text/html; charset=utf-8");
	if (response) {
		MHD_add_response_header(response, POLICY, policy);
		MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	}
	free(policy);
	return response;
}
