"""The documents of a task in lm-eval, and its options, separated from what else lm-eval passes to
``custom_dataset``.

lm-eval 0.4.13 passes in one bag ``dataset_kwargs`` of the task file, its metadata, the arguments of
the model (any names), what ``--metadata`` says, and the task file's path (``config_source``). So a
name that is not known may be a model's argument or a slip of the pen.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from figlang_tasks.core.benchmark import of_dataset
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

# "promt" and "scorrer" are like an option; "path", "prompt_template" and the names in our metadata
# are not
_LIKE = 0.8


class LmEvalError(SystemExit, DataError):
    """Options or data of a task are wrong, in lm-eval.

    lm-eval has no hook for its command. Of a SystemExit it shows the message alone, of other errors
    a traceback.
    """


def documents(**settings: Any) -> dict[str, datasets.Dataset]:
    """The documents of a task as the split `test`, without pictures, which lm-eval shows none of.

    Args:
        settings: what ``dataset_name`` says in lmms-eval (``dataset_kwargs`` of the task file),
            ``num_fewshot`` (its metadata), and what else lm-eval passes.

    Raises:
        LmEvalError: an option is missing or wrong, or the data is.
    """
    try:
        benchmark = of_dataset(str(settings.get("dataset")))
        keys = ("dataset", *benchmark.keys)
        found = _options(settings, (*keys, *benchmark.optional_keys, "num_fewshot"), required=keys)
        shots = found.pop("num_fewshot", 0)
        request = request_of(found)
        docs = benchmark.documents(request)
        if "image" in docs.column_names:
            if "description" not in docs.column_names:
                raise ValueError(f"{request}: its tasks show pictures, and lm-eval shows none")
            docs = docs.remove_columns("image")
        task = benchmark.task_for(request)
        if task.preflight is not None:
            options = {"num_shots": shots} if shots else {}
            task.preflight({"lmms_eval_specific_kwargs": options, "needs_scorer": True}, request)
        return {"test": docs.add_column("num_shots", [shots] * len(docs)) if shots else docs}
    except (DataError, ValueError) as error:
        raise LmEvalError(f"figlang_tasks: {error}") from error


def request_of(dataset_kwargs: Mapping[str, Any]) -> Request:
    """The request that a task file has under ``dataset_kwargs``: a dataset and parameters."""
    # YAML reads a bare off as False.
    texts = {key: "off" if value is False else str(value) for key, value in dataset_kwargs.items()}
    return Request.of(texts.pop("dataset"), **texts)


def _options(
    settings: Mapping[str, Any], options: Sequence[str], required: Sequence[str]
) -> dict[str, Any]:
    """The options of a task, from what ``custom_dataset`` was called with; a name like one of an
    option is refused.
    """
    others = set(settings) - set(options)
    unknown = {
        name for name in others if difflib.get_close_matches(name, options, n=1, cutoff=_LIKE)
    }
    valid = ", ".join(options)
    if unknown:
        raise ValueError(
            f"unknown key(s) {', '.join(sorted(unknown))} of a task in lm-eval; valid: {valid}"
        )
    if missing := [name for name in required if name not in settings]:
        raise ValueError(
            f"a task in lm-eval lacks {', '.join(missing)} in its dataset_kwargs; valid: {valid}"
        )
    return {name: settings[name] for name in options if name in settings}


def no_exemplars(doc: Mapping[str, Any]) -> NoReturn:
    """The prompt of an exemplar: lm-eval asks for one with ``--num_fewshot`` alone."""
    raise LmEvalError(
        "figlang_tasks: --num_fewshot is no option of our tasks: their prompts are the papers'."
        " Leave it out. Tasks of FLUTE and of the New Yorker contest take examples by num_fewshot"
        " in metadata of the task file: flute_4shot has four, nycc_match_description_5shot five"
    )
