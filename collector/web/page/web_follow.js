// SPDX-License-Identifier: Apache-2.0
/*
 * From the state to what is seen: what it means now, given the time and the list of processes, and what has
 * to be shown and asked for that. follow() does all of it; what is asked already is not asked again.
 */
const MOST_NAMED = 64;          // keys that a question has: the server takes 8 KiB, and two sides
const WRITTEN_MS = 2 * MINUTE;  // what is older does not change any more

// ---- what the state means now ----

/* By the server's clock. */
const nowMs = () => Date.now() + app.ahead;
const isPast = to => to < nowMs() - WRITTEN_MS;
const how = () => ({ now: nowMs(), isUtc: app.state.isUtc });
const isDark = () => (THEMES[app.theme] || (matchMedia("(prefers-color-scheme: dark)").matches ?
	"dark" : "light")) === "dark";

/* The time of the list and of the heat map. */
function shownRange()
{
	const { state, store } = app;
	if (state.shownTo > 0)
		return { from: state.shownFrom, to: state.shownTo };
	const to = Math.ceil((app.opened + app.ahead) / SECOND) * SECOND;
	const first = store && store.first_ms > 0 ? floorTo(store.first_ms, MINUTE, 0) : 0;
	return { from: Math.min(Math.max(first, to - DAY), to - MINUTE), to };
}

/* Rows of the list, or of an earlier one: other times have other processes. */
const rowsOf = keys => keys.map(key => app.known.get(key)).filter(row => row);

/* Rows that words let pass; selectors have chosen at the server. */
function listedRows()
{
	const { words } = parseWhere(app.state.where);
	return app.list ? app.list.processes.filter(row => fitsWords(row, words)) : [];
}

/* A side with its words made keys; those can be too many, or not known yet. */
function namedSide(side)
{
	const { words } = parseWhere(side.where);
	if (side.keys.length > 0 || words.length === 0)
		return side;
	if (!app.list)
		return null;
	const keys = app.list.processes.filter(row => fitsWords(row, words)).map(row => row.key);
	if (keys.length === 0)
		return { ...side, problem: "No process has these words: " + words.join(" ") + "." };
	return keys.length <= MOST_NAMED ? { ...side, keys } : { ...side, problem: "These words fit " + keys.length +
		" processes; of so many at once name what they have in common, such as pod=shop/api-." };
}

function kindsHere()
{
	const rows = app.state.keys.length > 0 ? rowsOf(app.state.keys) : listedRows();
	const here = new Set(rows.flatMap(row => row.kinds.map(kind => kind.name)));
	const all = Object.keys(KIND_WORDS), place = name => (all.indexOf(name) + 1 || 99);
	if (here.size === 0)
		(app.store ? app.store.kinds : []).forEach(name => here.add(name));
	return [...here].sort((a, b) => place(a) - place(b));
}

function kindHere()
{
	const kinds = kindsHere();
	return app.state.kind || (kinds.includes("cpu") || kinds.length === 0 ? "cpu" : kinds[0]);
}

function whoText()
{
	const { state } = app, rows = rowsOf(state.keys);
	if (state.keys.length === 0)
		return state.where ? "all of " + state.where : "all processes";
	if (state.keys.length === 1 && rows.length === 1)
		return rows[0].title + ", PID " + rows[0].pid + (placeOf(rows[0]) ? ", " + placeOf(rows[0]) : "");
	return state.keys.length + (state.keys.length === 1 ? " process chosen" : " processes chosen");
}

// ---- following the state ----

function followList(again)
{
	const shown = shownRange();
	page.listAsker.ask(listQuestion({ ...app.state, kind: kindHere() }, shown, SPARKS), isPast(shown.to), again);
	showList();
}

function showList()
{
	const { state } = app, kind = kindHere();
	if (page.where.value !== state.where && document.activeElement !== page.where)
		page.where.value = state.where;
	if (!app.list || state.view !== "jvms")
		return;
	const rows = sortedRows(listedRows(), state.sort, state.isUp, kind);
	page.list.show({ rows, state, kind, isUtc: state.isUtc, leftOut: app.list.left_out || 0,
		shown: shownRange() });
	sayIn(page.listSaid, rows.length > 0 ? "" : app.list.processes.length > 0 ?
		"No process of these " + app.list.processes.length + " has all of the words." : emptyText(shownRange()),
		rows.length > 0 || app.list.processes.length > 0 ? null : wayToData());
}

/* Where there is nothing: what the store has. */
function emptyText({ from, to })
{
	const { store, state } = app;
	const none = (state.where ? "No process of " + state.where : "Nothing") + " was recorded from " +
		rangeText(from, to, state.isUtc) + ".";
	return none + (store && store.last_ms > 0 ?
		" The store has samples from " + instantText(store.first_ms, state.isUtc) + " to " +
		instantText(store.last_ms, state.isUtc) + "." :
		" The store is empty: what is recorded now is here within " + lengthText(windowMs()) + " or two.");
}

/* A button to the last day that the store has. */
function wayToData()
{
	const { store } = app;
	return store && store.last_ms > 0 ? button("Show what there is", { class: "way" }, () => showTime({
		from: Math.max(store.first_ms, store.last_ms - DAY), to: store.last_ms + SECOND })) : null;
}

