// SPDX-License-Identifier: Apache-2.0
/*
 * Collects names, has a thread ask parsers, and keeps the texts, see demangler.h.
 *
 * A request to a parser is the number of names, and for each its style, its length and its bytes.
 * The answer is for each name the length of its text and the text. The parser reads the whole
 * request before it answers, so that neither side waits for the other to read.
 */
#include "symbolize/demangler.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map64.h"
#include "base/hash.h"
#include "base/thread.h"
#include "confine/flat.h"
#include "confine/parser.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX_BYTES	4096	    /* longer texts are of no use to a reader */
#define KEPT_MAX_BYTES	(16u << 20) /* of names and texts; then all are forgotten */
#define NO_TIME		UINT32_MAX  /* in the place of a text's length: the parser had no time */
#define MAX_PARSERS	4	    /* that wait for further names of their files */
#define NAMES_OF_PARSER 20000 /* then the parser is replaced, as its processor time is limited */
#define MAX_REFUSED	64    /* files */
#define HASH_PURPOSE	UINT64_C(0x64656d616e676c65)

/* A name that was asked for. The members above text never change. */
struct known {
	struct known *next; /* with the same hash */
	const char *name;
	uint64_t file;
	uint32_t len;
	enum demangle_style style;
	const char *text; /* NULL: not there yet */
};

/* What became of a name in the thread's hands. */
enum asked_end {
	ASKED_ANSWERED,
	ASKED_LEFT,    /* the parser has ended, or has lied */
	ASKED_NO_TIME, /* the parser had no time left */
};

struct asked {
	struct known *known;
	char *text; /* NULL: none */
	enum asked_end end;
};

struct file_parser {
	struct parser parser;
	uint64_t file; /* 0: the place is free */
	uint64_t names;
};

struct refused_file {
	uint64_t file, until_ns;
};

struct demangler {
	/* the caller's */
	struct map64 known; /* hash -> struct known */
	struct arena arena;
	uint64_t seed, answers;
	struct demangler_stats stats;
	struct asked next[DEMANGLER_MAX_NAMES]; /* names that are collected */
	size_t n_next, next_bytes;
	struct refused_file refused[MAX_REFUSED];
	unsigned n_refused; /* in all; the oldest gives way */
	char room[TEXT_MAX_BYTES];
	bool has_thread;

	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int fd;
	bool is_stopping, is_at_work, is_done;
	uint64_t began_ns;  /* when the thread was given its names, or the first of another file */
	uint64_t parser_id; /* of the parser that the thread waits for; 0: none */
	uint64_t parser_file; /* the file of that parser */
	bool is_late;	      /* that parser was killed */

	/* the thread's while is_at_work, else the caller's */
	struct asked now[DEMANGLER_MAX_NAMES];
	size_t n_now;

	/* the thread's */
	struct file_parser parsers[MAX_PARSERS];
	unsigned last_parser;
};

/* ---- the parser ---- */

struct parser_name {
	uint32_t style, len;
	char *name;
};

static bool receive_names(int sock, struct parser_name *names, uint32_t count)
{
	struct flat_reader reader = {.sock = sock};

	for (uint32_t i = 0; i < count; i++) {
		flat_read(&reader, &names[i].style, sizeof(names[i].style));
		flat_read(&reader, &names[i].len, sizeof(names[i].len));
		if (reader.err || names[i].len > DEMANGLER_MAX_BYTES)
			return false;
		names[i].name = calloc(1, names[i].len + 1);
		if (!names[i].name)
			return false;
		flat_read(&reader, names[i].name, names[i].len);
	}
	return !reader.err;
}

static bool answer(int sock, struct parser_name *names, uint32_t count)
{
	const uint64_t until_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) + DEMANGLER_WORK_NS;
	struct flat_writer writer = {.sock = sock};
	char text[TEXT_MAX_BYTES];

	for (uint32_t i = 0; i < count && !writer.err; i++) {
		const bool has_time = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns;
		const size_t n =
			has_time ? demangle_name(names[i].name, (enum demangle_style)names[i].style,
						 text, sizeof(text))
				 : 0;
		const uint32_t len = has_time ? (uint32_t)n : NO_TIME;

		flat_write(&writer, &len, sizeof(len));
		flat_write(&writer, text, n);
		free(names[i].name);
		names[i].name = NULL;
	}
	return !writer.err;
}

