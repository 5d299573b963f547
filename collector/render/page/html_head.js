// SPDX-License-Identifier: Apache-2.0
/* What is above and below the graph: the row of controls, what is known of the data, kinds of frames. */
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
	const counted = facts.samples_kind || facts.unit || "samples";
	add(before ? "after" : counted, before ? amount(all) : facts.unit === counted ? grouped(all) : shortAmount(all));
	if (before)
		add("before", amount(before.reduce((sum, n) => sum + n, 0)));
	add("event", facts.event && facts.event + (facts.hz ? " at " + facts.hz + " Hz" : ""));
	add("time", facts.duration_ns && (facts.duration_ns / 1e9).toFixed(1) + " s" + (facts.start_ms ?
		" from " + new Date(Number(facts.start_ms)).toISOString().replace("T", " ").slice(0, 19) +
		" UTC" : ""));
	// Of what another program has recorded nobody says that it is whole.
	if (facts.program || facts.lost)
		add("lost", facts.lost ? share("lost", 0)[0] : "0", Number(facts.lost || 0) > 0);
	const truncated = facts.truncated.reduce((sum, t) => sum + t.samples, 0);
	if (facts.program || truncated)
		add("truncated", truncated ? percent(truncated, all) + " (" + facts.truncated.map(t =>
			t.reason + " " + shortAmount(t.samples)).join(", ") + ")" : "0", truncated > 0.01 * all);
	add("unnamed frames in", ...share("unnamed", 0.01));
	add("without their frames in the heap", ...share("heapless", 0));
	add("without the copy of their stack", ...share("stackless", 0));
	add("cut at the memory limit", ...share("overflow", 0));
	add("without time and thread", ...share("untimed", 0));
	add("names and labels without room", facts.renamed, true);
	choreItems().forEach(({ label, text }) => add(label, text));
	add("host", facts.host && facts.host + (facts.kernel ? ", Linux " + facts.kernel : ""));
	const distinct = name => [...new Set(processes.map(p => p[name]).filter(text => text))];
	add("JVM", distinct("runtime").join(", "));
	add("container", distinct("container").join(", "));
	add("image", distinct("image").join(", "));
	add("made by", facts.program);
	return items;
}

function banner(items)
{
	return element("dl", { class: "quality", "aria-label": "Quality of the data" },
		...items.map(({ label, text, bad }) => element("div", bad ? { class: "bad" } : {},
			element("dt", {}, (bad ? "\u26a0 " : "") + label), element("dd", {}, text))));
}

/* All facts behind a button, and beside it what is wrong. */
function factTools()
{
	const { facts } = app.data, items = qualityItems(), bad = items.filter(item => item.bad);
	const menu = new Menu("i", { id: "facts", class: "round", "aria-label": "About this recording",
		title: "About this recording" }, "facts", element("h2", {}, facts.title),
	element("p", {}, facts.subtitle || ""), banner(items),
	element("p", { class: "notes" }, facts.event ? "" : facts.notes || ""));
	const all = bad.map(({ label, text }) => label + " " + text).join("; ");
	return [...(bad.length > 0 ? [button(shortWarning(bad), { id: "warnings", title: all }, () => menu.open())] : []),
		menu.host];
}

const SHORT = { "unnamed frames in": "unnamed", "names and labels without room": "names lost",
	"without their frames in the heap": "heap missing", "without the copy of their stack": "no stack",
	"cut at the memory limit": "cut", "without time and thread": "untimed" };

