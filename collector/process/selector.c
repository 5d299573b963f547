// SPDX-License-Identifier: Apache-2.0
/* Checks the texts of the options that name processes, and compares processes with them. */
#include "process/selector.h"

#include "base/utf8.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#define REPEATS	       "*+?{"
#define JVM_MAX_GROUPS 6
#define JVM_MAX_COPIES 8192 /* of bytes of a regular expression, once its repeats are expanded */

static bool is_name_char(char c)
{
	return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '.' || c == '-' ||
	       c == ':';
}

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_name_char(text[i]))
			return false;
	}
	return len > 0;
}

/* Whether there is room for one more, when there are so many more containers and pods. */
static const char *check_room(size_t more_containers, size_t more_pods)
{
	if (more_containers <= SELECTOR_MAX_MORE && more_pods <= SELECTOR_MAX_MORE &&
	    (more_containers + 1) * (more_pods + 1) <= SELECTOR_MAX_ALTERNATIVES)
		return NULL;
	return "that is one name too many: 8 containers or 8 pods can be asked for, and 16 pairs "
	       "of both";
}

const char *selector_set_container(struct selector *selector, const char *text)
{
	const size_t len = strlen(text);
	const char *why;

	if (!is_name(text, len) || len >= sizeof(selector->container))
		return "a container's name or ID is needed, or the beginning of it "
		       "('fgcollect list' shows them)";
	if (!selector->container[0]) {
		strcpy(selector->container, text);
		return NULL;
	}
	why = check_room(selector->n_more_containers + 1, selector->n_more_pods);
	if (!why)
		strcpy(selector->more_containers[selector->n_more_containers++], text);
	return why;
}

const char *selector_set_pod(struct selector *selector, const char *text)
{
	const char *slash = strchr(text, '/');
	const char *name = slash ? slash + 1 : text, *why;

	if (!container_is_pod_name(name, strlen(name)) ||
	    (slash && !container_is_pod_name(text, (size_t)(slash - text))) ||
	    strlen(text) >= sizeof(selector->pod))
		return "a pod's name or the beginning of it is needed, or its namespace, a slash "
		       "and that ('fgcollect list' shows them), or its whole UID";
	if (!selector->pod[0]) {
		strcpy(selector->pod, text);
		return NULL;
	}
	why = check_room(selector->n_more_containers, selector->n_more_pods + 1);
	if (!why)
		strcpy(selector->more_pods[selector->n_more_pods++], text);
	return why;
}

const char *selector_set_comm(struct selector *selector, const char *text)
{
	if (!text[0] || strlen(text) >= sizeof(selector->comm))
		return "a process's name is needed as the kernel has it, at most 15 bytes "
		       "(ps -o pid,comm shows it)";
	if (selector->comm[0])
		return "it can be given once: --jvm 'this|that' fits either of two JVMs";
	strcpy(selector->comm, text);
	return NULL;
}

/* The larger number of "{number}" or "{number,number}". */
static size_t repeats_of(const char *brace)
{
	size_t most = 1, number = 0;

	for (const char *at = brace + 1; *at && *at != '}'; at++) {
		number = *at >= '0' && *at <= '9' ? 10 * number + (size_t)(*at - '0') : 0;
		if (number > JVM_MAX_COPIES)
			return number;
		most = number > most ? number : most;
	}
	return most;
}

/* The last byte of the piece that begins at text: of an escaped byte, a set of bytes, or itself. */
static const char *end_of_piece(const char *text)
{
	const char *at = text + 1;

	if (*text == '\\')
		return *at ? at : text;
	if (*text != '[')
		return text;
	at += *at == '^';
	at += *at == ']';
	at += strcspn(at, "]");
	return *at ? at : text;
}

/*
 * The library expands repeats: x{3} becomes xxx, and x+ becomes xx*. So each + behind a group
 * doubles what is there, and its time doubles with each repeat around another. Allowed are one
 * {number}, JVM_MAX_COPIES of all bytes, JVM_MAX_GROUPS groups that are repeated, and behind a
 * repeat a ? alone. The time of references to groups grows with a power of the length of what is
 * searched, so there are none.
 */
