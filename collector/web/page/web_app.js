// SPDX-License-Identifier: Apache-2.0
/*
 * The page over the store: joins its parts and follows the user. Every change goes one way: a control
 * calls go(), go() writes the address, and follow() (web_follow.js) shows what the state says.
 */
const THEMES = ["", "light", "dark"], THEME_WORDS = ["auto", "light", "dark"];
const TYPING_MS = 200, MOST_KNOWN = 20000;     // processes whose names are kept when they are listed no more
const app = { state: newState(), store: null, list: null, ahead: 0, opened: Date.now(), theme: 0, finest: 0,
	known: new Map() };
const page = {};

/* To a screen reader, and to eyes for some seconds. */
function announce(text)
{
	page.live.textContent = text;
	page.live.hidden = false;
	clearTimeout(page.liveTimer);
	page.liveTimer = setTimeout(() => { page.live.hidden = true; }, 6000);
}

const busyText = seconds => "The daemon is busy: asked again in " + seconds + " s";

// ---- changes ----

function go(change, inPlace)
{
	app.state = { ...app.state, ...change };
	const address = addressOf(app.state);
	if (address !== (location.hash || "#"))
		history[inPlace ? "replaceState" : "pushState"](null, "", address);
	follow();
}

/* A range of the graph, or of what it is compared with. */
function chooseRange({ from, to }, isBefore)
{
	const view = app.state.view === "jvms" ? "heat" : app.state.view;
	go(isBefore ? { beforeFrom: from, beforeTo: to, compares: true, dragsBefore: false, view } :
		{ from, to, isLive: false, view, inner: innerElsewhere(app.state.inner) });
}

function showTime({ from, to })
{
	go({ shownFrom: from, shownTo: to, isLive: false });
}

function preset(ms)
{
	const to = Math.ceil(nowMs() / SECOND) * SECOND, first = app.store && app.store.first_ms;
	showTime({ from: ms > 0 ? to - ms : Math.max(Math.min(first || to - DAY, to - MINUTE), to - LONGEST_MS), to });
}

/* Into the chosen range, or into the middle of what is shown. */
function zoomIn()
{
	const { state } = app, shown = shownRange();
	const isInside = state.to > 0 && state.from >= shown.from - DAY &&
		state.to - state.from < shown.to - shown.from;
	showTime(isInside ? { from: state.from, to: state.to } : widened(shown, 0.25, nowMs()));
}

function toggleLive()
{
	if (app.state.isLive)
		go({ isLive: false });
	else
		go({ isLive: true, view: app.state.view === "jvms" ? "heat" : app.state.view, compares: false,
			...liveRange(nowMs(), windowMs()) });
}

const windowMs = () => app.store && app.store.window_ms || 10 * SECOND;

/* The range as long before, of the same processes. */
function compareEarlier(ms)
{
	if (app.state.to === 0)
		announce("Choose a range first: drag over the heat map, or write it into the fields");
	else
		go({ beforeFrom: app.state.from - ms, beforeTo: app.state.to - ms, compares: true,
			dragsBefore: false });
}

function toggleKey(key, isBefore)
{
	const name = isBefore ? "beforeKeys" : "keys", keys = app.state[name];
	if (!keys.includes(key) && keys.length >= MOST_NAMED) {
		announce("More than " + MOST_NAMED + " cannot be ticked");
		showList();
		return;
	}
	go({ [name]: keys.includes(key) ? keys.filter(other => other !== key) : [...keys, key],
		...(isBefore ? { beforeWhere: "" } : {}) }, true);
}

function toggleAll(rows, isOn)
{
	if (isOn && rows.length > MOST_NAMED)
		announce("More than " + MOST_NAMED + " cannot be ticked. With none ticked, heat map and graph are " +
			"of all that the filter lets pass");
	go({ keys: isOn && rows.length <= MOST_NAMED ? rows.map(row => row.key) : [] }, true);
}

function copyLink()
{
	const done = () => announce("Copied the link to what is shown");
	app.copied = location.href;
	if (navigator.clipboard)
		navigator.clipboard.writeText(app.copied).then(done, () => announce("The link is this page's address"));
	else
		announce("The link is this page's address");
}

function nextTheme()
{
	app.theme = (app.theme + 1) % THEMES.length;
	document.documentElement.dataset.theme = THEMES[app.theme];
	page.bar.theme.textContent = "Theme: " + THEME_WORDS[app.theme];
	page.graph.dress();
	repaint();
}

