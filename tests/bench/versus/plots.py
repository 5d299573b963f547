# SPDX-License-Identifier: Apache-2.0
"""The page: the tables, and a plot of each cost against what drives the cost.

Both axes of a plot are logarithmic, so that a cost that grows as a power is a straight line, whose
slope is the exponent.
"""

import html
import math

from versus import fit, report
from versus.model import OURS

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 460, 280, 62, 40, 14, 34
COLORS = ["#c2410c", "#2563eb", "#0f766e", "#7c3aed", "#64748b", "#be185d"]
STYLE = """
:root { color-scheme: light dark; --line: #d4d4d8; --faint: #71717a; --ours: #c2410c14; }
@media (prefers-color-scheme: dark) { :root { --line: #3f3f46; --faint: #a1a1aa; } }
body { font: 14px/1.45 system-ui, sans-serif; max-width: 1240px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: .6em 0; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .2em .7em; text-align: right; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
.ours { background: var(--ours); }
small, li { color: var(--faint); } b { color: #dc2626; }
.plots { display: flex; flex-wrap: wrap; gap: 1em; } h3 { margin-bottom: .2em; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
"""


def decades(low, high):
    """Marks of a logarithmic axis: 1, and where there is room for them 2 and 5, of each decade."""
    marks = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in (1, 2, 5) if high / low < 50 else (1,):
            mark = step * 10.0 ** power
            if low <= mark * 1.0001 and mark <= high * 1.0001:
                marks.append(mark)
    return marks


def scale(low, high, start, end):
    """From a logarithmic range to pixels."""
    span = math.log(high / low) or 1
    return lambda value: start + (end - start) * math.log(value / low) / span


def axis(points, position):
    numbers = [point[position] for series in points.values() for point in series]
    return min(numbers) / 1.15, max(numbers) * 1.15


def plot(results, quantity):
    """An SVG, or nothing where there is no growth to be seen."""
    points = {name: [(x, y) for x, y in report.points_of(results, name, quantity)
                     if x > 0 and y > 0] for name in results.contenders()}
    points = {name: series for name, series in points.items() if len(series) > 1}
    if not points:
        return ""
    across = scale(*axis(points, 0), LEFT, WIDTH - RIGHT)
    up = scale(*axis(points, 1), HEIGHT - BOTTOM, TOP)
    out = [f'<svg width="{WIDTH}" height="{HEIGHT + 16 * len(points)}" role="img">']
    for mark in decades(*axis(points, 0)):
        out.append(f'<path d="M{across(mark):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="var(--line)"/>'
                   f'<text x="{across(mark):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                   f'text-anchor="middle">{mark:,.0f}</text>')
    for mark in decades(*axis(points, 1)):
        out.append(f'<path d="M{LEFT} {up(mark):.1f}H{WIDTH - RIGHT}" stroke="var(--line)"/>'
                   f'<text x="{LEFT - 6}" y="{up(mark) + 4:.1f}" text-anchor="end">'
                   f'{report.number(mark)}</text>')
    unit = results.row.quantities[quantity].unit
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
               f'{html.escape(results.row.driver)}</text>'
               f'<text transform="translate(12 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
               f'{html.escape(quantity + (", " + unit if unit else ""))}</text>')
    for place, (name, series) in enumerate(points.items()):
        color, exponent = COLORS[place % len(COLORS)], fit.exponent(series)
        line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in series)
        width = 2.5 if name == OURS else 1.5
        y_of_key = HEIGHT + 12 + 16 * place
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" '
                   f'stroke-width="{width}"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{color}"/>'
                for x, y in series]
        out.append(f'<path d="M{LEFT} {y_of_key - 4}h18" stroke="{color}" '
                   f'stroke-width="{width}"/><text x="{LEFT + 24}" y="{y_of_key}">'
                   f'{html.escape(name)}: grows with the power {exponent:.2f}</text>')
    return "".join(out) + "</svg>"


def text_of(markdown):
    return html.escape(markdown).replace("**worse**", "<b>worse</b>")


def section(results):
    head, lines = report.table_of(results)
    out = [f"<h3>{html.escape(results.row.name)}: {html.escape(results.row.title)}</h3>"]
    if lines:
        out.append("<table><tr>" + "".join(f"<th>{html.escape(word)}</th>" for word in head)
                   + "</tr>")
        out += ["<tr>" + "".join(f"<td{' class=ours' if of.startswith(OURS) else ''}>"
                                 f"{text_of(word)}</td>" for of, word in zip(head, line)) + "</tr>"
                for line in lines] + ["</table>"]
    sayings = {what: said for what, said in report.sayings_of(results).items() if said}
    out.append("<ul>" + "".join(f"<li>{what}: {html.escape('; '.join(said))}.</li>"
                                for what, said in sayings.items()) + "</ul>")
    plots = [drawn for quantity in results.row.quantities if (drawn := plot(results, quantity))]
    if plots:
        out.append(f'<div class="plots">{"".join(plots)}</div>')
    return "\n".join(out)


def as_html(found, about):
    out = [f"<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>{OURS} beside its "
           f"peers</title><style>{STYLE}</style><h1>{OURS} beside its peers</h1>",
           *(f"<small>{html.escape(line)}</small><br>" for line in report.about_lines(about))]
    group = None
    for results in found:
        if results.row.group != group:
            group = results.row.group
            out.append(f"<h2>{html.escape(group)}</h2>")
        out.append(section(results))
    if about["growth"]:
        out.append(f"<h2>{report.GROWTH}</h2><ul>" + "".join(
            f"<li>{html.escape(line)}</li>" for line in about["growth"]) + "</ul>")
    return "\n".join(out) + "</html>\n"
