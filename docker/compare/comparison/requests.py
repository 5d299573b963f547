# SPDX-License-Identifier: Apache-2.0
"""What JMeter measured: a CSV file with a line a request.

Its first line names the columns; of these are used timeStamp (when the request began, ms since
1970), elapsed (ms until its answer was whole), label, responseCode, responseMessage and success.
A last line that was not written whole is left out.
"""

import collections
import csv
import math

from . import Failed

COLUMNS = ("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "success")
PERCENTILES = (50, 95, 99)


def percentile(ordered, percent):
    """The smallest value that so many per cent of all are not above."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def rows_of(path):
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            reader = csv.DictReader(file)
            if not set(COLUMNS) <= set(reader.fieldnames or ()):
                raise Failed(f"{path.name} of JMeter lacks columns; it has: "
                             f"{' '.join(reader.fieldnames or ['none'])}")
            for row in reader:
                try:
                    yield (int(row["timeStamp"]) / 1000, int(row["elapsed"]), row["label"],
                           row["success"] == "true",
                           f"{row['responseCode']} {row['responseMessage']}".strip())
                except (TypeError, ValueError):
                    continue
    except (OSError, csv.Error) as error:
        raise Failed(f"JMeter's {path.name} cannot be read: {error}") from None


def summary(times, seconds):
    times.sort()
    if not times:
        return {"count": 0}
    return {"count": len(times), "per_second": len(times) / seconds,
            "mean_ms": sum(times) / len(times), "max_ms": times[-1],
            **{f"p{p}_ms": percentile(times, p) for p in PERCENTILES}}


def read(path, begin, end):
    """Of the requests that were answered from begin to end, in seconds since 1970."""
    times, failures, failed = collections.defaultdict(list), collections.Counter(), 0
    for start, elapsed, label, is_success, answer in rows_of(path):
        if begin <= start + elapsed / 1000 < end:
            times[label].append(elapsed)
            if not is_success:
                failed += 1
                failures[answer] += 1
    found = summary([t for some in times.values() for t in some], end - begin)
    found["failed"] = failed
    found["failures"] = ", ".join(f"{count:,} times {answer or 'no answer'}"
                                  for answer, count in failures.most_common(3))
    found["labels"] = {label: summary(some, end - begin) for label, some in sorted(times.items())}
    return found
