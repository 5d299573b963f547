// SPDX-License-Identifier: Apache-2.0
/*
 * The page: builds it, joins its parts, and follows the user. Every change goes one way: a control
 * changes app.state, go() writes the address and draws what the state says.
 */
const page = {};

/* To a screen reader, and to eyes for some seconds. */
function announce(text)
{
	page.live.textContent = text;
	page.live.hidden = false;
	clearTimeout(page.liveTimer);
	page.liveTimer = setTimeout(() => { page.live.hidden = true; }, 4000);
}

const button = (label, attributes, run) => {
	const made = element("button", { type: "button", ...attributes }, label);
	made.addEventListener("click", run);
	return made;
};

/* A button that is on or off, by a flag of the state. */
function toggle(label, name, title)
{
	const made = button(label, { "data-flag": name, title }, () =>
		go({ [name]: !app.state[name], zoom: name === "icicle" ? app.state.zoom : "" }));
	page.toggles.push(made);
	return made;
}

// ---- words ----

function titleOf(graph, i)
{
	const { tree } = graph, all = app.tree.total[0];
	let text = tree.keys[tree.key[i]].name + " (" + amount(tree.total[i]) + ", " +
		percent(tree.total[i], all);
	if (app.data.before)
		text += "; before " + shortAmount(tree.beforeTotal[i]) + ", change " +
			signed(tree.total[i] - tree.beforeTotal[i]) + ", self " +
			signed(tree.self[i] - tree.before[i]);
	return text + ")";
}

/* Of a method that ran in several ways, where the tree says so, its shares. */
function levelsText(tree, i)
{
	const counts = !tree.levels ? [] : LEVELS.map((of, level) => tree.levels[LEVELS.length * i + level]);
	const all = counts.reduce((sum, n) => sum + n, 0);
	return counts.some(n => n > 0 && n < all) ? " \u2013 " + LEVELS.map(([, name], level) =>
		counts[level] > 0 ? name + " " + (100 * counts[level] / all).toFixed(0) + "%" : "")
		.filter(text => text).join(", ") : "";
}

function describe(graph, i)
{
	const { tree, zoomed } = graph, key = tree.keys[tree.key[i]];
	const kind = app.data.kinds[key.kind];
	const ofView = zoomed && tree.depth[i] > tree.depth[zoomed] ?
		", " + percent(tree.total[i], tree.total[zoomed]) + " of the view" : "";
	return titleOf(graph, i) + ofView + ", self " + shortAmount(tree.self[i]) + " " +
		percent(tree.self[i], app.tree.total[0]) + " \u2013 " + kind.letter + " " + kind.title + levelsText(tree, i) +
		(key.module ? " \u2013 " + key.module : "");
}

function showDetails(graph, i)
{
	page.details.textContent = describe(graph, i < 0 ? graph.zoomed : i);
}

// ---- the banner ----

/* What the JVM does for itself, or for the program without its asking, by the frames that do it. */
const LOADING = /^(SystemDictionary::(resolve|load)_|ClassFileParser::|InstanceKlass::link_class|java[/.]lang[/.]ClassLoader\.loadClass)/;
const CHORES = [
	["compiling", name => listOf(app.data.facts.tasks, name) === 0],
	["collecting garbage", name => listOf(app.data.facts.tasks, name) === 1],
	["loading classes", name => LOADING.test(name)],
];
const LEAST_CHORE = 0.005;

function choreItems()
{
	const { base, keys } = app.data, all = runningOf(app.data), sum = all.reduce((n, of) => n + of, 0);
	return CHORES.map(([label, isOne]) => {
		const share = sumInside(base, markedBy(keys, key => isOne(key.name)), all) / (sum || 1);
		return { label, text: share >= LEAST_CHORE ? (100 * share).toFixed(share < 0.1 ? 1 : 0) + "%" : "" };
	});
}