// ---- the page ----

function newHeat(name)
{
	const heat = { name: element("h2", {}) };
	heat.map = new HeatMap(name, {
		chosen: chooseRange, entered: showTime, isDark, isUtc: () => app.state.isUtc,
		dragsBefore: () => app.state.compares && app.state.dragsBefore,
		hovered: text => { page.details.textContent = text; },
	});
	heat.asker = new Asker({
		begun: () => heat.map.box.classList.add("asking"),
		answered: answer => { heat.map.box.classList.remove("asking"); heatAnswered(heat, answer); },
		failed: text => { heat.map.box.classList.remove("asking"); heat.map.say(text); },
		busy: seconds => heat.map.say(busyText(seconds)),
	});
	heat.part = element("div", { class: "heat-part" }, heat.name, heat.map.host);
	return heat;
}

function newListAsker()
{
	return new Asker({
		begun: () => page.list.host.classList.add("asking"),
		answered: answer => {
			page.list.host.classList.remove("asking");
			app.list = answer;
			if (app.known.size > MOST_KNOWN)
				app.known.clear();
			answer.processes.forEach(row => app.known.set(row.key, row));
			app.ahead = answer.now_ms ? answer.now_ms - Date.now() : app.ahead;
			page.where.removeAttribute("aria-invalid");
			follow();
		},
		failed: text => {
			page.list.host.classList.remove("asking");
			page.where.setAttribute("aria-invalid", "true");
			sayIn(page.listSaid, text, null);
			if (app.state.view !== "jvms")
				announce(text);
		},
		busy: seconds => sayIn(page.listSaid, busyText(seconds), null),
	});
}

function newGraph()
{
	return new GraphFrame({
		moved: (inner, inPlace) => go({ inner }, inPlace),
		begun: () => {
			page.graph.host.classList.toggle("asking", !app.state.isLive);
			sayIn(page.graphSaid, page.graph.frame ? "" : "Reading\u2026", null);
		},
		drawn: () => {
			page.graph.host.classList.remove("asking");
			sayIn(page.graphSaid, "", null);
		},
		failed: text => {
			page.graph.host.classList.remove("asking");
			sayIn(page.graphSaid, text, wayToSamples());
		},
		busy: seconds => sayIn(page.graphSaid, busyText(seconds), null),
		theme: () => THEMES[app.theme], isNarrow: () => app.state.view === "heat",
	});
}

/* A button to the time in which the chosen processes have samples. */
function wayToSamples()
{
	const rows = app.state.keys.length > 0 ? rowsOf(app.state.keys) : listedRows();
	const from = Math.min(...rows.map(row => row.first_ms)), to = Math.max(...rows.map(row => row.last_ms));
	return rows.length > 0 && to > from ? button("Show where there are samples", { class: "way" },
		() => go({ shownFrom: from, shownTo: to, view: "heat", isLive: false })) : wayToData();
}

function whereField()
{
	let timer = 0;
	page.where = element("input", { type: "search", id: "where", spellcheck: "false", autocomplete: "off",
		placeholder: "Filter: words, pod=shop/api-, version=1.2, pid=4711", "aria-label":
		"Filter of processes: words, or names with values: pod, container, jvm, comm, pid, and labels" });
	page.where.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => go({ where: page.where.value.trim(), keys: [] }, true), TYPING_MS);
	});
	return page.where;
}

