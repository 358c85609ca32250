"""Which rows of V-FLUTE a model may be fine-tuned on (`FineTuning`).

They share no claim and no picture with a row of the evaluation. The paper fine-tunes on the whole
train split.
"""

from __future__ import annotations

from figlang_tasks.core.optional_modules import FineTuning

FINETUNING = FineTuning(texts=("claim",))
