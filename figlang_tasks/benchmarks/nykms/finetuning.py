"""Which rows of NYK-MS a model may be fine-tuned on (`FineTuning`).

They share no caption, description or picture with a row of the evaluation.
"""

from __future__ import annotations

from figlang_tasks.benchmarks.nykms.tasks import answered_as_annotated
from figlang_tasks.core.optional_modules import FineTuning

FINETUNING = FineTuning(texts=("caption", "description"), right=answered_as_annotated)
