"""Pure metric functions: numbers in, numbers out; nothing here imports the harness or the rest of figlang_tasks.

This folder is ``figlang_tasks.metrics`` in the distribution figlang-tasks, and the package ``figlang_metrics`` of the
distribution figlang-metrics (``pyproject.toml`` beside this file).
"""

__version__ = "0.1.0"

DISTRIBUTION = __name__.partition(".")[0].replace("_", "-")
"""What pip calls the distribution that this folder came with."""
