// SPDX-License-Identifier: Apache-2.0
/*
 * What a file costs when it is met for the first time:
 *
 *	table_load FILE...
 *
 * Milliseconds of processor time and MiB of its symbols and of its unwind rules, the least of five
 * loads with the file in the page cache; and milliseconds until each is there, read by this process
 * and by a parser.
 */
#include "base/clock.h"
#include "elf/cfi_table.h"
#include "files/table_parser.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/parsers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

struct cost {
	double ms, mib;
	double wall_ms;
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

static int restore_symbols(struct flat_reader *reader, bool is_private, void **ret)
{
	struct elf_symbols *symbols = NULL;
	const int err = elf_symbols_restore(reader, is_private, &symbols);

	*ret = symbols;
	return err;
}

static int restore_rules(struct flat_reader *reader, bool is_private, void **ret)
{
	struct cfi_table *table = NULL;
	const int err = cfi_table_restore(reader, &table);

	(void)is_private;
	*ret = table;
	return err;
}

static struct cost parse_symbols(int fd)
{
	static const struct table_kind kind = {.role = PARSER_SYMBOLS, .restore = restore_symbols};
	void *symbols = NULL;
	struct cost cost = {.err = table_parser_load(&kind, fd, NULL, NULL, &symbols)};

	elf_symbols_free(symbols);
	return cost;
}

static struct cost parse_rules(int fd)
{
	static const struct table_kind kind = {.role = PARSER_UNWIND, .restore = restore_rules};
	void *table = NULL;
	struct cost cost = {.err = table_parser_load(&kind, fd, NULL, NULL, &table)};

	cfi_table_free(table);
	return cost;
}

static struct cost timed(struct cost (*load)(int fd), int fd)
{
	const uint64_t began_ns = clock_now_ns();
	struct cost cost = load(fd);

	cost.wall_ms = (double)(clock_now_ns() - began_ns) / 1e6;
	return cost;
}

static struct cost least(struct cost (*load)(int fd), int fd)
{
	struct cost best = timed(load, fd);

	for (int i = 1; i < ROUNDS; i++) {
		const struct cost cost = timed(load, fd);

		if (cost.wall_ms < best.wall_ms)
			best = cost;
	}
	return best;
}

static int measure(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cost symbols, rules, parsed_symbols, parsed_rules;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	symbols = least(load_symbols, fd);
	rules = least(load_rules, fd);
	parsed_symbols = least(parse_symbols, fd);
	parsed_rules = least(parse_rules, fd);
	close(fd);
	if (symbols.err || rules.err) {
		fprintf(stderr, "%s: %s\n", path,
			strerror(-(symbols.err ? symbols.err : rules.err)));
		return 1;
	}
	printf("%s: %zu symbols %.1f ms %.2f MiB, unwind rules %.1f ms %.2f MiB\n", path,
	       symbols.count, symbols.ms, symbols.mib, rules.ms, rules.mib);
	printf("  by this process and by a parser: symbols %.2f and %.2f ms (%.2f times), unwind "
	       "rules %.2f and %.2f ms (%.2f times)%s\n",
	       symbols.wall_ms, parsed_symbols.wall_ms, parsed_symbols.wall_ms / symbols.wall_ms,
	       rules.wall_ms, parsed_rules.wall_ms, parsed_rules.wall_ms / rules.wall_ms,
	       parsed_symbols.err || parsed_rules.err ? ", which failed" : "");
	return 0;
}

int main(int argc, char *argv[])
{
	int failed;

	zygote_become(argc, argv, parser_roles);
	failed = argc < 2 || zygote_start() < 0;
	for (int i = 1; i < argc; i++)
		failed |= measure(argv[i]);
	zygote_stop();
	return failed;
}