void demangler_parse(int sock)
{
	static struct parser_name names[DEMANGLER_MAX_NAMES];
	uint32_t count;

	while (parser_receive(sock, &count, sizeof(count), NULL) == 0) {
		if (count > DEMANGLER_MAX_NAMES || !receive_names(sock, names, count) ||
		    !answer(sock, names, count))
			return;
	}
}

/* ---- the thread ---- */

static void drop_parser(struct file_parser *file)
{
	parser_stop(&file->parser);
	*file = (struct file_parser){.parser = {.sock = -1}};
}

/* The parser of a file's names; NULL: no parser can be started. */
static struct file_parser *parser_of(struct demangler *demangler, uint64_t file)
{
	struct file_parser *place;

	for (unsigned i = 0; i < MAX_PARSERS; i++) {
		place = &demangler->parsers[i];
		if (place->file == file && place->names < NAMES_OF_PARSER)
			return place;
	}
	place = &demangler->parsers[demangler->last_parser++ % MAX_PARSERS];
	drop_parser(place);
	if (parser_start(PARSER_NAMES, &place->parser) < 0) {
		place->parser.sock = -1;
		return NULL;
	}
	place->file = file;
	return place;
}

static char *put(char *at, const void *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static int send_names(const struct file_parser *file, const struct asked *asked, uint32_t count)
{
	size_t len = sizeof(count);
	_cleanup_free_ char *request = NULL;
	char *at;

	for (uint32_t i = 0; i < count; i++)
		len += 2 * sizeof(uint32_t) + asked[i].known->len;
	request = malloc(len);
	if (!request)
		return -ENOMEM;
	at = put(request, &count, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		const struct known *const known = asked[i].known;
		const uint32_t style = (uint32_t)known->style;

		at = put(at, &style, sizeof(style));
		at = put(at, &known->len, sizeof(known->len));
		at = put(at, known->name, known->len);
	}
	return parser_send(file->parser.sock, request, len, -1);
}

/* The parser may say anything. False: the parser has to go. */
static bool receive_texts(const struct file_parser *file, struct asked *asked, uint32_t count)
{
	struct flat_reader reader = {.sock = file->parser.sock};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;

		flat_read(&reader, &len, sizeof(len));
		if (reader.err || (len >= TEXT_MAX_BYTES && len != NO_TIME))
			return false;
		asked[i].end = len == NO_TIME ? ASKED_NO_TIME : ASKED_ANSWERED;
		if (len == 0 || len == NO_TIME)
			continue;
		asked[i].text = calloc(1, len + 1);
		if (!asked[i].text) {
			asked[i].end = ASKED_LEFT;
			return false;
		}
		flat_read(&reader, asked[i].text, len);
		if (reader.err || strlen(asked[i].text) != len) {
			free(asked[i].text);
			asked[i].text = NULL;
			asked[i].end = ASKED_LEFT;
			return false;
		}
	}
	return true;
}

/*
 * Says which parser the thread waits for, so that the caller can kill a parser that is late. False:
 * the demangler ends, and nobody kills a parser any more.
 */
static bool tell(struct demangler *demangler, const struct file_parser *file)
{
	bool is_stopping;

	THREAD_HOLD(&demangler->lock);
	demangler->parser_id = file ? file->parser.id : 0;
	demangler->parser_file = file ? file->file : 0;
	demangler->began_ns = clock_now_ns();
	is_stopping = demangler->is_stopping;
	return !is_stopping;
}

/* Names of one file. */
static void ask(struct demangler *demangler, struct asked *asked, uint32_t count)
{
	struct file_parser *const file = parser_of(demangler, asked->known->file);

	for (uint32_t i = 0; i < count; i++)
		asked[i].end = ASKED_LEFT;
	if (!file || !tell(demangler, file))
		return;
	file->names += count;
	if (send_names(file, asked, count) < 0 || !receive_texts(file, asked, count))
		drop_parser(file);
	tell(demangler, NULL);
}

static int compare_files(const void *left, const void *right)
{
	const struct known *const a = ((const struct asked *)left)->known;
	const struct known *const b = ((const struct asked *)right)->known;

	return a->file < b->file ? -1 : a->file > b->file;
}

static void work(struct demangler *demangler)
{
	struct asked *const now = demangler->now;
	size_t from = 0;

	qsort(now, demangler->n_now, sizeof(*now), compare_files);
	for (size_t i = 1; i <= demangler->n_now; i++) {
		if (i < demangler->n_now && now[i].known->file == now[from].known->file)
			continue;
		ask(demangler, &now[from], (uint32_t)(i - from));
		from = i;
	}
}

