// SPDX-License-Identifier: Apache-2.0
/*
 * Records that take over their parser: the first word of a record says what its parser does. The
 * collector loses what that record says and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/hash.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "confine/parser.h"
#include "confine/parser_text.h"
#include "container/containers.h"
#include "container/record_answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY  hash_seed_bytes(ID64, strlen(ID64))
#define UID  "6efe8f0e-3b4c-4d5e-9f00-112233445566"
#define HONEST                                                                                     \
	"{\"ID\":\"" ID64 "\",\"Name\":\"/web\",\"Config\":{\"Image\":\"shop/cart:1\","            \
	"\"Labels\":{\"a\":\"b\"}}}"

static struct record_waits waits;
static struct container container;

/* ---- in the parser ---- */

struct lie {
	const char *word;
	struct record_answer_head head;
	uint16_t lengths[2]; /* of the one label, if there is one */
	size_t sent;	     /* of the label */
};

#define LABEL(key, value)                                                                          \
	.head = {.labels = 1, .labels_bytes = 4 + (key) + (value)}, .lengths = {(key), (value)},   \
	.sent = 4 + (key) + (value)

static const struct lie lies[] = {
	{"odd_error", .head = {.err = -EAGAIN}},
	{"positive_error", .head = {.err = 7}},
	{"odd_bool", .head = {.runs = 2}},
	{"labels_without_end", .head = {.left_out = UINT64_MAX}},
	{"many_labels", .head = {.labels = LABEL_SET_MAX + 1}},
	{"long_labels", .head = {.labels_bytes = UINT32_MAX}},
	{"hidden_labels", .head = {.labels_bytes = 9}, .sent = 9},
	{"missing_labels", .head = {.labels = 1}},
	{"half_a_label", .head = {.labels = 1, .labels_bytes = 3}, .sent = 3},
	{"no_key", LABEL(0, 1)},
	{"long_key", LABEL(LABEL_KEY_BYTES, 1)},
	{"long_value", LABEL(1, LABEL_VALUE_BYTES)},
	{"key_past_all", .head = {.labels = 1, .labels_bytes = 5}, .lengths = {2, 0}, .sent = 5},
	{"value_past_all", .head = {.labels = 1, .labels_bytes = 6}, .lengths = {1, 2}, .sent = 6},
	{"end_in_the_answer", .head = {.labels = 1, .labels_bytes = 6}, .lengths = {1, 1},
	 .sent = 5},
	{"no_pods_name", .head = {.pod = "A pod"}},
	{"no_name_spaces_name", .head = {.name_space = "../x"}},
	{"no_pods_uid", .head = {.pod_uid = "1234"}},
	{"endless_name", .head = {.labels = 0}},
	{"endless_pod", .head = {.labels = 0}},
	{"endless_name_space", .head = {.labels = 0}},
	{"endless_uid", .head = {.labels = 0}},
	{"endless_image", .head = {.labels = 0}},
};

/* Possible, but the name and the UID may be known. */
static const struct lie renaming = {
	.word = "rename",
	.head = {.pod = "pod", .pod_uid = "00000000-3b4c-4d5e-9f00-112233445566"}};

#define LIES (sizeof(lies) / sizeof(lies[0]))

static bool says(const char *text, const char *word)
{
	const size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && (text[len] == '\0' || text[len] == ' ');
}

static void tell(int sock, const struct lie *lie)
{
	struct record_answer_head head = lie->head;
	char bytes[1024];

	if (!head.name[0])
		strcpy(head.name, "liar");
	if (says(lie->word, "endless_name"))
		memset(head.name, 'a', sizeof(head.name));
	if (says(lie->word, "endless_pod"))
		memset(head.pod, 'a', sizeof(head.pod));
	if (says(lie->word, "endless_name_space"))
		memset(head.name_space, 'a', sizeof(head.name_space));
	if (says(lie->word, "endless_uid"))
		memset(head.pod_uid, 'a', sizeof(head.pod_uid));
	if (says(lie->word, "endless_image"))
		memset(head.image, 'a', sizeof(head.image));
	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes, lie->lengths, sizeof(lie->lengths));
	parser_send(sock, &head, sizeof(head), -1);
	parser_send(sock, bytes, lie->sent, -1);
}

