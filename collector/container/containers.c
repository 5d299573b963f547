// SPDX-License-Identifier: Apache-2.0
/* The table of containers in which processes run, see containers.h. */
#include "container/containers.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_RETRY_NS (250 * CLOCK_NS_PER_MS)
#define RENEWAL_NS     (60 * CLOCK_NS_PER_SEC)

void containers_init(struct containers *containers, const char *root, const char *mounts_path)
{
	*containers = (struct containers){0};
	if (names_reader_new(root, mounts_path, &containers->reader) < 0)
		containers->reader = NULL;
}

static size_t entry_bytes(const struct container_entry *entry)
{
	return heap_bytes(sizeof(*entry)) + entry->container.labels.texts.total_bytes;
}

size_t containers_bytes(const struct containers *containers)
{
	return containers->bytes + map64_bytes(&containers->entries) +
	       (containers->reader ? names_reader_bytes(containers->reader) : 0);
}

static void entry_free(void *value)
{
	struct container_entry *const entry = value;

	container_fini(&entry->container);
	free(entry);
}

void containers_fini(struct containers *containers)
{
	map64_fini_all(&containers->entries, entry_free);
	names_reader_free(containers->reader);
}

static uint64_t key_of(const char *id)
{
	return hash_seed_bytes(id, strlen(id));
}

static bool is_same(const struct container *a, const struct container *b)
{
	if (strcmp(a->name, b->name) != 0 || strcmp(a->pod, b->pod) != 0 ||
	    strcmp(a->name_space, b->name_space) != 0 || strcmp(a->image, b->image) != 0 ||
	    a->labels.count != b->labels.count)
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

/* is_whole: all records of the container were parsed. */
static void set_next(struct container_entry *entry, bool is_whole, uint64_t now_ns)
{
	const uint64_t retry_ns = FIRST_RETRY_NS << (entry->tries < 8 ? entry->tries : 8);

	if ((is_whole && is_named(&entry->container)) || retry_ns > RENEWAL_NS) {
		entry->tries = is_whole && is_named(&entry->container) ? 0 : entry->tries;
		entry->next_ns = now_ns + RENEWAL_NS;
		return;
	}
	entry->tries++;
	entry->next_ns = now_ns + retry_ns;
}

/* What all entries have of a number's limit, and those of the ID's maker. */
struct container_use {
	size_t count, bytes;
};

/* The entries with IDs of the same maker: the host's root makes each ID its own. */
static struct container_use use_of_maker(const struct containers *containers, const char *id)
{
	const size_t len = container_owner_len(id);
	struct container_use use = {0};
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&containers->entries, &pos, &key, &value)) {
		const struct container_entry *const entry = value;

		if (strncmp(entry->container.id, id, len) != 0 ||
		    container_owner_len(entry->container.id) != len)
			continue;
		use.count++;
		use.bytes += entry_bytes(entry);
	}
	return use;
}

static bool has_maker(const char *id)
{
	return id[container_owner_len(id)] != '\0';
}

/* Whether so many bytes more are too many, for all or for the container's maker. */
static bool is_too_much(const struct containers *containers, const char *id, size_t more)
{
	const size_t max = containers->max_bytes;

	if (max == 0)
		return false;
	if (containers->bytes + more > max)
		return true;
	return has_maker(id) && containers->bytes + more > max / CONTAINERS_SHARE &&
	       use_of_maker(containers, id).bytes + more > max / CONTAINERS_SHARE;
}

static void leave_out(struct label_set *labels)
{
	const uint64_t left_out = labels->left_out + labels->count;

	label_set_fini(labels);
	labels->left_out = left_out;
}

/* Leaves the labels out if there is no room for them. */
static void fit(const struct containers *containers, const struct container_entry *entry,
		struct container *found)
{
	const size_t had = entry->container.labels.texts.total_bytes;
	const size_t wanted = found->labels.texts.total_bytes;

