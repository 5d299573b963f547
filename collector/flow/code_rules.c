// SPDX-License-Identifier: Apache-2.0
/*
 * Carries the place of the frame from instruction to instruction, see code_rules.h.
 *
 * Ways are gone in three turns, so that what is certain comes first. First go all ways but the
 * doubtful ones. Then code without a caller is found. Last go the ways behind a call to where
 * another function may begin: many a call at a function's end never returns.
 */
#include "flow/code_rules.h"

#include <errno.h>
#include <stdlib.h>

#define WORD	      8
#define FAR_BYTES     CODE_FAR_BYTES
#define NEWBORN_STEPS 4 /* the result is tested, and the frame pointer cleared */

/* What is known in front of an instruction. A zero-filled state knows nothing. */
struct state {
	int32_t sp;    /* CFA - sp, valid if has_sp */
	int32_t fp;    /* CFA - fp, valid if has_fp */
	int32_t saved; /* place of the caller's fp, from the CFA, or CFI_SAME */
	bool has_sp, has_fp, is_root, is_newborn; /* as those of struct cfi_row */
};

static const struct state AT_ENTRY = {.sp = WORD, .saved = CFI_SAME, .has_sp = true};
static const struct state AT_ROOT = {.saved = CFI_SAME, .is_root = true};

struct solver {
	const struct code_steps *steps;
	struct state *states; /* in front of each instruction */
	uint32_t *work;	      /* instructions whose neighbours are to be looked at; each once */
	size_t work_count;
	size_t work_done;
	uint32_t *first_jump; /* of each instruction, into jumps; one more at the end */
	uint32_t *jumps;      /* the instructions that jump to it */
	bool goes_anywhere;   /* doubtful ways too */
	struct code_rules found;
};

static bool knows(const struct state *state)
{
	return state->has_sp || state->has_fp || state->is_root;
}

static bool is_near(int32_t value)
{
	return value > -FAR_BYTES && value < FAR_BYTES;
}

static struct state drop_far(struct state state)
{
	state.is_newborn = false;
	state.has_sp &= is_near(state.sp);
	state.has_fp &= is_near(state.fp);
	state.sp = state.has_sp ? state.sp : 0;
	state.fp = state.has_fp ? state.fp : 0;
	return state;
}

static void pop_bytes(struct state *state, int32_t bytes)
{
	state->sp -= bytes;
}

/* What is known behind an instruction, by what is known in front of it. */
static struct state go_forward(const struct code_step *step, struct state state)
{
	if (state.is_root)
		return state;
	switch (step->effect) {
	case CODE_MOVE_SP:
		pop_bytes(&state, step->value);
		break;
	case CODE_PUSH_FP:
		pop_bytes(&state, -WORD);
		if (state.saved == CFI_SAME && state.has_sp && !state.has_fp)
			state.saved = -state.sp;
		break;
	case CODE_POP_FP:
		state.has_fp = false;
		if (state.has_sp && state.saved == -state.sp)
			state.saved = CFI_SAME;
		pop_bytes(&state, WORD);
		break;
	case CODE_STORE_FP:
		if (state.saved == CFI_SAME && state.has_sp && !state.has_fp)
			state.saved = step->value - state.sp;
		break;
	case CODE_LOAD_FP:
		state.has_fp = false;
		if (state.has_sp && state.saved == step->value - state.sp)
			state.saved = CFI_SAME;
		break;
	case CODE_SET_FP:
		state.has_fp = state.has_sp;
		state.fp = state.sp - step->value;
		break;
	case CODE_SET_SP:
		state.has_sp = state.has_fp;
		state.sp = state.fp - step->value;
		break;
	case CODE_LEAVE:
		state.has_sp = state.has_fp;
		state.sp = state.fp - WORD;
		state.has_fp = false;
		state.saved = CFI_SAME;
		break;
	case CODE_CLEAR_FP:
		if (state.saved == CFI_SAME && !state.has_fp)
			return (struct state){0}; /* perhaps a root: see find_roots */
		state.has_fp = false;
		break;
	case CODE_LOSE_SP:
		state.has_sp = false;
		break;
	case CODE_LOSE_FP:
		state.has_fp = false;
		break;
	default:
		break;
	}
	return drop_far(state);
}

