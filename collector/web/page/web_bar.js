// SPDX-License-Identifier: Apache-2.0
/*
 * The controls above the views: what is shown of the time, of which kind, which range, and what the range
 * is compared with. A control calls what it is given and changes nothing itself.
 */
const PRESETS = [["Last 10 min", 10 * MINUTE], ["Last hour", HOUR], ["Last 6 h", 6 * HOUR], ["Last day", DAY],
	["Last 2 days", 2 * DAY], ["Last 7 days", 7 * DAY], ["All there is", 0]];
const EARLIER = [["1 h before", HOUR], ["1 day before", DAY], ["7 days before", 7 * DAY]];

function button(label, attributes, run)
{
	const made = element("button", { type: "button", ...attributes }, label);
	made.addEventListener("click", run);
	return made;
}

/* A button of one sign, which needs words. */
const sign = (label, id, title, run) => button(label, { id, title, "aria-label": title.split(/[:,]/)[0] }, run);

/* A field that is read when it is left, or with Enter. */
function textField(attributes, run)
{
	const made = element("input", { type: "text", spellcheck: "false", autocomplete: "off", ...attributes });
	made.addEventListener("change", () => run(made.value));
	return made;
}

function choice(attributes, options, run)
{
	const made = element("select", attributes,
		...options.map(([label, value]) => element("option", { value }, label)));
	made.addEventListener("change", () => run(made.value));
	return made;
}

/* Two fields for the begin and the end of a range. */
class RangeFields {
	/* on: chosen(range), cleared(), said(text), how(): { now, isUtc }; either field may be empty at first */
	constructor(name, on)
	{
		this.on = on;
		this.shown = { from: 0, to: 0 };
		this.from = textField({ class: "instant", "aria-label": name + " from", placeholder: "drag, or write",
			title: "03:10, -1h, 2026-11-26 03:10 or 2026-11-26T03:10:00Z" }, () => this.read(true));
		this.to = textField({ class: "instant", "aria-label": name + " to", title: "As from; also now" },
			() => this.read());
		this.parts = [this.from, element("span", {}, "to"), this.to];
	}

	/* hasMoved: the begin was written; an end before that goes with it. */
	read(hasMoved)
	{
		const how = this.on.how(), isAlone = !this.from.value.trim() || !this.to.value.trim();
		if (!this.from.value.trim() && !this.to.value.trim()) {
			this.on.cleared();
			return;
		}
		const from = parseInstant(this.from.value, how);
		const after = from === null ? undefined : from;
		let to = this.to.value.trim() ? parseInstant(this.to.value, { ...how, after }) : null;
		if (hasMoved && from !== null && to !== null && to <= from && this.shown.to > this.shown.from)
			to = Math.min(from + this.shown.to - this.shown.from, Math.max(how.now, from + SECOND));
		this.from.setAttribute("aria-invalid", from === null);
		this.to.setAttribute("aria-invalid", to === null && !isAlone);
		if (isAlone && from !== null)
			return;
		if (from === null || to === null)
			this.on.said((from === null ? this.from.value || "The begin" : this.to.value) +
				" is not a time: 03:10, -1h, 2026-11-26 03:10 and 2026-11-26T03:10:00Z are");
		else if (to - from > LONGEST_MS)
			this.on.said("More than " + lengthText(LONGEST_MS) + " cannot be shown at once");
		else if (to <= from)
			this.on.said("The end, " + instantText(to, how.isUtc) + ", is not after the begin, " +
				instantText(from, how.isUtc));
		else
			this.on.chosen({ from, to });
	}

	show(from, to)
	{
		const { isUtc } = this.on.how();
		this.shown = { from, to };
		for (const [field, at] of [[this.from, from], [this.to, to]]) {
			field.value = at > 0 ? instantText(at, isUtc) : "";
			field.removeAttribute("aria-invalid");
		}
	}
}

class Bar {
	/* on: go(change, inPlace), said(text), how(), preset(ms), widen(factor), move(part), enter(), back(),
	   live(), again(), kind(name), earlier(ms), copied(), saved(url), theme() */
	constructor(on)
	{
		this.on = on;
		this.tabs = VIEWS.map(([name, label]) =>
			button(label, { role: "tab", "data-view": name }, () => on.go({ view: name })));
		this.kind = choice({ id: "kind", "aria-label": "Kind of samples" }, [], name => on.kind(name));
		this.live = button("Live", { id: "live", title: "The last minute, moving" }, () => on.live());
		this.compare = button("Compare", { id: "compare", title: "With another time, pod or version" },
			() => on.go({ compares: !on.state().compares, dragsBefore: !on.state().compares }));
		this.utc = button("", { id: "utc",
			title: "Times are read and written so: in the browser's zone, or in UTC" },
		() => on.go({ isUtc: !on.state().isUtc }, true));
		this.theme = button("Theme: auto", { id: "theme" }, () => on.theme());
		this.name = element("h1", {}, "fgcollect");
		this.shown = new RangeFields("Shown", { ...on,
			chosen: ({ from, to }) => on.go({ shownFrom: from, shownTo: to, isLive: false }),
			cleared: () => on.go({ shownFrom: 0, shownTo: 0, isLive: false }) });
		this.range = new RangeFields("Range", { ...on, chosen: range => on.chosen(range, false),
			cleared: () => on.go({ from: 0, to: 0, inner: "" }) });
		this.before = new RangeFields("Before", { ...on, chosen: range => on.chosen(range, true),
			cleared: () => on.go({ beforeFrom: 0, beforeTo: 0 }) });
		this.presets = choice({ id: "presets", "aria-label": "Shown time" }, [["Show\u2026", ""],
			...PRESETS.map(([label, ms]) => [label, String(ms)])], value => {
			this.presets.value = "";
			on.preset(Number(value));
		});
		this.host = element("header", { class: "bar" }, this.first(), this.second(), this.third());
	}

