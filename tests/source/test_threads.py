# SPDX-License-Identifier: Apache-2.0
"""Tests whose programs start threads have the label by which the thread sanitizer finds them."""

import json
import os
import subprocess
import unittest


def all_tests():
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=os.environ["FG_BINARY_DIR"],
                            stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(listed)["tests"]


def labels_of(test):
    return {label for entry in test["properties"] if entry["name"] == "LABELS"
            for label in entry["value"]}


def starts_threads(program):
    """Whether it calls, or has, what starts one; what a library of the system does is not its own."""
    listed = subprocess.run(["nm", program], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True).stdout
    return any(line.split()[-1].split("@")[0] in ("pthread_create", "thrd_create")
               for line in listed.splitlines() if line.strip())


class Threads(unittest.TestCase):
    def test_programs_that_start_threads_are_labelled(self):
        looked = {}
        for test in all_tests():
            program = test.get("command", [""])[0]
            if not program.startswith(os.environ["FG_BINARY_DIR"]):
                continue
            with self.subTest(test["name"]):
                if program not in looked:
                    looked[program] = starts_threads(program)
                self.assertEqual("threads" in labels_of(test), looked[program], program)
        self.assertGreater(sum(looked.values()), 10)
        self.assertGreater(len(looked) - sum(looked.values()), 50)


if __name__ == "__main__":
    unittest.main(verbosity=2)
