# SPDX-License-Identifier: Apache-2.0
"""What a request to the daemon has of the options, as C: each row with a field "json" is a member
of the requests of its commands, written and read with the limits of the row's type.
"""

from c_forms import constant, quoted
from option_table import Wrong
from setter_forms import choices_of

# {a request: (its struct, what stands before the struct's members in the table, whose options)}
REQUESTS = {"record": ("recording_options", "recording.", ("record", "top")),
            "list": ("recording_options", "recording.", ("list",)),
            "render": ("render_options", "render.", ("record", "replay", "render"))}

HEADERS = ("base/json_value.h", "options/tables.h", "serve/request.h", "serve/request_members.h")


class Member:
    """A member of a request: "json KEY", "json KEY flag MEMBER" and so on."""

    def __init__(self, row):
        self.row = row
        self.key, *words = row.text("json").split()
        self.type, self.type_words = row.type()
        self.kind = words[0] if words else self.type
        self.words = words[1:]
        self.member = words[1] if len(words) > 1 and self.kind != "by" else row.members()[0]

    def name(self, prefix):
        """Of the member in C, or None: it is no member of that struct."""
        member = self.member or ""
        if not member.startswith(prefix):
            return None if self.kind != "by" or f"{member}." != prefix else "options"
        return "options->" + member.removeprefix(prefix)


def members_of(table, request):
    _, prefix, commands = REQUESTS[request]
    found = {}
    for row in table.rows:
        if row.has("json") and set(row.commands) & set(commands):
            member = Member(row)
            if member.name(prefix) and found.setdefault(member.key, member) is not member:
                raise Wrong(f"{row.where}: {member.key} is a member of {request} already")
    return list(found.values())


def call(verb, member):
    arguments = ["object", quoted(member.key), "options", *member.words[1:]]
    if verb == "take":
        arguments.append("why")
    return f"request_{verb}_{member.words[0]}({', '.join(arguments)})"


def put(member, name):
    key = quoted(member.key)
    if member.kind == "by":
        return f"{call('put', member)};"
    if member.kind == "flag":
        return f"json_object_set_new(object, {key}, json_boolean({name}));"
    if member.kind == "word":
        return f"json_object_set_new(object, {key}, json_string({member.type_words[2]}({name})));"
    if member.kind == "text":
        return f"request_put_text(object, {key}, {name});"
    return f"json_value_put_count(object, {key}, {name});"


def limits(member):
    """Of a number: the least and the greatest, and whether it has to be there."""
    least, most = member.type_words[:2] if member.type == "count" else ("1", "INT64_MAX")
    return least, most, "true" if member.kind == "given" else "false"


def refuse(member, how, *arguments):
    """A call that says what is wrong, and what is needed."""
    return f"request_refuse{how}({', '.join(['object', quoted(member.key), *arguments, 'why'])})"


def refuse_count(member):
    least, most, _ = limits(member)
    what = " ".join(member.type_words[2:]) if member.type == "count" else ""
    return refuse(member, "_count", f"&(const struct option_range){{.least = {least}, "
                                    f".most = {most}, .what = {quoted(what)}}}")


def take(member, name):
    """Statements; the condition under which the request is refused; and the refusal."""
    key = quoted(member.key)
    if member.kind == "by":
        return [], f"{call('take', member)} < 0", "-EINVAL"
    if member.kind == "flag":
        return [f"{name} = json_value_bool(object, {key});"], f"!request_is_flag(object, {key})", \
            refuse(member, "", quoted("true or false is needed"))
    if member.kind == "text":
        return [f"{name} = json_string_value(json_object_get(object, {key}));"], \
            f"!request_text(object, {key})", refuse(member, "", quoted("a text is needed"))
    if member.kind == "word":
        return [f"text = request_text(object, {key});"], \
            f"!text || (json_object_get(object, {key}) && {member.type_words[0]}(text, &{name}) < 0)", \
            refuse(member, "_word", f"{member.type_words[1]}()")
    if member.kind == "choice":
        choices = [value for _, value in choices_of(member.type_words)]
        values = " && ".join(f"count != {value}" for value in choices)
        return [f"count = json_value_count(object, {key});",
                f"{name} = (__typeof__({name}))count;"], \
            f"!request_is_count(object, {key}) || (count && {values})", \
            refuse(member, "_word", quoted(", ".join(choices)))
    if member.kind in ("count", "given"):
        least, most, needed = limits(member)
        return [f"count = json_value_count(object, {key});",
                f"{name} = (__typeof__({name}))count;"], \
            f"!request_is_count(object, {key}) || " \
            f"!request_has_count(count, {least}, {most}, {needed})", refuse_count(member)
    raise Wrong(f"{member.row.where}: {member.kind} is no kind of a member of a request")


def functions(table, request):
    struct, prefix, _ = REQUESTS[request]
    members = members_of(table, request)
    made = [f"void request_put_{request}(const struct {struct} *options, json_t *object)", "{",
            *(f"\t{put(member, member.name(prefix))}" for member in members), "}", "",
            f"int request_take_{request}(const json_t *object, struct {struct} *ret, "
            "char why[REQUEST_WHY_BYTES])", "{",
            f"\tstruct {struct} taken = {{0}}, *const options = &taken;",
            "\tconst char *text = NULL;", "\tuint64_t count = 0;", "", "\t(void)text;",
            "\t(void)count;"]
    for member in members:
        lines, refused, refusal = take(member, member.name(prefix))
        made += [f"\t{line}" for line in lines]
        made += [f"\tif ({refused})", f"\t\treturn {refusal};"]
    return [*made, "\t*ret = taken;", "\treturn 0;", "}", ""]


def source(table):
    """requests.c"""
    made = ["/* Made of collector/options/: members of requests to the daemon. */",
            *(f'#include "{name}"' for name in HEADERS), "", "#include <errno.h>", ""]
    for request in REQUESTS:
        made += functions(table, request)
    made.append("const struct request_option request_options[] = {")
    for member in members_of(table, "record"):
        made.append(f"\t{{{constant('OPTION_', member.row.name)}, {quoted(member.key)}}},")
    return "\n".join([*made, "\t{0},", "};", ""])
