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

// ---- the page ----

function buildPage()
{
	if (page.open)
		page.open.close();
	page.toggles = [];
	page.live = element("p", { class: "said", role: "status", "aria-live": "polite", hidden: "" });
	page.details = element("p", { id: "details", "aria-live": "polite" });
	page.working = element("p", { class: "working", role: "status", hidden: "" });
	page.tip = element("div", { class: "tip", "aria-hidden": "true", hidden: "" });
	const on = { picked: showDetails, pointed: showTip, zoomed: (graph, i) => zoomTo(graph, i),
		asked: (graph, i, place) => askAboutFrame(graph.tree.keys[graph.tree.key[i]].name, place,
			() => zoomTo(graph, i)) };
	const asked = (key, place) => askAboutFrame(app.tree.keys[key].name, place);
	app.graph = new Graph("Flame graph.", on);
	app.callers = new Graph("Callers.", on);
	app.callees = new Graph("Callees.", on);
	app.callees.icicle = true;
	app.top = new FunctionTable("Functions, by the samples that ended in them (self) and passed " +
		"through them (total)", topColumns(), { chosen: focusOn, asked,
		sorted: (at, up) => go({ sort: ["self", "total", "name"][at], up }, true) });
	app.changes = new FunctionTable("The greatest changes. Chance: how many standard deviations away from none; noise: less " +
		"than 2.58", changeColumns(), { chosen: focusOn, asked });
	page.focus = element("h2", { class: "focus" });
	page.panes = {
		graph: element("section", { class: "pane" }, app.graph.host),
		top: element("section", { class: "pane" }, app.top.host),
		sandwich: element("section", { class: "pane halves" }, page.focus, app.callers.host,
			app.callees.host),
		changes: element("section", { class: "pane" }, app.changes.host),
	};
	const { facts, times } = app.data;
	app.strip = times && times.buckets > 1 ? new TimeStrip(times, facts, {
		chosen: (from, to) => go({ from, to, zoom: "" }),
		pointed: (event, text, more) => text ? tipAt(event, text, more) : page.tip.hidden = true,
	}) : null;
	page.menus = [viewMenu(), filterMenu(), moreMenu()];
	(page.parts || [document.querySelector("noscript")]).forEach(made => made.remove());
	page.parts = [
		element("header", {}, element("h1", { title: facts.title }, facts.title),
			element("nav", {}, ...samplesTool(), tabs(), searchTools(), ...page.menus.map(menu => menu.host)),
			...factTools()),
		...(app.strip ? [app.strip.host] : []),
		page.bar = element("div", { class: "bar", hidden: "" }, page.pills = element("div", { class: "pills" }),
			page.folded = foldedNote()),
		page.main = element("main", {}, page.working, ...Object.values(page.panes)),
		element("footer", {}, page.details, legend()), page.live, page.tip,
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
	showPills();
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
	showLegend(made.tree);
	if (app.strip)
		app.strip.show();
	if (state.tab === "graph") {
		const tree = state.reversed ? made.reversed : made.tree;
		graph.icicle = state.icicle;
		graph.setTree(tree, nodeOfPath(tree, state.zoom));
		if (graph.coming && graph.coming.tree === tree)
			graph.show(graph.coming.i);
		graph.coming = null;
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
	shareHeight([app.callers, app.callees]);
}

/* A graph with few levels has no more room than these, and the others have what it leaves. */
function shareHeight(graphs)
{
	const half = page.panes.sandwich.clientHeight / graphs.length;
	const small = graphs.filter(graph => graph.levels.length * ROW < half);
	graphs.forEach(graph => {
		const isWhole = small.includes(graph) && small.length < graphs.length;
		graph.host.classList.toggle("whole", isWhole);
		graph.host.style.height = isWhole ? graph.levels.length * ROW + "px" : "";
	});
	graphs.forEach(graph => graph.layOut());
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

/* Picks the hot spot, in the whole graph, the root first. */
function showHot()
{
	const { graph, state, tree } = app, spot = hotSpot(tree);
	if (page.open)
		page.open.close();
	if (!spot)
		return;
	if (state.tab === "graph" && !state.reversed && graph.zoomed === 0) {
		graph.show(spot.node);
	} else {
		graph.coming = { tree, i: spot.node };
		go({ tab: "graph", reversed: false, zoom: "" });
	}
}

function focusOn(key)
{
	go({ tab: "sandwich", focus: app.tree.keys[key].name });
}

/* Goes to the next frame that the search finds, and zooms where that is too narrow to be seen. */
function nextMatch(step)
{
	const { graph } = app, found = graph.matches(), at = found.indexOf(graph.picked);
	if (app.state.tab !== "graph" || found.length === 0)
		return;
	const first = Math.max(0, step > 0 ? found.findIndex(i => graph.isSeen(i)) : found.length - 1);
	const to = found[at < 0 ? first : (at + step + found.length) % found.length];
	if (graph.isSeen(to)) {
		graph.show(to);
		showMatched();
	} else {
		graph.coming = { tree: graph.tree, i: to };
		go({ zoom: pathOf(graph.tree, graph.zoomFor(to)) });
	}
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

// ---- the beginning ----

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

run().catch(cannotShow);