/* What is known in front of an instruction, by what is known behind it. */
static struct state go_backward(const struct code_step *step, struct state state)
{
	if (state.is_root)
		return (struct state){0};
	switch (step->effect) {
	case CODE_MOVE_SP:
		pop_bytes(&state, -step->value);
		break;
	case CODE_PUSH_FP:
		if (state.has_sp && state.saved == -state.sp)
			state.saved = CFI_SAME;
		pop_bytes(&state, WORD);
		break;
	case CODE_POP_FP:
		pop_bytes(&state, -WORD);
		state.has_fp = false;
		if (state.has_sp && state.saved == CFI_SAME)
			state.saved = -state.sp;
		break;
	case CODE_STORE_FP:
		if (state.has_sp && state.saved == step->value - state.sp)
			state.saved = CFI_SAME;
		break;
	case CODE_LOAD_FP:
		state.has_fp = false;
		if (state.has_sp && state.saved == CFI_SAME)
			state.saved = step->value - state.sp;
		break;
	case CODE_SET_FP:
		if (!state.has_sp) {
			state.has_sp = state.has_fp;
			state.sp = state.fp + step->value;
		}
		state.has_fp = false;
		break;
	case CODE_SET_SP:
		if (!state.has_fp) {
			state.has_fp = state.has_sp;
			state.fp = state.sp + step->value;
		}
		state.has_sp = false;
		break;
	case CODE_LEAVE:
		state.has_fp = state.has_sp;
		state.fp = state.sp + WORD;
		state.saved = -state.fp;
		state.has_sp = false;
		break;
	case CODE_CLEAR_FP:
	case CODE_LOSE_FP:
		state.has_fp = false;
		break;
	case CODE_LOSE_SP:
		state.has_sp = false;
		break;
	default:
		break;
	}
	return drop_far(state);
}

static bool differ(const struct state *a, const struct state *b)
{
	return (a->has_sp && b->has_sp && a->sp != b->sp) ||
	       (a->has_fp && b->has_fp && a->fp != b->fp) || a->is_root != b->is_root;
}

/* Gives an instruction its state, unless it has one. */
static void tell(struct solver *solver, uint32_t i, const struct state *state)
{
	if (!knows(state))
		return;
	if (knows(&solver->states[i])) {
		solver->found.doubtful += differ(&solver->states[i], state);
		return;
	}
	solver->states[i] = *state;
	solver->work[solver->work_count++] = i;
	solver->found.known++;
}

/* Whether the way from the instruction before to i is one that may never be gone. */
static bool is_doubtful(const struct code_steps *steps, size_t i)
{
	return steps->items[i - 1].flow == CODE_CALL &&
	       (steps->items[i].is_entry || steps->items[i].is_padding);
}

static bool may_come_from_before(const struct solver *solver, size_t i)
{
	return i > 0 && code_steps_go_on(solver->steps, i) &&
	       (solver->goes_anywhere || !is_doubtful(solver->steps, i));
}

static void tell_neighbours(struct solver *solver, uint32_t i)
{
	const struct code_steps *steps = solver->steps;
	const struct code_step *step = &steps->items[i];
	const struct state here = solver->states[i], after = go_forward(step, here);

	if (i + 1 < steps->count && may_come_from_before(solver, i + 1))
		tell(solver, i + 1, &after);
	if (step->target != CODE_NO_TARGET)
		tell(solver, step->target, &after);
	if (may_come_from_before(solver, i)) {
		const struct state before = go_backward(&steps->items[i - 1], here);

		tell(solver, i - 1, &before);
	}
	for (uint32_t jump = solver->first_jump[i]; jump < solver->first_jump[i + 1]; jump++) {
		const uint32_t from = solver->jumps[jump];
		const struct state before = go_backward(&steps->items[from], here);

		tell(solver, from, &before);
	}
}