function qualityItems()
{
	const { facts, processes, before } = app.data, all = app.data.all.reduce((sum, n) => sum + n, 0);
	const items = [], add = (label, text, bad) => text && items.push({ label, text, bad });
	const share = (name, most) => {
		const n = Number(facts[name] || 0);
		const of = name === "lost" ? all + n : all;
		const isCounted = name === "lost" || name === "stackless";     // whatever samples weigh
		const text = isCounted ? grouped(n) : shortAmount(n);
		return n ? [text + (isCounted && facts.unit ? "" : " (" + percent(n, of) + ")"), n > most * all] : ["", false];
	};
	add("not whole", facts.losses, true);
	const named = facts.unit === facts.samples_kind ? grouped(all) : shortAmount(all);
	add(before ? "after" : facts.samples_kind || "samples", before ? amount(all) : named);
	if (before)
		add("before", amount(before.reduce((sum, n) => sum + n, 0)));
	add("event", facts.event && facts.event + (facts.hz ? " at " + facts.hz + " Hz" : ""));
	add("time", facts.duration_ns && (facts.duration_ns / 1e9).toFixed(1) + " s" + (facts.start_ms ?
		" from " + new Date(Number(facts.start_ms)).toISOString().replace("T", " ").slice(0, 19) +
		" UTC" : ""));
	if (facts.event)
		add("lost", facts.lost ? share("lost", 0)[0] : "0", Number(facts.lost || 0) > 0);
	const truncated = facts.truncated.reduce((sum, t) => sum + t.samples, 0);
	if (facts.event)
		add("truncated", truncated ? percent(truncated, all) + " (" + facts.truncated.map(t =>
			t.reason + " " + shortAmount(t.samples)).join(", ") + ")" : "0", truncated > 0.01 * all);
	add("unnamed frames in", ...share("unnamed", 0.01));
	add("without their frames in the heap", ...share("heapless", 0));
	add("without the copy of their stack", ...share("stackless", 0));
	add("cut at the memory limit", ...share("overflow", 0));
	add("without time and thread", ...share("untimed", 0));
	add("names of threads without room", facts.renamed, true);
	choreItems().forEach(({ label, text }) => add(label, text));
	add("host", facts.host && facts.host + (facts.kernel ? ", Linux " + facts.kernel : ""));
	const distinct = name => [...new Set(processes.map(p => p[name]).filter(text => text))];
	add("JVM", distinct("runtime").join(", "));
	add("container", distinct("container").join(", "));
	add("image", distinct("image").join(", "));
	add("made by", facts.program);
	return items;
}

function banner()
{
	return element("dl", { class: "quality", "aria-label": "Quality of the data" },
		...qualityItems().map(({ label, text, bad }) => element("div", bad ? { class: "bad" } : {},
			element("dt", {}, (bad ? "\u26a0 " : "") + label), element("dd", {}, text))));
}

// ---- the legend ----

function legend()
{
	const self = app.data.kinds.map(() => 0), seen = new Set();
	const { base, keys, all } = app.data;
	let sum = 0;
	for (let i = 0; i < base.count; i++) {
		self[keys[base.key[i]].kind] += all[i];
		seen.add(keys[base.key[i]].kind);
		sum += all[i];
	}
	page.kinds = [...seen].sort((a, b) => a - b).map(kind => {
		const { letter, title, colours } = app.data.kinds[kind];
		const chip = element("i", { class: "chip", "aria-hidden": "true" }, letter);
		chip.style.background = colours[4];
		return button(chip, { "data-kind": kind, title: percent(self[kind], sum) +
			ofAll() + " end in such a frame. Click: highlight; again: only samples that have one; " +
			"again: off" }, () => nextKind(kind));
	});
	if (app.data.before)
		return element("div", { class: "legend scale" }, ...changeLegend());
	page.kinds.forEach(made => made.append(app.data.kinds[made.dataset.kind].title));
	return element("div", { class: "legend", role: "group", "aria-label": "Kinds of frames" },
		...page.kinds);
}

