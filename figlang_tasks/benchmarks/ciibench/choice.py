"""The choice between six texts that CII-Bench offers a model, for ``figlang judge read``."""

from figlang_tasks.scoring.simple_tasks import choice_of

__all__ = ["choice_of"]
