// SPDX-License-Identifier: Apache-2.0
/* Many mappings, see codes.h. */
#include "common/codes.h"

#include <sys/mman.h>

char *codes_make(size_t count)
{
	char *const codes =
		mmap(NULL, 2 * count * CODES_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (codes == MAP_FAILED)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (mprotect(codes + 2 * i * CODES_PAGE, CODES_PAGE, PROT_READ | PROT_EXEC) < 0) {
			codes_remove(codes, count);
			return NULL;
		}
	}
	return codes;
}

int codes_remove(char *codes, size_t count)
{
	return munmap(codes, 2 * count * CODES_PAGE);
}
