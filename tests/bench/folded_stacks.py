# SPDX-License-Identifier: Apache-2.0
"""Stacks like those of a server in Java, in folded form or as the text of perf script.

A stack is a walk through a random call graph: layers of methods that each call a few others, so
that stacks begin alike and part late. The same numbers give the same file.
"""

import argparse
import itertools
import random

PACKAGES = ["org/framework/web/filter", "org/framework/dispatch/method", "com/company/shop/order/service",
            "com/company/shop/payment/internal", "org/mapper/persistence/engine/spi",
            "org/database/driver/protocol/v3", "java/util/concurrent", "java/lang/invoke"]
NOUNS = ["Request", "Order", "Session", "Context", "Entity", "Statement", "Result", "Handler"]
VERBS = ["doInvoke", "resolve", "processWithin", "executeInternal", "loadById", "readNext"]
KERNEL = ["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "ksys_read", "vfs_read", "tcp_recvmsg",
          "schedule_timeout"]
SUFFIXES = ["j"] * 62 + ["i"] * 26 + ["1"] * 7 + ["0"] * 5
LAYERS = 90


def methods(rng, layer):
    package = PACKAGES[layer * len(PACKAGES) // LAYERS]
    names = [f"{package}/{noun}{kind}.{verb}{layer}" for noun in NOUNS
             for kind in ("", "Support", "Delegate$Inner") for verb in VERBS]
    return [f"{name}_[{rng.choice(SUFFIXES)}]" for name in rng.sample(names, 100)]


def stacks(unique, seed):
    """So many different stacks, each a tuple of frames, root first."""
    rng = random.Random(seed)
    layers = [methods(rng, layer) for layer in range(LAYERS)]
    found = set()
    while len(found) < unique:
        stack, at = ["http-nio-8080-e", "start_thread", "Thread::call_run()"], 0
        for layer in range(rng.randint(30, LAYERS)):
            at = (at * 7 + int(rng.expovariate(3 if layer < 40 else 1.2))) % 100
            stack.append(layers[layer][at])
        if rng.random() < .3:
            stack += [f"{name}_[k]" for name in KERNEL[:rng.randint(1, len(KERNEL))]]
        found.add(tuple(stack))
    return sorted(found)


def counts(unique, seed):
    """A few stacks have most samples."""
    rng = random.Random(seed + 1)
    return [1 + int(100 * (rng.paretovariate(1.2) - 1)) for _ in range(unique)]


def write_folded(stream, unique, seed=1):
    for stack, count in zip(stacks(unique, seed), counts(unique, seed)):
        stream.write(f"{';'.join(stack)} {count}\n")


def perf_frame(address, frame):
    name, file = frame, "/usr/lib/jvm/lib/server/libjvm.so"
    if frame.endswith("_[k]"):
        name, file = frame[:-4], "[kernel.kallsyms]"
    elif frame.endswith("]"):
        owner, _, method = frame[:-4].rpartition(".")
        name, file = f"L{owner};::{method}", "/tmp/perf-4242.map"
    return f"\t{address:16x} {name}+0x11 ({file})\n"


def write_perf(stream, samples, seed=1):
    rng = random.Random(seed + 2)
    known = stacks(2000, seed)
    addresses = {}
    for number, stack in enumerate(itertools.islice(iter(lambda: rng.choice(known), None), samples)):
        stream.write(f"{stack[0]} 4242/{4300 + number % 40} [00{number % 8}] "
                     f"{4794564 + number / 1000:.6f}:   10101010 cycles:P: \n")
        for frame in reversed(stack[1:]):
            address = addresses.setdefault(frame, 0x7f0000000000 + 64 * len(addresses))
            stream.write(perf_frame(address, frame))
        stream.write("\n")


def main():
    import sys
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--unique", type=int, default=10000)
    arguments.add_argument("--perf", type=int, help="so many samples as perf script's text")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    if options.perf:
        write_perf(sys.stdout, options.perf, options.seed)
    else:
        write_folded(sys.stdout, options.unique, options.seed)


if __name__ == "__main__":
    main()
