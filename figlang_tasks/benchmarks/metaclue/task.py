"""What all MetaCLUE task files name: options and prompts.

MetaCLUE: Akula et al. 2023, "MetaCLUE: Towards Comprehensive Visual Metaphors Research", CVPR 2023, arXiv 2212.09898.
How answers are judged is in the modules beside this one: ``classify``, ``retrieve``, ``describe``, ``localize``,
``generate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.benchmarks.metaclue import rows
from figlang_tasks.core import images, status
from figlang_tasks.core.benchmark import Asked
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.options import Kwargs, by_model
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.metrics import captions

Document = Mapping[str, Any]

# task, by the beginning of its name -> the templates of prompts/metaclue that it may be asked with
PROMPTS = {
    "classify": ("classify",),
    rows.RETRIEVE: ("choose", "state"),
    "caption": ("caption",),
    "vqa": ("ask",),
    "localize": ("locate",),
    "generate": ("draw",),
}


class Options(TaskOptions):
    """Options of a MetaCLUE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file, by model.

    Attributes:
        prompt: a template of ``prompts/metaclue``. Retrieval: ``choose`` (all candidates, numbered) or ``state`` (asks
            for a statement, whose probability is the score).
        convention: localization only: the convention (a value of ``rows.LOCALIZE``) that this model gives boxes in, if
            that is known. Where it is not that of the task the run is refused.
    """

    OF: ClassVar[str] = "MetaCLUE"

    prompt: Literal["ask", "caption", "choose", "classify", "draw", "locate", "state"]
    convention: Literal["thousand", "unit", "pixel", "pixel28", "thousand_yx", "loc1024"] | None = None

    @classmethod
    def of_task(cls, kwargs: Kwargs, task: str) -> Options:
        """Read the options, and check that they are of that task, one of ``rows.TASKS``.

        Raises:
            ValueError: as :meth:`of`.
        """
        found = cls.of(kwargs)
        prompts = next(names for start, names in PROMPTS.items() if task.startswith(start))
        if found.prompt not in prompts:
            raise ValueError(f"MetaCLUE task option prompt={found.prompt!r} of {task}; valid: {', '.join(prompts)}")
        if found.convention is not None and task not in rows.LOCALIZE:
            raise ValueError(f"unknown MetaCLUE task option(s) convention of {task}; valid: prompt")
        return found


def preflight(config: Mapping[str, Any], asked: Asked) -> None:
    """Check the options, the programs of the metrics and the model's convention of boxes; see `Benchmark.preflight`."""
    kwargs, task = config.get("lmms_eval_specific_kwargs") or {}, asked["task"]
    if task not in rows.TASKS:
        return  # loading has reported it
    for each in by_model(config):
        Options.of_task(each, task)
    if task.startswith(("caption", "vqa")) and status.in_first_process():
        captions.available()  # report now, not after hours, that METEOR or SPICE will be missing
    convention = Options.of_task(kwargs.get(str(config.get("model"))) or kwargs.get("default"), task).convention
    if convention not in (None, rows.LOCALIZE.get(task)):
        right = next(name for name, other in rows.LOCALIZE.items() if other == convention)
        raise ValueError(
            f"this model gives boxes in the convention {convention}, but metaclue_{task} reads {rows.LOCALIZE[task]}: "
            "run a task file of your own with `include: metaclue_localize.yaml` and "
            f"`dataset_name: MetaCLUE,task={right}` (docs/cards/metaclue.md)"
        )


def task_of(doc: Document) -> str:
    """The task of a document, one of ``rows.TASKS``."""
    return DataId.parse(doc["data"]).part


def no_chance(doc: Document) -> tuple[dict[str, str], str]:
    """One empty answer for baselines, where there is no chance level: so they can run a group with such a task."""
    return {"": ""}, ""


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """Return the prompt as one text."""
    return render(f"metaclue/{Options.of_task(lmms_eval_specific_kwargs, task_of(doc)).prompt}.jinja", doc=doc)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """Return the picture, RGB, upright; none for text-to-image."""
    if task_of(doc) == "generate":
        return []
    return [images.decode({"path": doc["image"]}, f"{doc['dataset']} {doc['id']}", doc["dataset"])]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """Return the prompt as one user turn, the picture before the text."""
    kwargs = lmms_eval_specific_kwargs
    return [user_turn(doc_to_visual(doc, kwargs), doc_to_text(doc, kwargs))]