/* In a comparison colours are of changes; the letters say new, gone, more, less. */
function changeLegend()
{
	return app.data.facts.changes.map(({ letter, colours, title }, change) => {
		const chip = element("i", { class: "chip", "aria-hidden": "true" }, letter);
		chip.style.background = colours[4];
		return element("span", {}, chip, title + (change === CHANGE.gone ?
			" (widths: before, union)" : ""));
	});
}

function nextKind(kind)
{
	const { state } = app;
	if (state.kind !== kind)
		go({ kind, onlyKind: false, zoom: state.onlyKind ? "" : state.zoom });
	else if (!state.onlyKind)
		go({ onlyKind: true, zoom: "" });
	else
		go({ kind: -1, onlyKind: false, zoom: "" });
}

// ---- filters ----

function filterField(dimension)
{
	const { threads, times } = app.data, weights = new Map(), sorts = sortsOf(app.data);
	for (let i = 0; times && i < times.count; i++) {
		const value = threads[times.thread[i]][dimension];
		const isIdle = sorts && sorts[times.node[i]] === IDLE;
		weights.set(value, (weights.get(value) || 0) + (isIdle ? 0 : times.weight[i]));
	}
	const field = element("select", { id: "filter-" + dimension },
		element("option", { value: "" }, "all " + weights.size));
	const sorted = [...weights].sort((a, b) => b[1] - a[1]);
	for (const [value, samples] of sorted)
		field.append(element("option", { value }, value + "  (" + shortAmount(samples) + ")"));
	field.addEventListener("change", () => go({ [dimension]: field.value, zoom: "" }));
	page.filters[dimension] = field;
	return element("label", weights.size > 1 ? {} : { hidden: "" }, dimension, field);
}

function filters()
{
	page.filters = {};
	return element("div", { class: "filters", role: "group", "aria-label": "Filters" },
		...(app.data.times ? DIMENSIONS.map(filterField) : []));
}

// ---- the page ----

function searchTools()
{
	page.search = element("input", { id: "search", type: "search", spellcheck: "false",
		placeholder: "Search: regular expression (Ctrl-F)", "aria-label":
		"Search frames by regular expression; Enter goes to the next match" });
	page.search.addEventListener("input", () => soon(() => go({ search: page.search.value }, true)));
	page.matched = element("output", { id: "matched", "aria-live": "polite" });
	return element("div", { class: "tools", role: "search" }, page.search,
		toggle("Aa", "ignoreCase", "Ignore case"),
		button("\u2039", { id: "previous", "aria-label": "Previous match" }, () => nextMatch(-1)),
		button("\u203a", { id: "next", "aria-label": "Next match" }, () => nextMatch(1)),
		toggle("Only matching", "onlyMatching", "Only samples that have a matching frame"),
		page.matched);
}

function tabs()
{
	page.tabs = tabsOf(app.data).map(([name, label]) =>
		button(label, { role: "tab", "data-tab": name, id: "tab-" + name }, () => go({ tab: name })));
	return element("div", { class: "tabs", role: "tablist" }, ...page.tabs);
}

function themeButton()
{
	const themes = ["", "light", "dark"], names = ["auto", "light", "dark"];
	let at = themes.indexOf(document.documentElement.dataset.theme || "");
	const made = button("Theme: " + names[at], { id: "theme" }, () => {
		at = (at + 1) % 3;
		document.documentElement.dataset.theme = themes[at];
		made.textContent = "Theme: " + names[at];
		redraw();
	});
	return made;
}

/* None in a comparison, which has been merged, and where no method ran in two ways. */
function levelTool()
{
	const { kin } = kinOf(app.data.keys);
	return app.data.before || !kin.some(ways => ways.length > 1) ? [] :
		[toggle("Split levels", "split", "A method as a box for each way it ran: interpreted, C1, C2, inlined")];
}

/* Says what was folded unasked, with what undoes it. */
function foldedNote()
{
	return element("p", { class: "folded", hidden: "" },
		"Stacks are deep, " + Math.round(meanDepth(app.data)) + " frames on average: each run of frames of " +
		frameworksAmong(app.data.keys).join(", ") + " is one box. ",
		button("Show all frames", { id: "unfold" }, () => go({ frameworks: false, zoom: "" })));
}

