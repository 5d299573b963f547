// SPDX-License-Identifier: Apache-2.0
/*
 * The replay of a capture. Its input is records, which are put behind the magic and into gzip here:
 * what zlib makes of damaged files is not ours to find. A capture that was replayed is replayed
 * again, and must have the same stacks then. A capture that is refused must say why.
 */
#include "fuzzer.h"

#include "capture/capture_format.h"
#include "capture/replay.h"
#include "encode/compressor.h"
#include "sinks/tree_sink.h"
#include "render/render.h"

#include <stdlib.h>
#include <string.h>

/* What the samples of a run count for. */
struct seen {
	uint64_t samples, weight;
};

static void add_up(void *arg, uint64_t id, const struct named_sample *sample)
{
	struct seen *const seen = arg;

	(void)id;
	seen->samples++;
	seen->weight += sample->values[0];
}

/* The stacks of a run, folded; NULL: the run found damage. */
static char *replayed(struct replay *replay, size_t *ret_len)
{
	static const struct chain_style style = {.has_native_lines = true, .by_thread = true};
	struct seen seen = {0};
	struct replay_run run = {.style = &style, .named = add_up, .arg = &seen};
	struct replay_counts counts;
	struct tree_sink *tree;
	char *text = NULL;
	FILE *stream;
	int err;

	if (tree_sink_new(&tree) < 0 ||
	    tree->sink.ops->begin(&tree->sink, replay_start_ns(replay)) < 0)
		abort();
	run.sinks = &tree->sink;
	err = replay_run(replay, &run, &counts);
	if (seen.samples != counts.samples || tree->profile.quality.samples != seen.weight)
		abort();
	if (err == 0) {
		stream = open_memstream(&text, ret_len);
		if (!stream || render_folded(&tree->profile, NULL, stream) < 0)
			abort();
		fclose(stream);
	}
	sink_free_all(&tree->sink);
	return text;
}

static void check_again(struct replay *replay)
{
	size_t len, len_again;
	char *const text = replayed(replay, &len);
	char *const text_again = replayed(replay, &len_again);

	if (!text != !text_again || (text && (len != len_again || memcmp(text, text_again, len))))
		abort();
	free(text);
	free(text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char start[] = {CAPTURE_MAGIC "\1"};
	static struct compressor compressor;
	struct replay *replay = NULL;
	const char *reason = NULL;
	char *file = NULL;
	size_t len;
	FILE *const stream = open_memstream(&file, &len);
	int err;

	if (!stream || compressor_init(&compressor, COMPRESSION_GZIP, stream) < 0)
		abort();
	compressor_add(&compressor, start, sizeof(start) - 1);
	compressor_add(&compressor, data, size);
	if (compressor_finish(&compressor) < 0)
		abort();
	compressor_fini(&compressor);
	fclose(stream);
	err = replay_open_bytes(file, len, &replay, &reason);
	free(file);
	if (err && (replay || !reason || !reason[0]))
		abort();
	if (!err)
		check_again(replay);
	replay_free(replay);
	return 0;
}
