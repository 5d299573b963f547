# SPDX-License-Identifier: Apache-2.0
"""What shells get of the table: completions of options and of their values.

The scripts are templates: functions that the shell needs, and lines such as "@options@" in whose
place the functions below put what they make.
"""

import textwrap

from option_table import COMMANDS

# What replay, render and diff take behind their options, for zsh.
OPERANDS = {"replay": ["':capture:_files'"], "render": ["'*:file:_files'"],
            "diff": ["':before:_files'", "':after:_files'"]}


def filled(template, parts):
    """A part is the whole of a line, or within one."""
    for name, text in parts.items():
        if template.count(f"@{name}@") != 1:
            raise ValueError(f"@{name}@ has to be in a template once")
        template = template.replace(f"@{name}@", text)
    return template


# bash

BASH_ARMS = {"files": "_fgcollect_files", "directories": '_fgcollect_directories "$2"',
             "pids": '_fgcollect_pids "$2"', "containers": '_fgcollect_running container_name "$2"',
             "pods": '_fgcollect_running pod "$2"', None: ":"}
BASH_WORDS = {"words": "_fgcollect_choices", "list": "_fgcollect_list"}


def bash_call(kind, words):
    if kind in BASH_WORDS:
        return f"{BASH_WORDS[kind]} '{' '.join(words)}' \"$2\""
    return BASH_ARMS[kind]


def bash_arms(table):
    """{what is typed: {call: commands}}; "return 1" is the call of an option without a value."""
    found = {}
    for row in table.rows:
        for command in row.commands:
            call = bash_call(*row.completion(command)) if row.value else "return 1"
            for spelling in row.spellings():
                found.setdefault(spelling, {}).setdefault(call, []).append(command)
    return found


def wrapped(text, indent, end):
    """Lines of some 90 columns, each but the last with that end."""
    lines = textwrap.wrap(text, 90, break_on_hyphens=False)
    return [indent + ("\t" if n else "") + line + (end if n < len(lines) - 1 else "")
            for n, line in enumerate(lines)]


def bash_values(table):
    grouped = {}
    for spelling, calls in bash_arms(table).items():
        if set(calls) != {"return 1"}:
            key = tuple((call, tuple(commands)) for call, commands in calls.items())
            grouped.setdefault(key if len(calls) > 1 else key[0][0], []).append(spelling)
    made = []
    for key, spellings in grouped.items():
        made += wrapped(" | ".join(spellings) + ")", "\t", " \\")
        if isinstance(key, str):
            made.append(f"\t\t{key}")
        else:
            made.append("\t\tcase $3 in")
            for call, commands in key[1:]:
                made.append(f"\t\t{' | '.join(commands)}) {call} ;;")
            made += [f"\t\t*) {key[0][0]} ;;", "\t\tesac"]
        made.append("\t\t;;")
    return "\n".join(made)


def bash_options(table):
    made = []
    for command in COMMANDS:
        names = " ".join(name for row in table.of(command) for name in row.spellings())
        made += [f"\t{command})", *wrapped(f"echo '{names}'", "\t\t", ""), "\t\t;;"]
    return "\n".join(made)


def bash(table, template):
    before = " ".join(name for row in table.of("fgcollect") for name in row.spellings())
    return filled(template, {"values": bash_values(table), "options": bash_options(table),
                             "before": before})


# zsh

ZSH_ACTIONS = {"files": "_files", "directories": "_directories", "pids": "_fgcollect_pids",
               "containers": "_fgcollect_containers", "pods": "_fgcollect_pods", None: ""}


def quoted(text):
    return "'" + text.replace("'", "'\"'\"'") + "'"


def zsh_escaped(text):
    for special in "\\:[]":
        text = text.replace(special, "\\" + special)
    return text


def zsh_action(kind, words):
    if kind == "words":
        return f"({' '.join(words)})"
    if kind == "list":
        return f"_sequence compadd - {' '.join(words)}"
    return ZSH_ACTIONS[kind]


def zsh_specs(row, command):
    """'(-p --pid)'{-p,--pid=}'[this process]:PID:_fgcollect_pids', a word for each spelling."""
    others = row.spellings() if len(row.spellings()) > 1 else []
    excluded = ["-", "*"] if row.has("alone") else [*others, *row.excluded()]
    head = "*" if row.has("repeats") else f"({' '.join(excluded)})" if excluded else ""
    text = f"[{zsh_escaped(row.brief())}]"
    if row.value:
        text += f":{zsh_escaped(row.long_value())}:{zsh_action(*row.completion(command))}"
    for spelling in row.spellings():
        equals = "=" if row.value and spelling.startswith("--") else ""
        yield quoted(head + spelling + equals + text)


def zsh_arguments(table, command, indent):
    specs = [spec for row in table.of(command) for spec in zsh_specs(row, command)]
    specs += OPERANDS.get(command, [])
    return f"{indent}_arguments -s :" + "".join(f" \\\n{indent}  {spec}" for spec in specs)


def zsh(table, template):
    options = "\n".join(f"    ({command})\n{zsh_arguments(table, command, 6 * ' ')}\n      ;;"
                        for command in COMMANDS)
    return filled(template, {"options": options,
                             "before": zsh_arguments(table, "fgcollect", 6 * " ")})


# fish

FISH_VALUES = {"files": "-r -F", "directories": "-x -a '(__fish_complete_directories)'",
               "pids": "-x -a '(__fgcollect_pids)'",
               "containers": "-x -a '(__fgcollect_running container_name)'",
               "pods": "-x -a '(__fgcollect_running pod)'", None: "-x"}


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_value(kind, words):
    if kind == "words":
        return f"-x -a '{' '.join(words)}'"
    if kind == "list":
        return f"-x -a '(__fish_append , {' '.join(words)})'"
    return FISH_VALUES[kind]


def fish_condition(commands):
    if set(commands) == {"fgcollect"}:
        return "-n __fgcollect_none "
    if set(commands) == {"fgcollect", *COMMANDS}:
        return ""
    if set(commands) == set(COMMANDS):
        return "-n 'not __fgcollect_none' "
    return f"-n '__fgcollect_is {' '.join(commands)}' "


def fish_lines(row):
    """One for all commands whose value is completed alike."""
    alike = {}
    for command in row.commands:
        value = f" {fish_value(*row.completion(command))}" if row.value else ""
        alike.setdefault(value, []).append(command)
    names = f"-s {row.letter} " if row.letter else ""
    names += " ".join(f"-l {name}" for name in row.names)
    for value, commands in alike.items():
        yield (f"complete -c fgcollect {fish_condition(commands)}{names}{value} "
               f"-d {fish_quoted(row.brief())}")


def fish(table, template):
    lines = [line for row in table.rows if row.commands for line in fish_lines(row)]
    return filled(template, {"options": "\n".join(lines)})
