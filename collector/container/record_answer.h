// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a record of an engine has said of a container <-> bytes that a parser sends
 * units:   bytes
 * threads: any
 * errors:  negative errno; -EPROTO: an answer that no parser makes
 * source:  container_records.h
 *
 * The answer is a head, and a record for each label. The reader of an answer trusts no value in it,
 * because the record may have taken over the parser. Such a parser can say what the record itself
 * could.
 */
#ifndef FG_CONTAINER_RECORD_ANSWER_H
#define FG_CONTAINER_RECORD_ANSWER_H

#include "container/container.h"

struct record_answer_head {
	int32_t err;   /* of the function of container_records.h */
	uint32_t runs; /* 0 or 1, as container_records_docker_runs */
	uint64_t left_out;
	uint32_t labels;
	uint32_t labels_bytes; /* of their records */
	char pod_uid[CONTAINER_UID_BYTES];
	char name[CONTAINER_NAME_BYTES];
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES];
	char image[CONTAINER_IMAGE_BYTES];
};

/* err and runs are what is said besides of the container. The caller frees *ret. */
int record_answer_make(const struct container *container, int err, bool runs, char **ret,
		       size_t *ret_len);

/* The length of the whole answer; 0: no parser makes such a head. */
size_t record_answer_bytes(const struct record_answer_head *head);

/*
 * Fills in the empty members of container, and adds labels. Returns the answer's error. Nothing of
 * an answer with -EPROTO is taken. ret_runs: NULL, or receives whether the container runs.
 */
int record_answer_take(const char *answer, size_t len, struct container *container, bool *ret_runs);

#endif
