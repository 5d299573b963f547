// SPDX-License-Identifier: Apache-2.0
/* The elements of the SVG around the graph, its labels, and numbers as they are shown. */
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

// ---- labels; label.c does the same for the static picture, without knowing the font ----

const pen = html("canvas", {}).getContext("2d");

/* The width of text in the font that the page has got. */
function widthOf(text)
{
	return pen ? pen.measureText(text).width : 7.08 * text.length;
}

const JAVA_KINDS = [1, 2, 3, 4, 10], NATIVE_KINDS = [5, 6, 7], CLASS_KIND = 12;

/* In a diff a class is no kind: there the name has to tell. */
function languageOf(key, isDiff)
{
	if (isDiff)
		return key.name.startsWith("[") ? "none" :
			/^[^(<]+\//.test(key.name) ? "java" : "native";
	return JAVA_KINDS.includes(key.kind) ? "java" : key.kind === CLASS_KIND ? "class" :
		NATIVE_KINDS.includes(key.kind) ? "native" : "none";
}

function labelOf(key, width, isDiff)
{
	if (width < MIN_LABEL)
		return "";
	key.forms = key.forms || formsOf(key.name, languageOf(key, isDiff));
	return longestOf(key.forms, width);
}

// ---- the page around the graph ----

function legend(tree, kinds, settings)
{
	const { countName } = settings, self = kinds.map(() => 0), seen = new Set();
	for (let i = 0; i < tree.count; i++) {
		const kind = tree.keys[tree.key[i]].kind;
		self[kind] += tree.self[i];
		seen.add(kind);
	}
	return [...seen].sort((a, b) => a - b).map(kind => html("span", {
		title: percent(self[kind], tree.total[0]) + (countName === "microseconds" ?
			" of the time is in such a frame" : countName === "bytes" ?
			" of the bytes are of such a frame" : " of " + countName + " end in such a frame"),
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
				...(settings.hasLegend ? legend(tree, kinds, settings) : [])),
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
