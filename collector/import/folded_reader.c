// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks, as FlameGraph's tools write and read them:
 *
 *   line  = stack SP count [ SP count ]      the first of two counts is before, the second after
 *   stack = frame { ";" frame }              root first
 *   count = digits [ "." [ digits ] ]        no sign, no exponent; a ',' behind it is passed over
 *   comment = "#" [ SP ... ]
 *
 * Frames without a text, as in a;;b, are passed over.
 *
 * Counts are read from the end of the line, so frames may contain spaces. A frame that ends in a
 * space and a number is taken for a count before, as by every other reader; a file with such frames
 * has lines of both sorts, which the report tells. Counts that are not whole are rounded.
 *
 * Files are mostly sorted, so a line mostly begins like the line before. The nodes of the bytes
 * that both have are known already. As long as each stack is not less than the stack before, byte
 * by byte, all stacks that begin with some bytes follow each other. So a frame in which a stack
 * differs from the stack before is new, and its node is made without a look-up. The exception is a
 * frame at the end of a stack, such as b:
 *
 *   a;b 1
 *   a;b2;c 1      '2' is less than ';'
 *   a;b;c 1
 *
 * Such a node is kept as long as lines begin with its stack (struct tree, ends).
 */
#include "base/utf8.h"
#include "profile/frame_text.h"
#include "import/import_limits.h"
#include "import/name_cache.h"
#include "import/perf_names.h"
#include "import/readers.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENDS 256u

enum realm {
	REALM_FRAME,
	REALM_ROOT, /* the lowest frame, which is a thread or a process */
};

/* A frame of the line before: where the frame ends, and the node that the frame has. */
struct step {
	size_t end; /* offset of the ';' behind the frame */
	uint32_t node;
};

/* One of the two profiles, and the path to the node at which the last stack ended. */
struct tree {
	struct profile *profile; /* NULL: counts for this profile are left out */
	struct name_cache names;
	struct step *path;
	size_t depth;
	bool was_empty;	   /* the profile, when the file was begun */
	struct step *ends; /* nodes of whole stacks with which the line begins; the longest last */
	size_t n_ends;
};

struct folded {
	struct import_target *target;
	struct tree after;
	struct tree before;
	char *text;	   /* text of one frame, terminated */
	size_t before_len; /* of the stack of the line before */
	bool is_sorted;	   /* all stacks so far */
};

/* The stack of a line. */
struct stack {
	const char *text;
	size_t len;
	size_t common; /* bytes that the stack of the line before begins with too */
};

struct counts {
	uint64_t before;
	uint64_t after;
	bool are_two;
	bool is_rounded;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns 1 and the value, 0 if text is not a count, -1 if the count is too large. */
static int parse_count(const char *text, size_t len, uint64_t *ret, bool *ret_rounded)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < len && ascii_is_digit(text[i]); i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return -1;
	if (i == 0)
		return 0;
	if (i + 1 < len && text[i] == '.') {
		for (size_t digit = i + 1; digit < len; digit++) {
			if (!ascii_is_digit(text[digit]))
				return 0;
			*ret_rounded |= text[digit] != '0';
		}
		if (text[i + 1] >= '5' && __builtin_add_overflow(value, 1, &value))
			return -1;
	} else if (i < len && !(text[i] == '.' && i + 1 == len)) {
		return 0;
	}
	*ret = value;
	return 1;
}

/* Returns what looks like a count at the end of the line's first len bytes, behind a space. */
static const char *last_count(const char *line, size_t len, size_t *ret_len)
{
	size_t begin = len;

	while (begin > 0 && (ascii_is_digit(line[begin - 1]) || line[begin - 1] == '.'))
		begin--;
	*ret_len = begin > 0 && is_space(line[begin - 1]) ? len - begin : 0;
	return line + begin;
}

