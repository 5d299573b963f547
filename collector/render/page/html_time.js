// SPDX-License-Identifier: Apache-2.0
/*
 * The recording's time: a column a second, or more or less of it, a row a part of that, dark where
 * there were many samples. A range is chosen with the mouse, a finger, or two fields.
 */
const STRIP_HEIGHT = 64, MOST_COLUMNS = 400, LEAST_COLUMNS = 48, LEAST_ROWS = 8;

class TimeStrip {
	/* on: chosen(from, to), in buckets; 0, 0 is all */
	constructor(times, bucketNs, on)
	{
		this.on = on;
		this.buckets = times.buckets;
		this.seconds = bucketNs / 1e9;
		const perSecond = Math.max(1, Math.round(1 / this.seconds));
		this.rows = perSecond * Math.max(1, Math.ceil(this.buckets / perSecond / MOST_COLUMNS));
		while (this.rows > LEAST_ROWS && this.buckets / this.rows < LEAST_COLUMNS)
			this.rows /= 2;
		this.columns = Math.max(1, Math.ceil(this.buckets / this.rows));
		this.canvas = element("canvas", { height: STRIP_HEIGHT, role: "img",
			"aria-label": "Samples over time: a column is " + this.columnText() +
				", from its beginning below to its end above. Drag to choose a range." });
		this.from = this.field("From second");
		this.to = this.field("To second");
		this.all = element("button", { type: "button" }, "All time");
		this.all.addEventListener("click", () => this.choose(0, 0));
		this.host = element("div", { class: "strip" }, this.canvas,
			element("div", { class: "fields" }, element("label", {}, "from", this.from),
				element("label", {}, "to", this.to), element("span", {}, "s"), this.all));
		this.listen();
	}

	columnText()
	{
		const s = this.rows * this.seconds;
		return s >= 1 ? +s.toFixed(2) + " s" : Math.round(1000 * s) + " ms";
	}

	field(label)
	{
		const field = element("input", { type: "number", min: "0", step: "any", "aria-label": label,
			max: (this.buckets * this.seconds).toFixed(2) });
		field.addEventListener("change", () => this.choose(
			Math.round((Number(this.from.value) || 0) / this.seconds),
			Math.round((Number(this.to.value) || this.buckets * this.seconds) / this.seconds)));
		return field;
	}

	bucketAt(event)
	{
		const box = this.canvas.getBoundingClientRect();
		const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.9999);
		const up = Math.min(Math.max(1 - (event.clientY - box.top) / box.height, 0), 0.9999);
		return Math.min(Math.floor(part * this.columns) * this.rows + Math.floor(up * this.rows),
			this.buckets - 1);
	}

	listen()
	{
		let start = -1, end = -1;
		this.canvas.addEventListener("pointerdown", event => {
			start = end = this.bucketAt(event);
			this.canvas.setPointerCapture(event.pointerId);
		});
		this.canvas.addEventListener("pointermove", event => {
			if (start < 0)
				return;
			end = this.bucketAt(event);
			this.paint(Math.min(start, end), Math.max(start, end) + 1);
		});
		this.canvas.addEventListener("pointerup", () => {
			if (start >= 0)
				this.choose(Math.min(start, end), Math.max(start, end) + 1);
			start = -1;
		});
		this.canvas.addEventListener("pointercancel", () => { start = -1; });
	}

	choose(from, to)
	{
		const first = Math.min(Math.max(from, 0), this.buckets);
		const last = Math.min(Math.max(to, 0), this.buckets);
		const some = last > first && (first > 0 || last < this.buckets);
		this.on.chosen(some ? first : 0, some ? last : 0);
	}

	/* What filters and switches let pass, whatever the range: samples a bucket. */
	count()
	{
		const key = [...DIMENSIONS, ...SORTS].map(name => app.state[name]).join("\n");
		const { times } = app.data, sorts = sortsOf(app.data), shown = shownSorts();
		if (this.counted === key)
			return;
		this.counted = key;
		this.counts = new Float64Array(this.buckets);
		eachEntry(false, i => {
			if (!shown || shown[sorts[times.node[i]]])
				this.counts[times.bucket[i]] += times.weight[i];
		});
		this.most = this.counts.reduce((most, n) => Math.max(most, n), 1);
	}

	show()
	{
		const { from, to } = app.state;
		this.count();
		this.from.value = from || to ? (from * this.seconds).toFixed(2) : "0";
		this.to.value = ((to || this.buckets) * this.seconds).toFixed(2);
		this.all.disabled = !to;
		this.paint(from, to);
	}

	paint(from, to)
	{
		const ratio = devicePixelRatio || 1, pen = this.canvas.getContext("2d");
		const width = Math.max(this.canvas.clientWidth, 100);
		const style = getComputedStyle(document.documentElement);
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = STRIP_HEIGHT * ratio;
		pen.setTransform(this.canvas.width / this.columns, 0, 0, -STRIP_HEIGHT * ratio / this.rows,
			0, STRIP_HEIGHT * ratio);
		pen.fillStyle = style.getPropertyValue("--field");
		pen.fillRect(0, 0, this.columns, this.rows);
		pen.fillStyle = style.getPropertyValue("--heat");
		for (let bucket = 0; bucket < this.buckets; bucket++) {
			const chosen = to <= from || (bucket >= from && bucket < to);
			pen.globalAlpha = (0.08 + 0.92 * Math.sqrt(this.counts[bucket] / this.most)) *
				(chosen ? 1 : 0.25);
			if (this.counts[bucket] > 0)
				pen.fillRect(Math.floor(bucket / this.rows), bucket % this.rows, 0.97, 1);
		}
		pen.globalAlpha = 1;
		if (to > from)
			this.paintEdges(pen, from, to, style.getPropertyValue("--accent"));
	}

	paintEdges(pen, from, to, colour)
	{
		pen.fillStyle = colour;
		const high = this.rows / STRIP_HEIGHT * 2;
		for (const bucket of [from, to - 1])
			pen.fillRect(Math.floor(bucket / this.rows), bucket % this.rows, 1, Math.max(high, 1));
	}
}
