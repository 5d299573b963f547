# SPDX-License-Identifier: Apache-2.0
"""What people read of the table: --help, and pages of the manual.

Both are templates with lines of their own. A line "@options what --pid@" becomes the options of
section "what" and --pid, as far as the template's commands have them; "@others@" in a page becomes
the names of all that no list of the page has.
"""

import re

from option_table import COLLECT, COMMANDS, DRAW, Wrong

TEXT_COLUMN = 25  # of what help says of an option
TAB = 4           # text moves by so many columns where an option's name is too long

# {a help: the parts that it is made of, and the commands whose options are in it}
HELPS = {"all": (["all"], COLLECT), "fgcollect": (["fgcollect"], COLLECT),
         "record": (["record"], ["record"]), "watch": (["watch"], ["watch"]),
         "replay": (["replay"], ["replay"]), "top": (["top"], ["top"]),
         "history": (["history"], ["history"]),
         "list": (["list"], ["list"]), "doctor": (["doctor"], ["doctor"]),
         "render": (["render", "drawing"], DRAW), "diff": (["diff", "drawing"], DRAW)}

WHOLE = ("top", "history", "list", "doctor", *DRAW)  # whose help has every option

DIRECTIVE = re.compile(r"@(options|others)((?: \S+)*)@")


def help_head(row):
    head = row.text("shown")
    if not head:
        head = ", ".join(row.spellings()) + (f" {row.value}" if row.value else "")
    return ("  " if re.match(r"-\w", head) else 6 * " ") + head


def help_lines(row, command):
    head, lines = help_head(row), row.lines("help", command)
    if lines == ["-"]:
        return [head]
    column = TEXT_COLUMN
    while len(head) + (1 if column == TEXT_COLUMN else 2) > column:
        column += TAB
    return [head.ljust(column) + lines[0], *(TEXT_COLUMN * " " + line for line in lines[1:])]


def help_text(table, name, templates, commands):
    made = []
    for line in "".join(templates).splitlines():
        found = DIRECTIVE.fullmatch(line)
        if not found:
            made.append(line)
            continue
        for row in table.chosen(found[2].split(), commands):
            made += help_lines(row, name) if row.has("help") else []
    return "\n".join(made) + "\n"


def check_helps(table, helps):
    """Each option is named in --help-all of its commands."""
    for row in table.rows:
        for command in row.commands:
            where = {"top": ["all", "top"]}.get(command, [command if command in WHOLE else "all"])
            texts = [helps[name] for name in where]
            for name in row.spellings():
                if not any(re.search(rf"(?<![\w-]){name}(?![\w-])", text) for text in texts):
                    raise Wrong(f"{row.where}: {name} is nowhere in the help of {command}: a "
                                "section without a place in help/, or a row without help")


def page_value(row):
    """[namespace/]name -> Ar, with Oo and Oc around what may be left out."""
    text = row.long_value()
    if found := re.fullmatch(r"\[(\w+)([^\w])\](\w+)", text):
        glue = found[2] if found[2] in ":,;" else f"Ns {found[2]}"
        return f"Oo Ar {found[1]} {glue} Oc Ns Ar {found[3]}"
    if found := re.fullmatch(r"(\w+)=(\w+)", text):
        return f"Ar {found[1]} Ns = Ns Ar {found[2]}"
    return f"Ar {text}"


def page_names(row):
    """Fl p , -pid Ar pid"""
    names = " , ".join(spelling[1:] for spelling in row.spellings())
    return f"Fl {names}" + (f" {page_value(row)}" if row.value else "")


def page_lines(row, command):
    """The paragraph of its own, or else what help says."""
    if lines := row.lines("page", command):
        return lines
    text = (row.help_text() or row.brief()).replace("\\", "\\e")
    text = re.sub(r"^([.'])", r"\\&\1", text)
    return [text if text.endswith(".") else text + "."]


def page_list(rows, command):
    made = [".Bl -tag -width indent"]
    for row in rows:
        made += [f".It {page_names(row)}", *page_lines(row, command)]
    return made + [".El"]


def page_others(rows):
    *some, last = rows
    made = [f".{page_names(row)} ," for row in some]
    if made:
        made[-1] = made[-1].removesuffix(" ,")
        made.append("and")
    return made + [f".{page_names(last)} ."]


def page_text(table, template, command):
    lines = template.splitlines()
    listed = []
    for line in lines:
        if (found := DIRECTIVE.fullmatch(line)) and found[1] == "options":
            listed += table.chosen(found[2].split(), [command])
    others = [row for row in table.of(command) if not any(row is one for one in listed)]
    made, has_others = [], False
    for line in lines:
        found = DIRECTIVE.fullmatch(line)
        if not found:
            made.append(line)
        elif found[1] == "others":
            made += page_others(others)
            has_others = True
        else:
            made += page_list(table.chosen(found[2].split(), [command]), command)
    if others and not has_others and command in COMMANDS:
        raise Wrong(f"{others[0].where}: the page of {command} has no list of section "
                    f"{others[0].section}")
    return "\n".join(made) + "\n"


def helps_of(table, directory):
    """{name: text}"""
    texts = {}
    for name, (parts, commands) in HELPS.items():
        templates = [(directory / f"{part}.txt").read_text() for part in parts]
        texts[name] = help_text(table, name, templates, commands)
    check_helps(table, texts)
    return texts
