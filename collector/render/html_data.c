// SPDX-License-Identifier: Apache-2.0
/*
 * Encodes all that the page shows, see html_data.h. Texts in lines are clean and have neither TAB
 * nor LF.
 */
#include "render/html_data.h"

#include "base/cleanup.h"
#include "encode/bytes.h"
#include "encode/packed.h"
#include "encode/text.h"
#include "profile/idle_frames.h"
#include "profile/name_lists.h"
#include "profile/pools.h"
#include "profile/profile_part.h"
#include "render/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The letter of a class, for readers who cannot see the colours. */
static const char *class_letter(const struct looks *looks, unsigned class)
{
	static const char *const kinds[KINDS] = {
		[KIND_LABEL] = "#",   [KIND_INTERPRETED] = "i", [KIND_C1] = "1",
		[KIND_JIT] = "J",     [KIND_INLINED] = "+",	[KIND_STUB] = "s",
		[KIND_CPP] = "C",     [KIND_NATIVE] = "n",	[KIND_KERNEL] = "k",
		[KIND_UNKNOWN] = "?", [KIND_JAVA] = "*",	[KIND_WAIT] = "w",
		[KIND_CLASS] = "o",
	};
	static const char *const changes[CHANGES] = {
		[CHANGE_NOISE] = "=", [CHANGE_MORE] = "+", [CHANGE_LESS] = "\xe2\x88\x92", /* - */
		[CHANGE_NEW] = "N",   [CHANGE_GONE] = "X",
	};

	return looks->diff ? changes[class] : kinds[class];
}

/* Adds the part with its length in front, and empties it. Returns 0 or -ENOMEM. */
static int add_part(struct packer *packer, struct bytes *part)
{
	const bool failed = part->failed;

	packer_add_varint(packer, part->len);
	packer_add(packer, part->data, part->len);
	bytes_fini(part);
	return failed ? -ENOMEM : 0;
}

/* Encodes the tree twice: the first time only to count its bytes, which stand in front. */
static int add_tree(struct packer *packer, const struct graph *graph, struct svg_keys *keys)
{
	_cleanup_(svg_data_fini) struct svg_data tree = {0};
	_cleanup_(packer_freep) struct packer *counter = packer_new(NULL, PACKED_SMALL);
	struct looks looks;
	int rc;

	looks_init(&looks, PALETTE_KINDS, NULL);
	rc = counter ? svg_data_init(&tree, graph, &looks, keys) : -ENOMEM;
	if (rc < 0)
		return rc;
	svg_data_encode(&tree, counter);
	packer_add_varint(packer, packer_bytes(counter));
	svg_data_encode(&tree, packer);
	return 0;
}

static void add_text(struct bytes *out, const char *text, char end)
{
	text_clean(out, text ? text : "", UTF8_REPLACEMENT);
	bytes_add_char(out, end);
}

static void add_number(struct bytes *out, uint64_t number, char end)
{
	char text[24];
	const int len = snprintf(text, sizeof(text), "%" PRIu64 "%c", number, end);

	bytes_add(out, text, (size_t)len);
}

static void fact_text(struct bytes *out, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	add_text(out, key, '\t');
	add_text(out, text, '\n');
}

static void fact_number(struct bytes *out, const char *key, uint64_t number)
{
	if (number == 0)
		return;
	add_text(out, key, '\t');
	add_number(out, number, '\n');
}

/* Writes kind or change, a tab, then separated by spaces: letter, KIND_SHADES colours, title. */
static void add_look(struct bytes *out, const char *what, const struct looks *looks, unsigned class)
{
	char text[160];
	int len = snprintf(text, sizeof(text), "%s\t%s", what, class_letter(looks, class));

	for (unsigned shade = 0; shade < KIND_SHADES; shade++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " #%06" PRIx32,
				looks->rgb[class][shade]);
	bytes_add(out, text, (size_t)len);
	bytes_add_char(out, ' ');
	add_text(out, looks->titles[class], '\n');
}

static void add_looks(struct bytes *out, const struct profile_diff *diff)
{
	struct looks looks;

	looks_init(&looks, PALETTE_KINDS, NULL);
	for (unsigned class = 0; class < looks.n_classes; class ++)
		add_look(out, "kind", &looks, class);
	if (!diff)
		return;
	looks_init(&looks, PALETTE_KINDS, diff);
	for (unsigned class = 0; class < looks.n_classes; class ++)
		add_look(out, "change", &looks, class);
}

/* Writes framework, plumbing or task, a tab, the starts separated by spaces, a tab, the name. */
static void add_lists(struct bytes *out, const char *what, const struct name_list *lists, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add_text(out, what, '\t');
		for (const char *const *start = lists[i].starts; *start; start++)
			add_text(out, *start, start[1] ? ' ' : '\t');
		add_text(out, lists[i].name, '\n');
	}
}

