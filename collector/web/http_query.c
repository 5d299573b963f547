// SPDX-License-Identifier: Apache-2.0
/* Has the desk answer a request, see http_query.h. */
#include "web/http_query.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

struct http_query {
	struct web_job job; /* the first member */
	struct MHD_Connection *connection;
	int fd;
	int err; /* of reading parameters */
};

static enum MHD_Result add_parameter(void *arg, enum MHD_ValueKind kind, const char *name,
				     size_t name_len, const char *value, size_t value_len)
{
	struct http_query *const query = arg;

	(void)kind;
	if (!query->err)
		query->err = web_parameters_add(&query->job.parameters, name, name_len, value,
						value_len);
	return query->err ? MHD_NO : MHD_YES;
}

/* A client that has closed its side is gone: browsers and curl do so alone when they give up. */
static bool is_gone(struct web_job *job)
{
	const struct http_query *const query = (struct http_query *)job;
	struct pollfd polled = {.fd = query->fd, .events = POLLRDHUP};

	return poll(&polled, 1, 0) > 0;
}

static void done(struct web_job *job)
{
	MHD_resume_connection(((struct http_query *)job)->connection);
}

int http_query_new(struct MHD_Connection *connection, enum web_what what, int fd, uint64_t peer,
		   struct http_query **ret)
{
	struct http_query *const query = calloc(1, sizeof(*query));
	int err;

	if (!query)
		return -ENOMEM;
	query->connection = connection;
	query->fd = fd;
	query->job = (struct web_job){.queued = {.peer = peer},
				      .what = what,
				      .is_gone = is_gone,
				      .done = done,
				      .answer = {.fd = -1}};
	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_parameter, query);
	err = query->err;
	if (err)
		http_query_free(query);
	else
		*ret = query;
	return err;
}

void http_query_begin(struct http_query *query, struct web_desk *desk)
{
	MHD_suspend_connection(query->connection);
	web_desk_add(desk, &query->job);
}

struct web_answer *http_query_answer(struct http_query *query)
{
	return &query->job.answer;
}

void http_query_free(struct http_query *query)
{
	if (!query)
		return;
	web_answer_fini(&query->job.answer);
	web_parameters_fini(&query->job.parameters);
	free(query);
}
