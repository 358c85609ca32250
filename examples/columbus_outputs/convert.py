"""Writes released outputs of COLUMBUS as a samples file, which figlang_replay reads: README.md has
the commands.

    python convert.py OUTPUTS.json FOLDER [PROMPT]

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
    """What the rule reads; `model`: the beginning of the name of its file."""
    patterns = next((found for name, found in CLEAN.items() if model.startswith(name)), [])
    return next((match[1] for each in patterns if (match := re.search(each, output, re.S))), output)


def samples(path: Path, prompt: str = "2") -> str:
    """The samples file. Its rows are in the order of their ids, as in the task."""
    outputs = released(json.loads(path.read_text("utf-8")), prompt)
    model = path.name.removeprefix("rows_")
    lines = [
        {
            "doc_id": number,
            "filtered_resps": [clean(model, outputs[row_id])],
            "sample": {"id": row_id},
        }
        for number, row_id in enumerate(sorted(outputs))
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    given, folder, *prompt = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "samples_columbus_released.jsonl").write_text(
        samples(Path(given), *prompt), encoding="utf-8"
    )
