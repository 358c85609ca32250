from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.vflute.parse import parse_official


def _examples() -> list[dict[str, Any]]:
    here = Path(__file__).resolve().parents[3].parent / "shared" / "facts" / "vflute_extraction_examples.json"
    return json.loads(here.read_text(encoding="utf-8")) if here.is_file() else []


@pytest.mark.skipif(not _examples(), reason="shared/facts/vflute_extraction_examples.json is not beside the checkout")
def test_official_equals_all_published_pairs() -> None:
    pairs = _examples()
    assert len(pairs) == 20
    for pair in pairs:
        parsed = parse_official(pair["output"])
        assert (parsed.value, parsed.explanation) == (pair["label"], pair["explanation"]), pair["output"]


def _official_label_restated(output: str) -> int | None:
    """Rules 2 and 3 once more, in another way."""
    cuts = [output.index(m) for m in ("LABEL:", "Label:", "label:") if m in output]
    if cuts:
        tail = output[min(cuts) + 6 :].lower()
        return None if "neither" in tail else 0 if "contradict" in tail else 1 if "entail" in tail else None
    text = output.lower()
    none = ["not possible to definitively label", "neither", "does not support or contradict"]
    if any(p in text for p in [*none, "entailment or contradiction"]):
        return None
    one = "entail|supports the claim|is consistent|image can be seen as indirectly supporting|in harmony with"
    one += "|appears to be consistent with the claim|is in agreement|confirms the claim"
    if any(p in text for p in one.split("|")):
        return 1
    return 0 if "contradict" in text or "appears to contest" in text else None


PIECES = st.sampled_from(
    [
        *("LABEL:", "Label:", "label:", "Answer:", "entailment", "Entailment.", "contradiction", "Contradiction:"),
        *("entails", "contradicts", " the claim", "neither", "not ", "does not ", " or ", "\n", " ", ". ", "?", ", "),
        *("Therefore,", "scene graph", "a_b", "**", '"', "{", "}", "</think>", "is consistent with", "wait, ", "label"),
        *("supports", "Answer is ", "this is a ", "\u0130", "\ud800"),
    ]
)
OUTPUTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@given(OUTPUTS, st.booleans())
def test_official_holds_its_promises(output: str, scene_graph: bool) -> None:
    found = parse_official(output, scene_graph=scene_graph)
    assert found.value == _official_label_restated(output)
    assert (found.status == "read") == (found.value is not None)
    assert found.explanation is not None and found.explanation == found.explanation.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["LABEL:", "LABEL: entailment ", "Therefore,", "entail", "entailment or contradiction ", " ", "label\n", "_", "x"]
    + ["Contradiction.", "a_emoji ", "the image and the scene graph of the image ", "a_b scene graph ", "\u0130"],
)
def test_time_does_not_explode(piece: str) -> None:
    # Tens of milliseconds to a second on a slow machine; anything quadratic would take hours.
    output = piece * (8_000_000 // len(piece))
    begin = time.process_time()
    parse_official(output, scene_graph=True)
    assert time.process_time() - begin < 60


# --- scene graphs -----------------------------------------------------------------------------------------------------


def test_scene_graph_runs_only() -> None:
    output = "The scene graph has a red_dog.\nLABEL: entailment"
    assert parse_official(output).explanation == "The scene graph has a red_dog."
    assert parse_official(output, scene_graph=True).explanation == "The image has a red dog."
    assert parse_official(None, scene_graph=True).explanation is None
