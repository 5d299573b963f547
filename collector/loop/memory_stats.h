// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what all parts of the loop hold (part.h) -> how much memory each pool takes
 * units:   bytes
 * threads: the model's
 * errors:  none
 * source:  guard/budget.h, guard/heap_bytes.h
 */
#ifndef FG_LOOP_MEMORY_STATS_H
#define FG_LOOP_MEMORY_STATS_H

#include "base/counters.h"

#include <stdint.h>

struct targets;

/* What is accounted of this program's memory, by pool. */
struct memory_stats {
	uint64_t limit;
	uint64_t accounted; /* the sum of all below */
	uint64_t processes; /* code, names, mappings, threads */
	uint64_t dying;	    /* of processes that are forgotten, and not freed yet */
	uint64_t messages;  /* of agents, not whole */
	uint64_t tables;    /* symbols and unwind rules */
	uint64_t held;	    /* samples that wait */
	uint64_t trees;	    /* of recordings */
	uint64_t windows;   /* of tops */
	uint64_t captures;  /* with the files, which are in memory */
	uint64_t graphs;    /* of a period, those that wait to be written, the list of files */
	uint64_t names;	    /* of frames */
	uint64_t stacks;    /* remainders of deep stacks, stacks from heaps, room of the unwinder */
	uint64_t files;	    /* which file each mapping is of */
	uint64_t kernel;    /* its symbols, those that are being read, its programs */
	uint64_t lines;	    /* answers of DWARF readers */
	uint64_t containers;
	uint64_t agents;  /* connections, and agents that listen */
	uint64_t lists;	  /* of processes, sessions, and perf maps of processes that have ended */
	uint64_t publish; /* events on their way to subscribers */
	uint64_t queries; /* answers over HTTP, and what may be taken to make them */
	uint64_t given_back, longest_give_back_ns; /* times that malloc gave free memory back */
	uint64_t allocated, resident; /* of all of this program, as malloc and the kernel say */
};
extern const struct counters memory_counters;

/* The sum of the members from messages to queries, which all processes share. */
uint64_t memory_stats_shared(const struct memory_stats *stats);
/* Sets the other members. */
void memory_stats_sum(struct memory_stats *ret, const struct targets *targets, uint64_t limit);

#endif
