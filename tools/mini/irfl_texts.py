"""The words of `figlang_mini_irfl`: phrases, definitions, and which picture shows what, written by hand.

A picture is a scene and a number. A scene is a concept of `draw` ("snail"), a concept under an effect ("snail,
moving"), a concept that thinks of another one ("puppet with crown") or two in turn ("storm then sun"); `irfl.paint`
knows how to paint them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["idiom", "metaphor", "simile"]
KINDS: tuple[Kind, ...] = ("idiom", "metaphor", "simile")

# Far from the seeds of figlang_mini and of the demo model's training.
FIRST_SEED = 950_000

_SIMILE = re.compile(r"(?P<target>.+) is as (?P<property>\w+) as (?P<source>.+)")


@dataclass(frozen=True)
class Picture:
    """One picture before it is painted; `seed` decides all that `scene` leaves open."""

    scene: str
    seed: int


@dataclass(frozen=True)
class Phrase:
    """A figurative phrase and its pictures.

    Attributes:
        kind: what sort of phrase it is.
        text: the phrase as it stands in the tables; of a simile the closed form, which names the property.
        pictures: pictures by role. Every kind has F (figurative: the meaning). Idioms and metaphors have P (partial:
            an object of the phrase without its meaning) and N (neither); idioms also B (both figurative and literal),
            C (the phrase taken at its word) and U (not annotated). Similes have S (the source concept: what is
            compared with) and T (the target without the property) instead.
        definitions: meanings; of idioms alone.
    """

    kind: Kind
    text: str
    pictures: Mapping[str, tuple[Picture, ...]]
    definitions: tuple[str, ...] = ()

    @property
    def open_text(self) -> str:
        """The phrase without the property if it is a simile: "The lamp is like the sun"; else the phrase.

        Raises:
            ValueError: the simile does not read "X is as Y as Z".
        """
        if self.kind != "simile":
            return self.text
        parts = _SIMILE.fullmatch(self.text)
        if parts is None:
            raise ValueError(f"simile {self.text!r} does not read 'X is as Y as Z'")
        return f"{parts['target']} is like {parts['source']}"


@dataclass(frozen=True)
class Detection:
    """A detection row.

    Attributes:
        phrase: key of `PHRASES`.
        answer: role and place of one of the phrase's pictures, such as `F1`.
        distractors: three in the order of the table, apart by blanks; a picture of another phrase has that phrase's
            key before it, such as `cage:F2`.
    """

    phrase: str
    answer: str
    distractors: str


@dataclass(frozen=True)
class Retrieval:
    """A retrieval row: figurative (FvsPL) or figurative and literal (FLvsPL) pictures of a phrase among its others."""

    phrase: str
    type: Literal["FvsPL", "FLvsPL"] = "FvsPL"


@dataclass(frozen=True)
class Corpus:
    """All that the tables are made of."""

    phrases: Mapping[str, Phrase]
    detections: tuple[Detection, ...]
    retrievals: tuple[Retrieval, ...]
    keys: Mapping[Kind, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Sort the keys of the phrases by kind."""
        keys = {kind: tuple(key for key, phrase in self.phrases.items() if phrase.kind == kind) for kind in KINDS}
        object.__setattr__(self, "keys", keys)


def _shots(scene: str, *numbers: int) -> tuple[Picture, ...]:
    """Pictures of one scene; no number is given twice to the same concept."""
    return tuple(Picture(scene, FIRST_SEED + number) for number in numbers)


