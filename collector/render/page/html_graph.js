// SPDX-License-Identifier: Apache-2.0
/*
 * A tree on a canvas. layingOut() lists what is wide enough to be seen, a level after the other and
 * each from left to right; drawing, the mouse and the arrow keys look only there. The canvas is as
 * large as the window; what is scrolled past is not drawn.
 */
const ROW = 18, MIN_WIDE = 0.4, TAB = 12, TAB_FROM = 120, LABEL_FROM = 27, SHARE_FROM = 150, SEEN_FROM = 6;
const MATCH = "#cd2ddc", LABEL_INK = "#000000", DIM_ALPHA = 0.35;

const grouped = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
/* With its unit, and without one where that is samples. */
const amount = n => amountText(app.data.facts.unit || "samples", n);
const shortAmount = n => app.data.facts.unit ? amount(n) : grouped(n);
const ofAll = () => {
	const unit = app.data.facts.unit || "samples";
	return unit === "microseconds" ? " of the time" : unit === "bytes" ? " of the bytes" : " of " + unit;
};
const percent = (n, all) => (all ? 100 * n / all : 0).toFixed(2) + "%";

/* Levels from the root: of each the nodes that are seen, where they begin and how wide they are. */
function* layingOut(tree, zoomed, width)
{
	const levels = [];
	for (let i = tree.parent[zoomed]; i >= 0; i = tree.parent[i])
		levels.unshift({ nodes: [i], x: [0], w: [width], above: true });
	const scale = tree.wide[zoomed] > 0 ? width / tree.wide[zoomed] : 0;
	let level = { nodes: [zoomed], x: [0], w: [width] };
	while (level.nodes.length > 0) {
		levels.push(level);
		level = levelBelow(tree, level, scale);
		yield "Laying out";
	}
	return levels;
}

function levelBelow(tree, level, scale)
{
	const below = { nodes: [], x: [], w: [] };
	for (let at = 0; at < level.nodes.length; at++) {
		let x = level.x[at];
		for (let i = firstChild(tree, level.nodes[at]); i >= 0; i = tree.next[i]) {
			const w = tree.wide[i] * scale;
			if (w >= MIN_WIDE) {
				below.nodes.push(i);
				below.x.push(x);
				below.w.push(w);
			}
			x += w;
		}
	}
	return below;
}

/* The last box of a level that begins at or before x, or -1. */
function boxAt(level, x)
{
	let low = -1, high = level.x.length;
	while (high - low > 1) {
		const middle = low + high >> 1;
		if (level.x[middle] <= x)
			low = middle;
		else
			high = middle;
	}
	return low >= 0 && x < level.x[low] + Math.max(level.w[low], 1) ? low : -1;
}

/* As palette.h numbers them. */
const CHANGE = { noise: 0, more: 1, less: 2, new: 3, gone: 4 };

function changeClass(after, before)
{
	if (after === before || isNoise(after, before))
		return CHANGE.noise;
	return !before ? CHANGE.new : !after ? CHANGE.gone : after > before ? CHANGE.more : CHANGE.less;
}

/* By how much of itself a frame has changed, so that small ones are seen too. */
function changeColour(tree, i)
{
	const { bySelf } = app.state;
	const after = bySelf ? tree.self[i] : tree.total[i];
	const before = bySelf ? tree.before[i] : tree.beforeTotal[i];
	const { colours } = app.data.facts.changes[changeClass(after, before)];
	const part = Math.abs(after - before) / (Math.max(after, before) || 1);
	return colours[Math.min(Math.floor(Math.sqrt(part) * colours.length), colours.length - 1)];
}

const themeColour = name => getComputedStyle(document.documentElement).getPropertyValue(name);

class Graph {
	/* on: picked(graph, node), pointed(graph, node, event), zoomed(graph, node), asked(graph, node, place) */
	constructor(label, on)
	{
		this.on = on;
		this.canvas = element("canvas", { "aria-hidden": "true" });
		this.hover = element("div", { class: "hover", hidden: "" });
		this.spacer = element("div", {});
		this.host = element("div", { class: "graph", tabindex: "1", role: "application",
			"aria-roledescription": "flame graph", "aria-describedby": "details",
			"aria-label": label + " Arrow keys move between frames, Enter zooms, Escape zooms out." },
		this.canvas, this.hover, this.spacer);
		this.zoomed = 0;
		this.picked = -1;
		this.icicle = false;
		this.levels = [];
		this.width = this.shown = 0;
		this.widest = this.hot = -1;     // the widest top; the hot spot, of a difference what changed most, or the widest top
		this.coming = null;     // a node, with its tree, that is shown once that is drawn
		this.listen();
	}

