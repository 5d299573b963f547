// SPDX-License-Identifier: Apache-2.0
/*
 * Reads what render/fgrec.c writes, one record at a time, see profile/recording_format.h. Numbers
 * in a record refer to earlier records; each number is checked before it is used. Stacks, threads
 * and times are added by the functions that a recording uses, so that their limits hold.
 *
 * One file, because all records share the tables of numbers that earlier records made.
 */
#include "import/recording_reader.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "import/decompressor.h"
#include "import/import_limits.h"
#include "profile/recording_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS_BYTES 128u /* bytes of a record that are looked at; nine varints take 90 */
#define MAX_FIELDS	 9
#define MAX_BUCKET_NS	 (UINT64_MAX / TIMELINE_MAX_BUCKETS / 2)
#define VERSION_BYTES	 (sizeof(RECORDING_FORMAT_MAGIC RECORDING_FORMAT_VERSION) - 1)

struct kept_text {
	const char *text;     /* owned by the profile */
	const char *build_id; /* of a module, owned by the profile; or NULL */
	enum frame_kind kind;
};

/* The node of the profile that a node of the file became. */
struct place {
	uint32_t id;
	uint32_t depth : 31;
	uint32_t is_cut : 1; /* id is an [overflow] node */
};

/* Items that are numbered in the order in which they are read. */
struct table {
	void *items;
	uint32_t count, size;
};

struct recording_reader {
	struct decompressor zip;
	struct import_target *target;
	struct profile *owner; /* of all texts: the target's profile when reading began */
	/* Where facts go: before the first kind into common, then to the kind's own. */
	struct import_recording *recording; /* or NULL */
	struct profile_quality *quality;
	struct import_recording common; /* without a timeline */
	struct profile_quality common_quality;
	struct profile_kind kinds[PROFILE_MAX_KINDS]; /* those that have begun */
	size_t n_kinds;
	bool is_skipped;	/* the kind that has begun is not wanted */
	bool is_timed;		/* of the kind that has begun, only facts and times are wanted */
	struct table texts;	/* struct kept_text */
	struct table nodes;	/* struct place */
	struct table processes; /* uint32_t: numbers in the timeline */
	struct table threads;	/* uint32_t: numbers in the timeline */
	uint64_t text_bytes;
	uint64_t all_nodes; /* of all kinds */
	uint64_t work; /* frames of all stacks; a frame counts once for each stack that has it */
	uint64_t records;
	uint64_t bucket;
	uint64_t bucket_ns; /* the file's bucket length; the timeline's may grow */
	uint64_t fields[MAX_FIELDS];
	bool is_ended;
	int err;
	const char *reason;
	char text[RECORDING_MAX_TEXT];
};

static bool fail(struct recording_reader *reader, int err, const char *reason)
{
	if (!reader->err) {
		reader->err = err;
		reader->reason = reason;
	}
	return false;
}

static bool out_of_memory(struct recording_reader *reader)
{
	return fail(reader, -ENOMEM, "out of memory");
}

static bool take(struct recording_reader *reader, void *to, uint64_t len)
{
	if (decompressor_take(&reader->zip, to, len))
		return true;
	if (reader->zip.err == -EFBIG)
		return fail(reader, -EFBIG,
			    "more than 2 GiB when unpacked, or packed in a way that takes more "
			    "than 16 MiB of memory");
	if (reader->zip.err == -ENOMEM)
		return out_of_memory(reader);
	return fail(reader, reader->zip.err, "this recording is cut or damaged");
}

static bool take_varint(struct recording_reader *reader, uint64_t *ret)
{
	unsigned char byte = 0x80;

	*ret = 0;
	for (unsigned shift = 0; byte & 0x80; shift += 7) {
		if (shift > 63)
			return fail(reader, -EINVAL, "this recording is damaged: a number is none");
		if (!take(reader, &byte, 1))
			return false;
		*ret |= (uint64_t)(byte & 0x7f) << shift;
	}
	return true;
}

/*
 * Reads the first varints of a record of len bytes, at least so many and at most so many, and skips
 * the rest of the record. Varints that are not there are 0.
 */
