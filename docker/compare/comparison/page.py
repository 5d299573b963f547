# SPDX-License-Identifier: Apache-2.0
"""The index: one static page without scripts, whose links are all relative.

Whatever comes from outside goes through escape(); the policy in the head allows nothing but the
page's own style sheet, by its hash.
"""

import base64
import hashlib
import html
import pathlib
import urllib.parse

CSS = pathlib.Path(__file__).with_name("page.css")
# In the order of a reader's interest.
GRAPHS = (("html", "graph"), ("svg", "SVG"), ("folded", "stacks"), ("fgrec", "recording"))
RESULTS = (("csv", "requests"), ("log", "log"))
NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def escape(value):
    return html.escape(str(value), quote=True)


def link(path, text, label):
    """label: what the link is of, for who hears it out of its context."""
    address = escape(urllib.parse.quote(path))
    return f'<a href="{address}" aria-label="{escape(label)}">{escape(text)}</a>'


def links(files, kinds, of):
    return " ".join(link(files[kind], text, f"{text} of {of}")
                    for kind, text in kinds if kind in files)


def number(value, digits=0):
    return NONE if value is None else f"{value:,.{digits}f}"


def table(label, head, rows):
    """head: of cells' HTML; rows: of lists of these, of which the first heads its row."""
    lines = [f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}"><table>',
             "<thead><tr>" + "".join(cell if cell.startswith("<th")
                                     else f'<th scope="col">{cell}</th>' for cell in head)
             + "</tr></thead><tbody>"]
    for first, *rest in rows:
        lines.append(f'<tr><th scope="row">{first}</th>'
                     + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>"
                               for cell in rest) + "</tr>")
    return "\n".join(lines) + "\n</tbody></table></div>\n"


def text_head(text):
    """A column's head, over text that begins at the left."""
    return f'<th scope="col" class="text">{escape(text)}</th>'


def heading(result):
    title = result["title"] if result["title"] != result["name"] else ""
    return escape(result["name"]) + (f'<span class="title">{escape(title)}</span>' if title else "")


def measured(result):
    found = result["requests"]
    failed = found["failed"]
    files, name = result["files"], result["name"]
    return [heading(result), f'<td class="text files">{links(files, GRAPHS, name)}<br>'
            f'{links(files, RESULTS, name)}</td>',
            number(found["per_second"], 1), number(found["mean_ms"], 1),
            *(number(found[f"p{p}_ms"]) for p in (50, 95, 99)), number(found["max_ms"]),
            f'<td class="bad">{failed:,}</td>' if failed else "0",
            number(result["samples"]), number(result["cpus"], 2), number(result["cpu_ms"], 2)]


def configurations(done):
    if not done:
        return '<p class="bad">No configuration has been measured to its end.</p>\n'
    head = ["configuration", text_head("flame graph, files"), "requests/s", "mean ms", "median",
            "95 %", "99 %", "slowest", "failed", "samples", "CPUs used",
            "CPU ms a request"]
    return (table("What was measured of each configuration", head, map(measured, done))
            + '<p class="soft">Requests and their latency in ms are what JMeter measured while the '
            "flame graph was recorded. Samples are of the application's JVM; the CPUs that it used "
            "are their number by rate and time.</p>\n")


def package_table(rows, done):
    if not rows:
        return ""
    head = ["package", *(escape(result["name"]) for result in done)]
    lines = [[f'<span class="method">{escape(row["package"])}</span>',
              *(f"{share * 100:.1f} %" if share else NONE for share in row["shares"])]
             for row in rows]
    return ("<h2>Where the time goes</h2>\n"
            "<p>Samples with a frame of that package on the stack, as a share of the "
            "configuration's. A sample counts for each package that it has.</p>\n"
            + table("Where the time goes", head, lines))


def requests_table(done):
    rows = []
    for result in done:
        for label, found in result["requests"]["labels"].items():
            rows.append([escape(result["name"]), f'<td class="text">{escape(label)}</td>',
                         number(found["count"]), number(found["mean_ms"], 1),
                         *(number(found[f"p{p}_ms"]) for p in (50, 95, 99)),
                         number(found["max_ms"])])
    head = ["configuration", text_head("request"), "requests", "mean ms", "median",
            "95 %", "99 %", "slowest"]
    return "<h2>By request</h2>\n" + table("By request", head, rows) if rows else ""


