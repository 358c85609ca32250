"""Seeded Pillow drawings of things that carry figurative meaning (a mule, an iceberg, a house on fire, ...).

`draw(concept, seed, size)` is a pure function: the same arguments always give the same pixels under one Pillow version.
Every picture is painted at `SUPERSAMPLE` times its size and averaged down. The seed decides position, scale, colours,
background, small details and a horizontal flip; the size decides nothing but the resolution.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw

Point = tuple[float, float]
Colour = tuple[int, int, int]

SUPERSAMPLE = 4
INK: Colour = (43, 36, 48)
WHITE: Colour = (252, 252, 250)


def _mix(a: Colour, b: Colour, t: float) -> Colour:
    """Colour between `a` (t = 0) and `b` (t = 1)."""
    return (round(a[0] + (b[0] - a[0]) * t), round(a[1] + (b[1] - a[1]) * t), round(a[2] + (b[2] - a[2]) * t))


def _smooth(points: Sequence[Point], closed: bool, steps: int = 10) -> list[Point]:
    """Catmull-Rom curve through `points`."""
    n = len(points)
    out: list[Point] = []
    for i in range(n if closed else n - 1):
        if closed:
            p0, p1, p2, p3 = (points[(i + k) % n] for k in (-1, 0, 1, 2))
        else:
            p0, p1, p2, p3 = points[max(i - 1, 0)], points[i], points[i + 1], points[min(i + 2, n - 1)]
        for k in range(steps):
            t = k / steps
            out.append(
                (
                    0.5
                    * (
                        2 * p1[0]
                        + (p2[0] - p0[0]) * t
                        + (2 * p0[0] - 5 * p1[0] + 4 * p2[0] - p3[0]) * t**2
                        + (3 * p1[0] - p0[0] - 3 * p2[0] + p3[0]) * t**3
                    ),
                    0.5
                    * (
                        2 * p1[1]
                        + (p2[1] - p0[1]) * t
                        + (2 * p0[1] - 5 * p1[1] + 4 * p2[1] - p3[1]) * t**2
                        + (3 * p1[1] - p0[1] - 3 * p2[1] + p3[1]) * t**3
                    ),
                )
            )
    if not closed:
        out.append(points[-1])
    return out


def _ellipse(cx: float, cy: float, rx: float, ry: float, rot: float = 0.0, n: int = 48) -> list[Point]:
    """Closed ellipse; `rot` in degrees, clockwise on screen."""
    c, s = math.cos(math.radians(rot)), math.sin(math.radians(rot))
    out: list[Point] = []
    for i in range(n):
        a = 2 * math.pi * i / n
        x, y = rx * math.cos(a), ry * math.sin(a)
        out.append((cx + x * c - y * s, cy + x * s + y * c))
    return out


def _arc(cx: float, cy: float, rx: float, ry: float, start: float, end: float, n: int = 24) -> list[Point]:
    """Open arc from `start` to `end` degrees; 0 is right, 90 is down."""
    out: list[Point] = []
    for i in range(n + 1):
        a = math.radians(start + (end - start) * i / n)
        out.append((cx + rx * math.cos(a), cy + ry * math.sin(a)))
    return out


class _Pen:
    """Draws in a box of [-1, 1] x [-1, 1] (y down) that is placed, scaled, turned and flipped on the canvas."""

    def __init__(self, canvas: Image.Image, cx: float, cy: float, scale: float, angle: float, flip: bool) -> None:
        self.side = canvas.width
        self.ink = ImageDraw.Draw(canvas)
        self.cx, self.cy, self.scale, self.flip = cx, cy, scale, flip
        self.cos, self.sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))

    def at(self, p: Point) -> Point:
        """Canvas pixel of a box point."""
        x, y = p[0] * self.cos - p[1] * self.sin, p[0] * self.sin + p[1] * self.cos
        if self.flip:
            x = -x
        return ((self.cx + x * self.scale) * self.side, (self.cy + y * self.scale) * self.side)

    def px(self, width: float) -> int:
        """Line width in pixels from a width in box units."""
        return max(1, round(width * self.scale * self.side))

    def line(self, points: Sequence[Point], colour: Colour = INK, width: float = 0.035, caps: bool = True) -> None:
        """Open polyline with round joints and caps."""
        dots = [self.at(p) for p in points]
        w = self.px(width)
        self.ink.line(dots, fill=colour, width=w, joint="curve")
        if caps:
            for x, y in (dots[0], dots[-1]):
                self.ink.ellipse((x - w / 2, y - w / 2, x + w / 2, y + w / 2), fill=colour)

    def poly(self, points: Sequence[Point], fill: Colour, edge: float = 0.035, colour: Colour = INK) -> None:
        """Closed polygon; `edge` is the outline's width in box units, 0 for none."""
        self.ink.polygon([self.at(p) for p in points], fill=fill)
        if edge > 0:
            self.line([*points, points[0], points[1]], colour, edge)

    def blob(self, points: Sequence[Point], fill: Colour, edge: float = 0.035, colour: Colour = INK) -> None:
        """Closed smooth shape through `points`."""
        self.poly(_smooth(points, closed=True), fill, edge, colour)

    def oval(
        self,
        cx: float,
        cy: float,
        rx: float,
        ry: float,
        fill: Colour,
        edge: float = 0.035,
        rot: float = 0.0,
        colour: Colour = INK,
    ) -> None:
        """Ellipse; `rot` in degrees."""
        self.poly(_ellipse(cx, cy, rx, ry, rot), fill, edge, colour)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour, edge: float = 0.035) -> None:
        """Rectangle."""
        self.poly([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], fill, edge)

    def curve(self, points: Sequence[Point], colour: Colour = INK, width: float = 0.035) -> None:
        """Open smooth line through `points`."""
        self.line(_smooth(points, closed=False), colour, width)


# ---------------------------------------------------------------- backgrounds

_SKIES: tuple[tuple[Colour, Colour], ...] = (
    ((120, 186, 236), (222, 240, 250)),
    ((247, 190, 140), (252, 236, 205)),
    ((160, 205, 225), (240, 245, 235)),
    ((196, 186, 230), (250, 228, 232)),
)
_PLAINS: tuple[Colour, ...] = ((244, 236, 216), (222, 236, 226), (230, 228, 242), (250, 226, 218), (216, 232, 244))
_GROUNDS: tuple[Colour, ...] = ((132, 178, 92), (196, 170, 112), (112, 160, 112), (178, 156, 130))


def _gradient(canvas: Image.Image, top: Colour, bottom: Colour, y0: float = 0.0, y1: float = 1.0) -> None:
    """Vertical gradient between two heights (fractions of the side)."""
    side = canvas.width
    ink = ImageDraw.Draw(canvas)
    a, b = round(y0 * side), round(y1 * side)
    for y in range(a, b):
        ink.line((0, y, side, y), fill=_mix(top, bottom, (y - a) / max(1, b - a - 1)))


def _puff(pen: _Pen, x: float, y: float, w: float, fill: Colour, edge: float = 0.0) -> None:
    """A cloud about `w` wide, its middle at (x, y)."""
    parts = ((-0.32, 0.06, 0.2), (-0.1, -0.08, 0.24), (0.16, -0.03, 0.22), (0.36, 0.08, 0.16))
    if edge:
        for dx, dy, rr in parts:
            pen.oval(x + dx * w, y + dy * w, rr * w + edge, rr * w + edge, INK, 0)
        pen.box(x - 0.36 * w, y, x + 0.4 * w, y + 0.26 * w + edge, INK, 0)
        pen.oval(x - 0.36 * w, y + 0.13 * w, 0.13 * w + edge, 0.13 * w + edge, INK, 0)
        pen.oval(x + 0.4 * w, y + 0.13 * w, 0.13 * w + edge, 0.13 * w + edge, INK, 0)
    for dx, dy, rr in parts:
        pen.oval(x + dx * w, y + dy * w, rr * w, rr * w, fill, 0)
    pen.box(x - 0.36 * w, y, x + 0.4 * w, y + 0.26 * w, fill, 0)
    pen.oval(x - 0.36 * w, y + 0.13 * w, 0.13 * w, 0.13 * w, fill, 0)
    pen.oval(x + 0.4 * w, y + 0.13 * w, 0.13 * w, 0.13 * w, fill, 0)


def _sky(canvas: Image.Image, r: random.Random) -> None:
    top, bottom = r.choice(_SKIES)
    _gradient(canvas, top, bottom)
    pen = _Pen(canvas, 0.5, 0.5, 0.5, 0, False)
    for _ in range(r.randint(0, 3)):
        _puff(pen, r.uniform(-0.9, 0.9), r.uniform(-0.9, 0.3), r.uniform(0.3, 0.55), _mix(bottom, WHITE, 0.7))


def _ground(canvas: Image.Image, r: random.Random, horizon: float) -> None:
    _sky(canvas, r)
    colour = r.choice(_GROUNDS)
    _gradient(canvas, colour, _mix(colour, INK, 0.18), horizon, 1.0)
    pen = _Pen(canvas, 0.5, 0.5, 0.5, 0, False)
    for _ in range(r.randint(3, 8)):
        x, y = r.uniform(-0.95, 0.95), r.uniform(min(horizon * 2 - 0.92, 0.9), 0.95)
        for dx in (-0.03, 0.0, 0.03):
            pen.line([(x, y), (x + dx, y - 0.06)], _mix(colour, INK, 0.35), 0.012)


def _plain(canvas: Image.Image, r: random.Random) -> None:
    colour = r.choice(_PLAINS)
    _gradient(canvas, _mix(colour, WHITE, 0.35), _mix(colour, INK, 0.08))


