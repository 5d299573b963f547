// SPDX-License-Identifier: Apache-2.0
/*
 * The pure parts of the page over the store: times, grids, who is meant, addresses and questions.
 *   node test_page.js <the repository's root>
 */
"use strict";
process.env.TZ = "Europe/Berlin";
const assert = require("assert");
const fs = require("fs");
const path = require("path");

const folder = path.join(process.argv[2], "collector/web/page");
const script = ["web_times.js", "web_grid.js", "web_where.js", "web_state.js", "web_heat.js", "web_list.js"]
	.map(name => fs.readFileSync(path.join(folder, name), "utf8")).join("\n");
const names = ["parseInstant", "instantText", "clockText", "rangeText", "lengthText", "gridOf", "rangeOfCells",
	"cellsOfRange", "ticksOf", "widened", "moved", "zoneOffset", "floorTo", "parseWhere", "withWhere", "fitsWords",
	"deploymentOf", "differingLabels", "newState", "addressOf", "stateOf", "liveRange", "isCompared",
	"graphQuestion", "heatQuestion", "listQuestion", "beforeSide", "heatScale", "heatPart", "rampAt",
	"sortedRows", "sparkPath", "shareOf", "GRID_STEPS", "MOST_COLUMNS", "LONGEST_MS", "innerElsewhere"];
const of = new Function(script + "\nreturn { " + names.join(", ") + " };")();

const at = text => Date.parse(text);
const NOW = at("2026-11-26T15:00:00Z");      // 16:00 in Berlin
const local = { now: NOW, isUtc: false }, utc = { now: NOW, isUtc: true };
const HOUR = 3600000, DAY = 24 * HOUR;

function checkTime(text, expected, how = local)
{
	assert.strictEqual(of.parseInstant(text, how), expected === null ? null : at(expected), text);
}

