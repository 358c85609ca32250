"""How answers in words are read: styles of models, and what is never taken for a ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.admire import parse


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
