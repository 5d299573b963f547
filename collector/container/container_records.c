// SPDX-License-Identifier: Apache-2.0
/* Parses records of container engines, see container_records.h. */
#include "container/container_records.h"

#include "base/json_value.h"
#include "base/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/*
 * The parts of the names that kubelets give: "k8s_<container>_<pod>_<namespace>_<uid>_<attempt>".
 */
#define KUBELET_PARTS 6

static void take_text(const char *text, size_t len, char *ret, size_t size)
{
	if (!ret[0] && len > 0)
		utf8_clean(text, len, ret, size);
}

/* Takes the text if it is a name that Kubernetes allows. */
static void take_pod_name(const char *text, size_t len, char *ret)
{
	if (!ret[0] && container_is_pod_name(text, len))
		utf8_clean(text, len, ret, CONTAINER_NAME_BYTES);
}

/* Takes the reference of an image as it is. */
static void take_image(struct container *container, const char *reference)
{
	char clean[CONTAINER_IMAGE_BYTES];

	if (!reference || !reference[0] || container->image[0])
		return;
	if (utf8_clean(reference, strlen(reference), clean, sizeof(clean)))
		strcpy(container->image, clean);
	else
		container->labels.left_out++;
}

static void take_pod_uid(const char *text, size_t len, struct container *container)
{
	if (!container->pod_uid[0] && container_is_pod_uid(text, len))
		utf8_clean(text, len, container->pod_uid, sizeof(container->pod_uid));
}

/* Takes Kubernetes' names from a label or an annotation. The keys depend on the engine. */
static void take_kubernetes(struct container *container, const char *key, const char *value)
{
	static const char *const pods[] = {"io.kubernetes.pod.name",
					   "io.kubernetes.cri.sandbox-name", NULL};
	static const char *const name_spaces[] = {"io.kubernetes.pod.namespace",
						  "io.kubernetes.cri.sandbox-namespace", NULL};
	static const char *const uids[] = {"io.kubernetes.pod.uid", "io.kubernetes.cri.sandbox-uid",
					   NULL};
	static const char *const names[] = {"io.kubernetes.container.name",
					    "io.kubernetes.cri.container-name", NULL};
	const size_t len = strlen(value);

	for (size_t i = 0; i < 2; i++) {
		if (strcmp(key, pods[i]) == 0)
			take_pod_name(value, len, container->pod);
		else if (strcmp(key, name_spaces[i]) == 0)
			take_pod_name(value, len, container->name_space);
		else if (strcmp(key, names[i]) == 0)
			take_pod_name(value, len, container->name);
		else if (strcmp(key, uids[i]) == 0)
			take_pod_uid(value, len, container);
	}
	if (strcmp(key, "io.kubernetes.cri.image-name") == 0 ||
	    strcmp(key, "io.kubernetes.cri-o.ImageName") == 0)
		take_image(container, value);
	if (strcmp(key, "nerdctl/name") == 0)
		take_text(value, len, container->name, sizeof(container->name));
}

/* Splits a kubelet's name into its parts. False: the name is not a kubelet's. */
static bool split_kubelet_name(const char *name, const char *parts[KUBELET_PARTS],
			       size_t lens[KUBELET_PARTS])
{
	size_t n = 0;

	if (strncmp(name, "k8s_", 4) != 0)
		return false;
	for (const char *at = name;; at++) {
		const size_t len = strcspn(at, "_");

		if (n == KUBELET_PARTS)
			return false;
		parts[n] = at;
		lens[n++] = len;
		at += len;
		if (!*at)
			break;
	}
	return n == KUBELET_PARTS && container_is_pod_uid(parts[4], lens[4]);
}

/* Takes an engine's name of the container. In a pod the name consists of the pod's names. */
static void take_name(struct container *container, const char *name)
{
	const char *parts[KUBELET_PARTS];
	size_t lens[KUBELET_PARTS];

	name += name[0] == '/';
	if (!split_kubelet_name(name, parts, lens)) {
		take_text(name, strlen(name), container->name, sizeof(container->name));
		return;
	}
	take_pod_name(parts[1], lens[1], container->name);
	take_pod_name(parts[2], lens[2], container->pod);
	take_pod_name(parts[3], lens[3], container->name_space);
	take_pod_uid(parts[4], lens[4], container);
}

static bool is_id(const json_t *value, const struct container *container)
{
	const char *id = json_string_value(value);

	return id && strcmp(id, container_engine_id(container)) == 0;
}

int container_records_docker(const char *text, size_t len, struct container *container)
{
	json_t *record = json_loadb(text, len, 0, NULL), *value;
	json_t *config = json_object_get(record, "Config");
	json_t *labels = json_object_get(config, "Labels");
	const char *name = json_value_text(record, "Name"), *key;
	int err = -EBADMSG;

	if (is_id(json_object_get(record, "ID"), container)) {
		take_image(container, json_string_value(json_object_get(config, "Image")));
		json_object_foreach (labels, key, value) {
			if (!json_is_string(value))
				continue;
			label_set_add(&container->labels, key, json_string_value(value));
			take_kubernetes(container, key, json_string_value(value));
		}
		take_name(container, name);
		err = 0;
	}
	json_decref(record);
	return err;
}

