// SPDX-License-Identifier: Apache-2.0
/*
 * The methods whose Method* lie on the stack of a thread of a live JVM, as the collector names
 * them:
 *
 *   stack_methods PID TID < HELLO
 *
 * HELLO is what listener prints of a hello: words separated by tabs, key=value. The thread must
 * wait in a system call. Prints a line a word of the stack that is a Method*, upwards, separated by
 * tabs:
 *
 *   class.nameSignature  source file  bytecode index  line
 *
 * the last two as if the word were that of an interpreted frame, -1 and 0 if it is not. Then how
 * long it took: "figures", methods, nanoseconds to read one, to read one again, to find it unread.
 */
#include "base/clock.h"
#include "code/java_methods.h"
#include "process/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define STACK_WORDS (1u << 17)
#define MAX_WORDS   1024
#define MAX_METHODS 1024

static struct wire_attr attrs[MAX_WORDS];
static struct wire_value values[MAX_WORDS];
static uint64_t words[STACK_WORDS];

/* Numbers are values, all else attributes. */
static void take_word(char *word, struct wire_hello *hello)
{
	char *text = strchr(word, '='), *end;
	int64_t value;

	if (!text || hello->n_values == MAX_WORDS || hello->n_attrs == MAX_WORDS)
		return;
	*text++ = '\0';
	value = strtoll(text, &end, 10);
	if (*text && !*end)
		values[hello->n_values++] =
			(struct wire_value){.key = wire_str_from(word), .value = value};
	else
		attrs[hello->n_attrs++] =
			(struct wire_attr){wire_str_from(word), wire_str_from(text)};
}

static int read_hello(struct process *process)
{
	static uint8_t bytes[1u << 18];
	static char line[1u << 18];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	struct wire_message message = {.records = bytes};
	struct wire_hello hello = {0};
	struct wire_record record;
	struct wire_reader reader;

	if (!fgets(line, sizeof(line), stdin))
		return -1;
	line[strcspn(line, "\n")] = '\0';
	for (char *word = strtok(line, "\t"); word; word = strtok(NULL, "\t"))
		take_word(word, &hello);
	if (!wire_encode_hello(&buf, &hello, attrs, values))
		return -1;
	message.records_len = buf.len;
	wire_reader_init(&reader, &message);
	if (wire_reader_next(&reader, &record) != 1 || wire_decode_hello(&record, &hello) != 0)
		return -1;
	return process_set_hello(process, &hello);
}

/* Of a thread in a system call, by proc(5): its number, six arguments, stack pointer, pc. */
static uint64_t read_stack_pointer(const char *pid, const char *tid)
{
	uint64_t sp = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/syscall", pid, tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64, &sp) != 1)
		sp = 0;
	if (file)
		fclose(file);
	return sp;
}

/* Where the mapping ends that holds addr; 0 if there is none. */
static uint64_t end_of_mapping(const char *pid, uint64_t addr)
{
	uint64_t start, end, found = 0;
	char line[4200];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%s/maps", pid);
	file = fopen(line, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && start <= addr &&
		    addr < end)
			found = end;
	}
	if (file)
		fclose(file);
	return found;
}

static size_t read_stack(const char *pid, uint64_t sp)
{
	const uint64_t end = end_of_mapping(pid, sp);
	struct iovec local = {words, sizeof(words)}, remote = {(void *)(uintptr_t)sp, 0};
	ssize_t n;

	if (!end)
		return 0;
	remote.iov_len = end - sp < sizeof(words) ? end - sp : sizeof(words);
	n = process_vm_readv((pid_t)atoi(pid), &local, 1, &remote, 1, 0);
	return n > 0 ? (size_t)n / sizeof(uint64_t) : 0;
}

static void print_method(const struct java_method *method, const struct vm_layout *layout, size_t i)
{
	const int32_t to_bcp =
		vm_layout_interpreter_bcp_words(layout) - layout->interpreter_method_words;
	int32_t bci = -1;

	if ((int64_t)i + to_bcp >= 0)
		bci = java_method_bci(method, words[(int64_t)i + to_bcp]);
	printf("%s.%s%s\t%s\t%" PRId32 "\t%" PRIu32 "\n", method->class_name, method->name,
	       method->signature, method->source_file ? method->source_file : "", bci,
	       java_method_line(method, bci));
}

/* Nanoseconds for each of the methods at that time. */
static uint64_t measure(struct process *process, const uint64_t *methods, size_t n, uint64_t now_ns)
{
	const uint64_t start = clock_now_ns();
	enum java_methods_reason reason;

	for (size_t i = 0; i < n; i++)
		process_java_method(process, methods[i], now_ns, &reason);
	return n ? (clock_now_ns() - start) / n : 0;
}

static void print_figures(struct process *process, const uint64_t *methods, size_t n)
{
	uint64_t read, again, known;

	java_methods_clear(&process->java_methods);
	read = measure(process, methods, n, UINT64_C(1) << 50);
	again = measure(process, methods, n, UINT64_C(1) << 51);
	known = measure(process, methods, n, UINT64_C(1) << 51);
	printf("figures\t%zu\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", n, read, again, known);
}

static size_t add_once(uint64_t *methods, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++) {
		if (methods[i] == addr)
			return n;
	}
	if (n < MAX_METHODS)
		methods[n++] = addr;
	return n;
}

int main(int argc, char **argv)
{
	static uint64_t methods[MAX_METHODS];
	struct process *process;
	size_t n_words, n = 0;
	enum java_methods_reason reason = JAVA_METHODS_NO_LAYOUT;

	if (argc != 3) {
		fprintf(stderr, "usage: stack_methods PID TID < HELLO\n");
		return 2;
	}
	if (process_new((pid_t)atoi(argv[1]), 0, PROCESS_READ_ALL, &process) < 0 ||
	    process_add_jvm(process) < 0 || read_hello(process) < 0) {
		fprintf(stderr, "stack_methods: no such process, or no hello\n");
		return 1;
	}
	n_words = read_stack(argv[1], read_stack_pointer(argv[1], argv[2]));
	for (size_t i = 0; i < n_words; i++) {
		const uint64_t now_ns = (i + 1) * JAVA_METHODS_WINDOW_NS; /* never too many */
		const struct java_method *method =
			process_java_method(process, words[i], now_ns, &reason);

		if (!method)
			continue;
		print_method(method, &process->jvm->layout, i);
		n = add_once(methods, n, words[i]);
	}
	print_figures(process, methods, n);
	if (n == 0)
		fprintf(stderr, "stack_methods: none in %zu words; the last: %s\n", n_words,
			java_methods_reason_name(reason));
	process_free(process);
	return n == 0;
}
