// SPDX-License-Identifier: Apache-2.0
/*
 * A heat map in FlameScope's manner: a column is a length of time, from its begin below to its end above,
 * dark where there was much. One canvas has the cells, and one above it what the mouse and the keys are
 * at, so that these draw nothing anew. A range is chosen by dragging, or with the keys.
 */
const HEAT_LEFT = 64, HEAT_BELOW = 18, TICK_PX = 96;

/* From little to much; in light and in dark. */
const RAMPS = {
	light: [[255, 243, 214], [253, 196, 112], [232, 96, 44], [138, 20, 28], [70, 6, 24]],
	dark: [[52, 40, 34], [122, 58, 20], [214, 112, 34], [255, 184, 92], [255, 240, 196]],
};

/* "1 sample" */
const amountOf = (unit, n) => amountText(unit, n).replace(/^1 samples$/, "1 sample");

/* The colour of a part of the greatest, 0 to 1. */
function rampAt(ramp, part)
{
	const at = Math.min(Math.max(part, 0), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
	return ramp[low].map((from, i) => Math.round(from + (ramp[low + 1][i] - from) * (at - low)));
}

const LEAST_PART = 0.15;     // what is not idle is seen to be not idle

/* What the palest and the darkest cell stand for: nearly the least and nearly the most of what is not idle. */
function heatScale(cells)
{
	const some = Float64Array.from(cells.filter(n => n > 0)).sort();
	const at = part => some[Math.min(some.length - 1, Math.floor(part * some.length))];
	return some.length === 0 ? { low: 0, high: 0 } : { low: at(0.02), high: at(0.998) };
}

/* 0 for idle, else LEAST_PART to 1. */
function heatPart(n, { low, high })
{
	const part = high > low ? Math.min(Math.max((n - low) / (high - low), 0), 1) : 1;
	return n > 0 ? LEAST_PART + (1 - LEAST_PART) * part : 0;
}

class HeatMap {
	/* on: chosen(range, isBefore), entered(range), hovered(text), isDark(), isUtc(), dragsBefore() */
	constructor(label, on)
	{
		this.on = on;
		this.label = label;
		this.grid = this.answer = null;
		this.marks = [];
		this.scale = heatScale([]);
		this.cursor = this.anchor = this.hovered = -1;
		this.cells = element("canvas", { "aria-hidden": "true" });
		this.over = element("canvas", { tabindex: "0", role: "application", "aria-label": label,
			"aria-roledescription": "heat map" });
		this.said = element("p", { class: "heat-said", role: "status", hidden: "" });
		this.box = element("div", { class: "heat" }, this.cells, this.over, this.said);
		this.host = this.box;
		this.listen();
	}

	get all()
	{
		return this.grid ? this.grid.columns * this.grid.rows : 0;
	}

	/* answer: of the server, whose columns and rows are those of the grid; null: nothing yet. */
	show(grid, answer)
	{
		this.grid = grid;
		this.answer = answer;
		this.cursor = Math.min(this.cursor, this.all - 1);
		this.over.setAttribute("aria-label", this.label + ": a column is " + lengthText(grid.columnMs) +
			", a cell " + lengthText(grid.cellMs) + ". Drag over cells to choose a range. Arrow keys move, " +
			"with Shift they choose; Enter takes the range, + goes into it, - out of it.");
		this.paint(heatScale(answer ? answer.cells : []));
	}

	/* marks: [{ from, to, isBefore }] */
	mark(marks)
	{
		this.marks = marks;
		this.paintOver();
	}

	say(text)
	{
		this.said.textContent = text;
		this.said.hidden = !text;
	}

	// ---- places ----

	get wide()
	{
		return Math.max(1, this.over.clientWidth - HEAT_LEFT);
	}

	get high()
	{
		return Math.max(1, this.over.clientHeight - HEAT_BELOW);
	}

	/* -1 outside, unless isNear: then the cell that is nearest. */
	cellAt(event, isNear)
	{
		const box = this.over.getBoundingClientRect();
		const x = (event.clientX - box.left - HEAT_LEFT) / this.wide;
		const y = 1 - (event.clientY - box.top) / this.high;
		if (!this.grid || (!isNear && (x < 0 || x >= 1 || y < 0 || y >= 1)))
			return -1;
		const within = (part, n) => Math.min(Math.max(Math.floor(part * n), 0), n - 1);
		return within(x, this.grid.columns) * this.grid.rows + within(y, this.grid.rows);
	}

	boxOf(cell)
	{
		const { columns, rows } = this.grid;
		const w = this.wide / columns, h = this.high / rows;
		return { x: HEAT_LEFT + Math.floor(cell / rows) * w, y: this.high - (cell % rows + 1) * h, w, h };
	}

	// ---- painting ----

	pen(canvas)
	{
		const ratio = devicePixelRatio || 1, pen = canvas.getContext("2d");
		canvas.width = Math.round(canvas.clientWidth * ratio);
		canvas.height = Math.round(canvas.clientHeight * ratio);
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		return pen;
	}

	/* scale: what the colours stand for, as heatScale() has it. */
	paint(scale = this.scale)
	{
		this.scale = scale;
		if (!this.grid || this.box.clientWidth === 0)
			return;
		const pen = this.pen(this.cells), style = getComputedStyle(document.documentElement);
		pen.fillStyle = style.getPropertyValue("--void");
		pen.fillRect(HEAT_LEFT, 0, this.wide, this.high);
		this.paintVoid(pen, style.getPropertyValue("--line"));
		if (this.answer)
			this.paintCells(pen);
		this.paintAxes(pen, style);
		this.paintOver();
	}

	/* Where nothing was recorded there are stripes. */
	paintVoid(pen, colour)
	{
		pen.save();
		pen.beginPath();
		pen.rect(HEAT_LEFT, 0, this.wide, this.high);
		pen.clip();
		pen.strokeStyle = colour;
		pen.beginPath();
		for (let x = HEAT_LEFT - this.high; x < HEAT_LEFT + this.wide; x += 8) {
			pen.moveTo(x, this.high);
			pen.lineTo(x + this.high, 0);
		}
		pen.stroke();
		pen.restore();
	}

	paintCells(pen)
	{
		const { columns, rows } = this.grid, { cells } = this.answer;
		const ramp = RAMPS[this.on.isDark() ? "dark" : "light"];
		const picture = new OffscreenCanvas(columns, rows), small = picture.getContext("2d");
		const pixels = small.createImageData(columns, rows);
		for (let cell = 0; cell < cells.length; cell++) {
			if (cells[cell] === null)
				continue;
			const at = 4 * ((rows - 1 - cell % rows) * columns + Math.floor(cell / rows));
			const [red, green, blue] = rampAt(ramp, heatPart(cells[cell], this.scale));
			pixels.data.set([red, green, blue, 255], at);
		}
		small.putImageData(pixels, 0, 0);
		pen.imageSmoothingEnabled = false;
		pen.drawImage(picture, HEAT_LEFT, 0, this.wide, this.high);
		this.paintGaps(pen);
	}

	/* Between columns, where they are wide enough. */
	paintGaps(pen)
	{
		const { columns } = this.grid, w = this.wide / columns;
		if (w < 5)
			return;
		pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
		for (let column = 1; column < columns; column++)
			pen.fillRect(HEAT_LEFT + column * w - 0.5, 0, 1, this.high);
	}

	paintAxes(pen, style)
	{
		const { grid } = this, isUtc = this.on.isUtc(), offset = zoneOffset(grid.from, isUtc);
		pen.fillStyle = style.getPropertyValue("--soft");
		pen.font = "11px Verdana, 'DejaVu Sans', sans-serif";
		pen.textBaseline = "top";
		for (const at of ticksOf(grid, Math.max(2, Math.floor(this.wide / TICK_PX)), offset)) {
			const x = HEAT_LEFT + (at - grid.from) / (grid.to - grid.from) * this.wide;
			const text = floorTo(at, DAY, offset) === at ? dayText(at, isUtc) : clockText(at, isUtc);
			pen.fillRect(x, this.high, 1, 4);
			if (x + 3 + pen.measureText(text).width <= HEAT_LEFT + this.wide)
				pen.fillText(text, x + 3, this.high + 4);
		}
		pen.textAlign = "right";
		pen.fillText("+" + lengthText(grid.columnMs), HEAT_LEFT - 6, 2);
		pen.textBaseline = "bottom";
		pen.fillText("+0", HEAT_LEFT - 6, this.high);
		pen.textBaseline = "middle";
		if (this.high > 70)
			pen.fillText("+" + lengthText(grid.columnMs / 2), HEAT_LEFT - 6, this.high / 2);
		pen.textAlign = "left";
	}

	/* The marked ranges, with what lies beside them paler; the range that is being chosen; the cell. */
	paintOver()
	{
		if (!this.grid || this.box.clientWidth === 0)
			return;
		const pen = this.pen(this.over), style = getComputedStyle(document.documentElement);
		const colourOf = isBefore => style.getPropertyValue(isBefore ? "--before" : "--accent");
		const ranges = this.marks.map(({ from, to, isBefore }) =>
			({ cells: cellsOfRange(this.grid, from, to), isBefore }));
		const both = (a, b) => [Math.min(a, b), Math.max(a, b)];
		if (this.drag)
			ranges.push({ cells: both(this.drag.from, this.drag.to), isBefore: this.drag.isBefore });
		else if (this.anchor >= 0 && this.cursor >= 0)
			ranges.push({ cells: both(this.anchor, this.cursor), isBefore: this.on.dragsBefore() });
		const seen = ranges.filter(({ cells }) => cells)
			.map(({ cells, isBefore }) => ({ path: this.outlineOf(cells), colour: colourOf(isBefore) }));
		this.paintRanges(pen, seen, style.getPropertyValue("--paper"));
		const cell = this.hovered >= 0 ? this.hovered : document.activeElement === this.over ? this.cursor : -1;
		if (cell >= 0 && cell < this.all) {
			const { x, y, w, h } = this.boxOf(cell);
			pen.strokeStyle = style.getPropertyValue("--ink");
			pen.lineWidth = 2;
			pen.strokeRect(x - 1, y - 1, w + 2, h + 2);
		}
	}

	/* The outline of cells first to last: up to three blocks of whole or part columns. */
	outlineOf([first, last])
	{
		const { rows } = this.grid, { high } = this, path = new Path2D();
		const begin = this.boxOf(first), end = this.boxOf(last);
		const right = end.x + end.w, afterBegin = begin.x + begin.w;
		if (Math.floor(first / rows) === Math.floor(last / rows)) {
			path.rect(begin.x, end.y, begin.w, begin.y + begin.h - end.y);
		} else {
			path.moveTo(begin.x, begin.y + begin.h);
			path.lineTo(begin.x, 0);
			path.lineTo(end.x, 0);
			path.lineTo(end.x, end.y);
			path.lineTo(right, end.y);
			path.lineTo(right, high);
			path.lineTo(afterBegin, high);
			path.lineTo(afterBegin, begin.y + begin.h);
			path.closePath();
		}
		return path;
	}

	/* What is beside them is paler. */
	paintRanges(pen, ranges, paper)
	{
		if (ranges.length === 0)
			return;
		pen.globalAlpha = 0.45;
		pen.fillStyle = paper;
		pen.fillRect(HEAT_LEFT, 0, this.wide, this.high);
		pen.globalAlpha = 1;
		pen.globalCompositeOperation = "destination-out";
		ranges.forEach(({ path }) => pen.fill(path));
		pen.globalCompositeOperation = "source-over";
		pen.lineWidth = 2;
		for (const { path, colour } of ranges) {
			pen.strokeStyle = colour;
			pen.stroke(path);
		}
	}

	// ---- words ----

	textOfCell(cell)
	{
		const { from, to } = rangeOfCells(this.grid, cell, cell), n = this.answer && this.answer.cells[cell];
		const what = !this.answer ? "not read yet" : n === null ? "nothing was recorded" : n === 0 ? "idle" :
			amountOf(this.answer.unit, n);
		return rangeText(from, to, this.on.isUtc()) + ": " + what;
	}

	textOfRange(first, last)
	{
		const { from, to } = rangeOfCells(this.grid, first, last);
		let sum = 0;
		for (let cell = Math.min(first, last); this.answer && cell <= Math.max(first, last); cell++)
			sum += this.answer.cells[cell] || 0;
		return rangeText(from, to, this.on.isUtc()) +
			(this.answer ? ": " + amountOf(this.answer.unit, sum) : "");
	}

	/* Pale to dark: what the colours stand for. What reads the same is there once, in the darkest of its colours. */
	legend()
	{
		if (!this.answer)
			return [];
		const { unit } = this.answer, { low, high } = this.scale, dark = this.on.isDark() ? "dark" : "light";
		const chip = (part, text) => {
			const made = element("i", { class: "chip", "aria-hidden": "true" });
			made.style.background = "rgb(" + rampAt(RAMPS[dark], part).join() + ")";
			return element("span", {}, made, text);
		};
		const amounts = [[LEAST_PART, low], [(1 + LEAST_PART) / 2, (low + high) / 2], [1, high]]
			.map(([part, n]) => [part, amountOf(unit, n)]);
		const differing = amounts.filter(([, text], i) => i === 2 || text !== amounts[i + 1][1]);
		return [chip(0, "idle"), ...differing.map(([part, text]) =>
			chip(part, part === 1 ? text + " in " + lengthText(this.grid.cellMs) : text)),
			element("span", {}, element("i", { class: "chip void" }), "nothing recorded"),
			...(this.answer.untimed > 0 ? [element("span", { class: "bad" },
				amountOf(unit, this.answer.untimed) + " without a time are in no cell")] : [])];
	}

	// ---- mouse and keys ----

	listen()
	{
		const { over } = this;
		over.addEventListener("pointerdown", event => this.begin(event));
		over.addEventListener("pointermove", event => this.move(event));
		over.addEventListener("pointerup", event => this.end(event));
		over.addEventListener("pointercancel", () => this.give());
		over.addEventListener("pointerleave", () => {
			this.hovered = -1;
			this.on.hovered("");
			this.paintOver();
		});
		over.addEventListener("dblclick", event => this.enter(this.cellAt(event)));
		over.addEventListener("focus", () => this.paintOver());
		over.addEventListener("blur", () => { this.anchor = -1; this.paintOver(); });
		over.addEventListener("keydown", event => this.key(event));
	}

	begin(event)
	{
		const cell = this.cellAt(event);
		if (cell < 0 || event.button !== 0)
			return;
		this.anchor = -1;
		this.cursor = cell;
		this.drag = { from: cell, to: cell, isBefore: this.on.dragsBefore() !== event.altKey };
		this.over.setPointerCapture(event.pointerId);
		this.paintOver();
	}

	move(event)
	{
		const cell = this.cellAt(event, Boolean(this.drag));
		if (this.drag) {
			if (this.drag.to === cell)
				return;
			this.drag.to = cell;
			this.on.hovered(this.textOfRange(this.drag.from, cell));
		} else if (cell === this.hovered) {
			return;
		} else {
			this.on.hovered(cell < 0 ? "" : this.textOfCell(cell));
		}
		this.hovered = cell;
		this.paintOver();
	}

	end()
	{
		const { drag } = this;
		this.give();
		if (drag)
			this.on.chosen(rangeOfCells(this.grid, drag.from, drag.to), drag.isBefore);
	}

	give()
	{
		this.drag = null;
		this.paintOver();
	}

	/* Into the column of a cell. */
	enter(cell)
	{
		if (cell < 0)
			return;
		const first = cell - cell % this.grid.rows;
		this.on.entered(rangeOfCells(this.grid, first, first + this.grid.rows - 1));
	}

	step(key)
	{
		return { ArrowUp: 1, ArrowDown: -1, ArrowRight: this.grid.rows, ArrowLeft: -this.grid.rows }[key];
	}

	key(event)
	{
		if (!this.grid || event.ctrlKey || event.metaKey || event.altKey || !this.take(event))
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	take({ key, shiftKey })
	{
		const step = this.step(key), chosen = this.anchor >= 0 ? this.anchor : this.cursor;
		if (step) {
			const from = this.cursor < 0 ? Math.floor(this.all / 2) - step : this.cursor;
			this.anchor = shiftKey ? (this.anchor < 0 ? Math.max(0, this.cursor) : this.anchor) : -1;
			this.cursor = Math.min(Math.max(from + step, 0), this.all - 1);
			this.hovered = -1;
			this.on.hovered(this.anchor >= 0 ? this.textOfRange(this.anchor, this.cursor) :
				this.textOfCell(this.cursor));
			this.paintOver();
		} else if (key === "Enter" && this.cursor >= 0) {
			this.anchor = -1;
			this.on.chosen(rangeOfCells(this.grid, chosen, this.cursor), this.on.dragsBefore());
		} else if (key === "Escape" && this.anchor >= 0) {
			this.anchor = -1;
			this.paintOver();
		} else {
			return false;
		}
		return true;
	}
}
