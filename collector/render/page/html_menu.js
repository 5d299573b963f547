// SPDX-License-Identifier: Apache-2.0
/*
 * Menus: a button, and what it opens below itself; the menu of a frame, which the right button of the mouse
 * opens. One is open at a time; Escape, a click elsewhere and another menu close it. page.open is the one
 * that is open.
 */
class Menu {
	constructor(label, attributes, how, ...content)
	{
		this.button = button(label, { "aria-expanded": "false", "aria-haspopup": "true", ...attributes },
			() => this.isOpen() ? this.close() : this.open());
		this.panel = element("div", { class: "panel " + how, hidden: "" }, ...content);
		this.host = element("div", { class: "menu" }, this.button, this.panel);
		this.outside = event => {
			if (!this.host.contains(event.target))
				this.close();
		};
	}

	isOpen()
	{
		return !this.panel.hidden;
	}

	open()
	{
		if (page.open)
			page.open.close();
		page.open = this;
		this.panel.hidden = false;
		this.button.setAttribute("aria-expanded", "true");
		addEventListener("pointerdown", this.outside);
	}

	/* isKept: the button has the focus, as after Escape. */
	close(isKept)
	{
		page.open = null;
		this.panel.hidden = true;
		this.button.setAttribute("aria-expanded", "false");
		removeEventListener("pointerdown", this.outside);
		if (this.closed)
			this.closed();
		else if (isKept)
			this.button.focus();
	}

	/* The next button of the menu, or the one before. */
	step(by)
	{
		const all = [...this.panel.querySelectorAll("button, select, input")];
		const at = all.indexOf(document.activeElement);
		all[(at + by + all.length) % all.length].focus();
	}
}

// ---- the menu of a frame ----

/*
 * What can be done with a frame, at a place in the window. zoom: zooms to it, if it can. A box that is
 * several frames, such as a run, is in no stack by its own name.
 */
function askAboutFrame(name, place, zoom)
{
	const { state, data } = app, line = "=" + name, isKnown = data.keys.some(key => key.name === name);
	const menu = new Menu("", { hidden: "" }, "column frame-menu",
		...(zoom ? [frameButton("Zoom", zoom)] : []),
		...(isKnown ? [
			frameButton("Only stacks through this", () => go({ through: withLine(state.through, line), zoom: "" })),
			frameButton("Without stacks through this", () => go({ without: withLine(state.without, line), zoom: "" })),
			frameButton("Callers and callees", () => go({ tab: "sandwich", focus: name })),
		] : []),
		frameButton("Copy name", () => copyText(name, "the name")));
	const { activeElement } = document;
	menu.closed = () => {
		menu.host.remove();
		activeElement.focus();
	};
	document.body.append(menu.host);
	menu.open();
	const { width, height } = menu.panel.getBoundingClientRect();
	menu.panel.style.left = Math.max(4, Math.min(place.clientX, innerWidth - width - 4)) + "px";
	menu.panel.style.top = Math.max(4, Math.min(place.clientY, innerHeight - height - 4)) + "px";
	page.tip.hidden = true;
	menu.panel.querySelector("button").focus();
}

const frameButton = (label, run) => button(label, {}, () => {
	page.open.close();
	run();
});

// ---- what is left out, as pills that bring it back ----

/* What the state leaves out: words, and the change that undoes it. */
function narrowings()
{
	const { state } = app, found = [], add = (text, change) => found.push({ text, change });
	if (app.strip && isRange())
		add(app.strip.rangeText(state.from, state.to), { from: 0, to: 0 });
	for (const name of DIMENSIONS)
		if (state[name])
			add(name + " " + state[name], { [name]: "" });
	if (state.onlyKind && app.data.kinds[state.kind])
		add("only " + app.data.kinds[state.kind].title, { kind: -1, onlyKind: false });
	if (state.onlyMatching && state.search)
		add("only with " + state.search, { onlyMatching: false });
	for (const [name, word] of [["through", "through "], ["without", "without "]])
		for (const line of linesOf(state[name]))
			add(word + line.slice(1), { [name]: withoutLine(state[name], line) });
	return found;
}

function showPills()
{
	const pills = narrowings();
	page.pills.replaceChildren(...pills.map(({ text, change }) =>
		button(text + " \u00d7", { class: "pill", title: "Press: no longer" }, () => go({ ...change, zoom: "" }))));
	page.bar.hidden = pills.length === 0 && page.folded.hidden;
}