/* Controls in the name, and a NUL and bytes that are not UTF-8 in a label. */
static void tell_unclean(int sock)
{
	static const char label[] = "\x03\0\x02\0k\0k\n\xff";
	const struct record_answer_head head = {.labels = 1,
						.labels_bytes = sizeof(label) - 1,
						.name = "a\x1b\nb",
						.image = "shop\x1b:1"};

	parser_send(sock, &head, sizeof(head), -1);
	parser_send(sock, label, sizeof(label) - 1, -1);
}

static void serve(int sock)
{
	char question[PARSER_TEXT_HEAD_BYTES], text[64] = "", byte;
	struct iovec part = {.iov_base = question, .iov_len = sizeof(question)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int fd;

	/* The question stays for the honest parser. */
	if (recvmsg(sock, &message, MSG_PEEK) <= 0)
		return;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return;
	close(fd);
	for (size_t i = 0; i < LIES; i++) {
		if (says(text, lies[i].word)) {
			tell(sock, &lies[i]);
			return;
		}
	}
	if (says(text, "die"))
		abort();
	if (says(text, "hang"))
		while (recv(sock, &byte, 1, MSG_PEEK) != 0)
			;
	if (says(text, "unclean"))
		tell_unclean(sock);
	else if (says(text, "rename"))
		tell(sock, &renaming);
	else
		record_parser_serve(sock);
}

/* ---- in the collector ---- */

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_RECORDS] = {.serve = serve,
			    .memory_bytes = UINT64_C(1) << 40,
			    .cpu_seconds = 10,
			    .has_spares = true},
};

static int start(void **state)
{
	waits = (struct record_waits){.patience_ns = 1000 * CLOCK_NS_PER_SEC};
	container = (struct container){.id = ID64};
	return zygote_start();
}

static int stop(void **state)
{
	container_fini(&container);
	parser_drop_spares();
	zygote_stop();
	return 0;
}

static int ask(const char *text)
{
	return record_parser_read(&waits, RECORD_DOCKER, text, strlen(text), &container, NULL);
}

static void an_honest_parser_says_all(void **state)
{
	static const char record[] = "{\"ID\":\"" ID64 "\",\"Name\":\"/k8s_c_p_n_" UID
				     "_0\",\"Config\":{\"Image\":\"i:1\"},"
				     "\"State\":{\"Running\":true}}";
	bool runs = false;

	assert_int_equal(record_parser_read(&waits, RECORD_DOCKER, record, strlen(record),
					    &container, &runs),
			 0);
	assert_true(runs);
	assert_string_equal(container.name, "c");
	assert_string_equal(container.pod, "p");
	assert_string_equal(container.name_space, "n");
	assert_string_equal(container.image, "i:1");
	assert_string_equal(container.pod_uid, UID);
}

static void errors_are_those_of_the_record(void **state)
{
	static const char others[] = "[{\"id\":\"x\"}]";

	assert_int_equal(ask("{"), -EBADMSG);
	assert_int_equal(record_parser_read(&waits, RECORD_STORAGE, others, strlen(others),
					    &container, NULL),
			 -ENOENT);
	assert_int_equal(
		record_parser_read(&waits, RECORD_KINDS, others, strlen(others), &container, NULL),
		-EBADMSG);
	assert_string_equal(container.name, "");
}

static void what_is_known_of_the_container_stays(void **state)
{
	strcpy(container.name, "known");
	strcpy(container.image, "known:1");
	label_set_add(&container.labels, "a", "known");
	assert_int_equal(ask(HONEST), 0);
	assert_string_equal(container.name, "known");
	assert_string_equal(container.image, "known:1");
	assert_string_equal(label_set_find(&container.labels, "a"), "known");
}

