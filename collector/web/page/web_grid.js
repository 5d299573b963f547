// SPDX-License-Identifier: Apache-2.0
/*
 * The grid of a heat map: a range of time becomes columns, and each column cells, from its begin on. A
 * column is a round length of time that people count in, a cell a round part of a column.
 */

/* Lengths of columns and of cells. */
const GRID_STEPS = [
	[250, 15.625], [SECOND, 50], [5 * SECOND, 250], [10 * SECOND, 500], [MINUTE, SECOND],
	[5 * MINUTE, 5 * SECOND], [10 * MINUTE, 10 * SECOND], [HOUR, MINUTE],
	[2 * HOUR, 2 * MINUTE], [6 * HOUR, 5 * MINUTE], [12 * HOUR, 10 * MINUTE],
	[DAY, 30 * MINUTE], [7 * DAY, 3 * HOUR], [28 * DAY, 12 * HOUR],
];
const MOST_COLUMNS = 150;
const LONGEST_MS = MOST_COLUMNS * 28 * DAY - 28 * DAY;     // what is shown at once: columns are whole ones

const floorTo = (instant, step, offset) => Math.floor((instant + offset) / step) * step - offset;

/*
 * Whole columns that contain the range, which is no longer than LONGEST_MS. finest: no cell is shorter, ms;
 * offset: of the zone, so that a column of an hour is an hour of the clock.
 */
function gridOf(from, to, finest, offset)
{
	const fits = ([column]) => Math.ceil((to - floorTo(from, column, offset)) / column) <= MOST_COLUMNS;
	const [columnMs, cellMs] = GRID_STEPS.find(fits);
	const begin = floorTo(from, columnMs, offset);
	const columns = Math.max(1, Math.ceil((to - begin) / columnMs));
	const rows = Math.max(1, Math.floor(columnMs / Math.max(cellMs, finest)));
	return { from: begin, to: begin + columns * columnMs, columns, rows, columnMs, cellMs: columnMs / rows };
}

/* In whole milliseconds, down: what begins with the cell is in its range. */
const beginOfCell = (grid, cell) => Math.floor(grid.from + cell * grid.cellMs + 1e-6);

/* The range that cells a to b take together, whichever is first. */
const rangeOfCells = (grid, a, b) =>
	({ from: beginOfCell(grid, Math.min(a, b)), to: beginOfCell(grid, Math.max(a, b) + 1) });

/* First and last cell that a range touches; null for none of this grid. */
function cellsOfRange(grid, from, to)
{
	const all = grid.columns * grid.rows;
	const slack = Math.max(0.01, Math.min(0.5, 1 / grid.cellMs));     // a range is of whole milliseconds
	const first = Math.floor((from - grid.from) / grid.cellMs + slack);
	const last = Math.ceil((to - grid.from) / grid.cellMs - slack) - 1;
	return to > from && last >= 0 && first < all ? [Math.max(first, 0), Math.min(last, all - 1)] : null;
}

/* Times below the columns: of the lengths that people count in the least that leaves room for texts. */
function ticksOf(grid, most, offset)
{
	const lengths = [...GRID_STEPS.map(([column]) => column), 2 * SECOND, 30 * SECOND, 2 * MINUTE,
		20 * MINUTE, 30 * MINUTE, 3 * HOUR, 2 * DAY].sort((a, b) => a - b);
	const step = lengths.find(length => length >= grid.columnMs && (grid.to - grid.from) / length <= most) ||
		lengths[lengths.length - 1];
	const ticks = [];
	for (let at = floorTo(grid.from, step, offset); at < grid.to; at += step)
		if (at >= grid.from)
			ticks.push(at);
	return ticks;
}

/* A range of that many times the length around the same middle, and not past now. */
function widened({ from, to }, factor, now)
{
	const length = Math.min(Math.max(SECOND, Math.round((to - from) * factor)), LONGEST_MS);
	const end = Math.min(Math.round((from + to) / 2 + length / 2), Math.max(now, to));
	return { from: end - length, to: end };
}

/* A range moved by a part of its length, and not past now. */
function moved({ from, to }, part, now)
{
	const by = Math.min(Math.round((to - from) * part), Math.max(0, now - to));
	return { from: from + by, to: to + by };
}
