// SPDX-License-Identifier: Apache-2.0
/* Amounts with their unit as people read them: what profile/profile_kind.c does, for both pages. */

const withCommas = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

function timeText(us)
{
	const rounded = by => Math.floor(us / by) + (us % by >= by - Math.floor(by / 2) ? 1 : 0);
	if (us === 0)
		return "0 s";
	if (us < 1000)
		return us + " \u00b5s";
	if (us < 9950)
		return (rounded(100) / 10).toFixed(1) + " ms";
	if (us < 999500)
		return rounded(1000) + " ms";
	if (us < 9995000)
		return (rounded(10000) / 100).toFixed(2) + " s";
	const tenths = rounded(100000);
	return withCommas(Math.floor(tenths / 10)) + "." + tenths % 10 + " s";
}

/* So much processor time in so much time: "1.60 s, 0.11 cores"; "" if there is none. As profile/profile_part.c. */
function coresText(ns, length)
{
	const cores = length ? ns / length : 0;
	return ns <= 0 ? "" : timeText(Math.floor(ns / 1000)) + (length ? ", " +
		cores.toFixed(cores < 0.0095 ? 3 : cores < 9.95 ? 2 : 1) + " cores" : "");
}

function bytesText(bytes)
{
	const inParts = (unit, parts) => Math.floor(bytes / unit) * parts +
		Math.floor(bytes % unit / unit * parts + 0.5);
	if (bytes < 1024)
		return withCommas(bytes) + " B";
	if (inParts(2 ** 10, 1) < 1024 || inParts(2 ** 20, 1) < 1024) {
		const [unit, name] = inParts(2 ** 10, 1) < 1024 ? [2 ** 10, " KiB"] : [2 ** 20, " MiB"];
		const tenths = inParts(unit, 10);
		return (tenths < 100 ? (tenths / 10).toFixed(1) : withCommas(inParts(unit, 1))) + name;
	}
	const [unit, name] = inParts(2 ** 30, 10) < 10240 ? [2 ** 30, " GiB"] : [2 ** 40, " TiB"];
	const tenths = inParts(unit, 10), hundredths = inParts(unit, 100);
	return (hundredths < 1000 ? (hundredths / 100).toFixed(2) :
		withCommas(Math.floor(tenths / 10)) + "." + tenths % 10) + name;
}

const amountText = (unit, n) => unit === "microseconds" ? timeText(Math.round(n)) :
	unit === "bytes" ? bytesText(Math.round(n)) : withCommas(Math.round(n)) + " " + unit;
