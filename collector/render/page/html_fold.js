// SPDX-License-Identifier: Apache-2.0
/*
 * One tree made of another, with fewer nodes: levels of compilation as one, runs of frames as one,
 * recursive calls as one, time given to the Java method that called, starts of threads left out.
 */

// ---- starts of threads ----

/* Of keys: 1 for labels of thread pools, 2 for what ends a thread's start; see profile/pools.h. */
function startsOf(keys)
{
	return Uint8Array.from(keys, ({ name, module, kind }) => module === "[thread pool]" ? 1 :
		name === "call_stub" && app.data.kinds[kind].letter === "s" ? 2 : 0);
}

function hasPools(data)
{
	if (data.hasPools === undefined)
		data.hasPools = startsOf(data.keys).includes(1);
	return data.hasPools;
}

// ---- levels of compilation ----

/* Ways in which a Java method runs, by their kinds' letters. */
const LEVELS = [["i", "interpreted"], ["1", "C1"], ["J", "C2"], ["+", "inlined"]];

/* Of each key its level, or -1: Java methods have no module. */
function levelsOf(keys)
{
	const byKind = app.data.kinds.map(({ letter }) => LEVELS.findIndex(([of]) => of === letter));
	return Int8Array.from(keys, key => key.module ? -1 : byKind[key.kind]);
}

/* Of each key the first one of the same method, and of that all of them. */
function kinOf(keys)
{
	const levels = levelsOf(keys), first = new Map(), kin = keys.map(() => []);
	const same = Int32Array.from(keys, ({ name }, at) => {
		if (levels[at] < 0)
			return at;
		if (!first.has(name))
			first.set(name, at);
		return first.get(name);
	});
	same.forEach((to, at) => kin[to].push(at));
	return { levels, same, kin };
}

const NO_TASK = "[no Java method]";

/* Nodes by parent and key, in a table of open addressing that grows; 0 is no node. */
class ChildTable {
	constructor(tree)
	{
		this.tree = tree;
		this.slots = new Int32Array(1 << 16);
		this.used = 0;
	}

	/* Where a child is, or would be. */
	placeOf(parent, key)
	{
		const { slots, tree } = this, mask = slots.length - 1;
		let at = Math.imul(parent, 0x9e3779b1) + Math.imul(key, 0x85ebca6b);
		at = Math.imul(at ^ at >>> 15, 0x2c1b3c6d);
		for (at = (at ^ at >>> 13) & mask; slots[at] > 0; at = (at + 1) & mask)
			if (tree.parent[slots[at]] === parent && tree.key[slots[at]] === key)
				break;
		return at;
	}

	find(parent, key)
	{
		return this.slots[this.placeOf(parent, key)];
	}

	put(node)
	{
		if (2 * ++this.used > this.slots.length)
			this.grow();
		this.slots[this.placeOf(this.tree.parent[node], this.tree.key[node])] = node;
	}

	grow()
	{
		const old = this.slots;
		this.slots = new Int32Array(2 * old.length);
		for (const node of old)
			if (node > 0)
				this.slots[this.placeOf(this.tree.parent[node], this.tree.key[node])] = node;
	}
}

/* Callers that are the same function as a frame, found by its key while the walk is below them. */
class RecursionWalk {
	constructor(keyCount)
	{
		this.on = new Int32Array(keyCount);     // 0: not on the way to the root
		this.path = [];
		this.earlier = [];
	}

	leaveTo(depth)
	{
		while (this.path.length > depth)
			this.on[this.path.pop()] = this.earlier.pop();
	}

	enter(key, node)
	{
		this.path.push(key);
		this.earlier.push(this.on[key]);
		this.on[key] = node;
	}
}

/*
 * base as the options say: the ways in which a method ran as one node, time that is no Java method's
 * as that of the one that called it, recursive calls joined to the first, runs of frames to one, and
 * labels of thread pools or what threads begin with. of says what each node of base has become, and
 * below of which node its callees become children. Children are looked up by key only where several of
 * base can become one.
 */
class Folding {
	constructor(base, { merges, javaOnly, recursion, frameworks, plumbing, starts })
	{
		const { count } = base;
		this.kin = kinOf(base.keys);
		this.merges = merges;
		this.below = javaOnly || plumbing ? new Int32Array(count) : null;
		this.isLooking = merges || javaOnly || plumbing || hasPools(app.data);
		this.starts = starts;
		this.base = base;
		this.tree = newTree(count + 1, base.keys.slice());
		this.tree.count = 1;
		this.tree.key[0] = base.key[0];
		this.of = new Int32Array(count);
		this.last = new Int32Array(count + 1).fill(-1);
		this.sources = new Uint8Array(count + 1);         // one, or 2 for more
		this.table = new ChildTable(this.tree);
		this.walk = recursion ? new RecursionWalk(base.keys.length + 1) : null;
		this.runKey = base.keys.length;
		this.tree.keys.push({ name: "[run]", kind: 0, shade: 0 });
		this.isGone = this.hiddenNodes();
		if (javaOnly)
			this.prepareJava();
		if (frameworks || plumbing)
			this.prepareRuns({ frameworks, plumbing });
	}

