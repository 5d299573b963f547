// SPDX-License-Identifier: Apache-2.0
/*
 * The walk from frame to frame, see unwinder.h.
 *
 * One file, because each way to go on reads and changes the same walk.
 */
#include "unwind/unwinder.h"

#include "base/clock.h"
#include "files/probe_cache.h"
#include "guard/heap_bytes.h"
#include "unwind/heap_stack.h"
#include "decode/instructions.h"
#include "unwind/live_stack.h"
#include "unwind/step_hotspot.h"
#include "unwind/unseen.h"
#include "unwind/way_in.h"

#include <errno.h>
#include <stdlib.h>

#define LOWEST_CODE 4096 /* programs have no code in the first page */
#define ROOT_BYTES  1024 /* size of the frames at a stack's root, from their stack pointer on */

struct unwinder {
	const struct arch *arch;
	struct table_cache *tables; /* borrowed */
	struct live_stack live;
	struct stack_remainders remainders;
	struct leaf_cache leaves;
	struct call_cache calls;
	struct vm_facts_cache facts;
	struct instructions instructions;
	struct heap_stacks heap;
	struct heap_stack heap_room;
	struct unwinder_stats stats;
	const struct file_watch *watch; /* or NULL */
	struct stack again; /* the stack of a second walk, by the other of two remainders */
};

int unwinder_new(struct table_cache *tables, struct unwinder **ret)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return -ENOMEM;
	unwinder->arch = arch_native;
	unwinder->tables = tables;
	cfi_cache_attach(tables);
	probe_cache_attach(tables);
	*ret = unwinder;
	return 0;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	live_stack_fini(&unwinder->live);
	stack_remainders_fini(&unwinder->remainders);
	instructions_fini(&unwinder->instructions);
	heap_stacks_fini(&unwinder->heap);
	free(unwinder);
}

void unwinder_set_arch(struct unwinder *unwinder, const struct arch *arch)
{
	unwinder->arch = arch;
}

void unwinder_watch(struct unwinder *unwinder, const struct file_watch *watch)
{
	unwinder->watch = watch;
}

size_t unwinder_bytes(const struct unwinder *unwinder)
{
	return heap_bytes(sizeof(*unwinder)) + live_stack_bytes(&unwinder->live) +
	       unwinder->remainders.bytes + unwinder->heap.bytes + unwinder->instructions.bytes +
	       map64_bytes(&unwinder->instructions.methods);
}

void unwinder_stats(const struct unwinder *unwinder, struct unwinder_stats *ret)
{
	*ret = unwinder->stats;
	ret->reads += unwinder->remainders.reads;
	ret->remainder_bytes = unwinder->remainders.bytes;
	ret->dropped_remainders = unwinder->remainders.dropped;
	ret->heap_stack_bytes = unwinder->heap.bytes;
	ret->dropped_heap_stacks = unwinder->heap.dropped;
	ret->unread_stacks = unwinder->live.refused + unwinder->remainders.refused;
	ret->unread_instructions = unwinder->instructions.unread;
}

/* Why a sample is walked. */
enum purpose {
	FOR_ITS_STACK,
	FOR_LATER,     /* what a later walk of the sample will need is read and kept */
	FOR_CERTAINTY, /* to check that the other of two remainders leads to the same frames */
};

/* The end of the snapshot that came with the sample. */
struct snapshot_end {
	uint64_t addr;
	bool is_reached;  /* a step needed more of the stack */
	bool is_doubtful; /* two remainders of the stack were kept, and differ */
	uint32_t depth;	  /* entries whose frames begin in the snapshot; valid once is_reached */
};

/* The walk of one sample. */
struct user_walk {
	struct walk walk;
	struct unwinder *unwinder;
	enum purpose purpose;
	bool is_exact; /* the sampled instruction is the one that took the time */
	struct snapshot_end snapshot_end;
};

/* Whether the snapshot is empty: the stack pointer's page had not been written to, see unseen.h. */
static bool is_unseen(const struct user_walk *user)
{
	return user->snapshot_end.addr == user->walk.stack.addr;
}

/*
 * The place of a walk: its registers, and the code that the pc is in: a code range, a file, or
 * neither.
 */
struct place {
	struct unwind_regs regs;
	const struct code_range *range;
	const struct mapping *mapping;
	const struct code_range *foreign; /* code that the process itself reported */
	bool is_barrier; /* HotSpot put the barrier in the place of a return address */
};

