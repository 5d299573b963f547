// SPDX-License-Identifier: Apache-2.0
/*
 * The list of processes: a table, of which each column sorts, and rows can be chosen. Rows are made for
 * some hundreds at a time.
 */
const SPARKS = 60, ROWS_AT_ONCE = 200;
const SVG = "http://www.w3.org/2000/svg";

const kindOfRow = (row, name) => row.kinds.find(kind => kind.name === name);
const amountOfRow = (row, name) => (kindOfRow(row, name) || { samples: 0 }).samples;
const placeOf = row => row.pod ? (row.namespace ? row.namespace + "/" : "") + row.pod :
	row.container_name || (row.container || "").slice(0, 12);
const labelsText = row => Object.entries(row.labels || {}).map(([name, value]) => name + "=" + value).sort().join(" ");

/* The share of a kind's samples that are not such: of `unnamed` the named ones; null of none. */
function shareOf(row, kindName, member)
{
	const kind = kindOfRow(row, kindName) || row.kinds[0];
	return kind && kind.samples > 0 ? 1 - (kind[member] || 0) / kind.samples : null;
}

/* What columns sort by, given the kind that amounts are of. */
const SORT_BY = {
	title: row => row.title.toLowerCase(), amount: (row, kind) => amountOfRow(row, kind),
	place: placeOf, labels: labelsText, pid: row => row.pid, first: row => row.first_ms,
	last: row => row.is_live ? Infinity : row.last_ms,
	named: (row, kind) => shareOf(row, kind, "unnamed"), rooted: (row, kind) => shareOf(row, kind, "unrooted"),
};

/* Sorted by a column; of equals those with more first. Empty is last, whichever way. */
function sortedRows(rows, sort, isUp, kind)
{
	const by = SORT_BY[sort] || SORT_BY.amount, sign = isUp ? 1 : -1;
	const isEmpty = value => value === "" || value === null;
	return rows.map(row => [row, by(row, kind)]).sort(([a, x], [b, y]) =>
		isEmpty(x) - isEmpty(y) || (x < y ? -sign : x > y ? sign : 0) ||
		amountOfRow(b, kind) - amountOfRow(a, kind) || a.pid - b.pid).map(([row]) => row);
}

/* Of columns that sort texts and times the first click goes up. */
const sortsUpFirst = name => ["title", "place", "labels", "pid", "first", "named", "rooted"].includes(name);

/* "M0 16L0 9..." : the outline of bars in a box of `wide` columns and `high`. */
function sparkPath(numbers, high)
{
	const most = numbers.reduce((max, n) => Math.max(max, n), 0);
	let path = "M0 " + high;
	numbers.forEach((n, i) => {
		const y = n > 0 ? +(high - Math.max(1, n / most * high)).toFixed(1) : high;
		path += "V" + y + "H" + (i + 1);
	});
	return path + "V" + high + "Z";
}

function sparkline(numbers)
{
	const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
	svg.setAttribute("viewBox", "0 0 " + Math.max(1, numbers.length) + " 16");
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("class", "spark");
	svg.setAttribute("aria-hidden", "true");
	path.setAttribute("d", sparkPath(numbers, 16));
	svg.append(path);
	return svg;
}

class ProcessList {
	/* on: toggled(key, isBefore), toggledAll(rows, isOn), opened(row), sorted(name), filtered(name, value) */
	constructor(on)
	{
		this.on = on;
		this.most = ROWS_AT_ONCE;
		this.heads = element("tr", {});
		this.rows = element("tbody", {});
		this.caption = element("caption", {});
		this.more = element("button", { type: "button", hidden: "" });
		this.more.addEventListener("click", () => {
			this.most += 5 * ROWS_AT_ONCE;
			this.show(this.shown);
		});
		this.table = element("table", { class: "processes" }, this.caption,
			element("thead", {}, this.heads), this.rows);
		this.host = element("div", { class: "table", tabindex: "-1" }, this.table, this.more);
	}

	columns({ kind, compares })
	{
		const word = KIND_WORDS[kind] || kind;
		return [
			...(compares ? [["", "Before"]] : []),
			["title", "Process"], ["", "Over time"], ["amount", word[0].toUpperCase() + word.slice(1)],
			["place", "Pod or container"], ["labels", "Labels"], ["pid", "PID"], ["first", "From"],
			["last", "To"], ["named", "Named"], ["rooted", "Rooted"], ["", "Kinds"],
		];
	}