def quality(done):
    if not done:
        return ""
    lines = ['<h2>How good the recordings are</h2>\n<dl class="quality">']
    for result in done:
        lines.append(f"<dt>{escape(result['name'])}</dt><dd>{escape(result['quality'])}</dd>")
        lines += [f'<dd class="bad">{escape(text)}</dd>' for text in result["warnings"]]
        if result["requests"]["failed"]:
            lines.append(f'<dd class="bad">failed requests: '
                         f'{escape(result["requests"]["failures"])}</dd>')
    return "\n".join(lines) + "\n</dl>\n"


def failures(results):
    parts = []
    for result in results:
        if result["state"] == "done":
            continue
        if result["state"] == "not run":
            parts.append(f'<div class="failed"><h3>{escape(result["name"])}</h3>'
                         f'<p><strong>Not run:</strong> {escape(result["reason"])}</p></div>')
            continue
        tail = result.get("log_tail")
        parts.append(f'<div class="failed"><h3>{heading(result)}</h3>'
                     f'<p><strong>Failed in {escape(result["stage"])}:</strong> '
                     f'{escape(result["reason"])}</p>'
                     + (f"<pre>{escape(tail)}</pre>" if tail else "")
                     + f'<p class="files">'
                     f'{links(result["files"], GRAPHS + RESULTS, result["name"])}</p></div>')
    return f"<h2>What failed</h2>\n{''.join(parts)}\n" if parts else ""


def pair_links(pair):
    of = f"the difference from {pair['before']} to {pair['after']}"
    if "reason" in pair:
        return f'<td class="text bad">{escape(pair["reason"])}</td>'
    return f'<td class="text files">{links(pair["files"], GRAPHS, of)}</td>'


def signed(share):
    text = f"{abs(share) * 100:.2f} %"
    return (MINUS if share < 0 else "+") + text


def change_row(change):
    mark = ("new" if change["new"] else "gone" if change["gone"] else
            "noise" if change["noise"] else "")
    difference = change["after"] - change["before"]
    side = "soft" if change["noise"] else "more" if difference > 0 else "less"
    return [f'<span class="method">{escape(change["method"])}</span>',
            f"{change['before'] * 100:.2f} %", f"{change['after'] * 100:.2f} %",
            f'<td class="{side}">{signed(difference)}</td>', f'<td class="text">{mark}</td>']


def differences(pairs):
    if not pairs:
        return ""
    rows = [[escape(pair["before"]), f'<td class="text">{escape(pair["after"])}</td>',
             pair_links(pair)] for pair in pairs]
    parts = ["<h2>Differences</h2>\n",
             table("Differences", ["from", text_head("to"), text_head("difference")], rows)]
    for pair in pairs:
        if pair.get("changes"):
            of = f"From {pair['before']} to {pair['after']}"
            parts += [f"<h3>{escape(of)}: methods whose own samples changed most</h3>\n",
                      table(of, ["method", "before", "after", "change", text_head("mark")],
                            map(change_row, pair["changes"]))]
    return "".join(parts)


def page(report):
    """The whole page, of what comparison.json holds."""
    results = report["configurations"]
    done = [result for result in results if result["state"] == "done"]
    css = CSS.read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
              "form-action 'none'")
    load, record = report["load"], report["record"]
    rate = f"at most {load['rate']:,} requests a second" if load["rate"] else "as fast as it goes"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(report['title'])}</title>
<style>{css}</style>
</head>
<body>
<a class="skip" href="#main">To the results</a>
<h1>{escape(report['title'])}</h1>
<p class="soft">{escape(report['began'])} on {escape(report['host'])}, {report['cpus']} CPUs.
The same load on each, one after the other: {load['threads']:,} users, {rate}, {load['warm_up']:,} s
to warm up, then {record['seconds']:,} s recorded at {record['hz']:,} Hz.</p>
<main id="main">
<h2>Configurations</h2>
{configurations(done)}{failures(results)}{package_table(report['packages'], done)}\
{differences(report['differences'])}{requests_table(done)}{quality(done)}\
<p class="soft">All numbers are in
{link('comparison.json', 'comparison.json', 'all numbers as JSON')}.</p>
</main>
</body>
</html>
"""
