#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of the option table all that tells of options, at build time:

make_options.py TABLE_DIR OUT_DIR

  OUT_DIR/include/options/tables.h, OUT_DIR/tables.c   see c_forms.py
"""

import pathlib
import sys

import c_forms
import option_table
import text_forms


def make(directory, out):
    """{path: text} of all that is made."""
    table = option_table.read(directory)
    helps = text_forms.helps_of(table, directory / "help")
    return {out / "include" / "options" / "tables.h": c_forms.header(table, helps),
            out / "tables.c": c_forms.source(table, helps)}


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
