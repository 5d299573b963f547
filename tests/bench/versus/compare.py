# SPDX-License-Identifier: Apache-2.0
"""Runs of different days or machines beside each other: the ratios of each, with their spread."""

from versus import report

DISAGREE = "**disagree**"
LEAST_ROUNDS = 3  # a run of fewer has no spread that could be told from chance


def text_of(ratio):
    return f"{report.number(ratio[0])}× ({report.number(ratio[1])} to {report.number(ratio[2])})"


def rounds_of(results, value, contender, quantity):
    """Of how many rounds there is a ratio."""
    return sum(base > 0 for _, base in zip(results.of(value, contender, quantity),
                                           results.of(value, results.row.base, quantity)))


def do_disagree(ratios):
    """Whether what is more in all rounds of one run is less in all rounds of another."""
    return any(ratio[1] > 1 for ratio in ratios) and any(ratio[2] < 1 for ratio in ratios)


def lines_of(row, runs):
    """What all runs have of a row, each line a list of texts."""
    lines = []
    for value in row.values:
        for quantity in row.quantities:
            for contender in runs[0].contenders():
                ratios = [report.ratio_of(results, value, contender, quantity) for results in runs]
                if not all(ratios):
                    continue
                what = f"{row.name}, {quantity}"
                if value is not None:
                    what += f", {report.label(row, value)}"
                rounds = min(rounds_of(results, value, contender, quantity) for results in runs)
                is_sure = rounds >= LEAST_ROUNDS and do_disagree(ratios)
                lines.append([what, f"{contender} / {row.base}", *map(text_of, ratios),
                              DISAGREE if is_sure else ""])
    return lines


def head_of(about):
    kind = about["machine"]
    return f"{about['date']}, {kind['cpu']}"


def as_markdown(abouts, founds):
    """abouts: of each run; founds: of each run {name of a row: Results}."""
    lines = []
    for name, results in founds[0].items():
        if all(name in found for found in founds):
            lines += lines_of(results.row, [found[name] for found in founds])
    head = ["row", "ratio", *map(head_of, abouts), ""]
    n_disagree = sum(line[-1] == DISAGREE for line in lines)
    return "\n".join([
        "| " + " | ".join(head) + " |", "|" + "---|" * len(head),
        *("| " + " | ".join(line) + " |" for line in lines), "",
        f"Of {len(lines)} ratios {n_disagree} disagree: what is more in all rounds of one run is less "
        f"in all rounds of another, {LEAST_ROUNDS} rounds at least."])
