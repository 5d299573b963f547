# SPDX-License-Identifier: Apache-2.0
"""run_test.py MODULE.CLASS.TEST...: exit status 0: passed, 1: failed, 77: skipped, for ctest."""

import signal
import sys
import unittest

# So that what a test started is ended when the test itself is.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
if not result.wasSuccessful():
    sys.exit(1)
sys.exit(77 if result.skipped else 0)
