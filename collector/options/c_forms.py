# SPDX-License-Identifier: Apache-2.0
"""What the parsers get of the table: rows for getopt_long, and the texts of --help as C.

An option's number is its letter, or one above all characters; the same in all rows of a name.
"""

from option_table import COLLECT, DRAW

FIRST_NUMBER = 256

# {a command line: the prefix of its numbers}
COMMAND_LINES = {"collect": ("OPTION_", COLLECT), "draw": ("DRAW_OPTION_", DRAW)}


def constant(prefix, name):
    return prefix + name.upper().replace("-", "_")


def options_of(table, line):
    """{name: (row, its number's name)}, sorted by names."""
    prefix, commands = COMMAND_LINES[line]
    found = {}
    for row in table.rows:
        if set(row.commands) & set(commands):
            for name in row.names:
                found.setdefault(name, (row, constant(prefix, row.name)))
    if line == "draw":
        for row in table.rows:
            if row.has("instead"):
                found[row.name] = (row, constant(prefix, "missing"))
    return dict(sorted(found.items()))


def enum_lines(table, line):
    numbers, following = {}, FIRST_NUMBER
    for row, number in options_of(table, line).values():
        if number in numbers:
            continue
        numbers[number] = f"'{row.letter}'" if row.letter else str(following)
        following += 0 if row.letter else 1
    return ["enum {", *(f"\t{name} = {value}," for name, value in numbers.items()), "};"]


def letters(table, line):
    rows = {row.letter: row for row, _ in options_of(table, line).values() if row.letter}
    return "".join(letter + (":" if row.value else "") for letter, row in sorted(rows.items()))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def quoted_lines(text):
    return "\n".join("\t" + quoted(line) for line in text.splitlines(keepends=True))


def header(table, helps):
    made = ["/* Made of collector/options/: what options there are. */",
            "#ifndef FG_OPTIONS_TABLES_H", "#define FG_OPTIONS_TABLES_H", "",
            "#include <getopt.h>", ""]
    for line in COMMAND_LINES:
        made += [*enum_lines(table, line), "",
                 f"extern const char {line}_short_options[];",
                 f"extern const struct option {line}_long_options[]; /* ends with zeroes */", ""]
    made += ["/* Of other tools; ends with NULL. */",
             "extern const struct missing_option {", "\tconst char *name, *instead;",
             "} missing_options[];", "",
             *(f"extern const char help_of_{name}[];" for name in helps), "", "#endif", ""]
    return "\n".join(made)


def source(table, helps):
    made = ["/* Made of collector/options/, see tables.h. */", '#include "options/tables.h"', "",
            "#include <stddef.h>", ""]
    for line in COMMAND_LINES:
        made += [f'const char {line}_short_options[] = "{letters(table, line)}";', "",
                 f"const struct option {line}_long_options[] = {{"]
        for name, (row, number) in options_of(table, line).items():
            kind = "required_argument" if row.value else "no_argument"
            made.append(f'\t{{"{name}", {kind}, NULL, {number}}},')
        made += ["\t{0},", "};", ""]
    made.append("const struct missing_option missing_options[] = {")
    for row in table.rows:
        if row.has("instead"):
            made.append(f'\t{{"{row.name}", {quoted(row.text("instead"))}}},')
    made += ["\t{NULL, NULL},", "};", ""]
    for name, text in helps.items():
        made += [f"const char help_of_{name}[] =", quoted_lines(text) + ";", ""]
    return "\n".join(made)