/*
 * A barrier's address is the start of its code. Nearly every return address lies within the code
 * that holds the call, and so cannot be a barrier's.
 */
static bool may_be_barrier(const struct walk *walk, const struct code_range *called_from)
{
	return walk->at.is_return &&
	       (!called_from || walk->at.regs.pc - called_from->addr >= called_from->size);
}

static struct place find_place(struct walk *walk)
{
	const struct process *process = walk->process;
	const uint64_t pc = walk->at.regs.pc;
	struct place place = {.regs = walk->at.regs};
	uint64_t probe;

	walk->at.is_behind = false;
	walk->at.is_behind = step_is_in_syscall(walk) || step_is_at_breakpoint(walk);
	probe = step_probe(walk);
	place.range = step_code_at(walk, probe);
	if (process->code && may_be_barrier(walk, place.range)) {
		const struct code_range *at = code_map_find(process->code, pc, walk->time_ns);

		place.is_barrier = step_is_barrier(at, pc);
		place.range = place.is_barrier ? at : place.range;
	}
	if (!place.range)
		place.mapping = address_space_find(&process->space, probe);
	if (place.mapping && process->foreign.map && mapping_is_generated(place.mapping))
		place.foreign = foreign_map_find(process->foreign.map, probe, walk->time_ns);
	return place;
}

static enum step take_step(struct walk *walk, const struct place *place, struct stack_entry *entry)
{
	if (place->is_barrier)
		return step_barrier(walk);
	if (place->range)
		return step_hotspot(walk, place->range, entry);
	if (place->foreign)
		return step_foreign(walk, place->foreign);
	if (place->mapping && mapping_is_probe_trampoline(place->mapping))
		return step_probe_trampoline(walk, place->mapping);
	if (place->mapping && (place->mapping->inode != 0 || place->mapping->path[0] == '['))
		return step_native(walk, place->mapping);
	/* Generated code of an unknown runtime, or code of a JVM of which nobody has told. */
	walk->notes.is_left_by_fp |= walk->process->jvm != NULL;
	return step_by_fp(walk);
}

static void keep_remainder(struct unwinder *unwinder, const struct stack_copy *copy, size_t len)
{
	stack_remainders_keep(&unwinder->remainders, copy, len, clock_now_ns());
}

static struct stack_copy copy_in(const struct walk *walk)
{
	return (struct stack_copy){
		.pid = walk->process->pid, .time_ns = walk->time_ns, .bytes = walk->stack};
}

/*
 * Finds the kept stack remainder for a walk that has reached the snapshot's end. frame: the stack
 * pointer of the walk's frame.
 */
static const struct stack_remainder *find_remainder(struct user_walk *user, uint64_t frame)
{
	const struct stack_copy copy = copy_in(&user->walk);
	struct stack_remainders_found found;

	if (user->purpose == FOR_LATER)
		keep_remainder(user->unwinder, &copy, LIVE_STACK_FIRST_BYTES);
	found = stack_remainders_find(&user->unwinder->remainders, &copy, frame);
	user->snapshot_end.is_doubtful = found.other;
	return user->purpose == FOR_CERTAINTY ? found.other : found.nearest;
}

/*
 * Lengthens the stack for a walk that needs more of the stack: by the remainder that was kept when
 * the sample came, else by what the process's stack holds now. frame: the frame's stack pointer.
 * depth: entries of the stack so far.
 */
static bool extend(struct user_walk *user, uint64_t frame, uint32_t depth)
{
	struct live_stack *live = &user->unwinder->live;
	const struct stack_remainder *remainder = NULL;
	struct walk *walk = &user->walk;

	if (!user->snapshot_end.is_reached) {
		user->snapshot_end.is_reached = true;
		user->snapshot_end.depth = depth;
		remainder = find_remainder(user, frame);
	}
	if (remainder && live_stack_append(live, remainder, &walk->stack))
		return true;
	return walk->stack.len > 0 &&
	       live_stack_extend(live, walk->process->pid, &walk->stack, frame);
}

static bool is_extended(const struct user_walk *user)
{
	return user->walk.stack.addr + user->walk.stack.len > user->snapshot_end.addr;
}

