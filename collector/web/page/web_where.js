// SPDX-License-Identifier: Apache-2.0
/*
 * A text that says which processes are meant: "pod=shop/api- version=1.2 Tomcat". Words with a sign are
 * the selectors of the commands, or labels; the server knows what these fit. Other words are looked for
 * in all that the list shows.
 */
const SELECTORS = ["pid", "container", "pod", "label", "comm", "jvm"];

/* Words; in quotes a word may have blanks: team="web shop" */
function wordsOf(text)
{
	return [...text.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(([word]) => word.replace(/"/g, ""));
}

/* -> selectors, as [parameter, value]; words, in small letters */
function parseWhere(text)
{
	const selectors = [], words = [];
	for (const word of wordsOf(text)) {
		const at = word.indexOf("=");
		const name = word.slice(0, at), value = word.slice(at + 1);
		if (at <= 0)
			words.push(word.toLowerCase());
		else if (value && SELECTORS.includes(name))
			selectors.push([name, value]);
		else if (value)
			selectors.push(["label", word]);
	}
	return { selectors, words };
}

const quoted = word => /[\s"]/.test(word) ? '"' + word.replace(/"/g, "") + '"' : word;

/* The text with name=value in place of what it says of name; an empty value takes it away. */
function withWhere(text, name, value)
{
	const others = wordsOf(text).filter(word => !word.startsWith(name + "="));
	return [...others, ...(value ? [name + "=" + value] : [])].map(quoted).join(" ");
}

/* All that is written in a row, for words. */
function textOfProcess(of)
{
	return [of.title, of.runtime, of.comm, of.pid, of.host, of.container, of.container_name, of.pod,
		of.namespace && of.pod ? of.namespace + "/" + of.pod : "",
		...Object.entries(of.labels || {}).map(([name, value]) => name + "=" + value)]
		.join("\n").toLowerCase();
}

const fitsWords = (of, words) => words.length === 0 ||
	(text => words.every(word => text.includes(word)))(textOfProcess(of));

/* "shop/api-7d9f8c6b5-x2k1q" -> "shop/api-": all pods of a deployment, stateful set or job. */
function deploymentOf(namespace, pod)
{
	const name = pod.replace(/-[0-9a-f]{8,10}-[0-9a-z]{4,5}$/, "-").replace(/-(?:[0-9a-z]{5}|\d+)$/, "-");
	return (namespace ? namespace + "/" : "") + name;
}

/* Values of labels that more than one value was seen of: [name, values] */
function differingLabels(processes)
{
	const seen = new Map();
	for (const { labels } of processes)
		for (const name in labels || {})
			seen.set(name, (seen.get(name) || new Set()).add(labels[name]));
	return [...seen].filter(([, values]) => values.size > 1)
		.map(([name, values]) => [name, [...values].sort()]);
}
