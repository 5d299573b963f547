// SPDX-License-Identifier: Apache-2.0
/*
 * Trees and what is made of them: sums, and trees that grow as they are looked at (callers first,
 * callers and callees of one function), which would be too large to be made whole.
 *
 * Of each node: self and total now, before and beforeTotal in what is compared with, and wide, by
 * which it is drawn.
 */
function newTree(count, keys)
{
	return {
		count, keys,
		key: new Int32Array(count), parent: new Int32Array(count).fill(-1),
		depth: new Int32Array(count), first: new Int32Array(count).fill(-1),
		next: new Int32Array(count).fill(-1), self: new Float64Array(count),
	};
}

function sumUp(tree, own)
{
	const sum = own.slice();
	for (let i = tree.count - 1; i > 0; i--)
		sum[tree.parent[i]] += sum[i];
	return sum;
}

/* A flag a node: whether it or one of its callers is of a key that is marked. */
function insideOf(tree, marked)
{
	const inside = new Uint8Array(tree.count);
	for (let i = 1; i < tree.count; i++)
		inside[i] = inside[tree.parent[i]] | marked[tree.key[i]];
	return inside;
}

// ---- trees that grow ----

/*
 * cursors: of each node the nodes of source that it stands for, a part of an array. by: the columns
 * of source that they are weighed by.
 */
function growingTree(source, grow, by)
{
	return {
		source, grow, by, keys: source.keys, kin: source.kin, count: 0, grown: [], cursors: [],
		key: [], parent: [], depth: [], first: [], next: [],
		self: [], total: [], before: [], beforeTotal: [], wide: [],
		groups: new Groups(source.keys.length, source.kin),
	};
}

const ALL_BELOW = source => ({ total: source.total, before: source.beforeTotal, wide: source.wide });
const ITS_OWN = source => ({ total: source.self, before: source.before, wide: source.selfWide });

function addGrowing(tree, parent, key, sums)
{
	const i = tree.count++;
	tree.key.push(key);
	tree.parent.push(parent);
	tree.depth.push(parent < 0 ? 0 : tree.depth[parent] + 1);
	tree.first.push(-1);
	tree.next.push(-1);
	tree.grown.push(false);
	tree.cursors.push(sums.cursors);
	tree.self.push(0);
	tree.total.push(sums.total);
	tree.before.push(0);
	tree.beforeTotal.push(sums.before);
	tree.wide.push(sums.wide);
	return i;
}

/* Counts and sums by key, for one node after the other. */
class Groups {
	constructor(keys, kin)
	{
		this.kin = kin;
		this.own = kin ? new Float64Array(keys) : null;     // by a key alone, without its kin
		this.count = new Int32Array(keys);
		this.place = new Int32Array(keys);
		this.total = new Float64Array(keys);
		this.before = new Float64Array(keys);
		this.wide = new Float64Array(keys);
		this.seen = [];
	}

	/* Where keys of one method are one, which one of them. */
	placeOf(key)
	{
		return this.place[this.kin ? this.kin.same[key] : key]++;
	}

	add(of, by, node)
	{
		const key = this.kin ? this.kin.same[of] : of;
		if (this.count[key]++ === 0) {
			this.seen.push(key);
			if (this.kin)
				for (const one of this.kin.kin[key])
					this.own[one] = 0;
			this.total[key] = this.before[key] = this.wide[key] = 0;
		}
		this.total[key] += by.total[node];
		this.before[key] += by.before[node];
		this.wide[key] += by.wide[node];
		if (this.kin)
			this.own[of] += by.wide[node];
	}

