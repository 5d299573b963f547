// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of the socket to a parser of a record, see record_parser.h. The parser says its PID
 * before it reads anything; then it gets a struct question and the record (confine/parser_text.h),
 * and answers with the bytes of record_answer.h.
 */
#include "container/record_parser.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "confine/parser.h"
#include "confine/parser_text.h"
#include "container/container_records.h"
#include "container/record_answer.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What is known of the container. */
struct question {
	enum container_record_kind kind;
	char id[CONTAINER_ID_BYTES];
	char pod_uid[CONTAINER_UID_BYTES];
	char name[CONTAINER_NAME_BYTES];
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES];
	char image[CONTAINER_IMAGE_BYTES];
};

static int read_record(enum container_record_kind kind, const char *text, size_t len,
		       struct container *container, bool *ret_runs)
{
	switch (kind) {
	case RECORD_DOCKER:
		if (ret_runs)
			*ret_runs = container_records_docker_runs(text, len);
		return container_records_docker(text, len, container);
	case RECORD_STORAGE:
		return container_records_storage(text, len, container);
	case RECORD_OCI:
		return container_records_oci(text, len, container);
	default:
		return -EBADMSG;
	}
}

/* ---- the parser ---- */

/* Without a seed jansson would open a file for one. */
static void seed_hashes(void)
{
	size_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	json_object_seed(seed | 1);
}

void record_parser_serve(int sock)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *answer = NULL;
	struct container container = {.namer = CONTAINER_NAMED_BY_ROOT};
	struct question question;
	size_t len, answer_len;
	bool runs = false;
	int err;

	if (parser_text_receive(sock, &question, sizeof(question), &text, &len) < 0)
		return;
	seed_hashes();
	strcpy(container.id, question.id);
	strcpy(container.pod_uid, question.pod_uid);
	strcpy(container.name, question.name);
	strcpy(container.pod, question.pod);
	strcpy(container.name_space, question.name_space);
	strcpy(container.image, question.image);
	err = read_record(question.kind, text, len, &container, &runs);
	if (record_answer_make(&container, err, runs, &answer, &answer_len) == 0)
		parser_send(sock, answer, answer_len, -1);
	container_fini(&container);
}

/* ---- the collector ---- */

/* What a parser says first; the labels follow. */
struct first_words {
	pid_t pid;
	struct record_answer_head head;
} __attribute__((packed));

/* *ret_len is 0 if the parser has ended before it read anything. The caller frees *ret. */
static int receive(int sock, uint64_t until_ns, char **ret, size_t *ret_len)
{
	struct first_words first;
	struct record_answer_head head;
	size_t got = 0;
	int err = parser_receive_until(sock, &first, sizeof(first), &got, until_ns);

	if (err)
		return err == -EBADMSG && got < sizeof(first.pid) ? -ECHILD : err;
	head = first.head;
	*ret_len = record_answer_bytes(&head);
	if (*ret_len == 0)
		return -EBADMSG;
	*ret = malloc(*ret_len);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, &head, sizeof(head));
	got = sizeof(head);
	return parser_receive_until(sock, *ret, *ret_len, &got, until_ns);
}

static int ask(const struct parser *parser, const struct question *question, const char *text,
	       size_t len)
{
	const int err = parser_text_send(parser->sock, question, sizeof(*question), text, len);

	/* A parser that has ended says so when it is waited for. */
	return err == -EBADMSG ? 0 : err;
}

/* How long a parser may be waited for now. */
static uint64_t patience_ns(struct record_waits *waits, size_t len)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t wanted_ns = RECORD_PARSER_NS + len * RECORD_PARSER_BYTE_NS;
	uint64_t left_ns;

	if (waits->patience_ns)
		return waits->patience_ns;
	if (now_ns - waits->began_ns >= RECORD_PARSER_PERIOD_NS)
		*waits = (struct record_waits){.began_ns = now_ns};
	left_ns = waits->waited_ns < RECORD_PARSER_WAITS_NS
			  ? RECORD_PARSER_WAITS_NS - waits->waited_ns
			  : 0;
	return wanted_ns < left_ns ? wanted_ns : left_ns;
}

static int parse_elsewhere(const struct question *question, const char *text, size_t len,
			   uint64_t until_ns, char **ret, size_t *ret_len)
{
	struct parser parser;
	int err = parser_begin(PARSER_RECORDS, &parser);

	if (err)
		return -EAGAIN;
	err = ask(&parser, question, text, len);
	if (err) {
		parser_stop(&parser);
		return -EAGAIN;
	}
	err = receive(parser.sock, until_ns, ret, ret_len);
	if (err == -EAGAIN)
		zygote_kill_parser(parser.id, true);
	parser_stop(&parser);
	return !err ? 0 : err == -ECHILD ? -EAGAIN : -EPROTO;
}

static void make_question(const struct container *container, enum container_record_kind kind,
			  struct question *ret)
{
	*ret = (struct question){.kind = kind};
	strcpy(ret->id, container->id);
	strcpy(ret->pod_uid, container->pod_uid);
	strcpy(ret->name, container->name);
	strcpy(ret->pod, container->pod);
	strcpy(ret->name_space, container->name_space);
	strcpy(ret->image, container->image);
}

int record_parser_read(struct record_waits *waits, enum container_record_kind kind,
		       const char *text, size_t len, struct container *container, bool *ret_runs)
{
	_cleanup_free_ char *answer = NULL;
	struct question question;
	uint64_t began_ns, patience;
	size_t answer_len;
	int err;

	if (!zygote_is_used())
		return read_record(kind, text, len, container, ret_runs);
	patience = patience_ns(waits, len);
	if (patience == 0)
		return -EAGAIN;
	make_question(container, kind, &question);
	began_ns = clock_now_ns();
	err = parse_elsewhere(&question, text, len, began_ns + patience, &answer, &answer_len);
	waits->waited_ns += clock_now_ns() - began_ns;
	return err ? err : record_answer_take(answer, answer_len, container, ret_runs);
}
