// SPDX-License-Identifier: Apache-2.0
/* Draws a recording's graph in a thread, see drawing.h. */
#include "serve/drawing.h"

#include "base/thread.h"
#include "serve/request.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

struct drawing_thread {
	struct drawing *drawing;
	pthread_t thread;
	int wake_fd;
	atomic_bool is_done; /* the thread no longer uses anything of the drawing */
	int result;	     /* a descriptor, or negative errno */
};

int drawing_bytes_of(int (*write_bytes)(void *arg, FILE *stream), void *arg)
{
	const int fd = memfd_create("fgcollect", MFD_CLOEXEC);
	const int writer = fd < 0 ? -1 : dup(fd);
	FILE *stream = writer < 0 ? NULL : fdopen(writer, "w");
	int err = stream ? 0 : -errno;

	if (stream) {
		err = write_bytes(arg, stream);
		if (fclose(stream) != 0 && !err)
			err = -errno;
	} else if (writer >= 0) {
		close(writer);
	}
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int draw(void *arg, FILE *stream)
{
	const struct drawing *drawing = arg;
	struct render_options options;
	char why[REQUEST_WHY_BYTES]; /* it was taken before, and will be now */
	const int err = request_take_render(drawing->request, &options, why);

	return err ? err : recording_render(drawing->recording, drawing->format, &options, stream);
}

static void *run(void *arg)
{
	struct drawing_thread *thread = arg;
	const int wake_fd = thread->wake_fd;

	thread->result = drawing_bytes_of(draw, thread->drawing);
	atomic_store(&thread->is_done, true);
	eventfd_write(wake_fd, 1);
	return NULL;
}

static void drawing_free(struct drawing *drawing)
{
	json_decref(drawing->request);
	free(drawing->thread);
	free(drawing);
}

int drawing_start(struct recording *recording, const json_t *request, enum render_format format,
		  int wake_fd, struct drawing **ret)
{
	struct drawing *drawing = calloc(1, sizeof(*drawing));
	int err;

	if (!drawing)
		return -ENOMEM;
	*drawing = (struct drawing){.recording = recording,
				    .request = json_deep_copy(request),
				    .format = format,
				    .client = -1,
				    .thread = calloc(1, sizeof(*drawing->thread))};
	err = drawing->request && drawing->thread ? 0 : -ENOMEM;
	if (!err) {
		drawing->thread->drawing = drawing;
		drawing->thread->wake_fd = wake_fd;
		err = thread_start(&drawing->thread->thread, run, drawing->thread);
	}
	if (err) {
		drawing_free(drawing);
		return err;
	}
	*ret = drawing;
	return 0;
}

bool drawing_is_done(const struct drawing *drawing)
{
	return atomic_load(&drawing->thread->is_done);
}

int drawing_end(struct drawing *drawing)
{
	int result;

	pthread_join(drawing->thread->thread, NULL);
	result = drawing->thread->result;
	drawing_free(drawing);
	return result;
}
