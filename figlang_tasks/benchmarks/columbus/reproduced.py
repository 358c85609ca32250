"""Recomputes tables of COLUMBUS's first version (v1), for ``figlang reproduce``.

The authors' archive has the outputs of all open models (docs/reproduced.md).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from figlang_tasks.benchmarks.columbus import measures, parse, released, rows, tasks
from figlang_tasks.benchmarks.columbus.released import ReleasedOutput
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import USE_THE_RELEASE, Snapshot
from figlang_tasks.core.record import Record, Row
from figlang_tasks.scoring import evaluate

_FILE_NAMES = {
    "CLIP ViT-B/32": "clip",
    "BLIP-2 OPT-2.7b": "blip-2_opt-2.7b",
    "BLIP-2 OPT-6.7b": "blip-2_opt-6.7b",
    "Fuyu-8b": "fuyu-8b",
    "InstructBLIP-7b": "instructblip",
    "Qwen-VL-Chat": "qwenvl",
    "BLIP-2 Flan-T5-XXL": "blip-2_flan-t5-xxl",
    "LLaVA-1.5-13b": "llava-1.5-13b",
    "CogVLM": "cogvlm",
    "LLaVA-1.6-34b": "llava-1.6-34b",
}
"""The name of each open model in the names of files, by its name in ``published.json``."""

# The paper's number of the prompt by task. The released file of CLIP, which has no prompt, is "2".
_PROMPT_NUMBERS = {
    "columbus_match": "2",
    "columbus": "2",
    "columbus_plain": "1",
    "columbus_nodes": "3",
}

# The share of the most frequent letter among the letters that the released rule reads, in percent:
# Table 2, column MFA. Those of Fuyu are left out (docs/reproduced.md).
_LETTER_SHARES = {
    "clip": {"text": "27.3", "icon": "26.5"},
    "blip-2_opt-2.7b": {"text": "44.3", "icon": "51.6"},
    "blip-2_opt-6.7b": {"text": "96.5", "icon": "95.1"},
    "instructblip": {"text": "58.8", "icon": "54.9"},
    "qwenvl": {"text": "29.0", "icon": "33.0"},
    "blip-2_flan-t5-xxl": {"text": "34.9", "icon": "35.4"},
    "llava-1.5-13b": {"text": "31.1", "icon": "31.6"},
    "cogvlm": {"text": "35.9", "icon": "42.7"},
    "llava-1.6-34b": {"text": "29.9", "icon": "32.3"},
}

_Figure: TypeAlias = Mapping[str, Any]
"""A record of ``published.json``."""


class _Run(NamedTuple):
    """A model and a prompt: the outputs in one released file.

    Attributes:
        model: a value of `_FILE_NAMES`.
        prompt: a value of `_PROMPT_NUMBERS`.
    """

    model: str
    prompt: str


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, published number and our number, both in percent, of each released figure.

    They are accuracies, and for Table 2 also the share of the most frequent letter. The published
    number is a text with one decimal. Cells without a released file are left out;
    `left_out` names them.

    Args:
        folder: an archive of the authors' repository, or a folder with its data and extracts of
            the released outputs (``rows/rows_clip.json``).

    Raises:
        DataError: a file is not as the authors released it.
    """
    documents = _Documents(folder)
    for run, figures in _figures_by_run().items():
        outputs = released.find_outputs(folder, run.model, run.prompt)
        if outputs is None:
            continue
        answers = list(documents.answered(outputs, run))
        records: list[Record] = []
        for document, output in answers:
            records.append(tasks.COLUMBUS.answer_record(document, output.output))
        accuracies = evaluate(records, measures.COLUMBUS, stderr_resamples=0)["acc_official"]
        for figure in figures:
            scope = figure["metric"].removeprefix("acc_official_")  # text or icon
            name = f"{figure['table']} {figure['model']}, prompt {run.prompt}, {figure['metric']}"
            published_accuracy = f"{100 * figure['value']:.1f}"
            yield name, published_accuracy, _two_decimals(accuracies[scope].value)
        if run.prompt == "2" and run.model in _LETTER_SHARES:
            for kind, published_share in _LETTER_SHARES[run.model].items():
                name = f"Table 2 {figures[0]['model']}, prompt 2, most frequent letter, {kind}"
                yield name, published_share, _two_decimals(_share_of_top_letter(answers, kind))


