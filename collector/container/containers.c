// SPDX-License-Identifier: Apache-2.0
/* The table of containers in which processes run, see containers.h. */
#include "container/containers.h"

#include "base/clock.h"
#include "base/hash_seed.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_RETRY_NS (250 * CLOCK_NS_PER_MS)
#define RENEWAL_NS     (60 * CLOCK_NS_PER_SEC)

void containers_init(struct containers *containers, const char *root, const char *mounts_path)
{
	*containers = (struct containers){0};
	container_names_init(&containers->names, root, mounts_path);
}

static void entry_free(struct container_entry *entry)
{
	container_fini(&entry->container);
	free(entry);
}

void containers_fini(struct containers *containers)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&containers->entries, &pos, &key, &value))
		entry_free(value);
	map64_fini(&containers->entries);
	container_names_fini(&containers->names);
}

static uint64_t key_of(const char *id)
{
	return hash_seed_bytes(id, strlen(id));
}

static bool is_same(const struct container *a, const struct container *b)
{
	if (strcmp(a->name, b->name) != 0 || strcmp(a->pod, b->pod) != 0 ||
	    strcmp(a->name_space, b->name_space) != 0 || a->labels.count != b->labels.count)
		return false;
	for (size_t i = 0; i < a->labels.count; i++) {
		const char *value = label_set_find(&b->labels, a->labels.labels[i].key);

		if (!value || strcmp(value, a->labels.labels[i].value) != 0)
			return false;
	}
	return true;
}

static bool is_named(const struct container *container)
{
	return container->name[0] && (!container->pod_uid[0] || container->pod[0]);
}

static void set_next(struct container_entry *entry, uint64_t now_ns)
{
	const uint64_t retry_ns = FIRST_RETRY_NS << (entry->tries < 8 ? entry->tries : 8);

	if (is_named(&entry->container) || retry_ns > RENEWAL_NS) {
		entry->next_ns = now_ns + RENEWAL_NS;
		return;
	}
	entry->tries++;
	entry->next_ns = now_ns + retry_ns;
}

/* Reads the entry again. If no name is found any more, the known facts stay. */
static void read_entry(struct containers *containers, struct container_entry *entry,
		       uint64_t now_ns)
{
	struct container found = {.namer = entry->container.namer, .user = entry->container.user};

	containers->reads++;
	strcpy(found.id, entry->container.id);
	strcpy(found.pod_uid, entry->container.pod_uid);
	container_names_read(&containers->names, &found);
	if (is_same(&found, &entry->container) || (!found.name[0] && entry->container.name[0])) {
		container_fini(&found);
		set_next(entry, now_ns);
		return;
	}
	container_fini(&entry->container);
	entry->container = found;
	entry->version++;
	set_next(entry, now_ns);
}

/* Removes an entry that no process uses. */
static void drop_unused(struct containers *containers)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&containers->entries, &pos, &key, &value)) {
		struct container_entry *entry = value;

		if (entry->users > 0)
			continue;
		map64_remove(&containers->entries, key);
		entry_free(entry);
		return;
	}
}

static struct container_entry *add(struct containers *containers, struct container *container)
{
	struct container_entry *entry;

	if (containers->entries.count >= CONTAINERS_MAX)
		drop_unused(containers);
	if (containers->entries.count >= CONTAINERS_MAX)
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->container = *container;
	if (map64_put(&containers->entries, key_of(container->id), entry) == 0)
		return entry;
	free(entry);
	return NULL;
}

static void say_unchecked(struct containers *containers, const struct container *container)
{
	if (container->namer != CONTAINER_NAMED_BY_ANYONE || containers->is_unchecked_said)
		return;
	containers->is_unchecked_said = true;
	log_warning("container %s is not checked and has no name: the host's cgroup file system "
		    "cannot be seen: mount it, or in a container grant CAP_SYS_PTRACE",
		    container->id);
}

struct container_entry *containers_hold(struct containers *containers, pid_t pid, uint64_t now_ns)
{
	struct container container;
	struct container_entry *entry;

	if (container_read(pid, &container) < 0)
		return NULL;
	entry = map64_find(&containers->entries, key_of(container.id));
	if (!entry) {
		entry = add(containers, &container);
		if (!entry) {
			containers->refused++;
			return NULL;
		}
		say_unchecked(containers, &entry->container);
		read_entry(containers, entry, now_ns);
	} else if (entry->users == 0 && entry->next_ns <= now_ns) {
		/* The entry was not read again while unused. */
		read_entry(containers, entry, now_ns);
	}
	entry->users++;
	return entry;
}

void containers_release(struct containers *containers, struct container_entry *entry)
{
	(void)containers; /* the entry stays for the next process until its room is needed */
	if (entry)
		entry->users--;
}

void containers_step(struct containers *containers, uint64_t now_ns)
{
	unsigned left = CONTAINERS_READS_A_TURN;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (left > 0 && map64_next(&containers->entries, &pos, &key, &value)) {
		struct container_entry *entry = value;

		if (entry->users == 0 || entry->next_ns > now_ns)
			continue;
		read_entry(containers, entry, now_ns);
		left--;
	}
}

void containers_stats(const struct containers *containers, struct containers_stats *ret)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	*ret = (struct containers_stats){
		.files_read = containers->names.reads,
		.broken = containers->names.broken,
		.unlisted = containers->names.unlisted,
		.untrusted = containers->names.untrusted,
		.engines_left_out = containers->names.engines_left_out,
		.refused = containers->refused,
	};
	while (map64_next(&containers->entries, &pos, &key, &value)) {
		const struct container_entry *entry = value;

		ret->known += entry->users > 0;
		ret->unchecked +=
			entry->users > 0 && entry->container.namer == CONTAINER_NAMED_BY_ANYONE;
		ret->unnamed += entry->users > 0 && !is_named(&entry->container);
		ret->labels_left_out += entry->container.labels.left_out;
	}
}