static void go_on(struct solver *solver)
{
	while (solver->work_done < solver->work_count)
		tell_neighbours(solver, solver->work[solver->work_done++]);
}

static void go_again(struct solver *solver)
{
	solver->work_done = 0;
	go_on(solver);
}

static void tell_known_places(struct solver *solver, uint32_t entry)
{
	const struct code_steps *steps = solver->steps;

	if (entry != CODE_NO_TARGET)
		tell(solver, entry, &AT_ROOT);
	for (uint32_t i = 0; i < steps->count; i++) {
		if (steps->items[i].is_entry || steps->items[i].flow == CODE_RETURN)
			tell(solver, i, &AT_ENTRY);
	}
}

/*
 * Marks the instructions between a system call and the place at i where a new thread gives up the
 * caller of the thread that made it.
 */
static void mark_newborn(struct solver *solver, uint32_t i)
{
	const struct code_steps *steps = solver->steps;
	uint32_t first = i;

	while (i - first < NEWBORN_STEPS && first > 0 && code_steps_go_on(steps, first) &&
	       !steps->items[first - 1].is_system_call)
		first--;
	if (!code_steps_are_joined(steps, first) || !steps->items[first - 1].is_system_call)
		return;
	for (uint32_t step = first; step <= i; step++)
		solver->states[step].is_newborn = true;
}

/* Finds code that clears the frame pointer of its caller, and of which nothing is known behind. */
static void find_roots(struct solver *solver)
{
	const struct code_steps *steps = solver->steps;

	for (uint32_t i = 0; i + 1 < steps->count; i++) {
		const struct state *here = &solver->states[i];

		if (steps->items[i].effect != CODE_CLEAR_FP || !here->has_sp || here->sp != WORD ||
		    here->has_fp || here->saved != CFI_SAME || !code_steps_go_on(steps, i + 1) ||
		    knows(&solver->states[i + 1]))
			continue;
		tell(solver, i + 1, &AT_ROOT);
		mark_newborn(solver, i);
	}
}

/* A jump by a fixed word leads to another function, and whoever called this one called that. */
static void tell_leaps(struct solver *solver)
{
	for (uint32_t i = 0; i < solver->steps->count; i++) {
		if (solver->steps->items[i].flow == CODE_LEAP &&
		    (i == 0 || solver->steps->items[i - 1].effect == CODE_NOTHING))
			tell(solver, i, &AT_ENTRY);
	}
}

/* Lists the jumps to each instruction. */
static int list_jumps(struct solver *solver)
{
	const struct code_steps *steps = solver->steps;
	uint32_t sum = 0;

	solver->first_jump = calloc(steps->count + 2, sizeof(*solver->first_jump));
	solver->jumps = malloc((steps->count + 1) * sizeof(*solver->jumps));
	if (!solver->first_jump || !solver->jumps)
		return -ENOMEM;
	for (size_t i = 0; i < steps->count; i++) {
		if (steps->items[i].target != CODE_NO_TARGET)
			solver->first_jump[steps->items[i].target + 2]++;
	}
	for (size_t i = 0; i < steps->count; i++) {
		sum += solver->first_jump[i + 2];
		solver->first_jump[i + 2] = sum;
	}
	for (uint32_t i = 0; i < steps->count; i++) {
		if (steps->items[i].target != CODE_NO_TARGET)
			solver->jumps[solver->first_jump[steps->items[i].target + 1]++] = i;
	}
	return 0;
}

static struct cfi_row row_of(const struct code_step *step, const struct state *state)
{
	struct cfi_row row = {.start = step->offset,
			      .kind = CFI_NONE,
			      .cfa_reg = CFI_OUTSIDE,
			      .fp_off = CFI_SAME,
			      .ra_off = CFI_SAME};

	if (!knows(state))
		return row;
	row.is_decoded = true;
	row.is_root = state->is_root;
	row.is_newborn = state->is_newborn;
	row.cfa_reg = 0;
	if (state->is_root)
		return row;
	row.kind = CFI_REG;
	row.cfa_reg = state->has_sp ? CFI_REG_RSP : CFI_REG_RBP;
	row.cfa_off = state->has_sp ? state->sp : state->fp;
	row.fp_off = state->saved;
	row.ra_off = -WORD;
	return row;
}

