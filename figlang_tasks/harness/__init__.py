"""All that knows a harness: registration, hooks, the answer cache, the task of lm-eval."""
