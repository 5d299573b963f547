// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the file format of a whole recording: the tree, the time and thread of samples, the
 *          facts
 * units:   those of profile.h, timeline.h and profile_info.h
 * threads: any, constants
 * errors:  none
 * source:  RFC 1952 (gzip), the .xz file format 1.0.4; collector/DESIGN-NOTES.md says why the
 *          format is as it is
 *
 *   file     "fgrec 1\n", then gzip of records; 1 is the version. A file with KIND records has
 *            version 2, and version 3 is xz of records, with KIND or without; older readers refuse
 *            both by name
 *   record   type (a byte), varint: number of the bytes that follow, those bytes
 *
 * Numbers are varints (LEB128, as in bytes.h). A text is given by its number: 1 is the first TEXT,
 * 0 is no text. A record names only what has come before it. A reader skips records of unknown
 * types, and bytes behind the fields that it knows. A change that older readers would misread gets
 * a new version.
 *
 *   TEXT     bytes, none of them NUL
 *   FACT     key (text), value (text), value (number); see below
 *   NODE     distance from this node's number to its caller's, name (text), kind (text, a word of
 *            frame.h), module (text), file (text), line, self weight; numbered from 0, the root,
 *            which has no caller
 *   PROCESS  PID, title (text), container (text), runtime (text), pod (text), the container's name
 *            (text), the pod's namespace (text), the reference of the container's image (text) and
 *            the service (text), both of which older writers leave out; numbered from 0
 *   THREAD   process, TID, name (text), labels (text; timeline.h says how) or without labels;
 *            numbered from 0
 *   BUILD    module (text), build ID (text): the build of each node whose module is this text; a
 *            module of several builds is several TEXTs
 *   TIME     buckets since the TIME before, thread, node, weight; after all NODEs
 *   KIND     name (text), unit (text): the records from here to the next KIND are of this kind of
 *            samples. NODEs, PROCESSes and THREADs are numbered from 0 again; texts go on. FACTs
 *            before the first KIND are of all kinds; quality, event, hz and times are each kind's.
 *            A file without KIND is of samples of processor time: cpu, in samples
 *   END      number of records before it; the last record, without which a file has been cut
 */
#ifndef FG_PROFILE_RECORDING_FORMAT_H
#define FG_PROFILE_RECORDING_FORMAT_H

#define RECORDING_FORMAT_MAGIC	 "fgrec "
#define RECORDING_FORMAT_VERSION "1\n"
#define RECORDING_FORMAT_KINDS	 "2\n"	/* version of files with KIND records */
#define RECORDING_FORMAT_XZ	 "3\n"	/* version of files that are kept for long */
#define RECORDING_MAX_TEXT	 65536u /* bytes; longer texts are cut when they are written */

enum recording_record {
	RECORDING_END,
	RECORDING_TEXT,
	RECORDING_FACT,
	RECORDING_NODE,
	RECORDING_PROCESS,
	RECORDING_THREAD,
	RECORDING_TIME,
	RECORDING_BUILD,
	RECORDING_KIND,
};

/*
 * Keys of facts. Texts: host, boot_id, kernel, event, program, title, subtitle, notes, count_name.
 * Numbers: hz, start_unix_ns, duration_ns, bucket_ns (before the first TIME), and the following
 * counts of samples:
 */
#define RECORDING_UNNAMED      "unnamed"
#define RECORDING_UNNAMED_JAVA "unnamed_java"
#define RECORDING_UNROOTED     "unrooted"
#define RECORDING_HEAPLESS     "heapless"
#define RECORDING_LOST	       "lost"
#define RECORDING_STACKLESS    "stackless"
#define RECORDING_OVERFLOW     "overflow"
#define RECORDING_UNTIMED      "untimed"    /* samples in the tree and in no TIME */
#define RECORDING_LOST_NAMES   "lost_names" /* how often a name had no room */
#define RECORDING_TRUNCATED    "truncated"  /* one FACT for each reason, with the reason as text */

#endif
