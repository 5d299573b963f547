// SPDX-License-Identifier: Apache-2.0
/*
 * A jar, and the text of its manifest: whatever they are, a class is a clean text that has an end.
 */
#include "fuzzer.h"

#include "base/utf8.h"
#include "container/jar_manifest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(int err, const char class[JAR_CLASS_BYTES])
{
	char clean[JAR_CLASS_BYTES];

	if (err)
		return;
	if (strnlen(class, JAR_CLASS_BYTES) == JAR_CLASS_BYTES || !class[0])
		abort();
	utf8_clean(class, strlen(class), clean, sizeof(clean));
	if (strcmp(class, clean) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("jar", MFD_CLOEXEC);
	char class[JAR_CLASS_BYTES];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	check(jar_manifest_read(fd, class), class);
	close(fd);
	check(jar_manifest_parse((const char *)data, size, class), class);
	return 0;
}