/* None where no pool of threads is known. */
function startTool()
{
	return hasPools(app.data) ? [toggle("Thread starts", "starts",
		"What every Java thread begins with, in place of a box for its pool")] : [];
}

/* None where there is nothing to fold. */
function frameworkTool()
{
	const names = frameworksAmong(app.data.keys);
	return names.length === 0 ? [] :
		[toggle("Fold frameworks", "frameworks", names.join(", ") + ": a run as one frame")];
}

function viewTools()
{
	const tools = [
		toggle("Icicle", "icicle", "The root at the top"),
		toggle("Callers first", "reversed", "Functions that samples ended in, and above them who called"),
		...levelTool(),
		toggle("Java only", "javaOnly",
			"Kernel, native and JVM time as that of the Java method that caused it"),
		toggle("Fold recursion", "recursion", "Join recursive calls"),
		...startTool(), ...frameworkTool(),
		page.unzoom = button("Reset zoom", { id: "unzoom" }, () => go({ zoom: "" })),
		button("Reset all", { id: "reset", title: "No zoom, search or filter" },
			() => go({ ...newState(), samples: app.state.samples })),
		button("Copy name", { id: "copy-name", title: "Key c" }, () => copySelected("name")),
		button("Copy stack", { id: "copy-stack", title: "Key s" }, () => copySelected("stack")),
		button("Copy folded", { id: "copy-folded" }, copyFolded),
		button("Save SVG", { id: "save-svg" }, saveSvg),
		button("Save PNG", { id: "save-png" }, savePng),
		themeButton(),
	];
	return element("div", { class: "tools" }, ...tools, ...(app.data.before ? compareTools() : []));
}

function compareTools()
{
	page.widths = element("select", { id: "widths" }, ...WIDTHS.map(name =>
		element("option", { value: name }, "widths: " + name)));
	page.widths.addEventListener("change", () => go({ widths: page.widths.value, zoom: "" }));
	return [page.widths,
		toggle("Normalise", "normalise", "Both sides as if they had as many samples"),
		toggle("Colour self", "bySelf", "Colour by the change of a frame alone, not of all below it")];
}

function buildPage()
{
	page.toggles = [];
	page.live = element("p", { class: "said", role: "status", "aria-live": "polite", hidden: "" });
	page.details = element("p", { id: "details", "aria-live": "polite" });
	page.working = element("p", { class: "working", role: "status", hidden: "" });
	const on = { picked: showDetails, zoomed: (graph, i) => zoomTo(graph, i) };
	app.graph = new Graph("Flame graph.", on);
	app.callers = new Graph("Callers.", on);
	app.callees = new Graph("Callees.", on);
	app.callees.icicle = true;
	app.top = new FunctionTable("Functions, by the samples that ended in them (self) and passed " +
		"through them (total)", topColumns(), { chosen: focusOn,
		sorted: (at, up) => go({ sort: ["self", "total", "name"][at], up }, true) });
	app.changes = new FunctionTable("The greatest changes, before as normalised above. Chance: how many " +
		"standard deviations away from none, by the two-proportion z test (not normalised: two Poisson " +
		"counts), for samples that do not depend on each other; noise: less than 2.58", changeColumns(), { chosen: focusOn });
	page.focus = element("h2", { class: "focus" });
	page.panes = {
		graph: element("section", { class: "pane" }, app.graph.host),
		top: element("section", { class: "pane" }, app.top.host),
		sandwich: element("section", { class: "pane halves" }, page.focus, app.callers.host,
			app.callees.host),
		changes: element("section", { class: "pane" }, app.changes.host),
	};
	const { facts, times } = app.data;
	app.strip = times && times.buckets > 1 ? new TimeStrip(times, Number(facts.bucket_ns),
		{ chosen: (from, to) => go({ from, to, zoom: "" }) }) : null;
	(page.parts || [document.querySelector("noscript")]).forEach(made => made.remove());
	page.parts = [
		element("header", {}, element("h1", {}, facts.title), element("p", {}, facts.subtitle || ""),
			banner()),
		element("nav", {}, ...samplesTool(), tabs(), searchTools(), viewTools(), filters(), ...sortTool()),
		...(app.strip ? [app.strip.host] : []),
		page.folded = foldedNote(),
		page.main = element("main", {}, page.working, ...Object.values(page.panes)),
		element("footer", {}, page.details, legend(),
			element("p", { class: "notes" }, facts.event ? "" : facts.notes || "")), page.live,
	];
	document.body.append(...page.parts);
}

