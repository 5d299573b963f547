// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capture file: a gzip file of records, each of a kind, a length and fields
 * units:   CLOCK_MONOTONIC nanoseconds, addresses of the captured process, bytes
 * threads: none
 * errors:  none
 * source:  none; this is the description of the format
 *
 * The unzipped file begins with CAPTURE_MAGIC and a byte, the version. Then records follow: a byte,
 * the kind; the length of the fields; the fields. All numbers are LEB128. A text is its length and
 * its bytes. A reader passes over kinds that it does not know. The last record is CAPTURE_END; a
 * file without it was cut short.
 *
 * Most records are facts, samples and steps. A fact is an answer that a stage got: a process, its
 * mappings, a code range, a row of an unwind table, a symbol. Facts come before the steps that need
 * them. A step says that a sample went through a part of the chain (recording/sample_watch.h), and
 * what was read of the process's memory during the step.
 */
#ifndef FG_CAPTURE_CAPTURE_FORMAT_H
#define FG_CAPTURE_CAPTURE_FORMAT_H

#include <stdint.h>

#define CAPTURE_MAGIC	"FGCAPTURE"
#define CAPTURE_VERSION 1

/* The most bytes of a process's mappings. Samples of a process with more are left out. */
#define CAPTURE_MAX_MAPPINGS (4u << 20)

/* The most bytes of a capture, unzipped. A reader keeps all of them in memory. */
#define CAPTURE_MAX_BYTES (UINT64_C(256) << 20)

/* The numbers are written into captures: a number never changes its meaning. */
enum capture_kind {
	CAPTURE_HEADER = 1,
	CAPTURE_PROCESS,  /* a process, to which later records refer by its number */
	CAPTURE_MAPPINGS, /* all mappings of a process; they replace earlier mappings */
	/*
	 * The name of a thread, and that of earlier samples that are of this name too; older
	 * writers left the second out. The last record of a thread holds.
	 */
	CAPTURE_THREAD,
	CAPTURE_CODE,	/* a code range; of several facts of one range the last one holds */
	CAPTURE_FILE,	/* a file that a process maps, to which later records refer by its number */
	CAPTURE_TABLE,	/* a table of a file, or the reason why there is none */
	CAPTURE_ROW,	/* a row of an unwind table */
	CAPTURE_SYMBOL, /* a function of a symbol table */
	CAPTURE_START,	/* the start of a function without a symbol */
	CAPTURE_KERNEL, /* the name of an address in the kernel */
	CAPTURE_LINES,	/* the lines of an address, from DWARF */
	CAPTURE_MEMORY, /* memory that was read between steps, and that caches may have kept */
	CAPTURE_SAMPLE, /* a record of the ring buffers */
	CAPTURE_STEP,	/* what was done with a sample, and what was read during the step */
	CAPTURE_END,	/* facts of the recording */
	CAPTURE_KINDS,
};

/*
 * The most bytes of a text with its end, and the most elements of each list in a record. A writer
 * cuts a longer text or list. A reader takes a longer text or list for damage.
 */
#define CAPTURE_MAX_TEXT     4096u
#define CAPTURE_MAX_CHAIN    1024u
#define CAPTURE_MAX_REGS     64u
#define CAPTURE_MAX_SNAPSHOT 65536u
#define CAPTURE_MAX_READS    1024u /* reads of one step */
#define CAPTURE_MAX_MISSING  256u  /* tables that were missing in one step */
#define CAPTURE_MAX_PIECES   16u   /* pieces of one read */
#define CAPTURE_MAX_PIDS     (1u << 22)
#define CAPTURE_MAX_WEIGHT   (1u << 24)

/* Flags of a sample. */
#define CAPTURE_SAMPLE_EXACT	1u  /* is_exact of struct sample */
#define CAPTURE_SAMPLE_PAGE_OUT 2u  /* ends_at_page */
#define CAPTURE_SAMPLE_WEIGHS	4u  /* the weight follows; else it is 1 */
#define CAPTURE_SAMPLE_HOLES	8u  /* then unread_pages follow; else there are none */
#define CAPTURE_SAMPLE_COMM	16u /* then the kernel's name of the thread follows */
#define CAPTURE_SAMPLE_FLAGS	31u

/*
 * The most of each in a capture, so that nobody can make a small file whose replay takes minutes or
 * all memory. For a writer a capture is full then; for a reader more is damage.
 */
#define CAPTURE_MAX_RECORDS   (1u << 22)
#define CAPTURE_MAX_PROCESSES (1u << 14)
#define CAPTURE_MAX_FILES     (1u << 15)
#define CAPTURE_MAX_CODE      (1u << 18) /* facts of code */
/*
 * Of frames, walked and named, of all samples. A reader has twice as many, because a later version
 * may walk further.
 */
#define CAPTURE_MAX_FRAMES (UINT64_C(1) << 24)

#endif