static bool take_some_fields(struct recording_reader *reader, uint64_t len, size_t least,
			     size_t most)
{
	unsigned char bytes[MAX_FIELDS_BYTES];
	const size_t looked = len < sizeof(bytes) ? (size_t)len : sizeof(bytes);
	size_t at = 0;

	if (!take(reader, bytes, looked) || !take(reader, NULL, len - looked))
		return false;
	for (size_t i = 0; i < most; i++) {
		bool is_whole = i >= least && at == looked;
		uint64_t value = 0;

		for (unsigned shift = 0; at < looked && shift <= 63 && !is_whole; shift += 7) {
			value |= (uint64_t)(bytes[at] & 0x7f) << shift;
			is_whole = !(bytes[at++] & 0x80);
		}
		if (!is_whole)
			return fail(reader, -EINVAL, "this recording is damaged: a record is cut");
		reader->fields[i] = value;
	}
	return true;
}

static bool take_fields(struct recording_reader *reader, uint64_t len, size_t n)
{
	return take_some_fields(reader, len, n, n);
}

/* Returns room for one more item, which the caller fills. */
static void *append(struct recording_reader *reader, struct table *table, size_t item_bytes)
{
	if (array_reserve_u32(&table->items, &table->size, table->count + 1, item_bytes) < 0) {
		out_of_memory(reader);
		return NULL;
	}
	return (char *)table->items + table->count++ * item_bytes;
}

static bool text_at(struct recording_reader *reader, uint64_t number, struct kept_text *ret)
{
	*ret = (struct kept_text){.kind = FRAME_KINDS};
	if (number > reader->texts.count)
		return fail(reader, -EINVAL, "this recording is damaged: a text is not there");
	if (number > 0)
		*ret = ((const struct kept_text *)reader->texts.items)[number - 1];
	return true;
}

static bool read_text(struct recording_reader *reader, uint64_t len)
{
	struct kept_text *text;
	const char *kept;

	if (len > sizeof(reader->text))
		return fail(reader, -EFBIG, "a name is longer than 65,536 bytes");
	if (!take(reader, reader->text, len))
		return false;
	reader->text_bytes += len + sizeof(*text);
	if (reader->text_bytes > IMPORT_MAX_NAMES_BYTES)
		return fail(reader, -EFBIG, "its names take more than 1 GiB");
	if (len == 0 || memchr(reader->text, '\0', len))
		return fail(reader, -EINVAL, "this recording is damaged: a text is none");
	kept = intern_add(&reader->owner->names, reader->text, len);
	text = append(reader, &reader->texts, sizeof(*text));
	if (!kept || !text)
		return out_of_memory(reader);
	*text = (struct kept_text){.text = kept, .kind = frame_kind_of_word(kept)};
	return true;
}

static bool read_build(struct recording_reader *reader, uint64_t len)
{
	struct kept_text module, build_id;

	if (!take_fields(reader, len, 2) || !text_at(reader, reader->fields[0], &module) ||
	    !text_at(reader, reader->fields[1], &build_id))
		return false;
	if (!module.text)
		return fail(reader, -EINVAL, "this recording is damaged: a build is of nothing");
	((struct kept_text *)reader->texts.items)[reader->fields[0] - 1].build_id = build_id.text;
	return true;
}

/* ---- kinds ---- */

/* Adds what facts before the first kind say of quality, and takes over the facts of all kinds. */
static void take_common(struct recording_reader *reader)
{
	struct import_recording *const to = reader->target->recording;

	reader->recording = to;
	reader->quality = &reader->target->profile->quality;
	profile_add_quality(reader->quality, &reader->common_quality);
	if (!to)
		return;
	to->info = reader->common.info;
	to->title = reader->common.title;
	to->subtitle = reader->common.subtitle;
	to->notes = reader->common.notes;
	to->count_name = reader->common.count_name;
}

/* Ends the kind that was read, before another begins. */
static void finish_kind(struct recording_reader *reader)
{
	struct import_recording *const recording = reader->recording;

	if (!recording || reader->n_kinds == 0 || reader->is_skipped)
		return;
	timeline_sort(&recording->timeline);
	recording->info.quality = *reader->quality;
	recording->is_read = true;
}

/* What comes behind is of this kind. Its nodes, processes and threads are numbered from 0. */
static bool begin_kind(struct recording_reader *reader, const struct profile_kind *kind)
{
	int rc = reader->n_kinds > 0;

	for (size_t i = 0; i < reader->n_kinds; i++)
		if (strcmp(reader->kinds[i].name, kind->name) == 0)
			return fail(reader, -EINVAL,
				    "this recording is damaged: a kind is there twice");
	if (reader->n_kinds == PROFILE_MAX_KINDS)
		return fail(reader, -EFBIG, "more than 8 kinds of samples");
	finish_kind(reader);
	reader->kinds[reader->n_kinds++] = *kind;
	reader->nodes.count = reader->processes.count = reader->threads.count = 0;
	reader->bucket = 0;
	reader->bucket_ns = TIMELINE_BUCKET_NS;
	if (reader->target->open)
		rc = reader->target->open(reader->target, kind);
	if (rc < 0)
		return out_of_memory(reader);
	reader->is_skipped = rc == IMPORT_NOTHING_OF;
	reader->is_timed = rc == IMPORT_TIMES_OF;
	if (!reader->is_skipped)
		take_common(reader);
	return true;
}

