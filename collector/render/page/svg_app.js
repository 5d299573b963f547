// SPDX-License-Identifier: Apache-2.0
/* All of the SVG's script but what svg_begin.js opens and label.js says of names. */
const SVG = "http://www.w3.org/2000/svg";
const HTML = "http://www.w3.org/1999/xhtml";
const PAD = 10, MARGIN = 3;
const MIN_LABEL = 21;             // px; some three letters
const GAP = 0.4;                  // px between neighbours that can spare them
const MATCH_FILL = "#cd2ddc";
const LEVELS = ["interpreted", "C1", "C2", "inlined"];

const root = (document.currentScript && document.currentScript.ownerSVGElement) ||
	document.documentElement;
const part = id => root.querySelector("#" + id);

function element(space, tag, attributes, ...children)
{
	const made = document.createElementNS(space, tag);
	for (const name in attributes)
		made.setAttribute(name, attributes[name]);
	made.append(...children);
	return made;
}
const svg = (tag, attributes, ...children) => element(SVG, tag, attributes, ...children);
const html = (tag, attributes, ...children) => element(HTML, tag, attributes, ...children);

// ---- data ----

function readSettings(from)
{
	const number = name => Number(from.dataset[name]) || 0;
	return {
		min: Math.max(number("min"), 0.3), row: number("row"), fontSize: number("fontSize"),
		factor: number("factor"), width: number("width"), total: number("total"),
		inverted: number("inverted") === 1, diff: from.dataset.diff || "",
		countName: from.dataset.countName, nameType: from.dataset.nameType,
		hasLegend: Number(part("fg-kinds").dataset.legend) === 1,
	};
}

