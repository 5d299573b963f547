// SPDX-License-Identifier: Apache-2.0
/* Makes a capture of a recording in memory, see recording_capture.h. */
#include "capture/recording_capture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int recording_capture_start(struct recording *recording, const struct recording_model *model)
{
	struct capture_stages stages = {.tables = model->tables, .symbolizer = model->symbolizer};
	const int fd = memfd_create("fgcollect-capture", MFD_CLOEXEC);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	struct capture *capture;
	int err;

	if (!stream) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = unwinder_new(model->tables, &recording->unwinder);
	if (err) {
		fclose(stream);
		return err;
	}
	stages.unwinder = recording->unwinder;
	err = capture_new(&stages, stream, &capture);
	if (err)
		return err;
	recording->watch = capture_watch(capture);
	if (model->budget)
		recording->watch->ops->set_max_bytes(recording->watch, model->budget->capture);
	return 0;
}

int recording_capture_end(struct recording *recording, uint64_t now_ns, struct capture_counts *ret)
{
	struct capture *const capture = recording->watch ? capture_of(recording->watch) : NULL;
	struct profile_info info;
	int fd;

	if (!capture)
		return -ENOENT;
	recording_info(recording, recording->trees[0], now_ns, &info);
	fd = capture_finish(capture, &info, recording->start_ns);
	capture_counts(capture, ret);
	recording->watch->ops->free(recording->watch);
	recording->watch = NULL;
	return fd;
}