def _two_decimals(share: float) -> float:
    """A share in percent, rounded as the authors' script does.

    The paper rounds the script's figures again: 59.2476 becomes 59.25, which is printed as 59.3.
    """
    return round(100 * share, 2)


def _share_of_top_letter(answers: Sequence[tuple[Row, ReleasedOutput]], kind: str) -> float:
    """The share of the most frequent letter among the letters that are read in outputs.

    Args:
        answers: pairs of a document and its output.
        kind: of the documents that count: ``text`` or ``icon``.
    """
    letter_counts: Counter[str] = Counter()
    for document, output in answers:
        letter = parse.named_letter(output.output, tasks.options_by_letter(document))
        if letter is not None and document["kind"] == kind:
            letter_counts[letter] += 1
    if not letter_counts:
        return 0.0
    return max(letter_counts.values()) / letter_counts.total()


def left_out(folder: Path) -> list[str]:
    """The cells that `cells` leaves out, and the file that each lacks: a line for each file."""
    lines: list[str] = []
    for run, figures in _figures_by_run().items():
        if released.find_outputs(folder, run.model, run.prompt) is None:
            path = released.file_in_archive(run.model, run.prompt)
            table, model = figures[0]["table"], figures[0]["model"]
            lines.append(f"{table} {model}, prompt {run.prompt}, because {path} is missing")
    return lines


def _figures_by_run() -> dict[_Run, list[_Figure]]:
    """The published accuracies that released files give, by model and prompt."""
    figures_by_run: dict[_Run, list[_Figure]] = {}
    published_file = Path(__file__).with_name("published.json")
    for figure in json.loads(published_file.read_bytes())["records"]:
        model = _FILE_NAMES.get(figure["model"])
        prompt = _PROMPT_NUMBERS.get(figure["task"])
        # docs/reproduced.md explains the figures that are not comparable.
        is_comparable = "not comparable" not in figure["setting"]
        is_of_v1 = figure.get("release") == "v1" and is_comparable
        if model is not None and prompt is not None and is_of_v1:
            figures_by_run.setdefault(_Run(model, prompt), []).append(figure)
    return figures_by_run


class _Documents:
    """The documents of v1 without pictures, loaded once for each order of their options."""

    def __init__(self, folder: Path) -> None:
        """Load nothing yet. The folder is that of `cells`."""
        self._release = Snapshot(folder, "local")
        self._by_order: dict[str, dict[str, Row]] = {}

    def answered(
        self, outputs: Sequence[ReleasedOutput], run: _Run
    ) -> Iterator[tuple[Row, ReleasedOutput]]:
        """Yield each output behind its document, which has the options that the model was shown.

        Args:
            outputs: the outputs of a model.
            run: the model and the prompt, for messages.

        Raises:
            DataError: the outputs are not of all rebuses, one each, or have other options.
        """
        file_name = Path(released.file_in_archive(run.model, run.prompt)).name
        documents: dict[str, Row] = {}
        for output in outputs:
            if isinstance(output.options, str):
                documents = self._by_id(output.options)
                document = documents.get(output.row_id)
            else:
                documents = self._by_id("benchmark")
                document = _with_shown_options(documents.get(output.row_id), output.options)
            if document is None:
                raise DataError(
                    f"{file_name}: {output.row_id} is no row of the release, or has other options."
                    f" {USE_THE_RELEASE}"
                )
            yield document, output
        row_count = len({output.row_id for output in outputs})
        if not len(documents) == row_count == len(outputs):
            raise DataError(
                f"{file_name} has {len(outputs)} outputs for {row_count} rows, must have one for"
                f" each of {len(documents)}. {USE_THE_RELEASE}"
            )

    def _by_id(self, order: str) -> dict[str, Row]:
        """The documents by id, with their options in one of the orders `rows.ORDERS`."""
        if order not in self._by_order:
            documents = rows.documents(self._release, rows.NAME, order).remove_columns("image")
            self._by_order[order] = {document["id"]: document for document in documents}
        return self._by_order[order]


def _with_shown_options(document: Row | None, options: Mapping[str, str]) -> Row | None:
    """A document with its options as a model was shown them; None if these are not its options."""
    if document is None or not rows.has_options(document, options):
        return None
    return rows.with_options(document, options)
