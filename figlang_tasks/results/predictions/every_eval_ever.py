"""Reads predictions from instance-level files of Every Eval Ever (schema 0.2 and 0.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.samples_files import saved_lines
from figlang_tasks.core.text import listing
from figlang_tasks.results.predictions.json_fields import (
    JsonObject,
    field_at,
    optional_text,
    required_list,
)
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile

_SCHEMAS = ("0.2.", "0.3.")


def is_instance(line: Mapping[str, object]) -> bool:
    """Whether an object of a JSON Lines file is an instance of Every Eval Ever."""
    return all(key in line for key in ("schema_version", "sample_id", "evaluation_name"))


def is_aggregate(content: object) -> bool:
    """Whether the content of a JSON file is an evaluation of Every Eval Ever, without samples."""
    return isinstance(content, Mapping) and {"schema_version", "evaluation_results"} <= set(content)


def read_instances(path: Path, task: str) -> PredictionFile:
    """Read the answers in a file of instances.

    A file may have an answer once for each metric; then it counts once.

    Args:
        path: of the file.
        task: the name of the task. If the file has instances of several evaluations, those of this
            name are read.

    Raises:
        RunError: the file is damaged, of another schema, or has several evaluations of other names.
    """
    located_instances = _instances_of_task(path, task)
    models = list(
        dict.fromkeys(
            optional_text(instance, "model_id", location)
            for location, instance in located_instances
        )
    )
    if len(models) > 1:
        raise RunError(f"{path} has answers of several models, {listing(models)}: leave one")

    predictions: list[Prediction] = []
    first_result_ids: dict[object, object] = {}
    outputs_by_sample: dict[object, list[str | None]] = {}
    for location, instance in located_instances:
        sample_id = optional_text(instance, "sample_id", location)
        outputs = _outputs(instance, location)
        result_id = instance.get("evaluation_result_id")
        is_of_first_metric = first_result_ids.setdefault(sample_id, result_id) == result_id
        known_outputs = outputs_by_sample.setdefault(sample_id, [])
        if not is_of_first_metric:
            _check_known(location, outputs, known_outputs)
            continue
        known_outputs += outputs
        for output in outputs:
            predictions.append(
                Prediction(
                    location=location,
                    id=sample_id,
                    output=output,
                    prompt=optional_text(instance, "input.raw", location) or None,
                )
            )
    return PredictionFile(
        path=path,
        form="Every Eval Ever",
        content="words",
        predictions=predictions,
        columns={"id": "sample_id", "output": "output.raw"},
        model=models[0],
        task=str(located_instances[0][1]["evaluation_name"]),
    )


def _instances_of_task(path: Path, task: str) -> list[tuple[str, JsonObject]]:
    """The instances of one evaluation, each with its location.

    Raises:
        RunError: see `read_instances`.
    """
    instances_by_name: dict[str, list[tuple[str, JsonObject]]] = {}
    for location, instance in saved_lines(path):
        # Files of 0.2 may write ``instance_level_eval_0.2.1``.
        version = str(instance.get("schema_version")).removeprefix("instance_level_eval_")
        if not version.startswith(_SCHEMAS):
            raise RunError(
                f"{location}: schema_version is {brief(version)}; 0.2 and 0.3 of Every Eval Ever"
                " are read: convert the file, or save the answers as CSV with id and output"
            )
        name = str(instance.get("evaluation_name"))
        instances_by_name.setdefault(name, []).append((location, instance))
    if task in instances_by_name:
        return instances_by_name[task]
    if len(instances_by_name) > 1:
        raise RunError(
            f"{path} has answers of several evaluations, {listing(list(instances_by_name))}, and"
            f" none is called {task}: leave the lines of one"
        )
    (instances,) = instances_by_name.values()  # a file without lines was refused
    return instances


def _outputs(instance: JsonObject, location: str) -> Sequence[str | None]:
    """The answers of an instance, usually one; None in place of an answer where there is an error.

    Raises:
        RunError: it has neither an output nor a message of the assistant.
    """
    if isinstance(field_at(instance, "output"), Mapping):
        outputs = required_list(instance, "output.raw", location)
        for output in outputs:
            if not isinstance(output, str):
                raise RunError(f"{location}: output.raw has {brief(output)}, must have texts")
        has_failed = bool(instance.get("error")) and not any(outputs)
        return [None] * len(outputs) if has_failed else outputs
    # Of a conversation, the last message is the answer.
    messages = required_list(instance, "messages", location)
    for message in reversed(messages):
        if field_at(message, "role") == "assistant":
            return [optional_text(message, "content", location)]
    raise RunError(f"{location} has no output, and no message of the assistant")


def _check_known(
    location: str, outputs: Sequence[str | None], known_outputs: Sequence[str | None]
) -> None:
    """Raise a `RunError` if the line of another metric has another answer.

    Converters may save what a scorer read in place of the output.
    """
    for output in outputs:
        if output not in known_outputs:
            raise RunError(
                f"{location} has the output {brief(output)}, and a line of another metric has"
                f" {brief(known_outputs[0])} for the same sample: leave the lines of one metric"
                " (evaluation_result_id), whose output is what the model said"
            )
