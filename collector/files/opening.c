// SPDX-License-Identifier: Apache-2.0
/* Guarded calls that lead to a process's files, see opening.h. */
#include "files/opening.h"

#include "base/guarded.h"
#include "base/root_file.h"
#include "files/module_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char unanswered[] = "its process does not answer";

struct opening_call {
	struct guarded_call base;
	pid_t pid;
	struct mapping mapping; /* with a path of its own */
	struct opened opened;
};

static void run_opening(struct guarded_call *base)
{
	struct opening_call *const call = (struct opening_call *)base;
	const int root = root_file_open_root(call->pid);

	call->opened.scope = file_scope_of(call->pid, root);
	if (root >= 0)
		close(root);
	call->opened.fd =
		module_file_open(call->pid, &call->mapping, &call->opened.st, &call->opened.reason);
}

static void free_opening(struct guarded_call *base)
{
	struct opening_call *const call = (struct opening_call *)base;

	if (call->opened.fd >= 0)
		close(call->opened.fd);
	free((char *)call->mapping.path);
	free(call);
}

static struct opening_call *make_call(pid_t pid, const struct mapping *mapping)
{
	struct opening_call *call = calloc(1, sizeof(*call));
	char *path = strdup(mapping->path ? mapping->path : "");

	if (!call || !path) {
		free(call);
		free(path);
		return NULL;
	}
	call->base = (struct guarded_call){.run = run_opening, .free = free_opening, .opens = true};
	call->pid = pid;
	call->mapping = *mapping;
	call->mapping.path = path;
	call->opened.fd = -1;
	return call;
}

void opening_run(pid_t pid, const struct mapping *mapping, struct opened *ret)
{
	struct opening_call *const call = make_call(pid, mapping);
	enum guarded_end end;

	*ret = (struct opened){.fd = -ENOMEM, .reason = "out of memory"};
	if (!call)
		return;
	end = guarded_run(pid, &call->base);
	if (end == GUARDED_DONE) {
		*ret = call->opened;
		call->opened.fd = -1;
	} else {
		*ret = (struct opened){.fd = -ETIMEDOUT, .reason = unanswered};
	}
	if (end != GUARDED_LATE)
		free_opening(&call->base);
}

struct root_call {
	struct guarded_call base;
	pid_t pid;
	struct file_scope scope;
	int root;
};

static void run_root(struct guarded_call *base)
{
	struct root_call *const call = (struct root_call *)base;
	const int root = root_file_open_root(call->pid);
	const struct file_scope now = file_scope_of(call->pid, root);

	call->root = root;
	if (root < 0 || (now.mounts != 0 && file_scope_equal(&now, &call->scope)))
		return;
	close(root);
	call->root = -ESTALE;
}

static void free_root(struct guarded_call *base)
{
	struct root_call *const call = (struct root_call *)base;

	if (call->root >= 0)
		close(call->root);
	free(call);
}

int opening_root(pid_t pid, const struct file_scope *scope)
{
	struct root_call *call = calloc(1, sizeof(*call));
	enum guarded_end end;
	int root = -ETIMEDOUT;

	if (!call)
		return -ENOMEM;
	call->base = (struct guarded_call){.run = run_root, .free = free_root, .opens = true};
	call->pid = pid;
	call->scope = *scope;
	call->root = -1;
	end = guarded_run(pid, &call->base);
	if (end == GUARDED_DONE) {
		root = call->root;
		call->root = -1;
	}
	if (end != GUARDED_LATE)
		free_root(&call->base);
	return root;
}
