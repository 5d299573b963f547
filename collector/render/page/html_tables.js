// SPDX-License-Identifier: Apache-2.0
/* Tables of functions: what is hot (self, total), and in a comparison what has changed most. */
const ROWS_AT_ONCE = 200;

/*
 * columns: [title, text or number of a row, whether it sorts as a number, its text or texts, which stand
 * in columns, the share that a bar shows]. Rows hold a key number.
 */
class FunctionTable {
	/* on: chosen(key), asked(key, place), sorted(column, up) if wanted */
	constructor(caption, columns, on)
	{
		this.columns = columns;
		this.on = on;
		this.sort = 0;
		this.up = false;
		this.shown = ROWS_AT_ONCE;
		this.rows = [];
		this.body = element("tbody", {});
		this.heads = columns.map(([title], at) => {
			const button = element("button", { type: "button" }, title);
			button.addEventListener("click", () => this.sortBy(at));
			return element("th", { scope: "col" }, button);
		});
		this.more = element("button", { type: "button", class: "more" }, "Show more");
		this.more.addEventListener("click", () => {
			this.shown += 5 * ROWS_AT_ONCE;
			this.fill();
		});
		this.host = element("div", { class: "table" }, element("table", {},
			element("caption", {}, caption), element("thead", {}, element("tr", {}, ...this.heads)),
			this.body), this.more);
	}

	sortBy(at)
	{
		this.up = this.sort === at ? !this.up : !this.columns[at][2];
		this.sort = at;
		this.fill();
		if (this.on.sorted)
			this.on.sorted(at, this.up);
	}

	setRows(rows)
	{
		this.rows = rows;
		this.shown = ROWS_AT_ONCE;
		this.fill();
	}

	fill()
	{
		const [, value, isNumber] = this.columns[this.sort], sign = this.up ? 1 : -1;
		const order = this.rows.map(row => [value(row), row]);
		order.sort(isNumber ? (a, b) => sign * (a[0] - b[0]) :
			(a, b) => sign * (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
		this.body.replaceChildren(...order.slice(0, this.shown).map(([, row]) => this.rowOf(row)));
		this.more.hidden = order.length <= this.shown;
		this.heads.forEach((head, at) => head.setAttribute("aria-sort",
			at !== this.sort ? "none" : this.up ? "ascending" : "descending"));
	}

	/* share: from 0 to 1, as a bar behind the text */
	numberCell(texts, share)
	{
		const cell = element("td", { class: "number" },
			...[texts].flat().flatMap((text, at) => at === 0 ? [text] : [" ", element("span", {}, text)]));
		if (share > 0) {
			cell.classList.add("barred");
			cell.style.backgroundSize = (100 * Math.min(share, 1)).toFixed(1) + "% 100%";
		}
		return cell;
	}

	rowOf(row)
	{
		const made = element("tr", {}, ...this.columns.map(([, value, isNumber, show, bar]) => {
			const text = (show || String)(value(row), row);     // of a number there may be several
			if (isNumber)
				return this.numberCell(text, bar ? bar(value(row)) : 0);
			const { kind, module } = row.name;
			const { letter, colours, title } = app.data.kinds[kind];
			const chip = element("i", { class: "chip", title }, letter);
			chip.style.background = colours[4];
			const link = element("button", { type: "button", class: "link" }, text);
			link.addEventListener("click", () => this.on.chosen(row.key));
			return element("td", { title: module || "" }, chip, link);
		}));
		made.addEventListener("contextmenu", event => {
			event.preventDefault();
			this.on.asked(row.key, event.button === 2 ? event : placeBelow(made));
		});
		return made;
	}
}

function functionRows({ tree, sums })
{
	const rows = [], pattern = patternOf(app.state);
	for (let key = 0; key < tree.keys.length; key++) {
		if (sums.total[key] === 0 && sums.beforeTotal[key] === 0)
			continue;
		if (app.data.kinds[tree.keys[key].kind].letter === "w" && sums.self[key] === 0 &&
		    sums.before[key] === 0)
			continue;     // why a thread waits, whose time is its function's
		if (pattern && !pattern.test(tree.keys[key].name))
			continue;
		rows.push({ key, name: tree.keys[sums.shown[key]], self: sums.self[key], total: sums.total[key],
			before: sums.before[key], beforeTotal: sums.beforeTotal[key] });
	}
	return rows;
}

/* For what is opened by a key and not by the mouse. */
function placeBelow(made)
{
	const { left, bottom } = made.getBoundingClientRect();
	return { clientX: left + 40, clientY: bottom };
}

const shareOf = n => percent(n, app.tree.total[0]);

function topColumns()
{
	const isClock = app.data.facts.cpu_period_ns && !app.data.before;
	const text = n => [shortAmount(n), ...(isClock ? [timeOfSamples(n).split(",")[0]] : []), shareOf(n)];
	const bar = n => n / (app.tree.total[0] || 1);
	return [
		["Self", row => row.self, true, text, bar],
		["Total", row => row.total, true, text, bar],
		["Function", row => row.name.name, false],
	];
}

const signed = n => (Math.round(n) > 0 ? "+" : Math.round(n) < 0 ? "\u2212" : "") + shortAmount(Math.abs(n));

/* As changes are told of frames: before as it was recorded, and changes of shares with their signs. */
function changeColumns()
{
	const all = () => app.tree.total[0] || 1;
	const change = (n, row) => app.state.normalise ? signedShare(n(row) / all()) : signed(n(row));
	const total = row => row.total - row.beforeTotal, self = row => row.self - row.before;
	return [
		["Total change", row => Math.abs(total(row)), true, (n, row) => change(total, row), n => n / all()],
		["Self change", self, true, (n, row) => change(self, row)],
		["Before", row => row.beforeTotal, true, n => [shortAmount(n / app.tree.scale),
			percent(n, app.tree.beforeTotal[0])]],
		["After", row => row.total, true, n => [shortAmount(n), percent(n, app.tree.total[0])]],
		["Chance", row => Math.abs(sigmas(row.total, row.beforeTotal)), true,
			n => n < NOISE ? "noise" : n.toFixed(1) + " \u03c3"],
		["Function", row => row.name.name, false, (text, row) => row.beforeTotal === 0 ?
			"new: " + text : row.total === 0 ? "gone: " + text : text],
	];
}
