// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a recording, from which all other formats can be made later; profile/recording_format.h
 * describes the format. Records are written as they are made. A text is written before the first
 * record that names it.
 */
#include "encode/bytes.h"
#include "encode/compressor.h"
#include "render/render.h"

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map64.h"
#include "profile/recording_format.h"

#include <errno.h>
#include <string.h>

struct recording_writer {
	struct compressor compressor;
	struct map64 numbers; /* address of a text -> the text's number */
	struct intern texts;  /* each text once, whatever it is used for */
	uint64_t text_count;
	struct bytes fields;
	uint64_t records;
	bool failed; /* out of memory */
};

static void write_record(struct recording_writer *writer, enum recording_record type,
			 const void *data, size_t len)
{
	unsigned char head[12] = {(unsigned char)type};
	size_t n = 1;

	for (size_t rest = len;; rest >>= 7) {
		head[n++] = (unsigned char)(rest >= 0x80 ? 0x80 | (rest & 0x7f) : rest);
		if (rest < 0x80)
			break;
	}
	compressor_add(&writer->compressor, head, n);
	compressor_add(&writer->compressor, data, len);
	writer->records++;
}

static void write_fields(struct recording_writer *writer, enum recording_record type,
			 const uint64_t *fields, size_t n)
{
	writer->fields.len = 0;
	for (size_t i = 0; i < n; i++)
		bytes_add_varint(&writer->fields, fields[i]);
	writer->failed |= writer->fields.failed;
	write_record(writer, type, writer->fields.data, writer->fields.len);
}

#define WRITE(writer, type, ...)                                                                   \
	do {                                                                                       \
		const uint64_t all[] = {__VA_ARGS__};                                              \
		write_fields((writer), (type), all, sizeof(all) / sizeof(*all));                   \
	} while (0)

static uintptr_t find_number(const struct recording_writer *writer, const char *text)
{
	return (uintptr_t)map64_find(&writer->numbers, (uint64_t)(uintptr_t)text);
}

static void keep_number(struct recording_writer *writer, const char *text, uintptr_t number)
{
	if (map64_put(&writer->numbers, (uint64_t)(uintptr_t)text, (void *)number) < 0)
		writer->failed = true;
}

static uintptr_t write_text(struct recording_writer *writer, const char *text)
{
	const size_t len = strnlen(text, RECORDING_MAX_TEXT);
	const char *const kept = intern_add(&writer->texts, text, len);
	uintptr_t number = kept ? find_number(writer, kept) : 0;

	writer->failed |= !kept;
	if (!kept || number)
		return number;
	number = ++writer->text_count;
	keep_number(writer, kept, number);
	write_record(writer, RECORDING_TEXT, text, len);
	return number;
}

/*
 * The number of a text. Profile and timeline intern their texts, so most texts are found by
 * address.
 */
static uint64_t number_of(struct recording_writer *writer, const char *text)
{
	uintptr_t number;

	if (!text || !*text)
		return 0;
	number = find_number(writer, text);
	if (number)
		return number;
	number = write_text(writer, text);
	if (number)
		keep_number(writer, text, number);
	return number;
}

/* A module with a build ID has a text of its own for each build. */
static uint64_t number_of_module(struct recording_writer *writer, const char *module)
{
	const char *const build_id = profile_build_id(module);
	uint64_t build, number;

	if (!build_id || find_number(writer, module))
		return number_of(writer, module);
	build = number_of(writer, build_id);
	write_record(writer, RECORDING_TEXT, module, strlen(module));
	number = ++writer->text_count;
	keep_number(writer, module, number);
	WRITE(writer, RECORDING_BUILD, number, build);
	return number;
}

static void fact(struct recording_writer *writer, const char *key, const char *text,
		 uint64_t number)
{
	if ((!text || !*text) && number == 0)
		return;
	const uint64_t key_number = number_of(writer, key), text_number = number_of(writer, text);

	WRITE(writer, RECORDING_FACT, key_number, text_number, number);
}

