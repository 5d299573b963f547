# SPDX-License-Identifier: Apache-2.0
"""Bounds that follow from chance: how many of n samples may be what few of them should be.

Both helpers print the figure and its bound, so that a run tells how near it was.
"""

import math

CHANCE = 1e-6           # how often a true claim fails


def log_tail(n, p, least):
    """The logarithm of the probability of at least that many of n, each with probability p."""
    if least <= 0:
        return 0.0
    if p <= 0 or least > n:
        return -math.inf
    if p >= 1:
        return 0.0
    terms = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
             + k * math.log(p) + (n - k) * math.log1p(-p) for k in range(least, n + 1)]
    top = max(terms)
    return top + math.log(sum(math.exp(term - top) for term in terms))


def most_of(n, p, chance=CHANCE):
    """The greatest number of n that a share of p explains but for that chance."""
    low, high = math.floor(n * p), n
    while low < high:
        middle = (low + high + 1) // 2
        if log_tail(n, p, middle) < math.log(chance):
            high = middle - 1
        else:
            low = middle
    return low


def assert_at_most(case, count, n, share, what=""):
    """Of n samples at most that share are what was counted, or chance explains what is above."""
    bound = most_of(n, share)
    print(f"{what.splitlines()[0] if what else what}: {count} of {n}, at most {bound} for a share "
          f"of {100 * share:g} %")
    case.assertGreater(n, 0, what)
    case.assertLessEqual(count, bound, what)


def assert_share(case, count, n, share, points=0.0, what=""):
    """The share of n samples is that one, but for that many points (0.01 is one) and for chance."""
    upper = most_of(n, min(share + points, 1))
    lower = n - most_of(n, min(1 - share + points, 1))
    print(f"{what}: {count} of {n}, {lower} to {upper} for a share of {100 * share:g} %")
    case.assertGreater(n, 0, what)
    case.assertTrue(lower <= count <= upper, what)
