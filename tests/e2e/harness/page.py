# SPDX-License-Identifier: Apache-2.0
"""Commands of a page of the documentation, as they stand there.

Blocks that open with ```sh are run, in order, by a shell; what cannot be run unattended, or takes
minutes, has a block without a language.
"""

import pathlib
import re

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(path):
    """The blocks to be run, one text each."""
    return BLOCK.findall(pathlib.Path(path).read_text())