static void *run(void *arg)
{
	const uint64_t one = 1;
	struct demangler *const demangler = arg;

	pthread_mutex_lock(&demangler->lock);
	while (!demangler->is_stopping) {
		if (!demangler->is_at_work) {
			pthread_cond_wait(&demangler->changed, &demangler->lock);
			continue;
		}
		pthread_mutex_unlock(&demangler->lock);
		work(demangler);
		pthread_mutex_lock(&demangler->lock);
		demangler->is_at_work = false;
		demangler->is_done = true;
		(void)!write(demangler->fd, &one, sizeof(one));
	}
	pthread_mutex_unlock(&demangler->lock);
	for (unsigned i = 0; i < MAX_PARSERS; i++)
		drop_parser(&demangler->parsers[i]);
	return NULL;
}

/* ---- the caller ---- */

int demangler_new(struct demangler **ret)
{
	struct demangler *const demangler = calloc(1, sizeof(*demangler));
	int err = 0;

	if (!demangler)
		return -ENOMEM;
	demangler->seed = quick_hash_seed(HASH_PURPOSE);
	demangler->fd = -1;
	pthread_mutex_init(&demangler->lock, NULL);
	pthread_cond_init(&demangler->changed, NULL);
	for (unsigned i = 0; i < MAX_PARSERS; i++)
		demangler->parsers[i].parser.sock = -1;
	if (zygote_is_used()) {
		demangler->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		err = demangler->fd < 0 ? -errno : thread_start(&demangler->thread, run, demangler);
		demangler->has_thread = !err;
	}
	if (err) {
		demangler_free(demangler);
		return err;
	}
	*ret = demangler;
	return 0;
}

static void free_texts(struct asked *asked, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(asked[i].text);
}

void demangler_free(struct demangler *demangler)
{
	if (!demangler)
		return;
	if (demangler->has_thread) {
		pthread_mutex_lock(&demangler->lock);
		demangler->is_stopping = true;
		if (demangler->parser_id)
			zygote_kill_parser(demangler->parser_id, false);
		pthread_cond_signal(&demangler->changed);
		pthread_mutex_unlock(&demangler->lock);
		pthread_join(demangler->thread, NULL);
	}
	free_texts(demangler->now, demangler->n_now);
	if (demangler->fd >= 0)
		close(demangler->fd);
	pthread_cond_destroy(&demangler->changed);
	pthread_mutex_destroy(&demangler->lock);
	map64_fini(&demangler->known);
	arena_fini(&demangler->arena);
	free(demangler);
}

static bool is_refused(const struct demangler *demangler, uint64_t file)
{
	for (unsigned i = 0; i < demangler->n_refused && i < MAX_REFUSED; i++) {
		if (demangler->refused[i].file == file)
			return clock_now_ns() < demangler->refused[i].until_ns;
	}
	return false;
}

static void refuse(struct demangler *demangler, uint64_t file)
{
	const struct refused_file refused = {file, clock_now_ns() + DEMANGLER_REFUSE_NS};

	for (unsigned i = 0; i < demangler->n_refused && i < MAX_REFUSED; i++) {
		if (demangler->refused[i].file == file) {
			demangler->refused[i] = refused;
			return;
		}
	}
	demangler->refused[demangler->n_refused++ % MAX_REFUSED] = refused;
}

static struct known *find_known(const struct demangler *demangler, uint64_t hash,
				const struct demangler_question *question, size_t len)
{
	struct known *known = map64_find(&demangler->known, hash);

	while (known && (known->file != question->file || known->style != question->style ||
			 known->len != len || memcmp(known->name, question->name, len) != 0))
		known = known->next;
	return known;
}

/* Collects the name. False: memory is out. */
static bool collect(struct demangler *demangler, uint64_t hash,
		    const struct demangler_question *question, size_t len)
{
	struct known *const known = arena_alloc(&demangler->arena, sizeof(*known));
	const char *const name = arena_copy(&demangler->arena, question->name, len);

	if (!known || !name)
		return false;
	*known = (struct known){.next = map64_find(&demangler->known, hash),
				.name = name,
				.file = question->file,
				.len = (uint32_t)len,
				.style = question->style};
	if (map64_put(&demangler->known, hash, known) < 0)
		return false;
	demangler->next[demangler->n_next++] = (struct asked){.known = known};
	demangler->next_bytes += len;
	demangler->stats.asked++;
	return true;
}

