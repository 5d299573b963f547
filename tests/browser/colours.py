# SPDX-License-Identifier: Apache-2.0
"""Colours as eyes see them: of sRGB the difference (CIEDE2000), the contrast (WCAG 2.1), and what they
are to eyes without one of the three sorts of cones (Machado, Oliveira and Fernandes 2009, severity 1).
"""

import math

VISIONS = {
    "every cone": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
          (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def rgb_of(text):
    """#rrggbb"""
    return tuple(int(text[at:at + 2], 16) for at in (1, 3, 5))


def blended(rgb, paper, alpha):
    return tuple(alpha * c + (1 - alpha) * p for c, p in zip(rgb, paper))


def linear(rgb):
    return [c / 255 / 12.92 if c <= 10.31475 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def contrast(one, other):
    a, b = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(rgb)))
                  for rgb in (one, other))
    return (b + 0.05) / (a + 0.05)


def lab(rgb, vision="every cone"):
    seen = [min(max(c, 0), 1) for c in times(VISIONS[vision], linear(rgb))]
    x, y, z = (v / w for v, w in zip(times(TO_XYZ, seen), WHITE))
    f = [t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def hue(a, b):
    return math.degrees(math.atan2(b, a)) % 360 if a or b else 0


def mean_hue(h1, h2, c1, c2):
    if c1 * c2 == 0:
        return h1 + h2
    if abs(h1 - h2) <= 180:
        return (h1 + h2) / 2
    return (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2


def hue_step(h1, h2, c1, c2):
    if c1 * c2 == 0:
        return 0
    return (h2 - h1 + 180) % 360 - 180


def difference(one, other):
    """CIEDE2000 of two colours in CIELAB; the names are those of its definition."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    c7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(c7 / (c7 + 25 ** 7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2, h1, h2 = math.hypot(a1, b1), math.hypot(a2, b2), hue(a1, b1), hue(a2, b2)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(hue_step(h1, h2, c1, c2) / 2))
    lm, cm, hm = (l1 + l2) / 2, (c1 + c2) / 2, mean_hue(h1, h2, c1, c2)
    cos = [math.cos(math.radians(angle)) for angle in (hm - 30, 2 * hm, 3 * hm + 6, 4 * hm - 63)]
    t = 1 - 0.17 * cos[0] + 0.24 * cos[1] + 0.32 * cos[2] - 0.20 * cos[3]
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    turn = 60 * math.exp(-((hm - 275) / 25) ** 2)
    rt = -2 * math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7)) * math.sin(math.radians(turn))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, dh / sh
    return math.sqrt(dl * dl + dc * dc + dh * dh + rt * dc * dh)


def least_difference(shades, others):
    """Of any shade of one class to any of another, with the vision that sees it."""
    return min((min(difference(lab(one, vision), lab(other, vision))
                    for one in shades for other in others), vision) for vision in VISIONS)