_IDIOMS: dict[str, Phrase] = {
    "iceberg": Phrase(
        "idiom",
        "the tip of the iceberg",
        {
            "F": _shots("tree", 1, 2) + _shots("heart with storm", 3),
            "B": _shots("iceberg", 4, 5),
            "P": _shots("iceberg, top", 6, 7) + _shots("mountain, top", 8, 9),
            "N": _shots("balloon", 10),
        },
        ("A small part in plain view of a trouble that is mostly hidden", "The first sign of something far larger"),
    ),
    "cloud": Phrase(
        "idiom",
        "every cloud has a silver lining",
        {
            "F": _shots("broken heart then heart", 11) + _shots("cage then balloon", 12),
            "B": _shots("storm then sun", 13),
            "P": _shots("storm", 14, 15) + _shots("storm, top", 16),
            "C": _shots("storm, aglow", 17),
        },
        (
            "There is something good in every misfortune",
            'A consolation for somebody in trouble, much like "it could be worse"',
            "Bad times do not last, and they bring some gain with them",
        ),
    ),
    "house": Phrase(
        "idiom",
        "get on like a house on fire",
        {
            "F": _shots("heart, many", 18)
            + _shots("puppet with heart", 19)
            + _shots("fox with heart", 20)
            + _shots("puppet then puppet", 21)
            + _shots("lion with heart", 22),
            "P": _shots("burning house", 23, 24) + _shots("burning house, top", 25),
            "U": _shots("ladder", 26),
        },
        ("To become the best of friends in next to no time",),
    ),
    "cage": Phrase(
        "idiom",
        "a bird in a gilded cage",
        {
            "F": _shots("crown then puppet", 27) + _shots("puppet with crown", 28),
            "B": _shots("cage with crown", 29),
            "P": _shots("cage", 30, 31, 32),
            "C": _shots("cage", 33),  # of gold
        },
        ("Somebody who lives in luxury and is not free", "A rich but captive person"),
    ),
    "snail": Phrase(
        "idiom",
        "at a snail's pace",
        {
            "F": _shots("mule with hourglass", 34) + _shots("hourglass, many", 35) + _shots("broken clock, cold", 36),
            "B": _shots("snail with hourglass", 37),
            "P": _shots("snail", 38, 39) + _shots("snail, many", 40),
            "N": _shots("sun", 41),
        },
        ("Very slowly",),
    ),
    "gold": Phrase(
        "idiom",
        "all that glitters is not gold",
        {
            "F": _shots("heart with fox", 42),
            "B": _shots("crown with broken heart", 43),
            "P": _shots("crown", 44, 45) + _shots("crown, aglow", 46) + _shots("crown, many", 47),
        },
        ("What looks precious may turn out to be worthless, a cheap cliché of a thing", "Do not trust fine looks"),
    ),
    "bridge": Phrase(
        "idiom",
        "burn your bridges behind you",
        {
            "F": _shots("heart then broken heart", 48),
            "B": _shots("bridge with burning house", 49) + _shots("burning house then bridge", 50),
            "P": _shots("bridge", 51, 52, 53) + _shots("burning house", 54) + _shots("bridge, cold", 55),
        },
        ("To act so that there is no way back", "To fall out with the very people whose help you may need again"),
    ),
    "career": Phrase(
        "idiom",
        "climb the career ladder",
        {
            "F": _shots("rocket with crown", 56) + _shots("puppet then crown", 57),
            "P": _shots("ladder", 58, 59),
            "U": _shots("mountain", 60),
        },
        ("To be promoted from one post to a better one",),
    ),
}

_METAPHORS: dict[str, Phrase] = {
    "temper": Phrase(
        "metaphor",
        "his temper is a storm",
        {
            "F": _shots("puppet with burning house", 101) + _shots("lion with burning house", 102),
            "P": _shots("storm", 103, 104, 105, 106),
        },
    ),
    "debt": Phrase(
        "metaphor",
        "debt is an anchor",
        {
            "F": _shots("mule with mountain", 107) + _shots("puppet with mountain", 108),
            "P": _shots("anchor", 109, 110, 111),
        },
    ),
    "hope": Phrase(
        "metaphor",
        "hope is a lamp in the dark",
        {
            "F": _shots("heart, aglow", 112) + _shots("storm then balloon", 113),
            "P": _shots("light bulb", 114, 115, 116) + _shots("light bulb, many", 117),
            "N": _shots("mule", 118),
        },
    ),
    "fame": Phrase(
        "metaphor",
        "her fame is a rocket",
        {
            "F": _shots("puppet with sun", 119) + _shots("ladder with crown", 120) + _shots("puppet then crown", 121),
            "P": _shots("rocket", 122, 123) + _shots("rocket, close", 124),
            "N": _shots("maze", 125),
        },
    ),
    "job": Phrase(
        "metaphor",
        "the new job is a cage",
        {
            "F": _shots("puppet with maze", 126) + _shots("mule with hourglass", 127),
            "P": _shots("cage", 128, 129, 130),
        },
    ),
    "love": Phrase(
        "metaphor",
        "their love is a long bridge",
        {
            "F": _shots("heart then heart", 131),
            "P": _shots("bridge", 132, 133),
        },
    ),
}

_LAMP_SHINING = _shots("light bulb, aglow", 201, 202, 203)
_SUN = _shots("sun", 204, 205)
_LAMP_OFF = _shots("light bulb, off", 206, 207, 208)

