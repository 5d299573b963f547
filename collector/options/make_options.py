#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of the option table all that tells of options, at build time:

make_options.py TABLE_DIR OUT_DIR

  OUT_DIR/include/options/tables.h, OUT_DIR/tables.c   see c_forms.py
  OUT_DIR/collect_set.c, OUT_DIR/draw_set.c            see setter_forms.py
  OUT_DIR/requests.c                                   see request_forms.py
  OUT_DIR/completions/                                 see completion_forms.py
  OUT_DIR/man/                                         see text_forms.py

Templates are in the folders beside TABLE_DIR.
"""

import pathlib
import sys

import c_forms
import completion_forms
import option_table
import request_forms
import setter_forms
import text_forms

COMPLETIONS = {"_fgcollect": completion_forms.zsh, "fgcollect.bash": completion_forms.bash,
               "fgcollect.fish": completion_forms.fish}


def make(directory, out):
    """{path: text} of all that is made."""
    table = option_table.read(directory)
    helps = text_forms.helps_of(table, directory / "help")
    made = {out / "include" / "options" / "tables.h": c_forms.header(table, helps),
            out / "tables.c": c_forms.source(table, helps)}
    for line in setter_forms.STRUCTS:
        made[out / f"{line}_set.c"] = setter_forms.source(table, line)
    made[out / "requests.c"] = request_forms.source(table)
    for name, form in COMPLETIONS.items():
        template = (directory.parent / "completions" / f"{name}.in").read_text()
        made[out / "completions" / name] = form(table, template)
    for path in (directory.parent / "man").glob("fgcollect-*.in"):
        command = path.name.removeprefix("fgcollect-").split(".")[0]
        page = text_forms.page_text(table, path.read_text(), command)
        made[out / "man" / path.stem] = page
    return made


def main(directory, out):
    try:
        made = make(pathlib.Path(directory), pathlib.Path(out))
    except option_table.Wrong as wrong:
        sys.exit(f"{directory}: {wrong}")
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
