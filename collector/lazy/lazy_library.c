// SPDX-License-Identifier: Apache-2.0
/* Loads a library and finds its functions, see lazy_library.h. */
#include "lazy/lazy_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *load(struct lazy_library *library)
{
	void *const handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && library->names[i]; i++) {
		void *const function = dlsym(handle, library->names[i]);

		if (!function)
			return dlerror();
		/* ISO C has no conversion between the two kinds of pointers, POSIX has. */
		memcpy((char *)library->functions + i * sizeof(function), &function,
		       sizeof(function));
	}
	return handle ? NULL : dlerror();
}

const char *lazy_library_load(struct lazy_library *library)
{
	const char *why;

	pthread_mutex_lock(&library->lock);
	if (!library->is_tried) {
		why = load(library);
		if (why) {
			snprintf(library->text, sizeof(library->text), "%s: install this library",
				 why);
			library->why = library->text;
		}
		library->is_tried = true;
	}
	why = library->why;
	pthread_mutex_unlock(&library->lock);
	return why;
}
