"""The parser of a benchmark reads an output in another way if this fails; corpora of readers:
``tests/answers``.

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

TABLES = [
    (path.parent.name, table)
    for path in sorted(Path(__file__).parent.glob("*/outputs.yaml"))
    for table in yaml.safe_load(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(
    ("name", "table"), TABLES, ids=[f"{name}-{table['parser']}" for name, table in TABLES]
)
def test_an_output_is_read(name: str, table: dict[str, Any]) -> None:
    module, function = table["parser"].split(".")
    parser = getattr(import_module(f"figlang_tasks.benchmarks.{name}.{module}"), function)
    wrong = {}
    for output, *expected in table["cases"]:
        found = told(parser(output, **table.get("with", {})))
        if isinstance(expected[0], dict) and found[0] is not None:
            found[0] = {field: found[0][field] for field in expected[0]}
        if any(
            want not in (None, got) for want, got in zip(expected[1:], found[1:], strict=False)
        ) or (found[0] != expected[0]):
            wrong[output] = found, expected
    assert not wrong


def told(found: Any) -> list[Any]:
    """Value, status and rule; of an explained label the value is both."""
    if isinstance(found, Explained):
        return [{"label": found.value, "explanation": found.explanation}, found.status, found.rule]
    if isinstance(found, Read):
        return [plain(found.value), found.status, found.rule]
    return [
        [[plain(each.value), each.status] for each in found] if isinstance(found, tuple) else found
    ]


def plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(each) for name, each in asdict(value).items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return round(value, 6) if isinstance(value, float) else value
