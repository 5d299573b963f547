// SPDX-License-Identifier: Apache-2.0
/*
 * The graph of a range: the page of a recording, in a frame of this page's own origin. What it shows is in
 * its address; its steps become steps of this page's address, so that there is one history, and a link
 * has them. A new graph is made beside the one that is seen, and takes its place when it is drawn.
 */
const GRAPH_FORMATS = [
	["html", "HTML page"], ["svg", "SVG picture"], ["folded", "folded stacks"],
	["fgrec", "recording, for fgcollect"], ["pb.gz", "pprof"], ["speedscope.json", "speedscope"],
	["firefox.json", "Firefox Profiler"],
	["perf.txt", "perf script"],
];
const COMPARED_FORMATS = ["html", "svg", "folded", "pb.gz"];      // the others have one count a stack
const DRAWN_MS = 50;

class GraphFrame {
	/* on: moved(hash, inPlace), failed(sentence), begun(), drawn(), busy(seconds), theme(), isNarrow() */
	constructor(on)
	{
		this.on = on;
		this.host = element("div", { class: "frames" });
		this.url = this.drawn = "";      // what is to be seen, and what is
		this.frame = this.coming = null;
		this.asking = null;
	}

	/* Shows a file of the server at a place of its own address; "" shows nothing. */
	show(url, inner, again)
	{
		if (url === this.url && !again) {
			this.enter(inner);
			return;
		}
		this.stop();
		this.url = url;
		this.inner = inner;
		if (!url) {
			this.clear();
			return;
		}
		this.on.begun();
		this.load();
	}

	load()
	{
		const coming = element("iframe", { class: "coming", title: "Flame graph", src: this.url + this.inner });
		this.coming = coming;
		coming.addEventListener("load", () => {
			if (this.coming === coming)
				this.loaded(coming);
		});
		this.host.append(coming);
	}

	/* A frame without a graph has a reason, which is asked for. */
	loaded(frame)
	{
		const made = frame.contentDocument;
		if (made && made.querySelector("script[type='application/x-fgcollect']")) {
			this.adopt(frame);
			return;
		}
		this.drop("coming");
		const { signal } = this.asking = new AbortController();
		fetchPatiently(this.url, signal, seconds => signal.aborted || this.on.busy(seconds))
			.then(response => {
				if (response && response.body)
					response.body.cancel();     // load asks for it again
				return signal.aborted || this.load();
			})
			.catch(error => {
				if (signal.aborted)
					return;
				this.clear();
				this.on.failed(error.message);
			});
	}

	/* The frame's own steps go through this page. */
	adopt(frame)
	{
		const inner = frame.contentWindow, replace = inner.history.replaceState.bind(inner.history);
		frame.replaceInner = hash => replace(null, "", hash || "#");
		const writer = inPlace => (state, unused, hash) => {
			frame.replaceInner(hash);
			if (frame === this.frame)
				this.on.moved(hash === "#" ? "" : hash, inPlace);
		};
		inner.history.pushState = writer(false);
		inner.history.replaceState = writer(true);
		this.dress(frame);
		const look = () => {
			const { dataset } = frame.contentDocument.body;
			if (this.coming !== frame)
				return;
			if (dataset.ready === "1" && dataset.working !== "1")
				this.take(frame);
			else if (frame.contentDocument.querySelector(".failed"))
				this.take(frame);
			else
				setTimeout(look, DRAWN_MS);
		};
		look();
	}

	take(frame)
	{
		this.drop("frame");
		this.frame = frame;
		this.coming = null;
		this.drawn = this.url;
		frame.classList.remove("coming");
		this.on.drawn();
	}

	/* Another place in the graph that is shown. */
	enter(inner)
	{
		this.inner = inner;
		if (!this.frame || (this.frame.contentWindow.location.hash || "") === inner)
			return;
		this.frame.replaceInner(inner);
		this.frame.contentWindow.dispatchEvent(new this.frame.contentWindow.PopStateEvent("popstate"));
	}

	/* As light and as narrow as this page wants it. */
	dress(frame = this.frame)
	{
		if (!frame || !frame.contentDocument)
			return;
		const { dataset } = frame.contentDocument.documentElement, theme = this.on.theme();
		const framed = this.on.isNarrow() ? "narrow" : "wide";
		if (dataset.theme === theme && dataset.framed === framed)
			return;
		dataset.theme = theme;
		dataset.framed = framed;
		if (frame.contentWindow.redraw && frame.contentDocument.body.dataset.ready === "1")
			frame.contentWindow.redraw();
	}

	drop(which)
	{
		if (this[which])
			this[which].remove();
		this[which] = null;
	}

	stop()
	{
		if (this.asking)
			this.asking.abort();
		this.asking = null;
		this.drop("coming");
		this.host.classList.remove("asking");
		this.url = this.drawn;
	}

	clear()
	{
		this.drop("frame");
		this.drawn = "";
		this.stop();
	}
}