static void write_quality(struct recording_writer *writer, const struct profile_quality *quality,
			  const char *const reasons[PROFILE_REASONS])
{
	fact(writer, RECORDING_UNNAMED, NULL, quality->unnamed_samples);
	fact(writer, RECORDING_UNNAMED_JAVA, NULL, quality->unnamed_java_samples);
	fact(writer, RECORDING_UNROOTED, NULL, quality->unrooted_samples);
	fact(writer, RECORDING_HEAPLESS, NULL, quality->heapless_samples);
	fact(writer, RECORDING_LOST, NULL, quality->lost_samples);
	fact(writer, RECORDING_STACKLESS, NULL, quality->stackless_samples);
	fact(writer, RECORDING_OVERFLOW, NULL, quality->overflow_samples);
	for (size_t i = 0; reasons && i < PROFILE_REASONS; i++)
		if (reasons[i] && quality->truncated_samples[i] > 0)
			fact(writer, RECORDING_TRUNCATED, reasons[i],
			     quality->truncated_samples[i]);
}

/* What holds for all kinds. */
static void write_common(struct recording_writer *writer, const struct render_options *options)
{
	const struct profile_info *const info = options->info;

	if (!info)
		return;
	fact(writer, "host", info->host, 0);
	fact(writer, "boot_id", info->boot_id, 0);
	fact(writer, "kernel", info->kernel, 0);
}

static void write_time(struct recording_writer *writer, const struct profile_info *info)
{
	fact(writer, "start_unix_ns", NULL, info->start_unix_ns);
	fact(writer, "duration_ns", NULL, info->duration_ns);
}

static void write_titles(struct recording_writer *writer, const struct render_options *options)
{
	fact(writer, "title", options->title, 0);
	fact(writer, "subtitle", options->subtitle, 0);
	fact(writer, "notes", options->notes, 0);
	fact(writer, "count_name", options->count_name, 0);
}

/* A file without KIND has its facts in the order in which they have always been. */
static void write_facts(struct recording_writer *writer, const struct profile *profile,
			const struct render_options *options)
{
	const struct profile_info *const info = options->info;

	write_titles(writer, options);
	write_quality(writer, info ? &info->quality : &profile->quality,
		      info ? info->reasons : NULL);
	write_common(writer, options);
	if (!info)
		return;
	fact(writer, "event", info->event, 0);
	fact(writer, "program", info->program, 0);
	fact(writer, "hz", NULL, info->hz);
	write_time(writer, info);
}

static void write_nodes(struct recording_writer *writer, const struct profile *profile)
{
	for (uint32_t id = 0; id < profile->count && !writer->compressor.err; id++) {
		const struct profile_node *const node = &profile->nodes[id];
		const uint64_t name = number_of(writer, node->name);
		const uint64_t kind =
			number_of(writer, frame_kind_word((enum frame_kind)node->kind));
		const uint64_t module = number_of_module(writer, node->module);
		const uint64_t file = number_of(writer, node->file);

		WRITE(writer, RECORDING_NODE, id - node->parent, name, kind, module, file,
		      node->line, node->self);
	}
}

static void write_threads(struct recording_writer *writer, const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->n_processes; i++) {
		const struct timeline_process *const process = &timeline->processes[i];
		const uint64_t title = number_of(writer, process->title);
		const uint64_t container = number_of(writer, process->container);
		const uint64_t runtime = number_of(writer, process->runtime);
		const uint64_t pod = number_of(writer, process->pod);
		const uint64_t name = number_of(writer, process->container_name);
		const uint64_t name_space = number_of(writer, process->name_space);
		const uint64_t image = number_of(writer, process->image);
		const uint64_t service = number_of(writer, process->service);

		WRITE(writer, RECORDING_PROCESS, (uint64_t)process->pid, title, container, runtime,
		      pod, name, name_space, image, service);
	}
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct timeline_thread *const thread = &timeline->threads[i];
		const uint64_t name = number_of(writer, thread->name);

		const uint64_t labels = number_of(writer, thread->labels);

		if (labels)
			WRITE(writer, RECORDING_THREAD, thread->process, (uint64_t)thread->tid,
			      name, labels);
		else
			WRITE(writer, RECORDING_THREAD, thread->process, (uint64_t)thread->tid,
			      name);
	}
}