	/* What is needed to give time to Java methods. */
	prepareJava()
	{
		const { base } = this, { tasks } = app.data.facts, letters = base.keys.map(key => app.data.kinds[key.kind].letter);
		this.isJava = new Uint8Array(base.count);   // a Java method, or called by one
		this.task = new Uint8Array(base.count);     // what its thread does, from 1 on
		this.taskKey = this.tree.keys.length;
		for (const name of [NO_TASK, ...tasks.map(task => task.name)])
			this.tree.keys.push({ name, kind: 0, shade: 0 });
		this.taskOf = base.keys.map(key => 1 + listOf(tasks, key.name));
		this.isLabel = letters.map(letter => letter === "#");
		this.isLeaf = letters.map(letter => "wo".includes(letter));
		this.isMethod = letters.map((letter, at) => this.kin.levels[at] >= 0 || letter === "*");
	}

	prepareRuns(how)
	{
		const { base } = this, isGone = this.isGone.slice();
		if (this.isMethod)
			for (let i = 1; i < base.count; i++)
				isGone[i] |= this.isShownAsJava(base.key[i]) ? 0 : 1;
		this.runs = new Runs(app.data, isGone, how);
		this.run = new Int32Array(base.count);             // frames of the run up to here
		this.isSplit = new Uint8Array(base.count);         // its own samples are a node above the run
		this.runBelow = [new Int32Array(base.count + 1), new Int32Array(base.count + 1)];    // a node's child that
		this.isWait = new Uint8Array(base.count + 1);      // is a run, but for those under waits; and that is one
		this.longest = new Int32Array(base.count + 1);
		this.seen = new Int32Array(base.count + 1);        // a bit a list
	}

	isShownAsJava(key)
	{
		return this.isMethod[key] || this.isLabel[key] || this.isLeaf[key];
	}

	add(parent, key)
	{
		const node = this.tree.count++;
		this.tree.key[node] = key;
		linkChild(this.tree, node, parent, this.last);
		if ((this.isLooking || this.sources[parent] > 1) && key !== this.runKey)
			this.table.put(node);
		return node;
	}

	/* One more node of base has become this one. */
	join(node)
	{
		if (this.sources[node] === 1 && !this.isLooking)
			for (let child = this.tree.first[node]; child >= 0; child = this.tree.next[child])
				if (this.tree.key[child] !== this.runKey)
					this.table.put(child);
		this.sources[node] = Math.min(this.sources[node] + 1, 2);
	}

	/* The run that a frame of one belongs to. What lies under a wait is a run of its own. */
	runOf(i, parent)
	{
		const { base, tree, runKey, runs } = this, isWait = runs.of[i] === runs.waits ? 1 : 0, below = this.runBelow[isWait];
		const to = tree.key[parent] === runKey && this.isWait[parent] === isWait ? parent :
			below[parent] || (below[parent] = this.add(parent, runKey));
		this.isWait[to] = isWait;
		this.run[i] = to === parent ? this.run[base.parent[i]] + 1 : 1;
		this.seen[to] |= 1 << this.runs.of[i];
		this.longest[to] = Math.max(this.longest[to], this.run[i]);
		return to;
	}

	/* The child of a node with that key, which is made if there is none. */
	childOf(parent, key)
	{
		return (this.isLooking || this.sources[parent] > 1 ? this.table.find(parent, key) : 0) ||
			this.add(parent, key);
	}

	/* The node that a frame which is no Java method, nor called by one, gives its samples to. */
	taskNode(i, parent)
	{
		const key = this.taskKey + this.task[i];
		return this.table.find(parent, key) || this.add(parent, key);
	}

	/* i's samples and callees are its caller's. */
	leaveOut(i)
	{
		const { base, below } = this;
		this.of[i] = (below || this.of)[base.parent[i]];
		if (below)
			below[i] = this.of[i];
		if (this.walk)
			this.walk.enter(base.keys.length, 0);
	}

	/* Of each node whether it is a pool's label, or one of those that its threads begin with, and not shown. */
	hiddenNodes()
	{
		const { base, starts } = this, startOf = startsOf(base.keys);
		const inStart = new Uint8Array(base.count), isHidden = new Uint8Array(base.count);
		for (let i = 1; i < base.count; i++) {
			const up = base.parent[i], key = base.key[i];
			inStart[i] = (inStart[up] ? startOf[key] !== 2 : startOf[key] === 1) ? 1 : 0;
			isHidden[i] = (starts ? startOf[key] === 1 : inStart[up] === 1) ? 1 : 0;
		}
		return isHidden;
	}

