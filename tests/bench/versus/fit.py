# SPDX-License-Identifier: Apache-2.0
"""Medians, spreads, ratios and growth of what was measured."""

import math
import statistics


def median(numbers):
    return statistics.median(numbers) if numbers else None


def spread(numbers):
    """Half of the distance between the quartiles, as a share of the median."""
    if len(numbers) < 3 or not statistics.median(numbers):
        return None
    quartiles = statistics.quantiles(numbers, n=4, method="inclusive")
    return (quartiles[2] - quartiles[0]) / 2 / abs(statistics.median(numbers))


def ratio(over, under):
    """(median, least, greatest) of the rounds' ratios, or None."""
    ratios = [a / b for a, b in zip(over, under) if b > 0]
    return (statistics.median(ratios), min(ratios), max(ratios)) if ratios else None


def line(points):
    """(a, b, r2) of the least squares y = a + b x, or None."""
    if len({x for x, _ in points}) < 2:
        return None
    mean_x, mean_y = (statistics.mean(axis) for axis in zip(*points))
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points)
             / sum((x - mean_x) ** 2 for x, _ in points))
    total = sum((y - mean_y) ** 2 for _, y in points)
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    return mean_y - slope * mean_x, slope, 1 - rest / total if total else 1.0


def exponent(points):
    """The exponent k of y = c x^k, or None: a line through the logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    found = line(logs) if len(logs) > 1 else None
    return found[1] if found else None
