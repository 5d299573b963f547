// SPDX-License-Identifier: Apache-2.0
/*
 * The recording's time in a strip of 24 pixels: bars of how much there was, and an axis. A range is chosen
 * with the mouse or a finger, or written into two fields, which are in a menu.
 */
const STRIP_HEIGHT = 24, BARS_HEIGHT = 13, BAR_WIDE = 5, TICK_FROM = 70;

/* The time between marks of an axis: 1, 2 or 5 of a power of ten, or of minutes. */
function tickSeconds(least)
{
	const steps = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
	if (least > 30)
		return steps.find(step => step >= least) || 86400 * Math.ceil(least / 86400);
	const power = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].map(n => n * power).concat(30, 60).find(step => step >= least * 0.999);
}

/* 2.5 s, and 1:30 of what is longer than two minutes. */
function secondsText(seconds, longest, digits)
{
	if (longest < 120)
		return +seconds.toFixed(digits) + " s";
	const whole = Math.floor(seconds), part = digits > 0 ? (seconds - whole).toFixed(digits).slice(1) : "";
	const two = n => String(n).padStart(2, "0");
	const minutes = Math.floor(whole / 60);
	return (minutes < 60 ? minutes : Math.floor(minutes / 60) + ":" + two(minutes % 60)) + ":" +
		two(whole % 60) + part;
}

class TimeStrip {
	/* on: chosen(from, to), in buckets; 0, 0 is all. pointed(event, text, more); no text: no longer */
	constructor(times, facts, on)
	{
		this.on = on;
		this.buckets = times.buckets;
		this.seconds = Number(facts.bucket_ns) / 1e9;
		this.start = Number(facts.start_ms || 0);
		this.length = this.buckets * this.seconds;
		this.canvas = element("canvas", { height: STRIP_HEIGHT, role: "img",
			"aria-label": "Samples over time, " + secondsText(this.length, this.length, 1) +
				" from left to right. Drag to choose a range; the menu Filter has fields for it." });
		this.from = this.field("From second");
		this.to = this.field("To second");
		this.all = element("button", { type: "button" }, "All time");
		this.all.addEventListener("click", () => this.choose(0, 0));
		this.host = element("div", { class: "strip" }, this.canvas);
		this.fields = element("div", { class: "fields" }, element("label", {}, "from", this.from),
			element("label", {}, "to", this.to), element("span", {}, "s"), this.all);
		this.listen();
	}

	field(label)
	{
		const field = element("input", { type: "number", min: "0", step: "any", "aria-label": label,
			max: this.length.toFixed(2) });
		field.addEventListener("change", () => this.choose(
			Math.round((Number(this.from.value) || 0) / this.seconds),
			Math.round((Number(this.to.value) || this.length) / this.seconds)));
		return field;
	}

	/* Where a time is, of which the buckets are as fine as digits say. */
	timeText(bucket)
	{
		return secondsText(bucket * this.seconds, this.length, this.seconds < 0.1 ? 2 : 1);
	}

	rangeText(from, to)
	{
		return this.timeText(from).replace(/ s$/, "") + "\u2013" + this.timeText(to);
	}

	/* The bucket at a place, or where a range of it ends. */
	bucketAt(event)
	{
		const box = this.canvas.getBoundingClientRect();
		const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
		return Math.min(Math.floor(part * this.buckets), this.buckets - 1);
	}

	listen()
	{
		let start = -1;
		const range = event => {
			const end = this.bucketAt(event);
			return [Math.min(start, end), Math.max(start, end) + 1];
		};
		this.canvas.addEventListener("pointerdown", event => {
			start = this.bucketAt(event);
			this.canvas.setPointerCapture(event.pointerId);
		});
		this.canvas.addEventListener("pointermove", event => {
			const at = this.bucketAt(event);
			if (start >= 0)
				this.paint(...range(event));
			else
				this.paint(app.state.from, app.state.to, at);
			this.point(event, ...(start >= 0 ? range(event) : [at, at + 1]));
		});
		this.canvas.addEventListener("pointerup", event => {
			if (start >= 0)
				this.choose(...range(event));
			start = -1;
		});
		this.canvas.addEventListener("pointercancel", () => { start = -1; });
		this.canvas.addEventListener("pointerleave", event => {
			this.paint(app.state.from, app.state.to);
			this.on.pointed(event, "");
		});
	}

	/* Says what time is pointed at, by the recording's clock and by the day's, and how much there was. */
	point(event, from, to)
	{
		const sum = this.counts.slice(from, to).reduce((all, n) => all + n, 0);
		const clock = this.start > 0 ? new Date(this.start + 1000 * from * this.seconds).toISOString()
			.slice(11, 22) + " UTC, " : "";
		this.on.pointed(event, to > from + 1 ? this.rangeText(from, to) : this.timeText(from),
			clock + amount(sum));
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

	/* How much there was in each bar, and how many buckets a bar is. */
	bars(width)
	{
		const size = Math.max(1, Math.ceil(BAR_WIDE * this.buckets / width));
		const bars = new Float64Array(Math.ceil(this.buckets / size));
		this.counts.forEach((n, bucket) => { bars[Math.floor(bucket / size)] += n; });
		return { bars, size };
	}

	/* hovered: a bucket that has a mark, if any. */
	paint(from, to, hovered = -1)
	{
		const ratio = devicePixelRatio || 1, pen = this.canvas.getContext("2d");
		const width = Math.max(this.canvas.clientWidth, 100), wide = width / this.buckets;
		const { bars, size } = this.bars(width), most = bars.reduce((most, n) => Math.max(most, n), 1);
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = STRIP_HEIGHT * ratio;
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.fillStyle = themeColour("--field");
		pen.fillRect(0, 0, width, BARS_HEIGHT);
		pen.fillStyle = themeColour("--heat");
		bars.forEach((n, at) => {
			const bucket = at * size, high = n > 0 ? Math.max(1, BARS_HEIGHT * n / most) : 0;
			pen.globalAlpha = to <= from || (bucket + size > from && bucket < to) ? 0.8 : 0.2;
			pen.fillRect(bucket * wide, BARS_HEIGHT - high, Math.max(size * wide - 0.5, 0.5), high);
		});
		pen.globalAlpha = 1;
		pen.fillStyle = themeColour("--accent");
		for (const edge of to > from ? [from * wide, to * wide - 2] : [])
			pen.fillRect(edge, 0, 2, BARS_HEIGHT);
		if (hovered >= 0)
			pen.fillRect(hovered * wide, 0, Math.max(1, wide), BARS_HEIGHT);
		this.paintAxis(pen, width);
	}

	paintAxis(pen, width)
	{
		const step = tickSeconds(this.length * TICK_FROM / width), digits = step < 1 ? 3 : 0;
		pen.font = "9px " + FONT;
		pen.textBaseline = "top";
		pen.fillStyle = themeColour("--soft");
		for (let at = 0; at * step <= this.length; at++) {
			const x = at * step / this.length * width, text = secondsText(at * step, this.length, digits);
			const end = x + 3 + pen.measureText(text).width;
			pen.fillRect(Math.min(x, width - 1), BARS_HEIGHT, 1, 4);
			if (end < width)
				pen.fillText(text, x + 3, BARS_HEIGHT + 2);
		}
	}
}