/*
 * Whether the caller lies above its callee. A leaf may have had no frame at all, and neither has
 * the code that mounts a virtual thread while it asks how many frames there are.
 */
static bool has_risen(const struct place *place, const struct unwind_regs *after)
{
	const bool may_be_frameless =
		place->regs.leaf || (place->range && hotspot_thaws(place->range));

	return after->sp > place->regs.sp || (may_be_frameless && after->sp == place->regs.sp);
}

static void end_at(struct stack *stack, enum stack_end end, uint64_t addr)
{
	stack->end = end;
	stack->end_addr = addr;
}

/*
 * Ends the stack at a frame that leads nowhere. If the frame lies in the stack remainder, the
 * remainder has changed since the sample, and the stack counts as ended by the snapshot. Equal last
 * words of a snapshot prove little if they are words of a large array.
 */
static void end_badly(const struct user_walk *user, const struct unwind_regs *at,
		      enum stack_end end, struct stack *ret)
{
	end_at(ret, at->sp > user->snapshot_end.addr ? STACK_SNAPSHOT_ENDED : end, at->pc);
}

/*
 * Whether the first step of a look is believed. A stack that was read in the place of an empty
 * snapshot cannot be compared with the snapshot. If the step does not confirm the stack, the stack
 * is dropped.
 */
static bool is_believed(struct user_walk *user, const struct unwind_regs *before)
{
	const struct stack_copy copy = {.pid = user->walk.process->pid,
					.time_ns = user->walk.time_ns,
					.bytes = {.addr = before->sp}};

	if (!is_unseen(user) || user->purpose != FOR_LATER || !before->leaf ||
	    unseen_is_called(&user->walk, before->pc))
		return true;
	stack_remainders_drop_last(&user->unwinder->remainders, &copy);
	return false;
}

/*
 * The distance in bytes from the sampled address in compiled code back to where the time was taken.
 */
static uint8_t find_back(const struct user_walk *user, const struct place *place)
{
	const struct walk *walk = &user->walk;

	if (!walk->at.regs.leaf || user->is_exact || !walk->arch->stops_behind || !place->range)
		return 0;
	return instructions_back(&user->unwinder->instructions, walk->process->pid, place->range,
				 walk->at.regs.pc);
}

/* Finds the frames in the heap: as a look kept them when the sample came, else as they are now. */
static struct heap_kept find_heap_frames(struct user_walk *user, const struct heap_callee *callee)
{
	struct walk *walk = &user->walk;
	const struct heap_key key = {
		.pid = walk->process->pid, .time_ns = walk->time_ns, .sp = walk->stack.addr};
	struct heap_stacks *stacks = &user->unwinder->heap;
	const struct heap_kept *kept = heap_stacks_find(stacks, &key);
	struct heap_stack *room = &user->unwinder->heap_room;

	if (kept)
		return *kept;
	room->max_reads = STEP_MAX_HEAP_READS - walk->spent.heap_reads;
	if (!heap_stack_read(walk->process, walk->time_ns, walk->arch, callee, walk->facts, room))
		room->has_gap = true;
	else if (user->purpose == FOR_LATER)
		heap_stacks_keep(stacks, &key, room);
	walk->spent.heap_reads += room->reads;
	return (struct heap_kept){
		.entries = room->entries, .depth = room->depth, .has_gap = room->has_gap};
}

/*
 * Adds the frames in the heap in the place of the barrier, which is in the place of a return
 * address.
 */
static void add_heap_frames(struct user_walk *user, struct heap_callee *callee, struct stack *ret)
{
	const struct walk *walk = &user->walk;
	struct heap_kept found;

	ret->is_in_heap = true;
	callee->entry = walk->at.regs.sp;
	callee->stack = &walk->stack;
	found = find_heap_frames(user, callee);
	for (uint32_t i = 0; i < found.depth && ret->depth < STACK_MAX; i++)
		ret->entries[ret->depth++] = found.entries[i];
	ret->has_gap = found.has_gap;
	if (found.has_gap && ret->depth < STACK_MAX)
		ret->entries[ret->depth++] =
			(struct stack_entry){.addr = walk->at.regs.pc, .is_gap = true};
}

/* Adds the entry of a place to the stack. */
static struct stack_entry *add_entry(const struct user_walk *user, const struct place *place,
				     struct stack *ret)
{
	struct stack_entry *entry = &ret->entries[ret->depth++];

