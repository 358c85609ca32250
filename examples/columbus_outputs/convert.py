"""Write released outputs of COLUMBUS as JSON Lines with id and output, for ``figlang score``.

README.md has the commands.

    python convert.py OUTPUTS.json OUTPUTS.jsonl [PROMPT]

OUTPUTS.json is a file of the authors' repository, such as
results/analysis/results/prompt_2/qwenvl_prompt_2.json, or a file with the outputs for several
prompts: {"model": ..., "runs": {PROMPT: {"rows": [[id, output], ...]}}}.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

BRACKETS = r"\(\((.*?)\)\)"
PATTERNS = {
    "llava-1.5": [r"ASSISTANT: (.*)"],
    "llava-1.6": [r"<\|im_start\|> assistant\n.*?" + BRACKETS, r"<\|im_start\|> assistant\n(.*)"],
    "fuyu": [r"\x04\s*(?:A:)?\s*(.*?)\s*\Z"],
    "cogvlm": [r"(.*?)</s>"],
    "qwenvl": [BRACKETS, r'is "(.*?)"\.', r'is "(.*?)\."'],
    "mistral": [BRACKETS],
}
"""The part of an output that the authors' script keeps before its rule reads it: the group of the
first pattern that matches.
"""


def outputs_by_id(content: dict, prompt: str) -> dict[str, str]:
    """Return the output for each row id."""
    if "runs" in content:
        return {row[0]: row[1] for row in content["runs"][prompt]["rows"]}
    return {Path(row["image"]).stem: row["output"] for row in content["results"]}


def relevant_part(model: str, output: str) -> str:
    """Return the part of an output that the authors' rule reads.

    Args:
        model: the name of the outputs' file, which begins with the name of the model.
        output: the whole output.
    """
    for name, patterns in PATTERNS.items():
        if not model.startswith(name):
            continue
        for pattern in patterns:
            match = re.search(pattern, output, re.DOTALL)
            if match:
                return match[1]
    return output


def convert(path: Path, prompt: str = "2") -> str:
    """Return a file of the authors as JSON Lines with id and output."""
    outputs = outputs_by_id(json.loads(path.read_text("utf-8")), prompt)
    model = path.name.removeprefix("rows_")
    lines: list[str] = []
    for row_id, output in outputs.items():
        lines.append(json.dumps({"id": row_id, "output": relevant_part(model, output)}) + "\n")
    return "".join(lines)


if __name__ == "__main__":
    source, target, *prompt = sys.argv[1:]
    Path(target).write_text(convert(Path(source), *prompt), encoding="utf-8")
