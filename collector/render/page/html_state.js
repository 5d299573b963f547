// SPDX-License-Identifier: Apache-2.0
/*
 * What is looked at: the state, its address, and the trees that follow from it. An address names
 * frames, not pixels, so that it is right in another window and in another recording.
 *
 *   kind of samples --> data --filters, range--> weights --folding--> app.tree --callers first--> what is drawn
 *
 * app.made is what was made of the state last: trees, weights, and what was asked of these.
 */
const app = { data: null, state: null, tree: null, made: null };
const DIMENSIONS = ["container", "process", "pool", "thread", "label"];
const WIDTHS = ["after", "before", "union"];

/* Names of tabs, what is written on them, and what they have. */
function tabsOf(data)
{
	return [["graph", "Graph", "The flame graph"], ["top", "Functions", "A table of all functions"],
		["sandwich", "Callers", "Callers and callees of one function"],
		...(data.before ? [["changes", "Changes", "A table of what has changed most"]] : [])];
}

const DEEP = 50;     // frames; more is read no longer but by search

/* Of a sample, its frames on average. */
function meanDepth({ base, all })
{
	let frames = 0, samples = 0;
	for (let i = 0; i < base.count; i++) {
		frames += base.depth[i] * all[i];
		samples += all[i];
	}
	return samples ? frames / samples : 0;
}

/* Whether frameworks are folded at first. */
function isDeep(data)
{
	if (data.isDeep === undefined)
		data.isDeep = meanDepth(data) > DEEP && frameworksAmong(data.keys).length > 0;
	return data.isDeep;
}

const foldsAtFirst = data => isDeep(data) || Boolean(data.facts.folded);

/* A comparison begins as the command line said. */
function newState()
{
	const { facts } = app.data;
	return {
		samples: samplesKinds()[0], tab: "graph", zoom: "", search: "", ignoreCase: false, onlyMatching: false,
		icicle: false, reversed: false, recursion: false, frameworks: foldsAtFirst(app.data), plumbing: true,
		split: Boolean(facts.split), javaOnly: Boolean(facts.java_only),
		starts: Boolean(facts.starts), ...newSorts(facts),
		container: "", process: "", pool: "", thread: "", label: "", from: 0, to: 0,
		through: "", without: "", kind: -1, onlyKind: false, focus: "", sort: "self", up: false,
		widths: facts.widths || "after", normalise: !facts.raw, bySelf: false,
	};
}

/* Times are seconds in an address, so that they are right in another recording; here they are buckets. */
const bucketSeconds = () => Number(app.data.facts.bucket_ns || 0) / 1e9;
const isTime = name => name === "from" || name === "to";

function textOf(name, value)
{
	if (isTime(name))
		return +(value * bucketSeconds()).toFixed(6) + "s";
	return typeof value === "boolean" ? (value ? "1" : "0") : String(value);
}

/* A time without its unit is one of buckets, as addresses had it once. */
function numberOf(name, text)
{
	const isSeconds = isTime(name) && /^[0-9.]+s$/.test(text);
	const number = isSeconds ? Math.round(parseFloat(text) / bucketSeconds()) : Number(text);
	return Number.isFinite(number) ? number : 0;
}

/* Only what differs from a new state is in the address. */
function addressOf(state)
{
	const fresh = newState(), address = new URLSearchParams();
	for (const name in fresh)
		if (state[name] !== fresh[name])
			address.set(name, textOf(name, state[name]));
	return "#" + address;
}

function stateOf(hash)
{
	const state = newState(), address = new URLSearchParams(hash.slice(1));
	for (const name in state) {
		const text = address.get(name);
		if (text === null)
			continue;
		if (typeof state[name] === "boolean")
			state[name] = text === "1";
		else if (typeof state[name] === "number")
			state[name] = Number.isFinite(parseFloat(text)) ? numberOf(name, text) : state[name];
		else
			state[name] = text;
	}
	if (!tabsOf(app.data).some(([name]) => name === state.tab))
		state.tab = "graph";
	state.samples = app.data.name;
	if (!WIDTHS.includes(state.widths))
		state.widths = newState().widths;
	return state;
}