def _night(canvas: Image.Image, r: random.Random) -> None:
    _gradient(canvas, (18, 24, 58), r.choice(((62, 54, 110), (34, 66, 110), (76, 50, 96))))
    pen = _Pen(canvas, 0.5, 0.5, 0.5, 0, False)
    for _ in range(r.randint(14, 30)):
        pen.oval(r.uniform(-1, 1), r.uniform(-1, 1), *(2 * (r.uniform(0.008, 0.018),)), (250, 244, 210), 0)


def _sea(canvas: Image.Image, r: random.Random, level: float) -> None:
    _sky(canvas, r)
    blue = r.choice(((38, 112, 168), (30, 128, 150), (48, 96, 160)))
    _gradient(canvas, blue, _mix(blue, (8, 22, 60), 0.55), level, 1.0)


# ---------------------------------------------------------------- subjects (each paints its own background)


def _place(
    canvas: Image.Image, r: random.Random, big: float = 0.38, drop: float = 0.5, turn: float = 4.0, flip: bool = True
) -> _Pen:
    """Pen at a seeded place; `big` is the largest half-width (fraction of the side), `drop` the middle's height."""
    scale = big * r.uniform(0.84, 1.0)
    room = 0.5 - scale
    return _Pen(
        canvas,
        0.5 + r.uniform(-room, room) * 0.7,
        drop + r.uniform(-0.035, 0.035),
        scale,
        r.uniform(-turn, turn),
        flip and r.random() < 0.5,
    )


def _mule(canvas: Image.Image, r: random.Random) -> None:
    pen = _place(canvas, r, 0.42, 0.53, 2)
    _ground(canvas, r, pen.cy + 0.62 * pen.scale)
    coat = r.choice(((134, 98, 74), (120, 112, 110), (158, 122, 88), (98, 80, 70)))
    dark, pale = _mix(coat, INK, 0.45), _mix(coat, (250, 238, 222), 0.65)
    pen.oval(-0.05, 0.92, 0.75, 0.07, _mix(_GROUNDS[0], INK, 0.4), 0)
    pen.curve([(-0.66, -0.08), (-0.82, 0.08), (-0.83, 0.34)], dark, 0.05)
    pen.oval(-0.83, 0.42, 0.06, 0.15, dark, 0.02)
    for x, shade in ((-0.4, dark), (0.22, dark), (-0.56, coat), (0.06, coat)):
        pen.poly([(x - 0.08, 0.2), (x + 0.09, 0.2), (x + 0.07, 0.82), (x - 0.06, 0.82)], shade)
        pen.poly([(x - 0.07, 0.8), (x + 0.08, 0.8), (x + 0.1, 0.92), (x - 0.09, 0.92)], INK)
    # far ear first, then one outline from the rump over the neck to the nose
    pen.oval(0.44, -0.8, 0.065, 0.27, dark, 0.03, -14)
    pen.blob(
        [
            (-0.68, -0.02),
            (-0.5, -0.18),
            (-0.15, -0.14),
            (0.14, -0.16),
            (0.3, -0.42),
            (0.46, -0.62),
            (0.64, -0.58),
            (0.8, -0.36),
            (0.96, -0.14),
            (0.94, 0.0),
            (0.78, 0.02),
            (0.62, -0.14),
            (0.48, -0.12),
            (0.36, 0.16),
            (0.2, 0.36),
            (-0.2, 0.38),
            (-0.55, 0.36),
            (-0.7, 0.18),
        ],
        coat,
    )
    pen.blob([(0.78, -0.2), (0.92, -0.16), (0.97, -0.04), (0.9, 0.03), (0.77, 0.0), (0.72, -0.1)], pale, 0.025)
    pen.oval(0.9, -0.1, 0.025, 0.02, INK, 0)
    pen.line([(0.82, -0.01), (0.92, -0.03)], INK, 0.02)
    for i in range(7):
        t = i / 6
        x, y = 0.12 + 0.34 * t, -0.2 - 0.46 * t
        pen.poly([(x - 0.03, y + 0.05), (x - 0.08, y - 0.09), (x + 0.07, y - 0.03)], dark, 0)
    pen.oval(0.57, -0.83, 0.075, 0.29, coat, 0.035, 10)
    pen.oval(0.575, -0.81, 0.035, 0.19, (232, 186, 176), 0, 10)
    pen.oval(0.64, -0.4, 0.05, 0.055, WHITE, 0.02)
    pen.oval(0.655, -0.395, 0.025, 0.03, INK, 0)
    pen.line([(0.58, -0.48), (0.7, -0.46)], INK, 0.03)
    if r.random() < 0.6:
        rope = r.choice(((196, 60, 50), (60, 90, 170), (214, 170, 60)))
        pen.line([(0.68, -0.17), (0.84, -0.29)], rope, 0.045)
        pen.line([(0.52, -0.2), (0.7, -0.2)], rope, 0.035)
    if r.random() < 0.5:
        pack = r.choice(((186, 84, 60), (90, 110, 150), (170, 140, 70)))
        pen.blob([(-0.4, -0.22), (-0.22, -0.36), (0.0, -0.22), (0.02, 0.08), (-0.2, 0.14), (-0.42, 0.08)], pack)
        pen.line([(-0.2, -0.3), (-0.2, 0.12)], INK, 0.025)


def _snail(canvas: Image.Image, r: random.Random) -> None:
    pen = _place(canvas, r, 0.41, 0.56, 2)
    _ground(canvas, r, pen.cy + 0.3 * pen.scale)
    skin = r.choice(((226, 190, 132), (198, 176, 150), (210, 200, 120), (232, 176, 150)))
    shell = r.choice(((176, 94, 58), (150, 110, 170), (96, 140, 110), (204, 140, 60), (190, 80, 96)))
    dark = _mix(shell, INK, 0.5)
    pen.oval(0.0, 0.62, 0.9, 0.07, _mix(_GROUNDS[0], INK, 0.4), 0)
    for x0, x1, y1 in ((0.68, 0.62, -0.5), (0.8, 0.92, -0.46)):
        pen.curve([(x0, 0.0), ((x0 + x1) / 2 + 0.02, y1 / 2), (x1, y1)], INK, 0.085)
        pen.curve([(x0, 0.0), ((x0 + x1) / 2 + 0.02, y1 / 2), (x1, y1)], skin, 0.045)
        pen.oval(x1, y1, 0.075, 0.075, WHITE, 0.03)
        pen.oval(x1 + 0.02, y1, 0.032, 0.035, INK, 0)
    pen.blob(
        [
            (-0.98, 0.6),
            (-0.7, 0.42),
            (-0.2, 0.34),
            (0.34, 0.34),
            (0.52, 0.1),
            (0.66, -0.08),
            (0.84, -0.06),
            (0.94, 0.12),
            (0.86, 0.3),
            (0.78, 0.5),
            (0.6, 0.62),
            (0.0, 0.63),
            (-0.6, 0.63),
        ],
        skin,
    )
    pen.oval(-0.12, -0.06, 0.55, 0.52, shell, 0.045)
    spiral: list[Point] = []
    for i in range(70):
        t = i / 69
        a = t * 2 * math.pi * 2.3 + 0.7
        rad = 0.5 * (1 - t) ** 0.85
        spiral.append((-0.12 + rad * math.cos(a), -0.06 + rad * 0.94 * math.sin(a)))
    pen.line(spiral, dark, 0.055)
    pen.line(_arc(-0.12, -0.06, 0.44, 0.41, 200, 260), _mix(shell, WHITE, 0.55), 0.04)
    pen.curve([(0.8, 0.2), (0.85, 0.24), (0.9, 0.2)], INK, 0.025)
    if r.random() < 0.6:
        pen.line([(-1.3, 0.66), (-0.95, 0.64)], (220, 232, 226), 0.05)


def _lion(canvas: Image.Image, r: random.Random) -> None:
    (_plain if r.random() < 0.5 else _sky)(canvas, r)
    pen = _place(canvas, r, 0.42, 0.5, 5)
    fur = r.choice(((238, 188, 96), (226, 170, 84), (244, 204, 120)))
    mane = r.choice(((168, 92, 40), (140, 72, 34), (190, 108, 44), (112, 64, 40)))
    n = r.choice((16, 18, 20))
    ring: list[Point] = []
    for i in range(2 * n):
        a = math.pi * i / n
        rad = 0.98 if i % 2 == 0 else 0.8
        ring.append((rad * math.cos(a), rad * math.sin(a)))
    pen.blob(ring, mane, 0.04)
    inner = [(x * 0.82, y * 0.82) for x, y in ring]
    pen.blob(inner, _mix(mane, fur, 0.35), 0)
    for side in (-1, 1):
        pen.oval(side * 0.5, -0.52, 0.19, 0.19, fur, 0.035)
        pen.oval(side * 0.5, -0.5, 0.1, 0.1, (226, 150, 130), 0)
    pen.blob(
        [
            (0, -0.62),
            (0.42, -0.46),
            (0.56, -0.02),
            (0.42, 0.42),
            (0, 0.62),
            (-0.42, 0.42),
            (-0.56, -0.02),
            (-0.42, -0.46),
        ],
        fur,
    )
    for side in (-1, 1):
        pen.oval(side * 0.25, -0.12, 0.09, 0.1, WHITE, 0.03)
        pen.oval(side * 0.24, -0.1, 0.045, 0.055, INK, 0)
        pen.line([(side * 0.38, -0.3), (side * 0.13, -0.23)], _mix(mane, INK, 0.3), 0.05)
    pen.poly([(-0.1, -0.24), (0.1, -0.24), (0.13, 0.12), (-0.13, 0.12)], _mix(fur, WHITE, 0.2), 0)
    pen.blob(
        [(-0.3, 0.26), (-0.16, 0.12), (0, 0.2), (0.16, 0.12), (0.3, 0.26), (0.2, 0.46), (0, 0.5), (-0.2, 0.46)],
        (252, 236, 206),
        0.025,
    )
    pen.blob([(-0.15, 0.08), (0, 0.04), (0.15, 0.08), (0.06, 0.21), (0, 0.24), (-0.06, 0.21)], (110, 50, 46), 0.02)
    pen.line([(0, 0.23), (0, 0.33)], INK, 0.025)
    pen.curve([(-0.17, 0.34), (-0.08, 0.39), (0, 0.33), (0.08, 0.39), (0.17, 0.34)], INK, 0.028)
    for side in (-1, 1):
        for dy in (0.22, 0.3, 0.38):
            pen.line([(side * 0.24, dy), (side * 0.6, dy * 1.5 - 0.16)], INK, 0.014)
    if r.random() < 0.3:
        pen.poly([(-0.1, 0.37), (0.1, 0.37), (0.07, 0.47), (-0.07, 0.47)], (150, 40, 50), 0.02)