	/* Makes of each key a child of i, the widest first; their cursors are parts of arrays from begin. */
	makeChildren(tree, i, arrays, begin)
	{
		const { wide, count, place } = this;
		let before = -1;
		for (const key of this.seen.sort((a, b) => wide[b] - wide[a] || a - b)) {
			const shown = this.kin ? heaviest(this.kin.kin[key], one => this.own[one]) : key;
			const child = addGrowing(tree, i, shown, { total: this.total[key],
				before: this.before[key], wide: wide[key],
				cursors: { ...arrays, begin, end: begin + count[key] } });
			place[key] = begin;
			begin += count[key];
			count[key] = 0;
			if (before < 0)
				tree.first[i] = child;
			else
				tree.next[before] = child;
			before = child;
		}
		this.seen = [];
	}
}

/* A node's first child; grows it if that is still to be done. */
function firstChild(tree, i)
{
	if (tree.grow && !tree.grown[i]) {
		tree.grown[i] = true;
		tree.grow(tree, i);
		tree.cursors[i] = null;
	}
	return tree.first[i];
}

/* Of cursors: at, where each has come to on its way to the root, and from, where it began. Both are
 * put in the order of the children, in their place. */
function growCallers(tree, i)
{
	const { source, by, groups } = tree, { at, from, begin, end } = tree.cursors[i];
	for (let c = begin; c < end; c++) {
		const caller = source.parent[at[c]];
		if (caller > 0) {
			groups.add(source.key[caller], by, from[c]);
		} else {
			tree.self[i] += by.total[from[c]];
			tree.before[i] += by.before[from[c]];
		}
	}
	const oldAt = at.slice(begin, end), oldFrom = from.slice(begin, end);
	groups.makeChildren(tree, i, { at, from }, begin);
	for (let c = 0; c < oldAt.length; c++) {
		const caller = source.parent[oldAt[c]];
		if (caller <= 0)
			continue;
		const to = groups.placeOf(source.key[caller]);
		at[to] = caller;
		from[to] = oldFrom[c];
	}
}

function growCallees(tree, i)
{
	const { source, by, groups } = tree, { at, begin, end } = tree.cursors[i], found = [];
	for (let c = begin; c < end; c++) {
		tree.self[i] += source.self[at[c]];
		tree.before[i] += source.before[at[c]];
		for (let child = source.first[at[c]]; child >= 0; child = source.next[child]) {
			if (source.wide[child] > 0) {
				groups.add(source.key[child], by, child);
				found.push(child);
			}
		}
	}
	const below = new Int32Array(found.length);
	groups.makeChildren(tree, i, { at: below }, 0);
	for (const child of found)
		below[groups.placeOf(source.key[child])] = child;
}

/* All stacks, leaf first: the root's children are the functions that samples ended in. */
function reversedTree(source)
{
	const tree = growingTree(source, growCallers, ITS_OWN(source)), from = [];
	for (let i = 1; i < source.count; i++)
		if (source.self[i] > 0 || source.before[i] > 0)
			from.push(i);
	const at = Int32Array.from(from), { groups } = tree;
	addGrowing(tree, -1, source.key[0], { total: source.total[0], before: source.beforeTotal[0],
		wide: source.wide[0], cursors: null });
	tree.self[0] = source.self[0];
	tree.grown[0] = true;
	for (const i of from)
		groups.add(source.key[i], tree.by, i);
	const begun = new Int32Array(at.length);
	groups.makeChildren(tree, 0, { at, from: begun }, 0);
	for (const i of from)
		begun[groups.placeOf(source.key[i])] = i;
	at.set(begun);
	return tree;
}

/* The outermost frames of a function, whichever way it ran, so that nested ones count once. */
function occurrencesOf(source, name)
{
	const marked = markedBy(source.keys, key => key.name === name), found = [];
	const inside = insideOf(source, marked);
	for (let i = 1; i < source.count; i++)
		if (marked[source.key[i]] && !inside[source.parent[i]] && source.wide[i] > 0)
			found.push(i);
	return Int32Array.from(found);
}

function sumsOf(by, nodes)
{
	const sums = { total: 0, before: 0, wide: 0,
		cursors: { at: nodes, from: nodes.slice(), begin: 0, end: nodes.length } };
	for (const i of nodes) {
		sums.total += by.total[i];
		sums.before += by.before[i];
		sums.wide += by.wide[i];
	}
	return sums;
}

