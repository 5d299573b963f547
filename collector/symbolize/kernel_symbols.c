// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's symbols as one sorted array and one pool of names. A line of /proc/kallsyms:
 *
 *   ffffffffc0a01230 t nf_tables_newrule\t[nf_tables]\n
 *   |                | |                 | the module in brackets, if it is one
 *   |                | | the name
 *   |                | | type as of nm(1): T t W w are code, capitals are global
 *   |                | all zeroes if the reader may not know
 *   | hexadecimal, of the word's size
 *
 * There are no sizes: a symbol ends where the next one starts. The last symbol before the end of
 * the kernel's text, of a module, or of the file would have no end. Three limits give it one:
 * _etext; a distance that no function has; for a module's last symbol the end of the page behind
 * the symbol's own. Of several names at one address the last one counts, as it does for perf: for
 * perf the others are empty symbols.
 */
#include "symbolize/kernel_symbols.h"

#include "base/array.h"
#include "base/utf8.h"
#include "base/cleanup.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE_BYTES	 (256u << 20)
#define READ_BYTES	 (64u << 10)
#define MAX_DISTANCE	 (1u << 20) /* the longest functions have some 100 KiB */
#define PAGE_BYTES	 UINT64_C(4096)
#define MAX_MODULES	 4096
#define MODULE_KERNEL	 0
#define MODULE_UNLISTED	 1 /* of any module beyond MAX_MODULES */
#define MAX_MODULE_BYTES 64

struct symbol {
	uint64_t addr;
	uint32_t name;	 /* offset in names */
	uint16_t module; /* index in modules */
};

struct kernel_symbols {
	struct symbol *symbols; /* sorted by address, one for each address */
	size_t count, size;
	char *names;
	size_t names_bytes, names_size;
	char (*modules)[MAX_MODULE_BYTES];
	size_t module_count, module_size;
	uint64_t text_end; /* _etext, or UINT64_MAX */
	bool any_addr;	   /* an address that is not 0 was read */
};

struct text {
	const char *at, *end;
};

static atomic_size_t loading_bytes;

/* Notes that a table that is loaded has grown. */
static void note_growth(size_t from, size_t to)
{
	if (to > from)
		atomic_fetch_add(&loading_bytes, to - from);
	else
		atomic_fetch_sub(&loading_bytes, from - to);
}

static int reserve(void *array, size_t *size, size_t wanted, size_t element_bytes)
{
	const size_t before = *size;
	int err;

	if (wanted <= before)
		return 0;
	err = array_reserve(array, size, wanted, element_bytes);
	note_growth(before * element_bytes, *size * element_bytes);
	return err;
}

#define RESERVE(items, size, wanted) reserve((void *)&(items), &(size), (wanted), sizeof(*(items)))

struct line {
	uint64_t addr;
	char type;
	struct text name, module; /* an empty module is the kernel itself */
};

static size_t array_bytes(const struct kernel_symbols *symbols)
{
	return symbols->size * sizeof(*symbols->symbols) + symbols->names_size +
	       symbols->module_size * sizeof(*symbols->modules);
}

size_t kernel_symbols_bytes(const struct kernel_symbols *symbols)
{
	return symbols ? array_bytes(symbols) + heap_bytes(sizeof(*symbols)) : 0;
}

size_t kernel_symbols_loading_bytes(void)
{
	return atomic_load(&loading_bytes);
}

static bool is_end(const char *at, const char *end)
{
	return at == end || *at == ' ' || *at == '\t' || *at == '\n' || *at == '\0';
}

static struct text take_word(struct text *rest)
{
	struct text word = {.at = rest->at, .end = rest->at};

	while (!is_end(word.end, rest->end))
		word.end++;
	rest->at = word.end;
	return word;
}

/* Takes one line off rest; false if the line has another form than the one above. */
static bool take_line(struct text *rest, struct line *ret)
{
	const char *newline = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
	struct text line = {.at = rest->at, .end = newline ? newline : rest->end};
	const char *const start = line.at;

	rest->at = newline ? newline + 1 : rest->end;
	*ret = (struct line){0};
	while (line.at < line.end && ascii_hex_lower(*line.at) >= 0)
		ret->addr = ret->addr << 4 | (uint64_t)ascii_hex_lower(*line.at++);
	if (line.at == start || line.at - start > 16 || line.end - line.at < 4 ||
	    line.at[0] != ' ' || line.at[2] != ' ')
		return false;
	ret->type = line.at[1];
	line.at += 3;
	ret->name = take_word(&line);
	while (line.at < line.end && (*line.at == '\t' || *line.at == ' '))
		line.at++;
	ret->module = take_word(&line);
	return ret->name.at < ret->name.end;
}

