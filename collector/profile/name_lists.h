// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame's name -> the framework that it is of, and what a thread with it does
 * units:   none
 * threads: any, constants
 * errors:  none
 * source:  the frameworks' packages; HotSpot's classes of threads and VM operations
 *
 * A page has these lists from here. Names are matched from their beginning; a . and a / are alike.
 */
#ifndef FG_PROFILE_NAME_LISTS_H
#define FG_PROFILE_NAME_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_LIST_STARTS 18

struct name_list {
	const char *name;
	const char *starts[NAME_LIST_STARTS]; /* up to a NULL */
};

/* Of frameworks the last is the JDK, whose frames belong to a run of them and begin none. */
extern const struct name_list framework_lists[];
extern const size_t framework_count;

/* "[GC]": what a thread that never runs Java does, by one of its frames. */
extern const struct name_list task_lists[];
extern const size_t task_count;

/* The first list that has a start of name, or SIZE_MAX. */
size_t name_list_find(const struct name_list *lists, size_t count, const char *name);

#endif