static void write_times(struct recording_writer *writer, const struct timeline *timeline)
{
	uint32_t bucket = 0;

	fact(writer, "bucket_ns", NULL, timeline->bucket_ns);
	fact(writer, RECORDING_UNTIMED, NULL, timeline->lost_samples);
	fact(writer, RECORDING_LOST_NAMES, NULL, timeline->lost_names);
	write_threads(writer, timeline);
	for (size_t i = 0; i < timeline->n_entries && !writer->compressor.err; i++) {
		const struct timeline_entry *const entry = &timeline->entries[i];

		WRITE(writer, RECORDING_TIME, entry->bucket - bucket, entry->thread, entry->node,
		      entry->weight);
		bucket = entry->bucket;
	}
}

/* Numbers of nodes, processes and threads begin anew with each kind. */
static void write_part(struct recording_writer *writer, const struct profile_part *part)
{
	const struct profile_info *const info = part->info;
	const uint64_t name = number_of(writer, part->kind->name);
	const uint64_t unit = number_of(writer, part->kind->unit);

	WRITE(writer, RECORDING_KIND, name, unit);
	write_quality(writer, info ? &info->quality : &part->profile->quality,
		      info ? info->reasons : NULL);
	if (info) {
		fact(writer, "event", info->event, 0);
		fact(writer, "hz", NULL, info->hz);
	}
	write_nodes(writer, part->profile);
	if (part->timeline)
		write_times(writer, part->timeline);
}

/* The facts of all kinds, then the kinds. */
static void write_kinds(struct recording_writer *writer, const struct profile *profile,
			const struct render_options *options)
{
	const struct profile_part first = {render_kind(options), profile, options->timeline,
					   options->info};

	write_titles(writer, options);
	write_common(writer, options);
	if (options->info) {
		fact(writer, "program", options->info->program, 0);
		write_time(writer, options->info);
	}
	write_part(writer, &first);
	for (size_t i = 0; i < options->n_others; i++)
		write_part(writer, &options->others[i]);
}

static void recording_writer_fini(struct recording_writer *writer)
{
	compressor_fini(&writer->compressor);
	map64_fini(&writer->numbers);
	intern_fini(&writer->texts);
	bytes_fini(&writer->fields);
}

int render_recording(const struct profile *profile, const struct render_options *options,
		     FILE *stream)
{
	static const struct render_options defaults = {0};
	_cleanup_(recording_writer_fini) struct recording_writer writer = {0};
	bool has_kinds;
	int rc;

	if (!options)
		options = &defaults;
	rc = compressor_init(&writer.compressor,
			     options->packs_as_xz ? COMPRESSION_XZ : COMPRESSION_GZIP, stream);
	if (rc < 0)
		return rc;
	errno = 0;
	has_kinds = options->n_others > 0 ||
		    !profile_kind_is_same(render_kind(options), &profile_kind_cpu);
	if (fputs(options->packs_as_xz ? RECORDING_FORMAT_MAGIC RECORDING_FORMAT_XZ
		  : has_kinds	       ? RECORDING_FORMAT_MAGIC RECORDING_FORMAT_KINDS
				       : RECORDING_FORMAT_MAGIC RECORDING_FORMAT_VERSION,
		  stream) < 0)
		return errno ? -errno : -EIO;
	if (has_kinds) {
		write_kinds(&writer, profile, options);
	} else {
		write_facts(&writer, profile, options);
		write_nodes(&writer, profile);
		if (options->timeline)
			write_times(&writer, options->timeline);
	}
	WRITE(&writer, RECORDING_END, writer.records);
	rc = compressor_finish(&writer.compressor);
	if (rc < 0)
		return rc;
	return writer.failed ? -ENOMEM : 0;
}