	/* Whether i is a node of its own; else its samples are another's. */
	isKept(i)
	{
		const { base, below } = this, up = base.parent[i], key = base.key[i], { data } = app;
		if (this.isGone[i]) {
			this.leaveOut(i);
			return false;
		}
		if (!this.isMethod)
			return true;
		this.isJava[i] = this.isMethod[key] || this.isJava[up] ? 1 : 0;
		this.task[i] = this.task[up] || this.taskOf[key];
		if (this.isShownAsJava(key))
			return true;
		const own = data.all[i] > 0 || (data.before && data.before[i] > 0);
		below[i] = below[up];
		this.of[i] = own && !this.isJava[i] ? this.taskNode(i, below[up]) : below[up];
		if (this.walk)
			this.walk.enter(base.keys.length, 0);
		return false;
	}

	node(i)
	{
		const { base, walk } = this;
		if (walk)
			walk.leaveTo(base.depth[i] - 1);
		if (this.isKept(i))
			this.keep(i, this.parentOf(i));
	}

	/*
	 * Of which node i becomes a child. Without a Java method why a thread waits is the task's child. Who has
	 * waited and waits for a processor by now stands beside the wait, and not in it.
	 */
	parentOf(i)
	{
		const { base, below, runs } = this, up = base.parent[i];
		const isRunnable = runs && base.keys[base.key[i]].name === RUNNABLE;
		const above = (below || this.of)[up], parent = isRunnable && this.isWait[above] ? this.tree.parent[above] : above;
		return this.isMethod && this.isLeaf[base.key[i]] && !this.isJava[i] && !this.isLabel[base.key[up]] ?
			this.taskNode(i, parent) : parent;
	}

	keep(i, parent)
	{
		const { base, walk, runs } = this;
		const key = this.merges ? this.kin.same[base.key[i]] : base.key[i];
		let to = runs && runs.of[i] >= 0 ? this.runOf(i, parent) : 0;
		if (walk)
			to = to || walk.on[key];
		to = to || this.childOf(parent, key);
		if (walk)
			walk.enter(key, to);
		this.join(to);
		this.of[i] = to;
		if (this.below)
			this.below[i] = to;
		if (runs && runs.of[i] >= 0 && runs.isPlumbing(runs.of[i]))
			this.keepOwn(i, to, key);
	}

	/* What plumbing does itself is its own: else nobody would see where the time goes. */
	keepOwn(i, run, key)
	{
		const { all, before } = app.data;
		if (!(all[i] > 0 || (before && before[i] > 0)))
			return;
		this.of[i] = this.childOf(run, key);
		this.isSplit[i] = 1;
	}
}

/* how: merges, javaOnly, recursion, frameworks, plumbing, starts, each a flag. */
function* foldSteps(base, how)
{
	const folding = new Folding(base, how), { count } = base;
	for (let i = 1; i < count;) {
		for (const end = Math.min(i + CHUNK_NODES, count); i < end; i++)
			folding.node(i);
		yield progress("Folding", i, count);
	}
	if (folding.runs)
		nameRuns(folding.tree, folding.runKey, folding.runs.lists, folding);
	return { tree: folding.tree, of: folding.of, isSplit: folding.isSplit,
		kin: how.merges ? kinOf(folding.tree.keys) : null };
}

/* The one with the greatest weight; the first of equal ones. */
function heaviest(all, weight)
{
	return all.reduce((best, one) => weight(one) > weight(best) ? one : best, all[0]);
}

/*
 * Gives each node of a tree with merged levels the key of the level of most of its samples, and
 * tree.levels: of each node how many are of each level.
 */
function setLevels(tree, { of, kin, isSplit }, base, self)
{
	const sums = sumUp(base, self), counts = new Float64Array(LEVELS.length * tree.count);
	for (let i = 1; i < base.count; i++) {
		const level = kin.levels[base.key[i]];
		if (level >= 0 && tree.key[of[i]] === kin.same[base.key[i]])
			counts[LEVELS.length * of[i] + level] += isSplit && isSplit[i] ? self[i] : sums[i];
	}
	const key = tree.key.slice();
	for (let i = 1; i < tree.count; i++) {
		const ways = kin.kin[key[i]];
		if (ways.length > 1)
			key[i] = heaviest(ways, one => counts[LEVELS.length * i + kin.levels[one]]);
	}
	tree.key = key;
	tree.levels = counts;
	tree.kin = kin;
}