/* The first of them as a word and its figure, which are never cut, and how many more there are. */
function shortWarning([{ label, text }, ...more])
{
	const value = label === "not whole" ? null : /^[\d.,]+%?[^(,;]*(\([\d.]+%\))?/.exec(text);
	return "\u26a0 " + (SHORT[label] || label) + (value ? " " + value[0].trim() : "") +
		(more.length > 0 ? ", +" + more.length : "");
}

// ---- the legend ----

/* Of each kind how many samples end in such a frame, and whether any frame that is drawn is one. */
function kindSums(tree)
{
	const self = app.data.kinds.map(() => 0), isThere = app.data.kinds.map(() => false);
	for (let i = 0; i < tree.count; i++) {
		const { kind } = tree.keys[tree.key[i]];
		self[kind] += tree.self[i];
		isThere[kind] = isThere[kind] || tree.wide[i] > 0;
	}
	return { self, isThere };
}

function legend()
{
	page.kinds = app.data.before ? [] : app.data.kinds.map(({ letter, title, colours }, kind) => {
		const chip = element("i", { class: "chip", "aria-hidden": "true" }, letter);
		chip.style.background = colours[4];
		const made = button(chip, { "data-kind": kind }, () => nextKind(kind));
		made.append(title + " ", element("span", { class: "share" }));
		return made;
	});
	return app.data.before ? element("div", { class: "legend scale" }, ...changeLegend()) :
		element("div", { class: "legend", role: "group", "aria-label": "Kinds of frames" },
			...page.kinds);
}

/* Kinds without a box are not listed, but for the one that is chosen. */
function showLegend(tree)
{
	const { self, isThere } = kindSums(tree), all = tree.total[0];
	page.kinds.forEach((made, kind) => {
		made.hidden = !isThere[kind] && app.state.kind !== kind;
		made.querySelector(".share").textContent = self[kind] > 0 ?
			(100 * self[kind] / (all || 1)).toFixed(1) + "%" : "";
		made.title = percent(self[kind], all) + ofAll() + " end in such a frame. " +
			"Click: highlight; again: only samples that have one; again: off";
	});
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

const MOST_CHOICES = 1000;     // of a filter; an address can have any other

function filterField(dimension)
{
	const { threads, times } = app.data, weights = new Map(), sorts = sortsOf(app.data);
	for (let i = 0; times && i < times.count; i++) {
		const isIdle = sorts && sorts[times.node[i]] === IDLE;
		for (const value of valuesOf(threads[times.thread[i]], dimension))
			weights.set(value, (weights.get(value) || 0) + (isIdle ? 0 : times.weight[i]));
	}
	const field = element("select", { id: "filter-" + dimension },
		element("option", { value: "" }, "all " + weights.size));
	const sorted = [...weights].sort((a, b) => b[1] - a[1]);
	for (const [value, samples] of sorted.slice(0, MOST_CHOICES))
		field.append(element("option", { value }, value + "  (" + shortAmount(samples) + ")"));
	if (sorted.length > MOST_CHOICES)
		field.append(element("option", { disabled: "" }, grouped(sorted.length - MOST_CHOICES) + " with less"));
	field.addEventListener("change", () => go({ [dimension]: field.value, zoom: "" }));
	page.filters[dimension] = field;
	const isOne = weights.size < (dimension === "label" ? 1 : 2);     // labels are not of all threads
	return element("label", isOne ? { hidden: "" } : {}, dimension, field);
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
		placeholder: "Search  /", title: "A regular expression. Small letters are also found as capitals",
		"aria-label": "Search frames by regular expression; Enter goes to the next match" });
	page.search.addEventListener("input", () => soon(() => go({ search: page.search.value }, true)));
	page.matched = element("output", { id: "matched", "aria-live": "polite" });
	return element("div", { class: "tools", role: "search" }, page.search,
		button("\u2039", { id: "previous", "aria-label": "Previous match" }, () => nextMatch(-1)),
		button("\u203a", { id: "next", "aria-label": "Next match" }, () => nextMatch(1)),
		page.matched);
}

function tabs()
{
	page.tabs = tabsOf(app.data).map(([name, label, title]) =>
		button(label, { role: "tab", "data-tab": name, id: "tab-" + name, title }, () => go({ tab: name })));
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

/* None where there is none. */
function plumbingTool()
{
	const names = plumbingAmong(app.data);
	return names.length === 0 ? [] : [toggle("Fold plumbing", "plumbing",
		names.join(", ") + ": a run of frames as one, in the graph")];
}

/* None where there is nothing to fold. */
function frameworkTool()
{
	const names = frameworksAmong(app.data.keys);
	return names.length === 0 ? [] :
		[toggle("Fold frameworks", "frameworks", names.join(", ") + ": a run as one frame")];
}

function viewMenu()
{
	return new Menu("View", { id: "view" }, "column",
		toggle("Icicle", "icicle", "The root at the top"),
		toggle("Callers first", "reversed", "Functions that samples ended in, and above them who called"),
		...levelTool(),
		toggle("Java only", "javaOnly",
			"Kernel, native and JVM time as that of the Java method that caused it"),
		toggle("Fold recursion", "recursion", "Join recursive calls"),
		...startTool(), ...plumbingTool(), ...frameworkTool(),
		...(app.data.before ? compareTools() : []),
		button("Hot spot", { id: "hot", title: "Key h: where most of the time goes, of the program's own functions" },
			showHot),
		page.unzoom = button("Reset zoom", { id: "unzoom", title: "Key 0, or Escape" }, () => go({ zoom: "" })));
}

function filterMenu()
{
	return new Menu("Filter", { id: "filter" }, "column",
		filters(), ...sortTool(), ...(app.strip ? [app.strip.fields] : []),
		toggle("Only matching", "onlyMatching", "Only samples that have a frame that the search finds"),
		button("Without matching", { id: "without-matching", title:
			"Leaves out samples that have a frame that the search finds" }, leaveOutMatching),
		toggle("Any case", "ignoreCase", "Capitals in the search are also found as small letters"));
}

function leaveOutMatching()
{
	const { search, without } = app.state;
	if (search && patternOf(app.state))
		go({ without: withLine(without, "~" + search), search: "", onlyMatching: false, zoom: "" });
}

function moreMenu()
{
	return new Menu("\u22ef", { id: "more", "aria-label": "More", title: "More" }, "column",
		button("Reset all", { id: "reset", title: "No zoom, search or filter" },
			() => go({ ...newState(), samples: app.state.samples })),
		button("Copy name", { id: "copy-name", title: "Key c" }, () => copySelected("name")),
		button("Copy stack", { id: "copy-stack", title: "Key s" }, () => copySelected("stack")),
		button("Copy folded", { id: "copy-folded" }, copyFolded),
		button("Save SVG", { id: "save-svg" }, saveSvg),
		button("Save PNG", { id: "save-png" }, savePng),
		themeButton(),
		button("Keys", { id: "keys", title: "Key ?" }, showKeys));
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