/* A file without KIND is of samples of processor time. */
static bool begin_any(struct recording_reader *reader)
{
	return reader->n_kinds > 0 || begin_kind(reader, &profile_kind_cpu);
}

static bool read_kind(struct recording_reader *reader, uint64_t len)
{
	struct kept_text name, unit;

	if (!take_fields(reader, len, 2) || !text_at(reader, reader->fields[0], &name) ||
	    !text_at(reader, reader->fields[1], &unit))
		return false;
	if (!name.text || !unit.text || strlen(name.text) >= PROFILE_KIND_BYTES ||
	    strlen(unit.text) >= PROFILE_KIND_BYTES)
		return fail(
			reader, -EINVAL,
			"this recording is damaged: a kind has no name or no unit, or a long one");
	return begin_kind(reader, &(struct profile_kind){name.text, unit.text});
}

/* ---- facts ---- */

/* Facts of a timeline, and so of a kind. */
static bool is_of_times(const char *key)
{
	return strcmp(key, "bucket_ns") == 0 || strcmp(key, RECORDING_UNTIMED) == 0 ||
	       strcmp(key, RECORDING_LOST_NAMES) == 0;
}

static void read_quality(struct recording_reader *reader, const char *key, uint64_t number)
{
	struct profile_quality *const quality = reader->quality;
	const struct {
		const char *key;
		uint64_t *count;
	} counts[] = {
		{RECORDING_UNNAMED, &quality->unnamed_samples},
		{RECORDING_UNNAMED_JAVA, &quality->unnamed_java_samples},
		{RECORDING_UNROOTED, &quality->unrooted_samples},
		{RECORDING_HEAPLESS, &quality->heapless_samples},
		{RECORDING_LOST, &quality->lost_samples},
		{RECORDING_STACKLESS, &quality->stackless_samples},
		{RECORDING_OVERFLOW, &quality->overflow_samples},
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (strcmp(counts[i].key, key) == 0 && number <= UINT64_MAX - *counts[i].count)
			*counts[i].count += number;
}

static void read_reason(struct recording_reader *reader, const char *reason, uint64_t number)
{
	struct profile_info *const info = &reader->recording->info;

	for (size_t i = 0; i < PROFILE_REASONS; i++) {
		if (info->reasons[i])
			continue;
		info->reasons[i] = reason;
		reader->quality->truncated_samples[i] = number;
		return;
	}
}

static void read_words(struct import_recording *recording, const char *key, const char *text)
{
	const struct {
		const char *key;
		const char **text;
	} words[] = {
		{"boot_id", &recording->info.boot_id},	{"host", &recording->info.host},
		{"kernel", &recording->info.kernel},	{"event", &recording->info.event},
		{"program", &recording->info.program},	{"title", &recording->title},
		{"subtitle", &recording->subtitle},	{"notes", &recording->notes},
		{"count_name", &recording->count_name},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].key, key) == 0)
			*words[i].text = text;
}

/*
 * The timeline takes over the bucket length, because entries of other buckets would be counted
 * wrongly.
 */
static bool read_bucket(struct recording_reader *reader, struct timeline *timeline, uint64_t ns)
{
	for (uint64_t bucket = TIMELINE_BUCKET_NS; bucket <= MAX_BUCKET_NS; bucket *= 2) {
		if (bucket != ns || timeline->n_entries > 0)
			continue;
		timeline->bucket_ns = ns;
		reader->bucket_ns = ns;
		return true;
	}
	return fail(reader, -EINVAL, "this recording is damaged: its times are of no known length");
}

static bool read_numbers(struct recording_reader *reader, const char *key, uint64_t number)
{
	struct import_recording *const recording = reader->recording;
	struct profile_info *const info = &recording->info;

	if (strcmp(key, "hz") == 0)
		info->hz = number <= UINT32_MAX ? (unsigned)number : 0;
	else if (strcmp(key, "start_unix_ns") == 0)
		info->start_unix_ns = number;
	else if (strcmp(key, "duration_ns") == 0)
		info->duration_ns = number;
	else if (strcmp(key, RECORDING_UNTIMED) == 0)
		recording->timeline.lost_samples += number;
	else if (strcmp(key, RECORDING_LOST_NAMES) == 0)
		recording->timeline.lost_names += number;
	else if (strcmp(key, "bucket_ns") == 0)
		return read_bucket(reader, &recording->timeline, number);
	return true;
}

