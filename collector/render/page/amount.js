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

const amountText = (unit, n) => unit === "microseconds" ? timeText(Math.round(n)) :
	withCommas(Math.round(n)) + " " + unit;
