# SPDX-License-Identifier: Apache-2.0
"""engine_starts.py STATE_FILE: starts the Docker engine of the end-to-end tests."""

import signal
import sys

from harness import engine

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
started = engine.start(sys.argv[1])
print(f"engine at {started.state['docker_host']}, images {started.state['images']}")
