// SPDX-License-Identifier: Apache-2.0
// Four functions that take 40, 30, 20 and 10 hundredths of the time, for so many seconds.
'use strict';

const seconds = Number(process.argv[2]);

// One function for each, or V8 would inline one into all.
function make(name, turns) {
	return eval(`(function ${name}() {
		let x = ${turns} | 1;
		for (let i = 0; i < ${turns}; i++)
			x = (Math.imul(x, 1103515245) + 12345) | 0;
		return x;
	})`);
}

const parts = [make('shareForty', 400000), make('shareThirty', 300000),
	make('shareTwenty', 200000), make('shareTen', 100000)];

const end = Date.now() + seconds * 1000;
let sink = 0;
for (let turn = 0; Date.now() < end; turn++) {
	if (turn === 100)
		console.log('ready');
	for (const part of parts)
		sink ^= part();
}
console.log(sink);