	*entry = (struct stack_entry){.addr = place->regs.pc,
				      .is_return = user->walk.at.is_return,
				      .back = user->walk.at.is_behind ? 1 : find_back(user, place)};
	return entry;
}

/*
 * Notes that nothing is known of a place, unless no code can be there. What a stack remainder leads
 * to may be no place of this stack.
 */
static void note_miss(const struct user_walk *user, const struct place *place, struct stack *ret)
{
	const uint64_t pc = place->regs.pc;

	if (!place->range && !place->mapping && pc >= LOWEST_CODE && (int64_t)pc > 0 &&
	    place->regs.sp <= user->snapshot_end.addr)
		ret->has_missed = true;
	if (!place->range && !place->foreign && place->mapping &&
	    mapping_is_generated(place->mapping) && place->regs.sp <= user->snapshot_end.addr &&
	    !ret->missed_code)
		ret->missed_code = pc;
}

/*
 * Whether the walk ends in a place without a step, at a return address without code. A return
 * address of 0 is no proof of a root: most words of a stack that were never written to are 0.
 */
static bool is_end(const struct user_walk *user, const struct place *place, struct stack *ret)
{
	if (place->range || place->mapping || !user->walk.at.is_return)
		return false;
	end_badly(user, &place->regs, STACK_BAD_RETURN, ret);
	return true;
}

/*
 * Takes one step. The step is tried again with more of the stack as long as it meets the stack's
 * end.
 */
static enum step leave_place(struct user_walk *user, const struct place *place,
			     struct stack_entry *entry, uint32_t depth)
{
	enum step step;

	do {
		user->walk.at.regs = place->regs;
		step = take_step(&user->walk, place, entry);
	} while (step == STEP_END && extend(user, place->regs.sp, depth));
	entry->is_trampoline = step == STEP_INTERRUPT;
	entry->is_return = user->walk.at.is_return; /* the step looks at what was called */
	return step;
}

/* Whether the step out of the place may have led to the caller; if not, the walk ends. */
static bool may_be_caller(struct user_walk *user, const struct place *place, enum step step,
			  struct stack *ret)
{
	const struct unwind_regs *before = &place->regs;

	if (step == STEP_ROOT)
		end_at(ret, user->walk.notes.is_left_by_fp ? STACK_BY_FP : STACK_WHOLE, before->pc);
	else if (step == STEP_NO_RULE)
		end_badly(user, before, STACK_NO_RULE, ret);
	else if (step == STEP_END || (step == STEP_DONE && !is_believed(user, before)))
		end_badly(user, before, STACK_SNAPSHOT_ENDED, ret);
	else if (!place->is_barrier && !has_risen(place, &user->walk.at.regs))
		end_badly(user, before, STACK_NO_PROGRESS, ret);
	else
		return true;
	return false;
}

static void walk_user(struct user_walk *user, struct stack *ret)
{
	struct heap_callee callee = {0};
	struct stack_entry of_barrier = {0}; /* the barrier is no frame */

	while (ret->depth < STACK_MAX) {
		const struct place place = find_place(&user->walk);
		struct stack_entry *entry = &of_barrier;
		enum step step;

		note_miss(user, &place, ret);
		if (is_end(user, &place, ret))
			return;
		if (!way_in_is_possible(&user->walk, &(struct way_in){callee.range, place.range,
								      place.mapping})) {
			end_badly(user, &place.regs, STACK_IN_DOUBT, ret);
			return;
		}
		if (place.is_barrier)
			add_heap_frames(user, &callee, ret);
		else
			entry = add_entry(user, &place, ret);
		step = leave_place(user, &place, entry, ret->depth);
		if (!may_be_caller(user, &place, step, ret))
			return;
		user->walk.at.is_return = step == STEP_DONE;
		callee = (struct heap_callee){
			.range = place.range, .method = entry->method, .sp = place.regs.sp};
		user->walk.at.is_called_file = place.mapping;
	}
	end_at(ret, STACK_FRAME_LIMIT, user->walk.at.regs.pc);
}

/* ---- the kernel's own walk ---- */

/*
 * Appends the kernel's walk behind the last frame that both walks have, if the kernel came further,
 * and as long as its addresses lead to code. At worst that frame is the first frame, where both
 * walks began.
 */
