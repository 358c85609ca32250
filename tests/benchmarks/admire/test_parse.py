"""How answers in words are read: styles of models, and what is never taken for a ranking."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.admire import parse

ORDER = (1, 3, 0, 2, 4)  # B, D, A, C, E
ITEMS = "1. Image B: a man\n2. Image D: a dog.\n\n3. Image A - x\n4. Image C, y\n5. Image E: z"


@pytest.mark.parametrize(
    ("output", "value", "status", "rule"),
    [
        ("B, D, A, C, E", ORDER, "read", "list"),
        ("**B > D > A > C > E**", ORDER, "read", "list"),
        ("B → D → A → C → E", ORDER, "read", "list"),
        ("B, D, A, C, and E.", ORDER, "read", "list"),
        ("[B, D, A, C, E]", ORDER, "read", "list"),
        ('{"answer": ["B", "D", "A", "C", "E"]}', ORDER, "read", "list"),
        (r"\boxed{B, D, A, C, E}", ORDER, "read", "list"),
        ("A, B, C, D, E", (0, 1, 2, 3, 4), "read", "list"),
        ("Image B, Image D, Image A, Image C, Image E", ORDER, "read", "list"),
        ("B\nD\nA\nC\nE", ORDER, "read", "list"),
        ("1. (B)\n2. (D)\n3. (A)\n4. (C)\n5. (E)", ORDER, "read", "list"),
        ("- IMAGE 2\n- IMAGE 4\n- IMAGE 1\n- IMAGE 3\n- IMAGE 5", ORDER, "read", "list"),
        ("Here is the ranking:\n\nB, D, A, C, E\n\nImage B shows a man.", ORDER, "read", "list"),
        ("Of the letters A, B, C, D, E the ranking is:\nB, D, A, C, E", ORDER, "read", "list"),
        ("<think>A, B, C, D, E</think>B, D, A, C, E", ORDER, "read", "list"),
        ("The ranking is B, D, A, C, E because B shows a man.", ORDER, "read", "list"),
        ("E, D, C, B, A\nWait, the correct order is:\nB, D, A, C, E", ORDER, "read", "correction"),
        (ITEMS, ORDER, "read", "items"),
        ("B, D, A, C, E\nE, D, C, B, A", None, "ambiguous", "conflict"),
        ("A, B, C, D, E are the images.\nB, D, A, C, E", ORDER, "read", "list"),
        ("B, D, A, C", None, "unreadable", "incomplete"),
        ("B, D, A", None, "unreadable", "incomplete"),
        ("B, D\nA", None, "unreadable", "nothing"),
        ("B, D, A, C, C", None, "unreadable", "incomplete"),
        ("B, D, A, C, E, B", None, "unreadable", "incomplete"),
        ("B, D, A, C, F", None, "out_of_range", "range"),
        ("IMAGE 0, IMAGE 1, IMAGE 2, IMAGE 3, IMAGE 4", None, "out_of_range", "range"),
        ("B", None, "unreadable", "nothing"),
        ("2, 4, 1, 3, 5", ORDER, "read", "list"),
        (
            "1. Image A: a man\n2. Image B: a dog\n3. Image C: x\n4. Image D: y\n5. Image E: z",
            None,
            "unreadable",
            "nothing",
        ),
        ("Image A: a man\nImage B: a dog\nImage C: x\nImage D: y\nImage E: z", None, "unreadable", "nothing"),
        ("I cannot rank these images.", None, "refused", "refusal"),
        ("", None, "empty", "empty"),
        (None, None, "missing", "missing"),
    ],
)
def test_rankings(output: str | None, value: tuple[int, ...] | None, status: str, rule: str) -> None:
    found = parse.ranking(output, 5)
    assert (found.value, found.status, found.rule) == (value, status, rule)


@pytest.mark.parametrize(
    ("output", "item", "sense"),
    [
        ("Image: B\nSense: literal", (1, "read"), ("literal", "read")),
        ("**Image:** C\n**Sense:** Idiomatic", (2, "read"), ("idiomatic", "read")),
        ("B, figurative", (1, "read"), ("idiomatic", "read")),
        ("The sense is literal. I choose image C.", (2, "read"), ("literal", "read")),
        ("D\nIt is used in its idiomatic sense, not literally.", (3, "read"), ("idiomatic", "read")),
        ('{"image": "B", "sense": "literal"}', (1, "read"), ("literal", "read")),
        ("Image: B", (1, "read"), (None, "unreadable")),
        ("Sense: idiomatic", (None, "unreadable"), ("idiomatic", "read")),
        ("Image: A\nSense: idiomatic or literal", (0, "read"), (None, "unreadable")),
        ("Image: A\nSense: idiomatic and literal", (0, "read"), (None, "ambiguous")),
        ("Image: E\nSense: literal", (None, "out_of_range"), ("literal", "read")),
        (None, (None, "missing"), (None, "missing")),
    ],
)
def test_answers_about_sequences(
    output: str | None, item: tuple[int | None, str], sense: tuple[str | None, str]
) -> None:
    found = parse.sequence(output, 4)
    assert [(each.value, each.status) for each in found] == [item, sense]


@given(
    st.permutations(range(5)),
    st.sampled_from(["{}", "({})", "Image {}", "**{}**", '"{}"']),
    st.sampled_from([", ", " > ", "\n", "; ", "\n- "]),
    st.sampled_from(["{}", "Ranking: {}", "Sure!\n\n{}\n\nThe first one shows the sense.", "```\n{}\n```"]),
)
def test_every_order_is_read_back_in_every_style(order: list[int], name: str, joined: str, around: str) -> None:
    output = around.format(joined.join(name.format("ABCDE"[place]) for place in order))
    assert parse.ranking(output, 5).value == tuple(order), output


@given(st.text(alphabet='ABCDEFI 1245.,:>-\n()"imagenot', max_size=80))
def test_a_ranking_has_every_picture_once_and_a_reason(output: str) -> None:
    found = parse.ranking(output, 5)
    assert (found.value is None) != (found.status == "read")
    assert found.value is None or sorted(found.value) == [0, 1, 2, 3, 4]
    for each in parse.sequence(output, 4):
        assert (each.value is None) != (each.status == "read")


@pytest.mark.parametrize("part", ["A\n", "A, ", "\n", ": ", "- ", "1. Image A\n", "Image", "idiomatic or ", "Sense:\n"])
def test_long_outputs_take_linear_time(part: str) -> None:
    started = time.process_time()
    parse.ranking(part * 20_000, 5)
    parse.sequence(part * 20_000, 4)
    assert time.process_time() - started < 10, "of 65,000 characters; a quadratic reader takes minutes"
