# SPDX-License-Identifier: Apache-2.0
"""A server that profiles are pushed to: it reads both protocols strictly, and fails when told to.

What is asked of a request is what is published: opentelemetry-proto 1.11.0, Pyroscope's
push/v1/push.proto, pprof's profile.proto, and the limits that Pyroscope has by default. The decoder
and the numbers of fields are this file's own, so that a wrong number in the collector is seen.
"""

import gzip
import http.server
import re
import socket
import ssl
import struct
import threading
import time

MAX_PLAIN = 4 << 20
MAX_SAMPLES = 16000
MAX_LABELS = 30
MAX_DEPTH = 1000

# Messages: field number -> (name, type, repeated). A type is a message's name or a scalar's.
SCHEMA = {
    "PushRequest": {1: ("series", "RawProfileSeries", True)},
    "RawProfileSeries": {1: ("labels", "LabelPair", True), 2: ("samples", "RawSample", True)},
    "LabelPair": {1: ("name", "string", False), 2: ("value", "string", False)},
    "RawSample": {1: ("raw_profile", "bytes", False), 2: ("ID", "string", False)},
    "pprof": {1: ("sample_type", "pprof.ValueType", True), 2: ("sample", "pprof.Sample", True),
              3: ("mapping", "pprof.Mapping", True), 4: ("location", "pprof.Location", True),
              5: ("function", "pprof.Function", True), 6: ("string_table", "string", True),
              9: ("time_nanos", "int", False), 10: ("duration_nanos", "int", False),
              11: ("period_type", "pprof.ValueType", False), 12: ("period", "int", False),
              13: ("comment", "int", True), 14: ("default_sample_type", "int", False)},
    "pprof.ValueType": {1: ("type", "int", False), 2: ("unit", "int", False)},
    "pprof.Sample": {1: ("location_id", "int", True), 2: ("value", "int", True),
                     3: ("label", "pprof.Label", True)},
    "pprof.Label": {1: ("key", "int", False), 2: ("str", "int", False), 3: ("num", "int", False)},
    "pprof.Mapping": {1: ("id", "int", False), 5: ("filename", "int", False),
                      6: ("build_id", "int", False), 7: ("has_functions", "int", False),
                      8: ("has_filenames", "int", False), 9: ("has_line_numbers", "int", False),
                      10: ("has_inline_frames", "int", False)},
    "pprof.Location": {1: ("id", "int", False), 2: ("mapping_id", "int", False),
                       4: ("line", "pprof.Line", True)},
    "pprof.Line": {1: ("function_id", "int", False), 2: ("line", "int", False)},
    "pprof.Function": {1: ("id", "int", False), 2: ("name", "int", False),
                       3: ("system_name", "int", False), 4: ("filename", "int", False)},
    "Export": {1: ("resource_profiles", "ResourceProfiles", True),
               2: ("dictionary", "Dictionary", False)},
    "ResourceProfiles": {1: ("resource", "Resource", False),
                         2: ("scope_profiles", "ScopeProfiles", True)},
    "Resource": {1: ("attributes", "KeyValue", True)},
    "KeyValue": {1: ("key", "string", False), 2: ("value", "AnyValue", False)},
    "AnyValue": {1: ("string_value", "string", False), 3: ("int_value", "int", False)},
    "ScopeProfiles": {1: ("scope", "Scope", False), 2: ("profiles", "Profile", True)},
    "Scope": {1: ("name", "string", False), 2: ("version", "string", False)},
    "Profile": {1: ("sample_type", "ValueType", False), 2: ("samples", "Sample", True),
                3: ("time_unix_nano", "fixed64", False), 4: ("duration_nano", "int", False),
                5: ("period_type", "ValueType", False), 6: ("period", "int", False),
                7: ("profile_id", "bytes", False), 11: ("attribute_indices", "int", True)},
    "ValueType": {1: ("type_strindex", "int", False), 2: ("unit_strindex", "int", False)},
    "Sample": {1: ("stack_index", "int", False), 4: ("values", "int", True)},
    "Dictionary": {1: ("mapping_table", "Mapping", True), 2: ("location_table", "Location", True),
                   3: ("function_table", "Function", True), 4: ("link_table", "Link", True),
                   5: ("string_table", "string", True),
                   6: ("attribute_table", "KeyValueAndUnit", True),
                   7: ("stack_table", "Stack", True)},
    "Link": {},
    "Mapping": {4: ("filename_strindex", "int", False), 5: ("attribute_indices", "int", True)},
    "Stack": {1: ("location_indices", "int", True)},
    "Location": {1: ("mapping_index", "int", False), 3: ("lines", "Line", True),
                 4: ("attribute_indices", "int", True)},
    "Line": {1: ("function_index", "int", False), 2: ("line", "int", False)},
    "Function": {1: ("name_strindex", "int", False), 2: ("system_name_strindex", "int", False),
                 3: ("filename_strindex", "int", False)},
    "KeyValueAndUnit": {1: ("key_strindex", "int", False), 2: ("value", "AnyValue", False)},
}