static bool read_fact(struct recording_reader *reader, uint64_t len)
{
	struct kept_text key, text;

	if (!take_fields(reader, len, 3) || !text_at(reader, reader->fields[0], &key) ||
	    !text_at(reader, reader->fields[1], &text))
		return false;
	if (!key.text)
		return fail(reader, -EINVAL, "this recording is damaged: a fact has no key");
	if (is_of_times(key.text) && !begin_any(reader))
		return false;
	if (reader->is_skipped)
		return true;
	read_quality(reader, key.text, reader->fields[2]);
	if (!reader->recording)
		return true;
	if (text.text && strcmp(key.text, RECORDING_TRUNCATED) == 0)
		read_reason(reader, text.text, reader->fields[2]);
	if (text.text)
		read_words(reader->recording, key.text, text.text);
	return read_numbers(reader, key.text, reader->fields[2]);
}

/* ---- the tree ---- */

static bool name_node(struct recording_reader *reader, struct profile_name *ret)
{
	struct kept_text name, kind, module, file;
	struct frame frame;

	if (!text_at(reader, reader->fields[1], &name) ||
	    !text_at(reader, reader->fields[2], &kind) ||
	    !text_at(reader, reader->fields[3], &module) ||
	    !text_at(reader, reader->fields[4], &file))
		return false;
	frame = (struct frame){
		.name = name.text ? name.text : "",
		.module = module.text,
		.file = file.text,
		.line = reader->fields[5] <= PROFILE_MAX_LINE ? (uint32_t)reader->fields[5] : 0,
		.kind = kind.kind < FRAME_KINDS ? kind.kind : FRAME_NATIVE,
		.build_id = module.build_id,
	};
	return profile_keep_name(reader->target->profile, &frame, ret) == 0 ||
	       out_of_memory(reader);
}

static bool enter_node(struct recording_reader *reader, const struct place *parent,
		       struct place *ret)
{
	struct profile_name name;
	int rc;

	*ret = *parent;
	if (ret->is_cut)
		return true;
	if (parent->depth == RECORDING_MAX_DEPTH)
		return fail(reader, -EFBIG, "a stack of more than 131,072 frames");
	if (!name_node(reader, &name))
		return false;
	rc = profile_descend(reader->target->profile, &name, &ret->id);
	if (rc < 0)
		return out_of_memory(reader);
	ret->is_cut = rc == 1;
	ret->depth++;
	return true;
}

static bool read_node(struct recording_reader *reader, uint64_t len)
{
	struct profile *const profile = reader->target->profile;
	struct place place = {.id = PROFILE_ROOT};
	struct place *kept;

	if (!take_fields(reader, len, 7))
		return false;
	if (reader->all_nodes++ == IMPORT_MAX_NODES)
		return fail(reader, -EFBIG, "more than 16 million frames");
	if (reader->nodes.count > 0 && reader->fields[0] - 1 >= reader->nodes.count)
		return fail(reader, -EINVAL, "this recording is damaged: a caller is not there");
	if (reader->nodes.count > 0) {
		const struct place *const places = reader->nodes.items;
		const struct place parent = places[reader->nodes.count - reader->fields[0]];

		if (!enter_node(reader, &parent, &place))
			return false;
	}
	kept = append(reader, &reader->nodes, sizeof(*kept));
	if (!kept)
		return false;
	*kept = place;
	if (profile_count(profile, place.id, reader->fields[6]) < 0)
		return fail(reader, -EOVERFLOW, "all samples together are more than 2^64");
	if (place.is_cut)
		profile->quality.overflow_samples += reader->fields[6];
	if (reader->fields[6] == 0)
		return true;
	reader->target->report.stacks++;
	reader->work += place.depth;
	return reader->work <= RECORDING_MAX_WORK ||
	       fail(reader, -EFBIG, "its stacks together have more than 2^32 frames");
}

/* ---- times ---- */

static bool number_fits(struct recording_reader *reader, uint64_t number, uint64_t most)
{
	return number <= most ||
	       fail(reader, -EINVAL, "this recording is damaged: a number is too large");
}

