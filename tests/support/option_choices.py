"""What the questions of the tables offer, and how their answers are read."""

from __future__ import annotations

import pytest

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option

TWO, THREE, FOUR, FIVE = Choices(2), Choices(3), Choices(4), Choices(5)
NINE, TEN, TWELVE = Choices(9), Choices(10), Choices(12)
PICTURES, TWO_PICTURES = Choices(4, are_pictures=True), Choices(2, are_pictures=True)
NUMBERS, THREE_NUMBERS, FIVE_NUMBERS = (
    Choices(4, "numbers"),
    Choices(3, "numbers"),
    Choices(5, "numbers"),
)
PLATE = Choices(
    4, texts=("a lot on my plate", "platelayer", "step up to the plate", "a bit too much")
)
STORM = Choices(4, texts=("storm off", "perfect storm", "after the storm", "weather the storm"))
IRONY = Choices(
    4,
    texts=(
        "He is being ironic.",
        "He is really happy.",
        "He is tired of waiting.",
        "He does not know what to say.",
    ),
)
CAPTIONS = Choices(
    4,
    texts=(
        "Sorry, I thought it was casual Friday.",
        "You should see the other guy.",
        "I'm here about the position.",
        "It's not you, it's the gravity.",
    ),
)
ANGLES = Choices(4, texts=("50°", "60°", "70°", "80°"))

UNREAD = pytest.mark.xfail(strict=True, reason="our reader leaves it unread")
INVENTED = pytest.mark.xfail(strict=True, reason="our reader takes it for an answer")


def name_read(output: str, choices: Choices) -> str | None:
    """The name of the option that our reader takes from an output: "B", or "2" where options have
    numbers.
    """
    value = option(output, choices).value
    if value is None:
        return None
    return str(value + 1) if choices.names == "numbers" else "ABCDEFGHIJKL"[value]
