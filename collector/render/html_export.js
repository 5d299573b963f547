// SPDX-License-Identifier: Apache-2.0
/* What leaves the page: text to the clipboard, the view as a picture, the view on paper. */
const MOST_PICTURE_PX = 16000;    // more than browsers make of a canvas

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

const suffixes = { i: "_[0]", 1: "_[1]", J: "_[j]", "+": "_[i]", k: "_[k]" };

function foldedName(key)
{
	const suffix = suffixes[app.data.kinds[key.kind].letter] || "";
	return key.name.replace(/;/g, ":").replace(/ +(?=[0-9]+(\.[0-9]*)?$)|\s+$/g, "_") + suffix;
}

/* Of a node of a graph its frames from the root, the root left out. */
function framesOf(tree, i)
{
	const frames = [];
	for (; i > 0; i = tree.parent[i])
		frames.unshift(tree.keys[tree.key[i]]);
	return frames;
}

/* Stacks of what is zoomed to and filtered, one a line. */
function foldedView()
{
	const tree = app.tree, zoomed = app.state.reversed ? 0 : app.graph.zoomed, lines = [];
	const marked = new Uint8Array(tree.count);
	for (let i = zoomed; i < tree.count; i++) {
		marked[i] = i === zoomed || marked[tree.parent[i]] ? 1 : 0;
		if (marked[i] && i > 0 && tree.self[i] > 0)
			lines.push(framesOf(tree, i).map(foldedName).join(";") + " " + Math.round(tree.self[i]));
	}
	return lines.sort().join("\n") + "\n";
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
function canvasOf(graph, ratio)
{
	const height = Math.min(graph.levels.length * ROW, Math.floor(MOST_PICTURE_PX / ratio));
	const canvas = element("canvas", { width: Math.round(graph.width * ratio),
		height: Math.round(height * ratio) });
	const pen = canvas.getContext("2d");
	pen.scale(ratio, ratio);
	pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
	pen.fillRect(0, 0, graph.width, height);
	graph.paintRows(pen, graph.icicle ? 0 : graph.height - height, height);
	return canvas;
}

function saveSvg()
{
	save(new Blob([svgOf(app.graph)], { type: "image/svg+xml" }), "flamegraph.svg");
	announce("Saved flamegraph.svg");
}

function savePng()
{
	canvasOf(app.graph, devicePixelRatio || 1).toBlob(blob => {
		save(blob, "flamegraph.png");
		announce("Saved flamegraph.png");
	});
}

/* On paper the canvas is as long as the graph, for nobody can scroll there. */
function printStarts()
{
	const canvas = canvasOf(app.graph, 1);
	canvas.className = "printed";
	app.graph.host.before(canvas);
}

function printEnds()
{
	for (const canvas of document.querySelectorAll(".printed"))
		canvas.remove();
}
