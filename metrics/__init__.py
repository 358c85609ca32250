"""Pure metric functions: numbers in, numbers out.

Nothing here imports the harness or the rest of figlang_tasks.

Public are the modules in ``__all__``, and of each the names in its own ``__all__``; other names may
change without notice.

This folder is ``figlang_tasks.metrics`` in the distribution figlang-tasks, and the package
``figlang_metrics`` of the distribution figlang-metrics (``pyproject.toml`` beside this file).
"""

__all__ = [
    "agreement",
    "boxes",
    "captions",
    "classification",
    "explanation",
    "generated_images",
    "intervals",
    "overlap",
    "ranking",
    "significance",
]

__version__ = "0.1.0"

DISTRIBUTION = __name__.partition(".")[0].replace("_", "-")
"""What pip calls the distribution that this folder came with."""
