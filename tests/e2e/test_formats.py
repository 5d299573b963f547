# SPDX-License-Identifier: Apache-2.0
"""Files that render and diff write for other viewers are read by other libraries.

Google's protobuf decodes pprof by the message that pprof documents. Python decodes JSON. The
expected contents are computed here from the folded stacks that the files were made of.
"""

import collections
import gzip
import json

from harness import collector
from harness.case import Case
from harness.marks import plain

FOLDED = """\
main;a/B.c_[j];vfs_read_[k] 40
main;a/B.c_[j];x/Y.z_[i] 30
main;a/B.c_[j] 20
main;std::sort(int*, int*);swap_[i] 7
other thread;start_thread;Thread::run() 10
quote"\\back;<b>&amp;</b>;\u202eright\u2029 3
"""
LATER = """\
main;a/B.c_[j];vfs_read_[k] 80
main;new/N.n_[0] 21
"""
# Message -> fields: number, name, type, whether repeated. As in profile.proto of pprof.
PROFILE = {
    "ValueType": [(1, "type", "int64", False), (2, "unit", "int64", False)],
    "Label": [(1, "key", "int64", False), (2, "str", "int64", False), (3, "num", "int64", False)],
    "Sample": [(1, "location_id", "uint64", True), (2, "value", "int64", True),
               (3, "label", "Label", True)],
    "Mapping": [(1, "id", "uint64", False), (5, "filename", "int64", False),
                (6, "build_id", "int64", False)],
    "Line": [(1, "function_id", "uint64", False), (2, "line", "int64", False)],
    "Location": [(1, "id", "uint64", False), (2, "mapping_id", "uint64", False),
                 (3, "address", "uint64", False), (4, "line", "Line", True)],
    "Function": [(1, "id", "uint64", False), (2, "name", "int64", False),
                 (3, "system_name", "int64", False), (4, "filename", "int64", False)],
    "Profile": [(1, "sample_type", "ValueType", True), (2, "sample", "Sample", True),
                (3, "mapping", "Mapping", True), (4, "location", "Location", True),
                (5, "function", "Function", True), (6, "string_table", "string", True)],
}


def profile_class():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="p.proto", package="p", syntax="proto3")
    types = descriptor_pb2.FieldDescriptorProto
    for name, fields in PROFILE.items():
        message = file.message_type.add(name=name)
        for number, field, kind, repeated in fields:
            added = message.field.add(name=field, number=number)
            added.label = types.LABEL_REPEATED if repeated else types.LABEL_OPTIONAL
            if kind in PROFILE:
                added.type, added.type_name = types.TYPE_MESSAGE, f".p.{kind}"
            else:
                added.type = getattr(types, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("p.Profile"))


def stacks_of(folded, suffixes=False):
    """The stacks that the files must have: {names, root first: samples}."""
    counts = collections.Counter()
    for line in folded.rstrip("\n").split("\n"):
        stack, _, count = line.rpartition(" ")
        stack = stack.replace("\u202e", "\ufffd").replace("\u2029", "\ufffd")
        names = [name[:-4] if name[-4:] in ("_[j]", "_[i]", "_[k]", "_[0]") and not suffixes else name
                 for name in stack.split(";")]
        counts[tuple(names)] += int(count)
    return counts


