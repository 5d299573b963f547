# SPDX-License-Identifier: Apache-2.0
"""What the tests of a class have in common: started once, ended when the last of them has ended."""

from . import collector
from .case import Case
from .folded import Folded


class SharedCase(Case):
    """set_up_host(host) starts what all tests of the class use; host is a Case of its own, whose
    container(), watch() and so on last as long as the class does."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.host = Case()
        cls.host.addCleanup = cls.addClassCleanup
        cls.host.setUp()
        cls.set_up_host(cls.host)

    @classmethod
    def set_up_host(cls, host):
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        self.place = self.host.place

    def run_well(self, *args, **options):
        """fgcollect with these arguments, which ends with 0."""
        finished = collector.fgcollect(*args, **options)
        self.assertEqual(finished.code, 0, str(finished))
        return finished

    def records(self, methods, *args, also=lambda recording: True):
        """A recording in which each of these methods, or other frames, is seen at last, and of which
        the claim `also` holds."""
        def has_all(recording):
            return all(recording.folded.with_method(name) for name in methods) and also(recording)
        return collector.record_until(self.place, has_all, *args)

    def drawn(self, path, *args):
        """What render writes of that file to folded stacks."""
        return Folded(self.run_well("render", path, "-o", "-", "--format", "folded", *args).out)
