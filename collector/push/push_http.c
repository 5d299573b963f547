// SPDX-License-Identifier: Apache-2.0
/* Sends bodies, see push_http.h. */
#include "push/push_http.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"
#include "lazy/lazy_curl.h"

#include "otlp.pb.h"

#include <errno.h>
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_BYTES	 4096 /* of what the server says, kept */
#define MOST_ANSWER	 (1u << 20)
#define CREDENTIAL_BYTES 16384
#define CONNECT_SEC	 5
#define MOST_POLL_MS	 60000
#define CA_CACHE_SEC	 60L
#define FILES		 6

/* By which a file is seen to have changed. */
struct file_state {
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct request {
	CURL *curl;
	unsigned generation; /* of the files that the handle knows */
	bool is_busy;
	void *owner;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	char answer[ANSWER_BYTES];
	size_t answer_len, answer_total;
	int64_t date_sec;
};

struct push_http {
	const struct push_target *target;
	CURLM *multi;
	struct file_state files[FILES];
	unsigned generation; /* changes with the files */
	struct request requests[PUSH_HTTP_REQUESTS];
};

/* ---- credentials ---- */

static void read_state(const char *path, struct file_state *ret)
{
	struct stat st;

	*ret = (struct file_state){0};
	if (path && stat(path, &st) == 0)
		*ret = (struct file_state){st.st_ino, st.st_size, st.st_ctim};
}

static bool is_same_state(const struct file_state *a, const struct file_state *b)
{
	return a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Whether one of the target's files has changed since the last time. */
static bool has_changed(struct push_http *http)
{
	const struct push_target *const target = http->target;
	const char *const paths[FILES] = {target->ca_file,     target->cert_file,
					  target->key_file,    target->token_file,
					  target->tenant_file, target->password_file};
	bool has = false;

	for (size_t i = 0; i < FILES; i++) {
		struct file_state now;

		read_state(paths[i], &now);
		has |= !is_same_state(&now, &http->files[i]);
		http->files[i] = now;
	}
	return has;
}

/* The file's first line. A text with other control characters is no credential. */
static int read_credential(const char *path, char ret[CREDENTIAL_BYTES])
{
	const ssize_t len = file_read_small(path, ret, CREDENTIAL_BYTES);

	if (len < 0)
		return (int)len;
	ret[strcspn(ret, "\r\n")] = '\0';
	for (const char *at = ret; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return -EINVAL;
	return ret[strspn(ret, " \t")] ? 0 : -ENODATA;
}

static int fail(struct push_reply *reply, const char *path, int err)
{
	snprintf(reply->text, sizeof(reply->text), "%.150s: %s", path,
		 err == -EINVAL	   ? "has control characters"
		 : err == -ENODATA ? "is empty"
				   : strerror(-err));
	return err;
}

static int add_header(struct curl_slist **headers, const char *name, const char *value)
{
	char *line = NULL;
	struct curl_slist *longer = NULL;

	if (asprintf(&line, "%s: %s", name, value) >= 0)
		longer = curl_slist_append(*headers, line);
	free(line);
	if (!longer)
		return -ENOMEM;
	*headers = longer;
	return 0;
}

static int add_from_file(struct curl_slist **headers, const char *name, const char *before,
			 const char *path, struct push_reply *reply)
{
	char text[CREDENTIAL_BYTES + 16];
	const size_t at = strlen(before);
	int err;

	memcpy(text, before, at);
	err = read_credential(path, text + at);
	if (err)
		return fail(reply, path, err);
	err = add_header(headers, name, text);
	explicit_bzero(text, sizeof(text));
	return err;
}

static int add_headers(const struct push_target *target, struct curl_slist **headers,
		       struct push_reply *reply)
{
	const bool is_otlp = target->url.protocol == PUSH_OTLP;
	int err = add_header(headers, "Content-Type",
			     is_otlp ? "application/x-protobuf" : "application/proto");

	if (!err && is_otlp)
		err = add_header(headers, "Content-Encoding", "gzip");
	if (!err)
		err = add_header(headers, "User-Agent", "fgcollect/" FG_VERSION);
	/* An empty value: libcurl waits for no leave to send. */
	if (!err)
		err = add_header(headers, "Expect", "");
	if (!err && target->tenant)
		err = add_header(headers, "X-Scope-OrgID", target->tenant);
	if (!err && target->tenant_file)
		err = add_from_file(headers, "X-Scope-OrgID", "", target->tenant_file, reply);
	if (!err && target->token_file)
		err = add_from_file(headers, "Authorization", "Bearer ", target->token_file, reply);
	return err;
}

/* ---- what the server says; of each request ---- */

static size_t take_answer(char *data, size_t size, size_t n, void *arg)
{
	struct request *const request = arg;
	const size_t room = sizeof(request->answer) - request->answer_len;
	const size_t len = size * n, kept = len < room ? len : room;

	memcpy(request->answer + request->answer_len, data, kept);
	request->answer_len += kept;
	request->answer_total += len;
	return request->answer_total <= MOST_ANSWER ? len : 0;
}

static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
	static const char date[] = "date:";
	struct request *const request = arg;
	const size_t len = size * n;
	char text[64];

	if (len < sizeof(date) || len >= sizeof(text) ||
	    strncasecmp(data, date, sizeof(date) - 1) != 0)
		return len;
	memcpy(text, data + sizeof(date) - 1, len - sizeof(date) + 1);
	text[len - sizeof(date) + 1] = '\0';
	request->date_sec = curl_getdate(text, NULL);
	return len;
}

struct error_text {
	char *text;
	size_t size;
};

static bool take_error_text(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
	const struct error_text *const error = *arg;
	size_t len = stream->bytes_left;
	pb_byte_t raw[PUSH_REPLY_TEXT];

	(void)field;
	if (len > sizeof(raw))
		len = sizeof(raw);
	if (!pb_read(stream, raw, len))
		return false;
	utf8_clean((const char *)raw, len, error->text, error->size);
	return pb_read(stream, NULL, stream->bytes_left);
}

/* What OTLP says of a part that was refused. */
static void read_partial_success(const struct request *request, struct push_reply *reply)
{
	struct error_text error = {reply->text, sizeof(reply->text)};
	otlp_ExportProfilesServiceResponse response = {
		.partial_success.error_message = {.funcs.decode = take_error_text, .arg = &error}};
	pb_istream_t stream =
		pb_istream_from_buffer((const pb_byte_t *)request->answer, request->answer_len);

	/* With the initial values: the callback is among them. */
	if (pb_decode_ex(&stream, otlp_ExportProfilesServiceResponse_fields, &response,
			 PB_DECODE_NOINIT))
		reply->is_partly_refused = response.partial_success.rejected_profiles > 0;
}

static void read_reply(const struct push_http *http, const struct request *request, CURLcode code,
		       struct push_reply *reply)
{
	curl_off_t pretransfer = 0, retry_after = 0;

	*reply = (struct push_reply){0};
	curl_easy_getinfo(request->curl, CURLINFO_RESPONSE_CODE, &reply->status);
	curl_easy_getinfo(request->curl, CURLINFO_PRETRANSFER_TIME_T, &pretransfer);
	curl_easy_getinfo(request->curl, CURLINFO_RETRY_AFTER, &retry_after);
	/* A proxy's refusal to connect, or 1xx, is no answer of the server. */
	if (pretransfer == 0 || reply->status < 200)
		reply->status = 0;
	reply->went_out = pretransfer > 0;
	reply->retry_after_sec = retry_after;
	reply->date_sec = request->date_sec;
	if (reply->status)
		utf8_clean(request->answer, request->answer_len, reply->text, sizeof(reply->text));
	else
		snprintf(reply->text, sizeof(reply->text), "%.*s", PUSH_REPLY_TEXT - 1,
			 request->error[0] ? request->error : curl_easy_strerror(code));
	if (reply->status / 100 == 2 && http->target->url.protocol == PUSH_OTLP)
		read_partial_success(request, reply);
}

/* ---- requests ---- */

/*
 * libcurl would take the system's directory of authorities beside a file, and keeps none that are
 * of a directory. The system's file has the same authorities as the directory, where there is one.
 */
static void set_authorities(const struct push_target *target, CURL *curl)
{
	const char *system_file = NULL;

	curl_easy_getinfo(curl, CURLINFO_CAINFO, &system_file);
	if (target->ca_file)
		curl_easy_setopt(curl, CURLOPT_CAINFO, target->ca_file);
	if (target->ca_file || (system_file && access(system_file, R_OK) == 0))
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
}

static void set_options(const struct push_target *target, struct request *request)
{
	CURL *const curl = request->curl;

	curl_easy_setopt(curl, CURLOPT_PRIVATE, request);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(
		curl, CURLOPT_CONNECTTIMEOUT,
		(long)(target->timeout_sec < CONNECT_SEC ? target->timeout_sec : CONNECT_SEC));
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)target->timeout_sec);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, request->error);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, request);
	/* A name server that does not answer holds up nothing beyond the time of the request. */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	/*
	 * A file of the target's that has changed counts from the next request on. The system's
	 * authorities, which take some 20 ms of processor time to read, are read once a minute.
	 */
	curl_easy_setopt(curl, CURLOPT_CA_CACHE_TIMEOUT, target->ca_file ? 0L : CA_CACHE_SEC);
	set_authorities(target, curl);
	if (target->cert_file)
		curl_easy_setopt(curl, CURLOPT_SSLCERT, target->cert_file);
	if (target->key_file)
		curl_easy_setopt(curl, CURLOPT_SSLKEY, target->key_file);
	if (target->user)
		curl_easy_setopt(curl, CURLOPT_USERNAME, target->user);
}