static void add_words(struct bytes *out, const char *key, const char *const *words)
{
	for (; *words; words++)
		fact_text(out, key, *words);
}

/*
 * Writes which stacks of threads that wait are shown at first, for all kinds alike, and what tells
 * idle ones.
 */
static void add_waits(struct bytes *out, const struct profile *profile,
		      const struct wait_options *options)
{
	char states[64];
	size_t len = 0;

	for (int state = 0; options->states && state < WAIT_STATES; state++) {
		if (options->states >> state & 1)
			len += (size_t)snprintf(states + len, sizeof(states) - len, "%s%s",
						len ? " " : "",
						wait_state_word((enum wait_state)state));
	}
	fact_text(out, "states", len ? states : NULL);
	fact_number(out, "idle", options->idle == WAIT_IDLE_SHOWN);
	if (!waits_are_in(profile))
		return;
	add_words(out, "idle_frame", idle_frames);
	for (size_t i = 0; i < options->n_idle_frames; i++)
		fact_text(out, "idle_frame", options->idle_frames[i]);
	add_words(out, "idle_loop", idle_loops);
	add_words(out, "idle_wait", idle_waits);
}

static void add_quality(struct bytes *out, const struct profile_info *info)
{
	const struct profile_quality *const quality = &info->quality;

	fact_number(out, "unnamed", quality->unnamed_samples);
	fact_number(out, "unnamed_java", quality->unnamed_java_samples);
	fact_number(out, "unrooted", quality->unrooted_samples);
	fact_number(out, "heapless", quality->heapless_samples);
	fact_number(out, "lost", quality->lost_samples);
	fact_number(out, "stackless", quality->stackless_samples);
	fact_number(out, "overflow", quality->overflow_samples);
	for (size_t i = 0; i < PROFILE_REASONS; i++) {
		if (!quality->truncated_samples[i] || !info->reasons[i])
			continue;
		add_text(out, "truncated", '\t');
		add_number(out, quality->truncated_samples[i], ' ');
		add_text(out, info->reasons[i], '\n');
	}
}

/* Writes how the page compares at first. A reader can change that. */
static void add_comparison(struct bytes *out, const struct diff_options *options)
{
	static const char *const widths[] = {
		[DIFF_WIDTH_AFTER] = "after",
		[DIFF_WIDTH_BEFORE] = "before",
		[DIFF_WIDTH_UNION] = "union",
	};

	fact_text(out, "widths", widths[options->width]);
	fact_number(out, "raw", options->is_raw);
	fact_number(out, "sample_weight", (uint64_t)options->sample_weight);
}

static void add_facts(struct bytes *out, const struct profile *profile,
		      const struct render_options *options)
{
	const struct profile_info *const info = options->info;
	const struct timeline *const timeline = options->timeline;
	const struct profile_kind *const kind = render_kind(options);

	fact_text(out, "title", options->title ? options->title : "Flame Graph");
	fact_text(out, "subtitle", options->subtitle);
	fact_text(out, "notes", options->notes);
	fact_text(out, "losses", options->losses);
	if (!profile_kind_is_same(kind, &profile_kind_cpu)) {
		fact_text(out, "samples_kind", kind->name);
		fact_text(out, "unit", profile_kind_noun(kind));
	} else {
		fact_text(out, "unit", options->event_unit);
	}
	fact_number(out, "split", options->splits_levels);
	/*
	 * Where threads wait is a method of the program, below which are the kernel's and the
	 * JVM's.
	 */
	fact_number(out, "java_only", options->java_only || profile_kind_is_of_threads(kind));
	fact_number(out, "folded", options->folds_frameworks);
	fact_number(out, "starts", options->shows_starts);
	add_looks(out, options->diff);
	add_lists(out, "framework", framework_lists, framework_count);
	add_lists(out, "plumbing", plumbing_lists, plumbing_count);
	add_lists(out, "task", task_lists, task_count);
	add_waits(out, profile, &options->waits);
	if (options->diff)
		add_comparison(out, &options->diff->options);
	if (timeline) {
		fact_number(out, "bucket_ns", timeline->bucket_ns);
		fact_number(out, "untimed", timeline->lost_samples);
		fact_number(out, "renamed", timeline->lost_names);
	}
	if (!info)
		return;
	fact_text(out, "host", info->host);
	fact_text(out, "kernel", info->kernel);
	fact_text(out, "event", info->event);
	fact_text(out, "program", info->program);
	fact_number(out, "hz", info->hz);
	fact_number(out, "start_ms", info->start_unix_ns / 1000000);
	fact_number(out, "duration_ns", info->duration_ns);
	if (profile_kind_is_same(kind, &profile_kind_cpu))
		fact_number(out, "cpu_period_ns", profile_cpu_period_ns(info->event, info->hz));
	add_quality(out, info);
}

