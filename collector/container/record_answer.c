// SPDX-License-Identifier: Apache-2.0
/*
 * What a parser of a record answers, see record_answer.h:
 *
 *   struct record_answer_head
 *   labels: u16 length of the key, u16 length of the value, the key, the value; without padding, in
 *   the host's byte order
 */
#include "container/record_answer.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEFT_OUT	 (16u << 20) /* no record has more labels */
#define LENGTHS_BYTES	 (2 * sizeof(uint16_t))
#define MAX_LABELS_BYTES (LABEL_SET_MAX * (LENGTHS_BYTES + LABEL_KEY_BYTES + LABEL_VALUE_BYTES))

/* ---- the parser ---- */

static char *put(char *at, const void *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static char *put_label(char *at, const struct label *label)
{
	const uint16_t lengths[2] = {(uint16_t)strlen(label->key), (uint16_t)strlen(label->value)};

	at = put(at, lengths, sizeof(lengths));
	at = put(at, label->key, lengths[0]);
	return put(at, label->value, lengths[1]);
}

int record_answer_make(const struct container *container, int err, bool runs, char **ret,
		       size_t *ret_len)
{
	const struct label_set *const set = &container->labels;
	struct record_answer_head head = {.err = err,
					  .runs = runs,
					  .left_out = set->left_out,
					  .labels = (uint32_t)set->count};
	char *const bytes = malloc(sizeof(head) + MAX_LABELS_BYTES);
	char *at = bytes;

	if (!bytes)
		return -ENOMEM;
	at += sizeof(head);
	strcpy(head.pod_uid, container->pod_uid);
	strcpy(head.name, container->name);
	strcpy(head.pod, container->pod);
	strcpy(head.name_space, container->name_space);
	strcpy(head.image, container->image);
	for (size_t i = 0; i < set->count; i++)
		at = put_label(at, &set->labels[i]);
	*ret_len = (size_t)(at - bytes);
	head.labels_bytes = (uint32_t)(*ret_len - sizeof(head));
	put(bytes, &head, sizeof(head));
	*ret = bytes;
	return 0;
}

/* ---- the collector ---- */

size_t record_answer_bytes(const struct record_answer_head *head)
{
	if (head->labels > LABEL_SET_MAX || head->labels_bytes > MAX_LABELS_BYTES)
		return 0;
	return sizeof(*head) + head->labels_bytes;
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool is_pod_name_or_none(const char *text)
{
	return !text[0] || container_is_pod_name(text, strlen(text));
}

static bool is_possible(const struct record_answer_head *head)
{
	if (head->err != 0 && head->err != -EBADMSG && head->err != -ENOENT)
		return false;
	if (head->runs > 1 || head->left_out > MAX_LEFT_OUT ||
	    !ends(head->pod_uid, sizeof(head->pod_uid)) || !ends(head->name, sizeof(head->name)) ||
	    !ends(head->pod, sizeof(head->pod)) ||
	    !ends(head->name_space, sizeof(head->name_space)) ||
	    !ends(head->image, sizeof(head->image)))
		return false;
	return is_pod_name_or_none(head->pod) && is_pod_name_or_none(head->name_space) &&
	       (!head->pod_uid[0] || container_is_pod_uid(head->pod_uid, strlen(head->pod_uid)));
}

struct labels {
	const char *at, *end;
};

/* The texts are in the answer, not terminated and not clean. */
struct raw_label {
	const char *key, *value;
	uint16_t lengths[2];
};

static int take_label(struct labels *labels, struct raw_label *ret)
{
	const size_t left = (size_t)(labels->end - labels->at);

	if (left < LENGTHS_BYTES)
		return -EPROTO;
	memcpy(ret->lengths, labels->at, LENGTHS_BYTES);
	if (ret->lengths[0] == 0 || ret->lengths[0] >= LABEL_KEY_BYTES ||
	    ret->lengths[1] >= LABEL_VALUE_BYTES ||
	    left - LENGTHS_BYTES < (size_t)ret->lengths[0] + ret->lengths[1])
		return -EPROTO;
	ret->key = labels->at + LENGTHS_BYTES;
	ret->value = ret->key + ret->lengths[0];
	labels->at = ret->value + ret->lengths[1];
	return 0;
}

static bool are_possible(struct labels labels, uint32_t count)
{
	struct raw_label label;

	for (; count > 0; count--) {
		if (take_label(&labels, &label) < 0)
			return false;
	}
	return labels.at == labels.end;
}

static void fill_in(char *to, const char *text, size_t size)
{
	if (!to[0])
		utf8_clean(text, strlen(text), to, size);
}

int record_answer_take(const char *answer, size_t len, struct container *container, bool *ret_runs)
{
	struct record_answer_head head;
	struct raw_label label;
	struct labels labels;

	if (len < sizeof(head))
		return -EPROTO;
	memcpy(&head, answer, sizeof(head));
	labels = (struct labels){.at = answer + sizeof(head), .end = answer + len};
	if (record_answer_bytes(&head) != len || !is_possible(&head) ||
	    !are_possible(labels, head.labels))
		return -EPROTO;
	fill_in(container->pod_uid, head.pod_uid, sizeof(container->pod_uid));
	fill_in(container->name, head.name, sizeof(container->name));
	fill_in(container->pod, head.pod, sizeof(container->pod));
	fill_in(container->name_space, head.name_space, sizeof(container->name_space));
	fill_in(container->image, head.image, sizeof(container->image));
	while (take_label(&labels, &label) == 0)
		label_set_add_parts(&container->labels, label.key, label.lengths[0], label.value,
				    label.lengths[1]);
	container->labels.left_out += head.left_out;
	if (ret_runs)
		*ret_runs = head.runs;
	return head.err;
}
