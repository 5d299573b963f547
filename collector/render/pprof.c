// SPDX-License-Identifier: Apache-2.0
/*
 * pprof's profile, gzipped: a Profile of proto/pprof.proto.
 *
 * The fields of a protobuf message may be written one after the other in any order. Therefore the
 * message is never held in memory: a text, a mapping, a function or a location is written when the
 * first sample needs it, and only its number is kept.
 *
 *   sample     a stack with samples of its own; labels thread, tid, process, pid, container, pod,
 *              namespace, image and service_name from the timeline, as far as they are known, and
 *              the labels that the program itself has set; values by kind:
 *                cpu                samples, and nanoseconds if the period is known
 *                wall, offcpu, ...  nanoseconds
 *                other kinds        weights in the kind's unit
 *              alloc, objects, lock and contentions have the names and the order of Go's types:
 *              alloc_objects, alloc_space, contentions, delay
 *   location   a frame with machine code of its own and, before it, the frames inlined into it
 *   function   name: the frame's; system_name: name_[kind], by which our reader knows the kind
 *   mapping    a module, with its build ID; "[jit]" for generated code; none for labels
 *
 * A stack of a thread is one sample with the values of all kinds; values of kinds that do not have
 * the stack are 0. The recording's first kind is the default type, and the period is that kind's.
 *
 * Addresses are not written, because the tree has none.
 *
 * Of a diff each stack is a sample after and a sample before. The values before are negative and
 * have the label pprof::base, as pprof -diff_base writes them. Normalised, the values before are
 * scaled so that both sides have the same sum.
 *
 * One file, because each table is written in the middle of what needs it, into one stream.
 */
#include "encode/bytes.h"
#include "encode/compressor.h"
#include "encode/text.h"
#include "render/joined.h"
#include "render/render.h"
#include "render/source.h"
#include "render/tuples.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map64.h"
#include "pprof.pb.h"

#include <errno.h>
#include <math.h>
#include <pb_encode.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	   0u
#define JIT_MODULE "[jit]"
#define NO_FRAMES  "[no frames]"
#define NS_PER_SEC UINT64_C(1000000000)

/* A kind of samples, and where its stacks are. */
struct pprof_part {
	const struct profile_part *part;
	uint64_t period_ns;    /* 0: not known */
	uint32_t *location_of; /* node -> location */
	uint32_t *stack_of;    /* node -> stack */
};

struct pprof_writer {
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct pprof_part kinds[PROFILE_MAX_KINDS];
	size_t n;     /* of parts and kinds */
	size_t first; /* the recording's first kind, which is not always written first */
	struct compressor compressor;
	pb_ostream_t stream;
	struct intern kept;	 /* each text once, whichever kind names it */
	struct map64 texts;	 /* address of a text -> its number + 1 */
	uint32_t text_count;	 /* texts written so far */
	struct tuples mappings;	 /* text, build ID */
	struct tuples functions; /* name, file, kind, mapping */
	struct tuples locations; /* function, line, 1 + the location it is inlined into or 0 */
	struct tuples stacks;	 /* location, 1 + the stack below it or 0 */
	bool *is_written;	 /* by location */
	struct bytes text;
	struct bytes packed; /* location IDs of one sample */
	struct bytes values;
	bool failed; /* out of memory, or an error of the encoder */
};

static bool write_bytes(pb_ostream_t *stream, const pb_byte_t *buf, size_t count)
{
	struct pprof_writer *const writer = stream->state;

	compressor_add(&writer->compressor, buf, count);
	return writer->compressor.err == 0;
}

static void write_message(struct pprof_writer *writer, uint32_t field, const pb_msgdesc_t *type,
			  const void *message)
{
	if (!pb_encode_tag(&writer->stream, PB_WT_STRING, field) ||
	    !pb_encode_submessage(&writer->stream, type, message))
		writer->failed = true;
}

