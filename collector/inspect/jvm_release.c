// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a JDK's version, see jvm_release.h. Distributions' packages of JDK 8 have no file
 * "release". The version is then found in libjvm.so, in this text:
 *
 *   OpenJDK 64-Bit Server VM (25.372-b07) for linux-amd64 JRE (1.8.0_372-8u372-ga-1-b07), built on
 */
#include "inspect/jvm_release.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/root_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LIBJVM		 "/libjvm.so"
#define RELEASE_KEY	 "JAVA_VERSION=\""
#define LIBJVM_KEY	 " JRE ("
#define VERSION_BYTES	 64
#define CHUNK_BYTES	 (64u << 10)
#define MAX_LIBJVM_BYTES (64u << 20)

/*
 * Reads a version at the start of text. False: no version is there, or it may go on beyond the end.
 */
static bool take_version(const char *text, size_t len, char *ret, size_t size)
{
	static const char version_chars[] = "0123456789._";
	size_t n = 0;

	while (n < len && n < VERSION_BYTES && text[n] && strchr(version_chars, text[n]))
		n++;
	if (n == 0 || n == len || n >= size)
		return false;
	memcpy(ret, text, n);
	ret[n] = '\0';
	return true;
}

bool jvm_release_find(const char *text, size_t len, const char *key, char *ret, size_t size)
{
	const char *const end = text + len, *at = text;

	while ((at = memmem(at, (size_t)(end - at), key, strlen(key)))) {
		at += strlen(key);
		if (take_version(at, (size_t)(end - at), ret, size))
			return true;
	}
	return false;
}

static const char *find_libjvm(const struct process *process)
{
	const struct address_space *space = &process->space;

	for (size_t i = 0; i < space->count; i++) {
		if (strstr(space->mappings[i].path, LIBJVM))
			return space->mappings[i].path;
	}
	return NULL;
}

/*
 * Finds the file "release" in the JDK's home, which is above lib/server, lib/amd64/server or
 * jre/lib/amd64/server.
 */
static bool find_release(const char *libjvm, char ret[PATH_MAX])
{
	char *lib;

	if (snprintf(ret, PATH_MAX, "%s", libjvm) >= PATH_MAX)
		return false;
	lib = strstr(ret, "/jre/lib/");
	lib = lib ? lib : strstr(ret, "/lib/");
	for (char *next = lib; next && next[1] == 'l' && (next = strstr(next + 1, "/lib/"));)
		lib = next; /* the last "/lib/" counts: /usr/lib/jvm/java-17/lib/server */
	if (!lib || (size_t)(lib - ret) + sizeof("/release") > PATH_MAX)
		return false;
	memcpy(lib, "/release", sizeof("/release"));
	return true;
}

static bool read_release(int root, const char *libjvm, char *ret, size_t size)
{
	char path[PATH_MAX], text[4096];
	struct stat st;
	ssize_t n;

	if (!find_release(libjvm, path))
		return false;
	_cleanup_close_ const int fd = root_file_open_regular(root, path, RESOLVE_IN_ROOT, &st);
	n = fd < 0 ? fd : file_read_up_to(fd, text, sizeof(text));
	return n > 0 && jvm_release_find(text, (size_t)n, RELEASE_KEY, ret, size);
}

/* Reads a chunk at a time. Each chunk begins with the end of the chunk before. */
static bool read_libjvm(int root, const char *libjvm, char *ret, size_t size)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);
	const size_t overlap = sizeof(LIBJVM_KEY) + VERSION_BYTES;
	struct stat st;
	_cleanup_close_ const int fd = root_file_open_regular(root, libjvm, RESOLVE_IN_ROOT, &st);
	size_t kept = 0;

	for (size_t all = 0; chunk && fd >= 0 && all < MAX_LIBJVM_BYTES; all += CHUNK_BYTES) {
		const ssize_t n = file_read_up_to(fd, chunk + kept, CHUNK_BYTES - kept);
		const size_t len = n > 0 ? kept + (size_t)n : 0;

		if (n <= 0)
			return false;
		if (jvm_release_find(chunk, len, LIBJVM_KEY, ret, size))
			return true;
		kept = len < overlap ? len : overlap;
		memmove(chunk, chunk + len - kept, kept);
	}
	return false;
}

void jvm_release_read(const struct process *process, char *ret, size_t size)
{
	const char *libjvm = find_libjvm(process);
	_cleanup_close_ const int root = libjvm ? root_file_open_root(process->pid) : -1;

	if (root < 0 ||
	    !(read_release(root, libjvm, ret, size) || read_libjvm(root, libjvm, ret, size)))
		ret[0] = '\0';
}
