// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the notes of the agent's file -> its points and semaphores in this process
 * units:   bytes
 * threads: any may hit a point; the rest belongs to one
 * errors:  anything unexpected ends the program with a line that says so
 * source:  the .note.stapsdt section, see jvmti-agent/probes/points.c
 *
 * The test stands for the kernel: it raises semaphores, and puts a breakpoint on each point that
 * runs. So it sees what a tracer would see, and needs no right to trace.
 */
#ifndef FAKE_PROBES_H
#define FAKE_PROBES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_hit {
	char class_sig[257]; /* what the first argument points to, if it is a class */
	uint64_t args[6];    /* in the registers that the ABI gives to the first arguments */
};

/* Reads the notes, wherever the agent is; tracks hits from then on. */
void fake_probes_watch(void);
/* The kernel's count of the tracers that name the point. Points with one semaphore share it. */
void fake_probes_raise(const char *point);
void fake_probes_lower(const char *point);

/* The number of hits of a point, and the last of them. */
int fake_probes_hits(const char *point);
struct fake_hit fake_probes_last(const char *point);
/* How many objects were told to be dead so far, and whether one of that number was. */
size_t fake_probes_deaths(void);
bool fake_probes_is_dead(uint64_t number);

#endif