const tests = {
	the_texts_of_the_commands_are_times() {
		checkTime("now", "2026-11-26T15:00:00Z");
		checkTime("-24h", "2026-11-25T15:00:00Z");
		checkTime("-1h30m", "2026-11-26T13:30:00Z");
		checkTime("-7d", "2026-11-19T15:00:00Z");
		checkTime(" -90s ", "2026-11-26T14:58:30Z");
		checkTime("03:10", "2026-11-26T02:10:00Z");
		checkTime("03:10", "2026-11-26T03:10:00Z", utc);
		checkTime("03:10:30.5", "2026-11-26T02:10:30.500Z");
		checkTime("2026-11-26", "2026-11-25T23:00:00Z");
		checkTime("2026-11-26 03:10", "2026-11-26T02:10:00Z");
		checkTime("2026-11-26T03:10:30", "2026-11-26T03:10:30Z", utc);
		checkTime("2026-11-26T03:10:00Z", "2026-11-26T03:10:00Z");
		checkTime("2026-11-26T03:10:00.5+01:00", "2026-11-26T02:10:00.500Z");
		checkTime("2026-11-26T03:10:00-02:30", "2026-11-26T05:40:00Z");
		assert.strictEqual(of.parseInstant(String(NOW), local), NOW);
	},

	a_clock_is_the_last_such_time_and_of_an_end_the_first_after_the_begin() {
		checkTime("17:00", "2026-11-25T16:00:00Z");
		checkTime("16:00", "2026-11-26T15:00:00Z");
		const night = at("2026-11-25T22:50:00Z");      // 23:50
		checkTime("23:55", "2026-11-25T22:55:00Z", { ...local, after: night });
		checkTime("00:10", "2026-11-25T23:10:00Z", { ...local, after: night });
		checkTime("23:50", "2026-11-26T22:50:00Z", { ...local, after: night });
	},

	what_is_no_time_is_none() {
		for (const text of ["", "yesterday", "25:00", "03:60", "2026-02-30", "2026-13-01", "-", "-5x", "12",
			"2026-11-26T03:10:00+1"])
			checkTime(text, null);
	},

	times_are_written_as_they_are_read() {
		for (const isUtc of [false, true])
			for (const ms of [NOW, NOW + 250, NOW + 15, at("2026-07-01T00:00:00Z")])
				assert.strictEqual(of.parseInstant(of.instantText(ms, isUtc), { now: NOW, isUtc }), ms);
		assert.strictEqual(of.instantText(NOW + 250, true), "2026-11-26 15:00:00.250");
		assert.strictEqual(of.clockText(NOW, false), "16:00");
		assert.strictEqual(of.rangeText(NOW, NOW + 300000, true), "2026-11-26 15:00:00 to 15:05:00 (5 min)");
		assert.strictEqual(of.rangeText(NOW, NOW + DAY, true),
			"2026-11-26 15:00:00 to 2026-11-27 15:00:00 (1 d)");
	},

	lengths_have_two_units_at_most() {
		for (const [ms, text] of [[15.625, "15.6 ms"], [250, "250 ms"], [1500, "1.5 s"], [60000, "1 min"],
			[90000, "1 min 30 s"], [HOUR, "1 h"], [25.5 * HOUR, "1 d 1 h"], [2 * DAY, "2 d"]])
			assert.strictEqual(of.lengthText(ms), text);
	},

	columns_and_cells_are_lengths_that_people_count_in() {
		for (const [length, finest, column, cell] of [[2 * DAY, 0, HOUR, 60000], [HOUR, 0, 60000, 1000],
			[120000, 0, 1000, 50], [120000, 250, 1000, 250], [30000, 0, 250, 15.625], [7 * DAY, 0, 2 * HOUR, 120000],
			[30 * DAY, 0, 6 * HOUR, 300000], [10 * 365 * DAY, 0, 28 * DAY, 12 * HOUR]]) {
			const grid = of.gridOf(NOW, NOW + length, finest, 0);
			assert.deepStrictEqual([grid.columnMs, grid.cellMs], [column, cell], String(length));
		}
	},

	a_grid_has_the_range_in_whole_columns_and_not_too_many_cells() {
		for (let length = 100; length < of.LONGEST_MS; length = Math.ceil(length * 1.37))
			for (const finest of [0, 15.625, 250]) {
				const from = NOW - 12345678, grid = of.gridOf(from, from + length, finest, HOUR);
				assert(grid.from <= from && grid.to >= from + length);
				assert.strictEqual(grid.to - grid.from, grid.columns * grid.columnMs);
				assert(grid.columns <= of.MOST_COLUMNS + 1 && grid.columns * grid.rows <= 20000, "what the server answers");
				assert(grid.cellMs >= finest || grid.rows === 1);
				assert.strictEqual((grid.from + HOUR) % grid.columnMs, 0);
			}
	},

	a_day_begins_at_its_midnight_in_the_zone() {
		const offset = of.zoneOffset(NOW, false);
		assert.strictEqual(offset, HOUR);
		assert.strictEqual(of.floorTo(NOW, DAY, offset), at("2026-11-25T23:00:00Z"));
	},

	the_finest_cells_are_the_ranges_in_which_their_times_begin() {
		const grid = { from: NOW, to: NOW + 1000, columns: 1, rows: 64, columnMs: 1000, cellMs: 15.625 };
		for (let cell = 0; cell < 64; cell++) {
			const { from, to } = of.rangeOfCells(grid, cell, cell), begins = NOW + cell * 15.625;
			assert(from <= begins && begins < to && begins + 15.625 >= to, "cell " + cell);
			assert.deepStrictEqual(of.cellsOfRange(grid, from, to), [cell, cell]);
		}
	},

	cells_and_ranges_are_each_others() {
		const grid = of.gridOf(NOW, NOW + 60000, 0, 0);
		for (const [a, b] of [[0, 0], [3, 700], [700, 3], [grid.columns * grid.rows - 1, 0]]) {
			const { from, to } = of.rangeOfCells(grid, a, b);
			assert.deepStrictEqual(of.cellsOfRange(grid, from, to), [Math.min(a, b), Math.max(a, b)]);
		}
		assert.strictEqual(of.cellsOfRange(grid, grid.from - 5000, grid.from), null);
		assert.strictEqual(of.cellsOfRange(grid, grid.to, grid.to + 1), null);
		assert.deepStrictEqual(of.cellsOfRange(grid, 0, 2 * NOW), [0, grid.columns * grid.rows - 1]);
	},

	ticks_leave_room_and_lie_in_the_grid() {
		for (const length of [5000, HOUR, DAY, 20 * DAY]) {
			const grid = of.gridOf(NOW, NOW + length, 0, 0), ticks = of.ticksOf(grid, 12, 0);
			assert(ticks.length > 1 && ticks.length <= 13, String(ticks.length));
			assert(ticks.every(tick => tick >= grid.from && tick < grid.to));
		}
	},

	zooming_out_and_moving_end_now() {
		const range = { from: NOW - HOUR, to: NOW };
		assert.deepStrictEqual(of.widened(range, 4, NOW), { from: NOW - 4 * HOUR, to: NOW });
		assert.deepStrictEqual(of.moved(range, 0.5, NOW), range);
		assert.deepStrictEqual(of.moved(range, -0.5, NOW), { from: NOW - 1.5 * HOUR, to: NOW - HOUR / 2 });
		assert.deepStrictEqual(of.widened({ from: NOW - 3 * HOUR, to: NOW - 2 * HOUR }, 2, NOW),
			{ from: NOW - 3.5 * HOUR, to: NOW - 1.5 * HOUR });
	},

	words_with_a_sign_are_selectors_or_labels() {
		assert.deepStrictEqual(of.parseWhere('pod=shop/api- version=1.2 Tomcat team="web shop" pid=47 x= =y'), {
			selectors: [["pod", "shop/api-"], ["label", "version=1.2"], ["label", "team=web shop"], ["pid", "47"]],
			words: ["tomcat", "=y"] });
		assert.deepStrictEqual(of.parseWhere("label=a=b"), { selectors: [["label", "a=b"]], words: [] });
	},

	a_selector_takes_the_place_of_the_same_one() {
		assert.strictEqual(of.withWhere("pod=a Tomcat", "pod", "b"), "Tomcat pod=b");
		assert.strictEqual(of.withWhere("pod=a", "team", "web shop"), 'pod=a "team=web shop"');
		assert.deepStrictEqual(of.parseWhere(of.withWhere("", "team", "web shop")).selectors,
			[["label", "team=web shop"]]);
		assert.strictEqual(of.withWhere("pod=a x", "pod", ""), "x");
	},

	words_are_found_in_all_that_is_shown() {
		const row = { title: "org.Shop", pid: 4711, pod: "api-1", namespace: "shop", labels: { version: "1.2" }, runtime: "OpenJDK" };
		for (const words of [[], ["shop"], ["org.shop", "471"], ["shop/api"], ["version=1.2"], ["openjdk"]])
			assert(of.fitsWords(row, words), words.join());
		assert(!of.fitsWords(row, ["shop", "cart"]));
	},

	a_deployment_is_what_its_pods_begin_with() {
		for (const [pod, name] of [["api-7d9f8c6b5-x2k1q", "api-"], ["db-0", "db-"], ["node-agent-x7k2p", "node-agent-"],
			["plain", "plain"], ["my-api-7d9f8c6b5c-x2k1q", "my-api-"]])
			assert.strictEqual(of.deploymentOf("shop", pod), "shop/" + name);
		assert.strictEqual(of.deploymentOf("", "db-12"), "db-");
	},

	labels_that_differ_are_offered() {
		assert.deepStrictEqual(of.differingLabels([{ labels: { version: "2", team: "a" } }, { labels: { version: "1", team: "a" } }, {}]),
			[["version", ["1", "2"]]]);
	},

	an_address_has_all_of_a_state() {
		const state = { ...of.newState(), view: "graph", isUtc: true, shownFrom: NOW - DAY, shownTo: NOW, from: NOW - HOUR,
			to: NOW - 1800000, keys: ["a.1", "b=&2"], where: 'pod=x "team=a b"', kind: "wall", sort: "title", isUp: true,
			compares: true, dragsBefore: true, beforeFrom: NOW - 3 * HOUR, beforeTo: NOW - 2 * HOUR, beforeKeys: ["c"],
			beforeWhere: "version=1.1", inner: "#zoom=AbC_&search=x%20y", isLive: true };
		assert.deepStrictEqual(of.stateOf(of.addressOf(state)), state);
		assert.strictEqual(of.addressOf(of.newState()), "#");
		assert.deepStrictEqual(of.stateOf(""), of.newState());
	},

	a_wrong_address_is_a_state_that_can_be_shown() {
		const state = of.stateOf("#view=nonsense&from=abc&to=5&shown-from=9&shown-to=3&before-from=1e400&before-to=2&x=y");
		assert.deepStrictEqual(state, of.newState());
		assert.deepStrictEqual(of.stateOf("#%E0%A4%A&&&=").view, "jvms");
	},

	a_link_cannot_ask_for_more_than_can_be_drawn() {
		const state = of.stateOf("#shown-from=1&shown-to=8640000000000000&from=5&to=" + (6 + of.LONGEST_MS));
		assert.deepStrictEqual(state, of.newState());
		assert.strictEqual(of.widened({ from: NOW - of.LONGEST_MS, to: NOW }, 4, NOW).from, NOW - of.LONGEST_MS);
	},

	the_range_in_the_graph_does_not_go_to_another_range() {
		assert.strictEqual(of.innerElsewhere("#zoom=AbC_&from=3&to=9&search=a%26b"), "#zoom=AbC_&search=a%26b");
		assert.strictEqual(of.innerElsewhere("#from=3"), "");
		assert.strictEqual(of.innerElsewhere(""), "");
	},

	the_last_minute_ends_with_a_whole_window() {
		assert.deepStrictEqual(of.liveRange(NOW + 7777, 10000),
			{ shownFrom: NOW - 600000, shownTo: NOW, from: NOW - 60000, to: NOW });
	},

	a_question_has_keys_or_selectors_and_one_side_or_two() {
		const state = { ...of.newState(), from: 100, to: 200, where: "pod=api- version=2 word" };
		assert.strictEqual(of.graphQuestion(state, "cpu", "svg"),
			"/api/v1/graph?from=100&to=200&pod=api-&label=version%3D2&kind=cpu&format=svg");
		const keyed = { ...state, keys: ["k1", "k2"] };
		assert.strictEqual(of.graphQuestion(keyed, "cpu", "html"),
			"/api/v1/graph?from=100&to=200&process=k1&process=k2&kind=cpu&format=html");
		const compared = { ...keyed, compares: true, beforeFrom: 10, beforeTo: 20 };
		assert.strictEqual(of.graphQuestion(compared, "cpu", "html"), "/api/v1/diff?from=100&to=200&process=k1&process=k2" +
			"&kind=cpu&format=html&before-from=10&before-to=20");
		assert.strictEqual(of.graphQuestion({ ...compared, compares: false }, "cpu", "html"), of.graphQuestion(keyed, "cpu", "html"));
		const versions = { ...state, compares: true, beforeWhere: "pod=api- version=1" };
		assert.match(of.graphQuestion(versions, "cpu", "html"), /&before-from=100&before-to=200&before-pod=api-&before-label=version%3D1$/);
		const others = { ...keyed, compares: true, beforeKeys: ["k3"] };
		assert.match(of.graphQuestion(others, "cpu", "html"), /&before-from=100&before-to=200&before-process=k3$/);
		assert.strictEqual(of.listQuestion({ ...state, kind: "wall" }, { from: 1, to: 2 }, 60),
			"/api/v1/processes?from=1&to=2&buckets=60&kind=wall&pod=api-&label=version%3D2");
		assert.strictEqual(of.heatQuestion({ keys: ["k"], where: "" }, { from: 1, to: 2, columns: 3, rows: 4 }, "cpu"),
			"/api/v1/heat?from=1&to=2&process=k&kind=cpu&columns=3&rows=4");
	},

	there_is_nothing_to_compare_without_a_range_or_another_side() {
		assert(!of.isCompared({ ...of.newState(), compares: true, beforeFrom: 1, beforeTo: 2 }));
		assert(!of.isCompared({ ...of.newState(), compares: true, from: 1, to: 2 }));
		assert(of.isCompared({ ...of.newState(), compares: true, from: 1, to: 2, beforeWhere: "a=b" }));
	},

	colours_go_from_the_least_to_the_most_and_idle_is_none_of_these() {
		const scale = of.heatScale([null, 0, 0, 10, 20, 30]);
		assert.deepStrictEqual(scale, { low: 10, high: 30 });
		assert.strictEqual(of.heatPart(0, scale), 0);
		assert(of.heatPart(10, scale) > 0.1 && of.heatPart(20, scale) < 1);
		assert.strictEqual(of.heatPart(30, scale), 1);
		assert.strictEqual(of.heatPart(99, scale), 1);
		assert.strictEqual(of.heatPart(7, of.heatScale([7, 7])), 1);
		assert.deepStrictEqual(of.heatScale([null, 0]), { low: 0, high: 0 });
		assert.deepStrictEqual(of.rampAt([[0, 0, 0], [100, 200, 50]], 0.5), [50, 100, 25]);
		assert.deepStrictEqual(of.rampAt([[0, 0, 0], [100, 200, 50]], 7), [100, 200, 50]);
	},

	rows_are_sorted_by_a_column_and_empty_ones_are_last() {
		const row = (pid, title, samples, pod) => ({ pid, title, pod, namespace: "", labels: {}, first_ms: pid, last_ms: pid,
			is_live: false, kinds: samples ? [{ name: "cpu", unit: "samples", samples, unnamed: pid, unrooted: 0 }] : [] });
		const rows = [row(1, "b", 5, "y"), row(2, "a", 50, ""), row(3, "c", 0, "x")];
		const order = (...how) => of.sortedRows(rows, ...how, "cpu").map(({ pid }) => pid).join("");
		assert.strictEqual(order("amount", false), "213");
		assert.strictEqual(order("amount", true), "312");
		assert.strictEqual(order("title", true), "213");
		assert.strictEqual(order("place", true), "312");
		assert.strictEqual(order("place", false), "132");
		assert.strictEqual(order("named", true), "123");
		assert.strictEqual(order("nonsense", false), "213");
		assert.strictEqual(of.shareOf(rows[1], "cpu", "unnamed"), 0.96);
		assert.strictEqual(of.shareOf(rows[2], "cpu", "unnamed"), null);
	},

	a_sparkline_has_a_bar_for_each_number() {
		assert.strictEqual(of.sparkPath([0, 2, 1], 16), "M0 16V16H1V0H2V8H3V16Z");
		assert.strictEqual(of.sparkPath([], 16), "M0 16V16Z");
	},
};

let failures = 0;
for (const [name, run] of Object.entries(tests)) {
	try {
		run();
	} catch (error) {
		failures++;
		console.log("FAILED " + name + ": " + error.message);
	}
}
console.log(`${Object.keys(tests).length} tests, ${failures} failures`);
process.exit(failures ? 1 : 0);
