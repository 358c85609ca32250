"""Reads the outputs that COLUMBUS's authors released, of the models of the first version (v1).

The authors clean up the outputs of some models before their rule reads them (`part_for_rule`).
Of Qwen-VL, Mistral and (prompt 1 alone) LLaVA-1.6-34b, GPT-4o chose the option that an output
means. In such a file, ``raw_output`` is what the model wrote, and ``output`` what GPT-4o chose,
which the paper's tables score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

from figlang_tasks.benchmarks.columbus.rows import ORDERS
from figlang_tasks.core import row_files
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import USE_THE_RELEASE

_ARCHIVE_FOLDER = "results/analysis/results"


class ReleasedOutput(NamedTuple):
    """What a model answered to a rebus, and the options that it was shown.

    Attributes:
        row_id: the rebus's id.
        output: the part of the answer that the released rule reads.
        options: the text of each option by its letter, or the name of their order, one of `ORDERS`.
    """

    row_id: str
    output: str
    options: Mapping[str, str] | str


# --- files ---


def file_in_archive(model: str, prompt: str) -> str:
    """The path of a model's outputs in the authors' archive.

    Args:
        model: the model's name in the names of files, such as ``llava-1.5-13b``.
        prompt: the paper's number of the prompt; any for CLIP, which has none.
    """
    if model == "clip":
        return f"{_ARCHIVE_FOLDER}/clip.json"
    return f"{_ARCHIVE_FOLDER}/prompt_{prompt}/{model}_prompt_{prompt}.json"


def find_outputs(folder: Path, model: str, prompt: str) -> list[ReleasedOutput] | None:
    """The released outputs of a model: of the archive, else of the extract; None without both.

    Args:
        folder: the archive, or a folder with extracts such as ``rows/rows_clip.json``.
        model: as in `file_in_archive`.
        prompt: as in `file_in_archive`; "2" for CLIP.

    Raises:
        DataError: a file is not as the authors released it.
    """
    archive_file = folder / file_in_archive(model, prompt)
    if archive_file.exists():
        return read_outputs(archive_file, prompt)
    extract = folder / "rows" / f"rows_{model}.json"
    if extract.exists():
        return read_outputs(extract, prompt) or None
    return None


def read_outputs(path: Path, prompt: str) -> list[ReleasedOutput]:
    """The outputs in a released file; none if it is an extract that lacks the prompt.

    Args:
        path: a file of the archive, such as ``qwenvl_prompt_2.json``, or an extract with the
            outputs for several prompts, such as ``rows_qwenvl.json``. The name has the model.
        prompt: the paper's number of the prompt, for an extract.

    Raises:
        DataError: the file is not as the authors released it.
    """
    model = path.stem.removeprefix("rows_").partition("_prompt_")[0]
    content = row_files.released_json(path)
    outputs: list[ReleasedOutput] = []
    try:
        rows = _rows_of_extract(content, prompt) if "runs" in content else content["results"]
        for row in rows:
            # LLaVA-1.6-34b was run on Windows, whose paths have backslashes.
            row_id = PureWindowsPath(row["image"]).stem
            if not isinstance(row["output"], str):
                raise TypeError("output is no text")
            output = part_for_rule(model, row["output"])
            outputs.append(ReleasedOutput(row_id, output, row.get("options", "published")))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        place = f"row {len(outputs) + 1}: {type(error).__name__}: {error}"
        raise DataError(
            f"{path} is not a released file of outputs ({place}). {USE_THE_RELEASE}"
        ) from error
    return outputs


def _rows_of_extract(content: Mapping[str, Any], prompt: str) -> Iterator[Mapping[str, Any]]:
    """The rows of one prompt in an extract, in the columns of the archive's files.

    An extract is ``{"runs": {PROMPT: {"option_order": ..., "columns": [...], "rows": [[...]]}}}``.
    """
    run = content["runs"].get(prompt, {"rows": []})
    named_order = run.get("option_order", "published_runs")
    order = named_order.partition("_")[0]
    if order not in ORDERS:
        raise ValueError(f"option_order is {named_order}; valid: benchmark, published_runs")
    # Further columns may follow.
    columns = run.get("columns", ["image", "output"])
    for cells in run["rows"]:
        yield {"options": order, **dict(zip(columns, cells, strict=False))}


# --- clean-ups ---

_IN_TWO_BRACKETS = re.compile(r"\(\((.*?)\)\)")  # ((A) high up)
# The released patterns end in points that are not escaped: they stand for any character.
_QUOTED_ANSWERS = (
    _IN_TWO_BRACKETS,
    re.compile(r'is "(.*?)".'),
    re.compile(r'is "(.*?)."'),
)


def part_for_rule(model: str, output: str) -> str:
    """The part of an output that the authors' script keeps before its rule reads it.

    The outputs of CLIP, BLIP-2 and InstructBLIP stay whole, as those of unknown models do.

    Source: ``results/analysis/AnalysisReport.py``, lines 559 to 639.

    Args:
        model: the model's name in the names of files.
        output: what the column ``output`` of its file has.
    """
    clean_up = _CLEAN_UPS.get(model)
    return output if clean_up is None else clean_up(output)


def _after(mark: str, output: str) -> str | None:
    """The text between the first and the second place of a mark; None if there is no mark."""
    parts = output.split(mark)
    return parts[1] if len(parts) > 1 else None


def _first_group(patterns: tuple[re.Pattern[str], ...], output: str) -> str:
    """The group of the first pattern that is found in an output; without one, the output."""
    for pattern in patterns:
        match = pattern.search(output)
        if match:
            return match[1]
    return output


def _clean_llava_15(output: str) -> str:
    """The answer behind the prompt, which the output repeats."""
    answer = _after("ASSISTANT: ", output)
    return output if answer is None else answer


def _clean_llava_16(output: str) -> str:
    """The answer behind the prompt, and of it what stands in two brackets.

    An output that does not repeat the prompt stays whole.
    """
    answer = _after("<|im_start|> assistant\n", output)
    return output if answer is None else _first_group((_IN_TWO_BRACKETS,), answer.strip())


def _clean_fuyu(output: str) -> str:
    """The answer behind the prompt, which ends with U+0004, and behind ``A:``."""
    answer = _after("\x04", output)
    return output if answer is None else answer.strip().removeprefix("A:").strip()


def _clean_cogvlm(output: str) -> str:
    """The output without the marks of its end."""
    return output.replace("</s>", "")


def _clean_qwen_vl(output: str) -> str:
    """What stands in two brackets, else in the quotation marks behind "is"."""
    return _first_group(_QUOTED_ANSWERS, output)


def _clean_mistral(output: str) -> str:
    """What stands in two brackets."""
    return _first_group((_IN_TWO_BRACKETS,), output)


_CLEAN_UPS: Mapping[str, Callable[[str], str]] = {
    "llava-1.5-13b": _clean_llava_15,
    "llava-1.6-34b": _clean_llava_16,
    "fuyu-8b": _clean_fuyu,
    "cogvlm": _clean_cogvlm,
    "qwenvl": _clean_qwen_vl,
    "mistral-7b": _clean_mistral,
}