	/* shown: { rows, state, kind, isUtc, leftOut }; rows in their order. */
	show(shown)
	{
		this.shown = shown;
		const { rows, state, kind, leftOut } = shown;
		const live = rows.filter(row => row.is_live).length;
		this.caption.textContent = withCommas(rows.length) + (rows.length === 1 ? " process" : " processes") +
			", " + withCommas(live) + " live" +
			(leftOut > 0 ? "; " + withCommas(leftOut) +
			" more are left out by the server: name fewer, or a shorter time" : "");
		this.showHeads({ state, kind });
		this.rows.replaceChildren(...rows.slice(0, this.most).map(row => this.rowOf(row)));
		this.more.hidden = rows.length <= this.most;
		this.more.textContent = "Show more: " + withCommas(rows.length - this.most) + " rows are not shown yet";
		this.table.hidden = rows.length === 0;
	}

	showHeads({ state, kind })
	{
		const all = element("input", { type: "checkbox", "aria-label": "Choose all that are listed" });
		const chosen = this.shown.rows.filter(row => state.keys.includes(row.key)).length;
		all.checked = chosen > 0 && chosen === this.shown.rows.length;
		all.indeterminate = chosen > 0 && !all.checked;
		all.addEventListener("change", () => this.on.toggledAll(this.shown.rows, all.checked));
		this.heads.replaceChildren(element("th", { class: "tick" }, all),
			...this.columns({ kind, compares: state.compares }).map(([name, label]) => {
				if (!name)
					return element("th", {}, label);
				const head = element("button", { type: "button", "data-sort": name }, label);
				head.addEventListener("click", () => this.on.sorted(name));
				const order = state.isUp ? "ascending" : "descending";
				return element("th", state.sort === name ? { "aria-sort": order } : {}, head);
			}));
	}

	tick(row, keys, isBefore)
	{
		const box = element("input", { type: "checkbox", "data-key": row.key,
			"aria-label": (isBefore ? "Compare with " : "Choose ") + row.title + ", PID " + row.pid });
		box.checked = keys.includes(row.key);
		box.addEventListener("change", () => this.on.toggled(row.key, isBefore));
		return element("td", { class: "tick" }, box);
	}

	link(text, title, run)
	{
		const made = element("button", { type: "button", class: "link", title }, text);
		made.addEventListener("click", run);
		return made;
	}

	share(row, member)
	{
		const share = shareOf(row, this.shown.kind, member);
		return element("td", { class: "number" + (share !== null && share < 0.95 ? " bad" : "") },
			share === null ? "" : (100 * share).toFixed(1) + "%");
	}

	placeCell(row)
	{
		const place = placeOf(row);
		if (!place)
			return element("td", {});
		const [name, value] = row.pod ? ["pod", deploymentOf(row.namespace, row.pod)] : ["container", place];
		return element("td", {}, this.link(place, "Only " + name + "=" + value,
			() => this.on.filtered(name, value)));
	}

	labelsCell(row)
	{
		return element("td", { class: "labels" }, ...Object.entries(row.labels || {}).sort()
			.map(([name, value]) => this.link(name + "=" + value, "Only such",
				() => this.on.filtered(name, value))));
	}

	rowOf(row)
	{
		const { state, kind, isUtc, shown } = this.shown, kindHere = kindOfRow(row, kind);
		const clock = at => element("td", { class: "time", title: instantText(at, isUtc) },
			dayText(at, isUtc) === dayText(shown.to, isUtc) ? clockText(at, isUtc, 3).slice(0, 8) :
			dayText(at, isUtc).slice(5) + " " + clockText(at, isUtc).slice(0, 5));
		const isChosen = state.keys.includes(row.key);
		return element("tr", isChosen ? { class: "chosen" } : {}, this.tick(row, state.keys, false),
			...(state.compares ? [this.tick(row, state.beforeKeys, true)] : []),
			element("td", { class: "title" }, this.link(row.title || row.comm, row.runtime || row.comm,
				() => this.on.opened(row))),
			element("td", { class: "over" }, sparkline(row.spark || [])),
			element("td", { class: "number" }, kindHere ? amountText(kindHere.unit, kindHere.samples)
				.replace(/ samples$/, "") : "none"),
			this.placeCell(row), this.labelsCell(row), element("td", { class: "number" }, String(row.pid)),
			clock(row.first_ms), row.is_live ? element("td", { class: "time" },
				element("b", { class: "live" }, "live")) : clock(row.last_ms),
			this.share(row, "unnamed"), this.share(row, "unrooted"),
			element("td", { class: "kinds" }, row.kinds.map(of => of.name).join(" ")));
	}
}
