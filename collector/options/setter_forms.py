# SPDX-License-Identifier: Apache-2.0
"""What a parser does with each option, as C: a function for each row of a command line that sets
the member by the row's type.
"""

from c_forms import quoted, rows_of
from option_table import Wrong

# {a command line: its struct, and the headers of what the table names}
STRUCTS = {"collect": ("options", ["cli/options.h", "cli/option_setters.h",
                                   "draw/draw_wait_options.h"]),
           "draw": ("draw_options", ["draw/draw_options.h", "draw/draw_wait_options.h"])}

TIME_UNITS = {"s": 1, "m": 60, "h": 60 * 60, "d": 24 * 60 * 60}
SIZE_UNITS = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# {the end of a member's name: so many are a second}
MEMBER_UNITS = {"_ns": "UINT64_C(1000000000)", "_sec": "1", "_seconds": "1"}


def number_of(row, text, units):
    """60s -> 60"""
    digits = text.rstrip("".join(units))
    if not digits.isdigit():
        raise Wrong(f"{row.where}: {text} is no such quantity")
    return int(digits) * units[text[len(digits):]]


def range_text(row, kind, words):
    """struct option_range, as C."""
    if kind == "count":
        what = " ".join(words[2:])
        return f"{{.least = {words[0]}, .most = {words[1]}, .what = {quoted(what)}}}"
    units = TIME_UNITS if kind == "time" else SIZE_UNITS
    least, most, example = (number_of(row, word, units) for word in words[:3])
    if not least <= example <= most:
        raise Wrong(f"{row.where}: {words[2]} is no example of {words[0]} to {words[1]}")
    return (f"{{.least = UINT64_C({least}), .most = UINT64_C({most}), "
            f".what = {quoted(' '.join(words[3:]))}, .limits = {quoted(' to '.join(words[:2]))}, "
            f".example = {quoted(words[2])}}}")


def scale(row, kind, member):
    """What a second is in the member's unit, and a byte."""
    if kind != "time":
        return ""
    for end, factor in MEMBER_UNITS.items():
        if member.endswith(end):
            return f" * {factor}"
    raise Wrong(f"{row.where}: {member} has no unit of time in its name")


def choices_of(words):
    """[(word, C)]"""
    return [tuple(word.split("=", 1)) for word in words]


def call_text(row, words, member):
    """by FUNCTION [ARGUMENT]"""
    what = f"&options->{member}" if member else "options"
    return f"return {words[0]}({', '.join([what, *words[1:], quoted(row.told()), 'text'])});"


def value_lines(row, kind, words, member):
    """Statements that read a number, and set the member."""
    told = quoted(row.told())
    made = ["uint64_t value;", "int err;", ""]
    if kind in ("choice", "list"):
        choices = ", ".join(f"{{{quoted(word)}, {value}}}" for word, value in choices_of(words))
        made.insert(0, f"static const struct option_choice choices[] = {{{choices}, {{0}}}};")
        made.append(f"err = option_{kind}({told}, text, choices, &value);")
    else:
        made.insert(0, f"static const struct option_range range = {range_text(row, kind, words)};")
        made.append(f"err = option_{kind}({told}, text, &range, &value);")
    return [*made, "if (!err)",
            f"\toptions->{member} = (__typeof__(options->{member}))"
            + (f"(value{scale(row, kind, member)});" if kind == "time" else "value;"),
            "return err;"]


def statements(row):
    kind, words = row.type()
    member = row.members()[0]
    if kind in ("count", "time", "size", "choice", "list"):
        return value_lines(row, kind, words, member)
    simple = {
        "nothing": lambda: ["return 0;"],
        "flag": lambda: [f"options->{member} = true;", "return 0;"],
        "is": lambda: [f"options->{member} = {words[0]};", "return 0;"],
        "text": lambda: [f"options->{member} = text;", "return 0;"],
        "number": lambda: [f"return option_number({quoted(row.told())}, text, {words[0]}, {words[1]}, "
                           f"&options->{member});"],
        "path": lambda: [f"return option_path({quoted(row.told())}, text, &options->{member});"],
        "word": lambda: [f"if ({words[0]}(text, &options->{member}) == 0)", "\treturn 0;",
                         f"return option_bad_word({quoted(row.told())}, text, {words[1]}());"],
        "by": lambda: [call_text(row, words, member)],
    }
    return simple[kind]()


def function(line, number, row):
    given = row.members()[1]
    made = [f"/* --{row.name} of {', '.join(row.commands)} */",
            f"static int {line}_set_{number}(struct {STRUCTS[line][0]} *options, const char *text)",
            "{", "\t(void)options;", "\t(void)text;"]
    lines = statements(row)
    if given:
        made.append(f"\toptions->{given} = true;")
    if lines[0].startswith("static"):  # declarations come first
        made = made[:3]
        if given:
            lines.insert(4, f"options->{given} = true;")
    return [*made, *(f"\t{one}" if one else "" for one in lines), "}", ""]


def source(table, line):
    """LINE_set.c"""
    struct, headers = STRUCTS[line]
    rows = rows_of(table, line)
    made = [f"/* Made of collector/options/: what the options of {line}_rows set. */",
            *(f'#include "{name}"' for name in headers),
            '#include "options/option_value.h"', '#include "options/tables.h"', ""]
    for number, row in enumerate(rows):
        made += function(line, number, row)
    made += [f"int {line}_set(struct {struct} *options, const struct option_row *row, "
             "const char *text)", "{",
             f"\tstatic int (*const setters[])(struct {struct} *, const char *) = {{",
             *(f"\t\t{line}_set_{number}," for number in range(len(rows))), "\t};", "",
             f"\treturn setters[row - {line}_rows](options, text);", "}", ""]
    return "\n".join(made)