static bool join_chain(const struct walk *walk, const struct stack_chain *chain, uint32_t n_kernel,
		       struct stack *stack)
{
	const struct stack_agreement last = stack_find_agreement(stack, n_kernel, chain);
	uint32_t end = last.theirs + 1;

	while (end < chain->n && step_is_code(walk, chain->entries[end].addr))
		end++;
	if (end - last.theirs <= stack->depth - last.ours)
		return false;
	stack->depth = last.ours + 1;
	for (uint32_t i = last.theirs + 1; i < end && stack->depth < STACK_MAX; i++)
		stack->entries[stack->depth++] = chain->entries[i];
	if (end < chain->n)
		end_at(stack, STACK_BAD_RETURN, chain->entries[end].addr);
	else
		end_at(stack, chain->is_cut ? STACK_FRAME_LIMIT : STACK_BY_FP, 0);
	return true;
}

static struct snapshot snapshot_of(const struct arch *arch, const struct sample *sample)
{
	struct unwind_regs regs;

	arch->read_regs(sample->regs, &regs);
	return (struct snapshot){.addr = regs.sp,
				 .bytes = sample->stack,
				 .len = sample->stack_len,
				 .holes = sample->unread_pages};
}

static struct stack_copy copy_of(const struct walk *walk, const struct sample *sample)
{
	return (struct stack_copy){.pid = walk->process->pid,
				   .time_ns = walk->time_ns,
				   .bytes = snapshot_of(walk->arch, sample)};
}

/* Notes where the stack has its root: the remainders of later samples are kept up to the root. */
static void note_root(const struct user_walk *user, const struct sample *sample,
		      const struct stack *stack)
{
	const struct stack_copy copy = copy_of(&user->walk, sample);
	const bool is_whole = stack->end == STACK_WHOLE;
	const uint64_t root = is_whole ? user->walk.at.regs.sp + ROOT_BYTES : 0;

	if (is_whole || user->snapshot_end.is_reached)
		stack_remainders_note(&user->unwinder->remainders, &copy, root);
}

/*
 * Keeps the remainder for a look that has not come to the snapshot's end, for example while unwind
 * tables are being loaded. The walk that counts will come to the snapshot's end.
 */
static void keep_unseen(const struct user_walk *user, const struct sample *sample,
			const struct stack *stack)
{
	const struct stack_copy copy = copy_of(&user->walk, sample);

	if (user->purpose == FOR_LATER && !user->snapshot_end.is_reached && !is_unseen(user) &&
	    stack->end != STACK_WHOLE)
		keep_remainder(user->unwinder, &copy, LIVE_STACK_FIRST_BYTES);
}

/* Whether a stack has been read, or will be read, in the place of an empty snapshot. */
static bool is_to_be_seen(const struct user_walk *user)
{
	const struct stack_copy copy = copy_in(&user->walk);

	return user->purpose == FOR_LATER ||
	       stack_remainders_find(&user->unwinder->remainders, &copy, copy.bytes.addr).nearest;
}

static bool is_same_way(const struct stack *a, const struct stack *b, uint32_t from)
{
	if (a->depth != b->depth || a->end != b->end)
		return false;
	for (uint32_t i = from; i < a->depth; i++) {
		if (a->entries[i].addr != b->entries[i].addr)
			return false;
	}
	return true;
}

/*
 * Walks again if two remainders were kept, one read before the sample and one after it. The
 * remainders are believed if both lead to the same frames. Else the stack is cut to the frames in
 * the snapshot, which are certain.
 */
static void settle(const struct user_walk *first, struct user_walk second, struct stack *ret)
{
	struct stack *again = &first->unwinder->again;

	second.purpose = FOR_CERTAINTY;
	again->depth = stack_count_kernel(ret);
	memcpy(again->entries, ret->entries, again->depth * sizeof(again->entries[0]));
	walk_user(&second, again);
	if (is_same_way(ret, again, first->snapshot_end.depth))
		return;
	ret->counts.is_doubtful = true;
	ret->depth = first->snapshot_end.depth;
	end_at(ret, STACK_SNAPSHOT_ENDED, ret->entries[ret->depth - 1].addr);
}

