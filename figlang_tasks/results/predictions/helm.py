"""Reads predictions from ``scenario_state.json``, which HELM writes into the folder of a run.

The form is that of the dataclasses ``ScenarioState``, ``RequestState``, ``Request`` and
``RequestResult`` of crfm-helm 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.results.predictions.json_fields import (
    JsonObject,
    field_at,
    optional_text,
    required_list,
)
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile

FILE_NAME = "scenario_state.json"

_NUMBERED_ID = re.compile(r"id(\d{1,9})")
"""The id that HELM gives an instance: ``id7`` is the eighth of its scenario."""

_SETTINGS = ("temperature", "max_tokens", "stop_sequences", "max_train_instances")


def is_scenario_state(content: object) -> bool:
    """Whether the content of a JSON file is a scenario's state."""
    return isinstance(content, Mapping) and "request_states" in content


def read_scenario_state(path: Path, content: object) -> PredictionFile:
    """Read the answers in the state of a scenario; those to perturbed instances are left out.

    Instances that were asked in several trials have several answers.

    Args:
        path: of the file.
        content: of the file, an object with ``request_states``.

    Raises:
        RunError: it has another form, or its scenario compares the likelihoods of texts.
    """
    states = required_list(content, "request_states", str(path))
    predictions: list[Prediction] = []
    for number, state in enumerate(states):
        location = f"{path}, request_states[{number}]"
        # HELM asks a changed instance, with a typing error say, under the id of the original.
        if field_at(state, "instance.perturbation") is None:
            predictions.append(_prediction(state, location))
    if not predictions:
        raise RunError(f"{path} has answers to perturbed instances alone: give a run without them")
    return PredictionFile(
        path=path,
        form="HELM",
        content="words",
        predictions=predictions,
        columns={"id": "instance.id", "output": "result.completions[0].text"},
        model=optional_text(content, "adapter_spec.model", str(path)) or None,
        settings=_settings(content),
    )


def _prediction(state: JsonObject, location: str) -> Prediction:
    """The answer to one request."""
    instance_id = optional_text(state, "instance.id", location)
    if instance_id is None:
        raise RunError(f"{location} has no instance.id: is it a file of HELM, and whole?")
    is_part_of_comparison = field_at(state, "reference_index") is not None
    if is_part_of_comparison:
        raise RunError(
            f"{location} asks about one reference alone (reference_index): the scenario compares"
            " likelihoods, and has no outputs; run it with the method generation"
        )
    numbered_id = _NUMBERED_ID.fullmatch(instance_id)
    return Prediction(
        location=location,
        id=instance_id,
        row_number=int(numbered_id[1]) if numbered_id else None,
        output=_output(state, location),
        prompt=_prompt(state, location),
    )


def _output(state: JsonObject, location: str) -> str | None:
    """What the model said; None if the request failed.

    Of an option that HELM offered under a letter, it is the text of the option, as in HELM's own
    metrics.
    """
    if field_at(state, "result.success") is False:
        return None
    completions = field_at(state, "result.completions")
    if completions is None:
        return None
    if not isinstance(completions, Sequence) or isinstance(completions, str):
        raise RunError(f"{location}: result.completions is {brief(completions)}, must be a list")
    output = optional_text(state, "result.completions.0.text", location)
    options = field_at(state, "output_mapping")
    if output is not None and isinstance(options, Mapping):
        option = options.get(output.strip())
        return option if isinstance(option, str) else output
    return output


def _prompt(state: JsonObject, location: str) -> str | None:
    """The prompt that the model got, or else the input of the instance; None without a text."""
    prompt = optional_text(state, "request.prompt", location)
    return prompt or optional_text(state, "instance.input.text", location) or None


def _settings(content: object) -> dict[str, object]:
    """The settings of generation that the file names."""
    settings: dict[str, object] = {}
    for name in _SETTINGS:
        setting = field_at(content, f"adapter_spec.{name}")
        if setting is not None:
            settings[name] = setting
    return settings
