"""Writes released outputs of COLUMBUS as JSON Lines with id and output, for ``figlang score``.

README.md has the commands.

    python convert.py OUTPUTS.json OUTPUTS.jsonl [PROMPT]

OUTPUTS.json is a file of the authors' repository, such as
results/analysis/results/prompt_2/qwenvl_prompt_2.json, or an extract of several: {"model": ...,
"runs": {PROMPT: {"rows": [[id, output], ...]}}}.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

BRACKETS = r"\(\((.*?)\)\)"
CLEAN = {
    "llava-1.5": [r"ASSISTANT: (.*)"],
    "llava-1.6": [r"<\|im_start\|> assistant\n.*?" + BRACKETS, r"<\|im_start\|> assistant\n(.*)"],
    "fuyu": [r"\x04\s*(?:A:)?\s*(.*?)\s*\Z"],
    "cogvlm": [r"(.*?)</s>"],
    "qwenvl": [BRACKETS, r'is "(.*?)"\.', r'is "(.*?)\."'],
    "mistral": [BRACKETS],
}
"""What the authors' script takes of a model's output before its rule reads it: the first of these
that is there.
"""


def released(content: dict, prompt: str) -> dict[str, str]:
    """The outputs by the id of their row."""
    if "runs" in content:
        return {row[0]: row[1] for row in content["runs"][prompt]["rows"]}
    return {Path(row["image"]).stem: row["output"] for row in content["results"]}


def clean(model: str, output: str) -> str:
    """What the rule reads.

    Args:
        model: the beginning of the name of its file.
        output: all that the model said.
    """
    for name, patterns in CLEAN.items():
        if not model.startswith(name):
            continue
        for pattern in patterns:
            match = re.search(pattern, output, re.DOTALL)
            if match:
                return match[1]
    return output


def convert(path: Path, prompt: str = "2") -> str:
    """The lines of id and output for the outputs in a file of the authors."""
    outputs = released(json.loads(path.read_text("utf-8")), prompt)
    model = path.name.removeprefix("rows_")
    lines: list[str] = []
    for row_id, output in outputs.items():
        lines.append(json.dumps({"id": row_id, "output": clean(model, output)}) + "\n")
    return "".join(lines)


if __name__ == "__main__":
    source, target, *prompt = sys.argv[1:]
    Path(target).write_text(convert(Path(source), *prompt), encoding="utf-8")
