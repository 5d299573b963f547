// SPDX-License-Identifier: Apache-2.0
/*
 * Colours, see palette.h. A palette by name goes from one colour to another in KIND_SHADES steps. A
 * diff's classes go from nearly white to orange or blue, which eyes of every sort tell apart; new
 * and gone frames are darker than any that have changed.
 */
#include "render/palette.h"

#include "base/hash.h"
#include "render/name_colors.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct ramp {
	uint8_t from[3];
	uint8_t to[3];
};

static const struct ramp ramps[PALETTES] = {
	[PALETTE_HOT] = {{232, 96, 60}, {250, 220, 90}},
	[PALETTE_MEM] = {{60, 190, 110}, {150, 240, 190}},
	[PALETTE_IO] = {{120, 150, 235}, {175, 200, 255}},
	[PALETTE_RED] = {{232, 100, 90}, {255, 170, 160}},
	[PALETTE_GREEN] = {{80, 190, 80}, {150, 235, 150}},
	[PALETTE_BLUE] = {{110, 150, 240}, {180, 205, 255}},
	[PALETTE_AQUA] = {{70, 185, 190}, {150, 230, 232}},
	[PALETTE_YELLOW] = {{210, 195, 60}, {245, 235, 130}},
	[PALETTE_PURPLE] = {{190, 120, 220}, {225, 175, 245}},
	[PALETTE_ORANGE] = {{225, 140, 40}, {255, 195, 120}},
};

static const struct {
	const char *name;
	enum palette palette;
} names[] = {
	{"java", PALETTE_KINDS},    {"js", PALETTE_KINDS},	{"perl", PALETTE_KINDS},
	{"hot", PALETTE_HOT},	    {"mem", PALETTE_MEM},	{"io", PALETTE_IO},
	{"rust", PALETTE_KINDS},    {"python", PALETTE_KINDS},	{"wakeup", PALETTE_AQUA},
	{"chain", PALETTE_AQUA},    {"red", PALETTE_RED},	{"green", PALETTE_GREEN},
	{"blue", PALETTE_BLUE},	    {"aqua", PALETTE_AQUA},	{"yellow", PALETTE_YELLOW},
	{"purple", PALETTE_PURPLE}, {"orange", PALETTE_ORANGE},
};

static const struct {
	const char *title;
	struct ramp ramp;
} changes[CHANGES] = {
	[CHANGE_NOISE] = {"no change beyond noise", {{226, 226, 224}, {240, 240, 238}}},
	[CHANGE_MORE] = {"more", {{250, 226, 205}, {242, 150, 60}}},
	[CHANGE_LESS] = {"less", {{218, 230, 250}, {110, 170, 244}}},
	[CHANGE_NEW] = {"new", {{226, 84, 50}, {226, 84, 50}}},
	[CHANGE_GONE] = {"gone", {{98, 116, 222}, {98, 116, 222}}},
};

int palette_of(const char *name, enum palette *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		*ret = names[i].palette;
		return 0;
	}
	return -EINVAL;
}

const char *palette_names(void)
{
	return "java js perl rust python hot mem io wakeup chain red green blue aqua yellow purple "
	       "orange";
}

static uint32_t step_of(const struct ramp *ramp, unsigned shade)
{
	uint32_t rgb = 0;

	for (int i = 0; i < 3; i++) {
		const int from = ramp->from[i], to = ramp->to[i];

		rgb = rgb << 8 |
		      (uint32_t)(from + (to - from) * (int)shade / ((int)KIND_SHADES - 1));
	}
	return rgb;
}

static void init_changes(struct looks *looks)
{
	looks->n_classes = CHANGES;
	for (unsigned class = 0; class < CHANGES; class ++) {
		looks->titles[class] = changes[class].title;
		for (unsigned shade = 0; shade < KIND_SHADES; shade++)
			looks->rgb[class][shade] = step_of(&changes[class].ramp, shade);
	}
}

void looks_init(struct looks *looks, enum palette palette, const struct profile_diff *diff)
{
	*looks = (struct looks){.diff = diff, .n_classes = KINDS};
	looks->has_legend = diff || palette == PALETTE_KINDS;
	if (diff) {
		init_changes(looks);
		return;
	}
	for (unsigned kind = 0; kind < KINDS; kind++) {
		looks->titles[kind] = kind_title((enum kind)kind);
		for (unsigned shade = 0; shade < KIND_SHADES; shade++)
			looks->rgb[kind][shade] = palette == PALETTE_KINDS
							  ? kind_rgb((enum kind)kind, shade)
							  : step_of(&ramps[palette], shade);
	}
}

enum change change_of(const struct profile_diff *diff, const struct diff_counts *counts)
{
	const uint64_t before = counts->total[DIFF_BEFORE], after = counts->total[DIFF_AFTER];
	const double change = diff_change(diff, counts->total);

	if (change == 0 || diff_is_noise(diff, counts->total))
		return CHANGE_NOISE;
	if (before == 0)
		return CHANGE_NEW;
	if (after == 0)
		return CHANGE_GONE;
	return change > 0 ? CHANGE_MORE : CHANGE_LESS;
}

/*
 * The shade grows with the part of a node that has changed, so that changes of small nodes show
 * too.
 */
static unsigned change_shade(const struct profile_diff *diff, const struct diff_counts *counts)
{
	const uint64_t *const all = diff->nodes[PROFILE_ROOT].total;
	const double whole = (double)(all[DIFF_AFTER] ? all[DIFF_AFTER] : all[DIFF_BEFORE]);
	const double after = (double)counts->total[DIFF_AFTER] / (whole > 0 ? whole : 1);
	const double change = diff_change(diff, counts->total);
	const double greater = change < 0 ? after - change : after;
	const double share = greater > 0 ? fabs(change) / greater : 0;
	const unsigned shade = (unsigned)(sqrt(share) * KIND_SHADES);

	return shade < KIND_SHADES ? shade : KIND_SHADES - 1;
}

unsigned look_class_of(const struct looks *looks, const struct profile *profile, uint32_t node)
{
	const struct profile_node *const of = &profile->nodes[node];

	if (looks->diff)
		return change_of(looks->diff, &looks->diff->nodes[node]);
	return kind_of((enum frame_kind)of->kind, of->name);
}

/* A random number for a name, which is equal for all uses of the name in one drawing. */
static unsigned random_of(const struct looks *looks, const char *name)
{
	return looks->random ? (unsigned)(quick_hash_text(looks->random, name, strlen(name)) >> 7)
			     : 0;
}

struct look look_of(const struct looks *looks, const struct profile *profile, uint32_t node)
{
	const unsigned class = look_class_of(looks, profile, node);

	if (looks->diff)
		return (struct look){class, change_shade(looks->diff, &looks->diff->nodes[node])};
	return (struct look){class, (kind_shade_of(profile->nodes[node].name) ^
				     random_of(looks, profile->nodes[node].name)) %
					    KIND_SHADES};
}

uint32_t look_rgb(const struct looks *looks, const struct profile *profile, uint32_t node,
		  struct look look)
{
	const uint32_t *const chosen =
		looks->chosen && !looks->diff
			? name_colors_find(looks->chosen, &profile->nodes[node])
			: NULL;

	return chosen ? *chosen : looks->rgb[look.class][look.shade];
}
