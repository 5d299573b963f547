// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of our own recordings, which may have several kinds of samples. Its input is records,
 * which are put into gzip here: what zlib makes of damaged files is not ours to find. What was read
 * is written and read again, and must be the same then.
 */
#include "fuzzer.h"

#include "encode/compressor.h"
#include "import/import.h"
#include "profile/recording_format.h"
#include "render/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A kind of samples that was read. */
struct kind_read {
	char texts[2][PROFILE_KIND_BYTES];
	struct profile_kind kind;
	struct profile profile, before;
	struct import_recording recording;
};

/* target is the first member, see open_kind. */
struct reading {
	struct import_target target;
	struct kind_read kinds[PROFILE_MAX_KINDS];
	size_t n;	 /* kinds with a profile; the first has one before reading */
	size_t n_opened; /* kinds that were asked for */
	size_t refused;	 /* the number of the kind that is not wanted */
	int err;
};

static void add_kind(struct reading *reading)
{
	struct kind_read *const kind = &reading->kinds[reading->n++];

	if (profile_init(&kind->profile, 4096) < 0 || profile_init(&kind->before, 16) < 0)
		abort();
	timeline_init(&kind->recording.timeline, 4096);
}

static int open_kind(struct import_target *target, const struct profile_kind *kind)
{
	struct reading *const reading = (struct reading *)target;
	struct kind_read *to;

	if (reading->n_opened++ == reading->refused)
		return 1;
	if (reading->kinds[0].kind.name)
		add_kind(reading);
	to = &reading->kinds[reading->n - 1];
	snprintf(to->texts[0], PROFILE_KIND_BYTES, "%s", kind->name);
	snprintf(to->texts[1], PROFILE_KIND_BYTES, "%s", kind->unit);
	to->kind = (struct profile_kind){to->texts[0], to->texts[1]};
	target->profile = &to->profile;
	target->before = &to->before;
	target->recording = &to->recording;
	return 0;
}

static void read_file(const void *data, size_t len, size_t refused, struct reading *ret)
{
	static const struct import_options options = {0};
	const int fd = memfd_create("fuzz", 0);

	*ret = (struct reading){.refused = refused};
	add_kind(ret);
	ret->target.profile = &ret->kinds[0].profile;
	ret->target.open = open_kind;
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) < 0)
		abort();
	ret->err = import_read(fd, &options, &ret->target);
	if (ret->err < 0 && !ret->target.report.first_reason)
		abort();
	for (size_t i = 0; i < ret->n; i++) {
		struct profile *const profile = &ret->kinds[i].profile;

		profile_sum(profile);
		if (profile->nodes[0].total != profile->quality.samples)
			abort();
	}
	close(fd);
}

static void reading_fini(struct reading *reading)
{
	for (size_t i = 0; i < reading->n; i++) {
		profile_fini(&reading->kinds[i].profile);
		profile_fini(&reading->kinds[i].before);
		timeline_fini(&reading->kinds[i].recording.timeline);
	}
}

/* In any format, so that what reads a timeline meets whatever a file can say. */
static char *written(const struct reading *reading, enum render_format format, size_t *ret_len)
{
	const struct import_recording *const first = &reading->kinds[0].recording;
	struct profile_part others[PROFILE_MAX_KINDS];
	const struct render_options options = {
		.title = first->title,
		.info = &first->info,
		.timeline = &first->timeline,
		.kind = reading->kinds[0].kind.name ? &reading->kinds[0].kind : NULL,
		.others = others,
		.n_others = reading->n - 1,
	};
	char *data = NULL;
	FILE *const stream = open_memstream(&data, ret_len);

	for (size_t i = 1; i < reading->n; i++) {
		const struct kind_read *const kind = &reading->kinds[i];

		others[i - 1] =
			(struct profile_part){&kind->kind, &kind->profile,
					      &kind->recording.timeline, &kind->recording.info};
	}
	if (!stream || render_write(&reading->kinds[0].profile, format, &options, stream) < 0)
		abort();
	fclose(stream);
	return data;
}

static void check_again(const struct reading *reading)
{
	struct reading again;
	size_t len, again_len;
	char *const data = written(reading, RENDER_RECORDING, &len);
	char *data_again;

	read_file(data, len, PROFILE_MAX_KINDS, &again);
	if (again.err < 0 || again.n != reading->n)
		abort();
	data_again = written(&again, RENDER_RECORDING, &again_len);
	if (len != again_len || memcmp(data, data_again, len) != 0)
		abort();
	free(data);
	free(data_again);
	reading_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct compressor compressor;
	struct reading reading;
	char *file = NULL;
	size_t len;
	FILE *const stream = open_memstream(&file, &len);
	const bool is_xz = size % 3 == 2;

	if (!stream ||
	    compressor_init(&compressor, is_xz ? COMPRESSION_XZ : COMPRESSION_GZIP, stream) < 0)
		abort();
	fputs(is_xz	 ? RECORDING_FORMAT_MAGIC RECORDING_FORMAT_XZ
	      : size % 2 ? RECORDING_FORMAT_MAGIC RECORDING_FORMAT_KINDS
			 : RECORDING_FORMAT_MAGIC RECORDING_FORMAT_VERSION,
	      stream);
	compressor_add(&compressor, data, size);
	if (compressor_finish(&compressor) < 0)
		abort();
	compressor_fini(&compressor);
	fclose(stream);
	read_file(file, len, size % (2 * PROFILE_MAX_KINDS), &reading);
	free(file);
	if (reading.err == 0) {
		check_again(&reading);
		file = written(&reading, (enum render_format)(size % RENDER_RECORDING), &len);
		free(file);
	}
	reading_fini(&reading);
	return 0;
}
