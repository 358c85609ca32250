"""FLUTE's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from figlang_tasks.scoring import entailment_card

card = entailment_card.card
answer = entailment_card.answer