static bool keep_number(struct recording_reader *reader, struct table *table, uint32_t number,
			uint32_t most)
{
	uint32_t *kept;

	if (table->count > most)
		return fail(reader, -EFBIG, "more processes or threads than a recording can have");
	kept = append(reader, table, sizeof(*kept));
	if (kept)
		*kept = number;
	return kept != NULL;
}

static bool read_process(struct recording_reader *reader, uint64_t len)
{
	struct import_recording *const recording = reader->target->recording;
	struct kept_text title, container, runtime, pod, name, name_space, image, service;
	struct timeline_process process;

	if (!take_some_fields(reader, len, 7, 9) ||
	    !number_fits(reader, reader->fields[0], INT32_MAX) ||
	    !text_at(reader, reader->fields[1], &title) ||
	    !text_at(reader, reader->fields[2], &container) ||
	    !text_at(reader, reader->fields[3], &runtime) ||
	    !text_at(reader, reader->fields[4], &pod) ||
	    !text_at(reader, reader->fields[5], &name) ||
	    !text_at(reader, reader->fields[6], &name_space) ||
	    !text_at(reader, reader->fields[7], &image) ||
	    !text_at(reader, reader->fields[8], &service))
		return false;
	process = (struct timeline_process){
		.pid = (pid_t)reader->fields[0],
		.title = title.text,
		.container = container.text,
		.runtime = runtime.text,
		.pod = pod.text,
		.container_name = name.text,
		.name_space = name_space.text,
		.image = image.text,
		.service = service.text,
	};
	return keep_number(reader, &reader->processes,
			   recording ? timeline_process(&recording->timeline, &process) : 0,
			   TIMELINE_MAX_PROCESSES);
}

static bool read_thread(struct recording_reader *reader, uint64_t len)
{
	struct import_recording *const recording = reader->target->recording;
	const uint32_t *const processes = reader->processes.items;
	struct timeline_thread thread;
	struct kept_text name, labels;

	if (!take_some_fields(reader, len, 3, 4) ||
	    !number_fits(reader, reader->fields[1], INT32_MAX) ||
	    !text_at(reader, reader->fields[2], &name) ||
	    !text_at(reader, reader->fields[3], &labels))
		return false;
	if (reader->fields[0] >= reader->processes.count)
		return fail(reader, -EINVAL, "this recording is damaged: a process is not there");
	thread = (struct timeline_thread){
		.process = processes[reader->fields[0]],
		.tid = (pid_t)reader->fields[1],
		.name = name.text,
		.labels = labels.text,
	};
	/* Each process may have one more thread, which stands for its other threads. */
	return keep_number(reader, &reader->threads,
			   recording ? timeline_thread(&recording->timeline, &thread) : 0,
			   TIMELINE_MAX_THREADS + TIMELINE_MAX_PROCESSES);
}

static bool read_time(struct recording_reader *reader, uint64_t len)
{
	struct import_recording *const recording = reader->target->recording;
	const struct place *const nodes = reader->nodes.items;
	const uint32_t *const threads = reader->threads.items;
	struct timeline_entry entry;

	if (!take_fields(reader, len, 4) ||
	    !number_fits(reader, reader->fields[0], TIMELINE_MAX_BUCKETS - 1) ||
	    !number_fits(reader, reader->fields[3], UINT32_MAX))
		return false;
	if (reader->fields[1] >= reader->threads.count || reader->fields[2] >= reader->nodes.count)
		return fail(reader, -EINVAL,
			    "this recording is damaged: a thread or a frame is not there");
	reader->bucket += reader->fields[0];
	if (!number_fits(reader, reader->bucket, TIMELINE_MAX_BUCKETS - 1) || !recording)
		return !reader->err;
	entry = (struct timeline_entry){
		.thread = threads[reader->fields[1]],
		.node = nodes[reader->fields[2]].id,
		.weight = (uint32_t)reader->fields[3],
	};
	timeline_add(&recording->timeline, reader->bucket * reader->bucket_ns, &entry);
	return true;
}

/* A time alone: which thread and frame it is of, nobody asks. */
static bool read_bare_time(struct recording_reader *reader, uint64_t len)
{
	if (!take_fields(reader, len, 4) ||
	    !number_fits(reader, reader->fields[0], TIMELINE_MAX_BUCKETS - 1) ||
	    !number_fits(reader, reader->fields[3], UINT32_MAX))
		return false;
	reader->bucket += reader->fields[0];
	if (!number_fits(reader, reader->bucket, TIMELINE_MAX_BUCKETS - 1))
		return false;
	reader->target->add_time(reader->target, reader->bucket * reader->bucket_ns,
				 reader->fields[3]);
	return true;
}