class Bad(Exception):
    """A request that no server takes."""


def need(condition, why):
    if not condition:
        raise Bad(why)


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a number ends early")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value - (1 << 64) if value >> 63 else value, at


def decode(data, name, is_file=False):
    """A message as a dictionary; a field that is not published is an error. In a file a list of
    numbers may also be written one by one."""
    fields = SCHEMA[name]
    found = {field: [] if repeated else None for field, _, repeated in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        need(number in fields, f"{name} has no field {number}")
        field, kind, repeated = fields[number]
        if wire == 2:
            length, at = varint(data, at)
            need(at + length <= len(data), f"{name}.{field} ends early")
            piece, at = data[at:at + length], at + length
            if kind == "int":
                need(repeated, f"{name}.{field} is packed")
                inner = 0
                while inner < len(piece):
                    value, inner = varint(piece, inner)
                    found[field].append(value)
                continue
            value = piece if kind == "bytes" else piece.decode("utf-8") if kind == "string" \
                else decode(piece, kind, is_file)
        elif wire == 0:
            # Some servers take lists of numbers only as they are written today.
            need(kind == "int" and (is_file or not repeated), f"{name}.{field} is no number")
            value, at = varint(data, at)
        elif wire == 1:
            need(kind == "fixed64", f"{name}.{field} has 8 bytes")
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            raise Bad(f"{name}.{field} has the wire type {wire}")
        if repeated:
            found[field].append(value)
        else:
            need(found[field] is None, f"{name}.{field} is there twice")
            found[field] = value
    return found


class Received:
    """A profile: labels, type, and stacks as lists of names from the leaf on, with their value."""

    def __init__(self, labels, types, period, start_ns, duration_ns):
        self.labels, self.types, self.period = labels, types, period
        self.start_ns, self.duration_ns = start_ns, duration_ns
        self.stacks = []       # (names, values)
        self.files = {}        # name -> file
        self.modules = set()   # (name, build ID)
        self.frame_types = {}  # name -> type
        self.quality = {}
        self.depth = 0

    @property
    def family(self):
        return self.labels["__name__"]

    def total(self, type_name):
        index = [name for name, _ in self.types].index(type_name)
        return sum(values[index] for _, values in self.stacks)

    def with_frame(self, part, index=0):
        return sum(values[index] for names, values in self.stacks
                   if any(part in name for name in names))


def check_labels(labels):
    names = [name for name, _ in labels]
    need(len(labels) <= MAX_LABELS, f"{len(labels)} labels")
    need(names == sorted(set(names)), f"labels are not sorted, or there twice: {names}")
    for name, value in labels:
        need(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name), f"name of a label: {name}")
        need(value and len(value.encode()) <= 2048, f"value of {name}")
    need("__name__" in names, "no __name__")
    need("service_name" in names, "no service_name")


def check_time(start_ns):
    age = time.time() - start_ns / 1e9
    need(-600 < age < 3600, f"a profile of {age:.0f} s ago")


