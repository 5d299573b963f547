// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a time as people write it -> nanoseconds since 1970
 * units:   nanoseconds since 1970; local time unless the text has a zone
 * threads: one at a time
 * errors:  -EINVAL: the text is no time
 * source:  RFC 3339; tzset(3)
 *
 *   now                        the present
 *   -24h, -90s, -1h30m, -7d    so long before the present
 *   03:10, 03:10:30            the last time that it was so late; of the end of a range, the first
 *                              such time after the range's begin
 *   2026-11-26                 the begin of the day
 *   2026-11-26 03:10[:30]      T in place of the blank is the same
 *   2026-11-26T03:10:30.5Z     RFC 3339, with Z or +01:00
 */
#ifndef FG_STORE_STORE_TIME_H
#define FG_STORE_STORE_TIME_H

#include <stdint.h>

#define STORE_TIME_FORMS "03:10, -24h, now, '2026-11-26 03:10' or 2026-11-26T03:10:00Z"

/* after_ns: the begin of the range whose end the text is; 0: the text is no end. */
int store_time_parse(const char *text, uint64_t now_ns, uint64_t after_ns, uint64_t *ret);

#define STORE_TIME_BYTES 40u

/* "2026-11-26 03:10:00" in local time. Returns ret. */
const char *store_time_say(uint64_t ns, char ret[STORE_TIME_BYTES]);

#endif
