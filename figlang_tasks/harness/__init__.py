"""All that knows lmms-eval: registration, hooks, the answer cache."""
