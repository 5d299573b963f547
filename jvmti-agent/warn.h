// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one line on standard error
 * units:   none
 * threads: any; used from Agent_OnLoad only
 * errors:  none; a line that cannot be written at once is dropped
 * source:  poll(2), write(2)
 */
#ifndef FGAGENT_WARN_H
#define FGAGENT_WARN_H

/* Writes "fgagent: ", the text and a newline, cut at 512 bytes, if that does not block. */
__attribute__((format(printf, 1, 2))) void warn_line(const char *format, ...);

#endif