	if (containers->max_bytes == 0 || wanted == 0)
		return;
	if (containers->label_bytes - had + wanted > containers->max_bytes / 2 ||
	    is_too_much(containers, found->id, wanted > had ? wanted - had : 0))
		leave_out(&found->labels);
}

/* What an entry has comes to the sums. */
static void charge(struct containers *containers, const struct container_entry *entry)
{
	containers->bytes += entry_bytes(entry);
	containers->label_bytes += entry->container.labels.texts.total_bytes;
}

static void discharge(struct containers *containers, const struct container_entry *entry)
{
	containers->bytes -= entry_bytes(entry);
	containers->label_bytes -= entry->container.labels.texts.total_bytes;
}

/* The entry's question is not out any more. */
static void set_answered(struct containers *containers, struct container_entry *entry)
{
	containers->unanswered -= entry->asked && !entry->is_answered;
	entry->asked = 0;
	entry->is_answered = true;
}

/*
 * Takes what was found of the entry's container. If no name is found any more, or if there is a
 * record that could not be parsed, the known facts stay.
 */
static void apply(struct containers *containers, struct container_entry *entry,
		  struct names_answer *answer, uint64_t now_ns)
{
	struct container *const found = &answer->container;

	fit(containers, entry, found);
	set_answered(containers, entry);
	if (is_same(found, &entry->container) ||
	    ((!answer->is_whole || !found->name[0]) && entry->container.name[0])) {
		container_fini(found);
		set_next(entry, answer->is_whole, now_ns);
		return;
	}
	discharge(containers, entry);
	container_fini(&entry->container);
	entry->container = *found;
	charge(containers, entry);
	entry->version++;
	containers->changes++;
	set_next(entry, answer->is_whole, now_ns);
}

/* An answer to a question of an entry that has been removed since is of no use. */
void containers_take(struct containers *containers, uint64_t now_ns)
{
	struct names_answer answer;

	while (containers->reader && names_reader_take(containers->reader, &answer)) {
		struct container_entry *const entry =
			map64_find(&containers->entries, key_of(answer.container.id));

		if (entry && entry->asked == answer.number)
			apply(containers, entry, &answer, now_ns);
		else
			container_fini(&answer.container);
	}
}

/* Has the entry read again. If that cannot be, it is tried later. */
static void ask(struct containers *containers, struct container_entry *entry, uint64_t now_ns)
{
	if (entry->asked)
		return;
	containers->reads++;
	if (!containers->reader ||
	    names_reader_ask(containers->reader, &entry->container, &entry->asked) < 0) {
		set_next(entry, false, now_ns);
		return;
	}
	containers->unanswered += !entry->is_answered;
}

/* ---- waits ---- */

void containers_begin_turn(struct containers *containers)
{
	containers->has_turns = true;
	containers->waited_ns = 0;
}

static uint64_t left_of_turn(const struct containers *containers)
{
	if (!containers->has_turns)
		return CONTAINERS_WAIT_NS;
	return containers->waited_ns < CONTAINERS_TURN_NS
		       ? CONTAINERS_TURN_NS - containers->waited_ns
		       : 0;
}

/* Waits until the entry has its answer, and notes the time as that of the turn. */
static void await(struct containers *containers, const struct container_entry *entry,
		  uint64_t now_ns)
{
	const bool is_roots = entry->container.namer == CONTAINER_NAMED_BY_ROOT;
	const uint64_t left_ns = left_of_turn(containers), began_ns = clock_now_ns();
	uint64_t wait_ns = left_ns < CONTAINERS_WAIT_NS ? left_ns : CONTAINERS_WAIT_NS, took_ns = 0;

	containers_take(containers, now_ns);
	if (!is_roots && began_ns < containers->pause_until_ns)
		wait_ns = 0;
	while (entry->asked && took_ns < wait_ns) {
		names_reader_wait(containers->reader, wait_ns - took_ns);
		containers_take(containers, now_ns);
		took_ns = clock_now_ns() - began_ns;
	}
	containers->waited_ns += took_ns < wait_ns ? took_ns : wait_ns;
	if (entry->asked && !is_roots && wait_ns > 0)
		containers->pause_until_ns = began_ns + CONTAINERS_PAUSE_NS;
}

