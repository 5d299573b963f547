# SPDX-License-Identifier: Apache-2.0
"""All rows, in the order of the table."""

from . import agent, code, collector, drawing, page, recording, stacks

ROWS = [*agent.ROWS, *recording.ROWS, *collector.ROWS, *code.ROWS, *stacks.ROWS, *drawing.ROWS,
        *page.ROWS]
