"""What reports say about V-FLUTE next to its values (arXiv 2405.01474)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from figlang_tasks.core.card import Card
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.presentation import Bars, BarSection, Part, Parts
from figlang_tasks.core.record import Document, Record
from figlang_tasks.scoring import entailment_card

PARTS = Parts(
    kind="source",
    of={
        "vismet": Part("HAIVMet (vismet)"),
        "irfl_metaphor_simile": Part("IRFL (metaphor / simile)"),
        "irfl_idiom": Part("IRFL (idiom)"),
        "muse": Part("MuSE"),
        "memecap": Part("MemeCap"),
        "nycartoons": Part(
            "NYCartoons",
            "NYCartoons is all entailment: one predicted contradiction halves its macro F1. Read accuracy beside it.",
        ),
    },
)
"""The sources, in the order of Table 3."""


def _by_instruction(dataset: str, task: str, scopes: Mapping[str, Collection[str]]) -> Iterator[Bars]:
    for scope in scopes.get("f1@0", ()):
        if scope.startswith("instruction_"):
            yield Bars(
                title=f"{dataset}: f1@0 by instruction ({task})",
                label="f1@0 (percent)",
                measure="f1@0",
                scope=scope,
                category=scope.removeprefix("instruction_"),
                chance=lambda records: math.nan,
            )


CHARTS = (
    BarSection(
        id="instructions",
        title="Prompt sensitivity",
        intro="All rows asked with each of the 21 instructions of Table 8 (arXiv 2405.01474).",
        bars=_by_instruction,
    ),
)

AGREEMENT: Mapping[str, Any] = {
    "source": "V-FLUTE, arXiv 2405.01474: Table 6, sections 5.1 and 5.3; 95 samples, two experts",
    "systems": [
        {"name": "LLaVA-7B eViL+VF", "adequacy_rate": 0.3378, "preference_rate": 0.2308},
        {"name": "LLaVA-34B SG", "adequacy_rate": 0.2985, "preference_rate": 0.0769},
        {"name": "GPT-4 (5 shot)", "adequacy_rate": 0.5067, "preference_rate": 0.4423},
    ],
    "average_kappa": 0.47,
    "area": 0.79,
    "best_f1": 0.77,
    "threshold": 0.53,
}
"""The paper's figures, shares 0 to 1. It does not say which area (steps or straight lines) and average it means."""


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card of the gallery (`figlang_tasks.core.card`)."""
    shown = entailment_card.card(data, records, document)
    shown["pictures"] = [{"name": records[0]["id"], "label": "", "role": ""}]
    return shown
