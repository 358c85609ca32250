"""Reads predictions from logs of inspect_ai, ``.eval`` and ``.json`` (version 2 of its form).

Logs of other versions are read by inspect_ai itself, where it is installed.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.results.predictions import packed_members
from figlang_tasks.results.predictions.json_fields import (
    field_at,
    optional_text,
    parse_json,
    required_list,
)
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile

_VERSION = 2
_HEADER = "header.json"
_JOURNAL = "_journal/"
_SAMPLES = "samples/"
_DAMAGES = (zipfile.BadZipFile, zlib.error, NotImplementedError, ValueError, EOFError, KeyError)
"""What Python raises for damaged zips."""
_ATTACHMENT = "attachment://"
"""How a text begins that stands elsewhere in the sample, under the rest of this text."""


def is_log(content: object) -> bool:
    """Whether the content of a JSON file is a log of inspect_ai."""
    return isinstance(content, Mapping) and {"eval", "plan", "status"} <= set(content)


def is_packed_log(path: Path) -> bool:
    """Whether a file is a zip with a log of inspect_ai; False if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return False
    return _HEADER in names or _has_journal(names)


def _has_journal(names: Iterable[str]) -> bool:
    """Whether a zip with these files is a log; it has a journal from the start."""
    return any(name.startswith(_JOURNAL) for name in names)


