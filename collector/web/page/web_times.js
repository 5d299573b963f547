// SPDX-License-Identifier: Apache-2.0
/*
 * Times as people write and read them. An instant is milliseconds since 1970; a zone is the browser's
 * own or UTC. The scripts web_*.js are one script, put one behind the other by the build.
 */
"use strict";

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

const twoDigits = n => String(n).padStart(2, "0");

/* What must be added to an instant so that whole days begin at multiples of a day. */
function zoneOffset(instant, isUtc)
{
	return isUtc ? 0 : -new Date(instant).getTimezoneOffset() * MINUTE;
}

/* Year, month, day, hour, minute, second, millisecond. */
function partsOf(instant, isUtc)
{
	const at = new Date(instant);
	return isUtc ? [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(),
		at.getUTCMinutes(), at.getUTCSeconds(), at.getUTCMilliseconds()] :
		[at.getFullYear(), at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(),
			at.getSeconds(), at.getMilliseconds()];
}

function dayText(instant, isUtc)
{
	const [year, month, day] = partsOf(instant, isUtc);
	return year + "-" + twoDigits(month) + "-" + twoDigits(day);
}

/* "03:12", "03:12:05" or "03:12:05.250": as short as it is right. */
function clockText(instant, isUtc, leastParts = 2)
{
	const [, , , hour, minute, second, ms] = partsOf(instant, isUtc);
	return twoDigits(hour) + ":" + twoDigits(minute) +
		(second || ms || leastParts > 2 ? ":" + twoDigits(second) : "") +
		(ms ? "." + String(ms).padStart(3, "0") : "");
}

const instantText = (instant, isUtc) => dayText(instant, isUtc) + " " + clockText(instant, isUtc, 3);

/* "2 d", "1 h 30 min", "5 min", "1.5 s", "250 ms" */
function lengthText(ms)
{
	if (ms < SECOND)
		return +ms.toFixed(1) + " ms";
	if (ms < MINUTE)
		return +(ms / SECOND).toFixed(2) + " s";
	const units = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
	const first = units.findIndex(([unit]) => ms >= unit), texts = [];
	for (const [unit, name] of units.slice(first, first + 2)) {
		const n = Math.floor(ms / unit);
		if (n > 0)
			texts.push(n + " " + name);
		ms -= n * unit;
	}
	return texts.join(" ");
}

/* "2026-11-26 03:10:00 to 03:15:00 (5 min)" */
function rangeText(from, to, isUtc)
{
	const end = dayText(from, isUtc) === dayText(to, isUtc) ? clockText(to, isUtc, 3) : instantText(to, isUtc);
	return instantText(from, isUtc) + " to " + end + " (" + lengthText(to - from) + ")";
}

// ---- what is written into a field ----

const AGO_UNITS = { d: DAY, h: HOUR, m: MINUTE, s: SECOND };

/* "-1h30m" as milliseconds; null for another text. */
function agoOf(text)
{
	if (!/^-(\d+(\.\d+)?[dhms])+$/.test(text))
		return null;
	let sum = 0;
	for (const [, n, , unit] of text.matchAll(/(\d+(\.\d+)?)([dhms])/g))
		sum += Number(n) * AGO_UNITS[unit];
	return sum;
}

function instantOf(year, month, day, hour, minute, second, isUtc)
{
	const whole = Math.floor(second), ms = Math.round((second - whole) * 1000);
	const made = isUtc ? new Date(Date.UTC(year, month - 1, day, hour, minute, whole, ms)) :
		new Date(year, month - 1, day, hour, minute, whole, ms);
	const isValid = hour < 24 && minute < 60 && second < 60 && month >= 1 && month <= 12 && day >= 1 &&
		partsOf(made, isUtc)[2] === day;
	return isValid ? made.getTime() : null;
}

/* A clock's time: the last one before now, or the first one after `after` if that is given. */
function clockOf(text, { now, isUtc, after })
{
	const found = /^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?$/.exec(text);
	if (!found)
		return null;
	const near = after === undefined ? now : after;
	for (const days of after === undefined ? [0, -1] : [0, 1]) {
		const [year, month, day] = partsOf(near + days * DAY, isUtc);
		const at = instantOf(year, month, day, Number(found[1]), Number(found[2]), Number(found[3] || 0),
			isUtc);
		if (at === null || (after === undefined ? at <= now : at > after))
			return at;
	}
	return null;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?)?(Z|[+-]\d{2}:\d{2})?$/;

/*
 * The texts that --from and --to of the commands take, and milliseconds since 1970. how: now, isUtc, and
 * for the end of a range `after`, its begin. null: not a time.
 */
function parseInstant(text, how)
{
	const trimmed = text.trim();
	if (trimmed === "now")
		return how.now;
	if (/^\d{12,15}$/.test(trimmed))
		return Number(trimmed);
	const ago = agoOf(trimmed);
	if (ago !== null)
		return Math.round(how.now - ago);
	const found = DATE.exec(trimmed);
	if (!found)
		return clockOf(trimmed, how);
	const [year, month, day, hour, minute, second] = found.slice(1, 7).map(part => Number(part || 0));
	const zone = found[7];
	const at = instantOf(year, month, day, hour, minute, second, how.isUtc || Boolean(zone));
	if (at === null || !zone || zone === "Z")
		return at;
	const [hours, minutes] = zone.slice(1).split(":").map(Number);
	return at - (zone[0] === "-" ? -1 : 1) * (hours * HOUR + minutes * MINUTE);
}