/* A comma behind the last count, where lines were taken out of a list, says nothing. */
static size_t without_comma(const char *line, size_t len)
{
	while (len > 1 &&
	       (is_space(line[len - 1]) || (line[len - 1] == ',' && ascii_is_digit(line[len - 2]))))
		len--;
	return len;
}

static size_t without_spaces(const char *line, size_t len)
{
	while (len > 0 && is_space(line[len - 1]))
		len--;
	return len;
}

static const char too_large[] = "its count is greater than 2^64 - 1";

/* Why a line that does not end in a count cannot be read. */
static const char *reason_of(const char *line, size_t len)
{
	size_t digits = len;

	while (digits > 0 && (ascii_is_digit(line[digits - 1]) || line[digits - 1] == '.'))
		digits--;
	if (len == 0)
		return "it is empty";
	if (digits == 0)
		return "it has a count, but no stack in front of it";
	if (digits < len && line[digits - 1] == '-' && (digits == 1 || is_space(line[digits - 2])))
		return "its count is negative";
	return "it does not end in a count";
}

/*
 * Returns NULL and the line's counts, or why the line has no count. *len becomes the length of the
 * stack.
 */
static const char *read_counts(const char *line, size_t *len, struct counts *ret)
{
	const size_t end = without_comma(line, *len);
	size_t count_len;
	const char *count = last_count(line, end, &count_len);
	int is_count = parse_count(count, count_len, &ret->after, &ret->is_rounded);

	if (is_count < 0)
		return too_large;
	if (is_count == 0)
		return reason_of(line, end);
	*len = without_spaces(line, (size_t)(count - line));
	if (*len == 0)
		return "it has a count, but no stack in front of it";
	count = last_count(line, *len, &count_len);
	is_count = parse_count(count, count_len, &ret->before, &ret->is_rounded);
	if (is_count < 0)
		return too_large;
	ret->are_two = is_count == 1;
	if (ret->are_two)
		*len = without_spaces(line, (size_t)(count - line));
	return *len > 0 ? NULL : "it has counts, but no stack in front of them";
}

/* Returns how many leading bytes of a and b are equal, at most len. */
static size_t common_bytes(const char *a, const char *b, size_t len)
{
	size_t i = 0;

	for (; len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t x, y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		if (x != y)
			break;
	}
	while (i < len && a[i] == b[i])
		i++;
	return i;
}

/*
 * Keeps what belongs to the stack: the nodes of the path, and the nodes of stacks with which it
 * begins.
 */
static void keep_common(struct folded *folded, struct tree *tree, const struct stack *stack)
{
	const size_t common = stack->common;

	while (tree->n_ends > 0 && tree->ends[tree->n_ends - 1].end > common)
		tree->n_ends--;
	while (tree->depth > 0) {
		const struct step *const last = &tree->path[tree->depth - 1];

		if (last->end <= common &&
		    (last->end == stack->len || stack->text[last->end] == ';'))
			return;
		if (last->end <= common && tree->n_ends < MAX_ENDS)
			tree->ends[tree->n_ends++] = *last;
		else if (last->end <= common)
			folded->is_sorted = false;
		tree->depth--;
	}
}

/* Compares the stack, the first len bytes of the line, with the stack before. */
static size_t compare(struct folded *folded, const struct line *line, size_t len)
{
	const size_t shorter = folded->before_len < len ? folded->before_len : len;
	const size_t common = common_bytes(line->text, line->before, shorter);

	if (common < folded->before_len &&
	    (common == len ||
	     (unsigned char)line->text[common] < (unsigned char)line->before[common]))
		folded->is_sorted = false;
	folded->before_len = len;
	return common;
}

/*
 * Collapsers of other tools leave names of C++ and Rust as the linker has them. text holds the
 * frame's name. False: the name is as its source has it already.
 */
static bool make_plain(struct arena *arena, char *text, struct frame *frame)
{
	const char *const name = frame->name;

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		frame->name = perf_names_plain(arena, name);
	return frame->name != name || (name == text && perf_names_cut_hash(text));
}

