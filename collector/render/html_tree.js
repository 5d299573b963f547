// SPDX-License-Identifier: Apache-2.0
/*
 * Trees and what is made of them: sums, one tree with runs of frames folded, and trees that grow as
 * they are looked at (callers first, callers and callees of one function), which would be too large
 * to be made whole.
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

// ---- folding ----

const FRAMEWORKS = [
	["Spring", /^org[/.]springframework[/.]/],
	["Tomcat", /^(org[/.]apache[/.](tomcat|catalina|coyote|jasper)|jakarta[/.]servlet|javax[/.]servlet)[/.]/],
	["Jetty", /^org[/.]eclipse[/.]jetty[/.]/],
	["Netty", /^io[/.]netty[/.]/],
	["Reactor", /^reactor[/.]/],
	["Hibernate", /^org[/.]hibernate[/.]/],
	["Undertow", /^io[/.]undertow[/.]/],
	["Vert.x", /^io[/.]vertx[/.]/],
	["Quarkus", /^(io[/.]quarkus|org[/.]jboss)[/.]/],
	["Micronaut", /^io[/.]micronaut[/.]/],
	["JDK", /^(java|javax|jdk|sun|com[/.]sun)[/.]/],
];
const JDK = FRAMEWORKS.length - 1;

/* Of each key its framework, or -1; the JDK's own frames belong to a run but begin none. */
function frameworksOf(keys)
{
	return Int8Array.from(keys, key => FRAMEWORKS.findIndex(([, pattern]) => pattern.test(key.name)));
}

/* Children by parent and key, in a table of open addressing. */
function childTable(count)
{
	let size = 1024;
	while (size < 2 * count)
		size *= 2;
	const slots = new Int32Array(size).fill(-1);
	return {
		find(tree, parent, key) {
			let at = Math.imul(parent, 0x9e3779b1) + Math.imul(key, 0x85ebca6b);
			at = Math.imul(at ^ at >>> 15, 0x2c1b3c6d);
			for (at = (at ^ at >>> 13) & (size - 1); slots[at] >= 0; at = (at + 1) & (size - 1))
				if (tree.parent[slots[at]] === parent && tree.key[slots[at]] === key)
					return slots[at];
			return -1 - at;
		},
		put(free, node) {
			slots[-1 - free] = node;
		},
	};
}

/* Callers that are the same function as a frame, found by its key while the walk is below them. */
function recursionWalk(keyCount)
{
	const on = new Int32Array(keyCount).fill(-1), path = [], earlier = [];
	return {
		leaveTo(depth) {
			while (path.length > depth)
				on[path.pop()] = earlier.pop();
		},
		find: key => on[key],
		enter(key, node) {
			path.push(key);
			earlier.push(on[key]);
			on[key] = node;
		},
	};
}

/*
 * base with recursive calls joined to the first, and runs of frameworks' frames to one; of says
 * what each node of base has become.
 */
function foldTree(base, recursion, frameworks)
{
	const tree = newTree(base.count, base.keys.slice()), of = new Int32Array(base.count);
	const table = childTable(base.count), last = new Int32Array(base.count).fill(-1);
	const framework = frameworks ? frameworksOf(base.keys) : null;
	const walk = recursionWalk(base.keys.length);
	const run = new Int32Array(base.count), longest = new Int32Array(base.count);
	const seen = new Int32Array(base.count), frameworkKey = base.keys.length;
	tree.keys.push({ name: "[frameworks]", kind: 0, shade: 0 });
	tree.key[0] = base.key[0];
	tree.count = 1;
	for (let i = 1; i < base.count; i++) {
		const parent = of[base.parent[i]], own = base.key[i];
		let key = own, to = -1;
		walk.leaveTo(base.depth[i] - 1);
		if (framework && framework[own] >= 0) {
			const inRun = tree.key[parent] === frameworkKey;
			if (inRun)
				to = parent;
			if (inRun || framework[own] !== JDK) {
				key = frameworkKey;
				run[i] = inRun ? run[base.parent[i]] + 1 : 1;
			}
		}
		if (recursion && to < 0 && key === own)
			to = walk.find(key);
		if (to < 0) {
			to = table.find(tree, parent, key);
			if (to < 0) {
				table.put(to, tree.count);
				to = tree.count++;
				tree.key[to] = key;
				linkChild(tree, to, parent, last);
			}
		}
		walk.enter(own, to);
		if (run[i]) {
			seen[to] |= 1 << framework[own];
			longest[to] = Math.max(longest[to], run[i]);
		}
		of[i] = to;
	}
	if (framework)
		nameRuns(tree, frameworkKey, seen, longest);
	return { tree, of };
}

function nameRuns(tree, frameworkKey, seen, longest)
{
	const byName = new Map();
	for (let i = 1; i < tree.count; i++) {
		if (tree.key[i] !== frameworkKey)
			continue;
		const names = FRAMEWORKS.filter((f, at) => seen[i] >> at & 1).map(f => f[0]);
		const name = "[" + names.join(", ") + ": " + longest[i] +
			(longest[i] === 1 ? " frame]" : " frames]");
		if (!byName.has(name)) {
			byName.set(name, tree.keys.length);
			tree.keys.push({ name, kind: 0, shade: 3 });
		}
		tree.key[i] = byName.get(name);
	}
}

// ---- trees that grow ----

