// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of our own recordings. Its input is records, which are put into gzip here: what zlib
 * makes of damaged files is not ours to find. What was read is written and read again, and must be
 * the same then.
 */
#include "fuzzer.h"

#include "encode/gzip.h"
#include "import/import.h"
#include "profile/recording_format.h"
#include "render/render.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct reading {
	struct profile profile, before;
	struct import_recording recording;
	int err;
};

static void read_file(const void *data, size_t len, struct reading *ret)
{
	static const struct import_options options = {0};
	const int fd = memfd_create("fuzz", 0);
	struct import_target target = {
		.profile = &ret->profile, .before = &ret->before, .recording = &ret->recording};

	*ret = (struct reading){.err = 0};
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) < 0 ||
	    profile_init(&ret->profile, 4096) < 0 || profile_init(&ret->before, 16) < 0)
		abort();
	timeline_init(&ret->recording.timeline, 4096);
	ret->err = import_read(fd, &options, &target);
	if (ret->err < 0 && !target.report.first_reason)
		abort();
	if (ret->profile.nodes[0].total != ret->profile.quality.samples)
		abort();
	close(fd);
}

static void reading_fini(struct reading *reading)
{
	profile_fini(&reading->profile);
	profile_fini(&reading->before);
	timeline_fini(&reading->recording.timeline);
}

/* In any format, so that what reads a timeline meets whatever a file can say. */
static char *written(const struct reading *reading, enum render_format format, size_t *ret_len)
{
	const struct render_options options = {.title = reading->recording.title,
					       .info = &reading->recording.info,
					       .timeline = &reading->recording.timeline};
	char *data = NULL;
	FILE *const stream = open_memstream(&data, ret_len);

	if (!stream || render_write(&reading->profile, format, &options, stream) < 0)
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

	read_file(data, len, &again);
	if (again.err < 0)
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
	static struct gzip gzip;
	struct reading reading;
	char *file = NULL;
	size_t len;
	FILE *const stream = open_memstream(&file, &len);

	if (!stream || gzip_init(&gzip, stream) < 0)
		abort();
	fputs(RECORDING_FORMAT_MAGIC RECORDING_FORMAT_VERSION, stream);
	gzip_add(&gzip, data, size);
	if (gzip_finish(&gzip) < 0)
		abort();
	gzip_fini(&gzip);
	fclose(stream);
	read_file(file, len, &reading);
	free(file);
	if (reading.err == 0) {
		check_again(&reading);
		file = written(&reading, (enum render_format)(size % RENDER_RECORDING), &len);
		free(file);
	}
	reading_fini(&reading);
	return 0;
}