	first()
	{
		return element("div", { class: "line" }, this.name,
			element("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, ...this.tabs),
			element("label", {}, this.kind), this.live, this.compare,
			element("span", { class: "space" }), this.who = element("span", { class: "who" }),
			button("All", { id: "forget", title: "No process is chosen: all that the filter lets pass" },
				() => this.on.go({ keys: [], inner: "" })),
			button("Copy link", { id: "copy-link" }, () => this.on.copied()), this.utc, this.theme);
	}

	second()
	{
		const { on } = this;
		return element("div", { class: "line" },
			element("span", { class: "word" }, "Shown"), ...this.shown.parts, this.presets,
			sign("\u25c0", "earlier", "Earlier: key [", () => on.move(-0.5)),
			sign("\u25b6", "later", "Later: key ]", () => on.move(0.5)),
			sign("+", "zoom-in", "Zoom in, into the range: key +", () => on.enter()),
			sign("\u2212", "zoom-out", "Zoom out, four times as much: key -", () => on.widen(4)),
			sign("\u21bb", "again", "Ask again: key r", () => on.again()),
			element("span", { class: "word ranged" }, "Range"), ...this.range.parts, this.download());
	}

	download()
	{
		this.files = element("div", { class: "files" });
		this.menu = element("details", { class: "download", id: "download" },
			element("summary", {}, "Download"), this.files);
		addEventListener("click", event => {
			if (!this.menu.contains(event.target))
				this.menu.open = false;
		});
		return this.menu;
	}

	third()
	{
		const { on } = this;
		this.drags = button("Drag chooses before", { id: "drags-before",
			title: "Key b; with Alt a drag chooses the other" },
		() => on.go({ dragsBefore: !on.state().dragsBefore }, true));
		this.beforeWhere = textField({ id: "before-where", "aria-label": "Processes that are compared with",
			placeholder: "the same processes", title: "pod=shop/api- or version=1.1; empty: the same " +
			"as after, or the ones ticked in the column Before of the list" },
		value => on.go({ beforeWhere: value.trim(), beforeKeys: [] }));
		this.versions = choice({ id: "versions", "aria-label": "A label to compare with" }, [], value => {
			const at = value.indexOf("="), { where } = on.state();
			on.go({ beforeWhere: withWhere(where, value.slice(0, at), value.slice(at + 1)), beforeKeys: [] });
		});
		this.compared = element("div", { class: "line compare" },
			element("span", { class: "word" }, "Before"), ...this.before.parts,
			...EARLIER.map(([label, ms]) =>
				button(label, { "data-earlier": String(ms) }, () => on.earlier(ms))),
			element("span", {}, "of"), this.beforeWhere, this.versions, this.drags);
		return this.compared;
	}

	showKinds(kinds, kind)
	{
		const key = kinds.join(" ");
		if (this.kindsKey !== key)
			this.kind.replaceChildren(...kinds.map(name =>
				element("option", { value: name }, KIND_WORDS[name] || name)));
		this.kindsKey = key;
		this.kind.value = kind;
	}

	showVersions(labels)
	{
		const values = labels.flatMap(([name, of]) => of.map(value => name + "=" + value)).slice(0, 200);
		const key = values.join("\n");
		if (this.versionsKey !== key)
			this.versions.replaceChildren(element("option", { value: "" }, "label\u2026"),
				...values.map(value => element("option", { value }, value)));
		this.versionsKey = key;
		this.versions.value = "";
		this.versions.hidden = values.length === 0;
	}

	/* Links to the files of what is shown: urlOf(format); null: there is nothing. */
	showFiles(urlOf, compares)
	{
		const formats = GRAPH_FORMATS.filter(([format]) =>
			urlOf && (!compares || COMPARED_FORMATS.includes(format)));
		this.menu.hidden = !urlOf;
		this.files.replaceChildren(...formats.map(([format, label]) =>
			this.fileLink(format, label, urlOf(format))));
	}

	fileLink(format, label, url)
	{
		const link = element("a", { href: url, download: "", "data-format": format },
			label + " (." + format + ")");
		link.addEventListener("click", event => {
			event.preventDefault();
			this.menu.open = false;
			this.on.saved(url);
		});
		return link;
	}

	show({ state, shown, host, who })
	{
		this.name.textContent = host ? "fgcollect on " + host : "fgcollect";
		for (const tab of this.tabs)
			tab.setAttribute("aria-selected", tab.dataset.view === state.view);
		for (const [made, isOn] of [[this.live, state.isLive], [this.compare, state.compares],
			[this.utc, state.isUtc], [this.drags, state.dragsBefore]])
			made.setAttribute("aria-pressed", isOn);
		this.live.textContent = state.isLive ? "Pause" : "Live";
		this.who.textContent = who;
		this.utc.textContent = "Zone: " +
			(state.isUtc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone);
		this.shown.show(shown.from, shown.to);
		this.range.show(state.from, state.to);
		this.before.show(state.beforeFrom, state.beforeTo);
		this.compared.hidden = !state.compares;
		this.beforeWhere.value = state.beforeKeys.length > 0 ?
			state.beforeKeys.length + " ticked in the list" : state.beforeWhere;
		document.getElementById("forget").hidden = state.keys.length === 0;
	}
}
