// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file that holds all of a recording: the tree, when and on which thread, what is known
 * units:   as profile.h, timeline.h and profile_info.h have them
 * threads: any, constants
 * errors:  none
 * source:  RFC 1952 (gzip); collector/DESIGN-NOTES.md says why the format is as it is
 *
 *   file     "fgrec 1\n", then gzip of records; 1 is the version
 *   record   type (a byte), varint: bytes that follow, these
 *
 * Numbers are varints (LEB128, as in bytes.h). A text is named by its number: 1 for the first TEXT,
 * 0 for none. Whatever is named has come before. A type that is not known is passed over, and so is
 * what stands behind the fields of one that is; what could not be read rightly by one that does not
 * know it gets another version.
 *
 *   TEXT     bytes, none of them NUL
 *   FACT     key (text), value (text), value (number); see below
 *   NODE     how many nodes ago its caller was, name (text), kind (text, a word of frame.h), module
 *            (text), file (text), line, own samples; numbered from 0, the root, which has no caller
 *   PROCESS  PID, title (text), container (text), runtime (text), pod (text), the container's name
 *            (text), the pod's namespace (text); numbered from 0
 *   THREAD   process, TID, name (text); numbered from 0
 *   BUILD    module (text), build ID (text): wherever this text is a module, it is of that build; a
 *            module of several builds is several TEXTs
 *   TIME     buckets since the TIME before, thread, node, weight; behind all NODEs
 *   END      records before it; the last one, so that a file that was cut is seen
 */
#ifndef FG_PROFILE_RECORDING_FORMAT_H
#define FG_PROFILE_RECORDING_FORMAT_H

#define RECORDING_FORMAT_MAGIC	 "fgrec "
#define RECORDING_FORMAT_VERSION "1\n"
#define RECORDING_MAX_TEXT	 65536u /* bytes; longer ones are cut when they are written */

enum recording_record {
	RECORDING_END,
	RECORDING_TEXT,
	RECORDING_FACT,
	RECORDING_NODE,
	RECORDING_PROCESS,
	RECORDING_THREAD,
	RECORDING_TIME,
	RECORDING_BUILD,
};

/*
 * Keys of facts. Texts: host, boot_id, kernel, event, program, title, subtitle, notes, count_name.
 * Numbers: hz, start_unix_ns, duration_ns, bucket_ns (in front of the first TIME), and counts of
 * samples:
 */
#define RECORDING_UNNAMED      "unnamed"
#define RECORDING_UNNAMED_JAVA "unnamed_java"
#define RECORDING_UNROOTED     "unrooted"
#define RECORDING_HEAPLESS     "heapless"
#define RECORDING_LOST	       "lost"
#define RECORDING_STACKLESS    "stackless"
#define RECORDING_OVERFLOW     "overflow"
#define RECORDING_UNTIMED      "untimed"    /* that are in the tree and in no TIME */
#define RECORDING_LOST_NAMES   "lost_names" /* times that a name had no room */
#define RECORDING_TRUNCATED    "truncated"  /* with the reason as text; one a reason */

#endif