static const char *demangle_here(struct demangler *demangler,
				 const struct demangler_question *question)
{
	const size_t len = demangle_name(question->name, question->style, demangler->room,
					 sizeof(demangler->room));

	return len > 0 ? demangler->room : question->name;
}

const char *demangler_find(struct demangler *demangler, const struct demangler_question *question)
{
	const size_t len = strlen(question->name);
	const struct known *known;
	uint64_t hash;

	if (!demangle_is_candidate(question->name) || len > DEMANGLE_MAX_BYTES)
		return question->name;
	if (!demangler->has_thread)
		return demangle_here(demangler, question);
	hash = quick_hash_mix(quick_hash_text(demangler->seed, question->name, len), question->file,
			      question->style);
	known = find_known(demangler, hash, question, len);
	if (known)
		return known->text;
	if (is_refused(demangler, question->file)) {
		demangler->stats.asked++;
		demangler->stats.left++;
		return question->name;
	}
	if (demangler->n_next == DEMANGLER_MAX_NAMES ||
	    demangler->next_bytes + len > DEMANGLER_MAX_BYTES)
		return NULL; /* asked for again when those before have come */
	return collect(demangler, hash, question, len) ? NULL : question->name;
}

/* A name without memory for its text stays as it is. */
static void take_texts(struct demangler *demangler)
{
	for (size_t i = 0; i < demangler->n_now; i++) {
		struct asked *const asked = &demangler->now[i];
		const char *const text = asked->text ? arena_copy(&demangler->arena, asked->text,
								  strlen(asked->text))
						     : NULL;

		asked->known->text = text ? text : asked->known->name;
		demangler->stats.left += asked->end != ASKED_ANSWERED;
		if (asked->end == ASKED_NO_TIME && !is_refused(demangler, asked->known->file))
			refuse(demangler, asked->known->file);
		free(asked->text);
	}
	demangler->answers += demangler->n_now > 0;
	demangler->n_now = 0;
}

/* Names that were collected and not handed over are asked for again. */
static void forget(struct demangler *demangler)
{
	demangler->n_next = demangler->next_bytes = 0;
	map64_fini(&demangler->known);
	arena_fini(&demangler->arena);
}

void demangler_step(struct demangler *demangler)
{
	uint64_t counted, late_file = 0;
	bool is_done;

	if (!demangler->has_thread)
		return;
	pthread_mutex_lock(&demangler->lock);
	if (demangler->is_at_work && demangler->parser_id &&
	    clock_now_ns() > demangler->began_ns + DEMANGLER_LATE_NS) {
		late_file = demangler->parser_file;
		zygote_kill_parser(demangler->parser_id, true);
		demangler->parser_id = 0;
	}
	is_done = demangler->is_done;
	demangler->is_done = false;
	if (is_done)
		(void)!read(demangler->fd, &counted, sizeof(counted));
	pthread_mutex_unlock(&demangler->lock);
	if (late_file)
		refuse(demangler, late_file);
	if (is_done) {
		take_texts(demangler);
		if (demangler->arena.total_bytes > KEPT_MAX_BYTES)
			forget(demangler);
	}
	if (demangler->n_next == 0 || demangler->n_now > 0)
		return;
	memcpy(demangler->now, demangler->next, demangler->n_next * sizeof(*demangler->next));
	demangler->n_now = demangler->n_next;
	demangler->n_next = demangler->next_bytes = 0;
	pthread_mutex_lock(&demangler->lock);
	demangler->is_at_work = true;
	pthread_cond_signal(&demangler->changed);
	pthread_mutex_unlock(&demangler->lock);
}

int demangler_fd(const struct demangler *demangler)
{
	return demangler->fd;
}

uint64_t demangler_answers(const struct demangler *demangler)
{
	return demangler->answers;
}

void demangler_stats(const struct demangler *demangler, struct demangler_stats *ret)
{
	*ret = demangler->stats;
	ret->bytes =
		sizeof(*demangler) + demangler->arena.total_bytes + map64_bytes(&demangler->known);
}

static const struct counter counters[] = {
	COUNTER_SUM(struct demangler_stats, asked, "mangled_names.asked", "mangled_names_total",
		    "Names of C++ and Rust that parsers were asked for."),
	COUNTER_SUM(struct demangler_stats, left, "mangled_names.left", "mangled_names_left_total",
		    "Names that stay mangled, because of what happened to their parser."),
};

const struct counters demangler_counters = COUNTERS(struct demangler_stats, counters);
