// SPDX-License-Identifier: Apache-2.0
/*
 * The page's data: unpacks what html_data.h describes. The scripts html_*.js are one script, put
 * one behind the other by the build. Names reach the page through textContent, attributes and the
 * canvas alone, so that nothing in them is ever markup or script.
 */
"use strict";

function readerOf(bytes)
{
	let at = 0;
	const read = {
		varint() {
			let value = 0;
			for (let scale = 1; ; scale *= 128) {
				const byte = bytes[at++];
				if (byte === undefined)
					throw new Error("the file was cut short");
				value += (byte & 127) * scale;
				if (byte < 128)
					return value;
			}
		},
		column(into) {
			for (let i = 0; i < into.length; i++)
				into[i] = read.varint();
			return into;
		},
		text(length) {
			at += length;
			return new TextDecoder().decode(bytes.subarray(at - length, at));
		},
		part() {
			const length = read.varint();
			at += length;
			return bytes.subarray(at - length, at);
		},
		lines() {
			const text = new TextDecoder().decode(read.part());
			return text.split("\n").slice(0, -1).map(line => line.split("\t"));
		},
	};
	return read;
}

/* Key -> value, but for those of which there are many: lists of them. */
function decodeFacts(lines)
{
	const facts = { kinds: [], changes: [], truncated: [], frameworks: [], plumbings: [], tasks: [],
		idle_frames: [], idle_loops: [], idle_waits: [] };
	for (const [key, value, name] of lines) {
		const words = value.split(" ");
		if (key === "kind" || key === "change")
			facts[key + "s"].push({ letter: words[0], colours: words.slice(1, 9),
				title: words.slice(9).join(" ") });
		else if (key === "framework" || key === "plumbing" || key === "task")
			facts[key + "s"].push({ name, starts: words });
		else if (/^idle_(frame|loop|wait)$/.test(key))
			facts[key + "s"].push(value);
		else if (key === "truncated")
			facts.truncated.push({ samples: Number(words[0]), reason: words.slice(1).join(" ") });
		else
			facts[key] = value;
	}
	return facts;
}

function decodeKey(line)
{
	const [name, module] = line.slice(2).split("\t");
	return { name, module, kind: line.charCodeAt(0) - 97, shade: line.charCodeAt(1) - 48 };
}

/* Keys of which the tree has a node, numbered anew. */
function dropUnused(tree, all)
{
	const place = new Int32Array(all.length).fill(-1), keys = [];
	for (let i = 0; i < tree.count; i++) {
		const key = tree.key[i];
		if (place[key] < 0)
			place[key] = keys.push(all[key]) - 1;
		tree.key[i] = place[key];
	}
	tree.keys = keys;
}

/*
 * The whole tree. shared: keys of the kinds of samples before, behind which its own are numbered.
 * Of its nodes a child's number is greater than its parent's, and all below a node
 * stand behind it. first and next: a node's first child and next sibling, -1 for none.
 */
function decodeTree(read, shared)
{
	read.varint();
	const textLength = read.varint(), count = read.varint();
	const keys = read.text(textLength).split("\n").slice(0, -1).map(decodeKey);
	const tree = newTree(count, keys);
	read.column(tree.key);
	if (shared.length > 0)
		dropUnused(tree, [...shared, ...keys]);
	const last = new Int32Array(count).fill(-1);     // the child that was met last
	for (let i = 0; i < count; i++) {
		let up = read.varint(), parent = i - 1;
		for (; up > 0; up--)
			parent = tree.parent[parent];
		if (i > 0)
			linkChild(tree, i, Math.max(parent, 0), last);
	}
	read.column(tree.self);
	return tree;
}

function linkChild(tree, i, parent, last)
{
	tree.parent[i] = parent;
	tree.depth[i] = tree.depth[parent] + 1;
	if (last[parent] < 0)
		tree.first[parent] = i;
	else
		tree.next[last[parent]] = i;
	last[parent] = i;
}

function decodeTimes(bytes)
{
	if (bytes.length === 0)
		return null;
	const read = readerOf(bytes), count = read.varint();
	const times = {
		count, bucket: read.column(new Uint32Array(count)),
		thread: read.column(new Uint32Array(count)),
		node: read.column(new Uint32Array(count)),
		weight: read.column(new Float64Array(count)),
	};
	for (let i = 1; i < count; i++)
		times.bucket[i] += times.bucket[i - 1];
	times.buckets = count ? times.bucket[count - 1] + 1 : 0;
	return times;
}

/* "shop/api-1 app (0123456789ab)": a name may be another container's too, its ID is not. */
function containerOf({ id, name, pod, namespace })
{
	const place = pod && namespace ? namespace + "/" + pod : pod;
	const called = [place, name].filter(text => text).join(" ");
	const digits = id.slice(0, 12);
	return called && digits ? called + " (" + digits + ")" : called || digits;
}

function decodeProcesses(lines)
{
	return lines.map(([pid, title, id, runtime, name, pod, namespace, image]) =>
		({ pid, title, runtime, container: containerOf({ id, name, pod, namespace }), image }));
}

function decodeThreads(processes, lines)
{
	return lines.map(([process, tid, name, pool]) => {
		const of = processes[Number(process)];
		return {
			process: (of.title || "[gone]") + (of.pid > 0 ? "-" + of.pid : ""),
			container: of.container || "none",
			pool, thread: (name || "?") + (tid > 0 ? " [" + tid + "]" : ""), label: [],
		};
	});
}

/* Of a kind of samples its keys alone. */
function decodeKeys(bytes)
{
	const read = readerOf(bytes);
	read.part();
	const tree = readerOf(read.part());
	tree.varint();
	const textLength = tree.varint();
	tree.varint();
	return tree.text(textLength).split("\n").slice(0, -1).map(decodeKey);
}

function decodeData(bytes, shared)
{
	const read = readerOf(bytes);
	const facts = decodeFacts(read.lines());
	const base = decodeTree(readerOf(read.part()), shared);
	const beforeBytes = read.part();
	const before = beforeBytes.length === 0 ? null :
		readerOf(beforeBytes).column(new Float64Array(base.count));
	const processes = decodeProcesses(read.lines());
	const threads = decodeThreads(processes, read.lines());
	const times = decodeTimes(read.part());
	read.lines().forEach((labels, at) => { threads[at].label = labels.filter(text => text); });
	return { facts, kinds: facts.kinds, keys: base.keys, base, all: base.self.slice(), before,
		processes, threads, times };
}