function buildPage()
{
	page.live = element("p", { class: "said", role: "status", "aria-live": "polite", hidden: "" });
	page.details = element("p", { id: "details", "aria-live": "polite" });
	page.legend = element("div", { class: "legend", "aria-label": "Colours" });
	page.listSaid = element("p", { class: "empty", role: "status", hidden: "" });
	page.graphSaid = element("p", { class: "empty", role: "status", hidden: "" });
	page.list = new ProcessList({
		toggled: toggleKey,
		toggledAll: toggleAll,
		opened: row => go({ keys: [row.key], view: "heat", inner: "" }),
		sorted: name => go({ sort: name,
			isUp: app.state.sort === name ? !app.state.isUp : sortsUpFirst(name) }, true),
		filtered: (name, value) => go({ where: withWhere(app.state.where, name, value), keys: [] }),
	});
	page.heats = [newHeat("Heat map"), newHeat("Heat map of what is compared with")];
	page.graph = newGraph();
	page.listAsker = newListAsker();
	page.bar = new Bar({
		go, how, said: announce, state: () => app.state, preset, enter: zoomIn, live: toggleLive,
		widen: factor => showTime(widened(shownRange(), factor, nowMs())),
		move: part => showTime(moved(shownRange(), part, nowMs())),
		again: askAgain, kind: kind => go({ kind, inner: "" }), earlier: compareEarlier,
		chosen: chooseRange, copied: copyLink, saved: save, theme: nextTheme,
	});
	page.panes = {
		jvms: element("section", { class: "pane jvms", "aria-label": "Processes" },
			element("div", { class: "tools", role: "search" }, whereField(),
				button("Heat map of these", { id: "open" }, () => go({ view: "heat" }))),
			page.listSaid, page.list.host),
		heat: element("section", { class: "pane heats", "aria-label": "Heat map" },
			...page.heats.map(heat => heat.part),
			element("div", { class: "under" }, page.details, page.legend)),
		graph: element("section", { class: "pane graphs", "aria-label": "Flame graph" }, page.graphSaid,
			page.graph.host),
	};
	document.querySelector("noscript").remove();
	document.body.append(page.bar.host, element("main", {}, ...Object.values(page.panes)), page.live);
}

/* A file with what the server says of it, if it cannot be had. */
async function save(url)
{
	const { signal } = new AbortController();
	announce("The file is being made");
	try {
		const response = await fetchPatiently(url, signal, seconds => announce(busyText(seconds)));
		const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") || "");
		const name = named ? named[1] : "flamegraph." + new URLSearchParams(url.split("?")[1]).get("format");
		const link = element("a", { href: URL.createObjectURL(await response.blob()), download: name });
		link.click();
		URL.revokeObjectURL(link.href);
		const warning = response.headers.get("Fgcollect-Warning");
		announce("Saved " + link.download + (warning ? ". " + warning : ""));
	} catch (error) {
		announce(error.message);
	}
}

// ---- keys ----

const KEYS = {
	"+": zoomIn, "=": zoomIn, "-": () => showTime(widened(shownRange(), 4, nowMs())),
	"[": () => showTime(moved(shownRange(), -0.5, nowMs())), "]": () => showTime(moved(shownRange(), 0.5, nowMs())),
	b: () => go({ compares: true, dragsBefore: !app.state.dragsBefore }, true), l: toggleLive, r: () => askAgain(),
	1: () => go({ view: "jvms" }), 2: () => go({ view: "heat" }), 3: () => go({ view: "graph" }),
	Backspace: () => history.back(), "/": () => { go({ view: "jvms" }); page.where.select(); },
	Escape: () => go({ from: 0, to: 0, inner: "" }),
};

function onKey(event)
{
	const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
	if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key])
		return;
	event.preventDefault();
	KEYS[event.key]();
}

// ---- beginning ----

/* What may have changed at the server. */
async function readStore()
{
	const { signal } = new AbortController();
	const store = await (await fetchPatiently("/api/v1/store", signal,
		seconds => sayIn(page.listSaid, busyText(seconds), null))).json();
	app.store = store;
	app.ahead = store.now_ms ? store.now_ms - Date.now() : 0;
}

async function askAgain()
{
	kept.clear();
	app.finest = 0;
	app.opened = Date.now();
	try {
		await readStore();
		follow(true);
	} catch (error) {
		announce(error.message);
	}
}

let waiting = 0;
function soon(work)
{
	cancelAnimationFrame(waiting);
	waiting = requestAnimationFrame(work);
}

function enterAddress()
{
	app.state = stateOf(location.hash);
	if (app.state.isLive)
		Object.assign(app.state, liveRange(nowMs(), windowMs()));
	follow();
}

async function run()
{
	buildPage();
	addEventListener("popstate", enterAddress);
	addEventListener("keydown", onKey);
	addEventListener("resize", () => soon(repaint));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
	try {
		await readStore();
	} catch (error) {
		sayIn(page.listSaid, error.message, button("Ask again", { class: "way" }, () => location.reload()));
		page.listSaid.classList.add("failed");
		document.body.dataset.ready = "1";
		return;
	}
	enterAddress();
	document.body.dataset.ready = "1";
}

run();
