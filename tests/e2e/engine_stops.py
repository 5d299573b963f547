# SPDX-License-Identifier: Apache-2.0
"""engine_stops.py STATE_FILE: stops the engine; fails if the tests have left anything behind."""

import pathlib
import sys

from harness import engine

if not pathlib.Path(sys.argv[1]).exists():
    print("no engine was started")
    sys.exit(0)
left = engine.stop(sys.argv[1])
for line in left:
    print(f"left behind: {line}")
sys.exit(1 if left else 0)
