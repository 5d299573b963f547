// SPDX-License-Identifier: Apache-2.0
/*
 * Menus: a button, and what it opens below itself. One is open at a time; Escape, a click elsewhere and
 * another menu close it. page.open is the one that is open.
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
		if (isKept)
			this.button.focus();
	}
}

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
	return found;
}

function showPills()
{
	const pills = narrowings();
	page.pills.replaceChildren(...pills.map(({ text, change }) =>
		button(text + " \u00d7", { class: "pill", title: "Press: no longer" }, () => go({ ...change, zoom: "" }))));
	page.bar.hidden = pills.length === 0 && page.folded.hidden;
}