def read_pprof(raw, labels):
    need(raw[:2] == b"\x1f\x8b", "pprof is not gzipped")
    plain = gzip.decompress(raw)
    need(len(plain) <= MAX_PLAIN, f"{len(plain)} bytes")
    profile = decode(plain, "pprof")
    texts = profile["string_table"]
    need(texts and texts[0] == "", "the first text is not empty")
    types = [(texts[t["type"]], texts[t["unit"]]) for t in profile["sample_type"]]
    need(types and not any("-" in name for name, _ in types), f"types {types}")
    need(len(profile["sample"]) <= MAX_SAMPLES, f"{len(profile['sample'])} samples")
    need(profile["sample"], "no samples")
    check_time(profile["time_nanos"])
    functions = {f["id"]: f for f in profile["function"]}
    locations = {loc["id"]: loc for loc in profile["location"]}
    mappings = {m["id"]: m for m in profile["mapping"]}
    need(0 not in functions and 0 not in locations and 0 not in mappings, "an ID is 0")
    need(len(functions) == len(profile["function"]), "an ID is there twice")
    period = profile["period_type"]
    found = Received(labels, types,
                     (texts[period["type"]], texts[period["unit"]], profile["period"]),
                     profile["time_nanos"], profile["duration_nanos"])
    for mapping in mappings.values():
        found.modules.add((texts[mapping["filename"]], texts[mapping["build_id"] or 0]))
    for sample in profile["sample"]:
        need(len(sample["value"]) == len(types), "values are not as many as types")
        need(len(sample["location_id"]) <= MAX_DEPTH, "a stack is too deep")
        need(sample["location_id"], "a stack is empty")
        need(not sample["label"], "a sample has labels")
        names = []
        for place in sample["location_id"]:
            for line in locations[place]["line"]:
                function = functions[line["function_id"]]
                names.append(texts[function["name"]])
                found.files[names[-1]] = texts[function["filename"] or 0]
        need(all(names), "a function has no name")
        found.depth = max(found.depth, len(names))
        found.stacks.append((names, sample["value"]))
    return found


def read_push(body):
    request = decode(body, "PushRequest")
    profiles = []
    for series in request["series"]:
        labels = [(pair["name"], pair["value"]) for pair in series["labels"]]
        check_labels(labels)
        for sample in series["samples"]:
            need(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                              sample["ID"]), f"ID {sample['ID']}")
            profiles.append(read_pprof(sample["raw_profile"], dict(labels)))
    return profiles


def zero(table, entry):
    need(table and not any(value for value in (entry.values() if entry else ())),
         "the first entry of a table is not empty")


def value_of(any_value):
    return any_value["string_value"] if any_value["string_value"] is not None \
        else any_value["int_value"]


def read_profile(profile, tables, labels):
    texts = tables["string_table"]
    attributes = [None] + [(texts[a["key_strindex"]], value_of(a["value"]))
                           for a in tables["attribute_table"][1:]]
    period = profile["period_type"]
    kind = (texts[profile["sample_type"]["type_strindex"]],
            texts[profile["sample_type"]["unit_strindex"]])
    found = Received(labels, [kind],
                     (texts[period["type_strindex"]], texts[period["unit_strindex"]],
                      profile["period"]) if period else None,
                     profile["time_unix_nano"], profile["duration_nano"])
    need(len(profile["profile_id"]) == 16, "the profile has no ID")
    check_time(found.start_ns)
    need(0 < len(profile["samples"]) <= MAX_SAMPLES, f"{len(profile['samples'])} samples")
    found.quality = dict(attributes[n] for n in profile["attribute_indices"])
    for mapping in tables["mapping_table"][1:]:
        build = dict(attributes[n] for n in mapping["attribute_indices"])
        found.modules.add((texts[mapping["filename_strindex"]],
                           build.get("process.executable.build_id.gnu", "")))
    for sample in profile["samples"]:
        need(len(sample["values"]) == 1 and sample["values"][0] > 0, "a sample has one value")
        need(0 < sample["stack_index"] < len(tables["stack_table"]), "a sample has no stack")
        places = tables["stack_table"][sample["stack_index"]]["location_indices"]
        need(0 < len(places) <= MAX_DEPTH, f"a stack of {len(places)} frames")
        names = []
        for place in places:
            need(0 < place < len(tables["location_table"]), "no such location")
            location = tables["location_table"][place]
            need((location["mapping_index"] or 0) < len(tables["mapping_table"]), "no mapping")
            frame = dict(attributes[n] for n in location["attribute_indices"])
            for line in location["lines"]:
                need(0 < line["function_index"] < len(tables["function_table"]), "no function")
                function = tables["function_table"][line["function_index"]]
                names.append(texts[function["name_strindex"]])
                found.files[names[-1]] = texts[function["filename_strindex"] or 0]
                found.frame_types[names[-1]] = frame.get("profile.frame.type")
        need(all(names), "a function has no name")
        found.depth = max(found.depth, len(names))
        found.stacks.append((names, sample["values"]))
    return found


