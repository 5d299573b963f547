# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests and the benchmarks stand on.

settings    where the build, the JDKs and the engine are
processes   programs of ours: started, waited for, always ended
engine      the Docker engine and the images, started once for all tests
containers  JVMs in containers
collector   fgcollect: record, watch, list
folded      folded stacks and the quality line
perf_map    perf-<pid>.map files, ours and the JVM's own
own_map     the JVM's own map, and ours beside it until they are equal
relay       a socket between agent and collector that can lose messages
machine     a machine of its own, to install packages on
case        the base of every test case
"""
