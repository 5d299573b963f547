# SPDX-License-Identifier: Apache-2.0
"""The base of every test case: a directory of its own, and an end that always comes."""

import os
import pathlib
import shutil
import tempfile
import unittest

from . import balances, collector, containers, owners, processes, settings
from .engine import Engine


class Case(unittest.TestCase):
    longMessage = True

    def setUp(self):
        self.engine = Engine.load()
        owners.begin(self.engine)
        token = self.engine.state["token"]
        # Below /tmp and short: a socket's path has at most 107 bytes.
        directory = tempfile.mkdtemp(prefix=token + ".", dir="/tmp")
        os.chmod(directory, 0o755)
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.place = collector.Place(directory)
        self.directory = pathlib.Path(directory)
        self.ends_first = []    # programs for which others wait, and cannot end before

    def tearDown(self):
        for program in self.ends_first:
            program.stop()

    def image(self, jdk=17):
        image = self.engine.image(jdk)
        if not image:
            self.skipTest(f"no JDK {jdk} on this machine: set FG_JDK{jdk} to its home")
        return image

    def container(self, *java_args, jdk=17, image=None, env=None, run_dir=None, options=()):
        container = containers.Container(self.engine, image or self.image(jdk),
                                         run_dir or self.place.run, *java_args, env=env,
                                         options=options)
        self.addCleanup(container.rm)
        return container

    def listening_container(self, *java_args, jdk=17, options=()):
        """One that has nothing of the host's mounted: its agent listens."""
        container = containers.Container(
            self.engine, self.image(jdk), None, *java_args, options=options,
            env={"FGAGENT_OPTS": "socket=listen:/tmp/.fgagent-%p.sock"})
        self.addCleanup(container.rm)
        return container

    def background(self, args, name, env=None, **options):
        started = processes.Background(args, self.directory / f"{name}.log", env=env, **options)
        self.addCleanup(started.stop)
        return started

    def silent_program(self, args, name):
        """One that has other programs wait, and so ends before them whatever happens."""
        started = self.background(args, name)
        self.ends_first.append(started)
        return started

    def watch(self, *args, place=None, started=True, prefix=()):
        daemon = collector.Watch(place or self.place, *args, prefix=prefix)
        self.addCleanup(daemon.stop)
        return daemon.started() if started else daemon

    def java(self, *args, agent=None, jdk=17):
        """The command line of a JVM on the host; agent: its options, or None for no agent."""
        home = settings.jdk_home(jdk)
        if not home:
            self.skipTest(f"no JDK {jdk} on this machine: set FG_JDK{jdk} to its home")
        agent_args = [] if agent is None else [f"-agentpath:{settings.AGENT}={agent}"]
        return [home / "bin" / "java", *agent_args, "-cp", settings.CLASSES, *args]

    def assert_fails(self, finished, code, *texts):
        """It ended with that code, and its message has every one of those texts in it."""
        self.assertEqual(finished.code, code, str(finished))
        for text in texts:
            self.assertIn(str(text), finished.text, str(finished))

    def assert_balances(self, listed):
        """Each thing is where the counters say. listed: "collector" of the list, or parts of it.

        Returns the names of the balances that were looked at.
        """
        found = list(balances.of(listed))
        for name, enters, elsewhere in found:
            self.assertEqual(enters, elsewhere, f"{name}: {listed}")
        return {name for name, _, _ in found}