def read_otlp(body):
    plain = gzip.decompress(body)
    need(len(plain) <= MAX_PLAIN, f"{len(plain)} bytes")
    request = decode(plain, "Export")
    tables = request["dictionary"]
    need(tables["string_table"][0] == "", "the first text is not empty")
    for name, table in tables.items():
        if name != "string_table":
            zero(table, table[0])
    profiles = []
    for resource in request["resource_profiles"]:
        pairs = [(a["key"], value_of(a["value"])) for a in resource["resource"]["attributes"]]
        need(len(dict(pairs)) == len(pairs), "an attribute is there twice")
        need(dict(pairs).get("service.name"), "no service.name")
        for scope in resource["scope_profiles"]:
            need(scope["scope"]["name"] == "fgcollect", "the scope has no name")
            profiles += [read_profile(profile, tables, dict(pairs))
                         for profile in scope["profiles"]]
    return profiles


PATHS = {"/push.v1.PusherService/Push": ("application/proto", read_push),
         "/v1development/profiles": ("application/x-protobuf", read_otlp)}


class Answer:
    """What a request gets: a status, or nothing in one of several ways."""

    def __init__(self, status=200, text="", headers=(), how=None):
        self.status, self.text, self.headers, self.how = status, text, dict(headers), how


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(time.time() + self.server.owner.clock_ahead)

    def do_GET(self):
        owner = self.server.owner
        owner.questions.append(self.path)
        self.send_response(owner.ready)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        owner = self.server.owner
        with owner.lock:
            owner.under_way += 1
            owner.most_under_way = max(owner.most_under_way, owner.under_way)
        try:
            owner.released.wait(owner.delay)
            self.answer_post(owner)
        finally:
            with owner.lock:
                owner.under_way -= 1

    def answer_post(self, owner):
        answer = owner.next_answer()
        owner.seen.append((time.monotonic(), dict(self.headers.items())))
        if answer.how == "hang":
            owner.released.wait()
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if answer.how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        text = answer.text.encode()
        if answer.status == 200:
            try:
                owner.take(self.path, self.headers, body)
            except (Bad, KeyError, IndexError, TypeError, UnicodeDecodeError) as error:
                owner.errors.append(repr(error))
                answer, text = Answer(400), repr(error).encode()
        if answer.how == "endless":
            self.send_response(answer.status)
            self.end_headers()
            while not owner.released.wait(0.01):
                self.wfile.write(b"x" * 65536)
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class PushServer:
    """Answers as `answers` says, one after another, then as `answer`; takes what it answers 200."""

    def __init__(self, port=0, certificate=None):
        self.certificate = certificate
        self.profiles, self.errors, self.seen, self.ids = [], [], [], set()
        self.answers, self.answer = [], Answer()
        self.clock_ahead = 0
        self.delay = 0                                 # of answers, in seconds
        self.under_way = self.most_under_way = 0
        self.ready, self.questions = 404, []           # Pyroscope answers 200 or 503 to /ready
        self.lock = threading.Lock()
        self.server = None
        self.port = port
        self.start()

    def start(self):
        self.released = threading.Event()
        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.owner = self
        self.port = self.server.server_address[1]
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate[:2])
            if len(self.certificate) > 2:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(self.certificate[2])
            # The handshake is the connection's thread's.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.released.set()
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    def url(self, protocol, scheme="http"):
        return f"{protocol}+{scheme}://127.0.0.1:{self.port}"

    def next_answer(self):
        with self.lock:
            return self.answers.pop(0) if self.answers else self.answer

    def take(self, path, headers, body):
        need(path in PATHS, f"path {path}")
        content_type, read = PATHS[path]
        need(headers["Content-Type"] == content_type, f"type {headers['Content-Type']}")
        profiles = read(body)
        with self.lock:
            self.profiles += profiles

    def total(self, type_name="samples", **labels):
        with self.lock:
            return sum(profile.total(type_name) for profile in self.profiles
                       if type_name in dict(profile.types)
                       and all(profile.labels.get(k) == v for k, v in labels.items()))
