// SPDX-License-Identifier: Apache-2.0
/* The graph: drawing, picking, zoom, search, the address, and events. svg_begin.js opens it. */
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

const counted = n => amountText(settings.countName, n * settings.factor);
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
	const time = coresText(total[i] * settings.cpuPeriod, settings.duration);
	if (!isDiff)
		return nameOf(i) + " (" + counted(total[i]) + ", " +
			(i || settings.total ? percent(total[i], whole) : "100%") + ")" + (time && ", " + time) + levelsOf(i);
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
