// SPDX-License-Identifier: Apache-2.0
/* The cache of interpreted methods, each read when it is first sampled, see java_methods.h. */
#include "code/java_methods.h"

#include "code/line_table.h"
#include "code/method_reader.h"
#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_NS (JAVA_METHODS_CHECK_NS / 4 * 3)

/* What is known about one address. */
struct entry {
	struct java_method method; /* valid if is_known */
	struct method_places places;
	uint64_t fingerprint;
	uint64_t read_ns, checked_ns; /* times of the samples for which that was done */
	struct entry *older;	      /* a known method that was at the address before, or NULL */
	enum java_methods_reason reason; /* valid if not is_known */
	bool is_known;
	uint8_t lines[];
};

const char *java_methods_reason_name(enum java_methods_reason reason)
{
	static const char *const names[JAVA_METHODS_REASONS] = {
		[JAVA_METHODS_NO_LAYOUT] = "layout not known",
		[JAVA_METHODS_NO_PERMISSION] = "no permission",
		[JAVA_METHODS_NOT_MAPPED] = "not mapped",
		[JAVA_METHODS_NO_METHOD] = "no method there",
		[JAVA_METHODS_PROCESS_GONE] = "process gone",
		[JAVA_METHODS_TOO_MANY] = "too many at once",
		[JAVA_METHODS_NO_MEMORY] = "no memory",
		[JAVA_METHODS_NO_ANSWER] = "no answer in time",
	};

	return reason < JAVA_METHODS_REASONS ? names[reason] : "unknown";
}

static enum java_methods_reason reason_of(int err)
{
	switch (err) {
	case -EPERM:
		return JAVA_METHODS_NO_PERMISSION;
	case -EFAULT:
		return JAVA_METHODS_NOT_MAPPED;
	case -ESRCH:
		return JAVA_METHODS_PROCESS_GONE;
	case -ENOMEM:
		return JAVA_METHODS_NO_MEMORY;
	case -ETIMEDOUT:
		return JAVA_METHODS_NO_ANSWER;
	default:
		return JAVA_METHODS_NO_METHOD;
	}
}

static uint32_t lines_of(const struct entry *entry)
{
	return entry->is_known ? entry->method.lines_len : 0;
}

static size_t bytes_of(const struct entry *entry)
{
	return heap_bytes(sizeof(*entry) + lines_of(entry));
}

size_t java_methods_bytes(const struct java_methods *methods)
{
	return methods->entry_bytes + heap_bytes(map64_bytes(&methods->by_addr));
}

static void free_entry(struct java_methods *methods, struct entry *entry)
{
	while (entry) {
		struct entry *const older = entry->older;

		methods->entry_bytes -= bytes_of(entry);
		methods->lines_bytes -= lines_of(entry);
		free(entry);
		entry = older;
	}
}

void java_methods_clear(struct java_methods *methods)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&methods->by_addr, &pos, &key, &value))
		free_entry(methods, value);
	map64_fini(&methods->by_addr);
}

static bool is_near(uint64_t a_ns, uint64_t b_ns, uint64_t limit_ns)
{
	return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) < limit_ns;
}

/*
 * Whether another method may be read now. Reads are limited, because a process can have any number
 * of addresses looked up.
 */
static bool may_read(struct java_methods *methods, uint64_t now_ns)
{
	if (!is_near(now_ns, methods->window_began_ns, JAVA_METHODS_WINDOW_NS)) {
		methods->window_began_ns = now_ns;
		methods->reads = 0;
	}
	if (methods->reads >= JAVA_METHODS_MAX_READS)
		return false;
	methods->reads++;
	return true;
}

/*
 * HotSpot's own name of a hidden class is Foo$$Lambda+0x00007fa8... JVMTI, from which code has its
 * names, says Foo$$Lambda.0x00007fa8...
 */
static void unmangle(struct method_text *class_name)
{
	for (int i = class_name->len - 3; i >= 0; i--) {
		if (memcmp(class_name->bytes + i, "+0x", 3) == 0) {
			class_name->bytes[i] = '.';
			return;
		}
	}
}

