// SPDX-License-Identifier: Apache-2.0
/* What keys do. */
const MOVES = {
	ArrowLeft: () => "left", ArrowRight: () => "right",
	ArrowUp: graph => graph.icicle ? "out" : "in", ArrowDown: graph => graph.icicle ? "in" : "out",
};

function onGraphKey(event, graph)
{
	if (MOVES[event.key])
		graph.move(MOVES[event.key](graph));
	else if (event.key === "Enter" && graph.picked >= 0)
		zoomTo(graph, graph.picked);
	else
		return false;
	return true;
}

const KEYS = [["/", "search; Ctrl-F and F3 too"], ["Enter, Shift-Enter", "in the search: next match, previous match"],
	["arrows", "in the graph: from frame to frame"], ["Enter", "zoom to the frame"],
	["0, Escape", "the whole graph again"], ["h", "to the hot spot"], ["right button, menu key", "what else can be done with a frame"], ["c", "copy the frame's name"], ["s", "copy its stack"],
	["Tab", "to the graph, then to all else"], ["?", "these keys"]];

function showKeys()
{
	const made = element("dialog", { class: "keys", "aria-label": "Keys" }, element("dl", {},
		...KEYS.flatMap(([key, what]) => [element("dt", {}, key), element("dd", {}, what)])),
	button("Close", {}, () => made.close()));
	made.addEventListener("close", () => made.remove());
	document.body.append(made);
	made.showModal();
}

/* Those that mean the same wherever they are pressed, but in a field. */
const ANYWHERE = {
	"/": () => page.search.select(), "?": showKeys,
	c: () => copySelected("name"), s: () => copySelected("stack"), 0: () => go({ zoom: "" }), h: showHot,
};

function onEscape(typing)
{
	if (page.open)
		page.open.close(true);
	else if (typing && app.state.search)
		go({ search: "" }, true);
	else
		go({ zoom: "" });
}

function onKey(event)
{
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
	const graph = [app.graph, app.callers, app.callees].find(g => g.host === event.target);
	if (document.querySelector("dialog"))
		return;
	if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f"))
		page.search.select();
	else if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	else if (event.key === "Enter" && event.target === page.search)
		nextMatch(event.shiftKey ? -1 : 1);
	else if (event.key === "Escape")
		onEscape(typing);
	else if (!typing && Object.hasOwn(ANYWHERE, event.key))
		ANYWHERE[event.key]();
	else if (page.open && page.open.host.contains(event.target) && !typing && /^Arrow(Up|Down)$/.test(event.key))
		page.open.step(event.key === "ArrowUp" ? -1 : 1);
	else if (!graph || !onGraphKey(event, graph))
		return;
	event.preventDefault();
}