bool containers_settle(struct containers *containers, uint64_t now_ns, uint64_t for_ns)
{
	const uint64_t wait_ns = for_ns ? for_ns : left_of_turn(containers);
	const uint64_t began_ns = clock_now_ns();
	uint64_t took_ns = 0;

	containers_take(containers, now_ns);
	while (containers->unanswered > 0 && took_ns < wait_ns) {
		names_reader_wait(containers->reader, wait_ns - took_ns);
		containers_take(containers, now_ns);
		took_ns = clock_now_ns() - began_ns;
	}
	containers->waited_ns += took_ns < wait_ns ? took_ns : wait_ns;
	return containers->unanswered == 0;
}

int containers_find_stopped(struct containers *containers, const char *name, uint64_t for_ns,
			    struct container *ret)
{
	const uint64_t wait_ns = for_ns ? for_ns : left_of_turn(containers);
	const uint64_t began_ns = clock_now_ns();
	uint64_t took_ns;
	int err;

	if (!containers->reader)
		return -ENOENT;
	err = names_reader_find_stopped(containers->reader, name, wait_ns, ret);
	took_ns = clock_now_ns() - began_ns;
	containers->waited_ns += took_ns < wait_ns ? took_ns : wait_ns;
	return err;
}

bool containers_are_asked(const struct containers *containers)
{
	return containers->unanswered > 0 ||
	       (containers->reader && names_reader_is_searching(containers->reader));
}

int containers_fd(const struct containers *containers)
{
	return containers->reader ? names_reader_fd(containers->reader) : -1;
}

/* ---- room ---- */

/* Removes an entry that no process uses. False: there is none. */
static bool drop_unused(struct containers *containers)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&containers->entries, &pos, &key, &value)) {
		struct container_entry *entry = value;

		if (entry->users > 0)
			continue;
		map64_remove(&containers->entries, key);
		set_answered(containers, entry);
		discharge(containers, entry);
		entry_free(entry);
		return true;
	}
	return false;
}

static bool is_full(const struct containers *containers, const char *id)
{
	return containers->entries.count >= CONTAINERS_MAX ||
	       is_too_much(containers, id, heap_bytes(sizeof(struct container_entry)));
}

/* Whether there is room for an entry, of all and of what the ID's maker may have. */
static bool has_room(struct containers *containers, const char *id)
{
	const size_t share = CONTAINERS_MAX / CONTAINERS_SHARE;

	while (is_full(containers, id) && drop_unused(containers))
		;
	return !is_full(containers, id) && (!has_maker(id) || containers->entries.count < share ||
					    use_of_maker(containers, id).count < share);
}

static struct container_entry *add(struct containers *containers, struct container *container)
{
	struct container_entry *entry;

	if (!has_room(containers, container->id))
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->container = *container;
	if (map64_put(&containers->entries, key_of(container->id), entry) == 0) {
		charge(containers, entry);
		return entry;
	}
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

struct container_entry *containers_hold_as(struct containers *containers,
					   struct container *container, uint64_t now_ns)
{
	struct container_entry *entry = map64_find(&containers->entries, key_of(container->id));
	const bool is_new = !entry;

	if (is_new) {
		entry = add(containers, container);
		if (!entry) {
			containers->refused++;
			return NULL;
		}
		say_unchecked(containers, &entry->container);
	}
	/* An entry is not read while it is unused. */
	if (is_new || (entry->users == 0 && entry->next_ns <= now_ns)) {
		ask(containers, entry, now_ns);
		await(containers, entry, now_ns);
	}
	entry->users++;
	return entry;
}

struct container_entry *containers_hold(struct containers *containers, pid_t pid, uint64_t now_ns)
{
	struct container container;