static void set_method(const struct java_methods_source *source, struct entry *entry,
		       struct method_facts *facts)
{
	const char *names[METHOD_ALL_TEXTS];

	unmangle(&facts->texts[METHOD_CLASS]);
	for (size_t i = 0; i < METHOD_ALL_TEXTS; i++)
		names[i] = source->name(source->arg, facts->texts[i].bytes, facts->texts[i].len);
	memcpy(entry->lines, facts->lines, facts->lines_len);
	entry->places = facts->places;
	entry->fingerprint = facts->fingerprint;
	entry->is_known = true;
	entry->method = (struct java_method){
		.class_name = names[METHOD_CLASS],
		.name = names[METHOD_NAME],
		.signature = names[METHOD_SIGNATURE],
		.source_file = names[METHOD_SOURCE_FILE],
		.bytecodes = facts->bytecodes,
		.code_bytes = facts->code_bytes,
		.lines = entry->lines,
		.lines_len = facts->lines_len,
		.lines_are_biased = source->layout->lines_are_biased,
	};
}

/*
 * Makes an entry for the method at addr, or for the reason why no method is known. NULL: there is
 * none to keep, for *ret_reason.
 */
static struct entry *read_entry(const struct java_methods_source *source, uint64_t addr,
				uint64_t now_ns, enum java_methods_reason *ret_reason)
{
	static struct method_facts
		facts; /* used by the model's thread only; too large for the stack */
	struct entry *entry;
	int err;

	err = method_reader_read(source->pid, source->layout, addr, &facts);
	*ret_reason = reason_of(err);
	if (method_reader_may_try_again(err))
		return NULL;
	*ret_reason = JAVA_METHODS_NO_MEMORY;
	entry = calloc(1, sizeof(*entry) + (err ? 0 : facts.lines_len));
	if (!entry)
		return NULL;
	entry->read_ns = entry->checked_ns = now_ns;
	if (err)
		entry->reason = reason_of(err);
	else
		set_method(source, entry, &facts);
	return entry;
}

enum change {
	IS_UNCHANGED,
	IS_CHANGED,
	HAS_NO_ANSWER, /* whether the method has changed is not known */
};

/*
 * Whether the method that was read is still in memory. A process that is gone counts as unchanged.
 */
static enum change find_change(const struct java_methods_source *source, const struct entry *entry)
{
	uint64_t fingerprint = 0;
	int err;

	if (!entry->is_known)
		return IS_CHANGED;
	err = method_reader_fingerprint(source->pid, source->layout, &entry->places, &fingerprint);
	if (method_reader_may_try_again(err))
		return HAS_NO_ANSWER;
	return err == -ESRCH || (!err && fingerprint == entry->fingerprint) ? IS_UNCHANGED
									    : IS_CHANGED;
}

/* What is kept of old, which is replaced: the last known method. */
static struct entry *steal_older(struct java_methods *methods, struct entry *old)
{
	struct entry *kept = old && !old->is_known ? old->older : old;

	if (!old)
		return NULL;
	if (kept == old) {
		free_entry(methods, old->older);
		old->older = NULL;
	} else {
		old->older = NULL;
		free_entry(methods, old);
	}
	return kept;
}

/* Puts entry in the place of old, which may be NULL. Returns entry, or NULL without memory. */
static struct entry *put(struct java_methods *methods, uint64_t addr, struct entry *old,
			 struct entry *entry)
{
	if (old) {
		map64_remove(&methods->by_addr, addr);
		entry->older = steal_older(methods, old);
	}
	methods->lines_bytes += lines_of(entry);
	methods->entry_bytes += bytes_of(entry);
	if (methods->by_addr.count >= JAVA_METHODS_MAX ||
	    methods->lines_bytes > JAVA_METHODS_MAX_LINES)
		java_methods_clear(methods);
	if (map64_put(&methods->by_addr, addr, entry) < 0) {
		free_entry(methods, entry);
		return NULL;
	}
	return entry;
}