bool container_records_docker_runs(const char *text, size_t len)
{
	json_t *record = json_loadb(text, len, 0, NULL);
	const bool runs = json_value_bool(json_object_get(record, "State"), "Running");

	json_decref(record);
	return runs;
}

/* Takes the names in the metadata of CRI-O and Podman, a text with JSON in it. */
static void take_metadata(struct container *container, const char *text)
{
	json_t *metadata = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(metadata, "metadata-name"));
	const char *name_space = json_string_value(json_object_get(metadata, "namespace"));
	const char *full_name = json_string_value(json_object_get(metadata, "name"));

	take_image(container, json_string_value(json_object_get(metadata, "image-name")));
	if (json_object_get(metadata, "pod-name") && name)
		take_pod_name(name, strlen(name), container->name);
	if (name_space)
		take_pod_name(name_space, strlen(name_space), container->name_space);
	if (full_name)
		take_name(container, full_name);
	json_decref(metadata);
}

int container_records_storage(const char *text, size_t len, struct container *container)
{
	json_t *records = json_loadb(text, len, 0, NULL), *record;
	int err = json_is_array(records) ? -ENOENT : -EBADMSG;
	size_t i;

	json_array_foreach (records, i, record) {
		const char *name, *metadata;

		if (!is_id(json_object_get(record, "id"), container))
			continue;
		name = json_string_value(json_array_get(json_object_get(record, "names"), 0));
		metadata = json_string_value(json_object_get(record, "metadata"));
		if (metadata)
			take_metadata(container, metadata);
		if (name)
			take_name(container, name);
		take_image(container, json_string_value(json_object_get(record, "image")));
		err = 0;
		break;
	}
	json_decref(records);
	return err;
}

int container_records_oci(const char *text, size_t len, struct container *container)
{
	json_t *spec = json_loadb(text, len, 0, NULL), *value;
	json_t *annotations = json_object_get(spec, "annotations");
	const int err = json_is_object(spec) ? 0 : -EBADMSG;
	const char *key;

	json_object_foreach (annotations, key, value) {
		if (!json_is_string(value))
			continue;
		take_kubernetes(container, key, json_string_value(value));
		/* Annotations that engines make for themselves are not labels. */
		if (strncmp(key, "io.kubernetes.", 14) != 0 && strncmp(key, "nerdctl/", 8) != 0 &&
		    strncmp(key, "io.podman.", 10) != 0 && strncmp(key, "io.container.", 13) != 0)
			label_set_add(&container->labels, key, json_string_value(value));
	}
	json_decref(spec);
	return err;
}

int container_records_log_dir(const char *name, struct container *container)
{
	const size_t name_space = strcspn(name, "_");
	const char *pod = name + name_space + (name[name_space] == '_');
	const size_t pod_len = strcspn(pod, "_");
	const char *uid = pod + pod_len + (pod[pod_len] == '_');

	if (!container->pod_uid[0] || strcmp(uid, container->pod_uid) != 0)
		return -ENOENT;
	if (!container_is_pod_name(name, name_space) || !container_is_pod_name(pod, pod_len))
		return -EBADMSG;
	take_pod_name(name, name_space, container->name_space);
	take_pod_name(pod, pod_len, container->pod);
	return 0;
}

int container_records_log_link(const char *name, struct container *container)
{
	static const char suffix[] = ".log";
	const size_t len = strlen(name), id_len = strlen(container->id);
	const size_t tail = id_len + sizeof(suffix) - 1;
	const size_t pod = strcspn(name, "_");
	const char *name_space = name + pod + (name[pod] == '_');
	const size_t name_space_len = strcspn(name_space, "_");
	const char *own = name_space + name_space_len + (name_space[name_space_len] == '_');
	size_t own_len;

	if (id_len == 0 || len <= tail || strcmp(name + len - 4, suffix) != 0 ||
	    memcmp(name + len - tail, container->id, id_len) != 0 || name[len - tail - 1] != '-')
		return -ENOENT;
	if (own > name + len - tail - 1)
		return -EBADMSG;
	own_len = (size_t)(name + len - tail - 1 - own);
	if (!container_is_pod_name(name, pod) ||
	    !container_is_pod_name(name_space, name_space_len) ||
	    !container_is_pod_name(own, own_len))
		return -EBADMSG;
	take_pod_name(name, pod, container->pod);
	take_pod_name(name_space, name_space_len, container->name_space);
	take_pod_name(own, own_len, container->name);
	return 0;
}
