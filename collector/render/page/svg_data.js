// SPDX-License-Identifier: Apache-2.0
/* Settings and tree, as svg_data.h has encoded them. */

function readSettings(from)
{
	const number = name => Number(from.dataset[name]) || 0;
	return {
		min: Math.max(number("min"), 0.3), row: number("row"), fontSize: number("fontSize"),
		factor: number("factor"), cpuPeriod: number("cpuPeriod"), duration: number("duration"), width: number("width"), total: number("total"),
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
