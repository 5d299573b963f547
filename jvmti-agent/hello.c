// SPDX-License-Identifier: Apache-2.0
/*
 * Introduces the JVM to the collector: labels for people, and the layout of HotSpot's structures
 * for the unwinder. Labels are never identity: the kernel tells the collector which process the
 * agent is in.
 */
#include "hello.h"

#include "clock.h"
#include "hotspot/wanted.h"
#include "own_fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FGAGENT_VERSION
#define FGAGENT_VERSION "unknown"
#endif

#define ATTRS_MAX (9 + HELLO_ENV_COUNT + OPTIONS_LABELS_MAX)

static const char *const env_names[HELLO_ENV_COUNT] = {
	"POD_NAME",
	"POD_NAMESPACE",
	"OTEL_SERVICE_NAME",
	"OTEL_RESOURCE_ATTRIBUTES",
};

/* Texts that must live until the record is encoded. */
struct scratch {
	struct wire_attr attrs[ATTRS_MAX];
	uint16_t n_attrs;
	char command[HELLO_TEXT_BYTES];
	char jar[HELLO_TEXT_BYTES];
	char host[256];
	char keys[HELLO_ENV_COUNT + OPTIONS_LABELS_MAX][80];
	size_t n_keys;
};

static void copy_text(char *to, size_t size, const char *from)
{
	const size_t len = from ? strnlen(from, size - 1) : 0;

	if (len > 0)
		memcpy(to, from, len);
	to[len] = 0;
}

void hello_init(struct hello *hello, const struct options *options, const struct vmstructs *vm)
{
	hello->loaded_ns = clock_monotonic_ns();
	hello->options = options;
	hello->vm = vm;
	for (int i = 0; i < HELLO_ENV_COUNT; i++)
		copy_text(hello->env[i], sizeof(hello->env[i]), getenv(env_names[i]));
}

/*
 * The launcher makes the jar the class path and the beginning of the command, in which blanks of
 * its path look like those between arguments.
 */
static size_t read_jar_len(jvmtiEnv *jvmti, const char *command)
{
	char *path = NULL;
	size_t len;

	if ((*jvmti)->GetSystemProperty(jvmti, "java.class.path", &path) != JVMTI_ERROR_NONE ||
	    !path)
		return 0;
	len = strlen(path);
	if (strncmp(command, path, len) != 0 || (command[len] != ' ' && command[len] != '\0'))
		len = 0;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)path);
	return len;
}

static void read_property(jvmtiEnv *jvmti, const char *name, char *to, size_t size)
{
	char *value = NULL;

	if ((*jvmti)->GetSystemProperty(jvmti, name, &value) != JVMTI_ERROR_NONE || !value)
		return;
	copy_text(to, size, value);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)value);
}

void hello_read_properties(struct hello *hello, jvmtiEnv *jvmti)
{
	read_property(jvmti, "java.vm.name", hello->jvm_name, sizeof(hello->jvm_name));
	read_property(jvmti, "java.vm.version", hello->jvm_version, sizeof(hello->jvm_version));
	read_property(jvmti, "java.vm.vendor", hello->jvm_vendor, sizeof(hello->jvm_vendor));
	read_property(jvmti, "sun.java.command", hello->java_command, sizeof(hello->java_command));
	hello->java_jar_len = read_jar_len(jvmti, hello->java_command);
}

/* Reads the command line, with spaces instead of NULs. On failure to is empty. */
static void read_command(char *to, size_t size)
{
	struct own_fd own = own_fd_take(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
	ssize_t len = own.fd >= 0 ? pread(own.fd, to, size - 1, 0) : 0;

	own_fd_close(&own);
	if (len < 0)
		len = 0;
	while (len > 0 && to[len - 1] == 0)
		len--;
	for (ssize_t i = 0; i < len; i++) {
		if (to[i] == 0)
			to[i] = ' ';
	}
	to[len] = 0;
}

static void add_attr(struct scratch *scratch, const char *key, const char *text)
{
	if (*text && scratch->n_attrs < ATTRS_MAX)
		scratch->attrs[scratch->n_attrs++] =
			(struct wire_attr){wire_str_from(key), wire_str_from(text)};
}

static void add_prefixed(struct scratch *scratch, const char *prefix, const char *name,
			 const char *text)
{
	char *key = scratch->keys[scratch->n_keys++];

	snprintf(key, sizeof(scratch->keys[0]), "%s%s", prefix, name);
	add_attr(scratch, key, text);
}

static void collect_attrs(const struct hello *hello, struct scratch *scratch)
{
	const struct options *options = hello->options;

	scratch->n_attrs = 0;
	scratch->n_keys = 0;
	read_command(scratch->command, sizeof(scratch->command));
	if (gethostname(scratch->host, sizeof(scratch->host) - 1) != 0)
		scratch->host[0] = 0;
	scratch->host[sizeof(scratch->host) - 1] = 0;
	add_attr(scratch, "agent.version", FGAGENT_VERSION);
	add_attr(scratch, "jvm.name", hello->jvm_name);
	add_attr(scratch, "jvm.version", hello->jvm_version);
	add_attr(scratch, "jvm.vendor", hello->jvm_vendor);
	add_attr(scratch, "command", scratch->command);
	add_attr(scratch, "java.command", hello->java_command);
	memcpy(scratch->jar, hello->java_command, hello->java_jar_len);
	scratch->jar[hello->java_jar_len] = 0;
	add_attr(scratch, "java.jar", scratch->jar);
	add_attr(scratch, "host.name", scratch->host);
	for (size_t i = 0; i < options->n_labels; i++)
		add_prefixed(scratch, "label.", options->labels[i].key, options->labels[i].value);
	for (size_t i = 0; i < HELLO_ENV_COUNT; i++)
		add_prefixed(scratch, "env.", env_names[i], hello->env[i]);
}

bool hello_encode(const struct hello *hello, struct wire_buf *buf)
{
	struct wire_hello record = {
		.pid = (uint32_t)getpid(),
		.loaded_ns = hello->loaded_ns,
		.monotonic_ns = clock_monotonic_ns(),
		.realtime_ns = clock_read_ns(CLOCK_REALTIME),
		.buffer_bytes = hello->options->buffer_bytes,
	};
	struct wire_value values[WANTED_MAX + 2];
	struct scratch scratch;

	if (hello->vmstructs_found)
		record.flags |= WIRE_HELLO_VMSTRUCTS;
	if (hello->framepointer == FLAGS_FP_SET)
		record.flags |= WIRE_HELLO_FP_SET;
	if (hello->framepointer == FLAGS_FP_WAS_ON)
		record.flags |= WIRE_HELLO_FP_WAS_ON;
	collect_attrs(hello, &scratch);
	record.n_attrs = scratch.n_attrs;
	record.n_values = (uint16_t)wanted_collect(hello->vm, values);
	values[record.n_values++] =
		(struct wire_value){wire_str_from("probes.alloc"), hello->offers_alloc};
	values[record.n_values++] =
		(struct wire_value){wire_str_from("probes.lock"), hello->offers_lock};
	return wire_encode_hello(buf, &record, scratch.attrs, values);
}