/* Four characters that stand for a name; a run is one however long it is. */
function shortHash(key)
{
	const name = key.isRun ? "[run]" : key.name;
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const isLevel = LEVELS.some(([letter]) => letter === app.data.kinds[key.kind].letter);
	let hash = 0x811c9dc5 ^ (isLevel ? 0 : key.kind), text = "";
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
	for (let i = 0; i < 4; i++)
		text += digits[(hash ^ hash >>> 15) >>> 6 * i & 63];
	return text;
}

function pathOf(tree, i)
{
	let path = "";
	for (; i > 0; i = tree.parent[i])
		path = shortHash(tree.keys[tree.key[i]]) + path;
	return path;
}

/* The node at the end of path, or as far as there is one. */
function nodeOfPath(tree, path)
{
	let i = 0;
	for (let at = 0; at < path.length; at += 4) {
		const wanted = path.slice(at, at + 4);
		let child = firstChild(tree, i);
		while (child >= 0 && shortHash(tree.keys[tree.key[child]]) !== wanted)
			child = tree.next[child];
		if (child < 0)
			break;
		i = child;
	}
	return i;
}

// ---- search ----

/* Whether a capital stands in a regular expression, but behind a backslash, where it is a class. */
const hasCapital = text => /\p{Lu}/u.test(text.replace(/\\[a-z]/gi, ""));

/* Small letters are also found as capitals, until there is a capital. */
function patternOf(state)
{
	try {
		return state.search ? new RegExp(state.search, state.ignoreCase || !hasCapital(state.search) ? "i" : "") :
			null;
	} catch (error) {
		return undefined;
	}
}

function markedBy(keys, test)
{
	return Uint8Array.from(keys, key => test(key) ? 1 : 0);
}

/* Marks of this tree's keys, or null when nothing is searched. */
function searchMarks(keys)
{
	const pattern = patternOf(app.state);
	return pattern ? markedBy(keys, key => pattern.test(key.name)) : null;
}

/* Marks of nodes that were folded out of a matching frame, or null. */
function foldedMarks(tree)
{
	const { state, made, data } = app, pattern = patternOf(state);
	if (!pattern || tree !== made.tree || !made.of)
		return null;
	const marked = searchMarks(data.keys), marks = new Uint8Array(tree.count);
	for (let i = 1; i < data.base.count; i++)
		marks[made.of[i]] |= marked[data.base.key[i]];
	return marks;
}

function sumInside(tree, marked, own)
{
	const inside = insideOf(tree, marked);
	let sum = 0;
	for (let i = 0; i < tree.count; i++)
		if (inside[i])
			sum += own[i];
	return sum;
}

/* Samples that have a matching frame, each once; of the whole recording's names, however folded. */
function matchedShare()
{
	const { made, state, data } = app, key = state.ignoreCase + " " + state.search;
	if (made.matched.key !== key) {
		const marked = searchMarks(data.base.keys);
		made.matched = { key, sum: marked ? sumInside(data.base, marked, made.weights.self) : 0 };
	}
	return made.matched.sum;
}

// ---- weights ----

/* A thread is of one process and one pool, and has any number of labels. */
const valuesOf = (thread, dimension) => dimension === "label" ? thread.label : [thread[dimension]];

/* Of each thread whether the filters let it pass; null if all do. */
function wantedThreads()
{
	const { state, data } = app;
	const set = DIMENSIONS.filter(dimension => state[dimension]);
	return set.length === 0 ? null :
		data.threads.map(thread => set.every(name => valuesOf(thread, name).includes(state[name])));
}

function isRange()
{
	return app.state.to > app.state.from;
}

/* Calls use(entry) for each entry of the timeline that filters, and the range if asked, let pass. */
function eachEntry(inRange, use)
{
	const { times } = app.data, { from, to } = app.state;
	const wanted = wantedThreads(), ranged = inRange && isRange();
	for (let i = 0; times && i < times.count; i++) {
		const bucket = times.bucket[i];
		if ((!ranged || (bucket >= from && bucket < to)) && (!wanted || wanted[times.thread[i]]))
			use(i);
	}
}

function ownWeights()
{
	const { data } = app;
	if (!data.times || (!wantedThreads() && !isRange()))
		return data.all.slice();
	const self = new Float64Array(data.base.count);
	eachEntry(true, i => { self[data.times.node[i]] += data.times.weight[i]; });
	return self;
}

