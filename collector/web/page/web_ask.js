// SPDX-License-Identifier: Apache-2.0
/*
 * Questions to the server. A newer question of the same asker takes the older one's place, whose answer is
 * dropped. A busy server is asked again after the time that it names. What has passed does not change:
 * answers of such ranges are kept.
 */
const MOST_KEPT = 48, MOST_TRIES = 20, LONGEST_WAIT_S = 30;

/* What the server says of a failure, or what can be said in its place. */
async function sentenceOf(response)
{
	try {
		const { error } = JSON.parse(await response.text());
		if (error)
			return error;
	} catch (error) {
		/* Not from this server, or cut short. */
	}
	return "The server answered " + response.status + " and gives no reason.";
}

function wait(ms, signal)
{
	return new Promise((done, failed) => {
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", () => { clearTimeout(timer); failed(signal.reason); });
	});
}

/* The response once it is good. busy(seconds): is called before each wait. */
async function fetchPatiently(url, signal, busy)
{
	for (let tries = 1; ; tries++) {
		let response;
		try {
			response = await fetch(url, { signal, cache: "no-store" });
		} catch (error) {
			if (signal.aborted)
				throw error;
			throw new Error("The daemon does not answer: it has ended, or the way to it has. " +
				"What is shown stays; reload the page when it is back.");
		}
		if (response.ok)
			return response;
		if (response.status !== 503 || tries === MOST_TRIES)
			throw new Error(await sentenceOf(response));
		const asked = Number(response.headers.get("Retry-After"));
		const seconds = Math.min(Math.max(asked || 1, 1), LONGEST_WAIT_S);
		busy(seconds);
		await wait(seconds * SECOND, signal);
	}
}

const kept = new Map();     // URL -> answer, the one used last at the end

function keep(url, answer)
{
	kept.delete(url);
	kept.set(url, answer);
	if (kept.size > MOST_KEPT)
		kept.delete(kept.keys().next().value);
	return answer;
}

class Asker {
	/* on: begun(), answered(answer), failed(sentence), busy(seconds) */
	constructor(on)
	{
		this.on = on;
		this.url = null;
		this.controller = null;
	}

	/* isPast: the range is over, and its samples are written. again: also if that was asked last. */
	ask(url, isPast, again)
	{
		if (url === this.url && !again)
			return;
		this.stop();
		this.url = url;
		if (isPast && kept.has(url)) {
			this.on.answered(keep(url, kept.get(url)));
			return;
		}
		const { signal } = this.controller = new AbortController();
		this.on.begun();
		fetchPatiently(url, signal, seconds => signal.aborted || this.on.busy(seconds))
			.then(response => response.json())
			.then(answer => {
				if (!signal.aborted)
					this.on.answered(isPast ? keep(url, answer) : answer);
			})
			.catch(error => {
				if (!signal.aborted)
					this.on.failed(error.message);
			});
	}

	stop()
	{
		if (this.controller)
			this.controller.abort();
		this.controller = this.url = null;
	}
}