def _fox(canvas: Image.Image, r: random.Random) -> None:
    pick = r.random()
    if pick < 0.4:
        _plain(canvas, r)
    elif pick < 0.7:
        _night(canvas, r)
    else:
        _sky(canvas, r)
    pen = _place(canvas, r, 0.42, 0.5, 6)
    fur = r.choice(((232, 112, 40), (214, 92, 36), (240, 134, 60)))
    for side in (-1, 1):
        pen.poly([(side * 0.2, -0.42), (side * 0.68, -0.98), (side * 0.82, -0.2)], fur, 0.04)
        pen.poly([(side * 0.56, -0.78), (side * 0.68, -0.98), (side * 0.74, -0.66)], INK, 0.02)
        pen.poly([(side * 0.38, -0.42), (side * 0.62, -0.72), (side * 0.7, -0.28)], (250, 214, 190), 0)
    pen.blob(
        [
            (0, -0.5),
            (0.45, -0.46),
            (0.8, -0.14),
            (0.95, 0.22),
            (0.6, 0.34),
            (0.26, 0.62),
            (0, 0.86),
            (-0.26, 0.62),
            (-0.6, 0.34),
            (-0.95, 0.22),
            (-0.8, -0.14),
            (-0.45, -0.46),
        ],
        fur,
        0.04,
    )
    for side in (-1, 1):
        pen.blob(
            [
                (side * 0.06, 0.66),
                (side * 0.3, 0.14),
                (side * 0.62, 0.02),
                (side * 0.9, 0.21),
                (side * 0.58, 0.31),
                (side * 0.24, 0.58),
            ],
            WHITE,
            0,
        )
        pen.blob(
            [(side * 0.2, -0.02), (side * 0.36, -0.14), (side * 0.54, -0.12), (side * 0.38, 0.01)], (250, 216, 90), 0.03
        )
        pen.oval(side * 0.36, -0.06, 0.035, 0.06, INK, 0)
        pen.line([(side * 0.16, -0.16), (side * 0.56, -0.28)], _mix(fur, INK, 0.55), 0.045)
        for dy in (0.42, 0.5):
            pen.line([(side * 0.2, dy + 0.06), (side * 0.62, dy + 0.1)], INK, 0.014)
    pen.poly([(-0.1, 0.2), (0.1, 0.2), (0.14, 0.6), (-0.14, 0.6)], _mix(fur, WHITE, 0.18), 0)
    pen.blob([(-0.14, 0.64), (0, 0.58), (0.14, 0.64), (0.08, 0.78), (0, 0.82), (-0.08, 0.78)], INK, 0.02)
    pen.oval(-0.04, 0.67, 0.035, 0.025, WHITE, 0)
    if r.random() < 0.6:
        pen.curve([(0.02, 0.84), (0.14, 0.8), (0.26, 0.68)], INK, 0.028)


def _rocket(canvas: Image.Image, r: random.Random) -> None:
    (_night if r.random() < 0.6 else _sky)(canvas, r)
    scale = 0.4 * r.uniform(0.85, 1.0)
    pen = _Pen(
        canvas, 0.5 + r.uniform(-0.08, 0.08), 0.46 + r.uniform(-0.03, 0.03), scale, r.uniform(5, 34), r.random() < 0.5
    )
    body = r.choice((WHITE, (226, 230, 236), (250, 236, 206)))
    trim = r.choice(((214, 52, 52), (44, 110, 190), (240, 150, 40), (60, 150, 100)))
    for w, h, c in ((0.26, 1.22, (240, 92, 40)), (0.18, 1.04, (250, 170, 50)), (0.1, 0.86, (255, 240, 170))):
        pen.blob([(-w, 0.5), (w, 0.5), (w * 0.8, (0.5 + h) / 2), (0, h), (-w * 0.8, (0.5 + h) / 2)], c, 0)
    for x, y, s in ((-0.3, 1.1, 0.14), (0.26, 1.2, 0.16), (0.0, 1.36, 0.16), (-0.14, 1.28, 0.12)):
        if r.random() < 0.8:
            pen.oval(x, y, s, s, (226, 222, 226), 0)
    for side in (-1, 1):
        pen.poly([(side * 0.24, 0.08), (side * 0.6, 0.46), (side * 0.56, 0.74), (side * 0.22, 0.5)], trim, 0.04)
    pen.poly(
        _smooth([(0, -1.0), (0.2, -0.7), (0.32, -0.3), (0.32, 0.1), (0.22, 0.52)], False)
        + _smooth([(-0.22, 0.52), (-0.32, 0.1), (-0.32, -0.3), (-0.2, -0.7), (0, -1.0)], False),
        body,
        0.04,
    )
    pen.poly(
        _smooth([(0, -1.0), (0.2, -0.7), (0.265, -0.5)], False)
        + _smooth([(-0.265, -0.5), (-0.2, -0.7), (0, -1.0)], False),
        trim,
        0.04,
    )
    pen.oval(0, -0.2, 0.16, 0.16, trim, 0.035)
    pen.oval(0, -0.2, 0.1, 0.1, (150, 214, 240), 0.025)
    pen.poly([(-0.24, 0.44), (0.24, 0.44), (0.18, 0.58), (-0.18, 0.58)], (90, 92, 104), 0.035)
    pen.poly([(-0.05, 0.16), (0.05, 0.16), (0.04, 0.66), (-0.04, 0.66)], trim, 0.03)


def _iceberg(canvas: Image.Image, r: random.Random) -> None:
    level = r.uniform(0.3, 0.38)
    _sea(canvas, r, level)
    scale = 0.42 * r.uniform(0.85, 1.0)
    pen = _Pen(canvas, 0.5 + r.uniform(-0.06, 0.06), level, scale, 0, r.random() < 0.5)
    j = [r.uniform(-0.06, 0.06) for _ in range(8)]
    deep, mid, pale = (74, 152, 200), (126, 192, 224), (172, 220, 240)
    under = [
        (-0.62, 0),
        (-0.92 + j[0], 0.32),
        (-0.78 + j[1], 0.74),
        (-0.46 + j[2], 0.96),
        (-0.12 + j[3], 1.36),
        (0.22 + j[4], 1.16),
        (0.58 + j[5], 0.86),
        (0.94 + j[6], 0.46),
        (0.6, 0),
    ]
    pen.poly(under, mid, 0.03, (226, 244, 250))
    pen.poly([under[0], under[1], under[2], (-0.4, 0.5)], pale, 0)
    pen.poly([(-0.4, 0.5), under[2], under[3], under[4], (0.06, 0.7)], deep, 0)
    pen.poly([(0.06, 0.7), under[5], under[6], (0.5, 0.36)], _mix(deep, mid, 0.4), 0)
    pen.poly([(-0.1, 0), (-0.4, 0.5), (0.06, 0.7), (0.5, 0.36), (0.3, 0)], _mix(mid, pale, 0.4), 0)
    tip = [
        (-0.5, 0.02),
        (-0.34 + j[1], -0.24),
        (-0.14, -0.3 + j[2]),
        (0.02 + j[7], -0.58),
        (0.2, -0.32),
        (0.36, -0.26 + j[3]),
        (0.5, 0.02),
    ]
    pen.poly(tip, WHITE, 0.035, (70, 110, 150))
    pen.poly([tip[3], tip[4], tip[5], tip[6], (0.14, 0.02), (0.02, -0.24)], (196, 222, 236), 0)
    wave: list[Point] = []
    for i in range(61):
        x = -2.4 + 4.8 * i / 60
        wave.append((x, 0.02 * math.sin(i * 1.3)))
    pen.line(wave, (206, 236, 246), 0.035)
    if r.random() < 0.5:
        x = r.choice((-0.95, 0.92))
        pen.poly([(x - 0.13, -0.08), (x + 0.13, -0.08), (x + 0.08, 0.01), (x - 0.08, 0.01)], (150, 70, 50), 0.02)
        pen.line([(x, -0.08), (x, -0.3)], INK, 0.02)
        pen.poly([(x + 0.015, -0.3), (x + 0.13, -0.12), (x + 0.015, -0.12)], WHITE, 0.015)
    for _ in range(r.randint(0, 3)):
        x, y = r.uniform(-1.0, 1.0), r.uniform(0.9, 1.4)
        pen.oval(x, y, 0.07, 0.035, (40, 70, 110), 0)
        pen.poly([(x - 0.06, y), (x - 0.13, y - 0.04), (x - 0.13, y + 0.04)], (40, 70, 110), 0)