/* A handle that knows nothing of connections before the files changed. */
static int refresh(struct push_http *http, struct request *request)
{
	http->generation += has_changed(http);
	if (request->curl && request->generation == http->generation)
		return 0;
	curl_easy_cleanup(request->curl);
	request->generation = http->generation;
	request->curl = curl_easy_init();
	if (!request->curl)
		return -ENOMEM;
	set_options(http->target, request);
	return 0;
}

static int set_password(const struct push_http *http, const struct request *request,
			struct push_reply *reply)
{
	char password[CREDENTIAL_BYTES];
	int err;

	if (!http->target->password_file)
		return 0;
	err = read_credential(http->target->password_file, password);
	if (err)
		return fail(reply, http->target->password_file, err);
	curl_easy_setopt(request->curl, CURLOPT_PASSWORD, password);
	explicit_bzero(password, sizeof(password));
	return 0;
}

static void set_body(const struct push_target *target, const struct request *request,
		     const struct bytes *body)
{
	CURL *const curl = request->curl;

	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, request->headers);
	if (body) {
		curl_easy_setopt(curl, CURLOPT_URL, target->url.http);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data);
	} else {
		curl_easy_setopt(curl, CURLOPT_URL, target->url.ready);
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	}
}

static void end_request(struct push_http *http, struct request *request)
{
	if (request->curl) {
		curl_multi_remove_handle(http->multi, request->curl);
		curl_easy_setopt(request->curl, CURLOPT_HTTPHEADER, NULL);
	}
	curl_slist_free_all(request->headers);
	request->headers = NULL;
	request->is_busy = false;
}