/* ---- the file ---- */

static bool read_end(struct recording_reader *reader, uint64_t len)
{
	if (!take_fields(reader, len, 1))
		return false;
	if (reader->fields[0] != reader->records)
		return fail(reader, -EINVAL, "this recording is damaged: records are missing");
	if (!decompressor_at_end(&reader->zip))
		return fail(reader, -EINVAL, "this recording is cut or damaged");
	reader->is_ended = true;
	return true;
}

/* Whether records of the type belong to a kind. */
static bool is_of_kind(unsigned char type)
{
	return type == RECORDING_NODE || type == RECORDING_PROCESS || type == RECORDING_THREAD ||
	       type == RECORDING_TIME;
}

static bool read_of_type(struct recording_reader *reader, unsigned char type, uint64_t len)
{
	if (is_of_kind(type) && !begin_any(reader))
		return false;
	if (is_of_kind(type) && (reader->is_skipped || reader->is_timed))
		return reader->is_timed && type == RECORDING_TIME ? read_bare_time(reader, len)
								  : take(reader, NULL, len);
	switch ((enum recording_record)type) {
	case RECORDING_TEXT:
		return read_text(reader, len);
	case RECORDING_FACT:
		return read_fact(reader, len);
	case RECORDING_NODE:
		return read_node(reader, len);
	case RECORDING_PROCESS:
		return read_process(reader, len);
	case RECORDING_THREAD:
		return read_thread(reader, len);
	case RECORDING_BUILD:
		return read_build(reader, len);
	case RECORDING_TIME:
		return read_time(reader, len);
	case RECORDING_KIND:
		return read_kind(reader, len);
	case RECORDING_END:
		break;
	}
	return take(reader, NULL, len); /* a record of a later version */
}

static bool read_record(struct recording_reader *reader)
{
	unsigned char type;
	uint64_t len;
	bool is_read;

	if (!take(reader, &type, 1) || !take_varint(reader, &len))
		return false;
	if (type == RECORDING_END)
		return begin_any(reader) && read_end(reader, len);
	is_read = read_of_type(reader, type, len);
	reader->records++;
	return is_read;
}

static int next_of_lines(void *lines, const char **ret, size_t *ret_len)
{
	return lines_chunk(lines, ret, ret_len);
}

/* Reads the version, and begins to unpack what comes behind. */
static bool begin_file(struct recording_reader *reader, struct lines *lines)
{
	const struct decompressor_source source = {.next = next_of_lines, .arg = lines};
	const char *data;
	size_t len;
	int err = -EINVAL;

	if (lines_take(lines, VERSION_BYTES, &data, &len) < 0)
		return out_of_memory(reader);
	if (len != VERSION_BYTES)
		err = -EINVAL;
	else if (memcmp(data, RECORDING_FORMAT_MAGIC RECORDING_FORMAT_XZ, len) == 0)
		err = decompressor_init_xz(&reader->zip, &source, RECORDING_MAX_BYTES);
	else if (memcmp(data, RECORDING_FORMAT_MAGIC RECORDING_FORMAT_VERSION, len) == 0 ||
		 memcmp(data, RECORDING_FORMAT_MAGIC RECORDING_FORMAT_KINDS, len) == 0)
		err = decompressor_init_gzip(&reader->zip, &source, RECORDING_MAX_BYTES);
	if (err == -ENOMEM)
		return out_of_memory(reader);
	return !err ||
	       fail(reader, -EINVAL,
		    "a recording of another version of fgcollect: read it with that version, or a "
		    "later one");
}

static void reader_fini(struct recording_reader *reader)
{
	decompressor_fini(&reader->zip);
	free(reader->texts.items);
	free(reader->nodes.items);
	free(reader->processes.items);
	free(reader->threads.items);
	free(reader);
}

int recording_file_read(struct lines *lines, struct import_target *target)
{
	struct recording_reader *const reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->target = target;
	reader->owner = target->profile;
	reader->recording = target->recording || target->open ? &reader->common : NULL;
	reader->quality = &reader->common_quality;
	reader->bucket_ns = TIMELINE_BUCKET_NS;
	begin_file(reader, lines);
	while (!reader->err && !reader->is_ended)
		read_record(reader);
	if (reader->err)
		target->report.first_reason = reader->reason;
	else
		finish_kind(reader);
	err = reader->err;
	reader_fini(reader);
	return err;
}
