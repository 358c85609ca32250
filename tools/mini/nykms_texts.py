"""The words of `figlang_mini_nykms`: captions, descriptions and annotations, written by hand for the drawings named."""

from __future__ import annotations

from dataclasses import dataclass

# Far from the seeds of figlang_mini and from those that the demo model trains on.
SEED = 700_000


@dataclass(frozen=True)
class Cartoon:
    """A drawing: `concept` is the argument of `draw`, `description` what stands in its place for text-only models."""

    concept: str
    description: str


@dataclass(frozen=True)
class Annotated:
    """A caption of a cartoon with its annotation.

    Attributes:
        contest: number of the cartoon (:data:`CARTOONS`).
        caption: what stands below it.
        answers: of a positive MW and ME, or SW, ST and SE, with the marks of the annotation rules; none of a negative.
    """

    contest: int
    caption: str
    answers: tuple[str, ...] = ()


CARTOONS: dict[int, Cartoon] = {
    9001: Cartoon("cage", "A bird sits on a perch in a round cage. The door of the cage is shut."),
    9002: Cartoon("burning house", "A small house is on fire. Flames come out of its door, its windows and its roof."),
    9003: Cartoon("snail", "A snail with a striped shell creeps over a lawn."),
    9004: Cartoon("iceberg", "A huge iceberg floats in the sea. Only its small tip is above the water, near a ship."),
    9005: Cartoon("puppet", "A puppet with a wide smile hangs on strings from a wooden cross."),
    9006: Cartoon("crown", "A crown with jewels lies there, and nobody is wearing it."),
    9007: Cartoon("ladder", "A long ladder leans against a brick wall that goes up out of sight."),
    9008: Cartoon("maze", "A maze is seen from above. A small dot stands lost in the middle of it."),
    9009: Cartoon("storm", "A dark cloud pours rain and lightning on a street with a crossing."),
    9010: Cartoon("lion", "A lion looks straight ahead."),
    9011: Cartoon("balloon", "Balloons on strings rise into the sky."),
    9012: Cartoon("mule", "A mule stands in a meadow with its ears up."),
    9013: Cartoon("anchor", "A ship's anchor, and nothing else."),
    9014: Cartoon("bridge", "A bridge leads over a wide river."),
    9015: Cartoon("tree", "A tree with thick roots that reach deep into the soil."),
    9016: Cartoon("rocket", "A rocket with round windows flies up at a slant."),
    9017: Cartoon("sun", "A sun with a friendly face shines over hills."),
    9018: Cartoon("fox", "A fox looks at the reader with narrow eyes."),
}

METAPHOR: tuple[Annotated, ...] = (
    Annotated(
        9001,
        "The corner office comes with a lovely view.",
        (
            "[I] cage",
            "The cage is the job. Like the bird, the one who has the office can look out and cannot leave.",
        ),
    ),
    Annotated(
        9002,
        "We are keeping the project warm for the next team.",
        ("warm", "Warm means in ruins. The project is on fire, and the next team will inherit what is left of it."),
    ),
    Annotated(
        9003,
        "Your refund is already on its way.",
        ("[I] snail", "The snail is the refund. It does move, but so slowly that nobody lives to see it arrive."),
    ),
    Annotated(
        9004,
        "It is only a small delay.",
        ("[I]", "The picture is the delay. What can be seen of it is little, and most of the trouble is still hidden."),
    ),
    Annotated(
        9005,
        "The new director makes all the decisions himself.",
        ("[I] puppet", "The puppet is the director. Somebody else holds the strings and decides what he does."),
    ),
    Annotated(
        9006,
        "Too heavy for me, thank you.",
        ("[S] power", "The weight is that of power. A crown is not heavy to carry; the duties that come with it are."),
    ),
    Annotated(
        9007,
        "They say there is always room at the top.",
        ("top", "The top is success. The ladder has no end, so the room up there is one that nobody gets to."),
    ),
    Annotated(9010, "He was here before the sofa was."),
    Annotated(9011, "Four for the price of three, and mind the wind."),
    Annotated(9012, "No, the other one is called Henry."),
    Annotated(9013, "Do you have it in blue?"),
    Annotated(9014, 'Turn left at the sign that says "Turn left".'),
)

SARCASM: tuple[Annotated, ...] = (
    Annotated(
        9002,
        "What a cozy neighborhood this has become.",
        ("cozy", "neighborhood", "Cozy is said of a place that burns. Nothing about the fire is pleasant."),
    ),
    Annotated(
        9003,
        "Express delivery, just as they promised.",
        ("Express", "delivery", "A snail is the slowest of all messengers, so the praise of its speed is blame."),
    ),
    Annotated(
        9009,
        "Perfect weather for the company picnic.",
        ("Perfect", "[S] bad planning", "In rain and lightning no picnic is possible. The speaker is annoyed."),
    ),
    Annotated(
        9008,
        "Simply follow the signs to the exit.",
        ("[I] maze", "[S] confusing public buildings", "There are no signs in the maze, and nothing there is simple."),
    ),
    Annotated(
        9005,
        "At last, an independent candidate.",
        ("independent", "[I] puppet", "A puppet does what others want, so independent means the opposite."),
    ),
    Annotated(
        9004,
        "Nothing to worry about, says the captain.",
        ("[I]", "captain", "The ship is about to hit the iceberg. The captain calms people who should be afraid."),
    ),
    Annotated(
        9001,
        "Enjoy the freedom of working from home.",
        (
            "freedom",
            "[S] working from home",
            "The bird is locked up. Its home has become the place that it cannot leave.",
        ),
    ),
    Annotated(9015, "The roots were here first."),
    Annotated(9016, "Are you sure that it points the right way?"),
    Annotated(9017, "Breakfast is at eight."),
    Annotated(9018, "He says that he is from the next village."),
    Annotated(9011, "Hold these for a moment, will you?"),
)