@plain
class Formats(Case):
    def made(self, name, *args, command="render"):
        paths = []
        for i, text in enumerate((FOLDED, LATER)):
            paths.append(self.directory / f"{i}.folded")
            paths[-1].write_text(text)
        out = self.directory / name
        inputs = paths if command == "diff" else paths[:1]
        finished = collector.fgcollect(command, *inputs, "-o", out, *args)
        self.assertEqual(finished.code, 0, str(finished))
        return out

    def pprof(self, path):
        """{(stack, labels): first value}. Each ID in the file must refer to something there."""
        profile = profile_class()()
        profile.ParseFromString(gzip.decompress(path.read_bytes()))
        texts = profile.string_table
        self.assertEqual(texts[0], "")
        functions = {f.id: texts[f.name] for f in profile.function}
        locations = {l.id: [functions[line.function_id] for line in l.line]
                     for l in profile.location}
        mappings = {m.id for m in profile.mapping} | {0}
        self.assertTrue(all(l.mapping_id in mappings for l in profile.location))
        self.assertEqual(len(functions), len(profile.function))
        self.assertEqual(len(locations), len(profile.location))
        counts = collections.Counter()
        for sample in profile.sample:
            self.assertEqual(len(sample.value), len(profile.sample_type))
            stack = [name for at in sample.location_id for name in locations[at]]
            labels = tuple(texts[label.key] for label in sample.label)
            counts[tuple(reversed(stack)), labels] += sample.value[0]
        return counts

    def test_pprof_has_the_stacks_by_another_library(self):
        counts = self.pprof(self.made("x.pb.gz"))
        self.assertEqual({stack: n for (stack, _), n in counts.items()}, stacks_of(FOLDED))

    def test_pprof_difference_takes_off_what_was_before(self):
        counts = self.pprof(self.made("x.pb.gz", "--no-normalize", command="diff"))
        after = {stack: n for (stack, labels), n in counts.items() if not labels}
        base = {stack: -n for (stack, labels), n in counts.items() if labels == ("pprof::base",)}
        self.assertEqual((after, base), (stacks_of(LATER), stacks_of(FOLDED)))
        counts = self.pprof(self.made("y.pb.gz", command="diff"))
        self.assertEqual(sum(counts.values()), 0)

    def test_speedscope_has_the_stacks(self):
        data = json.loads(self.made("x.speedscope.json").read_text())
        frames = [frame["name"] for frame in data["shared"]["frames"]]
        counts = collections.Counter()
        for profile in data["profiles"]:
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            for sample, weight in zip(profile["samples"], profile["weights"]):
                counts[tuple(frames[at] for at in sample)] += weight
        self.assertEqual(counts, stacks_of(FOLDED, suffixes=True))

    def test_firefox_has_the_stacks(self):
        data = json.loads(self.made("x.firefox.json").read_text())
        shared, counts = data["shared"], collections.Counter()
        texts, table = shared["stringArray"], shared["stackTable"]
        for name, columns in shared.items():
            if isinstance(columns, dict):
                lengths = {len(column) for column in columns.values() if isinstance(column, list)}
                self.assertEqual(lengths, {columns["length"]}, name)
        for thread in data["threads"]:
            for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
                names = []
                while stack is not None:
                    function = shared["frameTable"]["func"][table["frame"][stack]]
                    names.insert(0, texts[shared["funcTable"]["name"][function]])
                    stack = table["prefix"][stack]
                counts[tuple(names)] += weight
        self.assertEqual(counts, stacks_of(FOLDED))

    def test_pprof_and_recordings_come_back_as_they_went(self):
        wanted = collector.fgcollect("render", self.made("x.folded"), "-f", "folded").out
        for suffix in ("pb.gz", "fgrec"):
            back = collector.fgcollect("render", self.made(f"x.{suffix}"), "-f", "folded")
            self.assertEqual(back.out.replace("\ufffd", "?"), wanted, suffix)
        back = collector.fgcollect("render", self.made("x.perf.txt"), "-f", "folded").out
        self.assertEqual(sum(stacks_of(back).values()), sum(stacks_of(wanted).values()))

    def test_recording_makes_every_format_later(self):
        recording = self.made("x.fgrec")
        for suffix in ("svg", "html", "folded", "pb.gz", "speedscope.json", "firefox.json",
                       "perf.txt", "fgrec"):
            later = self.directory / f"later.{suffix}"
            finished = collector.fgcollect("render", recording, "-o", later)
            self.assertEqual(finished.code, 0, str(finished))
            self.assertEqual(later.read_bytes(), self.made(f"y.{suffix}").read_bytes(), suffix)

    def test_format_without_room_for_two_counts_is_refused(self):
        self.made("x.folded")
        for suffix in ("speedscope.json", "firefox.json", "perf.txt", "fgrec"):
            out = self.directory / f"d.{suffix}"
            finished = collector.fgcollect("diff", self.directory / "0.folded",
                                           self.directory / "1.folded", "-o", out)
            self.assertNotEqual(finished.code, 0)
            self.assertIn("has one count a stack", finished.err)
            self.assertFalse(out.exists())
