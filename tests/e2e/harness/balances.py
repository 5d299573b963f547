# SPDX-License-Identifier: Apache-2.0
"""What list --json says of things that come in and go out: as many as come in are somewhere."""


def _at(listed, key):
    for part in key.split("."):
        listed = listed.get(part) if listed is not None else None
    return listed


def _sums(listed, keys):
    """By label, for counters that have one; None: a part with a counter is not in the list."""
    sums = {}
    for key in keys:
        value = _at(listed, key)
        if value is None:
            return None
        for label, number in (value if isinstance(value, dict) else {"": value}).items():
            sums[label] = sums.get(label, 0) + number
    return sums


def of(listed):
    """Name, what came in, and what went out, is there or was dropped, of each balance."""
    for balance in listed["balances"]:
        enters = _sums(listed, balance["enters"])
        elsewhere = _sums(listed, balance["stays"] + balance["leaves"] + balance["drops"])
        if enters is not None and elsewhere is not None:
            yield balance["of"], enters, elsewhere
