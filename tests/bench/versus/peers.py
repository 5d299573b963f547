# SPDX-License-Identifier: Apache-2.0
"""The peers: where each is, its version, and how to get the peer if it is not there.

Each property gives what a command needs, or raises LookupError with the reason. Peers come from the
registries that their users have them from: perf from the distribution, async-profiler and its
converter from Maven Central, inferno from crates.io. JFR is in the JDK.
flamegraph.pl is in no registry, and is given by its path.
"""

import functools
import pathlib
import re
import shutil
import subprocess

import async_profiler
from bench_place import processes, settings

CACHE = settings.BUILD / "tests" / "bench" / "peers"


def version_of(*command):
    """The last word of what the program says of its version."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
    except OSError:
        return "?"
    words = done.stdout.split()
    return words[-1] if words else "?"


class Peers:
    """options: of the command line; flamegraph and inferno say where these are."""

    def __init__(self, options):
        self.options = options

    @functools.cached_property
    def perf(self):
        path = shutil.which("perf")
        if not path:
            raise LookupError("perf is not there (apt-get install linux-perf)")
        return path

    @functools.cached_property
    def inferno(self):
        """The directory of inferno-flamegraph and the programs beside it."""
        given = self.options.inferno or shutil.which("inferno-flamegraph")
        path = pathlib.Path(given) if given else CACHE / "inferno" / "bin" / "inferno-flamegraph"
        if path.is_dir():
            path /= "inferno-flamegraph"
        if not path.exists() and not given and shutil.which("cargo"):
            done = processes.run(["cargo", "install", "inferno", "--quiet", "--root",
                                  CACHE / "inferno"], timeout=1200)
            if done.code != 0:
                raise LookupError(f"inferno cannot be had: {done.text[-300:]}")
        if not path.exists():
            raise LookupError("inferno is not there (cargo install inferno, or --inferno)")
        return path.parent

    @functools.cached_property
    def flamegraph(self):
        """The directory of flamegraph.pl and the programs beside it."""
        if not self.options.flamegraph:
            raise LookupError("flamegraph.pl is in no registry: --flamegraph says where it is")
        path = pathlib.Path(self.options.flamegraph)
        return path if path.is_dir() else path.parent

    @functools.cached_property
    def async_profiler(self):
        """Its library."""
        return async_profiler.library()

    @functools.cached_property
    def converter(self):
        """The command of async-profiler's converter."""
        version = async_profiler.VERSION
        path = CACHE / f"jfr-converter-{version}.jar"
        if not path.exists():
            if not shutil.which("mvn"):
                raise LookupError("no jfr-converter: fetching it needs Maven "
                                  "(apt-get install maven)")
            CACHE.mkdir(parents=True, exist_ok=True)
            done = processes.run(["mvn", "-q", "-B", "dependency:copy",
                                  f"-DoutputDirectory={CACHE}",
                                  f"-Dartifact=tools.profiler:jfr-converter:{version}"],
                                 timeout=300)
            if done.code != 0 or not path.exists():
                raise LookupError(f"no jfr-converter {version}: {done.text[-300:]}")
        return [settings.jdk_home(17) / "bin" / "java", "-jar", path]

    def make(self, name, make):
        """make(the peer of that name), or the LookupError that says why there is no such peer."""
        try:
            return make(getattr(self, name))
        except LookupError as error:
            return error

    def versions(self):
        """{name: version} of those that are there."""
        asked = {"perf": lambda: version_of(self.perf, "--version"),
                 "inferno": lambda: crate_version(self.inferno),
                 "flamegraph.pl": lambda: commit_of(self.flamegraph),
                 "async-profiler": lambda: self.async_profiler and async_profiler.VERSION,
                 "JDK": lambda: release_of(settings.jdk_home(17))}
        found = {}
        for name, ask in asked.items():
            try:
                found[name] = ask()
            except LookupError:
                continue
        return found


def commit_of(directory):
    done = subprocess.run(["git", "-C", directory, "rev-parse", "--short", "HEAD"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or "?"


def crate_version(directory):
    """Cargo notes beside the programs what it has installed."""
    try:
        noted = (directory.parent / ".crates.toml").read_text(encoding="utf-8")
    except OSError:
        return "?"
    found = re.search(r'"inferno ([\d.]+)', noted)
    return found[1] if found else "?"


def release_of(home):
    found = re.search(r'^JAVA_RUNTIME_VERSION="(.*)"', (home / "release").read_text(
        encoding="utf-8"), re.M) if home else None
    return found[1] if found else "?"
