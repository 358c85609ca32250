r"""``figlang_replay``: answers from the samples files of earlier runs, so that they are scored
again without the model.

::

    lmms_eval --tasks vflute --model figlang_replay --model_args samples=results/my_run \
        --output_path rescored

`samples` is a samples file of lmms-eval or lm-eval, or a folder with such files at any depth. Files
of ``--predict_only`` runs serve as well.
"""

from __future__ import annotations

import json
import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmms_eval.api.instance import Instance
from loguru import logger

from figlang_tasks.core.blocks import PICTURES_FIRST
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, read_file
from figlang_tasks.core.samples_files import saved_lines, task_of
from figlang_tasks.core.text import listing
from figlang_tasks.models.base import Offline

LISTED = 10


@dataclass(frozen=True)
class Saved:
    """The saved answer to one document."""

    where: str  # file and line
    outputs: tuple[str, ...]  # one for each repeat
    id: str | None  # of the document, where the task recorded it, as is `data`
    data: str | None
    prompt: str
    in_template: bool  # of lm-eval: a chat template may stand around the prompt
    target: str
    # The number of the last output, from 1, where each has a line of its own (``--repeats``)
    repeat: int


def find(samples: str) -> dict[str, list[Path]]:
    """The samples files that are a file, or lie in a folder, by task."""
    given = Path(samples).expanduser()
    by_task: dict[str, list[Path]] = {}
    for path in sorted(given.rglob("*samples_*.jsonl")) if given.is_dir() else [given]:
        task = task_of(path)
        if task and path.is_file():
            by_task.setdefault(task, []).append(path)
    if not by_task:
        raise RunError(
            f"samples={samples}: no file .._samples_<task>.jsonl there (lm-eval:"
            " samples_<task>_...jsonl), as --log_samples writes it"
        )
    return by_task


def read(paths: Sequence[Path]) -> dict[int, Saved]:
    """What the samples files of one task hold, by document id."""
    saved: dict[int, Saved] = {}
    duplicates, gaps = [], []
    for path in paths:
        for where, values in saved_lines(path):
            doc_id, line = _read_line(where, values)
            known = saved.setdefault(doc_id, line)
            last_repeat = 0 if known is line else known.repeat
            if line.repeat <= last_repeat:
                duplicates.append(f"doc_id {doc_id}: {known.where} and {line.where}")
                continue
            if line.repeat > last_repeat + 1:
                gaps.append(f"doc_id {doc_id}: answer {last_repeat + 1}, before {line.where}")
            if known is not line:
                saved[doc_id] = replace(
                    known, outputs=known.outputs + line.outputs, repeat=line.repeat
                )
    if duplicates:
        raise RunError(
            f"{len(duplicates)} answers occur twice; give the files of one run."
            f" {listing(duplicates, LISTED, '; ')}"
        )
    if gaps:
        raise RunError(
            f"{len(gaps)} answers of --repeats are missing; give all of the run."
            f" {listing(gaps, LISTED, '; ')}"
        )
    return saved


def _read_line(where: str, values: Mapping[str, Any]) -> tuple[int, Saved]:
    if not isinstance(values.get("doc_id"), int):
        raise RunError(f"{where} has no doc_id: is it a samples file of the harness?")
    # The harness leaves `resps`, what the model said, out where the filters changed nothing.
    outputs = values.get("resps", values.get("filtered_resps"))
    outputs = [outputs] if isinstance(outputs, str) else outputs
    texts = outputs
    if isinstance(outputs, list) and len(outputs) == 1 and isinstance(outputs[0], list):
        texts = outputs[0]  # lm-eval has a list for each request of a document
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise RunError(
            f"{where}: its answer is {reprlib.repr(outputs)}, must be text: saved by a task of"
            " another kind?"
        )
    record = values.get("sample")
    record = record if isinstance(record, dict) else {}
    asked = values.get("arguments") or {}
    of_lm_eval = "gen_args_0" in asked
    found = Saved(
        where,
        tuple(texts),
        id=record.get("id"),
        data=record.get("data"),
        prompt=str(asked["gen_args_0"]["arg_0"] if of_lm_eval else values.get("input")),
        in_template=of_lm_eval,
        target=str(values.get("target")),
        repeat=int(record.get("repeat", 1)),
    )
    return values["doc_id"], found


_ROUNDS = ["scene_graph", "answer"]


def rounds(final: str) -> list[str]:
    """The outputs of the rounds behind a final answer of ours; of a run cut off after the first,
    that alone.
    """
    try:
        values = json.loads(final)
    except (ValueError, RecursionError):
        return [final]
    if (
        isinstance(values, dict)
        and list(values) == _ROUNDS
        and all(isinstance(v, str) for v in values.values())
    ):
        return list(values.values())
    return [final]