static void write_number(struct pprof_writer *writer, uint32_t field, uint64_t value)
{
	if (value && (!pb_encode_tag(&writer->stream, PB_WT_VARINT, field) ||
		      !pb_encode_varint(&writer->stream, value)))
		writer->failed = true;
}

/* Writes a text, and returns its number. */
static uint32_t write_text(struct pprof_writer *writer, const char *text)
{
	writer->text.len = 0;
	text_clean(&writer->text, text, UTF8_REPLACEMENT);
	if (writer->text.failed ||
	    !pb_encode_tag(&writer->stream, PB_WT_STRING, pprof_Profile_string_table_tag) ||
	    !pb_encode_string(&writer->stream, (const pb_byte_t *)bytes_text(&writer->text),
			      writer->text.len))
		writer->failed = true;
	return writer->text_count++;
}

/*
 * The number of a text. A profile interns its texts, so most texts are found by address; the texts
 * of another kind's profile are found by what they say. NULL is "".
 */
static uint32_t number_of_text(struct pprof_writer *writer, const char *text)
{
	const uint64_t key = (uint64_t)(uintptr_t)text;
	uintptr_t known = text ? (uintptr_t)map64_find(&writer->texts, key) : 1;
	const char *kept;

	if (known)
		return (uint32_t)(known - 1);
	kept = intern_add_str(&writer->kept, text);
	known = kept ? (uintptr_t)map64_find(&writer->texts, (uint64_t)(uintptr_t)kept) : 0;
	if (!known)
		known = (uintptr_t)write_text(writer, text) + 1;
	if (!kept || map64_put(&writer->texts, (uint64_t)(uintptr_t)kept, (void *)known) < 0 ||
	    map64_put(&writer->texts, key, (void *)known) < 0)
		writer->failed = true;
	return (uint32_t)(known - 1);
}

/* The same of a text that is not kept by a profile, and whose address may be another's later. */
static uint32_t number_of_copy(struct pprof_writer *writer, const char *text)
{
	const char *const kept = intern_add_str(&writer->kept, text);

	if (!kept) {
		writer->failed = true;
		return 0;
	}
	return *kept ? number_of_text(writer, kept) : 0;
}

static bool is_generated(uint8_t kind)
{
	return kind == FRAME_STUB || frame_kind_is_java((enum frame_kind)kind);
}

/* The number of the node's mapping; 0: the node has no mapping. */
static uint32_t mapping_of(struct pprof_writer *writer, const struct profile_node *node)
{
	const char *const name = node->module		    ? node->module
				 : is_generated(node->kind) ? JIT_MODULE
							    : NULL;
	const uint32_t before = writer->mappings.count;
	pprof_Mapping mapping = {
		.has_functions = true,
		.has_filenames = true,
		.has_line_numbers = true,
		.has_inline_frames = true,
	};
	uint32_t number;

	if (!name)
		return 0;
	mapping.filename = number_of_text(writer, name);
	mapping.build_id = number_of_text(writer, profile_build_id(node->module));
	number = tuples_add(&writer->mappings, (struct tuple){{(uint32_t)mapping.filename,
							       (uint32_t)mapping.build_id}});
	mapping.id = (uint64_t)number + 1;
	if (number == TUPLES_NONE)
		writer->failed = true;
	else if (number == before)
		write_message(writer, pprof_Profile_mapping_tag, pprof_Mapping_fields, &mapping);
	return (uint32_t)mapping.id;
}

static void write_function(struct pprof_writer *writer, const struct profile_node *node,
			   pprof_Function *function)
{
	struct bytes system = {0};

	bytes_add(&system, node->name, strlen(node->name));
	bytes_add(&system, "_[", 2);
	bytes_add(&system, frame_kind_word((enum frame_kind)node->kind),
		  strlen(frame_kind_word((enum frame_kind)node->kind)));
	bytes_add_char(&system, ']');
	function->system_name = write_text(writer, bytes_text(&system));
	if (node->file) {
		struct bytes path = {0};

		source_path(&path, node);
		function->filename = write_text(writer, bytes_text(&path));
		writer->failed |= path.failed;
		bytes_fini(&path);
	}
	writer->failed |= system.failed;
	bytes_fini(&system);
	write_message(writer, pprof_Profile_function_tag, pprof_Function_fields, function);
}

