// SPDX-License-Identifier: Apache-2.0
/*
 * The pages' script on the cases of amount_cases.txt, which test_profile_kind.c reads too:
 *   node test_amount.js <the repository's root>
 */
"use strict";
const fs = require("fs");
const path = require("path");

const LEAST_CASES = 20;
const root = process.argv[2];
const script = fs.readFileSync(path.join(root, "collector/render/page/amount.js"), "utf8");
const cases = fs.readFileSync(path.join(root, "tests/unit/profile/amount_cases.txt"), "utf8");
const { amountText, coresText } = new Function(script + "\nreturn { amountText, coresText };")();
const lines = cases.split("\n").filter(line => line && !line.startsWith("#"));
let failures = lines.length < LEAST_CASES ? 1 : 0;
for (const line of lines) {
	const [unit, amount, expected] = line.split("\t");
	const [what, length] = unit.split("/");
	const text = what === "cores" ? coresText(Number(amount), Number(length)) :
		amountText(unit, Number(amount));
	if (text !== expected) {
		console.log(`${amount} ${unit}: '${text}', not '${expected}'`);
		failures++;
	}
}
console.log(`${lines.length} cases, ${failures} failures`);
process.exit(failures ? 1 : 0);