def _clock(canvas: Image.Image, r: random.Random) -> None:
    _plain(canvas, r)
    pen = _place(canvas, r, 0.39, 0.52, 10)
    case = r.choice(((196, 60, 54), (60, 110, 160), (70, 140, 110), (210, 150, 50), (110, 84, 140)))
    for side in (-1, 1):
        pen.line([(side * 0.5, 0.66), (side * 0.66, 0.92)], INK, 0.12)
        pen.poly(_arc(side * 0.5, -0.72, 0.26, 0.22, 180 + side * 35, 360 + side * 35), _mix(case, WHITE, 0.25), 0.04)
    pen.line([(0, -0.8), (0, -0.98)], INK, 0.08)
    pen.oval(0, 0, 0.84, 0.84, case, 0.045)
    pen.oval(0, 0, 0.68, 0.68, (250, 246, 232), 0.035)
    for i in range(12):
        a = math.radians(30 * i)
        inner = 0.52 if i % 3 == 0 else 0.57
        pen.line(
            [(inner * math.sin(a), -inner * math.cos(a)), (0.63 * math.sin(a), -0.63 * math.cos(a))],
            INK,
            0.05 if i % 3 == 0 else 0.025,
        )
    for length, width in ((0.32, 0.065), (0.5, 0.045)):
        a = math.radians(r.uniform(0, 360))
        pen.line([(0, 0), (length * math.sin(a), -length * math.cos(a))], INK, width)
    pen.oval(0, 0, 0.06, 0.06, case, 0.025)
    # the break: a missing wedge of glass, cracks that run from it, a spring hanging out
    base = r.uniform(20, 70)
    hit = (0.36 * math.cos(math.radians(base)), 0.36 * math.sin(math.radians(base)))
    rim = [(0.9 * math.cos(math.radians(base + d)), 0.9 * math.sin(math.radians(base + d))) for d in (-15, -4, 8, 17)]
    pen.poly([hit, rim[0], rim[1], rim[2], rim[3]], (66, 58, 70), 0.03)
    for d, length in ((150, 0.62), (205, 0.74), (262, 0.5), (100, 0.4)):
        a = math.radians(base + d)
        m = (hit[0] + length * 0.5 * math.cos(a + 0.3), hit[1] + length * 0.5 * math.sin(a + 0.3))
        e = (hit[0] + length * math.cos(a - 0.05), hit[1] + length * math.sin(a - 0.05))
        pen.line([hit, m, e], INK, 0.026)
        b = a + 1.0
        pen.line([m, (m[0] + 0.17 * math.cos(b), m[1] + 0.17 * math.sin(b))], INK, 0.02)
    spring: list[Point] = []
    a = math.radians(base)
    for i in range(90):
        t = i / 89
        ang = t * 2 * math.pi * 4.5
        along = 0.6 + 0.5 * t
        spring.append((along * math.cos(a) + 0.09 * math.cos(ang), along * math.sin(a) + 0.09 * math.sin(ang)))
    pen.line(spring, (96, 100, 112), 0.032)


def _flames(pen: _Pen, x: float, y: float, w: float, h: float, r: random.Random) -> None:
    """Three-coloured tongue of fire standing on (x, y)."""
    lean = r.uniform(-0.25, 0.25) * w
    for k, c in ((1.0, (222, 60, 34)), (0.7, (246, 140, 36)), (0.42, (255, 226, 110))):
        ww, hh = w * k, h * k
        pen.blob(
            [
                (x - ww * 0.3, y),
                (x - ww * 0.5, y - hh * 0.3),
                (x - ww * 0.22, y - hh * 0.56),
                (x + lean * k, y - hh),
                (x + ww * 0.24, y - hh * 0.6),
                (x + ww * 0.5, y - hh * 0.28),
                (x + ww * 0.3, y),
            ],
            c,
            0.02 if k == 1.0 else 0,
            (150, 30, 24),
        )


def _burning_house(canvas: Image.Image, r: random.Random) -> None:
    pen = _place(canvas, r, 0.38, 0.6, 0)
    if r.random() < 0.4:
        _night(canvas, r)
        _gradient(canvas, (56, 74, 60), (36, 48, 44), pen.cy + 0.72 * pen.scale, 1.0)
    else:
        _ground(canvas, r, pen.cy + 0.72 * pen.scale)
    wall = r.choice(((238, 222, 190), (200, 214, 226), (236, 200, 180), (214, 226, 200)))
    roof = r.choice(((128, 62, 54), (84, 84, 104), (110, 84, 60)))
    for i in range(6):
        pen.oval(
            0.32 + 0.1 * i + r.uniform(-0.06, 0.06),
            -1.02 - 0.12 * i,
            0.2 + 0.025 * i,
            0.17 + 0.02 * i,
            _mix((88, 84, 90), (150, 146, 150), i / 6),
            0,
        )
    for x, w, h in ((-0.5, 0.5, 0.7), (0.0, 0.66, 1.0), (0.46, 0.5, 0.75)):
        _flames(pen, x, -0.2 if x else -0.4, w, h * r.uniform(0.85, 1.1), r)
    pen.box(-0.68, -0.1, 0.68, 0.78, wall, 0.04)
    pen.poly([(-0.86, -0.06), (0.0, -0.66), (0.86, -0.06)], roof, 0.04)
    pen.box(-0.14, 0.32, 0.14, 0.78, (120, 78, 50), 0.035)
    pen.oval(0.08, 0.56, 0.025, 0.025, (250, 220, 120), 0)
    for x in (-0.42, 0.42):
        pen.box(x - 0.15, 0.14, x + 0.15, 0.44, (255, 206, 90), 0.035)
        _flames(pen, x, 0.42, 0.3, 0.56 * r.uniform(0.9, 1.15), r)
    _flames(pen, -0.34, -0.3, 0.34, 0.5, r)
    _flames(pen, 0.3, -0.32, 0.38, 0.56, r)
    _flames(pen, 0.0, -0.5, 0.36, 0.52, r)
    if r.random() < 0.5:
        _flames(pen, 0.0, 0.78, 0.22, 0.42, r)


def _mountain(canvas: Image.Image, r: random.Random) -> None:
    base = r.uniform(0.78, 0.86)
    _ground(canvas, r, base)
    scale = 0.46 * r.uniform(0.88, 1.0)
    pen = _Pen(canvas, 0.5 + r.uniform(-0.05, 0.05), base, scale, 0, r.random() < 0.5)
    rock = r.choice(((112, 118, 138), (128, 112, 104), (96, 116, 128), (134, 120, 150)))
    dark, far = _mix(rock, INK, 0.35), _mix(rock, (214, 226, 240), 0.5)
    pen.poly([(-1.4, 0.03), (-0.85, -0.72), (-0.3, 0.03)], far, 0.025)
    pen.poly([(0.2, 0.03), (0.86, -0.8), (1.5, 0.03)], far, 0.025)
    top = -1.42 - r.uniform(0, 0.14)
    pen.poly(
        [(-0.98, 0.03), (-0.5, -0.62), (-0.36, -0.6), (0, top), (0.4, -0.72), (0.5, -0.74), (1.02, 0.03)], rock, 0.04
    )
    pen.poly([(0, top), (0.4, -0.72), (0.5, -0.74), (1.02, 0.03), (0.26, 0.03), (0.14, -0.5), (0.22, -0.8)], dark, 0)
    ridge = 0.56
    left, right = (-0.36 * ridge, top + (-0.6 - top) * ridge), (0.4 * ridge, top + (-0.72 - top) * ridge)
    pen.poly(
        [
            (0, top),
            right,
            (0.13, right[1] - 0.07),
            (0.05, right[1] + 0.1),
            (-0.05, right[1] - 0.05),
            (-0.13, left[1] + 0.05),
            left,
        ],
        WHITE,
        0.025,
    )
    if r.random() < 0.5:
        pen.line([(0, top), (0, top - 0.2)], INK, 0.025)
        pen.poly([(0.01, top - 0.2), (0.16, top - 0.15), (0.01, top - 0.09)], (214, 50, 50), 0.015)
    for _ in range(r.randint(2, 6)):
        x, h = r.uniform(-1.0, 1.0), r.uniform(0.14, 0.22)
        y = r.uniform(0.06, 0.2)
        pen.poly([(x - h * 0.4, y), (x, y - h), (x + h * 0.4, y)], (46, 96, 66), 0.018)