class Replay(Offline):
    """Answers every request with what was saved for its task and document.

    Args:
        samples: file or folder.
        harness: see :class:`Offline`.

    Raises:
        FigLangError: wrong arguments, or no files; later, while answering: answers that are missing
            or there twice, a damaged file, a file of other data.
    """

    needs_no_cache = True  # its answers are in files already (figlang_tasks.harness.answers)

    def __init__(self, samples: str | None = None, **harness: Any) -> None:
        super().__init__(**harness)
        if samples is None:
            raise RunError(
                "figlang_replay needs saved answers: --model_args samples=FILE_OR_FOLDER"
            )
        self._samples = str(samples)  # the command line makes a number of what looks like one
        self._saved: dict[str, dict[int, Saved]] = {}
        self._rounds: Counter[tuple[str, int]] = Counter()
        self._files = find(self._samples)

    @property
    def pictures_first(self) -> set[str]:
        """The tasks whose answers are to the prompt for pictures first, as the results files beside
        the samples say.
        """
        found = set()
        for task, paths in self._files.items():
            for path in paths:
                date = path.name.partition("_samples_")[0]  # lm-eval has no such prompts
                results = path.with_name(f"{date}_results.json")
                configs: dict[str, Any] = {}
                try:
                    if results.exists():
                        configs = json.loads(read_file(results, MOST_BYTES_OF_SAMPLES))["configs"]
                    asked = configs.get(task, {}).get("metadata", {}).get("prompt_hash")
                except (OSError, ValueError, LookupError, AttributeError) as error:
                    raise RunError(
                        f"{results} is not a results file of the harness ({error!r}): restore it"
                    ) from error
                if str(asked).endswith(f"+{PICTURES_FIRST}"):
                    found.add(task)
        return found

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer, after all requests have been looked at."""
        answers, missing, foreign, other_prompts = [], [], [], []
        repeats: Counter[tuple[str, int]] = Counter()
        for request in requests:
            prompt, *_, doc_id, name, split = request.args
            if request.metadata.get("__padding_only__"):  # the harness drops the answer
                answers.append("")
                continue
            task = self.task(request)
            saved = self._saved_for(name).get(doc_id)
            outputs: Sequence[str] = saved.outputs if saved else ()
            counter = repeats
            if (
                task.config.output_type == "generate_until_agentic"
            ):  # one call of this method for each round
                outputs = [text for output in outputs for text in rounds(output)]
                counter = self._rounds
            position = counter[name, doc_id]
            counter[name, doc_id] += 1
            if saved and not position:
                same_document, same_prompt = _compare(
                    saved, task, task.dataset_no_image[split][doc_id], prompt
                )
                if not same_document:
                    foreign.append(f"{name} doc_id {doc_id} ({saved.where})")
                elif not same_prompt:
                    other_prompts.append(f"{name} doc_id {doc_id}")
            if position < len(outputs):
                answers.append(outputs[position])
            else:
                missing.append(
                    f"{name} doc_id {doc_id}" + (f", answer {position + 1}" if position else "")
                )
                answers.append("")
        self._report(missing, foreign, other_prompts)
        return answers

    def _saved_for(self, name: str) -> dict[int, Saved]:
        if name not in self._saved:
            self._saved[name] = read(self._files.get(name, []))
            logger.info(
                f"figlang_replay: {name}: {len(self._saved[name])} answers from {self._samples}"
            )
        return self._saved[name]

    def _report(self, missing: list[str], foreign: list[str], other_prompts: list[str]) -> None:
        if foreign:
            raise RunError(
                f"{len(foreign)} answers belong to other documents than the task has under their"
                " numbers (other data, or, where no id was recorded, another prompt):"
                f" {listing(foreign, LISTED, '; ')}"
            )
        if missing:
            raise RunError(
                f"{len(missing)} answers are missing in {self._samples}:"
                f" {listing(missing, LISTED, '; ')}. The files are of:"
                f" {', '.join(sorted(self._files))}. Give all files of the run, and use the same"
                " --limit"
            )
        if other_prompts:
            logger.warning(
                f"figlang_replay: {len(other_prompts)} answers were given to another prompt than"
                f" the task has now: {listing(other_prompts, LISTED, '; ')}"
            )


def _compare(saved: Saved, task: Any, doc: dict[str, Any], prompt: str) -> tuple[bool, bool]:
    """Whether the document is the one that was answered, and whether the prompt is."""
    same_prompt = prompt in saved.prompt if saved.in_template else prompt == saved.prompt
    if saved.id is None or doc.get("id") is None:
        return same_prompt and saved.target == str(task.doc_to_target(doc)), same_prompt
    same_data = None in (saved.data, doc.get("data")) or saved.data == doc["data"]
    return saved.id == doc["id"] and same_data, same_prompt
