// SPDX-License-Identifier: Apache-2.0
/*
 * What parsers of records of container engines answer: the input as the answer of a parser that was
 * taken over. What was taken, sent as an honest answer, is taken again.
 */
#include "fuzzer.h"

#include "base/utf8.h"
#include "container/record_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check_text(const char *text, size_t size)
{
	const size_t len = strnlen(text, size);
	char clean[512];

	if (len == size || !utf8_clean(text, len, clean, sizeof(clean)) || strcmp(text, clean) != 0)
		abort();
}

static void check(const struct container *container)
{
	check_text(container->name, sizeof(container->name));
	check_text(container->pod, sizeof(container->pod));
	check_text(container->name_space, sizeof(container->name_space));
	check_text(container->image, sizeof(container->image));
	if (container->pod[0] && !container_is_pod_name(container->pod, strlen(container->pod)))
		abort();
	if (container->pod_uid[0] &&
	    !container_is_pod_uid(container->pod_uid, strlen(container->pod_uid)))
		abort();
	if (container->labels.count > LABEL_SET_MAX)
		abort();
	for (size_t i = 0; i < container->labels.count; i++) {
		check_text(container->labels.labels[i].key, LABEL_KEY_BYTES);
		check_text(container->labels.labels[i].value, LABEL_VALUE_BYTES);
	}
}

static void take_again(const struct container *taken, int err, bool runs)
{
	struct container again = {.id = ""};
	bool runs_again = !runs;
	char *answer;
	size_t len;

	if (record_answer_make(taken, err, runs, &answer, &len) < 0)
		return;
	if (record_answer_take(answer, len, &again, &runs_again) != err || runs_again != runs ||
	    strcmp(again.name, taken->name) != 0 || strcmp(again.image, taken->image) != 0 ||
	    again.labels.count != taken->labels.count)
		abort();
	free(answer);
	container_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container container = {.id = ""};
	bool runs = false;
	const int err = record_answer_take((const char *)data, size, &container, &runs);

	if (err == -EPROTO) {
		if (container.name[0] || container.image[0] || container.labels.count > 0 ||
		    container.labels.left_out > 0)
			abort();
		return 0;
	}
	check(&container);
	take_again(&container, err, runs);
	container_fini(&container);
	return 0;
}