// ---- following the state ----

function showControls()
{
	const { state } = app;
	for (const made of page.toggles)
		made.setAttribute("aria-pressed", state[made.dataset.flag]);
	for (const made of page.tabs)
		made.setAttribute("aria-selected", made.dataset.tab === state.tab);
	for (const made of page.kinds) {
		const on = Number(made.dataset.kind) === state.kind;
		made.setAttribute("aria-pressed", on);
		made.classList.toggle("only", on && state.onlyKind);
	}
	for (const name in page.filters)
		page.filters[name].value = state[name];
	for (const name in page.panes)
		page.panes[name].hidden = name !== state.tab;
	if (page.widths)
		page.widths.value = state.widths;
	if (page.search.value !== state.search)
		page.search.value = state.search;
	page.folded.hidden = !state.frameworks || !isDeep(app.data);
	page.search.setAttribute("aria-invalid", patternOf(state) === undefined);
	page.unzoom.disabled = !state.zoom;
}

function showMatched()
{
	const pattern = patternOf(app.state), all = app.tree.total[0];
	const found = app.state.tab === "graph" ? app.graph.matches() : [];
	const at = found.indexOf(app.graph.picked);
	page.matched.textContent = pattern === undefined ? "Not a regular expression" : !pattern ? "" :
		percent(matchedShare(), all) + ofAll() + (app.state.tab !== "graph" ? "" :
		found.length === 0 ? ", no frame here" :
		", " + (at < 0 ? "" : grouped(at + 1) + " of ") + grouped(found.length) +
		(found.length === 1 ? " frame" : " frames"));
	page.matched.title = pattern ? shortAmount(matchedShare()) + " of " + amount(all) : "";
}

function draw()
{
	const { state, graph, made } = app;
	showControls();
	showSorts(made.weights);
	if (app.strip)
		app.strip.show();
	if (state.tab === "graph") {
		const tree = state.reversed ? made.reversed : made.tree;
		graph.icicle = state.icicle;
		graph.setTree(tree, nodeOfPath(tree, state.zoom));
	} else if (state.tab === "top") {
		app.top.sort = Math.max(0, ["self", "total", "name"].indexOf(state.sort));
		app.top.up = state.up;
		app.top.setRows(functionRows(made));
	} else if (state.tab === "sandwich") {
		drawSandwich(made.sandwich);
	} else if (state.tab === "changes") {
		app.changes.setRows(functionRows(made));
	}
	showMatched();
}

function drawSandwich({ name, callers, callees })
{
	page.focus.textContent = name + ": " + amount(callees.total[0]) + ", " +
		percent(callees.total[0], app.tree.total[0]) + ". Callers above, callees below";
	app.callers.setTree(callers, 0);
	app.callees.setTree(callees, 0);
}

/* Follows a new state: at once, or when what it needs is made. */
function setState(state)
{
	app.state = state;
	showControls();
	app.work.start(keyOfView(state), viewSteps(page.main.clientWidth), draw);
}

/* Draws the same again, for another window, theme or font. */
function redraw()
{
	if (app.made)
		setState(app.state);
}

/* Changes the state; in place of the last one where a step back would be too small. */
function go(change, inPlace)
{
	const next = { ...app.state, ...change };
	try {
		history[inPlace ? "replaceState" : "pushState"](null, "", addressOf(next));
	} catch (error) {
		/* A sandboxed frame has no history to write to. */
	}
	setState(next);
}

