# SPDX-License-Identifier: Apache-2.0
"""Programs of ours: started, waited for, and always ended, by their PIDs alone."""

import os
import pathlib
import signal
import subprocess
import time

from . import settings

# Every process of ours carries it, so that one that was left behind can be told from others.
TOKEN_NAME = "FG_E2E_TOKEN"


class Finished:
    """A program's end: its exit code, what it wrote, and how long it took."""

    def __init__(self, args, code, out, err, seconds):
        self.args, self.code, self.out, self.err = args, code, out, err
        self.seconds = seconds

    @property
    def text(self):
        return self.out + self.err

    def __str__(self):
        command = " ".join(str(a) for a in self.args)
        return f"{command}\nexit {self.code} after {self.seconds:.2f} s\n{self.text}"


class Failed(AssertionError):
    """A program of the harness (not one under test) failed."""


def environment(extra=None):
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    env.pop("JAVA_TOOL_OPTIONS", None)
    env.pop("FGAGENT_OPTS", None)
    env.update(extra or {})
    return env


def has_uprobe_links():
    """Whether the kernel links BPF programs to uprobes of a process, without CAP_SYS_ADMIN."""
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (6, 10)


def run(args, timeout=None, check=False, env=None, **options):
    """Runs a program to its end. Past its deadline it is killed and Failed is raised."""
    start = time.monotonic()
    child = subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", env=environment(env), **options)
    try:
        out, err = child.communicate(timeout=timeout or settings.DEADLINE_SEC)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        raise Failed(f"{' '.join(map(str, args))}: still running after "
                     f"{timeout or settings.DEADLINE_SEC:.0f} s\n{out}{err}") from None
    except BaseException:
        child.kill()
        child.communicate()
        raise
    result = Finished(args, child.returncode, out, err, time.monotonic() - start)
    if check and result.code != 0:
        raise Failed(str(result))
    return result


class Background:
    """A program that runs beside the test; its output goes to a file."""

    def __init__(self, args, log, env=None, **options):
        self.args, self.log = [str(a) for a in args], pathlib.Path(log)
        self.start = time.monotonic()
        with open(log, "wb") as out:
            self.child = subprocess.Popen(self.args, stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=subprocess.STDOUT, env=environment(env), **options)

    @property
    def pid(self):
        return self.child.pid

    @property
    def code(self):
        return self.child.poll()

    @property
    def text(self):
        return self.log.read_text(errors="replace")

    def wait(self, timeout=None):
        """Its end as a Finished; Failed past the deadline."""
        try:
            self.child.wait(timeout or settings.DEADLINE_SEC)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(self.args)}: still running\n{self.text}") from None
        return Finished(self.args, self.child.returncode, self.text, "",
                        time.monotonic() - self.start)

    def stop(self, signal_number=signal.SIGTERM):
        """Ends it and returns its Finished; SIGKILL if it does not heed the signal."""
        if self.child.poll() is None:
            self.child.send_signal(signal_number)
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        return self.wait()


def wait_until(claim, what, timeout=None, every=0.1, of=None):
    """Polls until claim() is true and returns what it returned; Failed past the deadline.

    what says what was waited for: a text, or a function that gives one. of: who could bring it about,
    a Background or a PID; when that process has ended and the claim does not hold, that is the end.
    """
    end = time.monotonic() + (timeout or settings.DEADLINE_SEC)
    while True:
        is_over = of is not None and has_ended(of)
        value = claim()
        if value:
            return value
        if is_over:
            raise Failed(f"the process that could bring it about has ended: "
                         f"{what() if callable(what) else what}")
        if time.monotonic() > end:
            raise Failed(f"not within {timeout or settings.DEADLINE_SEC:.0f} s: "
                         f"{what() if callable(what) else what}")
        time.sleep(every)


def has_ended(process):
    """Of a Background or a PID; a zombie has ended."""
    if isinstance(process, Background):
        return process.code is not None
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def cpu_seconds(pid):
    """User and system time of a process, all its threads, as its stat file has it."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_rss_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def marked_processes(mark):
    """PIDs whose environment or command line has that text in it, ourselves left out."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in (os.getpid(), os.getppid()):
            continue
        try:
            text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in text:
            found.append(int(entry.name))
    return found