/*
 * Whether to check the entry again. Methods that were read at one time would all be due at one
 * time, so one method a sample is checked early. A sample that is named late, after others have
 * come, needs no check: what is at the address now is news of later samples.
 */
static bool is_due(struct java_methods *methods, const struct entry *entry, uint64_t now_ns)
{
	const uint64_t age_ns = now_ns > entry->checked_ns ? now_ns - entry->checked_ns : 0;

	if (age_ns >= (entry->is_known ? JAVA_METHODS_CHECK_NS : JAVA_METHODS_RETRY_NS))
		return true;
	if (!entry->is_known || age_ns < EARLY_NS || methods->early_ns == now_ns ||
	    now_ns < methods->latest_ns)
		return false;
	methods->early_ns = now_ns;
	return true;
}

/* Of what is known of an address, what counts for a sample of the time. */
static const struct entry *at_time(const struct entry *entry, uint64_t now_ns)
{
	const struct entry *const older = entry ? entry->older : NULL;
	uint64_t age_ns;

	if (!older || (entry->is_known && now_ns >= entry->read_ns))
		return entry;
	age_ns = now_ns > older->checked_ns ? now_ns - older->checked_ns : 0;
	if (!entry->is_known) /* as long as a method is believed without a check */
		return age_ns < JAVA_METHODS_CHECK_NS ? older : entry;
	return age_ns <= entry->read_ns - now_ns ? older : entry;
}

/* Returns the entry, or NULL and the reason. */
static const struct entry *find_entry(struct java_methods *methods,
				      const struct java_methods_source *source, uint64_t addr,
				      uint64_t now_ns, enum java_methods_reason *ret_reason)
{
	struct entry *entry = map64_find(&methods->by_addr, addr), *fresh;

	if (now_ns > methods->latest_ns)
		methods->latest_ns = now_ns;
	if (entry && !is_due(methods, entry, now_ns))
		return entry;
	/*
	 * The entries of a process that is gone stay as they are: another process may have the PID.
	 */
	if (source->is_gone || !may_read(methods, now_ns)) {
		*ret_reason = source->is_gone ? JAVA_METHODS_PROCESS_GONE : JAVA_METHODS_TOO_MANY;
		return entry;
	}
	switch (entry ? find_change(source, entry) : IS_CHANGED) {
	case IS_UNCHANGED:
		entry->checked_ns = now_ns;
		return entry;
	case HAS_NO_ANSWER:
		return entry;
	case IS_CHANGED:
		break;
	}
	fresh = read_entry(source, addr, now_ns, ret_reason);
	return fresh ? put(methods, addr, entry, fresh) : NULL;
}

const struct java_method *java_methods_find(struct java_methods *methods,
					    const struct java_methods_source *source, uint64_t addr,
					    uint64_t now_ns, enum java_methods_reason *ret_reason)
{
	const struct entry *const entry =
		at_time(find_entry(methods, source, addr, now_ns, ret_reason), now_ns);

	if (entry && entry->is_known)
		return &entry->method;
	if (entry)
		*ret_reason = entry->reason;
	return NULL;
}

int32_t java_method_bci(const struct java_method *method, uint64_t bcp)
{
	if (bcp < method->bytecodes || bcp - method->bytecodes >= method->code_bytes)
		return -1;
	return (int32_t)(bcp - method->bytecodes);
}

uint32_t java_method_line(const struct java_method *method, int32_t bci)
{
	const struct line_table table = {.bytes = method->lines,
					 .len = method->lines_len,
					 .is_biased = method->lines_are_biased};

	return line_table_find(&table, bci);
}

static void rename_method(struct java_method *method, java_methods_rename_fn fn, void *arg)
{
	const char **const names[] = {&method->class_name, &method->name, &method->signature,
				      &method->source_file};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (*names[i])
			*names[i] = fn(arg, *names[i]);
	}
}

void java_methods_rename(struct java_methods *methods, java_methods_rename_fn fn, void *arg)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (map64_next(&methods->by_addr, &pos, &key, &value)) {
		for (struct entry *entry = value; entry; entry = entry->older)
			rename_method(&entry->method, fn, arg);
	}
}
