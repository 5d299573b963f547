// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the stages know of a process, of code and of files -> fields of a capture's facts
 * units:   those of the structures that are written
 * threads: the model's
 * errors:  kept in struct bytes
 * source:  capture_format.h
 */
#ifndef FG_CAPTURE_CAPTURE_FACTS_H
#define FG_CAPTURE_CAPTURE_FACTS_H

#include "encode/bytes.h"
#include "process/process.h"
#include "sample/record.h"
#include "symbolize/elf_symbols.h"

#include <stdint.h>

/* Room for a record in the agent's format. */
struct capture_room {
	uint8_t record[WIRE_MESSAGE_MAX_BYTES];
	uint8_t inlines[WIRE_MESSAGE_MAX_BYTES];
	uint8_t section[WIRE_MESSAGE_MAX_BYTES];
};

void capture_put_process(struct bytes *bytes, uint32_t number, const struct process *process,
			 struct capture_room *room);
void capture_put_mappings(struct bytes *bytes, uint32_t number, const struct address_space *space);
/* is_foreign: the range comes from the perf map that the process writes itself. */
void capture_put_code(struct bytes *bytes, uint32_t number, const struct code_range *range,
		      bool is_foreign, struct capture_room *room);
void capture_put_layout(struct bytes *bytes, const struct elf_layout *layout);
void capture_put_sample(struct bytes *bytes, uint64_t id, const struct record *record,
			uint32_t n_regs);

#endif