static void a_parser_cannot_rename_the_container(void **state)
{
	strcpy(container.name, "known");
	strcpy(container.pod_uid, UID);
	assert_int_equal(ask("rename"), 0);
	assert_string_equal(container.name, "known");
	assert_string_equal(container.pod, "pod");
	assert_string_equal(container.pod_uid, UID);
}

static void nothing_of_a_lie_is_taken(void **state)
{
	for (size_t i = 0; i < LIES; i++) {
		if (ask(lies[i].word) != -EPROTO)
			fail_msg("%s is believed", lies[i].word);
		assert_string_equal(container.name, "");
		assert_string_equal(container.pod, "");
		assert_string_equal(container.image, "");
		assert_int_equal(container.labels.count, 0);
		assert_int_equal(container.labels.left_out, 0);
	}
	assert_int_equal(ask(HONEST), 0);
	assert_string_equal(container.name, "web");
	assert_string_equal(label_set_find(&container.labels, "a"), "b");
}

static void texts_of_a_parser_are_cleaned(void **state)
{
	assert_int_equal(ask("unclean"), 0);
	assert_string_equal(container.name, "a??b");
	assert_string_equal(container.image, "shop?:1");
	assert_string_equal(label_set_find(&container.labels, "k?k"), "??");
}

static void a_parser_that_dies_costs_one_record(void **state)
{
	struct zygote_stats stats;

	assert_int_equal(ask("die"), -EPROTO);
	assert_int_equal(ask(HONEST), 0);
	do {
		zygote_tend();
		zygote_stats(&stats);
	} while (stats.died < 1);
}

static void a_parser_that_hangs_is_killed_and_waits_are_bounded(void **state)
{
	struct zygote_stats stats;
	uint64_t now_ns;

	waits.patience_ns = 0;
	assert_int_equal(ask("hang"), -EPROTO);
	assert_true(waits.waited_ns >= RECORD_PARSER_NS);
	zygote_stats(&stats);
	assert_int_equal(stats.killed, 1);
	now_ns = clock_now_ns();
	clock_pretend(now_ns);
	waits = (struct record_waits){.began_ns = now_ns, .waited_ns = RECORD_PARSER_WAITS_NS};
	assert_int_equal(ask("hang"), -EAGAIN);
	assert_int_equal(ask(HONEST), -EAGAIN);
	zygote_stats(&stats);
	assert_int_equal(stats.killed, 1);
	/* In each further period it may be late, on a busy machine. */
	do
		clock_pretend(now_ns += RECORD_PARSER_PERIOD_NS);
	while (ask(HONEST) != 0);
	clock_pretend(0);
}

static void without_parsers_a_record_is_read_later(void **state)
{
	parser_drop_spares();
	zygote_stop();
	assert_int_equal(zygote_start_without_parsers(), 0);
	assert_int_equal(ask(HONEST), -EAGAIN);
	assert_string_equal(container.name, "");
}

static void an_answer_is_no_longer_than_all_labels(void **state)
{
	struct record_answer_head head = {.labels = LABEL_SET_MAX, .labels_bytes = 1000};

	assert_int_equal(record_answer_bytes(&head), sizeof(head) + 1000);
	head.labels++;
	assert_int_equal(record_answer_bytes(&head), 0);
	head = (struct record_answer_head){.labels_bytes = 64 << 10};
	assert_int_equal(record_answer_bytes(&head), 0);
}