async function inflate(base64)
{
	const packed = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
	const stream = new Response(packed).body.pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function reader(bytes)
{
	let at = 0;
	return {
		varint() {
			let value = 0;
			for (let scale = 1; ; scale *= 128) {
				const byte = bytes[at++];
				value += (byte & 127) * scale;
				if (byte < 128)
					return value;
			}
		},
		text(length) {
			at += length;
			return new TextDecoder().decode(bytes.subarray(at - length, at));
		},
	};
}

function decodeKey(line, kinds)
{
	const kind = line.charCodeAt(0) - 97;
	const [name, module, chosen] = line.slice(2).split("\t");
	return { name, module: module || undefined, kind,
		fill: chosen || kinds[kind][1 + line.charCodeAt(1) - 48] };
}

/* Nodes in order: a node, then all below it. size counts a node and all below it. */
function decode(bytes, kinds, isDiff)
{
	const from = reader(bytes);
	from.varint();
	const textLength = from.varint(), count = from.varint();
	const keys = from.text(textLength).split("\n").slice(0, -1).map(l => decodeKey(l, kinds));
	const tree = {
		keys, count,
		key: new Uint32Array(count), parent: new Uint32Array(count),
		depth: new Uint32Array(count), size: new Uint32Array(count).fill(1),
		self: new Float64Array(count), total: new Float64Array(count),
		start: new Float64Array(count),
	};
	for (let i = 0; i < count; i++)
		tree.key[i] = from.varint();
	for (let i = 0; i < count; i++) {
		let up = from.varint(), parent = i - 1;
		for (; up > 0; up--)
			parent = tree.parent[parent];
		tree.parent[i] = Math.max(parent, 0);
		tree.depth[i] = i ? tree.depth[parent] + 1 : 0;
	}
	for (let i = 0; i < count; i++)
		tree.total[i] = tree.self[i] = from.varint();
	addUp(tree);
	if (isDiff)
		tree.sides = ["before", "after"].map(() => readSide(from, tree));
	else
		tree.levels = readLevels(from);
	return tree;
}

/* One side of a diff: samples of each node, its own and with all below it. */
function readSide(from, tree)
{
	const self = new Float64Array(tree.count), total = new Float64Array(tree.count);
	for (let i = 0; i < tree.count; i++)
		total[i] = self[i] = from.varint();
	for (let i = tree.count - 1; i > 0; i--)
		total[tree.parent[i]] += total[i];
	return { self, total };
}

/* Nodes with samples of several levels of compilation -> how many of each. */
function readLevels(from)
{
	const levels = new Map();
	let node = 0;
	for (let n = from.varint(); n > 0; n--) {
		node += from.varint();
		levels.set(node, LEVELS.map(() => from.varint()));
	}
	return levels;
}

function addUp(tree)
{
	const { count, parent, total, size, start, self } = tree;
	for (let i = count - 1; i > 0; i--) {
		total[parent[i]] += total[i];
		size[parent[i]] += size[i];
	}
	const end = new Float64Array(count);    // where a node's next child starts
	for (let i = 1; i < count; i++) {
		start[i] = end[i] = end[parent[i]];
		end[parent[i]] += total[i];
	}
}

// ---- labels; label.c does the same for the static picture, without knowing the font ----

const pen = html("canvas", {}).getContext("2d");

/* The width of text in the font that the page has got. */
function widthOf(text)
{
	return pen ? pen.measureText(text).width : 7.08 * text.length;
}

const JAVA_KINDS = [1, 2, 3, 4, 10], NATIVE_KINDS = [5, 6, 7];

/* In a diff a class is no kind: there the name has to tell. */
function languageOf(key, isDiff)
{
	if (isDiff)
		return key.name.startsWith("[") ? "none" :
			/^[^(<]+\//.test(key.name) ? "java" : "native";
	return JAVA_KINDS.includes(key.kind) ? "java" :
		NATIVE_KINDS.includes(key.kind) ? "native" : "none";
}

function formsOf(key, isDiff)
{
	const language = languageOf(key, isDiff);
	const shorter = language === "java" ? javaForms(key.name) :
		language === "native" ? nativeForms(key.name) : [];
	return [key.name, ...shorter].map(text => ({ text, width: widthOf(text) }));
}

function labelOf(key, width, isDiff)
{
	if (width < MIN_LABEL)
		return "";
	key.forms = key.forms || formsOf(key, isDiff);
	return longestOf(key.forms, width);
}

// ---- the page around the graph ----

function legend(tree, kinds)
{
	const self = kinds.map(() => 0), seen = new Set();
	for (let i = 0; i < tree.count; i++) {
		const kind = tree.keys[tree.key[i]].kind;
		self[kind] += tree.self[i];
		seen.add(kind);
	}
	return [...seen].sort((a, b) => a - b).map(kind => html("span", {
		title: percent(self[kind], tree.total[0]) + " of samples end in such a frame",
	}, html("i", { style: "background:" + kinds[kind][5] }), kinds[kind][0]));
}

function textOf(id)
{
	const found = part(id);
	return found ? found.textContent : "";
}

function buildPage(tree, kinds, settings)
{
	const page = {
		search: html("input", { id: "search", type: "search", spellcheck: "false",
			placeholder: "Search: regular expression (Ctrl-F)",
			title: "Enter: next match, Shift-Enter: the one before",
			"aria-label": "Search frames by regular expression" }),
		ignoreCase: html("input", { id: "ignorecase", type: "checkbox" }),
		matched: html("output", { id: "matched" }),
		unzoom: html("button", { id: "unzoom", type: "button",
			title: "Key 0 or Esc" }, "Reset zoom"),
		frames: svg("g", { id: "frames" }),
		hover: svg("rect", { id: "fg-hover", height: settings.row - 1, visibility: "hidden" }),
		details: html("div", { id: "details", role: "status" }),
	};
	page.hoverTitle = page.hover.appendChild(svg("title", {}));
	page.view = svg("svg", { role: "img", "aria-label": "flame graph",
		"font-size": settings.fontSize },
		page.frames, page.hover);
	page.scroll = html("div", { id: "fg-scroll", tabindex: "0",
		"aria-label": "Flame graph. Arrow keys move between frames, Enter zooms." }, page.view);
	page.app = html("div", { id: "fg-app" },
		html("header", {},
			html("div", { class: "names" }, html("h1", {}, textOf("title")),
				html("p", {}, textOf("subtitle"))),
			html("div", { class: "tools" }, page.search,
				html("label", {}, page.ignoreCase, "Ignore case"),
				page.matched, page.unzoom)),
		page.scroll,
		html("footer", {}, page.details,
			html("div", { class: "legend" },
				...(settings.hasLegend ? legend(tree, kinds) : [])),
			html("p", { id: "notes" }, textOf("notes"))));
	return page;
}

function showPage(page)
{
	const kept = [...root.children].filter(child => child.localName === "style");
	root.replaceChildren(...kept, svg("foreignObject", { x: 0, y: 0, width: "100%",
		height: "100%" }, page.app));
	root.removeAttribute("viewBox");
	root.setAttribute("width", "100%");
	root.setAttribute("height", root === document.documentElement ? "100%" : "90vh");
}

// ---- numbers and addresses ----

const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (n, all) => (all ? 100 * n / all : 0).toFixed(2) + "%";

/* Four characters that stand for a name in the address; the path of them names a frame in any
 * file that has it, whatever its width and numbers. */
function shortHash(key)
{
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	let hash = 0x811c9dc5 ^ key.kind, text = "";
	for (let i = 0; i < key.name.length; i++)
		hash = Math.imul(hash ^ key.name.charCodeAt(i), 0x01000193);
	for (let i = 0; i < 4; i++)
		text += digits[(hash ^ hash >>> 15) >>> 6 * i & 63];
	return text;
}

function start(tree, kinds, settings)
{

const { keys, key, parent, depth, size, total, self } = tree;
const page = buildPage(tree, kinds, settings);
const minPx = settings.min, ROW = settings.row, isDiff = settings.diff !== "";
const whole = settings.total || total[0];        // what shares are of
let zoomed = 0, picked = -1;
let matching = null;              // a flag a key, or null when nothing is searched
/* fromBase: how far the scroller's lower edge is from the root, so that a new height keeps it. */
const view = { scale: 0, from: 0, height: 0, shown: 0, fromBase: 0 };

const endOf = i => i + size[i];
const nameOf = i => keys[key[i]].name;

const counted = n => grouped(Math.round(n * settings.factor)) + " " + settings.countName;
const signed = part => (part < 0 ? "" : "+") + percent(part, 1);

/* Of a diff: what a count changed, as a share of all. */
function changeOf(column, i)
{
	const [before, after] = tree.sides;
	const [b, a] = [before.total[0], after.total[0]];
	const scale = settings.diff === "raw" || !b || !a ? 1 : a / b;
	return (after[column][i] - before[column][i] * scale) / (a || b || 1);
}

/* Of a method that ran in several ways its shares. */
function levelsOf(i)
{
	const counts = tree.levels.get(i) || [];
	return counts.map((n, level) => n > 0 ?
		", " + LEVELS[level] + " " + (100 * n / total[i]).toFixed(0) + "%" : "").join("");
}

function titleOf(i)
{
	if (!isDiff)
		return nameOf(i) + " (" + counted(total[i]) + ", " +
			(i || settings.total ? percent(total[i], whole) : "100%") + ")" + levelsOf(i);
	const [before, after] = tree.sides;
	return nameOf(i) + " (" + counted(after.total[i]) + ", " +
		percent(after.total[i], after.total[0]) + "; " + signed(changeOf("total", i)) +
		", before " + percent(before.total[i], before.total[0]) + "; " +
		kinds[keys[key[i]].kind][0] + ")";
}

// ---- drawing ----

function boxOf(i)
{
	const above = depth[i] < depth[zoomed];
	return {
		x: PAD + (above ? 0 : (tree.start[i] - view.from) * view.scale),
		y: settings.inverted ? depth[i] * ROW : view.height - (depth[i] + 1) * ROW,
		width: (above ? total[zoomed] : total[i]) * view.scale,
	};
}

function visibleNodes()
{
	const nodes = [];
	for (let i = zoomed; i !== 0;) {
		i = parent[i];
		nodes.push(i);
	}
	nodes.reverse();
	for (let i = zoomed, end = endOf(zoomed); i < end;) {
		if (i !== zoomed && total[i] * view.scale < minPx) {
			i = endOf(i);
		} else {
			nodes.push(i++);
		}
	}
	return nodes;
}

function fillOf(i)
{
	return i && matching && matching[key[i]] ? MATCH_FILL : keys[key[i]].fill;
}

const inner = width => (width > 2 ? width - GAP : width).toFixed(2);

function frameElement(i)
{
	const box = boxOf(i);
	const label = labelOf(keys[key[i]], box.width - 2 * MARGIN, isDiff);
	const frame = svg("g", {}, svg("title", {}, titleOf(i)), svg("rect", {
		x: box.x.toFixed(2), y: box.y, width: inner(box.width),
		height: ROW - 1, rx: 1.5, fill: fillOf(i) }));
	if (label)
		frame.append(svg("text", { x: (box.x + MARGIN).toFixed(2), y: box.y + ROW - 4.5 }, label));
	if (depth[i] < depth[zoomed])
		frame.setAttribute("class", "fg-faded");
	return frame;
}

function drawFrames(nodes)
{
	const drawn = document.createDocumentFragment(), slivers = new Map();
	for (const i of nodes) {
		const box = boxOf(i);
		if (box.width >= MIN_LABEL + 2 * MARGIN || i === zoomed) {
			drawn.append(frameElement(i));
			continue;
		}
		const fill = fillOf(i), width = inner(box.width);
		const shape = "M" + box.x.toFixed(2) + " " + box.y + "h" + width + "v" + (ROW - 1) + "h-" + width + "z";
		if (!slivers.has(fill))
			slivers.set(fill, []);
		slivers.get(fill).push(shape);
	}
	for (const [fill, shapes] of slivers)
		drawn.append(svg("path", { fill, d: shapes.join("") }));
	page.frames.replaceChildren(drawn);
}

function draw()
{
	const width = settings.width || Math.max(page.scroll.clientWidth, 200);
	view.scale = total[zoomed] ? (width - 2 * PAD) / total[zoomed] : 0;
	view.from = tree.start[zoomed];
	const nodes = visibleNodes();
	const levels = 1 + nodes.reduce((most, i) => Math.max(most, depth[i]), 0);
	view.shown = page.scroll.clientHeight;
	view.height = Math.max(levels * ROW + PAD, view.shown);
	page.view.setAttribute("width", width);
	page.view.setAttribute("height", view.height);
	drawFrames(nodes);
	page.scroll.scrollTop = settings.inverted ? view.fromBase :
		view.height - view.shown - view.fromBase;
	page.unzoom.disabled = zoomed === 0;
	pick(-1);
}

// ---- one frame: by mouse or by keys ----

function nodeAt(event)
{
	const origin = page.view.getBoundingClientRect();
	const y = event.clientY - origin.top;
	const level = Math.floor((settings.inverted ? y : view.height - y) / ROW);
	const x = event.clientX - origin.left - PAD;
	let i = zoomed;
	if (x < 0 || x > total[zoomed] * view.scale || level < 0)
		return -1;
	if (level < depth[zoomed]) {
		while (depth[i] > level)
			i = parent[i];
		return i;
	}
	const sample = view.from + x / view.scale;
	while (depth[i] < level) {
		let child = i + 1;
		while (child < endOf(i) && tree.start[child] + total[child] <= sample)
			child = endOf(child);
		if (child >= endOf(i) || total[child] * view.scale < minPx)
			return -1;
		i = child;
	}
	return i;
}

function describe(i)
{
	const { kind, module } = keys[key[i]];
	const of = depth[i] > depth[zoomed] && zoomed ?
		", " + percent(total[i], total[zoomed]) + " of the view" : "";
	const type = settings.nameType ? settings.nameType + " " : "";
	if (isDiff)
		return type + titleOf(i) + ", self " +
			percent(tree.sides[1].self[i], tree.sides[1].total[0]) + " (" +
			signed(changeOf("self", i)) + ")" + (module ? " \u2013 " + module : "");
	return type + titleOf(i) + of + ", self " + percent(self[i], whole) +
		(settings.hasLegend ? " \u2013 " + kinds[kind][0] : "") +
		(module ? " \u2013 " + module : "");
}

function pick(i)
{
	picked = i;
	page.hover.setAttribute("visibility", i < 0 ? "hidden" : "visible");
	page.details.textContent = i < 0 ? describe(zoomed) +
		(zoomed ? " \u2013 0 or Esc resets the zoom" : " \u2013 click a frame to zoom") : describe(i);
	if (i < 0)
		return;
	const box = boxOf(i);
	page.hover.setAttribute("x", box.x);
	page.hover.setAttribute("y", box.y);
	page.hover.setAttribute("width", Math.max(box.width, 1));
	page.hoverTitle.textContent = titleOf(i);
}

function heaviestChild(i)
{
	let best = -1;
	for (let child = i + 1; child < endOf(i); child = endOf(child))
		if (best < 0 || total[child] > total[best])
			best = child;
	return best;
}

function sibling(i, step)
{
	const all = [];
	for (let child = parent[i] + 1; child < endOf(parent[i]); child = endOf(child))
		if (total[child] * view.scale >= minPx)
			all.push(child);
	const found = all[all.indexOf(i) + step];
	return found === undefined || i === 0 ? i : found;
}

function move(direction)
{
	const from = picked < 0 ? zoomed : picked;
	const [toChild, toParent] = settings.inverted ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
	const to = picked < 0 ? zoomed : direction === toChild ? heaviestChild(from) :
		direction === toParent ? parent[from] :
		depth[from] <= depth[zoomed] ? from : sibling(from, direction === "ArrowLeft" ? -1 : 1);
	if (to < 0 || (to !== from && total[to] * view.scale < minPx))
		return;
	show(to);
}

/* Picks a frame and scrolls to it. */
function show(i)
{
	const top = boxOf(i).y;
	pick(i);
	if (top < page.scroll.scrollTop || top + ROW > page.scroll.scrollTop + page.scroll.clientHeight)
		page.scroll.scrollTop = top - page.scroll.clientHeight / 2;
}

// ---- zoom ----

function zoom(i)
{
	if (i < 0 || i === zoomed)
		return;
	zoomed = i;
	draw();
	showMatched();
	remember(true);
}

// ---- search ----

/* Samples in from and below it that have a matching frame; each counts once, however many of its
 * frames match, because the walk does not enter what is below a match. */
function matchedBelow(from)
{
	let sum = 0;
	for (let i = Math.max(from, 1), end = endOf(from); i < end;) {
		if (matching[key[i]]) {
			sum += total[i];
			i = endOf(i);
		} else {
			i++;
		}
	}
	return sum;
}

function matchedInView()
{
	for (let i = zoomed; i !== 0; i = parent[i])
		if (matching[key[i]])
			return total[zoomed];
	return matchedBelow(zoomed);
}

function showMatched()
{
	page.matched.textContent = "";
	page.matched.title = "";
	if (!matching)
		return;
	const sum = matchedBelow(0);
	page.matched.textContent = "Matched: " + percent(sum, whole) +
		(zoomed ? " (view: " + percent(matchedInView(), total[zoomed]) + ")" : "");
	page.matched.title = counted(sum) + " of " + counted(whole);
}

function search()
{
	const text = page.search.value;
	let wrong = false;
	matching = null;
	try {
		if (text) {
			const wanted = new RegExp(text, page.ignoreCase.checked ? "i" : "");
			matching = Uint8Array.from(keys, k => wanted.test(k.name) ? 1 : 0);
		}
	} catch (error) {
		wrong = true;
	}
	page.search.setAttribute("aria-invalid", wrong);
	draw();
	showMatched();
	if (wrong)
		page.matched.textContent = "Not a regular expression";
	remember(false);
}

/* The next matching frame that is drawn, from the base up, around and around. */
function nextMatch(step)
{
	const all = matching ? visibleNodes().filter(i => i && matching[key[i]]) : [];
	all.sort((a, b) => depth[a] - depth[b] || a - b);
	const at = all.indexOf(picked);
	if (all.length > 0)
		show(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length]);
}

// ---- the address ----

function address()
{
	const state = new URLSearchParams();
	let path = "";
	for (let i = zoomed; i !== 0; i = parent[i])
		path = shortHash(keys[key[i]]) + path;
	if (path)
		state.set("z", path);
	if (page.search.value)
		state.set("s", page.search.value);
	if (page.search.value && page.ignoreCase.checked)
		state.set("i", "1");
	return "#" + state;
}

function remember(isStep)
{
	const next = address();
	if (next === (location.hash || "#"))
		return;
	try {
		history[isStep ? "pushState" : "replaceState"](null, "", next);
	} catch (error) {
		/* A sandboxed frame has no history to write to. */
	}
}

function nodeOfPath(path)
{
	let i = 0;
	for (let at = 0; at < path.length; at += 4) {
		const wanted = path.slice(at, at + 4);
		let child = i + 1;
		while (child < endOf(i) && shortHash(keys[key[child]]) !== wanted)
			child = endOf(child);
		if (child >= endOf(i))
			break;
		i = child;
	}
	return i;
}

function recall()
{
	const state = new URLSearchParams(location.hash.slice(1));
	zoomed = nodeOfPath(state.get("z") || "");
	page.search.value = state.get("s") || "";
	page.ignoreCase.checked = state.get("i") === "1";
	search();
}

// ---- events ----

function onKey(event)
{
	const typing = event.target === page.search;
	if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f")) {
		page.search.focus();
		page.search.select();
	} else if (event.ctrlKey || event.metaKey || event.altKey) {
		return;
	} else if (event.key === "Escape" && typing && page.search.value) {
		page.search.value = "";
		search();
	} else if (event.key === "Escape" || (event.key === "0" && !typing)) {
		page.scroll.focus();
		zoom(0);
	} else if (event.key.startsWith("Arrow") && !typing) {
		move(event.key);
	} else if (event.key === "Enter" && typing) {
		nextMatch(event.shiftKey ? -1 : 1);
	} else if (event.key === "Enter" && event.target === page.scroll) {
		zoom(picked);
	} else {
		return;
	}
	event.preventDefault();
}

let waiting = 0;
function soon(work)
{
	cancelAnimationFrame(waiting);
	waiting = requestAnimationFrame(work);
}

showPage(page);
if (pen)
	pen.font = settings.fontSize + "px " + getComputedStyle(page.view).fontFamily;
page.scroll.addEventListener("click", event => zoom(nodeAt(event)));
page.scroll.addEventListener("mousemove", event => {
	const i = nodeAt(event);
	if (i !== picked)
		pick(i);
});
page.scroll.addEventListener("mouseleave", () => pick(-1));
page.scroll.addEventListener("scroll", () => {
	if (page.scroll.clientHeight === view.shown)    // else it is the window that changes
		view.fromBase = settings.inverted ? page.scroll.scrollTop :
			view.height - view.shown - page.scroll.scrollTop;
});
page.search.addEventListener("input", () => soon(search));
page.ignoreCase.addEventListener("change", search);
page.unzoom.addEventListener("click", () => zoom(0));
addEventListener("keydown", onKey);
addEventListener("resize", () => soon(draw));
addEventListener("popstate", recall);
recall();

}

async function run()
{
	const kinds = JSON.parse(textOf("fg-kinds"));
	const settings = readSettings(part("fg-settings"));
	const tree = decode(await inflate(textOf("fg-data")), kinds, settings.diff !== "");
	start(tree, kinds, settings);
}

/* The static picture is still whole when this fails: an old browser, or a file cut short. */
run().catch(error => console.warn("flame graph: not interactive:", error));

})();
