// SPDX-License-Identifier: Apache-2.0
/*
 * One tree made of another, with fewer nodes: levels of compilation as one, runs of frameworks'
 * frames as one, recursive calls as one, time given to the Java method that called, starts of
 * threads left out.
 */

// ---- folding ----

/* The first of the lists that has a start of that name, or -1; a . and a / are alike. */
function listOf(lists, name)
{
	const path = name.replaceAll(".", "/");
	return lists.findIndex(({ starts }) => starts.some(start => path.startsWith(start)));
}

/* Names of the frameworks, but for the JDK, which is the last, that have any of these keys. */
function frameworksAmong(keys)
{
	const found = new Set(frameworksOf(keys));
	return app.data.facts.frameworks.slice(0, -1).filter((of, at) => found.has(at)).map(({ name }) => name);
}

/* Of each key its framework, or -1; the JDK's own frames belong to a run but begin none. */
function frameworksOf(keys)
{
	return Int8Array.from(keys, key => listOf(app.data.facts.frameworks, key.name));
}

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
 * as that of the one that called it, recursive calls joined to the first, runs of frameworks' frames
 * to one, and labels of thread pools or what threads begin with. of says what each node of base has
 * become, and below of which node its callees become children. Children are looked up by key only
 * where several of base can become one.
 */
class Folding {
	constructor(base, { merges, javaOnly, recursion, frameworks, starts })
	{
		const { count } = base;
		this.kin = kinOf(base.keys);
		this.merges = merges;
		this.below = javaOnly ? new Int32Array(count) : null;
		this.isLooking = merges || javaOnly || hasPools(app.data);
		this.starts = starts;
		this.startOf = startsOf(base.keys);
		this.inStart = new Uint8Array(count);
		this.base = base;
		this.tree = newTree(count, base.keys.slice());
		this.tree.count = 1;
		this.tree.key[0] = base.key[0];
		this.of = new Int32Array(count);
		this.last = new Int32Array(count).fill(-1);
		this.sources = new Uint8Array(count);         // one, or 2 for more
		this.table = new ChildTable(this.tree);
		this.walk = recursion ? new RecursionWalk(base.keys.length + 1) : null;
		this.framework = frameworks ? frameworksOf(base.keys) : null;
		this.frameworkKey = base.keys.length;
		this.tree.keys.push({ name: "[frameworks]", kind: 0, shade: 0 });
		if (javaOnly) {
			this.isJava = new Uint8Array(count);   // a Java method, or called by one
			this.task = new Uint8Array(count);     // what its thread does, from 1 on
			this.taskKey = this.tree.keys.length;
			const { tasks } = app.data.facts;
			for (const name of [NO_TASK, ...tasks.map(task => task.name)])
				this.tree.keys.push({ name, kind: 0, shade: 0 });
			this.taskOf = base.keys.map(key => 1 + listOf(tasks, key.name));
			this.isLabel = base.keys.map(key => app.data.kinds[key.kind].letter === "#");
			this.isLeaf = base.keys.map(key => "wo".includes(app.data.kinds[key.kind].letter));
			this.isMethod = base.keys.map((key, at) => this.kin.levels[at] >= 0 ||
				app.data.kinds[key.kind].letter === "*");
		}
		if (frameworks) {
			this.run = new Int32Array(count);      // frames of the run up to here
			this.runBelow = new Int32Array(count); // a node's child that is a run
			this.longest = new Int32Array(count);
			this.seen = new Int32Array(count);     // a bit a framework
		}
	}

	add(parent, key)
	{
		const node = this.tree.count++;
		this.tree.key[node] = key;
		linkChild(this.tree, node, parent, this.last);
		if ((this.isLooking || this.sources[parent] > 1) && key !== this.frameworkKey)
			this.table.put(node);
		return node;
	}

	/* One more node of base has become this one. */
	join(node)
	{
		if (this.sources[node] === 1 && !this.isLooking)
			for (let child = this.tree.first[node]; child >= 0; child = this.tree.next[child])
				if (this.tree.key[child] !== this.frameworkKey)
					this.table.put(child);
		this.sources[node] = Math.min(this.sources[node] + 1, 2);
	}