static void the_longest_answer_fits(void **state)
{
	char key[LABEL_KEY_BYTES] = "", value[LABEL_VALUE_BYTES] = "";
	struct container taken = {.id = ""};
	char *answer;
	size_t len;

	memset(key, 'k', sizeof(key) - 1);
	memset(value, 'v', sizeof(value) - 1);
	for (int i = 0; i < LABEL_SET_MAX; i++) {
		snprintf(key, 8, "key-%03d", i);
		key[7] = '-';
		label_set_add(&container.labels, key, value);
	}
	memset(container.name, 'n', sizeof(container.name) - 1);
	assert_int_equal(record_answer_make(&container, 0, false, &answer, &len), 0);
	assert_int_equal(record_answer_take(answer, len, &taken, NULL), 0);
	assert_int_equal(taken.labels.count, LABEL_SET_MAX);
	assert_string_equal(taken.name, container.name);
	free(answer);
	container_fini(&taken);
}

/* ---- what is known of containers ---- */

static void write_record(const char *root, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/var/lib/docker/containers/" ID64 "/config.v2.json", root);
	files_write(path, text);
}

static void make_dirs(const char *root)
{
	static const char *const dirs[] = {"var",
					   "var/log",
					   "var/log/containers",
					   "var/lib",
					   "var/lib/docker",
					   "var/lib/docker/containers",
					   ("var/lib/docker/containers/" ID64)};
	char path[512];

	umask(022);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
}

static void step(struct containers *containers, uint64_t now_ns)
{
	const uint64_t reads = containers->reads;

	containers_step(containers, now_ns);
	assert_int_equal(containers->reads, reads + 1);
	while (((struct container_entry *)map64_find(&containers->entries, KEY))->asked) {
		names_reader_wait(containers->reader, CLOCK_NS_PER_SEC);
		containers_take(containers, now_ns);
	}
}

static void a_lost_record_does_not_take_a_name_away(void **state)
{
	struct container_entry *const entry = calloc(1, sizeof(*entry));
	struct containers containers;
	struct containers_stats stats;
	char root[TEMP_DIR_BYTES], link[512];
	uint64_t now = 1;

	temp_dir_make(root);
	make_dirs(root);
	containers_init(&containers, root, NULL);
	names_reader_names(containers.reader)->proc = root;
	*entry = (struct container_entry){.container = {.id = ID64}, .users = 1};
	assert_int_equal(map64_put(&containers.entries, KEY, entry), 0);

	write_record(root, "die");
	step(&containers, now);
	assert_string_equal(entry->container.name, "");
	now = entry->next_ns;
	assert_true(now <= CLOCK_NS_PER_SEC);
	write_record(root, HONEST);
	step(&containers, now);
	assert_string_equal(entry->container.name, "web");
	assert_int_equal(entry->tries, 0);
	assert_int_equal(entry->version, 1);
	assert_true(entry->next_ns > now + 50 * CLOCK_NS_PER_SEC);

	/* Another source knows a name, and no labels. */
	snprintf(link, sizeof(link), "%s/var/log/containers/api-1_shop_app-" ID64 ".log", root);
	files_write(link, "");
	now = entry->next_ns;
	write_record(root, "die");
	step(&containers, now);
	assert_string_equal(entry->container.name, "web");
	assert_string_equal(label_set_find(&entry->container.labels, "a"), "b");
	assert_int_equal(entry->version, 1);
	assert_true(entry->next_ns < now + CLOCK_NS_PER_SEC); /* tried again soon */

	containers_stats(&containers, &stats);
	assert_int_equal(stats.lost, 2);
	assert_int_equal(stats.broken, 0);
	entry->users = 0;
	containers_fini(&containers);
	temp_dir_remove(root);
}