/*
 * The frame of a signal, at whose lower end a handler returns. Places in the kernel's struct
 * rt_sigframe, from behind the return address: the ucontext's gregs.
 */
static struct cfi_row signal_row(const struct code_step *step)
{
	enum { RBP = 40 + 8 * 10, RSP = 40 + 8 * 15, RIP = 40 + 8 * 16 };

	return (struct cfi_row){.start = step->offset,
				.kind = CFI_DEREF,
				.cfa_reg = CFI_REG_RSP,
				.cfa_off = RSP,
				.save_reg = CFI_REG_RSP,
				.fp_is_at_reg = true,
				.fp_off = RBP,
				.ra_is_at_reg = true,
				.ra_off = RIP,
				.is_signal = true,
				.is_decoded = true};
}

static bool is_in_sigreturn(const struct code_steps *steps, size_t i)
{
	return steps->items[i].is_sigreturn ||
	       (code_steps_are_joined(steps, i) && steps->items[i - 1].is_sigreturn);
}

static void add_row(struct code_rules *found, struct cfi_row row)
{
	if (found->row_count == 0 || !cfi_row_equal(&found->rows[found->row_count - 1], &row))
		found->rows[found->row_count++] = row;
}

/*
 * Whether a function begins at an instruction: it is called, or nothing leads there and the frame
 * is that of a function that has just been called.
 */
static bool is_start(const struct solver *solver, size_t i)
{
	const struct code_step *step = &solver->steps->items[i];
	const struct state *state = &solver->states[i];

	if (step->is_entry || step->is_sigreturn)
		return true;
	return !step->is_padding && code_steps_is_behind_end(solver->steps, i) &&
	       solver->first_jump[i] == solver->first_jump[i + 1] &&
	       (state->is_root || (state->has_sp && state->sp == WORD && state->saved == CFI_SAME));
}

static int list_found(struct solver *solver)
{
	static const struct state nothing;
	const struct code_steps *steps = solver->steps;
	struct code_rules *found = &solver->found;

	found->rows = malloc((2 * steps->count + 1) * sizeof(*found->rows));
	found->starts = malloc((steps->count + 1) * sizeof(*found->starts));
	if (!found->rows || !found->starts)
		return -ENOMEM;
	for (size_t i = 0; i < steps->count; i++) {
		const struct code_step *step = &steps->items[i];

		add_row(found, is_in_sigreturn(steps, i) ? signal_row(step)
							 : row_of(step, &solver->states[i]));
		if (!code_steps_are_joined(steps, i + 1)) {
			const struct code_step end = {.offset = step->offset + step->len};

			add_row(found, row_of(&end, &nothing));
		}
		if (is_start(solver, i))
			found->starts[found->start_count++] = step->offset;
	}
	return 0;
}

static void solve(struct solver *solver, uint32_t entry)
{
	tell_known_places(solver,
			  entry == CODE_NO_TARGET ? entry : code_steps_find(solver->steps, entry));
	go_on(solver);
	find_roots(solver);
	go_on(solver);
	tell_leaps(solver);
	solver->goes_anywhere = true;
	go_again(solver);
}

int code_rules_make(const struct code_steps *steps, uint32_t entry, struct code_rules *ret)
{
	struct solver solver = {.steps = steps,
				.states = calloc(steps->count + 1, sizeof(*solver.states)),
				.work = malloc((steps->count + 1) * sizeof(*solver.work))};
	int err = solver.states && solver.work ? list_jumps(&solver) : -ENOMEM;

	if (!err) {
		solve(&solver, entry);
		err = list_found(&solver);
	}
	free(solver.states);
	free(solver.work);
	free(solver.first_jump);
	free(solver.jumps);
	if (err)
		code_rules_fini(&solver.found);
	else
		*ret = solver.found;
	return err;
}

void code_rules_fini(struct code_rules *rules)
{
	free(rules->rows);
	free(rules->starts);
	*rules = (struct code_rules){0};
}