static void add_before(struct bytes *out, const struct graph *graph)
{
	for (uint32_t i = 0; graph->diff && i < graph->count; i++)
		bytes_add_varint(out, graph->diff->nodes[graph_node(graph, i)].self[DIFF_BEFORE]);
}

static void add_processes(struct bytes *out, const struct timeline *timeline)
{
	for (size_t i = 0; timeline && i < timeline->n_processes; i++) {
		const struct timeline_process *const process = &timeline->processes[i];

		add_number(out, (uint64_t)process->pid, '\t');
		add_text(out, process->title, '\t');
		add_text(out, process->container, '\t');
		add_text(out, process->runtime, '\t');
		add_text(out, process->container_name, '\t');
		add_text(out, process->pod, '\t');
		add_text(out, process->name_space, '\t');
		add_text(out, process->image, '\n');
	}
}

/* A line of a thread's labels, with a colon behind the key. */
static void add_label(struct bytes *out, const char *line, size_t len)
{
	_cleanup_(bytes_fini) struct bytes text = {0};
	unsigned tabs = 0;

	for (size_t i = 0; i < len; i++) {
		if (line[i] != '\t')
			bytes_add_char(&text, line[i]);
		else if (tabs++ == 0)
			bytes_add(&text, ": ", 2);
		else if (i + 1 < len)
			bytes_add_char(&text, ' ');
	}
	text_clean(out, bytes_text(&text), UTF8_REPLACEMENT);
	out->failed |= text.failed;
}

static void add_threads(struct bytes *out, const struct timeline *timeline)
{
	char pool[POOL_NAME_BYTES];

	for (size_t i = 0; timeline && i < timeline->n_threads; i++) {
		add_number(out, timeline->threads[i].process, '\t');
		add_number(out, (uint64_t)timeline->threads[i].tid, '\t');
		add_text(out, timeline->threads[i].name, '\t');
		pool_name(timeline->threads[i].name, pool);
		add_text(out, pool, '\n');
	}
}

/* A line a thread; no lines where no thread has labels. */
static void add_labels(struct bytes *out, const struct timeline *timeline)
{
	const struct timeline_thread *const threads = timeline ? timeline->threads : NULL;
	bool has_labels = false;

	for (size_t i = 0; timeline && i < timeline->n_threads; i++)
		has_labels |= threads[i].labels[0] != '\0';
	for (size_t i = 0; has_labels && i < timeline->n_threads; i++) {
		for (const char *at = threads[i].labels; *at;) {
			const char *const end = strchrnul(at, '\n');

			add_label(out, at, (size_t)(end - at));
			at = *end ? end + 1 : end;
			if (*at)
				bytes_add_char(out, '\t');
		}
		bytes_add_char(out, '\n');
	}
}

static int add_times(struct bytes *out, const struct graph *graph, const struct timeline *timeline)
{
	_cleanup_free_ uint32_t *place = NULL;
	uint32_t bucket = 0;

	if (!timeline || timeline->n_entries == 0)
		return 0;
	place = calloc(graph->profile->count, sizeof(*place));
	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->count; i++)
		place[graph_node(graph, i)] = i;
	bytes_add_varint(out, timeline->n_entries);
	for (size_t i = 0; i < timeline->n_entries; i++) {
		bytes_add_varint(out, timeline->entries[i].bucket - bucket);
		bucket = timeline->entries[i].bucket;
	}
	for (size_t i = 0; i < timeline->n_entries; i++)
		bytes_add_varint(out, timeline->entries[i].thread);
	for (size_t i = 0; i < timeline->n_entries; i++)
		bytes_add_varint(out, place[timeline->entries[i].node]);
	for (size_t i = 0; i < timeline->n_entries; i++)
		bytes_add_varint(out, timeline->entries[i].weight);
	return 0;
}

int html_data_write(const struct graph *graph, const struct render_options *options,
		    struct svg_keys *keys, FILE *stream)
{
	_cleanup_(packer_freep) struct packer *packer = packer_new(stream, PACKED_SMALL);
	_cleanup_(bytes_fini) struct bytes part = {0};
	int rc;

	if (!packer)
		return -ENOMEM;
	add_facts(&part, graph->profile, options);
	rc = add_part(packer, &part);
	if (rc == 0)
		rc = add_tree(packer, graph, keys);
	if (rc < 0)
		return rc;
	add_before(&part, graph);
	rc |= add_part(packer, &part);
	add_processes(&part, options->timeline);
	rc |= add_part(packer, &part);
	add_threads(&part, options->timeline);
	rc |= add_part(packer, &part);
	rc |= add_times(&part, graph, options->timeline);
	rc |= add_part(packer, &part);
	add_labels(&part, options->timeline);
	rc |= add_part(packer, &part);
	return rc < 0 ? -ENOMEM : packer_end(packer);
}
