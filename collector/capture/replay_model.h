// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capture's records of processes, mappings and threads, in their order -> the model of
 *          each process
 * units:   those of process.h
 * threads: one at a time
 * errors:  -EINVAL: a damaged record; -ENOMEM
 * source:  capture_format.h
 */
#ifndef FG_CAPTURE_REPLAY_MODEL_H
#define FG_CAPTURE_REPLAY_MODEL_H

#include "capture/replay_facts.h"
#include "capture/replay_code.h"
#include "process/process.h"

struct replay_model {
	const struct replay_facts *facts; /* borrowed */
	struct map64 processes;		  /* number -> struct process */
	struct map64 hellos;		  /* number -> bytes of the process's last hello */
	struct map64 codes;		  /* number -> struct replay_code */
	uint32_t n_code;		  /* facts of code */
};

void replay_model_init(struct replay_model *model, const struct replay_facts *facts);

int replay_model_apply(struct replay_model *model, const struct replay_item *item);
/* NULL for the number 0, and for a number that no record has given. */
struct process *replay_model_find(const struct replay_model *model, uint32_t number);
void replay_model_fini(struct replay_model *model);

#endif
