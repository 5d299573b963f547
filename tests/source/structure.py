# SPDX-License-Identifier: Apache-2.0
"""Which module includes which, as the sources say it. A module is dir/x.h with dir/x.c."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

# A tree of sources, and from where its includes are written: "code/code_map.h", "shared/wire.h".
TREES = {"collector": "collector", "jvmti-agent": "jvmti-agent", "shared": "."}
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def sources(tree):
    return sorted(path for path in (SOURCE / tree).rglob("*.[ch]") if path.is_file())


def programs():
    """What is shipped: the sources of both programs, and the pages' scripts."""
    return [path for tree in TREES for pattern in ("*.[ch]", "*.js")
            for path in sorted((SOURCE / tree).rglob(pattern))]


def module_of(path, base):
    return path.relative_to(SOURCE / base).with_suffix("").as_posix()


def graph_of(tree):
    """{module: the modules that it includes}, of one tree and of what is shared by all."""
    files = {path: module_of(path, base) for name, base in TREES.items()
             if name in (tree, "shared") for path in sources(name)}
    modules = set(files.values())
    graph = {module: set() for module in modules}
    for path, module in files.items():
        for include in INCLUDE.findall(path.read_text()):
            included = include.removesuffix(".h").removesuffix(".c")
            if included in modules and included != module:
                graph[module].add(included)
    return graph


def circles(graph):
    """The sets of nodes that lead to one another, each sorted; Tarjan's, without recursion."""
    number, low, stack, waiting, found = {}, {}, [], [], []
    for start in sorted(graph):
        if start in number:
            continue
        waiting.append((start, iter(sorted(graph[start]))))
        number[start] = low[start] = len(number)
        stack.append(start)
        while waiting:
            node, following = waiting[-1]
            for after in following:
                if after not in number:
                    number[after] = low[after] = len(number)
                    stack.append(after)
                    waiting.append((after, iter(sorted(graph.get(after, ())))))
                    break
                if after in stack:
                    low[node] = min(low[node], number[after])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[node])
                if low[node] == number[node]:
                    part = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def stages():
    """The collector's stages in the order in which the build makes them."""
    text = (SOURCE / "collector" / "CMakeLists.txt").read_text()
    return re.search(r"foreach\(stage ([^)]*)\)", text)[1].split()


def uses_of(stage, inside=None):
    """The stages that a stage names; inside: those for its .c files alone, or the others."""
    text = (SOURCE / "collector" / stage / "CMakeLists.txt").read_text()
    stage_text = text[text.index("fg_stage("):] if "fg_stage(" in text else ""
    stage_text = stage_text[:stage_text.find(")")]
    found = []
    for word, is_inside in (("USES", False), ("USES_INSIDE", True)):
        words = re.search(rf"\b{word}\s+([^)]*?)(?=\b[A-Z_]+\b|$)", stage_text)
        if words and inside in (None, is_inside):
            found += words[1].split()
    return found


# Headers that are made: {how they are included: their stage}, and who compiles what is made.
MADE = re.compile(r'^\s*#\s*include "(\w+\.pb\.h)"', re.M)
COMPILES_MADE = {"serve": {"options"}, "cli": {"options", "draw"}}


def included_of(stage, suffix):
    """The stages whose headers the files of that suffix include."""
    found = set(COMPILES_MADE.get(stage, ())) if suffix == ".c" else set()
    for path in (SOURCE / "collector" / stage).rglob(f"*{suffix}"):
        text = path.read_text()
        found |= {include.split("/")[0] for include in INCLUDE.findall(text) if "/" in include}
        found |= {"proto"} if MADE.search(text) else set()
    return {"wire" if one == "shared" else one for one in found} - {stage}
