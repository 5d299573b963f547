# SPDX-License-Identifier: Apache-2.0
"""Tomcat's access log as the truth of a profile: how long requests took, in a stretch of time.

A request's time begins when the first byte of its line is parsed (Http11InputBuffer.parseRequestLine,
in Http11Processor.service) and ends in CoyoteAdapter.service, when the response is finished and
before the line is made. So a stack is of a request's time if it has CoyoteAdapter.service and does
not make the line: what is parsed before takes microseconds, and waits for nothing but the network,
of which there is none on loopback.
"""

# When it ended, in ms since 1970; how long it took, in us from Tomcat 10 on; path; status.
PATTERN = "%{end:msec}t %D %U %s"
ENTRY = "org/apache/catalina/connector/CoyoteAdapter.service"
LOGS = ".logAccess"


def read(path):
    """Requests as (begin, end, path), in seconds since 1970; a request that failed is an error."""
    requests = []
    for line in path.read_text().splitlines():
        end_ms, took_us, name, status = line.split()
        if status != "200":
            raise ValueError(f"{path}: {line}")
        end = int(end_ms) / 1e3
        requests.append((end - int(took_us) / 1e6, end, name))
    return requests


def seconds_by_path(requests, begin, end):
    """The time of requests between begin and end, by the last part of their path."""
    found = {}
    for began, ended, name in requests:
        part = min(ended, end) - max(began, begin)
        if part > 0:
            name = name.rpartition("/")[2]
            found[name] = found.get(name, 0) + part
    return found


def of_requests(stacks):
    """The stacks, as (frames, count), that belong to the time of requests."""
    return [(frames, count) for frames, count in stacks
            if any(ENTRY in frame for frame in frames) and not any(LOGS in frame for frame in frames)]