def read_packed_log(path: Path) -> PredictionFile:
    """Read the answers in a ``.eval`` log.

    Raises:
        OSError: the file cannot be read.
        RunError: it is damaged, unpacks to too much, or needs a package that is not installed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            reader = packed_members.MemberReader(archive)
            names = archive.namelist()
            if _HEADER not in names and not _has_journal(names):
                raise RunError(f"{path} is no log of inspect_ai: it has no {_HEADER}")
            if _HEADER not in names:
                raise RunError(
                    f"{path} has no {_HEADER}: the evaluation was interrupted; finish it with"
                    " `inspect eval-retry`"
                )
            header = _read_member(path, reader, _HEADER)
            if field_at(header, "version") != _VERSION:
                return _read_by_inspect(path, header)
            # Each sample is read when it is needed: with its events it may be large.
            return _prediction_file(path, header, _packed_samples(path, reader, names))
    except packed_members.MissingZstandardError as error:
        raise RunError(
            f"{path} is packed with Zstandard: pip install 'figlang-tasks[inspect]', or write it as"
            " JSON with `inspect log convert --to json`"
        ) from error
    except _DAMAGES as error:
        raise RunError(
            f"{path} is no log of inspect_ai that can be read: {error}; or write it as JSON with"
            " `inspect log convert --to json`"
        ) from error


def read_log(path: Path, content: object) -> PredictionFile:
    """Read the answers in a ``.json`` log.

    Args:
        path: of the file.
        content: of the file, the log.

    Raises:
        RunError: it has another form, or no samples.
    """
    if field_at(content, "version") != _VERSION:
        return _read_by_inspect(path, content)
    return _prediction_file(path, content, _located_samples(path, content))


def _read_member(path: Path, reader: packed_members.MemberReader, name: str) -> object:
    """What a JSON file in a log holds."""
    return parse_json(reader.read(name), f"{path}, {name}")


def _packed_samples(
    path: Path, reader: packed_members.MemberReader, names: Iterable[str]
) -> Iterator[tuple[str, object]]:
    """The samples of a ``.eval`` log as JSON, each with its location."""
    for name in names:
        if name.startswith(_SAMPLES) and name.endswith(".json"):
            yield f"{path}, {name}", _read_member(path, reader, name)


def _located_samples(path: Path, log: object) -> Iterator[tuple[str, object]]:
    """The samples of a log as JSON, each with its location; none if the log has none."""
    if field_at(log, "samples"):
        for number, sample in enumerate(required_list(log, "samples", str(path))):
            yield f"{path}, samples[{number}]", sample


def _read_by_inspect(path: Path, header: object) -> PredictionFile:
    """Have inspect_ai read a log of another version, which it brings to its present one.

    Raises:
        RunError: inspect_ai is not installed, or refuses the log.
    """
    version = brief(field_at(header, "version"))
    if find_spec("inspect_ai") is None:
        raise RunError(
            f"{path} has version {version} of the form of logs, and version {_VERSION} is read:"
            " pip install inspect_ai, which reads others"
        )
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path), resolve_attachments=True)
        content = json.loads(log.model_dump_json())
    except Exception as error:  # of whatever class; its readers raise many
        raise RunError(f"{path} cannot be read by inspect_ai ({error})") from error
    return _prediction_file(path, content, _located_samples(path, content))


def _prediction_file(
    path: Path, header: object, samples: Iterable[tuple[str, object]]
) -> PredictionFile:
    """The answers in the samples of a log, by epoch.

    Args:
        path: of the file.
        header: the log; its own samples are not read.
        samples: the location of each sample, and the sample.

    Raises:
        RunError: there is no sample, or one has another form.
    """
    predictions_by_epoch: dict[int, list[Prediction]] = {}
    for location, sample in samples:
        prediction = _prediction(location, sample)
        predictions_by_epoch.setdefault(_epoch(location, sample), []).append(prediction)
    predictions: list[Prediction] = []
    for epoch in sorted(predictions_by_epoch):
        predictions += predictions_by_epoch[epoch]
    if not predictions:
        raise RunError(f"{path} has no samples: evaluate with --log-samples")
    columns = {"id": "id", "output": "output.completion"}
    if all(str(prediction.id).isdecimal() for prediction in predictions):
        first_number = _first_row_number(header, predictions)
        predictions = [_numbered(prediction, first_number) for prediction in predictions]
        columns["row number"] = "id - 1" if first_number else "id"
    return PredictionFile(
        path=path,
        form="inspect_ai",
        content="words",
        predictions=predictions,
        columns=columns,
        model=optional_text(header, "eval.model", str(path)),
        task=optional_text(header, "eval.task", str(path)),
        settings=_settings(header),
    )


def _first_row_number(header: object, predictions: Sequence[Prediction]) -> int:
    """The id of the first row, where ids are numbers: 0 or 1.

    inspect_ai counts the samples of a dataset without ids from 1.
    """
    ids: list[object] = [prediction.id for prediction in predictions]
    ids_of_dataset = field_at(header, "eval.dataset.sample_ids")
    if isinstance(ids_of_dataset, list):
        ids += ids_of_dataset
    return 0 if any(str(sample_id) == "0" for sample_id in ids) else 1


def _numbered(prediction: Prediction, first_number: int) -> Prediction:
    """A prediction with the number of its row, from 0."""
    return replace(prediction, row_number=int(str(prediction.id)) - first_number)


def _epoch(location: str, sample: object) -> int:
    """The epoch of a sample, from 1."""
    epoch = field_at(sample, "epoch")
    if not isinstance(epoch, int):
        raise RunError(f"{location}: epoch is {brief(epoch)}, must be a number")
    return epoch


def _prediction(location: str, sample: object) -> Prediction:
    """The answer in a sample."""
    sample_id = field_at(sample, "id")
    if not isinstance(sample_id, int | str):
        raise RunError(f"{location}: id is {brief(sample_id)}, must be a text or a number")
    return Prediction(
        location=location,
        id=str(sample_id),
        output=_output(location, sample),
        prompt=_prompt(sample),
    )


def _output(location: str, sample: object) -> str | None:
    """What the model said; None if it did not answer."""
    completion = optional_text(sample, "output.completion", location)
    if completion is None:  # an older log has the message alone
        completion = _text_of(field_at(sample, "output.choices.0.message.content"))
    if completion is None:
        return None
    has_failed = bool(field_at(sample, "error")) and not completion
    return None if has_failed else _resolved(completion, sample)


def _resolved(text: str, sample: object) -> str:
    """A text of a sample, or the attachment that it names."""
    if not text.startswith(_ATTACHMENT):
        return text
    attachments = field_at(sample, "attachments")
    if isinstance(attachments, Mapping):
        attachment = attachments.get(text.removeprefix(_ATTACHMENT))
        if isinstance(attachment, str):
            return attachment
    return text


def _text_of(content: object) -> str | None:
    """The text of a message, which may have several parts; None if it has none."""
    if isinstance(content, list):
        texts = [field_at(part, "text") for part in content]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else None


def _prompt(sample: object) -> str | None:
    """The input of a sample as one text; None if it has no text."""
    sample_input = field_at(sample, "input")
    if isinstance(sample_input, list):
        texts = [_text_of(field_at(message, "content")) for message in sample_input]
        sample_input = "\n".join(text for text in texts if text)
    if not isinstance(sample_input, str) or not sample_input:
        return None
    return _resolved(sample_input, sample)


def _settings(header: object) -> dict[str, object]:
    """The settings of generation that a log names, without those that are not set."""
    settings: dict[str, object] = {}
    for path in ("eval.model_generate_config", "plan.config"):
        config = field_at(header, path)
        if isinstance(config, Mapping):
            for name, setting in config.items():
                if setting is not None:
                    settings[name] = setting
    return settings
