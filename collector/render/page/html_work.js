// SPDX-License-Identifier: Apache-2.0
/*
 * Work on large trees, in slices: between them the page draws and listens. Work is a generator, which
 * yields every few milliseconds a word that says how far it is. Of a small tree all is done at once.
 */
const SMALL_NODES = 30000, CHUNK_NODES = 16384;
const slices = { firstMs: 30, eachMs: 10, isForced: false };

/* What steps return, with all of them done at once. */
function finish(steps)
{
	for (;;) {
		const { value, done } = steps.next();
		if (done)
			return value;
	}
}

const progress = (word, done, all) => word + " " + Math.floor(100 * done / all) + " %";

class Work {
	/* on: word(text), with "" when there is nothing to wait for; failed(error) */
	constructor(on)
	{
		this.on = on;
		this.key = null;
		this.turn = 0;
		this.channel = new MessageChannel();
		this.channel.port1.onmessage = event => {
			if (event.data === this.turn)
				this.run(slices.eachMs);
		};
	}

	/* Calls done at the end. Goes on with what is being done if that has the same key. */
	start(key, steps, done)
	{
		if (this.key === key)
			return;
		const isSmall = app.data.base.count < SMALL_NODES && !slices.isForced;
		Object.assign(this, { key, steps, done });
		this.run(isSmall ? Infinity : slices.firstMs);
	}

	run(ms)
	{
		const until = performance.now() + ms;
		this.turn++;
		for (;;) {
			const { value, done } = this.next();
			if (done)
				return;
			if (performance.now() >= until) {
				this.on.word(value);
				this.channel.port2.postMessage(this.turn);
				return;
			}
		}
	}

	next()
	{
		try {
			const step = this.steps.next();
			if (!step.done)
				return step;
			this.end();
			this.done(step.value);
			return step;
		} catch (error) {
			this.end();
			this.on.failed(error);
			return { done: true };
		}
	}

	end()
	{
		this.key = this.steps = null;
		this.on.word("");
	}
}
