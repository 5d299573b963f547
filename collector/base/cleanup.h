// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   _cleanup_(fn) on a variable -> fn(&variable) is called when the variable's scope ends
 * units:   none
 * threads: none
 * errors:  errno is kept by every function here
 * source:  gcc and clang, attribute cleanup
 */
#ifndef FG_BASE_CLEANUP_H
#define FG_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	const int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_fclose(FILE **file)
{
	const int saved = errno;

	if (*file)
		fclose(*file);
	errno = saved;
}

static inline void cleanup_closedir(DIR **dir)
{
	const int saved = errno;

	if (*dir)
		closedir(*dir);
	errno = saved;
}

#define _cleanup_free_	   _cleanup_(cleanup_free)
#define _cleanup_close_	   _cleanup_(cleanup_close)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

#endif