/*
 * The function of a node. A function belongs to a mapping: one name in two modules is two
 * functions.
 */
static uint32_t function_of(struct pprof_writer *writer, const struct profile_node *node)
{
	const uint32_t name = number_of_text(writer, node->name);
	const uint32_t file = node->file ? number_of_text(writer, node->file) : 0;
	const uint32_t mapping = mapping_of(writer, node);
	const uint32_t before = writer->functions.count;
	const uint32_t number =
		tuples_add(&writer->functions, (struct tuple){{name, file, node->kind, mapping}});

	if (number == TUPLES_NONE) {
		writer->failed = true;
	} else if (number == before) {
		pprof_Function function = {.id = (uint64_t)number + 1, .name = name};

		write_function(writer, node, &function);
	}
	return number;
}

/* Whether the node's frame was inlined into the frame of its parent. */
static bool is_part_of_parent(const struct profile *profile, const struct profile_node *node)
{
	return frame_kind_is_inlined((enum frame_kind)node->kind) && node->parent != ROOT &&
	       profile->nodes[node->parent].kind != FRAME_LABEL;
}

/* The number of the stack that ends in a node; those of its callers are known. */
static uint32_t number_stack(struct pprof_writer *writer, const struct pprof_part *kind,
			     uint32_t id)
{
	const struct profile *const profile = kind->part->profile;
	struct tuple tuple = {{kind->location_of[id]}};
	uint32_t number;

	while (is_part_of_parent(profile, &profile->nodes[id]))
		id = profile->nodes[id].parent;
	if (id != ROOT && profile->nodes[id].parent != ROOT)
		tuple.v[1] = kind->stack_of[profile->nodes[id].parent] + 1;
	number = tuples_add(&writer->stacks, tuple);
	writer->failed |= number == TUPLES_NONE;
	return number;
}

/*
 * Numbers all locations and stacks of a kind. Parents have smaller numbers than children, so a
 * parent is numbered first. The root's location is for stacks without frames, which most readers
 * would not count.
 */
static void number_nodes(struct pprof_writer *writer, const struct pprof_part *kind)
{
	static const struct profile_node no_frames = {.name = NO_FRAMES, .kind = FRAME_LABEL};
	const struct profile *const profile = kind->part->profile;

	for (uint32_t id = 0; id < profile->count && !writer->failed; id++) {
		const struct profile_node *const node =
			id == ROOT ? &no_frames : &profile->nodes[id];
		const uint32_t function = function_of(writer, node);
		const uint32_t into =
			is_part_of_parent(profile, node) ? kind->location_of[node->parent] + 1 : 0;
		const uint32_t location = tuples_add(&writer->locations,
						     (struct tuple){{function, node->line, into}});

		writer->failed |= location == TUPLES_NONE;
		kind->location_of[id] = location;
		kind->stack_of[id] = number_stack(writer, kind, id);
	}
}

struct location_lines {
	const struct tuples *locations;
	uint32_t first;
};

static bool encode_lines(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
	const struct location_lines *const lines = *arg;

	for (uint32_t at = lines->first + 1; at; at = lines->locations->items[at - 1].v[2]) {
		const struct tuple *const location = &lines->locations->items[at - 1];
		const pprof_Line line = {
			.function_id = (uint64_t)location->v[0] + 1,
			.line = location->v[1],
		};

		if (!pb_encode_tag_for_field(stream, field) ||
		    !pb_encode_submessage(stream, pprof_Line_fields, &line))
			return false;
	}
	return true;
}