/* Starts a walk in the sampled frame. The sample has registers, and its process is known. */
static void start(struct user_walk *user, const struct sample *sample)
{
	struct unwinder *unwinder = user->unwinder;
	struct walk *walk = &user->walk;

	walk->arch = unwinder->arch;
	walk->tables = unwinder->tables;
	walk->leaves = &unwinder->leaves;
	walk->calls = &unwinder->calls;
	walk->facts = vm_facts_of(&unwinder->facts, walk->process);
	walk->watch = unwinder->watch;
	walk->stack = snapshot_of(walk->arch, sample);
	walk->arch->read_regs(sample->regs, &walk->at.regs);
	user->snapshot_end.addr = walk->stack.addr + walk->stack.len;
}

static void walk_sample(struct user_walk user, const struct sample *sample, struct stack *ret)
{
	struct unwinder *unwinder = user.unwinder;
	struct user_walk at_start;
	struct stack_chain chain;
	uint32_t n_kernel;

	stack_from_chain(sample, ret);
	ret->counts = (struct stack_counts){0};
	if (!user.walk.process || !sample->regs)
		return;
	start(&user, sample);
	if (is_unseen(&user) && !is_to_be_seen(&user))
		return;
	n_kernel = stack_count_kernel(ret);
	/*
	 * A sample in the kernel is exact: its instruction called the kernel, or caused the entry.
	 */
	user.is_exact = sample->is_exact || n_kernel > 0;
	user.walk.is_in_kernel = n_kernel > 0;
	stack_keep_chain(ret, n_kernel, &chain);
	ret->depth = n_kernel;
	table_cache_allow(unwinder->tables, STEP_MAX_LOADS);
	at_start = user;
	walk_user(&user, ret);
	note_root(&user, sample, ret);
	if (user.snapshot_end.is_doubtful && user.purpose != FOR_LATER)
		settle(&user, at_start, ret);
	keep_unseen(&user, sample, ret);
	if (ret->end == STACK_SNAPSHOT_ENDED && (sample->ends_at_page || sample->unread_pages))
		ret->end = STACK_PAGE_OUT;
	if (ret->end != STACK_WHOLE && ret->end != STACK_IN_DOUBT && chain.n > 0 &&
	    ret->depth > n_kernel)
		ret->counts.is_joined = join_chain(&user.walk, &chain, n_kernel, ret);
	ret->counts.reads = user.walk.spent.reads + user.walk.spent.heap_reads;
	ret->counts.is_extended = is_extended(&user);
	ret->counts.is_code_unread = user.walk.notes.is_code_unread;
}

bool unwinder_walk(struct unwinder *unwinder, const struct process *process, uint64_t time_ns,
		   const struct sample *sample, struct stack *ret)
{
	const uint64_t missing = table_cache_missing(unwinder->tables);

	walk_sample((struct user_walk){.unwinder = unwinder,
				       .walk = {.process = process, .time_ns = time_ns}},
		    sample, ret);
	return table_cache_missing(unwinder->tables) == missing;
}

void unwinder_accept(struct unwinder *unwinder, const struct stack *stack, bool is_of_sample)
{
	struct unwinder_stats *const stats = &unwinder->stats;
	const struct stack_counts *const counts = &stack->counts;

	stats->ends[stack->end] += is_of_sample;
	stats->joined += counts->is_joined;
	stats->extended += counts->is_extended;
	stats->doubtful += counts->is_doubtful;
	stats->reads += counts->reads;
	stats->unread_code += counts->is_code_unread;
	stats->in_heap += stack->is_in_heap;
	stats->heap_gaps += stack->has_gap;
}

void unwinder_look(struct unwinder *unwinder, const struct process *process, uint64_t time_ns,
		   const struct sample *sample, struct stack *ret)
{
	walk_sample((struct user_walk){.unwinder = unwinder,
				       .purpose = FOR_LATER,
				       .walk = {.process = process, .time_ns = time_ns}},
		    sample, ret);
}

void unwinder_keep_remainder(struct unwinder *unwinder, const struct process *process,
			     uint64_t time_ns, const struct sample *sample)
{
	struct stack_copy copy = {.pid = process->pid, .time_ns = time_ns};
	size_t wanted;

	if (!sample->regs || sample->stack_len == 0)
		return;
	copy.bytes = snapshot_of(unwinder->arch, sample);
	wanted = stack_remainders_wanted(&unwinder->remainders, &copy);
	if (wanted > 0)
		keep_remainder(unwinder, &copy, wanted);
}