function sayIn(place, text, more)
{
	place.replaceChildren(text, ...(text && more ? [" ", more] : []));
	place.hidden = !text;
}

/* Heat of one side; the map is asked again in coarser cells where times are no finer. */
function followHeat(heat, side, again)
{
	const shown = shownRange(), named = namedSide(side);
	heat.map.box.hidden = false;
	if (!named || named.problem) {
		heat.asker.stop();
		heat.map.box.classList.remove("asking");
		heat.map.say(named ? named.problem : "Reading the list\u2026");
		return;
	}
	const grid = gridOf(shown.from, shown.to, app.finest, zoneOffset(shown.from, app.state.isUtc));
	heat.grid = grid;
	heat.asker.ask(heatQuestion(named, grid, kindHere()), isPast(grid.to), again);
}

function heatAnswered(heat, answer)
{
	const { grid } = heat, finest = answer.finest_ms || 0;
	heat.map.say("");
	if (finest > grid.cellMs && grid.rows > 1 && finest > app.finest) {
		app.finest = finest;
		followHeats();
		return;
	}
	heat.map.show(grid, answer);
	showScale();
	if (!(answer.total > 0))
		heat.map.say(answer.cells.some(n => n === 0) ? "Idle all the time" : emptyText(shownRange()));
}

function beforeText()
{
	const { beforeKeys, beforeWhere } = app.state;
	const known = rowsOf(beforeKeys).map(row => row.title + ", PID " + row.pid).join("; ");
	return beforeKeys.length > 0 ? known || beforeKeys.length + " processes" : beforeWhere;
}

/* How fine times are is another matter in another range. */
function forgetFinest()
{
	const { from, to } = shownRange(), key = from + " " + to;
	if (app.finestOf !== key)
		app.finest = 0;
	app.finestOf = key;
}

function followHeats(again)
{
	const { state } = app, before = beforeSide(state), isOther = state.compares && before.own;
	const marks = state.to > 0 ? [{ from: state.from, to: state.to }] : [];
	const beforeMark = state.compares && state.beforeTo > 0 ?
		[{ from: state.beforeFrom, to: state.beforeTo, isBefore: true }] : [];
	page.heats[1].part.hidden = !isOther;
	if (state.view !== "heat")
		return;
	forgetFinest();
	page.heats[0].map.mark(isOther ? marks : [...marks, ...beforeMark]);
	page.heats[1].map.mark(beforeMark.length > 0 ? beforeMark : marks.map(mark => ({ ...mark, isBefore: true })));
	page.heats[0].name.textContent = isOther ? "After: " + whoText() : "";
	page.heats[1].name.textContent = "Before: " + beforeText();
	followHeat(page.heats[0], afterSide(state), again);
	if (isOther)
		followHeat(page.heats[1], before, again);
}

function followGraph(again)
{
	const { state } = app, side = namedSide(afterSide(state));
	const isWanted = state.view !== "jvms" && state.to > 0;
	const url = side && !side.problem && state.to > 0 ?
		format => graphQuestion({ ...state, keys: side.keys }, kindHere(), format) : null;
	page.bar.showFiles(url, isCompared(state));
	if (!isWanted || !url) {
		page.graph.stop();
		if (state.to === 0)
			page.graph.show("", "");
		sayIn(page.graphSaid, state.to > 0 ? side && side.problem || "" : state.view === "graph" ?
			"Choose a range: drag over the heat map, or write it into the fields above." :
			"Drag over what looks odd: its flame graph is shown here.", null);
		return;
	}
	page.graph.show(url("html"), state.inner, again);
	page.graph.dress();
}

function followLive()
{
	clearTimeout(app.liveTimer);
	if (!app.state.isLive)
		return;
	const until = windowMs() - (nowMs() - LATE_MS) % windowMs();
	app.liveTimer = setTimeout(() => {
		if (document.hidden)
			followLive();     // nobody looks
		else
			go({ ...liveRange(nowMs(), windowMs()), inner: innerElsewhere(app.state.inner) }, true);
	}, until);
}

function follow(again)
{
	const { state } = app;
	document.title = whoText() + (state.to > 0 ? ", " + rangeText(state.from, state.to, state.isUtc) : "") +
		" \u2013 fgcollect";
	page.bar.show({ state, shown: shownRange(), host: app.store && app.store.host, who: whoText() });
	page.bar.showKinds(kindsHere(), kindHere());
	page.bar.showVersions(differingLabels(app.list ? app.list.processes : []));
	page.panes.jvms.hidden = state.view !== "jvms";
	page.panes.heat.hidden = state.view !== "heat";
	page.panes.graph.hidden = state.view === "jvms";
	followList(again);
	followHeats(again);
	followGraph(again);
	followLive();
}

/* Both maps have one scale, so that one colour is one number. */
function showScale()
{
	const maps = page.heats.filter(heat => !heat.part.hidden && heat.map.answer).map(heat => heat.map);
	const scale = heatScale(maps.flatMap(map => map.answer.cells));
	maps.forEach(map => map.paint(scale));
	page.legend.replaceChildren(...(maps.length > 0 ? maps[0].legend() : []));
}

function repaint()
{
	showScale();
}
