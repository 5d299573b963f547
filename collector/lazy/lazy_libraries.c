// SPDX-License-Identifier: Apache-2.0
/* The libraries that are loaded once they are needed, and a note for each, see lazy_library.h. */
#include "lazy/lazy_curl.h"
#include "lazy/lazy_gnutls.h"
#include "lazy/lazy_microhttpd.h"
#include "lazy/lazy_ncurses.h"
#include "lazy/lazy_nng.h"
#include "lazy/lazy_sqlite.h"
#include "lazy/lazy_systemd.h"
#include "lazy/lazy_yaml.h"
#include "lazy/lazy_zstd.h"

#include <stdarg.h>
#include <stddef.h>

#define NOTE_TEXT(file, feature) "[{\"feature\":\"" feature "\",\"soname\":[\"" file "\"]}]"

/* The linker gathers the notes. The type is of the metadata's specification. */
#define LAZY_LIBRARY(name, table, file_, feature)                                                  \
	struct lazy_##name lazy_##name;                                                            \
	static const char *const name##_names[] = {table(LAZY_NAME) NULL};                         \
	static struct lazy_library name##_library = {                                              \
		.file = file_,                                                                     \
		.names = name##_names,                                                             \
		.functions = &lazy_##name,                                                         \
		.lock = PTHREAD_MUTEX_INITIALIZER,                                                 \
	};                                                                                         \
	static const struct {                                                                      \
		uint32_t owner_bytes, text_bytes, type;                                            \
		char owner[4];                                                                     \
		char text[(sizeof(NOTE_TEXT(file_, feature)) + 3) / 4 * 4];                        \
	} name##_note __attribute__((used, section(".note.dlopen"), aligned(4))) = {               \
		.owner_bytes = 4,                                                                  \
		.text_bytes = sizeof(NOTE_TEXT(file_, feature)),                                   \
		.type = 0x407c0c0a,                                                                \
		.owner = "FDO",                                                                    \
		.text = NOTE_TEXT(file_, feature),                                                 \
	};                                                                                         \
	const char *lazy_##name##_load(void)                                                       \
	{                                                                                          \
		return lazy_library_load(&name##_library);                                         \
	}

LAZY_LIBRARY(curl, LAZY_CURL, FG_CURL_FILE, "push")
LAZY_LIBRARY(gnutls, LAZY_GNUTLS, FG_GNUTLS_FILE, "http-tls")
LAZY_LIBRARY(microhttpd, LAZY_MICROHTTPD, FG_MICROHTTPD_FILE, "http")
LAZY_LIBRARY(ncurses, LAZY_NCURSES, FG_NCURSES_FILE, "top")
LAZY_LIBRARY(nng, LAZY_NNG, FG_NNG_FILE, "publish")
LAZY_LIBRARY(sqlite, LAZY_SQLITE, FG_SQLITE_FILE, "store")
LAZY_LIBRARY(systemd, LAZY_SYSTEMD, FG_SYSTEMD_FILE, "systemd")
LAZY_LIBRARY(yaml, LAZY_YAML, FG_YAML_FILE, "push")
LAZY_LIBRARY(zstd, LAZY_ZSTD, FG_ZSTD_FILE, "render")

/*
 * libcurl's header checks the type of what these two are given, by macros of their names; so they
 * stay functions. libcurl takes one more argument, which is as wide as a pointer.
 */
CURLcode(curl_easy_setopt)(CURL *curl, CURLoption option, ...)
{
	va_list args;
	void *value;

	va_start(args, option);
	value = va_arg(args, void *);
	va_end(args);
	return (lazy_curl.curl_easy_setopt)(curl, option, value);
}

CURLcode(curl_easy_getinfo)(CURL *curl, CURLINFO info, ...)
{
	va_list args;
	void *value;

	va_start(args, info);
	value = va_arg(args, void *);
	va_end(args);
	return (lazy_curl.curl_easy_getinfo)(curl, info, value);
}