static struct request *find_idle(struct push_http *http)
{
	for (size_t i = 0; i < PUSH_HTTP_REQUESTS; i++)
		if (!http->requests[i].is_busy)
			return &http->requests[i];
	return NULL;
}

int push_http_start(struct push_http *http, const struct bytes *body, void *owner,
		    struct push_reply *ret)
{
	struct request *const request = find_idle(http);
	int err = request ? refresh(http, request) : -ENOBUFS;

	*ret = (struct push_reply){.text = "no memory"};
	if (!err)
		err = set_password(http, request, ret);
	if (!err)
		err = add_headers(http->target, &request->headers, ret);
	if (!err) {
		request->error[0] = '\0';
		request->answer_len = request->answer_total = 0;
		request->date_sec = 0;
		request->owner = owner;
		request->is_busy = true;
		set_body(http->target, request, body);
		if (curl_multi_add_handle(http->multi, request->curl) != CURLM_OK)
			err = -ENOMEM;
	}
	if (err && request)
		end_request(http, request);
	return err;
}

/* Whether a request has ended, which it tells of and frees. */
static bool take_ended(struct push_http *http, void **ret_owner, struct push_reply *ret)
{
	const CURLMsg *message;
	int left = 0;

	curl_multi_perform(http->multi, &left);
	while ((message = curl_multi_info_read(http->multi, &left))) {
		struct request *request = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
		read_reply(http, request, message->data.result, ret);
		*ret_owner = request->owner;
		end_request(http, request);
		return true;
	}
	return false;
}

bool push_http_wait(struct push_http *http, uint64_t for_ns, void **ret_owner,
		    struct push_reply *ret)
{
	const uint64_t ms = for_ns / 1000000 + 1;

	if (take_ended(http, ret_owner, ret))
		return true;
	curl_multi_poll(http->multi, NULL, 0, ms < MOST_POLL_MS ? (int)ms : MOST_POLL_MS, NULL);
	return take_ended(http, ret_owner, ret);
}

bool push_http_abandon(struct push_http *http, void **ret_owner, struct push_reply *ret)
{
	for (size_t i = 0; i < PUSH_HTTP_REQUESTS; i++) {
		struct request *const request = &http->requests[i];

		if (!request->is_busy)
			continue;
		read_reply(http, request, CURLE_ABORTED_BY_CALLBACK, ret);
		*ret_owner = request->owner;
		end_request(http, request);
		return true;
	}
	return false;
}

void push_http_wake(struct push_http *http)
{
	curl_multi_wakeup(http->multi);
}

int push_http_open(const struct push_target *target, struct push_http **ret)
{
	struct push_http *const http = calloc(1, sizeof(*http));

	if (!http)
		return -ENOMEM;
	http->target = target;
	http->multi = curl_multi_init();
	if (!http->multi) {
		free(http);
		return -ENOMEM;
	}
	*ret = http;
	return 0;
}

void push_http_close(struct push_http *http)
{
	if (!http)
		return;
	for (size_t i = 0; i < PUSH_HTTP_REQUESTS; i++) {
		end_request(http, &http->requests[i]);
		curl_easy_cleanup(http->requests[i].curl);
	}
	curl_multi_cleanup(http->multi);
	free(http);
}
