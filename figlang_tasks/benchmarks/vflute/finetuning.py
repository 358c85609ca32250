"""Which rows of V-FLUTE models may be fine-tuned on."""

from __future__ import annotations

from figlang_tasks.core.optional_modules import FineTuning

FINETUNING = FineTuning(texts=("claim",))
