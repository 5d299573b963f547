// SPDX-License-Identifier: Apache-2.0
/* What is asked of a store, see store_request.h. */
#include "store/store_request.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/store_time.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_PID 4194304

const char *store_request_dir(const struct store_request *request)
{
	return request->dir ? request->dir : STORE_DEFAULT_DIR;
}

static int bad_time(const char *prefix, const char *name, const char *text)
{
	log_error("%s%s %s: no such time; times are written as " STORE_TIME_FORMS, prefix, name,
		  text);
	return -EINVAL;
}

int store_request_range(const char *prefix, const char *from, const char *to, uint64_t now_ns,
			struct store_range *ret)
{
	*ret = (struct store_range){0, now_ns};
	if (from && store_time_parse(from, now_ns, 0, &ret->from_ns) < 0)
		return bad_time(prefix, "from", from);
	if (to && store_time_parse(to, now_ns, ret->from_ns, &ret->to_ns) < 0)
		return bad_time(prefix, "to", to);
	if (ret->from_ns > now_ns) {
		log_error("%sfrom %s: is in the future", prefix, from);
		return -EINVAL;
	}
	if (ret->from_ns >= ret->to_ns) {
		log_error("%sto %s: is not after %sfrom: there is nothing between them", prefix,
			  to ? to : "now", prefix);
		return -EINVAL;
	}
	return 0;
}

int store_request_query(const struct store_request *request, uint64_t now_ns,
			struct store_query *ret)
{
	*ret = (struct store_query){
		.pid = request->pid,
		.select = request->select,
		.kind = request->kind,
	};
	return store_request_range("--", request->from, request->to, now_ns, &ret->range);
}

int store_request_set_pid(pid_t *ret, const char *option, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || pid < 1 || pid > MAX_PID) {
		log_error("%s %s: a PID is needed", option, text);
		return -EINVAL;
	}
	*ret = (pid_t)pid;
	return 0;
}

int store_request_select(struct selector *select, enum selector_part_number number,
			 const char *option, const char *text)
{
	const char *const why = selector_parts[number].set(select, text);

	if (!why)
		return 0;
	log_error("%s %s: %s", option, text, why);
	return -EINVAL;
}
