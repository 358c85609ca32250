"""Write released outputs of COLUMBUS as JSON Lines with id and output, for ``figlang score``.

README.md has the commands.

    python convert.py OUTPUTS.json OUTPUTS.jsonl [PROMPT]

OUTPUTS.json is a file of the authors' repository, such as
results/analysis/results/prompt_2/qwenvl_prompt_2.json, or a file with the outputs for several
prompts: {"model": ..., "runs": {PROMPT: {"rows": [[id, output], ...]}}}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from figlang_tasks.benchmarks.columbus import released


def convert(path: Path, prompt: str = "2") -> str:
    """Return a file of the authors as JSON Lines with id and output."""
    lines: list[str] = []
    for answer in released.read_outputs(path, prompt):
        lines.append(json.dumps({"id": answer.row_id, "output": answer.output}) + "\n")
    if not lines:
        raise SystemExit(f"{path} has no outputs of prompt {prompt}")
    return "".join(lines)


if __name__ == "__main__":
    source, target, *prompt = sys.argv[1:]
    Path(target).write_text(convert(Path(source), *prompt), encoding="utf-8")