/* cursors: of each node the nodes of source that it stands for, with their weights. */
function growingTree(source, grow)
{
	return {
		source, grow, keys: source.keys, count: 0, grown: [], cursors: [],
		key: [], parent: [], depth: [], first: [], next: [],
		self: [], total: [], before: [], beforeTotal: [], wide: [],
	};
}

function addGrowing(tree, parent, key, weights)
{
	const i = tree.count++;
	tree.key.push(key);
	tree.parent.push(parent);
	tree.depth.push(parent < 0 ? 0 : tree.depth[parent] + 1);
	tree.first.push(-1);
	tree.next.push(-1);
	tree.grown.push(false);
	tree.cursors.push(weights.cursors);
	tree.self.push(weights.self);
	tree.total.push(weights.total);
	tree.before.push(weights.before);
	tree.beforeTotal.push(weights.beforeTotal);
	tree.wide.push(weights.wide);
	return i;
}

const noWeights = () => ({ cursors: [], self: 0, total: 0, before: 0, beforeTotal: 0, wide: 0 });

function addCursor(weights, cursor)
{
	weights.cursors.push(cursor);
	weights.total += cursor.total;
	weights.beforeTotal += cursor.before;
	weights.wide += cursor.wide;
}

/* Makes children of groups by key, the widest first. */
function addGroups(tree, i, groups)
{
	const sorted = [...groups].sort((a, b) => b[1].wide - a[1].wide);
	let before = -1;
	for (const [key, weights] of sorted) {
		const child = addGrowing(tree, i, key, weights);
		if (before < 0)
			tree.first[i] = child;
		else
			tree.next[before] = child;
		before = child;
	}
}

function groupOf(groups, key)
{
	let group = groups.get(key);
	if (!group)
		groups.set(key, group = noWeights());
	return group;
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

function growCallers(tree, i)
{
	const { source } = tree, groups = new Map();
	for (const cursor of tree.cursors[i]) {
		const caller = source.parent[cursor.node];
		if (caller > 0) {
			cursor.node = caller;      // it is nobody else's
			addCursor(groupOf(groups, source.key[caller]), cursor);
		} else {
			tree.self[i] += cursor.total;
			tree.before[i] += cursor.before;
		}
	}
	addGroups(tree, i, groups);
}

const cursorOf = (source, node) => ({ node, total: source.total[node],
	before: source.beforeTotal[node], wide: source.wide[node] });

function growCallees(tree, i)
{
	const { source } = tree, groups = new Map();
	for (const cursor of tree.cursors[i]) {
		tree.self[i] += source.self[cursor.node];
		tree.before[i] += source.before[cursor.node];
		for (let child = source.first[cursor.node]; child >= 0; child = source.next[child])
			if (source.wide[child] > 0)
				addCursor(groupOf(groups, source.key[child]), cursorOf(source, child));
	}
	addGroups(tree, i, groups);
}

/* All stacks, leaf first: the root's children are the functions that samples ended in. */
function reversedTree(source)
{
	const tree = growingTree(source, growCallers), groups = new Map(), root = noWeights();
	for (let i = 1; i < source.count; i++) {
		const self = source.self[i], before = source.before[i];
		if (self > 0 || before > 0)
			addCursor(groupOf(groups, source.key[i]), { node: i, total: self, before,
				wide: source.selfWide[i] });
	}
	root.total = source.total[0];
	root.self = source.self[0];
	root.beforeTotal = source.beforeTotal[0];
	root.wide = source.wide[0];
	addGrowing(tree, -1, source.key[0], root);
	tree.grown[0] = true;
	addGroups(tree, 0, groups);
	return tree;
}

/* The outermost frames of a function, whichever way it ran, so that nested ones count once. */
function occurrencesOf(source, name)
{
	const marked = markedBy(source.keys, key => key.name === name), weights = noWeights();
	const inside = insideOf(source, marked);
	for (let i = 1; i < source.count; i++)
		if (marked[source.key[i]] && !inside[source.parent[i]] && source.wide[i] > 0)
			addCursor(weights, cursorOf(source, i));
	return weights;
}

function sandwichTrees(source, key)
{
	const { name } = source.keys[key];
	const callers = growingTree(source, growCallers), callees = growingTree(source, growCallees);
	addGrowing(callers, -1, key, occurrencesOf(source, name));
	addGrowing(callees, -1, key, occurrencesOf(source, name));
	return { callers, callees };
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

/* Of each name self and total, the latter once for nested frames; by the name's first key. */
function tally(tree)
{
	const n = tree.keys.length, of = namesakes(tree.keys);
	const sums = { self: new Float64Array(n), total: new Float64Array(n),
		before: new Float64Array(n), beforeTotal: new Float64Array(n) };
	const open = new Int32Array(n);
	for (let i = tree.first[0]; i > 0;) {
		const key = of[tree.key[i]];
		sums.self[key] += tree.self[i];
		sums.before[key] += tree.before[i];
		if (open[key]++ === 0) {
			sums.total[key] += tree.total[i];
			sums.beforeTotal[key] += tree.beforeTotal[i];
		}
		if (tree.first[i] >= 0) {
			i = tree.first[i];
			continue;
		}
		open[key]--;
		while (i > 0 && tree.next[i] < 0) {
			i = tree.parent[i];
			if (i > 0)
				open[of[tree.key[i]]]--;
		}
		i = i > 0 ? tree.next[i] : 0;
	}
	return sums;
}