function keepInside(base, marked, columns)
{
	const inside = insideOf(base, marked);
	for (let i = 0; i < base.count; i++)
		if (!inside[i])
			for (const column of columns)
				column[i] = 0;
}

/*
 * What stacks must have, or must not: a line each, a = and a frame's name, or a ~ and a regular expression.
 * state.through and state.without are such lines.
 */
const linesOf = lines => lines ? lines.split("\n") : [];
const withLine = (lines, line) => [...new Set([...linesOf(lines), line])].join("\n");
const withoutLine = (lines, line) => linesOf(lines).filter(one => one !== line).join("\n");

/* Marks of keys that a line means; null where it means nothing. */
function lineMarks(keys, line)
{
	const text = line.slice(1);
	if (line[0] === "=")
		return markedBy(keys, key => key.name === text);
	const pattern = line[0] === "~" ? patternOf({ search: text, ignoreCase: false }) : null;
	return pattern ? markedBy(keys, key => pattern.test(key.name)) : null;
}

/* Leaves stacks out that do not have what they must have, or have what they must not. */
function keepLines(base, columns)
{
	const { through, without } = app.state;
	for (const [lines, isWanted] of [[through, 1], [without, 0]]) {
		for (const line of linesOf(lines)) {
			const marks = lineMarks(base.keys, line), inside = marks && insideOf(base, marks);
			for (let i = 0; inside && i < base.count; i++)
				if (inside[i] !== isWanted)
					for (const column of columns)
						column[i] = 0;
		}
	}
}

function weigh()
{
	const { data, state } = app;
	const weights = { self: ownWeights(),
		before: data.before ? data.before.slice() : new Float64Array(data.base.count) };
	const columns = [weights.self, weights.before];
	weights.sums = sumSorts(weights.self);
	hideSorts(columns);
	if (state.kind >= 0 && state.onlyKind)
		keepInside(data.base, markedBy(data.keys, key => key.kind === state.kind), columns);
	const matching = state.onlyMatching ? searchMarks(data.keys) : null;
	if (matching)
		keepInside(data.base, matching, columns);
	keepLines(data.base, columns);
	return weights;
}

function regroup(own, folded)
{
	const sums = new Float64Array(folded.tree.count);
	for (let i = 0; i < own.length; i++)
		sums[folded.of[i]] += own[i];
	return sums;
}

/* What before is multiplied with so that both sides have as many samples. */
function scaleOf(before, after)
{
	return app.state.normalise && before > 0 && after > 0 ? after / before : 1;
}

function widthOfNode(after, before)
{
	const { widths } = app.state;
	return widths === "before" ? before : widths === "union" ? Math.max(after, before) : after;
}

const NOISE = 2.576;     // less than that happens in one of 100 where nothing has changed

/*
 * How many standard deviations a change is away from none: the two-proportion z test with pooled
 * variance; of counts as they are, two of Poisson's law. before is scaled, as it is in trees.
 */
function sigmasOfUnits(after, before)
{
	const n = app.wholeBefore, m = app.tree.total[0];
	if (!app.state.normalise)
		return after + before > 0 ? (after - before) / Math.sqrt(after + before) : 0;
	if (!n || !m)
		return 0;
	const x = before / scaleOf(n, m), pooled = (x + after) / (n + m);
	const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	return deviation > 0 ? (after / m - x / n) / deviation : 0;
}

/* Of times, as html_data.h says, a sample weighs more than one. */
const sigmas = (after, before) =>
	sigmasOfUnits(after, before) / Math.sqrt(app.data.facts.sample_weight || 1);

const isNoise = (after, before) => Math.abs(sigmas(after, before)) < NOISE;

const foldings = new Map();     // the last ones, of the graph and of tables, of two kinds of samples; no filter changes them
const MOST_FOLDINGS = 4;

/* In tables a function is one, whatever it is for. */
const foldsPlumbing = state => state.plumbing && state.tab === "graph" && plumbingAmong(app.data).length > 0;