	return container_read(pid, &container) < 0
		       ? NULL
		       : containers_hold_as(containers, &container, now_ns);
}

void containers_release(struct containers *containers, struct container_entry *entry)
{
	(void)containers; /* the entry stays for the next process until its room is needed */
	if (entry)
		entry->users--;
}

/* After the limit was lowered: unused entries go, then labels, a few in each turn. */
static void shrink(struct containers *containers)
{
	const size_t max = containers->max_bytes;
	size_t pos = 0;
	uint64_t key;
	void *value;

	for (unsigned i = 0; i < CONTAINERS_READS_A_TURN && containers->bytes > max; i++) {
		if (!drop_unused(containers))
			break;
	}
	while (containers->label_bytes > max / 2 &&
	       map64_next(&containers->entries, &pos, &key, &value)) {
		struct container_entry *const entry = value;

		if (entry->container.labels.count == 0)
			continue;
		discharge(containers, entry);
		leave_out(&entry->container.labels);
		charge(containers, entry);
		entry->version++;
		containers->changes++;
	}
}

void containers_step(struct containers *containers, uint64_t now_ns)
{
	unsigned left = CONTAINERS_READS_A_TURN;
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (containers->max_bytes)
		shrink(containers);
	while (left > 0 && map64_next(&containers->entries, &pos, &key, &value)) {
		struct container_entry *entry = value;

		if (entry->users == 0 || entry->next_ns > now_ns || entry->asked)
			continue;
		ask(containers, entry, now_ns);
		left--;
	}
	containers_take(containers, now_ns);
}

void containers_stats(const struct containers *containers, struct containers_stats *ret)
{
	struct names_stats names = {0};
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (containers->reader)
		names_reader_stats(containers->reader, &names);
	*ret = (struct containers_stats){
		.files_read = names.reads,
		.broken = names.broken,
		.unlisted = names.unlisted,
		.untrusted = names.untrusted,
		.engines_left_out = names.engines_left_out,
		.refused = containers->refused,
		.lost = names.lost,
		.delayed = names.delayed,
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

static const struct counter counters[] = {
	COUNTER_GAUGE(struct containers_stats, known, "containers.known", "containers",
		      "Containers that are known."),
	COUNTER_GAUGE(struct containers_stats, unnamed, "containers.unnamed", "containers_unnamed",
		      "Of these, those of which no name is known."),
	COUNTER_GAUGE(struct containers_stats, unchecked, "containers.unchecked",
		      "containers_unchecked",
		      "Of these, those of which it cannot be said whose word their ID is."),
	COUNTER_SUM(struct containers_stats, files_read, "containers.files_read",
		    "container_files_read_total", "Files that were read for names of containers."),
	COUNTER_SUM(struct containers_stats, broken, "containers.broken_files",
		    "container_files_broken_total", "Of these, those that made no sense."),
	COUNTER_SUM(struct containers_stats, unlisted, "containers.unlisted",
		    "container_directories_unlisted_total",
		    "Directories too large to be read to their end."),
	COUNTER_SUM(
		struct containers_stats, untrusted, "containers.untrusted",
		"container_files_untrusted_total",
		"Files and directories for names of containers that others than root may write."),
	COUNTER_SUM(
		struct containers_stats, engines_left_out, "containers.engines_left_out",
		"container_engines_left_out_total",
		"Directories of container engines for which there was no room, in each search."),
	COUNTER_SUM(struct containers_stats, refused, "containers.refused",
		    "containers_refused_total",
		    "Processes of containers for which there was no room."),
	COUNTER_SUM(struct containers_stats, labels_left_out, "containers.labels_left_out",
		    "container_labels_left_out_total",
		    "Labels past the most of a container or a process, or too long."),
	COUNTER_SUM(struct containers_stats, lost, "containers.lost_records",
		    "container_records_lost_total",
		    "Records of container engines whose parser has died, lied or taken too long."),
	COUNTER_SUM(struct containers_stats, delayed, "containers.delayed_records",
		    "container_records_delayed_total",
		    "Records of container engines that no parser could read yet."),
};

const struct counters containers_counters = COUNTERS(struct containers_stats, counters);
