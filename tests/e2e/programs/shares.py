# SPDX-License-Identifier: Apache-2.0
"""Two functions that take 60 and 40 hundredths of the time, for so many seconds."""

import sys
import time


def spin(turns):
    x = turns
    for _ in range(turns):
        x = (x * 1103515245 + 12345) & 0xffffffff
    return x


def share_sixty():
    return spin(60000)


def share_forty():
    return spin(40000)


end = time.time() + float(sys.argv[1])
share_sixty()
share_forty()
print("ready", flush=True)
while time.time() < end:
    share_sixty()
    share_forty()
