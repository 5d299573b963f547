// SPDX-License-Identifier: Apache-2.0
/* Runs every file of the corpus folder given through the fuzzer's entry, whole and cut short. */
#include "fuzzer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		return -1;
	rewind(file);
	data = malloc((size_t)size + 1);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
		return -1;
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	for (size_t len = (size_t)size / 2; len > 0; len /= 2) {
		uint8_t *cut = malloc(len); /* exact, so that a read past its end is seen */

		if (!cut)
			return -1;
		memcpy(cut, data, len);
		LLVMFuzzerTestOneInput(cut, len);
		free(cut);
	}
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	const struct dirent *entry;
	int n = 0;

	if (!dir) {
		fprintf(stderr, "usage: %s CORPUS_DIR\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(dir))) {
		char path[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		if (run_file(path) < 0) {
			fprintf(stderr, "cannot run %s\n", path);
			return 1;
		}
		n++;
	}
	closedir(dir);
	printf("%d inputs\n", n);
	return n > 0 ? 0 : 1; /* an empty corpus proves nothing */
}
