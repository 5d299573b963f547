// SPDX-License-Identifier: Apache-2.0
/*
 * Builds the tree again, see draw_cut.h. A caller's number is smaller than its callees', so the
 * place of a node in the new tree is known when its callees are copied.
 */
#include "draw/draw_cut.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint32_t node; /* node of the new tree */
	bool is_below; /* the node is the frame, or is called by the frame */
	bool is_cut;   /* the node is an [overflow] node */
};

struct cut {
	const char *const *names; /* NULL ends them */
	bool keeps_others;
	uint64_t left_out;
};

static bool is_named(const struct cut *cut, const struct profile_node *node)
{
	for (const char *const *name = cut->names; *name; name++)
		if (strcmp(node->name, *name) == 0)
			return true;
	return false;
}

static int enter(struct profile *to, const struct profile_node *node, struct place *place)
{
	const struct frame frame = profile_frame_of(node);
	struct profile_name name;
	int rc = place->is_cut ? 0 : profile_keep_name(to, &frame, &name);

	if (rc < 0 || place->is_cut)
		return rc;
	rc = profile_descend(to, &name, &place->node);
	place->is_cut = rc == 1;
	return rc < 0 ? rc : 0;
}

/*
 * By node: samples of stacks through the node without the frame between node and leaf. The caller
 * frees the array.
 */
static uint64_t *count_others(const struct cut *cut, const struct profile *from)
{
	uint64_t *const others = calloc(from->count, sizeof(*others));

	for (uint32_t i = from->count - 1; others && i > 0; i--) {
		others[i] += from->nodes[i].self;
		if (!is_named(cut, &from->nodes[i]))
			others[from->nodes[i].parent] += others[i];
	}
	return others;
}

/*
 * Copies a node. others: the node's number in count_others. A node that only leads to the frame is
 * left out.
 */
static int copy_node(struct cut *cut, const struct profile_node *node, uint64_t others,
		     struct profile *to, struct place *place)
{
	const bool is_wanted = place->is_below || is_named(cut, node);
	int rc;

	if (is_wanted && !place->is_below)
		*place = (struct place){.node = PROFILE_ROOT, .is_below = true};
	if (!is_wanted && !cut->keeps_others)
		cut->left_out += node->self;
	if (!is_wanted && (!cut->keeps_others || others == 0))
		return 0;
	rc = enter(to, node, place);
	if (rc < 0 || node->self == 0)
		return rc;
	if (place->is_cut)
		to->quality.overflow_samples += node->self;
	return profile_count(to, place->node, node->self);
}

static int cut_all(struct cut *cut, const struct profile *from, struct profile *to)
{
	_cleanup_free_ struct place *places = calloc(from->count, sizeof(*places));
	_cleanup_free_ uint64_t *others = count_others(cut, from);
	int rc = places && others ? 0 : -ENOMEM;

	if (rc == 0 && cut->keeps_others)
		rc = profile_count(to, PROFILE_ROOT, from->nodes[PROFILE_ROOT].self);
	else
		cut->left_out += from->nodes[PROFILE_ROOT].self;
	for (uint32_t i = 1; rc == 0 && i < from->count; i++) {
		places[i] = places[from->nodes[i].parent];
		rc = copy_node(cut, &from->nodes[i], others[i], to, &places[i]);
	}
	profile_sum(to);
	return rc;
}

static int cut_profile(struct cut *cut, struct profile *profile)
{
	struct profile made;
	int rc = profile_init(&made, profile->max_nodes);

	if (rc == 0)
		rc = cut_all(cut, profile, &made);
	if (rc < 0) {
		profile_fini(&made);
		return rc;
	}
	profile_fini(profile);
	*profile = made;
	return 0;
}

static int cut_input(struct draw_input *input, struct cut *cut)
{
	char left_out[PROFILE_AMOUNT_BYTES];
	int err;

	draw_input_forget_recording(input, "they are of stacks that begin elsewhere");
	err = cut_profile(cut, &input->profile);
	if (!err)
		err = cut_profile(cut, &input->before);
	if (err) {
		log_error("there is no memory to cut the stacks: %s", strerror(-err));
		return err;
	}
	if (cut->left_out > 0)
		log_warning("%s whose stacks have no frame called %s%s are left out",
			    profile_kind_amount(input->kind.name ? &input->kind : &profile_kind_cpu,
						cut->left_out, left_out),
			    cut->names[0], cut->names[1] ? " or one of the others" : "");
	return 0;
}

int draw_cut(struct draw_input *input, const char *const *names, bool keeps_others)
{
	bool is_empty = true;

	for (; input; input = input->next) {
		struct cut cut = {.names = names, .keeps_others = keeps_others};
		const int err = cut_input(input, &cut);

		if (err)
			return err;
		is_empty &=
			input->profile.quality.samples == 0 && input->before.quality.samples == 0;
	}
	if (!is_empty)
		return 0;
	log_error("--base %s: no stack has such a frame; names are as in folded output, without "
		  "a suffix such as _[j]",
		  names[0]);
	return -ENODATA;
}
