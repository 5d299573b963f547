// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   libsystemd -> its functions, for a daemon that systemd started
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  sd_notify(3), sd_watchdog_enabled(3)
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_SYSTEMD_H
#define FG_LAZY_LAZY_SYSTEMD_H

#include "lazy/lazy_library.h"

#include <systemd/sd-daemon.h>

#define LAZY_SYSTEMD(X)                                                                            \
	X(sd_notify)                                                                               \
	X(sd_notifyf)                                                                              \
	X(sd_watchdog_enabled)

extern struct lazy_systemd {
	LAZY_SYSTEMD(LAZY_MEMBER)
} lazy_systemd;

/* Before the first call of any. */
const char *lazy_systemd_load(void);

#define sd_notify	    lazy_systemd.sd_notify
#define sd_notifyf	    lazy_systemd.sd_notifyf
#define sd_watchdog_enabled lazy_systemd.sd_watchdog_enabled

#endif
