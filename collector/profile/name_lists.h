// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's name -> its framework, or the task of a thread that has the frame
 * units:   none
 * threads: any, constants
 * errors:  none
 * source:  the frameworks' packages; HotSpot's classes of threads and VM operations
 *
 * The page's lists are made from these lists. A list holds beginnings of names; '.' and '/' are
 * equal. In plumbing lists a '*' is any text.
 */
#ifndef FG_PROFILE_NAME_LISTS_H
#define FG_PROFILE_NAME_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_LIST_STARTS 32

struct name_list {
	const char *name;
	const char *starts[NAME_LIST_STARTS]; /* ended by a NULL */
};

/*
 * The last framework is the JDK: its frames can continue a run of framework frames but not begin
 * one.
 */
extern const struct name_list framework_lists[];
extern const size_t framework_count;

/*
 * What stands between a caller and the method that it means to call: interpreters and dispatch of
 * languages on the JVM, and method handles. The page folds runs of such frames. The first list is
 * of frames that threads begin with; only those that a stack begins with are plumbing.
 */
extern const struct name_list plumbing_lists[];
extern const size_t plumbing_count;

/* Tasks such as "[GC]" of threads that run no Java, told from one of their frames. */
extern const struct name_list task_lists[];
extern const size_t task_count;

/* The number of the first list with a beginning of name, or SIZE_MAX. */
size_t name_list_find(const struct name_list *lists, size_t count, const char *name);

#endif