function zoomTo(graph, i)
{
	if (graph !== app.graph)
		focusOn(graph.tree.key[i]);
	else
		go({ zoom: pathOf(graph.tree, i) });
}

function focusOn(key)
{
	go({ tab: "sandwich", focus: app.tree.keys[key].name });
}

function nextMatch(step)
{
	const found = app.graph.matches(), at = found.indexOf(app.graph.picked);
	if (app.state.tab !== "graph" || found.length === 0)
		return;
	app.graph.show(found[at < 0 ? (step > 0 ? 0 : found.length - 1) :
		(at + step + found.length) % found.length]);
	showMatched();
}

/* Of the frame under the mouse, else of that which keys went to, else of that which is zoomed to. */
function copySelected(what)
{
	const graph = app.state.tab === "sandwich" ? app.callees : app.graph;
	const i = graph.picked >= 0 ? graph.picked : graph.selected >= 0 ? graph.selected : graph.zoomed;
	const { tree } = graph;
	copyText(what === "name" ? tree.keys[tree.key[i]].name :
		framesOf(tree, i).map(key => key.name).join("\n"), "the " + what);
}

// ---- keys ----

const MOVES = {
	ArrowLeft: () => "left", ArrowRight: () => "right",
	ArrowUp: graph => graph.icicle ? "out" : "in", ArrowDown: graph => graph.icicle ? "in" : "out",
};

function onGraphKey(event, graph)
{
	if (MOVES[event.key])
		graph.move(MOVES[event.key](graph));
	else if (event.key === "Enter" && graph.picked >= 0)
		zoomTo(graph, graph.picked);
	else
		return false;
	return true;
}

function onKey(event)
{
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
	const graph = [app.graph, app.callers, app.callees].find(g => g.host === event.target);
	if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f"))
		page.search.select();
	else if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	else if (event.key === "Enter" && event.target === page.search)
		nextMatch(event.shiftKey ? -1 : 1);
	else if (event.key === "Escape" && typing && app.state.search)
		go({ search: "" }, true);
	else if (event.key === "Escape" || (event.key === "0" && !typing))
		go({ zoom: "" });
	else if (!typing && (event.key === "c" || event.key === "s"))
		copySelected(event.key === "c" ? "name" : "stack");
	else if (!graph || !onGraphKey(event, graph))
		return;
	event.preventDefault();
}

/* What the page's address asks for that this page has not. */
function sayUnknown(hash)
{
	const tab = new URLSearchParams(hash.slice(1)).get("tab");
	if (tab !== null && tab !== app.state.tab)
		announce("There is no tab called " + tab + " here: this is the flame graph");
}

let waiting = 0;
function soon(work)
{
	cancelAnimationFrame(waiting);
	waiting = requestAnimationFrame(work);
}

/* Says what is being done; the picture of before stands meanwhile. */
function showWork(word)
{
	page.working.textContent = word;
	page.working.hidden = !word;
	document.body.dataset.working = word ? "1" : "0";
}

const newWork = () => new Work({ word: showWork,
	failed: error => announce("This cannot be done: " + error.message) });

async function run()
{
	findScripts();
	pen.font = "12px " + FONT;
	app.work = newWork();
	app.copying = newWork();
	await openAddress();
	sayUnknown(location.hash);
	addEventListener("popstate", () => openAddress().catch(cannotShow));
	addEventListener("keydown", onKey);
	addEventListener("resize", () => soon(redraw));
	addEventListener("beforeprint", printStarts);
	addEventListener("afterprint", printEnds);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
	document.body.dataset.ready = "1";
	performance.mark("ready");
}

function cannotShow(error)
{
	document.body.append(element("p", { class: "failed", role: "alert" },
		"This flame graph cannot be shown: " + error.message + ". " +
		(self.DecompressionStream ? "The file may have been cut short: copy it again." :
		"The browser cannot inflate: use one from 2023 or later.")));
}

run().catch(cannotShow);