	listen()
	{
		this.host.addEventListener("scroll", () => this.paint());
		this.host.addEventListener("click", event => {
			const i = this.nodeAt(event);
			if (i >= 0) {
				this.pick(i);
				this.on.zoomed(this, i);
			}
		});
		this.host.addEventListener("pointermove", event => {
			this.pick(this.nodeAt(event));
			this.on.pointed(this, this.picked, event);
		});
		this.host.addEventListener("contextmenu", event => {
			const isKey = event.button !== 2 && this.picked >= 0;     // the menu's key, not the mouse
			const i = isKey ? this.picked : this.nodeAt(event);
			if (i < 0)
				return;
			event.preventDefault();
			this.pick(i);
			this.on.asked(this, i, isKey ? this.placeOf(i) : event);
		});
		this.host.addEventListener("pointerleave", event => {
			this.pick(-1);
			this.on.pointed(this, -1, event);
		});
	}

	setTree(tree, zoomed)
	{
		this.tree = tree;
		this.zoomed = zoomed;
		this.marks = searchMarks(tree.keys);
		this.foldedMarks = foldedMarks(tree);
		this.found = null;
		this.layOut();
	}

	/* While the host is hidden, as on paper, the graph keeps its size. */
	layOut()
	{
		this.width = Math.max(this.host.clientWidth || this.width, 100);
		this.levels = finish(layingOut(this.tree, this.zoomed, this.width));
		this.shown = Math.max(this.host.clientHeight || this.shown, 40);
		this.height = Math.max(this.levels.length * ROW, this.shown);
		const ratio = devicePixelRatio || 1;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.shown * ratio);
		this.canvas.style.width = this.width + "px";
		this.canvas.style.height = this.shown + "px";
		this.spacer.style.height = this.height - this.shown + "px";
		this.scrollToStart();
		this.selected = -1;
		this.picked = NaN;
		this.pick(-1);
		this.paint();
	}

	/* Where the user has scrolled to stays, as long as the same is drawn. */
	scrollToStart()
	{
		const { tree, zoomed, icicle, width, shown, height } = this, before = this.drawn || {};
		const drawn = { tree, zoomed, icicle, width, shown, height };
		this.drawn = drawn;
		if (Object.keys(drawn).every(name => drawn[name] === before[name]))
			return;
		const spot = zoomed === 0 ? hotSpot(tree) : null;
		this.widest = zoomed === 0 && !app.data.before ? this.widestTop(spot) : -1;
		this.hot = spot ? spot.node : this.widest;
		if (this.hot >= 0 && height > shown)
			this.scrollToHot();
		else
			this.scrollToBase();
	}

	/* So that the zoomed frame stands near the edge that frames grow from. */
	scrollToBase()
	{
		const depth = Math.max(0, this.tree.depth[this.zoomed] - 2) * ROW;
		this.host.scrollTop = this.icicle ? depth : this.height - this.shown - depth;
	}

	/* With most of its callers in view. */
	scrollToHot()
	{
		const y = this.yOf(this.tree.depth[this.hot]);
		this.host.scrollTop = this.icicle ? y - 0.75 * this.shown : y - 0.25 * this.shown;
	}

	/* What most samples end in at one place, of what is drawn and, beside a hot spot, no task; -1 where callers are first. */
	widestTop(spot)
	{
		const { selfWide, keys, key } = this.tree, isNote = keys.map(({ kind }) => app.data.kinds[kind].letter === "#");
		const better = (i, best) => selfWide[i] > (best < 0 ? 0 : selfWide[best]) ? i : best;
		let best = -1, note = -1;     // a run of frames, or why a stack is cut, is no function
		for (const level of selfWide ? this.levels : []) {
			for (const i of level.nodes.filter(node => node > 0 && !(spot && spot.task[node]))) {
				if (isNote[key[i]])
					note = better(i, note);
				else
					best = better(i, best);
			}
		}
		return best < 0 ? note : best;
	}

	yOf(level)
	{
		return this.icicle ? level * ROW : this.height - (level + 1) * ROW;
	}

	paint()
	{
		const ratio = devicePixelRatio || 1, pen = this.canvas.getContext("2d");
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.paintRows(pen, this.host.scrollTop, this.shown,
			{ paper: themeColour("--paper"), ink: themeColour("--ink") });
	}

	/* What is from top on and so high, on any canvas. */
	paintRows(pen, top, shown, theme)
	{
		pen.fillStyle = theme.paper;
		pen.fillRect(0, 0, this.width, shown);
		pen.font = "12px " + FONT;
		pen.textBaseline = "middle";
		for (let level = 0; level < this.levels.length; level++) {
			const y = this.yOf(level) - top;
			if (y > -ROW && y < shown)
				this.paintLevel(pen, this.levels[level], y, theme);
		}
		pen.globalAlpha = 1;
		const hot = this.hot >= 0 ? this.boxOf(this.hot) : null;
		if (hot) {
			pen.strokeStyle = theme.ink;
			pen.lineWidth = 2;
			pen.strokeRect(hot.x, hot.y - top, Math.max(hot.w - 1, 2), ROW - 1);
		}
	}

	isMatch(i)
	{
		return i > 0 && Boolean((this.marks && this.marks[this.tree.key[i]]) ||
			(this.foldedMarks && this.foldedMarks[i]));
	}

	fillOf(i)
	{
		const key = this.tree.keys[this.tree.key[i]];
		if (this.isMatch(i))
			return MATCH;
		return app.data.before ? changeColour(this.tree, i) :
			app.data.kinds[key.kind].colours[key.shade];
	}

	isDim(level, i)
	{
		const { state } = app, kind = this.tree.keys[this.tree.key[i]].kind;
		return level.above || (state.kind >= 0 && kind !== state.kind);
	}

	paintLevel(pen, level, y, theme)
	{
		for (let at = 0; at < level.nodes.length; at++) {
			const i = level.nodes[at], w = level.w[at], dim = this.isDim(level, i);
			pen.globalAlpha = dim ? DIM_ALPHA : 1;
			pen.fillStyle = this.fillOf(i);
			pen.fillRect(level.x[at], y, w > 3 ? w - 1 : Math.max(w, 0.6), ROW - 1);
			pen.globalAlpha = 1;
			if (w >= LABEL_FROM)
				this.paintLabel(pen, i, { x: level.x[at], y, w, ink: dim ? theme.ink : LABEL_INK });
		}
	}

	/* What stands at the right edge of a box: the share of all, in a comparison its change; "" for none. */
	shareOn(i)
	{
		const { tree } = this, all = app.tree.total[0] || 1, { data, state } = app;
		if (!data.before)
			return (100 * tree.total[i] / all).toFixed(1) + "%";
		const change = changeClass(tree.total[i], tree.beforeTotal[i]);
		return change === CHANGE.noise || !state.normalise ? "" :
			signedShare((tree.total[i] - tree.beforeTotal[i]) / all);
	}

	/* The kind's letter in a stripe of its own, then the name, and the share where there is room. */
	paintLabel(pen, i, box)
	{
		const key = this.tree.keys[this.tree.key[i]];
		const tab = box.w < TAB_FROM ? 0 : TAB;
		if (tab && box.ink === LABEL_INK) {
			pen.fillStyle = "rgba(255, 255, 255, 0.45)";
			pen.fillRect(box.x, box.y, tab, ROW - 1);
		}
		pen.fillStyle = box.ink;
		pen.textAlign = "center";
		if (tab)
			pen.fillText(this.letterOf(i), box.x + tab / 2, box.y + ROW / 2);
		const share = box.w < SHARE_FROM ? "" : this.shareOn(i), shareWide = share ? widthOf(share) + 10 : 0;
		pen.textAlign = "left";
		pen.fillText(labelOf(key, box.w - tab - 6 - shareWide), box.x + tab + 3, box.y + ROW / 2);
		pen.textAlign = "right";
		pen.fillText(share, box.x + box.w - 5, box.y + ROW / 2);
	}

	letterOf(i)
	{
		const { tree } = this;
		return app.data.before ?
			app.data.facts.changes[changeClass(tree.total[i], tree.beforeTotal[i])].letter :
			app.data.kinds[tree.keys[tree.key[i]].kind].letter;
	}

	nodeAt(event)
	{
		const origin = this.host.getBoundingClientRect();
		const y = event.clientY - origin.top + this.host.scrollTop;
		const level = this.levels[Math.floor((this.icicle ? y : this.height - y) / ROW)];
		const at = level ? boxAt(level, event.clientX - origin.left) : -1;
		return at < 0 ? -1 : level.nodes[at];
	}

	boxOf(i)
	{
		const depth = this.tree.depth[i], level = this.levels[depth];
		const at = level ? level.nodes.indexOf(i) : -1;
		return at < 0 ? null : { level, at, x: level.x[at], w: level.w[at], y: this.yOf(depth) };
	}

	/* Where a frame is in the window. */
	placeOf(i)
	{
		const box = this.boxOf(i), origin = this.host.getBoundingClientRect();
		return { clientX: origin.left + box.x + Math.min(box.w / 2, 40),
			clientY: origin.top + box.y - this.host.scrollTop + ROW / 2 };
	}

	pick(i)
	{
		if (i === this.picked)
			return;
		const box = i < 0 ? null : this.boxOf(i);
		this.picked = box ? i : -1;
		this.hover.hidden = !box;
		if (box) {
			this.hover.style.left = box.x + "px";
			this.hover.style.top = box.y + "px";
			this.hover.style.width = Math.max(box.w, 2) + "px";
		}
		this.on.picked(this, this.picked);
	}

	/* Picks a node for longer than the mouse is over it, and scrolls to it. */
	show(i)
	{
		this.selected = i;
		const box = this.boxOf(i);
		this.pick(i);
		if (box && (box.y < this.host.scrollTop || box.y + ROW > this.host.scrollTop + this.shown))
			this.host.scrollTop = box.y - this.shown / 2;
	}

	/* by: "out" to the caller, "in" to the widest callee, "left", "right" */
	move(by)
	{
		const box = this.picked < 0 ? null : this.boxOf(this.picked);
		if (!box) {
			this.show(this.zoomed);
			return;
		}
		const { level, at } = box;
		let to = this.picked;
		if (by === "out")
			to = this.tree.parent[to] < 0 ? to : this.tree.parent[to];
		else if (by === "in")
			to = this.widestBelow(to);
		else
			to = level.nodes[at + (by === "left" ? -1 : 1)] ?? to;
		this.show(to);
	}

	widestBelow(i)
	{
		const above = this.levels[this.tree.depth[i]].above;
		let best = i;
		for (const child of (this.levels[this.tree.depth[i] + 1] || { nodes: [] }).nodes)
			if (this.tree.parent[child] === i && (above || best === i ||
				this.tree.wide[child] > this.tree.wide[best]))
				best = child;
		return best;
	}

	/*
	 * Matching frames of the whole graph, from the base up, also those that are too narrow to be drawn; of a
	 * tree that grows those that are drawn.
	 */
	matches()
	{
		const { tree, levels } = this;
		if (!this.found && tree.grow)
			this.found = levels.flatMap(level => level.nodes.filter(i => this.isMatch(i)));
		else if (!this.found)
			this.found = this.matchesByDepth();
		return this.found;
	}

	matchesByDepth()
	{
		const { tree } = this, byDepth = [];
		for (let i = 1; this.marks && i < tree.count; i++)
			if (tree.wide[i] > 0 && this.isMatch(i))
				(byDepth[tree.depth[i]] = byDepth[tree.depth[i]] || []).push(i);
		return byDepth.flat();
	}

	/* Whether a frame is so wide that it can be seen. */
	isSeen(i)
	{
		const box = this.boxOf(i);
		return Boolean(box) && box.w >= SEEN_FROM;
	}

	/* The outermost of a frame and its callers that makes the frame wide enough to be read, if zoomed to. */
	zoomFor(i)
	{
		const { tree } = this, most = tree.wide[i] * this.width / LABEL_FROM / 2;
		let to = i;
		while (tree.parent[to] > 0 && tree.wide[tree.parent[to]] <= most)
			to = tree.parent[to];
		return to;
	}
}