	/* What a frame of a framework becomes, or 0 if it is not in a run. */
	runOf(i, parent)
	{
		const { framework, base, tree, frameworkKey } = this, of = framework[base.key[i]];
		let to = 0;
		if (tree.key[parent] === frameworkKey)
			to = parent;
		else if (of !== app.data.facts.frameworks.length - 1)
			to = this.runBelow[parent] || (this.runBelow[parent] = this.add(parent, frameworkKey));
		else
			return 0;
		this.run[i] = to === parent ? this.run[base.parent[i]] + 1 : 1;
		this.seen[to] |= 1 << of;
		this.longest[to] = Math.max(this.longest[to], this.run[i]);
		return to;
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

	/* Whether i is a pool's label, or one of those that its threads begin with, and is not shown. */
	isHidden(i)
	{
		const { base, startOf, inStart } = this, up = base.parent[i], key = base.key[i];
		inStart[i] = inStart[up] ? startOf[key] !== 2 : startOf[key] === 1;
		return this.starts ? startOf[key] === 1 : inStart[up] === 1;
	}

	/* Whether i is a node of its own; else its samples are another's. */
	isKept(i)
	{
		const { base, below } = this, up = base.parent[i], key = base.key[i], { data } = app;
		if (this.isHidden(i)) {
			this.leaveOut(i);
			return false;
		}
		if (!below)
			return true;
		this.isJava[i] = this.isMethod[key] || this.isJava[up] ? 1 : 0;
		this.task[i] = this.task[up] || this.taskOf[key];
		if (this.isMethod[key] || this.isLabel[key] || this.isLeaf[key])
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

	/* Of which node i becomes a child. Without a Java method why a thread waits is the task's child. */
	parentOf(i)
	{
		const { base, below } = this, up = base.parent[i], parent = (below || this.of)[up];
		return below && this.isLeaf[base.key[i]] && !this.isJava[i] && !this.isLabel[base.key[up]] ?
			this.taskNode(i, parent) : parent;
	}

	keep(i, parent)
	{
		const { base, tree, walk, framework } = this;
		const key = this.merges ? this.kin.same[base.key[i]] : base.key[i];
		let to = framework && framework[key] >= 0 ? this.runOf(i, parent) : 0;
		if (walk)
			to = to || walk.on[key];
		if (to === 0 && (this.isLooking || this.sources[parent] > 1))
			to = this.table.find(parent, key);
		if (to === 0)
			to = this.add(parent, key);
		if (walk)
			walk.enter(key, to);
		this.join(to);
		this.of[i] = to;
		if (this.below)
			this.below[i] = to;
	}
}

/* how: merges, javaOnly, recursion, frameworks, starts, each a flag. */
function* foldSteps(base, how)
{
	const folding = new Folding(base, how), { count } = base;
	for (let i = 1; i < count;) {
		for (const end = Math.min(i + CHUNK_NODES, count); i < end; i++)
			folding.node(i);
		yield progress("Folding", i, count);
	}
	if (how.frameworks)
		nameRuns(folding.tree, folding.frameworkKey, folding.seen, folding.longest);
	return { tree: folding.tree, of: folding.of, kin: how.merges ? kinOf(folding.tree.keys) : null };
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
function setLevels(tree, { of, kin }, base, self)
{
	const sums = sumUp(base, self), counts = new Float64Array(LEVELS.length * tree.count);
	for (let i = 1; i < base.count; i++) {
		const level = kin.levels[base.key[i]];
		if (level >= 0 && tree.key[of[i]] === kin.same[base.key[i]])
			counts[LEVELS.length * of[i] + level] += sums[i];
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

function nameRuns(tree, frameworkKey, seen, longest)
{
	const byName = new Map();
	for (let i = 1; i < tree.count; i++) {
		if (tree.key[i] !== frameworkKey)
			continue;
		const names = app.data.facts.frameworks.filter((f, at) => seen[i] >> at & 1).map(f => f.name);
		const name = "[" + names.join(", ") + ": " + longest[i] +
			(longest[i] === 1 ? " frame]" : " frames]");
		if (!byName.has(name)) {
			byName.set(name, tree.keys.length);
			tree.keys.push({ name, kind: 0, shade: 3 });
		}
		tree.key[i] = byName.get(name);
	}
}