static bool is_modest(const char *text)
{
	size_t copies = strlen(text), numbers = 0, groups = 0;
	char before = '\0';

	for (const char *end; *text && copies <= JVM_MAX_COPIES; text = end + 1) {
		const bool is_repeat = strchr(REPEATS, *text) != NULL;
		const bool is_behind_repeat = before && strchr(REPEATS "}", before);

		end = end_of_piece(text);
		if (*text == '\\' && *end >= '1' && *end <= '9')
			return false;
		if (is_repeat && is_behind_repeat && (*text != '?' || before == '?'))
			return false;
		groups += is_repeat && before == ')';
		if (*text == '{' && numbers++ == 0)
			copies *= repeats_of(text);
		else if (*text == '+' && before == ')')
			copies *= 2;
		before = end == text ? *text : 'x';
	}
	return numbers <= 1 && groups <= JVM_MAX_GROUPS && copies <= JVM_MAX_COPIES;
}

const char *selector_set_jvm(struct selector *selector, const char *text)
{
	regex_t regex;

	if (selector->jvm[0])
		return "it can be given once: 'this|that' fits either of two";
	if (!text[0] || strlen(text) >= sizeof(selector->jvm) || !is_modest(text) ||
	    regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
		return "an extended regular expression is needed, of at most 255 bytes, with at "
		       "most one {number}, few groups with a repeat, and no repeat of a repeat";
	regfree(&regex);
	strcpy(selector->jvm, text);
	return NULL;
}

const char *selector_add_label(struct selector *selector, const char *text)
{
	const char *equals = strchr(text, '=');
	const size_t key_len = equals ? (size_t)(equals - text) : 0;
	char *key;

	if (selector->n_labels == SELECTOR_MAX_LABELS)
		return "that is one label too many: 8 can be asked for";
	if (key_len == 0 || key_len >= LABEL_KEY_BYTES || strlen(equals + 1) >= LABEL_VALUE_BYTES)
		return "a label is needed as key=value";
	key = selector->labels[selector->n_labels].key;
	memcpy(key, text, key_len);
	key[key_len] = '\0';
	strcpy(selector->labels[selector->n_labels].value, equals + 1);
	selector->n_labels++;
	return NULL;
}

const struct selector_part selector_parts[SELECTOR_PARTS] = {
	[SELECTOR_CONTAINER] = {"container", selector_set_container},
	[SELECTOR_POD] = {"pod", selector_set_pod},
	[SELECTOR_COMM] = {"comm", selector_set_comm},
	[SELECTOR_JVM] = {"jvm", selector_set_jvm},
	[SELECTOR_LABEL] = {"label", selector_add_label},
};

size_t selector_alternatives(const struct selector *selector)
{
	return (selector->n_more_containers + 1) * (selector->n_more_pods + 1);
}

void selector_alternative(const struct selector *selector, size_t number, struct selector *ret)
{
	const size_t container = number % (selector->n_more_containers + 1);
	const size_t pod = number / (selector->n_more_containers + 1);

	*ret = *selector;
	if (container > 0)
		strcpy(ret->container, selector->more_containers[container - 1]);
	if (pod > 0)
		strcpy(ret->pod, selector->more_pods[pod - 1]);
	ret->n_more_containers = ret->n_more_pods = 0;
}

void selector_copy_containers(struct selector *selector, const struct selector *from)
{
	memcpy(selector->container, from->container, sizeof(selector->container));
	memcpy(selector->more_containers, from->more_containers, sizeof(selector->more_containers));
	selector->n_more_containers = from->n_more_containers;
}

void selector_copy_pods(struct selector *selector, const struct selector *from)
{
	memcpy(selector->pod, from->pod, sizeof(selector->pod));
	memcpy(selector->more_pods, from->more_pods, sizeof(selector->more_pods));
	selector->n_more_pods = from->n_more_pods;
}

bool selector_is_empty(const struct selector *selector)
{
	return !selector->container[0] && !selector->pod[0] && !selector->comm[0] &&
	       !selector->jvm[0] && selector->n_labels == 0;
}

bool selector_needs_names(const struct selector *selector)
{
	return selector->pod[0] || selector->jvm[0] || selector->n_labels > 0;
}

bool selector_asks_names(const struct selector *selector)
{
	return selector->container[0] || selector_needs_names(selector);
}

static enum selector_fit fit(const char *asked, const char *name)
{
	if (!name[0])
		return SELECTOR_UNFIT;
	if (strcmp(asked, name) == 0)
		return SELECTOR_EXACT;
	return strncmp(asked, name, strlen(asked)) == 0 ? SELECTOR_BEGINS : SELECTOR_UNFIT;
}

enum selector_fit selector_fit_container(const struct selector *selector,
					 const struct process *process)
{
	enum selector_fit by_id, by_name;

	if (!selector->container[0])
		return SELECTOR_EXACT;
	by_id = fit(selector->container, process->container_id);
	/* A name is anybody's choice, and may have the form of another container's ID. */
	if (container_is_id(selector->container) || strchr(selector->container, ':'))
		return by_id;
	by_name = fit(selector->container, process->workload.container);
	return by_id > by_name ? by_id : by_name;
}

bool selector_is_uid_of(const struct selector *selector, const struct process *process)
{
	return process->pod_uid[0] && strcmp(selector->pod, process->pod_uid) == 0;
}

enum selector_fit selector_fit_pod(const struct selector *selector, const struct process *process)
{
	const char *slash = strchr(selector->pod, '/');
	const struct workload *workload = &process->workload;
	const size_t len = slash ? (size_t)(slash - selector->pod) : 0;

	if (!selector->pod[0] || selector_is_uid_of(selector, process))
		return SELECTOR_EXACT;
	if (container_is_pod_uid(selector->pod, strlen(selector->pod)))
		return SELECTOR_UNFIT; /* as for containers */
	if (slash && (strlen(workload->name_space) != len ||
		      strncmp(workload->name_space, selector->pod, len) != 0))
		return SELECTOR_UNFIT;
	return fit(slash ? slash + 1 : selector->pod, workload->pod);
}

bool selector_fits_rest(const struct selector *selector, const struct process *process)
{
	if (selector->comm[0] && strcmp(selector->comm, process->comm) != 0)
		return false;
	for (size_t i = 0; i < selector->n_labels; i++) {
		const char *value =
			label_set_find(&process->workload.labels, selector->labels[i].key);

		if (!value || strcmp(value, selector->labels[i].value) != 0)
			return false;
	}
	return true;
}

/* A part that is one text, and those that are beside it. NULL: the part has fewer. */
static const char *text_of(const struct selector *selector, enum selector_part_number part,
			   size_t number)
{
	switch (part) {
	case SELECTOR_CONTAINER:
		return number == 0 ? selector->container
		       : number <= selector->n_more_containers
			       ? selector->more_containers[number - 1]
			       : NULL;
	case SELECTOR_POD:
		return number == 0			 ? selector->pod
		       : number <= selector->n_more_pods ? selector->more_pods[number - 1]
							 : NULL;
	case SELECTOR_COMM:
		return number == 0 ? selector->comm : NULL;
	case SELECTOR_JVM:
		return number == 0 ? selector->jvm : NULL;
	default:
		return NULL;
	}
}

bool selector_text(const struct selector *selector, enum selector_part_number part, size_t number,
		   char *ret, size_t size)
{
	const char *const text = text_of(selector, part, number);

	if (part == SELECTOR_LABEL && number < selector->n_labels)
		snprintf(ret, size, "%s=%s", selector->labels[number].key,
			 selector->labels[number].value);
	else if (text && text[0])
		snprintf(ret, size, "%s", text);
	else
		return false;
	return true;
}

void selector_say(const struct selector *selector, char *ret, size_t size)
{
	char text[SELECTOR_POD_BYTES];
	size_t len = 0;

	ret[0] = '\0';
	for (enum selector_part_number part = 0; part < SELECTOR_PARTS; part++) {
		for (size_t i = 0;
		     len < size && selector_text(selector, part, i, text, sizeof(text)); i++)
			len += (size_t)snprintf(ret + len, size - len, "%s--%s %s", len ? " " : "",
						selector_parts[part].name, text);
	}
}
