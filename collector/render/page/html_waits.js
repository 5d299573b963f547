// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of threads that did not run: their states, which the leaf frame says, and those that are
 * idle because their thread waits for work. Each of four switches shows or hides one sort of
 * stacks; see profile/waits.h and profile/idle_frames.h.
 */
const SORTS = ["running", "runnable", "blocked", "idle"];
const SORT_TITLES = {
	running: "Stacks of threads that ran",
	runnable: "Stacks of threads that waited for a processor",
	blocked: "Stacks of threads that waited for something else, such as a lock, a disk or an answer",
	idle: "Stacks of threads that waited for work, such as those of a pool without tasks",
};
const IDLE = SORTS.indexOf("idle"), RUNNABLE = "[runnable]";
const WAIT = 0, LOOP = 1, FRAME = 2;     // what the lists of idle frames say of a key, in bits

/* A star is any text, a . and a / are alike, and the package may be missing. */
function framePattern(text)
{
	const slash = text.lastIndexOf("/"), star = text.indexOf("*");
	const hasPackage = slash >= 0 && (star < 0 || star > slash);
	const source = part => part.replace(/[^\w]/g, c =>
		c === "*" ? ".*" : c === "." || c === "/" ? "[./]" : "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
	return hasPackage ? "(?:" + source(text.slice(0, slash + 1)) + ")?" + source(text.slice(slash + 1)) :
		source(text);
}

/* Whether a name is one of the patterns; parameters and " const" behind it do not count. */
function isAnyOf(patterns)
{
	const pattern = new RegExp("^(?:" + patterns.map(framePattern).join("|") + ")(?:[( ].*)?$", "s");
	return name => pattern.test(name);
}

/* Of each node of the data's tree the number of its sort. */
function sortNodes({ base, keys, facts, kinds })
{
	const isFrame = isAnyOf(facts.idle_frames), isLoop = isAnyOf(facts.idle_loops);
	const isWait = isAnyOf(facts.idle_waits), isState = kinds.map(({ letter }) => letter === "w");
	// The frames of who has ended a wait say nothing of who has waited.
	const roles = Uint8Array.from(keys, ({ name, module, kind }) => isState[kind] ? 0 : isWait(name) << WAIT |
		(isLoop(name) || isLoop(module || "")) << LOOP | isFrame(name) << FRAME);
	const state = Uint8Array.from(keys, ({ name, kind }) =>
		!isState[kind] ? 0 : name === RUNNABLE ? 1 : 2);
	const sorts = new Uint8Array(base.count), isIdle = new Uint8Array(base.count);
	for (let i = 1; i < base.count; i++) {
		const up = base.parent[i], one = roles[base.key[i]], other = up > 0 ? roles[base.key[up]] : 0;
		const isLooping = (one >> LOOP & other >> WAIT | one >> WAIT & other >> LOOP) & 1;
		isIdle[i] = isIdle[up] | isLooping | one >> FRAME;
		sorts[i] = state[base.key[i]] || Math.min(sorts[up], 2);
		if (sorts[i] === 2 && isIdle[i])
			sorts[i] = 3;
	}
	return sorts;
}

/* Of each node its sort, or null where all threads ran. */
function sortsOf(data)
{
	if (data.sorts === undefined)
		data.sorts = data.keys.some(({ kind }) => data.kinds[kind].letter === "w") ? sortNodes(data) : null;
	return data.sorts;
}

/* Which sorts are shown at first: those that the command line said. */
function newSorts({ states, idle })
{
	const shown = (states || "running runnable blocked").split(" ");
	return { running: shown.includes("running"), runnable: shown.includes("runnable"),
		blocked: shown.includes("blocked"), idle: Boolean(idle) };
}

/* The number of a node's sort -> whether it is shown; null: all nodes are. */
function shownSorts()
{
	const { state, data } = app;
	return sortsOf(data) && SORTS.some(name => !state[name]) ? SORTS.map(name => state[name]) : null;
}

/* Sets the weights of hidden nodes to 0. */
function hideSorts(columns)
{
	const shown = shownSorts(), sorts = sortsOf(app.data);
	for (let i = 0; shown && i < sorts.length; i++)
		if (!shown[sorts[i]])
			for (const column of columns)
				column[i] = 0;
}

/* Of the time in which threads ran alone: its weights. */
function runningOf(data)
{
	const sorts = sortsOf(data);
	return sorts ? data.all.map((n, i) => sorts[i] === 0 ? n : 0) : data.all;
}

/* Sums of weights by sort. */
function sumSorts(weights)
{
	const sums = SORTS.map(() => 0), sorts = sortsOf(app.data);
	for (let i = 0; sorts && i < sorts.length; i++)
		sums[sorts[i]] += weights[i];
	return sums;
}

/* None where all threads ran. */
function sortTool()
{
	page.sorts = !sortsOf(app.data) ? [] : SORTS.map(name => {
		const made = toggle("", name, SORT_TITLES[name]);
		made.id = "sort-" + name;
		return made;
	});
	return page.sorts.length === 0 ? [] : [element("div", { class: "sorts", role: "group",
		"aria-label": "States of threads" }, "Threads", ...page.sorts, element("span", {},
		"Parked virtual threads are not among them: they have no thread of their own."))];
}

/* Says how much of each sort there is, of what range and filters let pass. */
function showSorts({ sums })
{
	const all = sums.reduce((sum, n) => sum + n, 0);
	page.sorts.forEach((made, at) => {
		made.textContent = SORTS[at] + " " + shortAmount(sums[at]) + " (" + (all ?
			100 * sums[at] / all : 0).toFixed(1) + "%)" + (app.state[SORTS[at]] ? "" : ", hidden");
	});
}
