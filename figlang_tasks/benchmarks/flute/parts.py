"""The names of FLUTE's scopes in tables of results."""

from __future__ import annotations

from figlang_tasks.benchmarks.flute.pairs import PARAPHRASE_AND_SARCASM
from figlang_tasks.core.presentation import Part, Parts

PARTS = Parts(by_scope={PARAPHRASE_AND_SARCASM: Part("paraphrase + sarcasm")})
