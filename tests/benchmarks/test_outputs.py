"""What the parsers of benchmarks read in outputs: if this fails, one reads an output in another way
than its table says. The corpora of readers are in ``tests/answers``.

``NAME/outputs.yaml`` has a list of tables: ``parser`` (a function of the benchmark's package),
``with`` (its other arguments) and ``cases``, each ``[output, value, status, rule]``; the last two
may be left out, or be null. A value that is a mapping is of fields of the value that was read; of
two readings it is a list of two pairs, value and status.
"""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from figlang_tasks.answers.verdict import Read
from figlang_tasks.scoring.explained import Explained


def tables_with_names() -> list[tuple[str, dict[str, Any]]]:
    """The tables of all benchmarks, each with the name of its benchmark."""
    tables: list[tuple[str, dict[str, Any]]] = []
    for path in sorted(Path(__file__).parent.glob("*/outputs.yaml")):
        for table in yaml.safe_load(path.read_text(encoding="utf-8")):
            tables.append((path.parent.name, table))
    return tables


TABLES = tables_with_names()


@pytest.mark.parametrize(
    ("name", "table"), TABLES, ids=[f"{name}-{table['parser']}" for name, table in TABLES]
)
def test_an_output_is_read_as_its_table_says(name: str, table: dict[str, Any]) -> None:
    module, function = table["parser"].split(".")
    parser = getattr(import_module(f"figlang_tasks.benchmarks.{name}.{module}"), function)
    wrong_readings: dict[str | None, tuple[list[Any], list[Any]]] = {}
    for output, *expected in table["cases"]:
        reading = as_case(parser(output, **table.get("with", {})))
        if not is_expected(reading, expected):
            wrong_readings[output] = (reading, expected)
    assert not wrong_readings


def as_case(reading: Any) -> list[Any]:
    """What a parser returned, as a case has it: value, status and rule.

    Of an explained label the value is label and explanation; of several readings it is a list of
    their values and statuses, and stands alone. What is no reading stands alone too.
    """
    if isinstance(reading, Explained):
        value = {"label": reading.value, "explanation": reading.explanation}
        return [value, reading.status, reading.rule]
    if isinstance(reading, Read):
        return [as_yaml(reading.value), reading.status, reading.rule]
    if isinstance(reading, tuple):
        values_and_statuses = [[as_yaml(part.value), part.status] for part in reading]
        return [values_and_statuses]
    return [reading]


def is_expected(reading: list[Any], expected: list[Any]) -> bool:
    """Whether a reading has the value of a case, and its status and rule where the case has any."""
    value = reading[0]
    expected_value = expected[0]
    if isinstance(expected_value, dict) and value is not None:
        value = {field: value[field] for field in expected_value}
    if value != expected_value:
        return False
    for part, expected_part in zip(reading[1:], expected[1:], strict=False):
        if expected_part not in (None, part):
            return False
    return True


def as_yaml(value: Any) -> Any:
    """A value as YAML can have it: fields as a mapping, lists, and numbers with six decimals."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_yaml(content) for name, content in asdict(value).items()}
    if isinstance(value, tuple | list):
        return [as_yaml(part) for part in value]
    if isinstance(value, float):
        return round(value, 6)
    return value
