// SPDX-License-Identifier: Apache-2.0
/* What leaves the page: text to the clipboard, the view as a picture, the view on paper. */
const MOST_PICTURE_PX = 16000;    // more than browsers make of a canvas
const MOST_COPIED = 1 << 23;      // letters; what more there is becomes a file
const PART_LETTERS = 1 << 19;

async function copyText(text, what)
{
	try {
		await navigator.clipboard.writeText(text);
	} catch (error) {
		/* Not every browser lets a file's page at the clipboard; the old way it does. */
		const area = element("textarea", {});
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	app.copied = text;
	announce("Copied " + what);
}

const suffixes = { i: "_[0]", 1: "_[1]", J: "_[j]", "+": "_[i]", k: "_[k]", w: "_[w]", o: "_[c]" };

function foldedName(key)
{
	const suffix = suffixes[app.data.kinds[key.kind].letter] || "";
	key.folded = key.folded ||
		key.name.replace(/;/g, ":").replace(/ +(?=[0-9]+(\.[0-9]*)?$)|\s+$/g, "_") + suffix;
	return key.folded;
}

/* Of a node of a graph its frames from the root, the root left out. */
function framesOf(tree, i)
{
	const frames = [];
	for (; i > 0; i = tree.parent[i])
		frames.unshift(tree.keys[tree.key[i]]);
	return frames;
}

/* Lines of folded stacks, of which there may be more than a text can hold: then they are a file. */
class FoldedText {
	constructor()
	{
		this.parts = [];       // texts, and once it is large blobs
		this.lines = [];
		this.length = this.lineLength = 0;
		this.isLarge = false;
	}

	add(line)
	{
		this.lines.push(line);
		this.lineLength += line.length + 1;
		if (this.lineLength > PART_LETTERS)
			this.flush();
	}

	flush()
	{
		const part = this.lines.map(line => line + "\n").join("");
		this.length += part.length;
		if (!this.isLarge && this.length > MOST_COPIED) {
			this.isLarge = true;
			this.parts = [new Blob(this.parts)];
		}
		this.parts.push(this.isLarge ? new Blob([part]) : part);
		this.lines = [];
		this.lineLength = 0;
	}
}

/* Stacks of what is zoomed to and filtered, one a line, by a walk over what is below that. */
function* foldedTextSteps(tree, zoomed)
{
	const text = new FoldedText(), paths = [framesOf(tree, zoomed).map(foldedName).join(";")];
	const base = tree.depth[zoomed];
	let done = 0;
	for (let i = zoomed; i >= 0;) {
		const level = tree.depth[i] - base;
		if (i !== zoomed)
			paths[level] = (paths[level - 1] && paths[level - 1] + ";") + foldedName(tree.keys[tree.key[i]]);
		if (i > 0 && Math.round(tree.self[i]) > 0)
			text.add(paths[level] + " " + Math.round(tree.self[i]));
		i = nextBelow(tree, zoomed, i);
		if (++done % 256 === 0)
			yield progress("Writing stacks", done, tree.count);
	}
	return text;
}

/* The node after i of those below top, each before what is below it; -1 at the end. */
function nextBelow(tree, top, i)
{
	if (tree.wide[i] > 0 && tree.first[i] >= 0)
		return tree.first[i];
	while (i !== top && tree.next[i] < 0)
		i = tree.parent[i];
	return i === top ? -1 : tree.next[i];
}

function copyFolded()
{
	const zoomed = app.state.reversed || app.state.tab !== "graph" ? 0 : app.graph.zoomed;
	app.copying.start("folded", foldedTextSteps(app.tree, zoomed), text => {
		text.flush();
		if (text.isLarge)
			saveFolded(text);
		else
			copyText(text.parts.join("").split("\n").slice(0, -1).sort().join("\n") + "\n",
				"the view's stacks");
	});
}

function saveFolded(text)
{
	save(new Blob(text.parts, { type: "text/plain" }), "stacks.folded");
	announce("Too much to copy: saved as stacks.folded");
}

function save(blob, name)
{
	const link = element("a", { href: URL.createObjectURL(blob), download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const escaped = text => text.replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");

function svgOfLevel(graph, level, y)
{
	return level.nodes.map((i, at) => {
		const x = level.x[at].toFixed(2), w = level.w[at], key = graph.tree.keys[graph.tree.key[i]];
		const label = w >= LABEL_FROM ? labelOf(key, w - 6) : "";
		return `<g><title>${escaped(titleOf(graph, i))}</title><rect x="${x}" y="${y}" ` +
			`width="${Math.max(w - (w > 3 ? 1 : 0), 0.3).toFixed(2)}" height="${ROW - 1}" ` +
			`fill="${graph.fillOf(i)}"/>` + (label ?
			`<text x="${+x + 3}" y="${y + 13}">${escaped(label)}</text>` : "") + "</g>";
	}).join("\n");
}

function svgOf(graph)
{
	const height = graph.levels.length * ROW + 30, { facts } = app.data;
	const rows = graph.levels.map((level, at) => svgOfLevel(graph, level,
		graph.icicle ? at * ROW + 30 : height - (at + 1) * ROW));
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${graph.width}" height="${height}" ` +
		`viewBox="0 0 ${graph.width} ${height}" font-family="Verdana, DejaVu Sans, sans-serif" ` +
		`font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>` +
		`<text x="4" y="18" font-size="15">${escaped(facts.title)}</text>\n${rows.join("\n")}\n</svg>\n`;
}

/* The whole view, as long as it is, not only what the window shows. */
function canvasOf(graph, ratio, theme)
{
	const height = Math.min(graph.levels.length * ROW, Math.floor(MOST_PICTURE_PX / ratio));
	const canvas = element("canvas", { width: Math.round(graph.width * ratio),
		height: Math.round(height * ratio) });
	const pen = canvas.getContext("2d");
	pen.scale(ratio, ratio);
	graph.paintRows(pen, graph.icicle ? 0 : graph.height - height, height, theme);
	return canvas;
}

function saveSvg()
{
	save(new Blob([svgOf(app.graph)], { type: "image/svg+xml" }), "flamegraph.svg");
	announce("Saved flamegraph.svg");
}

function savePng()
{
	const theme = { paper: themeColour("--paper"), ink: themeColour("--ink") };
	canvasOf(app.graph, devicePixelRatio || 1, theme).toBlob(blob => {
		save(blob, "flamegraph.png");
		announce("Saved flamegraph.png");
	});
}

/* On paper the canvas is as long as the graph, for nobody can scroll there, and never dark. */
function printStarts()
{
	const canvas = canvasOf(app.graph, 1, { paper: "#ffffff", ink: "#000000" });
	canvas.className = "printed";
	app.graph.host.before(canvas);
}

function printEnds()
{
	for (const canvas of document.querySelectorAll(".printed"))
		canvas.remove();
}
