// SPDX-License-Identifier: Apache-2.0
/*
 * The pages' script on the cases of label_cases.txt, which test_label.c reads too:
 *   node test_label.js <the repository's root>
 */
"use strict";
const fs = require("fs");
const path = require("path");

const LEAST_CASES = 50;
const root = process.argv[2];
const script = fs.readFileSync(path.join(root, "collector/render/page/label.js"), "utf8");
const cases = fs.readFileSync(path.join(root, "tests/unit/render/label_cases.txt"), "utf8");

/* Columns, as label.c counts them, for the font's pixels. */
function widthOf(text)
{
	return [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) >= 0x1100 ? 2 : 1), 0);
}

const { formsOf, longestOf } =
	new Function("widthOf", script + "\nreturn { formsOf, longestOf };")(widthOf);
const lines = cases.split("\n").filter(line => line && !line.startsWith("#"));
let failures = lines.length < LEAST_CASES ? 1 : 0;
for (const line of lines) {
	const [language, columns, name, expected] = line.split("\t");
	const label = longestOf(formsOf(name, language), Number(columns));
	if (label !== expected) {
		console.log(`'${name}' in ${columns} columns: '${label}', not '${expected}'`);
		failures++;
	}
}
console.log(`${lines.length} cases, ${failures} failures`);
process.exit(failures ? 1 : 0);
