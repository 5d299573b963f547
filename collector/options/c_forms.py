# SPDX-License-Identifier: Apache-2.0
"""What the parsers get of the table: rows for getopt_long, rows with rules, and the texts of --help
as C.

An option's number is its letter, or one above all characters; the same in all rows of a name.
"""

from option_table import COLLECT, DRAW, MARKS

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
    # The first colon has getopt_long say nothing itself, and tell an option without its value.
    return ":" + "".join(letter + (":" if row.value else "")
                         for letter, row in sorted(rows.items()))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def quoted_lines(text):
    return "\n".join("\t" + quoted(line) for line in text.splitlines(keepends=True))


def command_bit(command):
    return f"OPTIONS_OF_{command.upper()}"


def bits(commands):
    return " | ".join(command_bit(command) for command in commands)


def listed(words, last):
    """a, b and c"""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def rows_of(table, line):
    """Rows of a command line, in the order in which C has them."""
    return [row for row in table.rows if set(row.commands) & set(COMMAND_LINES[line][1])]


def where(table, line, row):
    """The commands that have an option of that name, as people type them."""
    spelled = {"watch": "--watch"}
    commands = [command for command in COMMAND_LINES[line][1] if command != "fgcollect"
                for other in rows_of(table, line)
                if other.name == row.name and command in other.commands]
    return listed([spelled.get(command, command) for command in dict.fromkeys(commands)]
                  or ["fgcollect"], "and")


def others_text(table, rule, commands):
    """--kind wall or offcpu"""
    made = []
    for name, words in rule.others.items():
        row = table.option(name, commands)
        value = listed(words, "or") if words else row.value
        made.append(f"--{name}" + (f" {value}" if value else ""))
    return listed(made, "or")


def rule_lines(table, line, row, number):
    """The rules of a row, as C."""
    made, names = [], []
    prefix = COMMAND_LINES[line][0]
    for n, rule in enumerate(row.rules):
        commands = [one for one in rule.commands or row.commands if one in COMMAND_LINES[line][1]]
        if not commands:
            continue
        list_name = f"{line}_others_{number}_{n}"
        made.append(f"static const struct option_other {list_name}[] = {{")
        for name, words in rule.others.items():
            other = table.option(name, [*commands, *COMMAND_LINES[line][1]])
            words = quoted(" ".join(words)) if words else "NULL"
            made.append(f"\t{{{constant(prefix, other.name)}, {words}}},")
        made += ["\t{0},", "};"]
        text = others_text(table, rule, [*commands, *COMMAND_LINES[line][1]])
        others = quoted(text) if rule.kind == "needs" else "NULL"
        names.append(f"\t{{.is_needed = {'true' if rule.kind == 'needs' else 'false'},\n"
                     f"\t .commands = {bits(commands)},\n"
                     f"\t .own = {quoted(' '.join(rule.own)) if rule.own else 'NULL'},\n"
                     f"\t .others = {others},\n"
                     f"\t .why = {quoted(rule.why) if rule.why else 'NULL'},\n"
                     f"\t .list = {list_name}}},")
    if not names:
        return [], 0
    return [*made, f"static const struct option_rule {line}_rules_{number}[] = {{", *names, "};"], \
        len(names)


def marks_of(row):
    return " | ".join(f"OPTIONS_FOR_{mark.upper()}" for mark in (row.text("mark") or "").split()) \
        or "0"


def row_lines(table, line):
    """The rows with their rules, as C."""
    made, rows = [], [f"const struct option_row {line}_rows[] = {{"]
    for number, row in enumerate(rows_of(table, line)):
        rules, n_rules = rule_lines(table, line, row, number)
        made += rules
        commands = [one for one in row.commands if one in COMMAND_LINES[line][1]]
        rows.append(f"\t{{{constant(COMMAND_LINES[line][0], row.name)}, {bits(commands)},\n"
                    f"\t {quoted(row.told())}, {quoted(where(table, line, row))}, "
                    + (f"{line}_rules_{number}, {n_rules}" if n_rules else "NULL, 0")
                    + f", {marks_of(row)}}},")
    return [*made, *rows, "\t{0},", "};", ""]


def header(table, helps):
    made = ["/* Made of collector/options/: what options there are. */",
            "#ifndef FG_OPTIONS_TABLES_H", "#define FG_OPTIONS_TABLES_H", "",
            '#include "options/option_row.h"', "", "#include <getopt.h>", "", "enum {",
            *(f"\t{command_bit(command)} = 1 << {n},"
              for n, command in enumerate((*COLLECT, *DRAW))), "};", "", "enum {",
            *(f"\tOPTIONS_FOR_{mark.upper()} = 1 << {n}," for n, mark in enumerate(MARKS)), "};", ""]
    for line in COMMAND_LINES:
        made += [*enum_lines(table, line), "",
                 f"extern const char {line}_short_options[];",
                 f"extern const struct option {line}_long_options[]; /* ends with zeroes */",
                 f"extern const struct option_row {line}_rows[]; /* ends with zeroes */", ""]
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
        made += ["\t{0},", "};", "", *row_lines(table, line)]
    made.append("const struct missing_option missing_options[] = {")
    for row in table.rows:
        if row.has("instead"):
            made.append(f'\t{{"{row.name}", {quoted(row.text("instead"))}}},')
    made += ["\t{NULL, NULL},", "};", ""]
    for name, text in helps.items():
        made += [f"const char help_of_{name}[] =", quoted_lines(text) + ";", ""]
    return "\n".join(made)
