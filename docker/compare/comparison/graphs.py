# SPDX-License-Identifier: Apache-2.0
"""Differential flame graphs of every two configurations that were recorded."""

import itertools
import json

from . import Failed
from .engine import call, last_line

TOP = 12
SECONDS = 120
KINDS = ("html", "svg", "folded")


def compare(tools, results):
    """A dict for each pair, in the matrix's order; one that fails has a reason."""
    done = [result for result in results if result["state"] == "done"]
    pairs = []
    for before, after in itertools.combinations(done, 2):
        pair = {"before": before["name"], "after": after["name"], "files": {}}
        try:
            draw(tools, before, after, pair)
        except Failed as failed:
            pair["reason"] = str(failed)
        pairs.append(pair)
    return pairs


def draw(tools, before, after, pair):
    directory = tools.out / "differences" / before["name"]
    directory.mkdir(parents=True, exist_ok=True)
    sides = [tools.out / side["files"]["fgrec"] for side in (before, after)]
    command = [tools.fgcollect, "diff", *sides, "--title",
               f"From {before['title']} to {after['title']}"]
    for kind in KINDS:
        path = directory / f"{after['name']}.{kind}"
        pair["files"][kind] = str(path.relative_to(tools.out))
        command += ["-o", path]
    finished = call([*command, "--json", "--top", TOP], SECONDS)
    if finished.returncode:
        pair["files"] = {}
        raise Failed(f"fgcollect diff: {last_line(finished.stderr)}")
    found = json.loads(finished.stdout[finished.stdout.index("{"):])
    pair["changes"] = [change(method, found) for method in found["methods"]]


def change(method, found):
    """Shares of each side's samples; new and gone are of the method wherever it is on a stack."""
    own = method["self"]
    return {"method": method["method"], "before": own["before"] / found["before"],
            "after": own["after"] / found["after"], "noise": own["noise"],
            "new": method["new"], "gone": method["gone"]}