_SIMILES: dict[str, Phrase] = {
    # two properties of one comparison: the same once the property is dropped
    "bright": Phrase("simile", "The lamp is as bright as the sun", {"F": _LAMP_SHINING, "S": _SUN, "T": _LAMP_OFF}),
    "dazzling": Phrase(
        "simile", "The lamp is as dazzling as the sun", {"F": _LAMP_SHINING[:2], "S": _SUN, "T": _LAMP_OFF[1:]}
    ),
    "fast": Phrase(
        "simile",
        "The snail is as fast as a rocket",
        {"F": _shots("snail, moving", 209, 210), "S": _shots("rocket", 211, 212), "T": _shots("snail", 213, 214)},
    ),
    "loud": Phrase(
        "simile",
        "The alarm clock is as loud as a thunderstorm",
        {
            "F": _shots("broken clock, ringing", 215, 216),
            "S": _shots("storm", 217, 218, 219),
            "T": _shots("broken clock", 220, 221),
        },
    ),
    "cold": Phrase(
        "simile",
        "The heart is as cold as an iceberg",
        {
            "F": _shots("heart, cold", 222, 223, 224),
            "S": _shots("iceberg", 225, 226, 227, 228),
            "T": _shots("heart", 229, 230, 231, 232),
        },
    ),
    # 266 is a yellow balloon, 261 a blue one
    "golden": Phrase(
        "simile",
        "The balloon is as golden as a crown",
        {"F": _shots("balloon", 266), "S": _shots("crown", 233), "T": _shots("balloon", 261)},
    ),
}

_DETECTIONS: tuple[Detection, ...] = (
    # ---- idioms: one or two distractors of the phrase, the others of any other idiom
    Detection("iceberg", "F1", "house:U1 P1 P3"),
    Detection("iceberg", "F2", "P2 snail:F2 P4"),
    Detection("cloud", "F1", "P1 P2 cage:C1"),
    Detection("house", "F3", "cloud:F2 P1 bridge:B1"),
    Detection("cage", "F1", "P2 career:U1 P3"),
    Detection("snail", "F2", "iceberg:N1 P3 gold:F1"),
    # a partial picture of another idiom counts as random here: the phrase tells, not the category
    Detection("gold", "F1", "P1 P3 bridge:P4"),
    Detection("career", "F1", "P2 iceberg:F3 snail:N1"),
    Detection("iceberg", "B1", "P1 house:F1 career:U1"),
    Detection("cloud", "B1", "cage:B1 house:U1 P3"),
    Detection("cage", "B1", "P1 P2 snail:F3"),
    Detection("bridge", "B2", "P3 cloud:C1 P4"),
    # ---- metaphors: one to three literal distractors, the others of any other metaphor
    Detection("temper", "F1", "P1 P2 P3"),
    Detection("temper", "F2", "P4 P2 P1"),
    Detection("debt", "F1", "P3 P1 P2"),
    Detection("hope", "F2", "P1 P4 P3"),
    Detection("hope", "F1", "P2 fame:N1 P4"),
    Detection("fame", "F3", "P1 P3 debt:F2"),
    Detection("job", "F1", "fame:F1 P2 hope:N1"),
    Detection("love", "F1", "P1 temper:F1 job:F2"),
    # ---- similes: the source concept, the target without the property, and one of any other simile
    Detection("bright", "F1", "golden:F1 T1 S1"),
    Detection("bright", "F3", "T3 S2 cold:T1"),
    Detection("dazzling", "F2", "S1 loud:F1 T1"),
    Detection("fast", "F1", "T1 cold:F2 S2"),
    Detection("fast", "F2", "S1 T2 loud:S3"),
    Detection("loud", "F1", "bright:T2 S1 T2"),
    Detection("loud", "F2", "T1 fast:S1 S3"),
    Detection("cold", "F1", "S2 T3 golden:S1"),
    Detection("cold", "F3", "T1 S4 bright:F2"),
    Detection("golden", "F1", "T1 fast:T1 S1"),
)

_RETRIEVALS: tuple[Retrieval, ...] = (
    *(Retrieval(key) for key in ("iceberg", "cloud", "house", "cage", "snail", "gold")),
    *(Retrieval(key, "FLvsPL") for key in ("iceberg", "cloud", "cage", "bridge")),
    # "love" occurs in detection alone, as one metaphor of the original does
    *(Retrieval(key) for key in ("temper", "debt", "hope", "fame", "job")),
    *(Retrieval(key) for key in _SIMILES),
)

CORPUS = Corpus({**_IDIOMS, **_METAPHORS, **_SIMILES}, _DETECTIONS, _RETRIEVALS)
