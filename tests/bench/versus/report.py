# SPDX-License-Identifier: Apache-2.0
"""What was measured as JSON, and as a Markdown table."""

import os
import pathlib
import platform

from versus import fit
from versus.model import NOBODY, OURS

GROWTH = "On paper: a host with 128 CPUs and 300 JVMs"


def machine():
    cpu = next((line.partition(":")[2].strip() for line in
                pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                if line.startswith("model name")), platform.machine())
    memory = next(int(line.split()[1]) for line in
                  pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    return {"cpu": cpu, "cpus": os.cpu_count(), "memory_gib": round(memory / 2**20, 1),
            "kernel": platform.release(), "architecture": platform.machine()}


def as_json(found, about):
    rows = []
    for results in found:
        row = results.row
        rows.append({
            "name": row.name, "group": row.group, "title": row.title, "driver": row.driver,
            "base": row.base,
            "quantities": {name: {"unit": quantity.unit, "wanted": quantity.wanted}
                           for name, quantity in row.quantities.items()},
            "figures": [{"at": value, "contender": contender, "quantity": quantity,
                         "values": numbers, "median": fit.median(numbers)}
                        for (value, contender, quantity), numbers in results.figures.items()],
            "growth": [{"contender": contender, "quantity": quantity,
                        "exponent": exponent_of(results, contender, quantity)}
                       for contender in results.contenders() for quantity in row.quantities
                       if exponent_of(results, contender, quantity) is not None],
            "missing": [{"at": value, "contender": contender, "why": why}
                        for (value, contender), why in results.missing.items()]})
    return {**about, "rows": rows}


def points_of(results, contender, quantity):
    if not results.row.driver:
        return []
    found = [(value, fit.median(results.of(value, contender, quantity)))
             for value in results.row.values]
    return [(x, y) for x, y in found if y is not None]


def exponent_of(results, contender, quantity):
    return fit.exponent(points_of(results, contender, quantity))


def number(value):
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"


def is_worse(results, value, quantity):
    """Whether a peer has less of it than we have: by the medians."""
    ours = fit.median(results.of(value, OURS, quantity))
    peers = [fit.median(results.of(value, contender, quantity))
             for contender in results.contenders()
             if not contender.startswith(OURS) and contender != NOBODY]
    peers = [peer for peer in peers if peer is not None]
    return ours is not None and bool(peers) and ours > min(peers)


def ratio_of(results, value, contender, quantity):
    """The contender over the row's base, by rounds; None for the base."""
    if contender == results.row.base:
        return None
    return fit.ratio(results.of(value, contender, quantity),
                     results.of(value, results.row.base, quantity))


def cell(results, value, contender, quantity):
    numbers = results.of(value, contender, quantity)
    if not numbers:
        return ""
    text = number(fit.median(numbers))
    if (spread := fit.spread(numbers)) is not None:
        text += f" ±{100 * spread:.0f} %"
    if ratio := ratio_of(results, value, contender, quantity):
        text += f" ({number(ratio[0])}×, {number(ratio[1])} to {number(ratio[2])})"
    if contender == OURS and is_worse(results, value, quantity):
        text += " **worse**"
    return text


def label(row, value):
    if value is None:
        return ""
    return f"{value:,}{row.unit_of_driver}" if isinstance(value, int) else str(value)


def table_of(results):
    """The head and the lines of a row's table, each a list of texts."""
    row, contenders = results.row, results.contenders()
    lines = []
    for value in row.values:
        for name, quantity in row.quantities.items():
            if any(results.of(value, contender, name) for contender in contenders):
                what = f"{name}, {quantity.unit}" if quantity.unit else name
                lines.append([label(row, value), what] + [
                    cell(results, value, contender, name) for contender in contenders])
    return ["", "", *contenders], lines


def growth_of(results):
    """Sentences, one for each quantity of ours that has an exponent."""
    found = []
    for quantity in results.row.quantities:
        grown = [f"{contender} {exponent:.2f}" for contender in results.contenders()
                 if (exponent := exponent_of(results, contender, quantity)) is not None]
        if grown:
            found.append(f"{quantity} by {results.row.driver}: " + ", ".join(grown))
    return found


def missing_of(results):
    found = []
    for (value, contender), why in results.missing.items():
        at = f" at {label(results.row, value)}" if value is not None else ""
        found.append(f"{contender or 'all'}{at}: {' '.join(why.split())}")
    return found


def wanted_of(row):
    return [f"{name}: {quantity.wanted}" for name, quantity in row.quantities.items()
            if quantity.wanted]


def sayings_of(results):
    """What stands below a row's table: {what: sentences}."""
    base = results.row.base
    return {"Ratios": [f"to {base}; less is better"], "Wanted": wanted_of(results.row),
            "Exponents": growth_of(results), "Not to be had": missing_of(results)}


def as_markdown(found, about):
    out = [f"# {OURS} beside its peers", "", *(f"- {line}" for line in about_lines(about)), ""]
    group = None
    for results in found:
        row = results.row
        if row.group != group:
            out += [f"## {row.group}", ""]
            group = row.group
        head, lines = table_of(results)
        out += [f"### {row.name}: {row.title}", ""]
        if lines:
            out += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
            out += ["| " + " | ".join(line) + " |" for line in lines] + [""]
        for what, sentences in sayings_of(results).items():
            if sentences:
                out.append(f"- {what}: {'; '.join(sentences)}.")
        out.append("")
    if about["growth"]:
        out += [f"## {GROWTH}", "", *(f"- {line}" for line in about["growth"]), ""]
    return "\n".join(out)


def about_lines(about):
    kind = about["machine"]
    return [f"{about['date']}, {about['rounds']} rounds at most, in alternation",
            f"{kind['cpus']} CPUs ({kind['cpu']}), {kind['memory_gib']} GiB, "
            f"Linux {kind['kernel']}, {kind['architecture']}",
            ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
            "medians; ± half of the distance between the quartiles; in brackets the median, the "
            "least and the greatest of the rounds' ratios"]
