// SPDX-License-Identifier: Apache-2.0
/*
 * Up to JDK 8 HotSpot numbers itself "25.382-b05": major 25 is JDK 8, then the update, then "-b".
 * Since JDK 9 it is the JDK's own version, "17.0.15+6-Debian" and also "25.0.1+8-LTS" or "25+36":
 * only the "-b" right after the second number tells the two schemes apart.
 */
#include "hotspot/jvm_version.h"

#include <stddef.h>
#include <string.h>

#define JDK8_MAJOR	 25
#define JDK8_SAFE_UPDATE 382

/* Reads a number of at most 99999 at text, or returns -1. *ret_end is behind the number. */
static int read_number(const char *text, const char **ret_end)
{
	int value = 0;

	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		value = value * 10 + (*text - '0');
		if (value > 99999)
			return -1;
	}
	*ret_end = text;
	return value;
}

bool jvm_version_is_safe(const char *vm_name, const char *vm_version)
{
	const char *at = vm_version;
	int major, update;

	if (!vm_name || !vm_version || (!strstr(vm_name, "HotSpot") && !strstr(vm_name, "OpenJDK")))
		return true;
	major = read_number(at, &at);
	if (major < 0 || *at++ != '.')
		return true;
	update = read_number(at, &at);
	if (update < 0 || at[0] != '-' || at[1] != 'b' || at[2] < '0' || at[2] > '9')
		return true;
	return major > JDK8_MAJOR || (major == JDK8_MAJOR && update >= JDK8_SAFE_UPDATE);
}
