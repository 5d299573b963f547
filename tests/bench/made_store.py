# SPDX-License-Identifier: Apache-2.0
"""A store of many JVMs and hours for benchmarks, made of a recording.

The first JVM's hours, each 68,400 samples (a busy CPU at 19 Hz) drawn from the recording, are made by
store_bench. Further JVMs have links to the same segments.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import bench_place

START = 1764115200      # as store_bench has it


def record(place):
    """20 s of a small program."""
    path = place.directory / "made.fgrec"
    with bench_place.busy_jvms(place, "Mixed", count=1) as (jvm,):
        finished = bench_place.collector.fgcollect("record", *place.options(), "-p", jvm.pid, "-d",
                                                   20, "-F", 199, "-o", path)
        if finished.code:
            sys.exit(str(finished))
    return path


def make(place, bench, recording, store, hours, jvms, start=START):
    """start: of the first hour, a full one, in seconds since 1970."""
    path = place.directory / "made.fgrec"
    if recording:
        shutil.copy(recording, path)
    else:
        record(place)
    subprocess.run([bench, path, store, "1", str(hours), "190", str(start)], check=True,
                   stdout=subprocess.DEVNULL)
    multiply(store, jvms)


def multiply(store, jvms):
    with contextlib.closing(sqlite3.connect(store / "index.db")) as index:
        process = index.execute("SELECT * FROM processes").fetchone()
        columns = [c[1] for c in index.execute("PRAGMA table_info(processes)")]
        segments = index.execute("SELECT id, name, start_ns, end_ns, bytes, made_sec, is_merged"
                                 " FROM segments").fetchall()
        for n in range(1, jvms):
            row = dict(zip(columns, process), id=None, pid=process[columns.index("pid")] + n)
            added = index.execute(f"INSERT INTO processes VALUES ({','.join('?' * len(row))})",
                                  list(row.values())).lastrowid
            for old, name, *rest in segments:
                copy = re.sub(r"-\d+-", f"-{row['pid']}-", name, count=1)
                os.link(store / "segments" / name, store / "segments" / copy)
                segment = index.execute("INSERT INTO segments VALUES (NULL,?,?,?,?,?,?,?)",
                                        (added, copy, *rest)).lastrowid
                index.execute("INSERT INTO windows SELECT ?, kind, unit, samples, unnamed,"
                              " unrooted FROM windows WHERE segment = ?", (segment, old))
                index.execute("INSERT INTO steps SELECT ?, kind, weights FROM steps WHERE segment = ?",
                              (segment, old))
        index.commit()
