# SPDX-License-Identifier: Apache-2.0
"""Bounds that follow from chance are those of the binomial distribution."""

import math
import unittest

from harness import chance


def tail(n, p, least):
    return sum(math.comb(n, k) * p**k * (1 - p)**(n - k) for k in range(least, n + 1))


class Chance(unittest.TestCase):
    def test_a_tail_is_the_sum_of_its_terms(self):
        for n, p, least in ((10, 0.5, 8), (100, 0.01, 5), (50, 0.3, 0)):
            self.assertAlmostEqual(math.exp(chance.log_tail(n, p, least)), tail(n, p, least))

    def test_a_bound_is_the_last_number_that_chance_explains(self):
        for n, p in ((5600, 0.001), (200, 0.6), (20, 0.0005), (100, 0)):
            most = chance.most_of(n, p)
            self.assertGreaterEqual(chance.log_tail(n, p, most), math.log(chance.CHANCE))
            self.assertLess(chance.log_tail(n, p, most + 1), math.log(chance.CHANCE))

    def test_seven_of_5589_are_explained_by_one_in_a_thousand_and_thirty_are_not(self):
        chance.assert_at_most(self, 7, 5589, 0.001)
        with self.assertRaises(AssertionError):
            chance.assert_at_most(self, 30, 5589, 0.001)

    def test_shares_have_two_bounds(self):
        chance.assert_share(self, 600, 1000, 0.6)
        for count in (500, 700):
            with self.assertRaises(AssertionError):
                chance.assert_share(self, count, 1000, 0.6)
        chance.assert_share(self, 520, 1000, 0.6, points=0.03)


unittest.main()