static bool text_is(const struct text *text, const char *other)
{
	const size_t len = (size_t)(text->end - text->at);

	return strlen(other) == len && memcmp(text->at, other, len) == 0;
}

static bool add_module(struct kernel_symbols *symbols, const struct text *name)
{
	const size_t len = (size_t)(name->end - name->at);
	char *module;

	if (RESERVE(symbols->modules, symbols->module_size, symbols->module_count + 1) < 0)
		return false;
	module = symbols->modules[symbols->module_count++];
	memset(module, 0, MAX_MODULE_BYTES);
	memcpy(module, name->at, len < MAX_MODULE_BYTES ? len : MAX_MODULE_BYTES - 1);
	return true;
}

/* Symbols of a module stand together, so the last module is looked at first. */
static uint16_t find_module(struct kernel_symbols *symbols, const struct text *name)
{
	if (name->at == name->end)
		return MODULE_KERNEL;
	for (size_t i = symbols->module_count; i > MODULE_UNLISTED + 1; i--) {
		if (text_is(name, symbols->modules[i - 1]))
			return (uint16_t)(i - 1);
	}
	if (symbols->module_count >= MAX_MODULES || name->end - name->at >= MAX_MODULE_BYTES ||
	    !add_module(symbols, name))
		return MODULE_UNLISTED;
	return (uint16_t)(symbols->module_count - 1);
}

static int add_symbol(struct kernel_symbols *symbols, const struct line *line)
{
	const size_t len = (size_t)(line->name.end - line->name.at);

	if (RESERVE(symbols->names, symbols->names_size, symbols->names_bytes + len + 1) < 0 ||
	    RESERVE(symbols->symbols, symbols->size, symbols->count + 1) < 0)
		return -ENOMEM;
	symbols->symbols[symbols->count++] = (struct symbol){
		.addr = line->addr,
		.name = (uint32_t)symbols->names_bytes,
		.module = find_module(symbols, &line->module),
	};
	memcpy(symbols->names + symbols->names_bytes, line->name.at, len);
	symbols->names[symbols->names_bytes + len] = '\0';
	symbols->names_bytes += len + 1;
	return 0;
}

static int add_line(struct kernel_symbols *symbols, const struct line *line)
{
	if (line->addr != 0)
		symbols->any_addr = true;
	if (line->module.at == line->module.end && text_is(&line->name, "_etext")) {
		symbols->text_end = line->addr;
		return 0; /* the symbol marks the end of code */
	}
	if (!strchr("tTwW", line->type) || line->type == '\0')
		return 0;
	return add_symbol(symbols, line);
}

/* Orders by address. At one address the name that was read last comes first. */
static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->name > b->name ? -1 : a->name < b->name;
}

static void sort_and_shrink(struct kernel_symbols *symbols)
{
	size_t kept = 0;

	qsort(symbols->symbols, symbols->count, sizeof(*symbols->symbols), compare);
	for (size_t i = 0; i < symbols->count; i++) {
		if (kept == 0 || symbols->symbols[kept - 1].addr != symbols->symbols[i].addr)
			symbols->symbols[kept++] = symbols->symbols[i];
	}
	symbols->count = kept;
	symbols->symbols = array_trim(symbols->symbols, kept, sizeof(*symbols->symbols));
	note_growth(symbols->size * sizeof(*symbols->symbols), kept * sizeof(*symbols->symbols));
	symbols->size = kept;
	symbols->names = array_trim(symbols->names, symbols->names_bytes, 1);
	note_growth(symbols->names_size, symbols->names_bytes);
	symbols->names_size = symbols->names_bytes;
}

/* The table is the caller's from now on, or is freed on an error. */
static int finish(struct kernel_symbols *symbols, int err, struct kernel_symbols **ret)
{
	if (!err && symbols->count == 0)
		err = -ENODATA;
	if (!err && !symbols->any_addr)
		err = -EACCES;
	if (!err)
		sort_and_shrink(symbols);
	atomic_fetch_sub(&loading_bytes, array_bytes(symbols));
	if (err)
		kernel_symbols_free(symbols);
	else
		*ret = symbols;
	return err;
}

