"""Which rows of NYK-MS models may be fine-tuned on."""

from __future__ import annotations

from figlang_tasks.benchmarks.nykms.tasks import answered_as_annotated
from figlang_tasks.core.optional_modules import FineTuning

FINETUNING = FineTuning(texts=("caption", "description"), right=answered_as_annotated)