function* foldedSteps()
{
	const { state, data } = app, { recursion, frameworks, javaOnly, starts } = state;
	const merges = !state.split && !data.before;     // a comparison has been merged
	const plumbing = foldsPlumbing(state);
	const key = [data.name, merges, javaOnly, recursion, frameworks, plumbing, starts].join(" ");
	if (!merges && !javaOnly && !recursion && !frameworks && !plumbing && !hasPools(data))
		return null;
	if (!foldings.has(key)) {
		const fold = yield* foldSteps(data.base, { merges, javaOnly, recursion, frameworks, plumbing, starts });
		if (foldings.size >= MOST_FOLDINGS)
			foldings.delete(foldings.keys().next().value);
		foldings.set(key, fold);
	}
	return foldings.get(key);
}

/* In a comparison: before as it is compared, and the widths that nodes are drawn by. */
function compare(tree)
{
	const whole = tree.before.reduce((sum, n) => sum + n, 0);
	const scale = scaleOf(whole, tree.total[0]);
	tree.scale = scale;
	tree.before = tree.before.map(n => n * scale);
	tree.beforeTotal = sumUp(tree, tree.before);
	tree.selfWide = tree.self.map((n, i) => widthOfNode(n, tree.before[i]));
	tree.wide = sumUp(tree, tree.selfWide);
	return whole;
}

/* What the trees are made of; when none of it changes, they are still right. */
function keyOfTrees(state)
{
	return ["samples", ...DIMENSIONS, ...SORTS, "from", "to", "through", "without", "split", "javaOnly", "starts", "recursion",
		"frameworks", "widths",
		"normalise", "onlyKind",
		...(state.onlyKind ? ["kind"] : []), "onlyMatching",
		...(state.onlyMatching ? ["search", "ignoreCase"] : [])].map(name => state[name])
		.concat(foldsPlumbing(state)).join("\n");
}

/* What the state shows besides trees that are made of it. */
function keyOfView(state)
{
	return [keyOfTrees(state), state.tab, state.reversed, state.focus].join("\n");
}

function* treeSteps()
{
	const { data } = app, fold = yield* foldedSteps(), word = "Counting";
	const weights = weigh();
	yield word;
	const tree = { ...(fold ? fold.tree : data.base) };
	tree.self = fold ? regroup(weights.self, fold) : weights.self;
	tree.before = fold ? regroup(weights.before, fold) : weights.before;
	if (fold && fold.kin)
		setLevels(tree, fold, data.base, weights.self);
	yield word;
	tree.total = sumUp(tree, tree.self);
	tree.beforeTotal = tree.before;
	tree.selfWide = tree.self;
	tree.wide = tree.total;
	yield word;
	const wholeBefore = data.before ? compare(tree) : 0;
	return { key: keyOfTrees(app.state), tree, weights, wholeBefore, of: fold && fold.of,
		matched: { key: null } };
}

function hottest(sums)
{
	return sums.self.reduce((best, n, key) => n > sums.self[best] ? key : best, 0);
}

function* sandwichSteps(made, width)
{
	const { keys } = made.tree, { focus } = app.state;
	let name = focus;
	if (!keys.some(key => key.name === focus)) {
		made.sums = made.sums || (yield* tallySteps(made.tree));
		name = keys[hottest(made.sums)].name;
	}
	if (!made.sandwich || made.sandwich.name !== name)
		made.sandwich = sandwichTrees(made.tree, name);
	yield "Looking up callers";
	yield* layingOut(made.sandwich.callers, 0, width);
	yield* layingOut(made.sandwich.callees, 0, width);
}

/*
 * All that has to be made before the state can be drawn, in a graph of that width. app keeps what it
 * has until all is made, so that the page goes on with it.
 */
function* viewSteps(width)
{
	const { state } = app, isRight = app.made && app.made.key === keyOfTrees(state);
	const made = isRight ? app.made : yield* treeSteps();
	if (state.tab === "graph" && state.reversed) {
		made.reversed = made.reversed || reversedTree(made.tree);
		yield "Turning";
		yield* layingOut(made.reversed, nodeOfPath(made.reversed, state.zoom), width);
	} else if (state.tab === "sandwich") {
		yield* sandwichSteps(made, width);
	} else if (state.tab !== "graph") {
		made.sums = made.sums || (yield* tallySteps(made.tree));
	}
	app.made = made;
	app.tree = made.tree;
	app.wholeBefore = made.wholeBefore;
}