def _sun(canvas: Image.Image, r: random.Random) -> None:
    top, bottom = r.choice((((92, 176, 240), (214, 240, 252)), ((120, 200, 240), (250, 244, 214))))
    _gradient(canvas, top, bottom)
    scale = 0.36 * r.uniform(0.82, 1.0)
    pen = _Pen(canvas, 0.5 + r.uniform(-0.1, 0.1), 0.45 + r.uniform(-0.05, 0.05), scale, r.uniform(0, 30), False)
    gold = r.choice(((255, 208, 50), (255, 190, 40), (255, 220, 84)))
    n = r.choice((10, 12, 14))
    for i in range(n):
        a = 2 * math.pi * i / n
        length = 1.08 if i % 2 == 0 else 0.96
        half = math.pi / n * 0.55
        pen.poly(
            [
                (0.74 * math.cos(a - half), 0.74 * math.sin(a - half)),
                (length * math.cos(a), length * math.sin(a)),
                (0.74 * math.cos(a + half), 0.74 * math.sin(a + half)),
            ],
            _mix(gold, (250, 130, 20), 0.35),
            0.03,
            (196, 110, 20),
        )
    pen.oval(0, 0, 0.64, 0.64, gold, 0.04, colour=(196, 110, 20))
    if r.random() < 0.7:
        face = _Pen(canvas, pen.cx, pen.cy, scale, 0, False)
        for side in (-1, 1):
            face.oval(side * 0.22, -0.12, 0.055, 0.09, INK, 0)
            face.oval(side * 0.36, 0.12, 0.09, 0.06, (250, 150, 100), 0)
        face.curve([(-0.26, 0.14), (-0.12, 0.28), (0.12, 0.28), (0.26, 0.14)], INK, 0.045)
    low = _Pen(canvas, 0.5, 0.5, 0.5, 0, False)
    if r.random() < 0.6:
        hill = r.choice(_GROUNDS)
        low.blob([(-1.3, 1.3), (-1.2, 0.86), (-0.5, 0.76), (0.1, 0.88), (0.6, 0.78), (1.3, 0.9), (1.3, 1.3)], hill, 0)
    for _ in range(r.randint(0, 2)):
        _puff(low, r.choice((-0.75, 0.75)) + r.uniform(-0.1, 0.1), r.uniform(0.2, 0.6), r.uniform(0.3, 0.45), WHITE)


def _storm(canvas: Image.Image, r: random.Random) -> None:
    _gradient(canvas, r.choice(((74, 82, 104), (92, 96, 112), (66, 80, 96))), (164, 172, 186))
    low = _Pen(canvas, 0.5, 0.5, 0.5, 0, False)
    scene = r.choice(("none", "picnic", "umbrella"))
    if scene != "none" or r.random() < 0.5:
        _gradient(canvas, (88, 122, 84), (62, 92, 68), 0.84, 1.0)
    scale = 0.42 * r.uniform(0.88, 1.0)
    pen = _Pen(canvas, 0.5 + r.uniform(-0.05, 0.05), 0.3 + r.uniform(-0.02, 0.03), scale, 0, r.random() < 0.5)
    if scene == "picnic":
        low.poly([(-0.6, 0.96), (-0.42, 0.72), (0.5, 0.72), (0.68, 0.96)], (214, 64, 60), 0.02)
        for i in range(3):
            x = -0.3 + 0.3 * i
            low.poly([(x - 0.07, 0.96), (x + 0.0, 0.72), (x + 0.11, 0.72), (x + 0.07, 0.96)], WHITE, 0)
        low.poly([(-0.2, 0.6), (0.14, 0.6), (0.1, 0.82), (-0.16, 0.82)], (176, 124, 66), 0.02)
        low.line(_arc(-0.03, 0.6, 0.15, 0.16, 180, 360), INK, 0.03)
    elif scene == "umbrella":
        x = r.uniform(-0.25, 0.25)
        low.line([(x, 0.62), (x, 0.92)], INK, 0.03)
        low.line(_arc(x + 0.05, 0.92, 0.05, 0.05, 180, 0), INK, 0.03)
        colour = r.choice(((214, 60, 64), (230, 170, 40), (70, 90, 180)))
        low.poly([*_arc(x, 0.7, 0.4, 0.34, 180, 360), (x + 0.2, 0.64), (x, 0.7), (x - 0.2, 0.64)], colour, 0.022)
    for _ in range(r.randint(24, 36)):
        x, y = r.uniform(-0.85, 0.85), r.uniform(0.3, 1.35)
        pen.line([(x, y), (x - 0.06, y + 0.17)], (196, 222, 246), 0.026)
    cloud = r.choice(((58, 62, 78), (76, 78, 92), (50, 58, 80)))
    _puff(pen, 0.0, -0.1, 1.75, cloud, 0.03)
    _puff(pen, -0.1, -0.2, 1.1, _mix(cloud, WHITE, 0.16))
    for dx in (0.05,) if r.random() < 0.5 else (-0.35, 0.4):
        pen.poly(
            [
                (dx + 0.1, 0.26),
                (dx - 0.16, 0.72),
                (dx - 0.01, 0.72),
                (dx - 0.14, 1.16),
                (dx + 0.24, 0.6),
                (dx + 0.07, 0.6),
                (dx + 0.28, 0.26),
            ],
            (255, 222, 60),
            0.03,
        )


def _heart_outline(w: float = 1.0, h: float = 1.0, n: int = 80) -> list[Point]:
    """Heart curve inside [-w, w] x [-h, h], from the dip clockwise."""
    out: list[Point] = []
    for i in range(n):
        t = 2 * math.pi * i / n
        x = 16 * math.sin(t) ** 3 / 16
        y = -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)) / 16
        out.append((x * w, (y - 0.06) * h))
    return out


def _heart(canvas: Image.Image, r: random.Random) -> None:
    (_plain if r.random() < 0.7 else _sky)(canvas, r)
    pen = _place(canvas, r, 0.38, 0.5, 12)
    red = r.choice(((220, 40, 62), (206, 30, 50), (234, 70, 96), (240, 90, 130)))
    if r.random() < 0.4:
        for _ in range(4):
            x, y, s = r.choice((-1.05, 1.0)) + r.uniform(-0.1, 0.1), r.uniform(-1, 1), r.uniform(0.1, 0.17)
            pen.poly([(x + a * s, y + b * s) for a, b in _heart_outline()], _mix(red, WHITE, 0.4), 0)
    pen.poly(_heart_outline(), red, 0.045)
    pen.curve([(-0.78, -0.2), (-0.72, -0.52), (-0.46, -0.68)], _mix(red, WHITE, 0.7), 0.09)