static int find_name(struct folded *folded, struct tree *tree, const struct name_slot *wanted,
		     enum realm realm, const struct named **ret)
{
	const char *const text = wanted->text;
	const size_t len = wanted->len;
	const struct named *const named = name_cache_find(&tree->names, realm, text, len);
	struct name_slot key;
	struct frame frame;

	*ret = named;
	if (named)
		return 0;
	/* A name ends at its first NUL, so that other texts may mean the same name. */
	if (memchr(text, '\0', len))
		folded->is_sorted = false;
	key = name_cache_key(&tree->names, realm, text, len);
	memcpy(folded->text, text, len);
	folded->text[len] = '\0';
	frame = frame_text_parse(folded->text, len, realm == REALM_ROOT);
	if (make_plain(&tree->names.arena, folded->text, &frame))
		folded->is_sorted = false; /* another text means the same name */
	return name_cache_add(&tree->names, &key, &frame, 1, ret);
}

/* Moves step, whose end is that of a frame which begins at at, to the frame's node. */
static int enter(struct folded *folded, struct tree *tree, const char *line, size_t at,
		 struct step *step)
{
	const struct step *const end = tree->n_ends > 0 ? &tree->ends[tree->n_ends - 1] : NULL;
	const struct named *named;
	struct name_slot wanted;
	int rc;

	if (step->end == at) {
		folded->is_sorted = false; /* another text means the same stack */
		return 0;
	}
	if (end && end->end == step->end) {
		step->node = end->node;
		tree->n_ends--;
		return 0;
	}
	wanted = (struct name_slot){.text = line + at, .len = step->end - at};
	rc = find_name(folded, tree, &wanted, step->node == PROFILE_ROOT ? REALM_ROOT : REALM_FRAME,
		       &named);
	if (rc < 0)
		return rc;
	return folded->is_sorted && tree->was_empty
		       ? profile_append(tree->profile, &named->names[0], &step->node)
		       : profile_descend(tree->profile, &named->names[0], &step->node);
}

/* Extends the path to the end of the stack. The stack is the first len bytes of line. */
static int follow(struct folded *folded, struct tree *tree, const char *line, size_t len,
		  uint32_t *ret_node)
{
	struct step step = {.node = PROFILE_ROOT};
	size_t at = 0;
	int rc = 0;

	if (tree->depth > 0) {
		step = tree->path[tree->depth - 1];
		at = step.end + 1;
	}
	for (; rc == 0 && at <= len; at = step.end + 1) {
		const char *const end = memchr(line + at, ';', len - at);

		step.end = end ? (size_t)(end - line) : len;
		rc = enter(folded, tree, line, at, &step);
		if (rc == 0)
			tree->path[tree->depth++] = step;
	}
	*ret_node = step.node;
	return rc;
}

/* -EOVERFLOW: the sum of all counts would be too large. */
static int add_stack(struct folded *folded, struct tree *tree, const struct stack *stack,
		     uint64_t weight)
{
	uint32_t node;
	int rc;

	if (!tree->profile)
		return 0;
	keep_common(folded, tree, stack);
	if (weight == 0)
		return 0;
	if (weight > UINT64_MAX - tree->profile->quality.samples)
		return -EOVERFLOW;
	rc = follow(folded, tree, stack->text, stack->len, &node);
	if (rc < 0)
		return rc;
	if (rc == 1)
		tree->profile->quality.overflow_samples += weight;
	return profile_count(tree->profile, node, weight);
}

/*
 * Returns why the stack cannot be kept, or NULL. Frames are measured only if the line is long
 * enough to have too many frames or too long a name.
 */
static const char *judge_stack(const char *stack, size_t len)
{
	size_t frames = 1;

	if (len <= IMPORT_MAX_DEPTH)
		return NULL;
	for (size_t at = 0; at <= len; frames++) {
		const char *const end = memchr(stack + at, ';', len - at);
		const size_t name_len = end ? (size_t)(end - stack) - at : len - at;

		if (name_len > IMPORT_MAX_NAME)
			return "it has a name of more than 64 KiB";
		if (frames > IMPORT_MAX_DEPTH)
			return "it has more than 16,384 frames";
		at += name_len + 1;
	}
	return NULL;
}

