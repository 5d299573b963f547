// SPDX-License-Identifier: Apache-2.0
/*
 * The kinds of samples that the file holds, and how the page goes from one to another. A kind is
 * unpacked when it is shown for the first time. Keys of one kind are known to those behind it.
 */
const store = { scripts: [], read: new Map(), keys: new Map(), turn: 0 };

const samplesKinds = () => store.scripts.map(script => script.dataset.kind || "");

function findScripts()
{
	store.scripts = [...document.querySelectorAll("script[type='application/x-fgcollect']")];
}

/* A promise of the keys that a kind has and those before it have not. */
function ownKeys(script)
{
	if (!store.keys.has(script))
		store.keys.set(script, inflate(script.textContent).then(decodeKeys));
	return store.keys.get(script);
}

async function readSamples(name)
{
	const at = samplesKinds().indexOf(name);
	const before = await Promise.all(store.scripts.slice(0, at).map(ownKeys));
	const data = decodeData(await inflate(store.scripts[at].textContent), before.flat());
	data.name = name;
	return data;
}

/* A promise of what the page shows of a kind. */
function samplesOf(name)
{
	if (!store.read.has(name))
		store.read.set(name, readSamples(name));
	return store.read.get(name);
}

/* The kind that an address asks for, or the first. */
function samplesOfAddress(hash)
{
	const kinds = samplesKinds(), asked = new URLSearchParams(hash.slice(1)).get("samples");
	return kinds.includes(asked) ? asked : kinds[0];
}

/* Calls done with the kind's data, unless another kind has been asked for meanwhile. */
async function withSamples(name, done)
{
	const turn = ++store.turn;
	if (app.data && app.data.name === name) {
		done(app.data);
		return;
	}
	if (page.working)
		showWork("Reading " + (KIND_WORDS[name] || name));
	const data = await samplesOf(name);
	if (turn === store.turn)
		done(data);
}

/* The page of another kind, with the controls anew, because what they list differs. */
function enterSamples(data)
{
	if (app.data === data)
		return;
	const focused = document.activeElement && document.activeElement.id;
	app.data = data;
	buildPage();
	if (focused && document.getElementById(focused))
		document.getElementById(focused).focus();
}

/*
 * What is looked at in another kind: the range in its buckets, filters for what it has, and
 * frameworks and Java alone as it has them at first.
 */
function stateInSamples(data)
{
	const { state } = app, part = Number(app.data.facts.bucket_ns) / Number(data.facts.bucket_ns) || 0;
	const isAsFirst = state.frameworks === foldsAtFirst(app.data);
	const isJavaAsFirst = state.javaOnly === Boolean(app.data.facts.java_only);
	const filters = Object.fromEntries(DIMENSIONS.map(name =>
		[name, data.threads.some(thread => valuesOf(thread, name).includes(state[name])) ? state[name] : ""]));
	return { ...state, ...filters, samples: data.name, from: Math.round(state.from * part),
		to: Math.round(state.to * part),
		frameworks: isAsFirst ? foldsAtFirst(data) : state.frameworks,
		javaOnly: isJavaAsFirst ? Boolean(data.facts.java_only) : state.javaOnly };
}

function chooseSamples(name)
{
	return withSamples(name, data => {
		const next = stateInSamples(data);
		enterSamples(data);
		go(next);
		announce("These are " + (KIND_WORDS[name] || name));
	}).catch(cannotShow);
}

/* Follows the page's address. */
function openAddress()
{
	return withSamples(samplesOfAddress(location.hash), data => {
		enterSamples(data);
		setState(stateOf(location.hash));
	});
}

/* None where there is one kind alone. */
function samplesTool()
{
	const kinds = samplesKinds();
	if (kinds.length < 2)
		return [];
	const field = element("select", { id: "samples", "aria-label": "Kind of samples" },
		...kinds.map(name => element("option", { value: name }, KIND_WORDS[name] || name)));
	field.value = app.data.name;
	field.addEventListener("change", () => chooseSamples(field.value));
	return [element("label", { class: "samples" }, field)];
}
