// SPDX-License-Identifier: Apache-2.0
/*
 * What a file costs when it is met for the first time:
 *
 *	table_load FILE...
 *
 * Milliseconds of processor time and MiB of its symbols and of its unwind rules, the least of five
 * loads with the file in the page cache.
 */
#include "elf/cfi_table.h"
#include "symbolize/elf_symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

struct cost {
	double ms, mib;
	size_t count;
	int err;
};

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct cost load_symbols(int fd)
{
	const double began = cpu_ms();
	struct elf_symbols *symbols = NULL;
	struct cost cost = {.err = elf_symbols_load(fd, NULL, &symbols)};

	cost.ms = cpu_ms() - began;
	if (!cost.err) {
		cost.mib = (double)elf_symbols_bytes(symbols) / (1 << 20);
		cost.count = elf_symbols_count(symbols);
	}
	elf_symbols_free(symbols);
	return cost;
}

static struct cost load_rules(int fd)
{
	const double began = cpu_ms();
	struct cfi_table *table = NULL;
	struct cost cost = {.err = cfi_table_load(fd, &table)};

	cost.ms = cpu_ms() - began;
	if (!cost.err)
		cost.mib = (double)cfi_table_bytes(table) / (1 << 20);
	cfi_table_free(table);
	return cost;
}

static struct cost least(struct cost (*load)(int fd), int fd)
{
	struct cost best = load(fd);

	for (int i = 1; i < ROUNDS; i++) {
		const struct cost cost = load(fd);

		if (cost.ms < best.ms)
			best = cost;
	}
	return best;
}

static int measure(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cost symbols, rules;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	symbols = least(load_symbols, fd);
	rules = least(load_rules, fd);
	close(fd);
	if (symbols.err || rules.err) {
		fprintf(stderr, "%s: %s\n", path,
			strerror(-(symbols.err ? symbols.err : rules.err)));
		return 1;
	}
	printf("%s: %zu symbols %.1f ms %.2f MiB, unwind rules %.1f ms %.2f MiB\n", path,
	       symbols.count, symbols.ms, symbols.mib, rules.ms, rules.mib);
	return 0;
}

int main(int argc, char *argv[])
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++)
		failed |= measure(argv[i]);
	return failed;
}
