# SPDX-License-Identifier: Apache-2.0
"""From fitted rows to a host of another size, by arithmetic.

A collector's CPU time is a constant, and so much a sample, and so much a JVM; its memory is a
constant, and so much a JVM, and so much a method. The sampling and the walking are one thread's
work, so a core that is full is the end.
"""

from versus import fit, report
from versus.model import OURS

CPUS, JVMS, METHODS = 128, 300, 10000
MEASURED_CPUS = 2  # busy ones in the row collector-rate


def line_of(found, row, quantity, contender=OURS):
    """(constant, slope) of a row's quantity against its driver; None if it was not measured."""
    if row not in found:
        return None
    fitted = fit.line(report.points_of(found[row], contender, quantity))
    return fitted[:2] if fitted else None


def cpu_on_paper(found):
    by_rate = line_of(found, "collector-rate", "cpu")
    by_jvms = line_of(found, "collector-jvms", "cpu")
    if not by_rate or not by_jvms:
        return []
    a_sample = by_rate[1] / MEASURED_CPUS  # per cent of a core, by a sample a second
    a_jvm = max(by_jvms[1], 0)
    fixed = max(by_rate[0], by_jvms[0], 0)
    out = [f"a sample costs {a_sample * 1e4:.1f} us of a core, an idle JVM {a_jvm:.3f} % of a core "
           f"a second, the rest {fixed:.2f} %"]
    for rate in (19, 49, 99):
        total = fixed + CPUS * rate * a_sample + JVMS * a_jvm
        out.append(f"{CPUS} busy CPUs and {JVMS} JVMs at {rate} Hz: {CPUS * rate:,} samples a "
                   f"second, {total:.0f} % of a core, {total / CPUS:.2f} % of the host")
    full = (100 - fixed - JVMS * a_jvm) / (CPUS * a_sample)
    out.append(f"one core is full at {full:.0f} Hz on that host")
    return out


def memory_on_paper(found):
    by_jvms = line_of(found, "collector-jvms", "memory")
    method = "repetition" in found and fit.median(
        found["repetition"].of(50000, OURS, "memory") or
        found["repetition"].of(10000, OURS, "memory"))
    if not by_jvms or not method:
        return []
    known = JVMS * METHODS * method / 2**20
    idle = by_jvms[0] + JVMS * by_jvms[1]
    return [f"{JVMS} JVMs with {METHODS:,} methods each: {idle:,.0f} MiB, and {known:,.0f} MiB for "
            f"the methods ({method:.0f} bytes each)"]


def on_paper(found):
    """Sentences; none where a row that is needed was not measured."""
    return [*cpu_on_paper(found), *memory_on_paper(found)]