static void another_image_is_a_change_of_the_container(void **state)
{
	struct container_entry *const entry = calloc(1, sizeof(*entry));
	struct containers containers;
	char root[TEMP_DIR_BYTES];

	temp_dir_make(root);
	make_dirs(root);
	containers_init(&containers, root, NULL);
	names_reader_names(containers.reader)->proc = root;
	*entry = (struct container_entry){.container = {.id = ID64}, .users = 1};
	assert_int_equal(map64_put(&containers.entries, KEY, entry), 0);
	write_record(root, "{\"ID\":\"" ID64 "\",\"Name\":\"/web\"}");
	step(&containers, 1);
	assert_int_equal(entry->version, 1);
	assert_string_equal(entry->container.image, "");
	write_record(root, "{\"ID\":\"" ID64
			   "\",\"Name\":\"/web\",\"Config\":{\"Image\":\"shop/cart:1\"}}");
	step(&containers, entry->next_ns);
	assert_int_equal(entry->version, 2);
	assert_string_equal(entry->container.image, "shop/cart:1");
	entry->users = 0;
	containers_fini(&containers);
	temp_dir_remove(root);
}

static struct names_answer answer_of(struct names_reader *reader, const char *id)
{
	struct container asked = {.namer = CONTAINER_NAMED_BY_ROOT};
	struct names_answer answer;
	uint64_t number;

	strcpy(asked.id, id);
	assert_int_equal(names_reader_ask(reader, &asked, &number), 0);
	while (!names_reader_take(reader, &answer))
		names_reader_wait(reader, CLOCK_NS_PER_SEC);
	assert_int_equal(answer.number, number);
	return answer;
}

/* Its name is its ID with another end, and it has a record that hangs. */
static void add_hanging(const char *root, char ret[CONTAINER_ID_BYTES])
{
	char path[512];

	strcpy(ret, ID64);
	ret[63] = '0';
	snprintf(path, sizeof(path), "%s/var/lib/docker/containers/%s", root, ret);
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/config.v2.json");
	files_write(path, "hang");
}

static void records_that_hang_take_no_time_from_others(void **state)
{
	char root[TEMP_DIR_BYTES], hanging[CONTAINER_ID_BYTES];
	struct names_reader *reader;
	struct names_answer answer;
	struct names_stats stats;

	temp_dir_make(root);
	make_dirs(root);
	write_record(root, HONEST);
	add_hanging(root, hanging);
	assert_int_equal(names_reader_new(root, NULL, &reader), 0);
	names_reader_names(reader)->proc = root;
	for (int i = 0; i < 7; i++) {
		answer = answer_of(reader, hanging);
		assert_false(answer.is_whole);
		container_fini(&answer.container);
	}
	names_reader_stats(reader, &stats);
	assert_int_equal(stats.lost + stats.delayed, 7);
	assert_true(stats.delayed > 0); /* all that a slow maker may take is taken */
	answer = answer_of(reader, ID64);
	assert_true(answer.is_whole);
	assert_string_equal(answer.container.name, "web");
	container_fini(&answer.container);
	names_reader_free(reader);
	temp_dir_remove(root);
}

int main(int argc, char **argv)
{
#define WITH_ZYGOTE(test) cmocka_unit_test_setup_teardown(test, start, stop)
	const struct CMUnitTest tests[] = {
		WITH_ZYGOTE(an_honest_parser_says_all),
		WITH_ZYGOTE(errors_are_those_of_the_record),
		WITH_ZYGOTE(what_is_known_of_the_container_stays),
		WITH_ZYGOTE(a_parser_cannot_rename_the_container),
		WITH_ZYGOTE(nothing_of_a_lie_is_taken),
		WITH_ZYGOTE(texts_of_a_parser_are_cleaned),
		WITH_ZYGOTE(a_parser_that_dies_costs_one_record),
		WITH_ZYGOTE(a_parser_that_hangs_is_killed_and_waits_are_bounded),
		WITH_ZYGOTE(without_parsers_a_record_is_read_later),
		WITH_ZYGOTE(an_answer_is_no_longer_than_all_labels),
		WITH_ZYGOTE(the_longest_answer_fits),
		WITH_ZYGOTE(a_lost_record_does_not_take_a_name_away),
		WITH_ZYGOTE(another_image_is_a_change_of_the_container),
		WITH_ZYGOTE(records_that_hang_take_no_time_from_others),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
