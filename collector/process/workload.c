// SPDX-License-Identifier: Apache-2.0
/*
 * Makes names and labels of a process out of its container and its agent's hello, see workload.h.
 */
#include "process/workload.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define LABEL_PREFIX "label."

static uint64_t last_version; /* used by the model's thread only */

void workload_touch(struct workload *workload)
{
	workload->version = ++last_version;
}

void workload_fini(struct workload *workload)
{
	label_set_fini(&workload->labels);
}

/* Takes the text unless a text is known already. */
static void take(const char *text, char ret[CONTAINER_NAME_BYTES])
{
	if (text && !ret[0])
		utf8_clean(text, strlen(text), ret, CONTAINER_NAME_BYTES);
}

/* Decodes percent-encoded text, as in W3C's baggage. The result is never longer than the text. */
static size_t decode_percents(const char *text, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const int high = text[i] == '%' && i + 2 < len ? ascii_hex(text[i + 1]) : -1;
		const int low = high >= 0 ? ascii_hex(text[i + 2]) : -1;

		ret[n++] = low >= 0 ? (char)(high * 16 + low) : text[i];
		i += low >= 0 ? 2 : 0;
	}
	return n;
}

static void take_resource(struct label_set *labels, const char *item, size_t len)
{
	const char *equals = memchr(item, '=', len);
	char value[LABEL_VALUE_BYTES];
	size_t key_len, value_len;

	if (!equals)
		return;
	key_len = (size_t)(equals - item);
	value_len = len - key_len - 1;
	if (value_len > sizeof(value)) {
		labels->left_out++;
		return;
	}
	value_len = decode_percents(equals + 1, value_len, value);
	label_set_add_parts(labels, item, key_len, value, value_len);
}

/* Takes labels of the form "key=value,key=value". */
static void take_resources(struct label_set *labels, const char *text)
{
	while (text && *text) {
		const size_t blanks = strspn(text, " "), len = strcspn(text + blanks, ",");

		take_resource(labels, text + blanks, len);
		text += blanks + len;
		text += *text == ',';
	}
}

/* Returns the text behind key, where key begins a word of the line; NULL: there is none. */
static const char *find_word(const char *line, const char *key)
{
	for (const char *at = line; (at = strstr(at, key)); at++) {
		if (at == line || at[-1] == ' ')
			return at + strlen(key);
	}
	return NULL;
}

static void take_service_of_command(struct label_set *labels, const char *line)
{
	static const char *const keys[] = {"-Dotel.service.name=", "-Dspring.application.name=",
					   "--spring.application.name=", "-Ddd.service="};

	for (size_t i = 0; line && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *const text = find_word(line, keys[i]);
		const size_t len = text ? strcspn(text, " ") : 0;

		if (len == 0)
			continue;
		label_set_add_parts(labels, WORKLOAD_SERVICE, strlen(WORKLOAD_SERVICE), text, len);
		return;
	}
}

static void take_attrs(struct workload *workload, const struct jvm_hello *hello)
{
	const char *service = jvm_hello_attr(hello, "env.OTEL_SERVICE_NAME");

	for (size_t i = 0; i < hello->n_attrs; i++) {
		const struct jvm_attr *attr = &hello->attrs[i];

		if (attr->key && attr->text &&
		    strncmp(attr->key, LABEL_PREFIX, strlen(LABEL_PREFIX)) == 0)
			label_set_add(&workload->labels, attr->key + strlen(LABEL_PREFIX),
				      attr->text);
	}
	if (service)
		label_set_add(&workload->labels, WORKLOAD_SERVICE, service);
	take_resources(&workload->labels, jvm_hello_attr(hello, "env.OTEL_RESOURCE_ATTRIBUTES"));
	if (!label_set_find(&workload->labels, WORKLOAD_SERVICE))
		take_service_of_command(&workload->labels, jvm_hello_attr(hello, "command"));
	take(jvm_hello_attr(hello, "env.POD_NAME"), workload->pod);
	take(jvm_hello_attr(hello, "env.POD_NAMESPACE"), workload->name_space);
	take(label_set_find(&workload->labels, "k8s.pod.name"), workload->pod);
	take(label_set_find(&workload->labels, "k8s.namespace.name"), workload->name_space);
	take(label_set_find(&workload->labels, "k8s.container.name"), workload->container);
	take(label_set_find(&workload->labels, "container.name"), workload->container);
}

/* A user's own label stays as it is. */
static void take_image(struct label_set *labels, const struct container *container)
{
	const char *image = label_set_find(labels, "container.image.name");

	if ((!image || !image[0]) && container)
		image = container->image;
	if (image && image[0])
		label_set_add(labels, WORKLOAD_IMAGE, image);
}

const char *workload_image(const struct workload *workload)
{
	const char *const image = label_set_find(&workload->labels, WORKLOAD_IMAGE);

	return image ? image : "";
}

void workload_make(struct workload *workload, const struct jvm_hello *hello,
		   const struct container *container)
{
	workload_fini(workload);
	*workload = (struct workload){0};
	if (container) {
		strcpy(workload->container, container->name);
		strcpy(workload->pod, container->pod);
		strcpy(workload->name_space, container->name_space);
		label_set_add_all(&workload->labels, &container->labels);
	}
	if (hello)
		take_attrs(workload, hello);
	take_image(&workload->labels, container);
	workload_touch(workload);
}
