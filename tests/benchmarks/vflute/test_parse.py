"""The published rules read a published output in another way if this fails; other outputs:
``outputs.yaml``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks.benchmarks.vflute.parse import parse_official


def _examples() -> list[dict[str, Any]]:
    here = (
        Path(__file__).resolve().parents[3].parent
        / "shared"
        / "facts"
        / "vflute_extraction_examples.json"
    )
    return json.loads(here.read_text(encoding="utf-8")) if here.is_file() else []


@pytest.mark.skipif(
    not _examples(),
    reason="shared/facts/vflute_extraction_examples.json is not beside the checkout",
)
def test_official_equals_all_published_pairs() -> None:
    pairs = _examples()
    assert len(pairs) == 20
    for pair in pairs:
        parsed = parse_official(pair["output"])
        assert (parsed.value, parsed.explanation) == (pair["label"], pair["explanation"]), pair[
            "output"
        ]


# --- scene graphs ---


def test_scene_graph_runs_only() -> None:
    output = "The scene graph has a red_dog.\nLABEL: entailment"
    assert parse_official(output).explanation == "The scene graph has a red_dog."
    assert parse_official(output, scene_graph=True).explanation == "The image has a red dog."
    assert parse_official(None, scene_graph=True).explanation is None