static struct kernel_symbols *begin(void)
{
	static const char kernel[] = "[kernel]", unlisted[] = "[module]";
	const struct text kernel_text = {kernel, kernel + sizeof(kernel) - 1};
	const struct text unlisted_text = {unlisted, unlisted + sizeof(unlisted) - 1};
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->text_end = UINT64_MAX;
	if (add_module(symbols, &kernel_text) && add_module(symbols, &unlisted_text))
		return symbols;
	finish(symbols, -ENOMEM, NULL);
	return NULL;
}

static int add_lines(struct kernel_symbols *symbols, struct text rest)
{
	struct line line;

	while (rest.at < rest.end) {
		if (take_line(&rest, &line) && add_line(symbols, &line) < 0)
			return -ENOMEM;
	}
	return 0;
}

int kernel_symbols_parse(const char *text, size_t len, struct kernel_symbols **ret)
{
	struct kernel_symbols *symbols;

	if (len > MAX_FILE_BYTES)
		return -EFBIG;
	symbols = begin();
	if (!symbols)
		return -ENOMEM;
	return finish(symbols, add_lines(symbols, (struct text){text, text + len}), ret);
}

/*
 * Adds the whole lines of buf, of len bytes, and moves the rest to the front. Returns the rest's
 * length; a line that fills all of buf is left out.
 */
static ssize_t add_part(struct kernel_symbols *symbols, char *buf, size_t len)
{
	const char *const last = memrchr(buf, '\n', len);
	const size_t whole = last ? (size_t)(last + 1 - buf) : len == READ_BYTES ? len : 0;

	if (last && add_lines(symbols, (struct text){buf, buf + whole}) < 0)
		return -ENOMEM;
	memmove(buf, buf + whole, len - whole);
	return (ssize_t)(len - whole);
}

static int add_file(struct kernel_symbols *symbols, int fd, char *buf)
{
	size_t total = 0;
	ssize_t len = 0;

	for (;;) {
		const ssize_t n = read(fd, buf + len, READ_BYTES - (size_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		total += (size_t)n;
		if (total > MAX_FILE_BYTES)
			return -EFBIG;
		if (n == 0)
			return add_lines(symbols, (struct text){buf, buf + len});
		len = add_part(symbols, buf, (size_t)(len + n));
		if (len < 0)
			return (int)len;
	}
}

/* The text is read part by part, because as a whole it would take more than the table. */
int kernel_symbols_load_from(const char *path, struct kernel_symbols **ret)
{
	_cleanup_free_ char *buf = malloc(READ_BYTES);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct kernel_symbols *symbols;

	if (fd < 0)
		return -errno;
	symbols = buf ? begin() : NULL;
	if (!symbols)
		return -ENOMEM;
	return finish(symbols, add_file(symbols, fd, buf), ret);
}

int kernel_symbols_load(struct kernel_symbols **ret)
{
	return kernel_symbols_load_from("/proc/kallsyms", ret);
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->symbols);
	free(symbols->names);
	free(symbols->modules);
	free(symbols);
}

static bool is_last_of_module(const struct kernel_symbols *symbols, size_t at)
{
	return at + 1 == symbols->count ||
	       symbols->symbols[at + 1].module != symbols->symbols[at].module;
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t addr,
				const char **ret_module)
{
	const size_t low =
		ARRAY_COUNT_BELOW(0, symbols->count, i, symbols->symbols[i].addr <= addr);
	const struct symbol *symbol;

	if (low == 0)
		return NULL;
	symbol = &symbols->symbols[low - 1];
	if (symbol->module != MODULE_KERNEL && is_last_of_module(symbols, low - 1) &&
	    addr >= (symbol->addr & ~(PAGE_BYTES - 1)) + 2 * PAGE_BYTES)
		return NULL;
	if (addr - symbol->addr >= MAX_DISTANCE ||
	    (symbol->module == MODULE_KERNEL && symbol->addr < symbols->text_end &&
	     addr >= symbols->text_end))
		return NULL;
	*ret_module = symbols->modules[symbol->module];
	return symbols->names + symbol->name;
}

size_t kernel_symbols_count(const struct kernel_symbols *symbols)
{
	return symbols->count;
}