def _broken_heart(canvas: Image.Image, r: random.Random) -> None:
    pick = r.random()
    (_plain if pick < 0.7 else _night)(canvas, r)
    base = _place(canvas, r, 0.37, 0.5, 6)
    red = r.choice(((206, 40, 60), (180, 34, 56), (220, 70, 92), (150, 60, 90)))
    zig: list[Point] = [(0, -0.62), (-0.2, -0.34), (0.14, -0.14), (-0.16, 0.14), (0.15, 0.38), (-0.06, 0.62), (0, 1.02)]
    heart = _heart_outline()
    n = len(heart)
    gap = r.uniform(0.13, 0.2)
    angle = math.degrees(math.asin(base.sin))
    for side in (1, -1):
        half = heart[1 : n // 2] if side == 1 else heart[n - 1 : n // 2 : -1]
        shape = [*half, *reversed(zig)]
        pen = _Pen(
            canvas,
            base.cx + (-1 if base.flip else 1) * side * gap * base.scale,
            base.cy,
            base.scale,
            angle + side * r.uniform(5, 11),
            base.flip,
        )
        pen.poly(shape, red if side == 1 else _mix(red, INK, 0.12), 0.045)
        if side == -1:
            pen.curve([(-0.8, -0.2), (-0.74, -0.5), (-0.5, -0.66)], _mix(red, WHITE, 0.6), 0.07)
    for _ in range(r.randint(2, 4)):
        x, y = r.uniform(-0.25, 0.25), r.uniform(0.85, 1.1)
        base.poly([(x, y), (x + 0.08, y + 0.03), (x + 0.03, y + 0.1)], red, 0.02)


def _bulb(canvas: Image.Image, r: random.Random) -> None:
    (_plain if r.random() < 0.55 else _night)(canvas, r)
    pen = _place(canvas, r, 0.38, 0.53, 12)
    glow = r.choice(((255, 226, 92), (255, 240, 150), (255, 212, 70)))
    for i in range(9):
        a = math.radians(-200 + 27.5 * i)
        pen.line(
            [(0.78 * math.cos(a), -0.25 + 0.78 * math.sin(a)), (1.02 * math.cos(a), -0.25 + 1.02 * math.sin(a))],
            (246, 176, 30),
            0.06,
        )
    neck = [(0.2, 0.52), (0.24, 0.34), (0.44, 0.12), (0.58, -0.2)]
    pen.poly(
        _smooth([*neck, (0.48, -0.6), (0, -0.82), (-0.48, -0.6), *[(-x, y) for x, y in reversed(neck)]], False),
        glow,
        0.045,
    )
    pen.line([(-0.12, 0.5), (-0.2, -0.06)], (150, 96, 30), 0.03)
    pen.line([(0.12, 0.5), (0.2, -0.06)], (150, 96, 30), 0.03)
    pen.line([(-0.2, -0.06), (-0.1, -0.2), (0, -0.06), (0.1, -0.2), (0.2, -0.06)], (220, 90, 20), 0.04)
    pen.line(_arc(0, -0.24, 0.44, 0.44, 190, 250), WHITE, 0.06)
    metal = (150, 154, 166)
    for i in range(3):
        pen.poly(
            [(-0.23, 0.52 + 0.12 * i), (0.23, 0.52 + 0.12 * i), (0.21, 0.63 + 0.12 * i), (-0.21, 0.63 + 0.12 * i)],
            _mix(metal, WHITE, 0.35 if i % 2 else 0.0),
            0.032,
        )
    pen.poly([(-0.14, 0.88), (0.14, 0.88), (0.07, 0.98), (-0.07, 0.98)], INK, 0.02)


def _ladder(canvas: Image.Image, r: random.Random) -> None:
    kind = r.choice(("wall", "cloud", "free"))
    if kind == "free":
        _plain(canvas, r)
    else:
        _ground(canvas, r, 0.82)
    flip = r.random() < 0.5
    pen = _Pen(canvas, 0.5, 0.5, 0.45 * r.uniform(0.9, 1.0), 0, flip)
    wood = r.choice(((196, 142, 78), (170, 112, 64), (214, 170, 96), (180, 60, 50), (150, 160, 172)))
    if kind == "wall":
        pen.box(0.34, -1.3, 1.6, 0.86, r.choice(((206, 150, 128), (190, 186, 180), (222, 206, 170))), 0.03)
        for row in range(9):
            y = -1.1 + 0.24 * row
            pen.line([(0.34, y), (1.5, y)], (150, 120, 108), 0.014)
            for k in range(4):
                x = 0.44 + 0.32 * k + (0.16 if row % 2 else 0)
                pen.line([(x, y), (x, y + 0.24)], (150, 120, 108), 0.014)
    lean = r.uniform(0.5, 0.72)
    bx = -0.45

    def rail(t: float, off: float) -> Point:
        return (bx + lean * t + off * (1 - 0.12 * t), 0.95 - 1.86 * t)

    if kind == "cloud":
        _puff(pen, bx + lean + 0.2, -0.82, 1.0, WHITE, 0.0)
    rungs = r.choice((7, 8, 9))
    for i in range(rungs):
        t = (i + 0.6) / rungs
        pen.line([rail(t, 0.0), rail(t, 0.42)], INK, 0.115)
        pen.line([rail(t, 0.0), rail(t, 0.42)], _mix(wood, WHITE, 0.25), 0.062)
    for off in (0.0, 0.42):
        pen.line([rail(0, off), rail(1, off)], INK, 0.14)
        pen.line([rail(0.004, off), rail(0.996, off)], wood, 0.085)
    if kind == "cloud":
        _puff(pen, bx + lean + 0.34, -0.74, 0.7, WHITE, 0.0)


def _anchor(canvas: Image.Image, r: random.Random) -> None:
    dark: tuple[Colour, ...] = ((62, 70, 88), (84, 60, 56), (44, 62, 104), (96, 104, 116))
    pale: tuple[Colour, ...] = ((150, 160, 178), (190, 112, 86), (198, 200, 204), (214, 170, 70))
    plain = r.random() < 0.5
    if plain:
        _plain(canvas, r)
    else:
        _sea(canvas, r, r.uniform(0.06, 0.16))
        low = _Pen(canvas, 0.5, 0.5, 0.5, 0, False)
        low.blob([(-1.3, 1.3), (-1.2, 0.86), (-0.4, 0.8), (0.4, 0.88), (1.2, 0.8), (1.3, 1.3)], (206, 184, 130), 0)
    pen = _place(canvas, r, 0.41, 0.52, 10)
    iron = r.choice(dark if plain else pale)
    light = _mix(iron, WHITE, 0.5)
    rope = (206, 170, 110)
    if r.random() < 0.7:
        pen.curve([(0.0, -0.92), (0.3, -1.1), (0.6, -0.9), (0.72, -1.3)], INK, 0.1)
        pen.curve([(0.0, -0.92), (0.3, -1.1), (0.6, -0.9), (0.72, -1.3)], rope, 0.06)
    for colour, grow in ((INK, 0.06), (iron, 0.0)):
        pen.line(_ellipse(0, -0.78, 0.15, 0.15) + [(0.15, -0.78)], colour, 0.1 + grow)
        pen.line([(0, -0.62), (0, 0.78)], colour, 0.15 + grow, caps=False)
        pen.line([(-0.42, -0.4), (0.42, -0.4)], colour, 0.13 + grow)
        pen.line(_arc(0, 0.12, 0.7, 0.68, 12, 168), colour, 0.15 + grow)
        for side in (-1, 1):
            s = 1.0 + grow * 2.2
            tri = [(side * 0.69, 0.02), (side * 0.98, 0.36), (side * 0.44, 0.36)]
            mx, my = sum(p[0] for p in tri) / 3, sum(p[1] for p in tri) / 3
            pen.poly([(mx + (x - mx) * s, my + (y - my) * s) for x, y in tri], colour, 0)
        pen.poly([(-0.1 - grow / 2, 0.74), (0.1 + grow / 2, 0.74), (0, 0.96 + grow)], colour, 0)
    pen.line([(-0.03, -0.5), (-0.03, 0.66)], light, 0.03)


def _puppet(canvas: Image.Image, r: random.Random) -> None:
    _plain(canvas, r)
    pen = _place(canvas, r, 0.44, 0.52, 2)
    wood = (176, 118, 66)
    skin = r.choice(((240, 206, 170), (206, 160, 118), (222, 180, 140), (150, 104, 76)))
    shirt = r.choice(((206, 50, 56), (50, 110, 180), (60, 150, 90), (236, 170, 40)))
    trousers = r.choice(((50, 60, 100), (90, 70, 60), (40, 90, 80)))
    lift = r.uniform(-0.1, 0.16)
    left, right = (-0.66, 0.0 - lift), (0.66, 0.1 + lift)
    knee_l, knee_r = (-0.3, 0.54), (0.36, 0.46 + lift / 2)
    for top, end in (
        ((-0.62, -0.84), left),
        ((0.62, -0.84), right),
        ((0, -0.9), (0, -0.52)),
        ((-0.22, -0.84), knee_l),
        ((0.22, -0.84), knee_r),
    ):
        pen.line([top, end], (96, 90, 100), 0.018)
    pen.line([(-0.7, -0.86), (0.7, -0.86)], INK, 0.15)
    pen.line([(-0.7, -0.86), (0.7, -0.86)], wood, 0.09)
    pen.line([(-0.12, -1.0), (0.12, -0.74)], INK, 0.13)
    pen.line([(-0.12, -1.0), (0.12, -0.74)], _mix(wood, WHITE, 0.2), 0.075)
    for hip, knee, foot in (((-0.1, 0.36), knee_l, (-0.24, 0.88)), ((0.1, 0.36), knee_r, (0.32, 0.9))):
        pen.line([hip, knee, foot], INK, 0.17)
        pen.line([hip, knee, foot], trousers, 0.11)
        pen.oval(knee[0], knee[1], 0.06, 0.06, _mix(trousers, WHITE, 0.4), 0.022)
        pen.oval(foot[0] + 0.06, foot[1] + 0.03, 0.13, 0.065, (90, 50, 40), 0.028)
    for shoulder, elbow, hand in (((-0.2, -0.06), (-0.46, 0.2), left), ((0.2, -0.06), (0.46, 0.26), right)):
        pen.line([shoulder, elbow, hand], INK, 0.15)
        pen.line([shoulder, elbow, hand], shirt, 0.095)
        pen.oval(elbow[0], elbow[1], 0.05, 0.05, _mix(shirt, WHITE, 0.45), 0.02)
        pen.oval(hand[0], hand[1], 0.085, 0.085, skin, 0.028)
    pen.blob([(-0.22, -0.12), (0, -0.16), (0.22, -0.12), (0.2, 0.2), (0.18, 0.42), (-0.18, 0.42), (-0.2, 0.2)], shirt)
    for y in (0.02, 0.16, 0.3):
        pen.oval(0, y, 0.03, 0.03, WHITE, 0.015)
    pen.oval(0, -0.34, 0.23, 0.24, skin, 0.035)
    pen.blob(
        [(-0.24, -0.4), (-0.2, -0.58), (0, -0.64), (0.2, -0.58), (0.24, -0.4), (0.1, -0.5), (-0.1, -0.5)],
        r.choice(((70, 44, 30), (30, 28, 32), (190, 120, 50))),
        0.028,
    )
    for side in (-1, 1):
        pen.oval(side * 0.09, -0.36, 0.035, 0.045, INK, 0)
        pen.oval(side * 0.14, -0.26, 0.045, 0.035, (232, 120, 110), 0)
        pen.line([(side * 0.07, -0.2), (side * 0.07, -0.12)], INK, 0.018)
    pen.line([(-0.09, -0.21), (0.09, -0.21)], INK, 0.022)


def _maze(canvas: Image.Image, r: random.Random) -> None:
    paper = r.choice(((236, 242, 226), (244, 238, 222), (226, 236, 244)))
    _gradient(canvas, paper, paper)
    wall = r.choice(((54, 116, 70), (70, 60, 90), (50, 60, 80), (130, 70, 50)))
    n = r.choice((6, 7, 8))
    pen = _Pen(canvas, 0.5 + r.uniform(-0.02, 0.02), 0.5 + r.uniform(-0.02, 0.02), 0.42 * r.uniform(0.9, 1.0), 0, False)
    cell = 2 / n
    open_walls: set[tuple[int, int, int, int]] = set()
    seen = {(0, 0)}
    stack = [(0, 0)]
    while stack:
        x, y = stack[-1]
        near = [
            (x + dx, y + dy)
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
            if 0 <= x + dx < n and 0 <= y + dy < n and (x + dx, y + dy) not in seen
        ]
        if not near:
            stack.pop()
            continue
        nxt = r.choice(near)
        open_walls |= {(x, y, *nxt), (*nxt, x, y)}
        seen.add(nxt)
        stack.append(nxt)
    width = 0.075 if n < 8 else 0.065
    for x in range(n):
        for y in range(n):
            x0, y0 = -1 + x * cell, -1 + y * cell
            if x + 1 < n and (x, y, x + 1, y) not in open_walls:
                pen.line([(x0 + cell, y0), (x0 + cell, y0 + cell)], wall, width)
            if y + 1 < n and (x, y, x, y + 1) not in open_walls:
                pen.line([(x0, y0 + cell), (x0 + cell, y0 + cell)], wall, width)
    pen.line([(-1 + cell, -1), (1, -1), (1, 1)], wall, width * 1.3)
    pen.line([(-1, -1), (-1, 1), (1 - cell, 1)], wall, width * 1.3)
    px, py = -1 + cell * (r.randrange(n) + 0.5), -1 + cell * (r.randrange(n) + 0.5)
    pen.oval(px, py, cell * 0.26, cell * 0.26, r.choice(((214, 50, 50), (240, 140, 30), (40, 90, 200))), 0.025)
    if r.random() < 0.5:
        a = -1 + cell * 0.5
        pen.line([(a, -1.14), (a, -0.98)], (214, 50, 50), 0.04)
        pen.poly([(a - 0.06, -1.0), (a + 0.06, -1.0), (a, -0.9)], (214, 50, 50), 0)


def _bridge(canvas: Image.Image, r: random.Random) -> None:
    level = r.uniform(0.66, 0.72)
    _sea(canvas, r, level)
    pen = _Pen(canvas, 0.5, level, 0.5, 0, r.random() < 0.5)
    bank = r.choice(_GROUNDS)
    if r.random() < 0.65:
        paint = r.choice(((206, 68, 48), (90, 110, 150), (190, 120, 60), (110, 120, 124)))
        deck, tower = -0.26, r.uniform(0.82, 0.96)
        for side in (-1, 1):
            pen.blob(
                [(side * 1.3, -0.16), (side * 0.95, -0.22), (side * 0.82, 0.06), (side * 1.0, 0.2), (side * 1.3, 0.2)],
                bank,
                0.02,
            )
        for x in (-0.46, 0.46):
            pen.box(x - 0.055, -tower, x + 0.055, 0.08, paint, 0.025)
            pen.box(x - 0.09, -0.02, x + 0.09, 0.1, (150, 146, 140), 0.025)
        span = [
            (-0.46 + 0.92 * i / 30, -tower + 0.05 + (tower + deck - 0.13) * (1 - ((i - 15) / 15) ** 2))
            for i in range(31)
        ]
        for i in range(3, 30, 3):
            pen.line([span[i], (span[i][0], deck)], paint, 0.016)
        for side in (-1, 1):
            back = [
                (side * (0.46 + 0.56 * t / 10), -tower + 0.05 + (tower + deck - 0.05) * (t / 10) ** 0.75)
                for t in range(11)
            ]
            for i in (2, 4, 6, 8):
                pen.line([back[i], (back[i][0], deck)], paint, 0.016)
            pen.line(back, paint, 0.032)
        pen.line(span, paint, 0.032)
        pen.box(-1.3, deck, 1.3, deck + 0.08, _mix(paint, INK, 0.25), 0.022)
    else:
        stone = r.choice(((178, 168, 156), (196, 160, 130), (150, 150, 160)))
        # the openings show what was behind the bridge, so look before the stone covers it
        water = canvas.getpixel((2, min(canvas.height - 1, round((level + 0.02) * canvas.height))))
        sky = canvas.getpixel((2, round((level - 0.02) * canvas.height)))
        assert isinstance(water, tuple) and isinstance(sky, tuple)
        arches = r.choice((2, 3))
        top = [(-1.1, -0.34), (-0.5, -0.48), (0, -0.54), (0.5, -0.48), (1.1, -0.34)]
        pen.poly([*_smooth(top, False), (1.1, 0.1), (-1.1, 0.1)], stone, 0.03)
        w = 1.7 / arches
        for i in range(arches):
            x = -0.85 + w * (i + 0.5)
            arch = _arc(x, 0.0, w * 0.4, 0.34, 180, 360)
            pen.poly([*arch, (x + w * 0.4, 0.12), (x - w * 0.4, 0.12)], (sky[0], sky[1], sky[2]), 0)
            pen.box(x - w * 0.4, 0.0, x + w * 0.4, 0.12, (water[0], water[1], water[2]), 0)
            pen.line(arch, _mix(stone, INK, 0.5), 0.05)
        pen.curve([(x, y - 0.05) for x, y in top], _mix(stone, INK, 0.3), 0.06)
        for i in range(12):
            x = -0.92 + 0.168 * i
            pen.line([(x, -0.37), (x + 0.07, -0.37)], _mix(stone, INK, 0.25), 0.014)
    for _ in range(7):
        x, y = r.uniform(-0.95, 0.8), r.uniform(0.16, 0.52)
        pen.curve([(x, y), (x + 0.05, y - 0.025), (x + 0.1, y), (x + 0.15, y - 0.025)], (190, 224, 240), 0.018)


def _tree(canvas: Image.Image, r: random.Random) -> None:
    level = r.uniform(0.58, 0.64)
    _sky(canvas, r)
    soil = r.choice(((150, 112, 78), (134, 100, 76), (170, 132, 92)))
    _gradient(canvas, soil, _mix(soil, INK, 0.35), level, 1.0)
    pen = _Pen(canvas, 0.5 + r.uniform(-0.05, 0.05), level, 0.42 * r.uniform(0.9, 1.0), 0, r.random() < 0.5)
    turf = _Pen(canvas, 0.5, level, 0.5, 0, False)
    turf.box(-1.2, -0.03, 1.2, 0.04, (104, 158, 76), 0)
    bark = r.choice(((110, 74, 48), (92, 66, 54), (128, 90, 56)))
    root = _mix(bark, (240, 214, 170), 0.45)
    for tip, bend, w in (
        ((-0.86, 0.42), (-0.36, 0.12), 0.085),
        ((0.86, 0.4), (0.36, 0.14), 0.085),
        ((-0.5, 0.74), (-0.2, 0.34), 0.08),
        ((0.52, 0.76), (0.2, 0.34), 0.08),
        ((0.04, 0.86), (-0.04, 0.4), 0.085),
    ):
        tip = (tip[0] + r.uniform(-0.06, 0.06), tip[1])
        pen.curve([(0, -0.06), bend, tip], INK, w + 0.04)
        pen.curve([(0, -0.06), bend, tip], root, w)
        mid = ((bend[0] + tip[0]) / 2, (bend[1] + tip[1]) / 2)
        pen.curve([mid, (mid[0] + 0.1, mid[1] + 0.14), (mid[0] + 0.06, mid[1] + 0.26)], root, w * 0.55)
    pen.blob(
        [(-0.3, 0.06), (-0.14, -0.1), (-0.11, -0.5), (0.11, -0.5), (0.14, -0.1), (0.3, 0.06), (0, 0.12)], bark, 0.03
    )
    leaf = r.choice(((74, 146, 66), (104, 160, 60), (56, 122, 80), (206, 130, 44), (190, 84, 50)))
    puffs = [
        (-0.42, -0.62, 0.32),
        (0.42, -0.62, 0.32),
        (-0.26, -0.96, 0.32),
        (0.28, -0.96, 0.32),
        (0, -0.74, 0.38),
        (0, -1.12, 0.27),
    ]
    for x, y, s in puffs:
        pen.oval(x, y, s + 0.03, s + 0.03, INK, 0)
    for x, y, s in puffs:
        pen.oval(x, y, s, s, leaf, 0)
    for x, y, s in puffs:
        pen.line(_arc(x - 0.02, y, s * 0.66, s * 0.66, 200, 285), _mix(leaf, WHITE, 0.35), 0.03)
    if r.random() < 0.4:
        for _ in range(6):
            pen.oval(r.uniform(-0.5, 0.5), r.uniform(-1.1, -0.5), 0.05, 0.05, (214, 44, 44), 0.018)


def _cage(canvas: Image.Image, r: random.Random) -> None:
    _plain(canvas, r)
    pen = _place(canvas, r, 0.41, 0.53, 2)
    metal = r.choice(((196, 150, 50), (100, 104, 116), (150, 90, 60), (70, 70, 84)))
    bird = r.choice(((246, 200, 50), (70, 140, 214), (220, 80, 70), (100, 180, 110)))
    pen.line(_ellipse(0, -0.98, 0.09, 0.09) + [(0.09, -0.98)], metal, 0.045)
    back = _mix(metal, WHITE, 0.5)
    for x in (-0.44, -0.15, 0.15, 0.44):
        pen.line([(x * 0.2, -0.86), (x * 0.8, -0.62), (x, -0.3), (x, 0.72)], back, 0.022)
    pen.line([(-0.6, 0.3), (0.6, 0.3)], (130, 90, 56), 0.05)
    pen.poly([(-0.2, 0.06), (-0.5, 0.3), (-0.42, 0.36), (-0.12, 0.2)], _mix(bird, INK, 0.25), 0.028)
    pen.blob(
        [(-0.26, 0.06), (-0.14, -0.12), (0.08, -0.16), (0.2, -0.02), (0.16, 0.18), (0.0, 0.28), (-0.18, 0.24)],
        bird,
        0.032,
    )
    pen.oval(0.16, -0.16, 0.15, 0.15, bird, 0.032)
    pen.poly([(0.28, -0.2), (0.42, -0.14), (0.28, -0.09)], (246, 140, 40), 0.022)
    pen.oval(0.2, -0.19, 0.032, 0.036, INK, 0)
    pen.blob([(-0.2, 0.04), (0.02, 0.0), (0.04, 0.12), (-0.16, 0.18)], _mix(bird, INK, 0.2), 0.022)
    for x in (-0.04, 0.06):
        pen.line([(x, 0.26), (x, 0.33)], (246, 140, 40), 0.028)
    for x in (-0.66, -0.4, -0.2, 0.0, 0.2, 0.4, 0.66):
        pen.line(_smooth([(x * 0.12, -0.88), (x * 0.72, -0.7), (x, -0.34)], False) + [(x, 0.74)], INK, 0.058)
        pen.line(_smooth([(x * 0.12, -0.88), (x * 0.72, -0.7), (x, -0.34)], False) + [(x, 0.74)], metal, 0.034)
    for y in (-0.3, 0.5):
        pen.line([(-0.68, y), (0.68, y)], INK, 0.065)
        pen.line([(-0.68, y), (0.68, y)], metal, 0.04)
    pen.poly([(-0.76, 0.72), (0.76, 0.72), (0.7, 0.94), (-0.7, 0.94)], metal, 0.04)
    pen.oval(0, -0.87, 0.1, 0.06, metal, 0.03)


def _crown(canvas: Image.Image, r: random.Random) -> None:
    _plain(canvas, r)
    pen = _place(canvas, r, 0.4, 0.5, 8)
    gold = r.choice(((246, 196, 50), (232, 176, 46), (250, 212, 90)))
    gem = [(206, 40, 60), (46, 110, 200), (50, 160, 90), (150, 70, 180)]
    r.shuffle(gem)
    if r.random() < 0.6:
        cloth = r.choice(((140, 40, 90), (70, 50, 130), (160, 30, 50)))
        pen.blob(
            [(-0.98, 0.72), (-0.8, 0.5), (0, 0.56), (0.8, 0.5), (0.98, 0.72), (0.86, 0.98), (0, 0.92), (-0.86, 0.98)],
            cloth,
            0.04,
        )
        for side in (-1, 1):
            pen.oval(side * 0.97, 0.76, 0.06, 0.1, (240, 200, 90), 0.025)
    tips = [(-0.9, -0.4), (-0.48, -0.66), (0, -0.84), (0.48, -0.66), (0.9, -0.4)]
    shape: list[Point] = [
        (-0.68, 0.36),
        tips[0],
        (-0.52, 0.0),
        tips[1],
        (-0.2, -0.06),
        tips[2],
        (0.2, -0.06),
        tips[3],
        (0.52, 0.0),
        tips[4],
        (0.68, 0.36),
    ]
    pen.poly(shape, gold, 0.045)
    for i, (x, y) in enumerate(tips):
        pen.oval(x, y - 0.04, 0.09, 0.09, gem[i % 4] if i % 2 == 0 else WHITE, 0.032)
    pen.poly([(-0.72, 0.32), (0.72, 0.32), (0.68, 0.58), (-0.68, 0.58)], _mix(gold, (200, 110, 20), 0.3), 0.042)
    for i, x in enumerate((-0.46, 0.0, 0.46)):
        pen.poly([(x, 0.35), (x + 0.11, 0.45), (x, 0.55), (x - 0.11, 0.45)], gem[(i + 1) % 4], 0.026)
    pen.line([(-0.6, 0.1), (-0.64, -0.06)], _mix(gold, WHITE, 0.7), 0.04)
    pen.line([(-0.28, 0.2), (-0.36, -0.24)], _mix(gold, WHITE, 0.6), 0.03)


def _hourglass(canvas: Image.Image, r: random.Random) -> None:
    (_plain if r.random() < 0.75 else _night)(canvas, r)
    pen = _place(canvas, r, 0.42, 0.5, 6)
    wood = r.choice(((150, 92, 50), (110, 68, 50), (190, 140, 60), (90, 96, 110)))
    sand = r.choice(((236, 190, 96), (226, 160, 90), (240, 206, 140), (214, 120, 90)))
    glass = (222, 238, 244)
    left = r.uniform(0.15, 0.45)
    for x in (-0.58, 0.58):
        pen.line([(x, -0.8), (x, 0.8)], INK, 0.11)
        pen.line([(x, -0.8), (x, 0.8)], wood, 0.06)
    side_pts = [(0.48, -0.78), (0.47, -0.5), (0.3, -0.2), (0.05, 0.0), (0.3, 0.2), (0.47, 0.5), (0.48, 0.78)]
    right = _smooth(side_pts, False)
    pen.poly(right + [(-x, y) for x, y in reversed(right)], glass, 0.04)
    y0 = -0.12 - left

    def half(y: float) -> float:
        """Half-width of the glass at height y."""
        return min(right, key=lambda p: abs(p[1] - y))[0] - 0.05

    upper = [p for p in right if y0 <= p[1] <= -0.02]
    pen.poly(
        [(-half(y0), y0), (half(y0), y0)]
        + [(max(x - 0.05, 0.015), y) for x, y in upper]
        + [(-max(x - 0.05, 0.015), y) for x, y in reversed(upper)],
        sand,
        0,
    )
    pen.line([(0, -0.06), (0, 0.72)], sand, 0.035)
    h = 0.74 - (0.6 - left)
    lower = [p for p in right if p[1] >= 0.55]
    pen.poly([(0, h), *[(x - 0.05, y) for x, y in lower], *[(-x + 0.05, y) for x, y in reversed(lower)]], sand, 0)
    pen.line([(-0.36, -0.66), (-0.34, -0.44)], WHITE, 0.05)
    pen.line([(-0.36, 0.5), (-0.36, 0.64)], WHITE, 0.04)
    for y in (-0.88, 0.88):
        pen.box(-0.74, y - 0.1, 0.74, y + 0.1, wood, 0.04)
        pen.line([(-0.66, y - 0.03), (0.66, y - 0.03)], _mix(wood, WHITE, 0.4), 0.03)


def _balloon(canvas: Image.Image, r: random.Random) -> None:
    _sky(canvas, r)
    pen = _place(canvas, r, 0.42, 0.5, 3)
    colours: list[Colour] = [
        (222, 50, 60),
        (50, 120, 220),
        (250, 180, 40),
        (80, 170, 90),
        (170, 80, 190),
        (240, 110, 160),
    ]
    r.shuffle(colours)
    if r.random() < 0.5:
        bunch = [(0.0, -0.4, 0.46, 0.56)]
    else:
        bunch = [(-0.42, -0.3, 0.32, 0.4), (0.42, -0.34, 0.32, 0.4), (0.0, -0.54, 0.34, 0.42)]
    knot = (r.uniform(-0.1, 0.1), 0.98)
    for x, y, _, ry in bunch:
        sway = 0.08 if len(bunch) == 1 else 0.0
        pen.curve(
            [(x, y + ry), (x * 0.6 + sway, (y + ry) * 0.4 + 0.4), (x * 0.2 - sway, 0.74), knot], (70, 66, 80), 0.024
        )
    for i, (x, y, rx, ry) in enumerate(bunch):
        c = colours[i]
        pen.poly([(x - 0.07, y + ry + 0.1), (x + 0.07, y + ry + 0.1), (x, y + ry - 0.04)], _mix(c, INK, 0.15), 0.03)
        pen.blob(
            [
                (x, y - ry),
                (x + rx * 0.72, y - ry * 0.7),
                (x + rx, y - ry * 0.08),
                (x + rx * 0.66, y + ry * 0.62),
                (x, y + ry),
                (x - rx * 0.66, y + ry * 0.62),
                (x - rx, y - ry * 0.08),
                (x - rx * 0.72, y - ry * 0.7),
            ],
            c,
            0.038,
        )
        pen.curve(
            [(x - rx * 0.66, y - ry * 0.1), (x - rx * 0.56, y - ry * 0.5), (x - rx * 0.26, y - ry * 0.7)],
            _mix(c, WHITE, 0.75),
            0.06,
        )
    if r.random() < 0.4:
        for x, y in ((0.8, 0.5), (-0.86, 0.6), (0.7, 0.76)):
            pen.curve(
                [(x - 0.12, y - 0.04), (x - 0.05, y - 0.08), (x, y), (x + 0.05, y - 0.08), (x + 0.12, y - 0.04)],
                INK,
                0.022,
            )


_PAINTERS: dict[str, Callable[[Image.Image, random.Random], None]] = {
    "anchor": _anchor,
    "balloon": _balloon,
    "bridge": _bridge,
    "broken heart": _broken_heart,
    "broken clock": _clock,
    "burning house": _burning_house,
    "cage": _cage,
    "crown": _crown,
    "fox": _fox,
    "heart": _heart,
    "hourglass": _hourglass,
    "iceberg": _iceberg,
    "ladder": _ladder,
    "light bulb": _bulb,
    "lion": _lion,
    "maze": _maze,
    "mountain": _mountain,
    "mule": _mule,
    "puppet": _puppet,
    "rocket": _rocket,
    "snail": _snail,
    "storm": _storm,
    "sun": _sun,
    "tree": _tree,
}

CONCEPTS: tuple[str, ...] = tuple(sorted(_PAINTERS))


def draw(concept: str, seed: int, size: int = 224) -> Image.Image:
    """Paint one concept.

    Args:
        concept: one of `CONCEPTS`.
        seed: any integer; it decides everything but the resolution.
        size: side of the square picture in pixels, at least 1.

    Returns:
        RGB image of `size` x `size` pixels.

    Raises:
        ValueError: unknown concept, or a size below 1.
    """
    if concept not in _PAINTERS:
        raise ValueError(f"unknown concept {concept!r}; known: {', '.join(CONCEPTS)}")
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    canvas = Image.new("RGB", (size * SUPERSAMPLE, size * SUPERSAMPLE), WHITE)
    # a string seed is hashed by value (SHA-512), so it is the same in every process
    _PAINTERS[concept](canvas, random.Random(f"figlang_mini/{concept}/{seed}"))
    return canvas.reduce(SUPERSAMPLE)