static const char *read_line(struct folded *folded, const struct line *line, int *ret_err)
{
	struct import_report *const report = &folded->target->report;
	struct counts counts = {0};
	size_t len = line->len;
	const char *reason;
	struct stack stack;
	int rc;

	if (line->is_too_long)
		return "it is longer than 16 MiB";
	reason = read_counts(line->text, &len, &counts);
	if (!reason)
		reason = judge_stack(line->text, len);
	if (reason)
		return reason;
	stack = (struct stack){line->text, len, compare(folded, line, len)};
	rc = add_stack(folded, &folded->after, &stack, counts.after);
	if (rc == 0)
		rc = add_stack(folded, &folded->before, &stack, counts.before);
	if (rc == -EOVERFLOW) {
		folded->is_sorted = false; /* the line may have made nodes */
		return "with it, the sum of all counts is greater than 2^64 - 1";
	}
	*ret_err = rc;
	report->stacks++;
	report->total += counts.after + counts.before;
	report->two_counts += counts.are_two;
	report->rounded += counts.is_rounded;
	return NULL;
}

/* Behind a line that is ignored nothing is known of the line before. */
static void forget_before(struct folded *folded)
{
	folded->before_len = 0;
	folded->is_sorted &= folded->target->report.stacks == 0;
}

/*
 * Whether the line is a comment. One that has a stack behind its sign is told, for it may be a
 * stack.
 */
static bool is_comment(struct folded *folded, const struct line *line, uint64_t number)
{
	struct counts counts = {0};
	size_t len = line->len;

	if (len == 0 || line->text[0] != '#' || (len > 1 && !is_space(line->text[1])))
		return false;
	if (memchr(line->text, ';', len) && !read_counts(line->text, &len, &counts))
		import_report_ignore(&folded->target->report, number,
				     "it is a comment, in which a stack stands");
	folded->target->report.comments++;
	return true;
}

static int read_lines(struct folded *folded, struct lines *lines)
{
	struct line line;
	int rc;

	while ((rc = lines_next(lines, &line)) > 0) {
		int err = 0;
		const char *reason;

		if (!line.is_too_long && is_comment(folded, &line, lines->number)) {
			forget_before(folded);
			continue;
		}
		reason = read_line(folded, &line, &err);

		if (err < 0)
			return err;
		if (reason) {
			import_report_ignore(&folded->target->report, lines->number, reason);
			forget_before(folded);
		}
	}
	return rc;
}

static int tree_init(struct tree *tree, struct profile *profile)
{
	*tree = (struct tree){.profile = profile, .names = {.profile = profile}};
	tree->path = malloc((IMPORT_MAX_DEPTH + 1) * sizeof(*tree->path));
	tree->ends = malloc(MAX_ENDS * sizeof(*tree->ends));
	tree->was_empty = profile && profile->count == 1;
	return tree->path && tree->ends ? 0 : -ENOMEM;
}

static void tree_fini(struct tree *tree)
{
	name_cache_fini(&tree->names);
	free(tree->path);
	free(tree->ends);
}

static void folded_fini(struct folded *folded)
{
	tree_fini(&folded->after);
	tree_fini(&folded->before);
	free(folded->text);
}

int folded_read(struct lines *lines, struct import_target *target)
{
	_cleanup_(folded_fini) struct folded folded = {.target = target, .is_sorted = true};

	folded.text = malloc(IMPORT_MAX_NAME + 1);
	if (!folded.text || tree_init(&folded.after, target->profile) < 0 ||
	    tree_init(&folded.before, target->before) < 0)
		return -ENOMEM;
	return read_lines(&folded, lines);
}