static void write_location(struct pprof_writer *writer, uint32_t number)
{
	struct location_lines lines = {&writer->locations, number};
	uint32_t outermost = number;
	pprof_Location location = {
		.id = (uint64_t)number + 1,
		.line = {.funcs.encode = encode_lines, .arg = &lines},
	};

	while (writer->locations.items[outermost].v[2])
		outermost = writer->locations.items[outermost].v[2] - 1;
	location.mapping_id = writer->functions.items[writer->locations.items[outermost].v[0]].v[3];
	writer->is_written[number] = true;
	write_message(writer, pprof_Profile_location_tag, pprof_Location_fields, &location);
}

/* Packs the locations of a stack. Inlined frames share the location of their parent. */
static void pack_locations(struct pprof_writer *writer, uint32_t stack)
{
	writer->packed.len = 0;
	for (uint32_t at = stack + 1; at; at = writer->stacks.items[at - 1].v[1]) {
		const uint32_t location = writer->stacks.items[at - 1].v[0];

		if (!writer->is_written[location])
			write_location(writer, location);
		bytes_add_varint(&writer->packed, (uint64_t)location + 1);
	}
}

static bool encode_packed(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
	struct bytes *const packed = *arg;

	if (packed->len == 0)
		return true;
	return pb_encode_tag(stream, PB_WT_STRING, field->tag) &&
	       pb_encode_string(stream, (const pb_byte_t *)packed->data, packed->len);
}

