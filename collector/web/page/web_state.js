// SPDX-License-Identifier: Apache-2.0
/*
 * What is looked at: the state, its address, and the questions to the server that follow from it. The
 * address has all of it, so that a link shows the same to somebody else.
 *
 *   shownFrom, shownTo  the time of the list and of the heat map; 0: the last day
 *   from, to            the range of the graph; 0: none is chosen
 *   keys, where         processes by their keys; none: all that where fits
 *   before...           the same of the side that is compared with; what it does not say is the other's
 *   inner               the address of the graph's own page
 */
const VIEWS = [["jvms", "JVMs"], ["heat", "Heat map"], ["graph", "Graph"]];
const NEW_STATE = {
	view: "jvms", isUtc: false, isLive: false, shownFrom: 0, shownTo: 0, from: 0, to: 0,
	keys: [], where: "", kind: "", sort: "amount", isUp: false,
	compares: false, dragsBefore: false, beforeFrom: 0, beforeTo: 0, beforeKeys: [], beforeWhere: "",
	inner: "",
};
const newState = () => ({ ...NEW_STATE, keys: [], beforeKeys: [] });

/* Names in the address are short: "beforeFrom" is "before-from". */
const addressName = name => name.replace(/^(is|keys)(?=[A-Z]|$)/, word => word === "keys" ? "process" : "")
	.replace("Keys", "Process").replace(/[A-Z]/g, letter => "-" + letter.toLowerCase()).replace(/^-/, "");

/* Only what differs from a new state is in the address. */
function addressOf(state)
{
	const address = new URLSearchParams();
	for (const name in NEW_STATE) {
		const value = state[name], of = addressName(name);
		if (Array.isArray(value))
			value.forEach(key => address.append(of, key));
		else if (value !== NEW_STATE[name])
			address.set(of, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
	}
	return "#" + address;
}

function isWholeRange(from, to)
{
	return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from > 0 && to > from && to < 8.64e15 &&
		to - from <= LONGEST_MS;
}

/* Whatever an address says, the state is one that can be shown. */
function stateOf(hash)
{
	const state = newState(), address = new URLSearchParams(hash.slice(1));
	for (const name in NEW_STATE) {
		const text = address.get(addressName(name)), fresh = NEW_STATE[name];
		if (text === null)
			continue;
		state[name] = Array.isArray(fresh) ? address.getAll(addressName(name)) :
			typeof fresh === "boolean" ? text === "1" :
			typeof fresh === "number" ? Number(text) : text;
	}
	for (const [from, to] of [["shownFrom", "shownTo"], ["from", "to"], ["beforeFrom", "beforeTo"]])
		if (!isWholeRange(state[from], state[to]))
			state[from] = state[to] = 0;
	if (!VIEWS.some(([name]) => name === state.view))
		state.view = NEW_STATE.view;
	for (const name of ["kind", "sort"])
		if (state[name] in {})     // a name that each object has, such as constructor
			state[name] = NEW_STATE[name];
	if (state.inner[0] !== "#")     // it follows the address of a graph, and adds nothing to that
		state.inner = "";
	return state;
}

/* What of the graph's own address is right in another range, too: not its range, which is in its buckets. */
function innerElsewhere(inner)
{
	const address = new URLSearchParams(inner.slice(1));
	for (const name of ["from", "to"])
		address.delete(name);
	return String(address) ? "#" + address : "";
}

// ---- live ----

const LIVE_MS = MINUTE, LIVE_SHOWN_MS = 10 * MINUTE, LATE_MS = 2 * SECOND;     // until a window is written

/* The last minute of whole windows, moving. */
function liveRange(now, windowMs)
{
	const to = Math.floor((now - LATE_MS) / windowMs) * windowMs;
	return { shownFrom: to - LIVE_SHOWN_MS, shownTo: to, from: to - LIVE_MS, to };
}

// ---- the two sides ----

const afterSide = state => ({ from: state.from, to: state.to, keys: state.keys, where: state.where });

/* What is compared with. */
function beforeSide(state)
{
	const own = state.beforeKeys.length > 0 || state.beforeWhere !== "";
	return {
		from: state.beforeFrom || state.from, to: state.beforeTo || state.to,
		keys: own ? state.beforeKeys : state.keys,
		where: state.beforeKeys.length > 0 ? "" : state.beforeWhere || state.where, own,
	};
}

/* Whether there is anything to compare. */
const isCompared = state => state.compares && state.to > 0 &&
	(state.beforeTo > 0 || state.beforeKeys.length > 0 || state.beforeWhere !== "");

/* Parameters that say which processes are meant; prefix: "before-" of the other side. */
function addWho(query, { keys, where }, prefix = "")
{
	for (const key of keys)
		query.append(prefix + "process", key);
	if (keys.length === 0)
		for (const [name, value] of parseWhere(where).selectors)
			query.append(prefix + name, value);
	return query;
}

function addRange(query, { from, to }, prefix = "")
{
	query.set(prefix + "from", String(from));
	query.set(prefix + "to", String(to));
	return query;
}

function listQuestion(state, shown, buckets)
{
	const query = addRange(new URLSearchParams(), shown);
	query.set("buckets", String(buckets));
	if (state.kind)
		query.set("kind", state.kind);
	return "/api/v1/processes?" + addWho(query, { keys: [], where: state.where });
}

function heatQuestion(side, grid, kind)
{
	const query = addWho(addRange(new URLSearchParams(), grid), side);
	query.set("kind", kind);
	query.set("columns", String(grid.columns));
	query.set("rows", String(grid.rows));
	return "/api/v1/heat?" + query;
}

/* Of the range's samples a file of that format, or of their difference. */
function graphQuestion(state, kind, format)
{
	const query = addWho(addRange(new URLSearchParams(), state), state), before = beforeSide(state);
	query.set("kind", kind);
	query.set("format", format);
	if (!isCompared(state))
		return "/api/v1/graph?" + query;
	addRange(query, before, "before-");
	if (before.own)
		addWho(query, before, "before-");
	return "/api/v1/diff?" + query;
}
