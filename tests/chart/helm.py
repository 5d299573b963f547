# SPDX-License-Identifier: Apache-2.0
"""Helm, built once from Go's module proxy, by Go's own client and checked by Go's database of sums.

3.12 is the last that Go 1.19 of Debian 12 compiles. Go's variables (GOPROXY, GOFLAGS) say from where.
FG_HELM names another helm instead.
"""

import os
import pathlib
import re
import shutil
import subprocess

VERSION = "v3.12.3"
PACKAGE = "helm.sh/helm/v3/cmd/helm"
BUILD_SEC = 840


class NotBuilt(Exception):
    """There is no Go, or it does not compile Helm."""


class NoAnswer(NotBuilt):
    """Go's module proxy cannot be reached, or refuses."""


# What Go says of a proxy or a database of sums, and never of code.
NETWORK = re.compile(r"\b(dial|lookup|proxyconnect|read) tcp|\bdial \b|\blookup |i/o timeout|TLS handshake|"
                     r"x509:|: EOF\b|: [45]\d\d [A-Z]|connection re(set|fused)|no such host")


def build(directory):
    """The program, which stays in directory; what was downloaded and compiled for it goes."""
    if os.environ.get("FG_HELM"):
        return pathlib.Path(os.environ["FG_HELM"])
    directory = pathlib.Path(directory)
    kept, work = directory / f"helm-{VERSION}", directory / "go"
    if kept.exists():
        return kept
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not go:
        raise NotBuilt("there is no go: apt-get install golang-go, or name a helm by FG_HELM")
    work.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "GOPATH": str(work / "path"), "GOCACHE": str(work / "cache"),
           "GOBIN": str(work / "bin"), "CGO_ENABLED": "0", "GO111MODULE": "on",
           "GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -modcacherw".strip()}
    try:
        made = subprocess.run([go, "install", "-ldflags=-s -w", f"{PACKAGE}@{VERSION}"], env=env,
                              cwd=work, capture_output=True, text=True, timeout=BUILD_SEC,
                              check=False)
        if made.returncode != 0:
            kind = NoAnswer if NETWORK.search(made.stderr) else NotBuilt
            raise kind(f"{PACKAGE}@{VERSION}: {made.stderr.strip()[-500:]}. Put that program at "
                       f"{kept}, or name it by FG_HELM")
        (work / "bin" / "helm").replace(kept)
    except subprocess.TimeoutExpired as error:
        raise NoAnswer(f"{PACKAGE}@{VERSION} is not built after {BUILD_SEC} s") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return kept
