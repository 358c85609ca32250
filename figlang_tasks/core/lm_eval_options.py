"""The documents of a task in lm-eval, and the options of that task.

lm-eval 0.4.13 passes everything to ``custom_dataset`` in one bag: ``dataset_kwargs`` of the task
file, its metadata, the arguments of the model (any names), what ``--metadata`` says, and the task
file's path (``config_source``). So an unknown name may be a model's argument or a misspelt option.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from figlang_tasks.core.benchmark import Benchmark, of_dataset
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

# A similarity of names (`difflib`), 0 to 1. "promt" and "scorrer" are at least as similar to an
# option; "path", "prompt_template" and the names in our metadata are less so.
_MISSPELT = 0.8


class LmEvalError(SystemExit, DataError):
    """Options or data of a task in lm-eval are wrong.

    lm-eval has no hook for its command. It shows the message alone of a SystemExit, and a traceback
    of any other error.
    """


def documents(**settings: Any) -> dict[str, datasets.Dataset]:
    """The documents of a task as the split `test`, without pictures, because lm-eval shows none.

    Args:
        settings: what lm-eval passes. ``dataset`` and the parameters of the request come from the
            ``dataset_kwargs`` of the task file, ``num_fewshot`` from its metadata.

    Raises:
        LmEvalError: an option is missing or wrong, or the data is.
    """
    try:
        return {"test": _documents(settings)}
    except (DataError, ValueError) as error:
        raise LmEvalError(f"figlang_tasks: {error}") from error


def _documents(settings: Mapping[str, Any]) -> datasets.Dataset:
    """The checked documents of a task, without pictures.

    If the task shows exemplars, the column ``num_shots`` says how many. This is our name for what
    lm-eval calls ``num_fewshot``.

    Raises:
        DataError, ValueError: an option is missing or wrong, or the data is.
    """
    benchmark = of_dataset(str(settings.get("dataset")))
    options = _options(settings, benchmark)
    num_shots = options.pop("num_fewshot", 0)
    request = request_of(options)
    docs = benchmark.documents(request)
    if "image" in docs.column_names:
        # Tasks with a description of the picture can do without it.
        if "description" not in docs.column_names:
            raise ValueError(f"{request}: its tasks show pictures, and lm-eval shows none")
        docs = docs.remove_columns("image")
    task = benchmark.task_for(request)
    if task.preflight is not None:
        task_options = {"num_shots": num_shots} if num_shots else {}
        # `needs_scorer` makes the missing weights of a scorer an error: lm-eval would leave
        # metrics out, and end with status 0.
        task.preflight({"lmms_eval_specific_kwargs": task_options, "needs_scorer": True}, request)
    if num_shots:
        docs = docs.add_column("num_shots", [num_shots] * len(docs))
    return docs


def request_of(dataset_kwargs: Mapping[str, object]) -> Request:
    """The request in the ``dataset_kwargs`` of a task file: a dataset and its parameters."""
    parameters: dict[str, str] = {}
    for key, value in dataset_kwargs.items():
        # YAML reads a bare off as False.
        parameters[key] = "off" if value is False else str(value)
    return Request.of(parameters.pop("dataset"), **parameters)


def _options(settings: Mapping[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """The options of a task among all that lm-eval passes; other names are left out.

    Raises:
        ValueError: a required option is missing, or a name looks like a misspelt option.
    """
    required = ("dataset", *benchmark.keys)
    options = (*required, *benchmark.optional_keys, "num_fewshot")
    valid = ", ".join(options)
    misspelt: list[str] = []
    for name in sorted(set(settings) - set(options)):
        if difflib.get_close_matches(name, options, n=1, cutoff=_MISSPELT):
            misspelt.append(name)
    if misspelt:
        raise ValueError(
            f"unknown key(s) {', '.join(misspelt)} of a task in lm-eval; valid: {valid}"
        )
    missing = [name for name in required if name not in settings]
    if missing:
        raise ValueError(
            f"a task in lm-eval lacks {', '.join(missing)} in its dataset_kwargs; valid: {valid}"
        )
    return {name: settings[name] for name in options if name in settings}


def no_exemplars(doc: Row) -> NoReturn:
    """End with an error: lm-eval asks for the prompt of an exemplar only with ``--num_fewshot``."""
    raise LmEvalError(
        "figlang_tasks: --num_fewshot is no option of our tasks: their prompts are the papers'."
        " Leave it out. Tasks of FLUTE and of the New Yorker contest take examples by num_fewshot"
        " in metadata of the task file: flute_4shot has four, nycc_match_description_5shot five"
    )
