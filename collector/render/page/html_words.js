// SPDX-License-Identifier: Apache-2.0
/* What is said of a frame, below the graph and beside the mouse. */
/* The processor time of so many samples, of the time that is looked at; "" in a comparison, and if it is not known. */
function timeOfSamples(samples)
{
	const { facts, before } = app.data, { from, to } = app.state;
	return before ? "" : coresText(samples * Number(facts.cpu_period_ns || 0),
		isRange() ? (to - from) * Number(facts.bucket_ns) : Number(facts.duration_ns || 0));
}

/* A difference of shares with its sign, "+1.20%", or 0 for one that is none. */
const signedShare = part => (100 * part).toFixed(2) === "0.00" || (100 * part).toFixed(2) === "-0.00" ? "0" :
	(part > 0 ? "+" : "\u2212") + Math.abs(100 * part).toFixed(2) + "%";

/* Where both sides are as they are, a change is one of counts. */
function changeOf(part)
{
	const all = app.tree.total[0];
	return app.state.normalise ? signedShare(all ? part / all : 0) : signed(part);
}

/* Counts before as they were recorded, and shares of each side's whole. */
function changeText(tree, i)
{
	const { scale } = app.tree;
	const change = (after, before) => changeOf(after - before);
	return "; before " + shortAmount(tree.beforeTotal[i] / scale) + ", " +
		percent(tree.beforeTotal[i], app.tree.beforeTotal[0]) + "; change " +
		change(tree.total[i], tree.beforeTotal[i]) + ", self " + change(tree.self[i], tree.before[i]);
}

function titleOf(graph, i)
{
	const { tree } = graph, cores = timeOfSamples(tree.total[i]);
	return tree.keys[tree.key[i]].name + " (" + amount(tree.total[i]) + ", " +
		percent(tree.total[i], app.tree.total[0]) + (cores && ", " + cores) +
		(app.data.before ? changeText(tree, i) : "") + ")";
}

/* Of a method that ran in several ways, where the tree says so, its shares. */
function levelsText(tree, i)
{
	const counts = !tree.levels ? [] : LEVELS.map((of, level) => tree.levels[LEVELS.length * i + level]);
	const all = counts.reduce((sum, n) => sum + n, 0);
	return counts.some(n => n > 0 && n < all) ? " \u2013 " + LEVELS.map(([, name], level) =>
		counts[level] > 0 ? name + " " + (100 * counts[level] / all).toFixed(0) + "%" : "")
		.filter(text => text).join(", ") : "";
}

function describe(graph, i)
{
	const { tree, zoomed } = graph, key = tree.keys[tree.key[i]];
	const kind = app.data.kinds[key.kind];
	const ofView = zoomed && tree.depth[i] > tree.depth[zoomed] ?
		", " + percent(tree.total[i], tree.total[zoomed]) + " of the view" : "";
	return titleOf(graph, i) + ofView + ", self " + shortAmount(tree.self[i]) + " " +
		percent(tree.self[i], app.tree.total[0]) + " \u2013 " + kind.letter + " " + kind.title + levelsText(tree, i) +
		(key.module ? " \u2013 " + key.module : "");
}

/* What a top is: why a thread waits is told with the function that waits. */
function topName({ tree }, i)
{
	const nameOf = at => tree.keys[tree.key[at]].name, isWait = at => app.data.kinds[tree.keys[tree.key[at]].kind].letter === "w";
	let at = i;
	while (at > 0 && isWait(at))
		at = tree.parent[at];
	return at > 0 && at !== i ? nameOf(at) + " " + nameOf(i) : nameOf(i);
}

const LEAST_TOP = 0.02;     // of all, that is worth a word beside the hot spot

/* What stacks end in most often at one place; of the hot spot itself only what it waits for. */
function topText(graph, spot)
{
	const { tree, widest } = graph, name = widest < 0 ? "" : topName(graph, widest);
	if (widest < 0 || (spot && (spot.name === name || tree.selfWide[widest] < LEAST_TOP * tree.wide[0])))
		return "";
	const text = spot && name.startsWith(spot.name + " [") ? "most in " + name.slice(spot.name.length + 1) + ", " :
		(spot ? "widest top: " : "Widest top: ") + name + ", self ";
	return text + percent(tree.selfWide[widest], tree.wide[0]);
}

/* "Most changed: a/Shop.search, self +12.00%" */
function changedText(spot)
{
	return spot ? "Most changed: " + spot.name + ", self " + changeOf(spot.change) : "No function has changed beyond noise";
}

/* Where nothing is picked, where most of the time goes or what has changed most, and of the whole graph. */
function restText(graph)
{
	const { tree, zoomed } = graph, spot = zoomed === 0 ? hotSpot(tree) : null;
	const whole = zoomed === 0 && graph === app.graph ? titleOf(graph, 0) : describe(graph, zoomed);
	if (app.data.before)
		return (zoomed === 0 && tree.selfWide ? changedText(spot) + " \u2013 " : "") + whole;
	return [spot ? hotText(spot, tree.wide[0]) : "", topText(graph, spot), whole].filter(text => text).join(" \u2013 ");
}

function showDetails(graph, i)
{
	page.details.textContent = i < 0 ? restText(graph) : describe(graph, i);
}

/* What the mouse is over is told beside it. */
function showTip(graph, i, event)
{
	if (i < 0) {
		page.tip.hidden = true;
		return;
	}
	const text = describe(graph, i), { name } = graph.tree.keys[graph.tree.key[i]];
	tipAt(event, name, text.slice(name.length).trim());
}

/* Near the pointer, and within the window. */
function tipAt({ clientX, clientY }, name, text)
{
	const { tip } = page;
	tip.replaceChildren(element("b", {}, name), element("span", {}, text));
	tip.hidden = false;
	const { width, height } = tip.getBoundingClientRect();
	const below = clientY + 18 + height <= innerHeight;
	tip.style.left = Math.max(4, Math.min(clientX + 12, innerWidth - width - 4)) + "px";
	tip.style.top = Math.max(4, below ? clientY + 18 : clientY - height - 10) + "px";
}
