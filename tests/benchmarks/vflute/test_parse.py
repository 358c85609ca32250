"""The authors' rules of extraction (Appendix D): if this fails, they read a published output in
another way than the authors did. Outputs that we wrote: ``outputs.yaml``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from figlang_tasks.benchmarks.vflute.parse import parse_official

CHECKOUT = Path(__file__).resolve().parents[3]
PUBLISHED_PAIRS = CHECKOUT.parent / "shared" / "facts" / "vflute_extraction_examples.json"


@pytest.mark.skipif(
    not PUBLISHED_PAIRS.is_file(),
    reason="shared/facts/vflute_extraction_examples.json is not beside the checkout",
)
def test_label_and_explanation_are_those_of_all_published_pairs() -> None:
    pairs = json.loads(PUBLISHED_PAIRS.read_text(encoding="utf-8"))
    assert len(pairs) == 20
    for pair in pairs:
        reading = parse_official(pair["output"])
        expected = (pair["label"], pair["explanation"])
        assert (reading.value, reading.explanation) == expected, pair["output"]


def test_only_explanations_of_scene_graph_runs_are_reworded() -> None:
    output = "The scene graph has a red_dog.\nLABEL: entailment"
    assert parse_official(output).explanation == "The scene graph has a red_dog."
    assert parse_official(output, scene_graph=True).explanation == "The image has a red dog."
    assert parse_official(None, scene_graph=True).explanation is None
