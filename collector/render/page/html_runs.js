// SPDX-License-Identifier: Apache-2.0
/*
 * Runs: frames one behind the other that say little, which are drawn as one box. These are frames of
 * frameworks, and plumbing: what threads begin with, interpreters and dispatch of languages on the JVM,
 * and what the JVM and the kernel do under a wait. A frame alone is no run, and keeps its name.
 */

/* The first of the lists that has a start of that name, or -1; a . and a / are alike. */
function listOf(lists, name)
{
	const path = name.replaceAll(".", "/");
	return lists.findIndex(({ starts }) => starts.some(start => path.startsWith(start)));
}

/* Whether a key is a Java method, or may be one: not a label, why a thread waits, or a class. */
const isFrame = ({ kind }) => !"#wo".includes(app.data.kinds[kind].letter);

/* Of each key its framework, or -1; the JDK's own frames belong to a run but begin none. */
function frameworksOf(keys)
{
	return Int8Array.from(keys, key => isFrame(key) ? listOf(app.data.facts.frameworks, key.name) : -1);
}

/* Names of the frameworks, but for the JDK, which is the last, that have any of these keys. */
function frameworksAmong(keys)
{
	const found = new Set(frameworksOf(keys));
	return app.data.facts.frameworks.slice(0, -1).filter((of, at) => found.has(at)).map(({ name }) => name);
}

/* Of each key its list of plumbing, or -1; a star is any text. */
function plumbingOf(keys)
{
	const patterns = app.data.facts.plumbings.map(({ starts }) => new RegExp("^(?:" + starts.map(start =>
		start.replace(/[^\w]/g, c => c === "*" ? ".*" : /[./]/.test(c) ? "[./]" : "\\" + c)).join("|") + ")"));
	return Int8Array.from(keys, key => isFrame(key) ? patterns.findIndex(one => one.test(key.name)) : -1);
}

/* Names of the plumbing that is there. */
function plumbingAmong(data)
{
	if (!data.plumbing) {
		const found = new Set(plumbingOf(data.keys));
		data.plumbing = data.facts.plumbings.filter((of, at) => found.has(at)).map(({ name }) => name);
		if (data.keys.some(({ kind }) => data.kinds[kind].letter === "w"))
			data.plumbing.push(WAITS.name);
	}
	return data.plumbing;
}

const WAITS = { name: "waiting" };
const LIBRARIES = /^(?:libc[.-]|libpthread|ld-|\[vdso\])/;

/*
 * Of each node whether it is the JVM's, the kernel's or the C library's and all that it leads to is a
 * wait: what a call that waits is made of.
 */
function nodesUnderWaits({ base, all, before })
{
	const letterOf = ({ kind }) => app.data.kinds[kind].letter;
	const isWait = Uint8Array.from(base.keys, key => letterOf(key) === "w" ? 1 : 0);
	const isSystem = Uint8Array.from(base.keys, key => "kCs".includes(letterOf(key)) ||
		(letterOf(key) === "n" && LIBRARIES.test((key.module || "").replace(/.*\//, ""))) ? 1 : 0);
	const under = new Uint8Array(base.count), leads = new Uint8Array(base.count);     // 1: to waits, 2: to more
	for (let i = base.count - 1; i > 0; i--) {
		const own = all[i] > 0 || (before && before[i] > 0);
		under[i] = isSystem[base.key[i]] && !own && leads[i] === 1 ? 1 : 0;
		leads[base.parent[i]] |= under[i] || isWait[base.key[i]] ? 1 : 2;
	}
	return under;
}

/* Runs of base, of which isGone says what is not drawn. of: of each node its list, or -1. */
class Runs {
	constructor(data, isGone, { frameworks, plumbing })
	{
		const { facts, base } = data;
		this.lists = [...facts.plumbings, WAITS, ...facts.frameworks];
		this.waits = facts.plumbings.length;
		this.jdk = this.lists.length - 1;
		this.isPlumbing = of => of <= this.waits;
		const plumbings = plumbing ? plumbingOf(base.keys) : new Int8Array(base.keys.length).fill(-1);
		const ofKey = frameworks ? frameworksOf(base.keys).map((of, key) => plumbings[key] >= 0 ?
			plumbings[key] : of < 0 ? of : of + this.waits + 1) : plumbings;
		this.find(base, isGone, ofKey, plumbing ? nodesUnderWaits(data) : new Uint8Array(base.count));
	}

	find(base, isGone, ofKey, underWaits)
	{
		const of = this.of = new Int8Array(base.count).fill(-1);
		const near = new Int32Array(base.count);     // what is drawn at a node, or above it
		const leads = new Uint8Array(base.count);    // to another of a run
		const isStart = Uint8Array.from(base.keys, key => isFrame(key) ? 0 : 1);
		const isOne = (i, up) => of[i] >= 0 && of[up] >= 0 && (of[i] === this.waits) === (of[up] === this.waits);
		for (let i = 1; i < base.count; i++) {
			const up = near[base.parent[i]], list = ofKey[base.key[i]];
			near[i] = isGone[i] ? up : i;
			if (isGone[i])
				continue;
			const isOut = (list === this.jdk && of[up] < 0) ||
				(list === 0 && up > 0 && !isStart[base.key[up]] && of[up] !== 0);
			of[i] = list >= 0 && !isOut ? list : underWaits[i] ? this.waits : -1;
			leads[up] |= isOne(i, up) ? 1 : 0;
		}
		for (let i = base.count - 1; i > 0; i--)
			if (of[i] >= 0 && !leads[i] && !isOne(i, near[base.parent[i]]))
				of[i] = -1;
	}
}

/* Gives runs their names, by what they are of and how long they are. */
function nameRuns(tree, runKey, lists, { seen, longest })
{
	const byName = new Map();
	for (let i = 1; i < tree.count; i++) {
		if (tree.key[i] !== runKey)
			continue;
		const names = lists.filter((of, at) => seen[i] >> at & 1).map(({ name }) => name);
		const name = "[" + names.join(", ") + ": " + longest[i] + (longest[i] === 1 ? " frame]" : " frames]");
		if (!byName.has(name)) {
			byName.set(name, tree.keys.length);
			tree.keys.push({ name, kind: 0, shade: 3, isRun: true });
		}
		tree.key[i] = byName.get(name);
	}
}
