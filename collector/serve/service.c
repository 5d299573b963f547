// SPDX-License-Identifier: Apache-2.0
/* Notifications of systemd by libsystemd, see service.h. */
#include "serve/service.h"

#include "base/log.h"
#include "lazy/lazy_systemd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000

/* A daemon that systemd has not started needs nothing of systemd's library. */
static bool has_manager(void)
{
	return getenv("NOTIFY_SOCKET") != NULL;
}

int service_ready(struct service *service)
{
	const char *why;
	uint64_t us = 0;

	*service = (struct service){0};
	if (!has_manager())
		return 0;
	why = lazy_systemd_load();
	if (why) {
		log_error("systemd cannot be told that the daemon is ready: %s", why);
		return -ELIBACC;
	}
	service->is_told = true;
	if (sd_watchdog_enabled(0, &us) > 0)
		service->watchdog_ns = us * NS_PER_US / 2;
	sd_notify(0, "READY=1");
	return 0;
}

void service_step(struct service *service, uint64_t now_ns, const char *status)
{
	if (strcmp(service->status, status) != 0) {
		snprintf(service->status, sizeof(service->status), "%s", status);
		if (service->is_told)
			sd_notifyf(0, "STATUS=%s", status);
	}
	if (!service->watchdog_ns || now_ns < service->next_ns)
		return;
	service->next_ns = now_ns + service->watchdog_ns;
	sd_notify(0, "WATCHDOG=1");
}

void service_stopping(const struct service *service)
{
	if (!service->is_told)
		return;
	sd_notify(0, "STOPPING=1\nSTATUS=writing what there is");
}

uint64_t service_wait_ns(const struct service *service, uint64_t max_wait_ns)
{
	if (!service->watchdog_ns || service->watchdog_ns > max_wait_ns)
		return max_wait_ns;
	return service->watchdog_ns;
}