function sandwichTrees(source, name)
{
	const nodes = occurrencesOf(source, name), by = ALL_BELOW(source), widths = new Map();
	for (const i of nodes)
		widths.set(source.key[i], (widths.get(source.key[i]) || 0) + source.wide[i]);
	const key = nodes.length === 0 ? Math.max(0, source.keys.findIndex(k => k.name === name)) :
		heaviest([...widths.keys()], one => widths.get(one));
	const callers = growingTree(source, growCallers, by);
	const callees = growingTree(source, growCallees, by);
	addGrowing(callers, -1, key, sumsOf(by, nodes.slice()));
	addGrowing(callees, -1, key, sumsOf(by, nodes));
	return { name, callers, callees };
}

// ---- tables ----

/* Of each key the first one of the same name: a method is one, whichever way it ran. */
function namesakes(keys)
{
	const first = new Map();
	return Int32Array.from(keys, (key, at) => {
		if (!first.has(key.name))
			first.set(key.name, at);
		return first.get(key.name);
	});
}

/* The walk over a whole tree that tallySteps makes: a node, then all below it. */
class Tally {
	constructor(tree)
	{
		const n = tree.keys.length;
		this.tree = tree;
		this.of = namesakes(tree.keys);
		this.isWait = tree.keys.map(({ kind }) => app.data.kinds[kind].letter === "w");
		this.open = new Int32Array(n);     // frames of a name on the way to the root
		this.at = tree.first[0];
		this.own = new Float64Array(n);     // by a key alone, where others have its name
		this.sums = { self: new Float64Array(n), total: new Float64Array(n),
			before: new Float64Array(n), beforeTotal: new Float64Array(n) };
	}

	/* To the next node that is not below this one; this.at is 0 at the end. */
	leave()
	{
		const { tree, of, open } = this;
		let i = this.at;
		open[of[tree.key[i]]]--;
		while (i > 0 && tree.next[i] < 0) {
			i = tree.parent[i];
			if (i > 0)
				open[of[tree.key[i]]]--;
		}
		this.at = i > 0 ? tree.next[i] : 0;
	}

	/* Whose time a node's self is: why a thread waits is no function, but the function that waits. */
	owner(i)
	{
		const { tree, isWait } = this;
		let at = i;
		while (at > 0 && isWait[tree.key[at]])
			at = tree.parent[at];
		return this.of[tree.key[at > 0 ? at : i]];
	}

	/* Counts this.at, and goes on. */
	node()
	{
		const { tree, sums, at: i } = this, key = this.of[tree.key[i]], owner = this.owner(i);
		sums.self[owner] += tree.self[i];
		sums.before[owner] += tree.before[i];
		if (this.open[key]++ === 0) {
			sums.total[key] += tree.total[i];
			sums.beforeTotal[key] += tree.beforeTotal[i];
			this.own[tree.key[i]] += tree.wide[i];
		}
		if (tree.first[i] >= 0)
			this.at = tree.first[i];
		else
			this.leave();
	}
}

/* Of each name the key of most of its samples, by its first key. */
function shownKeys({ of, own })
{
	const shown = of.slice();
	own.forEach((n, key) => {
		if (n > own[shown[of[key]]])
			shown[of[key]] = key;
	});
	return shown;
}

/*
 * Of each name self and total, the latter once for nested frames, and the key that it is shown by;
 * by the name's first key.
 */
function* tallySteps(tree)
{
	const tally = new Tally(tree);
	for (let done = 0; tally.at > 0; done += CHUNK_NODES) {
		for (let n = 0; n < CHUNK_NODES && tally.at > 0; n++)
			tally.node();
		yield progress("Counting", done, tree.count);
	}
	return { ...tally.sums, shown: shownKeys(tally) };
}