static uint64_t limit(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

/* Labels of one sample. */
struct sample_labels {
	pprof_Label *items;
	size_t count, size;
	bool is_base; /* of the profile that is compared with */
};

static bool encode_labels(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
	const struct sample_labels *const labels = *arg;

	for (size_t i = 0; i < labels->count; i++) {
		if (!pb_encode_tag_for_field(stream, field) ||
		    !pb_encode_submessage(stream, pprof_Label_fields, &labels->items[i]))
			return false;
	}
	return true;
}

static void sample_labels_fini(struct sample_labels *labels)
{
	free(labels->items);
}

static void add(struct pprof_writer *writer, struct sample_labels *labels, pprof_Label label)
{
	if (ARRAY_RESERVE(labels->items, labels->size, labels->count + 1) < 0)
		writer->failed = true;
	else
		labels->items[labels->count++] = label;
}

static void add_label(struct pprof_writer *writer, struct sample_labels *labels, const char *key,
		      const char *text)
{
	if (text && *text)
		add(writer, labels,
		    (pprof_Label){.key = number_of_text(writer, key),
				  .str = number_of_text(writer, text)});
}

static void add_number(struct pprof_writer *writer, struct sample_labels *labels, const char *key,
		       int64_t number)
{
	add(writer, labels, (pprof_Label){.key = number_of_text(writer, key), .num = number});
}

/* Adds a line of a thread's labels, in which tabs become ends of texts. */
static void add_line(struct pprof_writer *writer, struct sample_labels *labels, char *line)
{
	char *const text = strchr(line, '\t'), *const unit = text ? strchr(text + 1, '\t') : NULL;

	if (!text)
		return;
	*text = '\0';
	if (unit)
		*unit = '\0';
	add(writer, labels,
	    (pprof_Label){
		    .key = number_of_copy(writer, line),
		    .str = unit ? 0 : number_of_copy(writer, text + 1),
		    .num = unit ? strtoll(text + 1, NULL, 10) : 0,
		    .num_unit = unit ? number_of_copy(writer, unit + 1) : 0,
	    });
}

static void add_lines(struct pprof_writer *writer, struct sample_labels *labels, const char *lines)
{
	_cleanup_free_ char *copy = strdup(lines);
	char *rest = copy, *line;

	writer->failed |= !copy;
	while (copy && (line = strsep(&rest, "\n")))
		add_line(writer, labels, line);
}

static void label_process(struct pprof_writer *writer, const struct timeline_process *process,
			  struct sample_labels *labels)
{
	add_label(writer, labels, "process", process->title);
	add_label(writer, labels, "container", process->container);
	add_label(writer, labels, "pod", process->pod);
	add_label(writer, labels, "namespace", process->name_space);
	add_label(writer, labels, "image", process->image);
	add_label(writer, labels, "service_name", process->service);
	add_number(writer, labels, "pid", process->pid);
}

/* A thread without a number has its name among its labels, and so has a process. */
static void label_thread(struct pprof_writer *writer, const struct joined_thread *joined,
			 struct sample_labels *labels)
{
	const struct timeline_thread *const thread = joined->thread;

	if (thread->tid || !thread->labels[0])
		add_label(writer, labels, "thread", thread->name);
	if (joined->process->pid)
		label_process(writer, joined->process, labels);
	if (thread->tid)
		add_number(writer, labels, "tid", thread->tid);
	add_lines(writer, labels, thread->labels);
}

/* The value, or its negative if the value is to be subtracted. */
static uint64_t signed_value(uint64_t value, bool is_negative)
{
	return is_negative ? 0 - value : value;
}

/* The product, limited to what a value can be. */
static uint64_t times(uint64_t count, uint64_t period)
{
	uint64_t product;

	return __builtin_mul_overflow(count, period, &product) ? INT64_MAX : limit(product);
}

static void add_values(struct pprof_writer *writer, const struct pprof_part *kind, uint64_t weight,
		       bool is_base)
{
	if (!profile_kind_is_time(kind->part->kind))
		bytes_add_varint(&writer->values, signed_value(limit(weight), is_base));
	if (kind->period_ns)
		bytes_add_varint(&writer->values,
				 signed_value(times(weight, kind->period_ns), is_base));
}

/* weights: of each kind. */
static void write_sample(struct pprof_writer *writer, uint32_t stack, const uint64_t *weights,
			 struct sample_labels *labels)
{
	const pprof_Sample sample = {
		.location_id = {.funcs.encode = encode_packed, .arg = &writer->packed},
		.value = {.funcs.encode = encode_packed, .arg = &writer->values},
		.label = {.funcs.encode = encode_labels, .arg = labels},
	};

	pack_locations(writer, stack);
	writer->values.len = 0;
	for (size_t i = 0; i < writer->n; i++)
		add_values(writer, &writer->kinds[i], weights[i], labels->is_base);
	writer->failed |= writer->packed.failed || writer->values.failed;
	write_message(writer, pprof_Profile_sample_tag, pprof_Sample_fields, &sample);
}

static void write_type(struct pprof_writer *writer, uint32_t field, const char *type,
		       const char *unit)
{
	const pprof_ValueType value = {
		.type = number_of_text(writer, type),
		.unit = number_of_text(writer, unit),
	};

	write_message(writer, field, pprof_ValueType_fields, &value);
}

/* What a kind's type is called: as Go calls it, if Go has such a type. */
static const char *type_of(const struct profile_kind *kind)
{
	static const struct {
		const struct profile_kind *kind;
		const char *type;
	} types[] = {
		{&profile_kind_alloc, "alloc_space"}, {&profile_kind_objects, "alloc_objects"},
		{&profile_kind_live, "inuse_space"},  {&profile_kind_live_objects, "inuse_objects"},
		{&profile_kind_lock, "delay"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (profile_kind_is_same(types[i].kind, kind))
			return types[i].type;
	return kind->name;
}

/*
 * Returns the number of types that the kind has. Beside other kinds samples/count would be taken
 * for samples of these, unless the processor time of the samples follows.
 */
static unsigned write_types(struct pprof_writer *writer, const struct pprof_part *kind)
{
	const struct profile_kind *const what = kind->part->kind;
	const bool is_cpu = profile_kind_is_same(what, &profile_kind_cpu);
	const bool is_clear = kind->period_ns || writer->n == 1;

	if (is_cpu)
		write_type(writer, pprof_Profile_sample_type_tag,
			   is_clear ? PROFILE_UNIT_SAMPLES : what->name, PROFILE_UNIT_COUNT);
	else if (!profile_kind_is_time(what))
		write_type(writer, pprof_Profile_sample_type_tag, type_of(what), what->unit);
	if (kind->period_ns)
		write_type(writer, pprof_Profile_sample_type_tag, type_of(what), "nanoseconds");
	return is_cpu && kind->period_ns ? 2 : 1;
}

/*
 * The period that is asked for, or that of the first kind, if that is a time and how often samples
 * are taken is known.
 */
static void write_period(struct pprof_writer *writer, const struct render_period *period)
{
	const struct profile_part *const first = &writer->parts[writer->first];
	const uint64_t hz = first->info ? first->info->hz : 0;

	if (period) {
		write_type(writer, pprof_Profile_period_type_tag, period->type, period->unit);
		write_number(writer, pprof_Profile_period_tag, limit(period->amount));
		return;
	}
	if (!writer->kinds[writer->first].period_ns || !hz)
		return;
	write_type(writer, pprof_Profile_period_type_tag, type_of(first->kind), "nanoseconds");
	write_number(writer, pprof_Profile_period_tag, NS_PER_SEC / hz);
}

static void write_head(struct pprof_writer *writer, const struct render_options *options)
{
	const struct profile_part *const first = &writer->parts[writer->first];
	const struct profile_info *const info = first->info;
	unsigned types = 0;

	write_text(writer, ""); /* the first text must be "" */
	for (size_t i = 0; i < writer->n; i++)
		types += write_types(writer, &writer->kinds[i]);
	if (info) {
		write_number(writer, pprof_Profile_time_nanos_tag, limit(info->start_unix_ns));
		write_number(writer, pprof_Profile_duration_nanos_tag, limit(info->duration_ns));
	}
	if (options && options->notes)
		write_number(writer, pprof_Profile_comment_tag, write_text(writer, options->notes));
	write_period(writer, options ? options->period : NULL);
	if (types > 1)
		write_number(writer, pprof_Profile_default_sample_type_tag,
			     number_of_text(writer, type_of(first->kind)));
}

/* The samples of one thread and stack are one sample. Returns the first sample of the next one. */
static size_t write_joined(struct pprof_writer *writer, const struct joined *joined, size_t i,
			   struct sample_labels *labels)
{
	const struct joined_sample *const first = &joined->samples[i];
	uint64_t weights[PROFILE_MAX_KINDS] = {0};

	for (; i < joined->n_samples && joined->samples[i].thread == first->thread &&
	       joined->samples[i].stack == first->stack;
	     i++)
		weights[joined->samples[i].part] += joined->samples[i].weight;
	write_sample(writer, first->stack, weights, labels);
	return i;
}

static void write_samples(struct pprof_writer *writer)
{
	_cleanup_(joined_fini) struct joined joined = {0};
	_cleanup_(sample_labels_fini) struct sample_labels labels = {.count = 0};
	uint32_t *stacks[PROFILE_MAX_KINDS];
	uint32_t thread = JOINED_NO_THREAD;

	for (size_t i = 0; i < writer->n; i++)
		stacks[i] = writer->kinds[i].stack_of;
	if (joined_init(&joined, writer->parts, writer->n, stacks) < 0)
		writer->failed = true;
	for (size_t i = 0; i < joined.n_samples && !writer->failed;) {
		if (joined.samples[i].thread != thread) {
			thread = joined.samples[i].thread;
			labels.count = 0;
			if (thread != JOINED_NO_THREAD)
				label_thread(writer, &joined.threads[thread], &labels);
		}
		i = write_joined(writer, &joined, i, &labels);
	}
}

/*
 * Writes the samples of a diff. The running sum is scaled and rounded instead of each count, so
 * that the sum of all counts stays right.
 */
static void write_difference(struct pprof_writer *writer, const struct profile_diff *diff)
{
	_cleanup_(sample_labels_fini) struct sample_labels base = {.is_base = true};
	struct sample_labels none = {.count = 0};
	const uint32_t *const stack_of = writer->kinds[0].stack_of;
	const double scale = diff_scale(diff);
	uint64_t sum = 0, written = 0;

	add_label(writer, &base, "pprof::base", "true");
	for (uint32_t id = 0; id < diff->tree.count && !writer->failed; id++) {
		const uint64_t *const self = diff->nodes[id].self;
		uint64_t before;

		sum += self[DIFF_BEFORE];
		before = scale == 1 ? sum : (uint64_t)llround((double)sum * scale);
		if (self[DIFF_AFTER] > 0)
			write_sample(writer, stack_of[id], &self[DIFF_AFTER], &none);
		written = before - written;
		if (written > 0)
			write_sample(writer, stack_of[id], &written, &base);
		written = before;
	}
}

static void write_profile(struct pprof_writer *writer, const struct render_options *options)
{
	write_head(writer, options);
	for (size_t i = 0; i < writer->n; i++)
		number_nodes(writer, &writer->kinds[i]);
	writer->is_written = calloc(writer->locations.count + 1, sizeof(bool));
	if (!writer->is_written)
		writer->failed = true;
	if (options && options->diff)
		write_difference(writer, options->diff);
	else
		write_samples(writer);
}

static void pprof_writer_fini(struct pprof_writer *writer)
{
	compressor_fini(&writer->compressor);
	intern_fini(&writer->kept);
	map64_fini(&writer->texts);
	tuples_fini(&writer->mappings);
	tuples_fini(&writer->functions);
	tuples_fini(&writer->locations);
	tuples_fini(&writer->stacks);
	for (size_t i = 0; i < writer->n; i++) {
		free(writer->kinds[i].location_of);
		free(writer->kinds[i].stack_of);
	}
	free(writer->is_written);
	bytes_fini(&writer->text);
	bytes_fini(&writer->packed);
	bytes_fini(&writer->values);
}

/* Puts a number of things before the size of these things, as Go's profiles have them. */
static void order_parts(struct pprof_writer *writer)
{
	struct profile_part *const parts = writer->parts;

	for (size_t i = 0; i + 1 < writer->n; i++) {
		const struct profile_part size = parts[i];
		const struct profile_kind *const next = parts[i + 1].kind;

		if (!(profile_kind_is_same(size.kind, &profile_kind_alloc) &&
		      profile_kind_is_same(next, &profile_kind_objects)) &&
		    !(profile_kind_is_same(size.kind, &profile_kind_live) &&
		      profile_kind_is_same(next, &profile_kind_live_objects)) &&
		    !(profile_kind_is_same(size.kind, &profile_kind_lock) &&
		      profile_kind_is_same(next, &profile_kind_contentions)))
			continue;
		parts[i] = parts[i + 1];
		parts[++i] = size;
		writer->first = i == 1 ? 1 : writer->first;
	}
}

static int alloc_kinds(struct pprof_writer *writer)
{
	for (size_t i = 0; i < writer->n; i++) {
		struct pprof_part *const kind = &writer->kinds[i];
		const uint32_t count = writer->parts[i].profile->count;

		kind->part = &writer->parts[i];
		kind->period_ns = render_period_ns(kind->part);
		kind->location_of = malloc(count * sizeof(*kind->location_of));
		kind->stack_of = malloc(count * sizeof(*kind->stack_of));
		if (!kind->location_of || !kind->stack_of)
			return -ENOMEM;
	}
	return 0;
}

int render_pprof(const struct profile *profile, const struct render_options *options, FILE *stream)
{
	_cleanup_(pprof_writer_fini) struct pprof_writer writer = {0};
	int rc = compressor_init(&writer.compressor, COMPRESSION_GZIP, stream);

	if (rc < 0)
		return rc;
	writer.stream = (pb_ostream_t){write_bytes, &writer, SIZE_MAX, 0, NULL};
	writer.n = render_parts(profile, options, writer.parts);
	order_parts(&writer);
	rc = alloc_kinds(&writer);
	if (rc < 0)
		return rc;
	write_profile(&writer, options);
	rc = compressor_finish(&writer.compressor);
	if (rc < 0)
		return rc;
	return writer.failed ? -ENOMEM : 0;
}
