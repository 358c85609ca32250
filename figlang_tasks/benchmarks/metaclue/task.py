"""What all MetaCLUE task files share: documents, options, prompts, and the making of aggregators.

MetaCLUE: Akula et al. 2023, "MetaCLUE: Towards Comprehensive Visual Metaphors Research", CVPR 2023, arXiv 2212.09898.
How answers are judged is in the modules beside this one: ``classify``, ``retrieve``, ``describe``, ``localize``,
``generate``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from PIL import Image

from figlang_tasks.benchmarks.metaclue import pictures, rows
from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.prompting import render
from figlang_tasks.metrics import captions

if TYPE_CHECKING:
    import datasets

Document = Mapping[str, Any]
Kwargs = Mapping[str, Any] | None

# task, by the beginning of its name -> the templates of prompts/metaclue that it may be asked with
PROMPTS = {
    "classify": ("classify",),
    rows.RETRIEVE: ("choose", "state"),
    "caption": ("caption",),
    "vqa": ("ask",),
    "localize": ("locate",),
    "generate": ("draw",),
}


@dataclass(frozen=True)
class Options:
    """Options of a MetaCLUE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by model.

    Attributes:
        prompt: a template of ``prompts/metaclue``. Retrieval: ``choose`` (all candidates, numbered) or ``state`` (asks
            for a statement, whose probability is the score).
        convention: localization only: the convention (a value of ``rows.LOCALIZE``) that this model gives boxes in, if
            that is known. Where it is not that of the task the run is refused.
    """

    prompt: str
    convention: str | None = None

    @classmethod
    def of(cls, kwargs: Kwargs, task: str) -> Options:
        """Read the options from what the harness hands over.

        Args:
            kwargs: the mapping of a model.
            task: one of ``rows.TASKS``.

        Raises:
            ValueError: unknown option, or a value that is not valid; the message lists the valid ones.
        """
        known = {field.name for field in fields(cls)} if task in rows.LOCALIZE else {"prompt"}
        # The harness leaves the blocks for other models ("default", "figlang_clip", ...) in the dict: they are dicts.
        given = {key: value for key, value in (kwargs or {}).items() if not isinstance(value, Mapping)}
        if unknown := sorted(set(given) - known):
            raise ValueError(f"unknown option(s) {', '.join(unknown)} of {task}; valid: {', '.join(sorted(known))}")
        prompts = next(names for start, names in PROMPTS.items() if task.startswith(start))
        if given.get("prompt") not in prompts:
            raise ValueError(f"option prompt={given.get('prompt')!r} of {task}; valid: {', '.join(prompts)}")
        if given.get("convention") not in (None, *rows.LOCALIZE.values()):
            valid = ", ".join(rows.LOCALIZE.values())
            raise ValueError(f"option convention={given['convention']!r} of {task}; valid: {valid}")
        return cls(**given)


# --- data ------------------------------------------------------------------------------------------------------------


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """Return the documents that the task file names (``figlang_tasks.benchmarks.metaclue.rows.named``).

    Raises:
        SystemExit: the data is missing or wrong. Not an Exception, because the harness would try those five times
            and then exit with status 0.
    """
    try:
        return rows.load(*rows.named(stub.config_name))
    except hub.DataError as error:
        raise SystemExit(f"figlang_tasks: {error}") from error


def preflight(config: Mapping[str, Any]) -> None:
    """Check the options and the data of a task before a model is loaded.

    Args:
        config: the task's YAML as a dict.

    Raises:
        SystemExit: as :func:`process_docs`; also for an invalid option.
    """
    try:
        kwargs = config.get("lmms_eval_specific_kwargs") or {}
        dataset, task = rows.named(config.get("dataset_name"))
        rows.load(dataset, task)
        for block in [each for each in kwargs.values() if isinstance(each, Mapping)] or [kwargs]:
            Options.of(block, task)
        if task.startswith(("caption", "vqa")) and os.environ.get("RANK", "0") == "0":
            captions.programs()  # METEOR and SPICE that will be missing are told now, not after hours
        _check_convention(Options.of(kwargs.get(str(config.get("model"))) or kwargs.get("default"), task), task)
    except (hub.DataError, ValueError) as error:
        raise SystemExit(f"figlang_tasks: task {config.get('task')}: {error}") from error


def _check_convention(options: Options, task: str) -> None:
    """Refuse a model that is known to give boxes in another convention than the task reads."""
    if options.convention not in (None, rows.LOCALIZE.get(task)):
        right = next(name for name, convention in rows.LOCALIZE.items() if convention == options.convention)
        raise ValueError(
            f"this model gives boxes in the convention {options.convention}, and metaclue_{task} reads "
            f"{rows.LOCALIZE[task]}: run metaclue_{right}"
        )


def task_of(doc: Document) -> str:
    """The task of a document, one of ``rows.TASKS``."""
    return DataId.parse(doc["data"]).part


# --- prompts ---------------------------------------------------------------------------------------------------------


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """Return the prompt as one text."""
    return render(f"metaclue/{Options.of(lmms_eval_specific_kwargs, task_of(doc)).prompt}.jinja", doc=doc)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """Return the picture, RGB, upright; none for text-to-image."""
    if task_of(doc) == "generate":
        return []
    return [pictures.read(doc["dataset"], doc["image"], f"{doc['dataset']} {doc['id']}")]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """Return the prompt as one user turn, the picture before the text."""
    content = [{"type": "image", "url": image} for image in doc_to_visual(doc, lmms_eval_specific_kwargs)]
    text = {"type": "text", "text": doc_to_text(doc, lmms_eval_specific_kwargs)}
    return [{"role": "user", "content": [*content, text]}]
