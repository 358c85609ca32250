"""``--use_cache`` gives an answer again only where the model would see the same once more."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from demo_runs import mini_tasks
from faulty_runs import Runs
from jinja2 import Template
from PIL import Image

from figlang_tasks import mini
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import sources

pytestmark = pytest.mark.slow  # whole runs

LIMIT = 5


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of figlang_mini that is read instead of it."""
    folder = tmp_path / "data" / "figlang_mini"
    shutil.copytree(mini.DATA_DIR, folder)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(folder.parent))
    return folder


def asked_counts(runs: Runs) -> list[int]:
    """How many requests the model got in each run."""
    return [len(requests) for requests in runs.asked]


def change(folder: Path, split: str, number: int, column: str, new: Callable[[Any], Any]) -> None:
    """Change a cell of a parquet file.

    Args:
        folder: of the data.
        split: whose file is changed.
        number: of the row.
        column: of the cell.
        new: makes the new content from the old.
    """
    (path,) = folder.glob(f"**/{split}-*.parquet")
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[number][column] = new(rows[number][column])
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def one_pixel(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The cell of a picture with one pixel changed a little."""
    image = Image.open(io.BytesIO(cell["bytes"])).convert("RGB")
    red, green, blue = image.getpixel((3, 3))  # type: ignore[misc]
    image.putpixel((3, 3), (red ^ 1, green, blue))
    file = io.BytesIO()
    image.save(file, "PNG")
    return {**cell, "bytes": file.getvalue()}


def saved_again(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Another file with the same pixels."""
    file = io.BytesIO()
    Image.open(io.BytesIO(cell["bytes"])).convert("RGB").save(file, "PNG", compress_level=0)
    return {**cell, "bytes": file.getvalue()}


@pytest.mark.parametrize("force_simple", [False, True], ids=["chat", "simple"])
def test_a_picture_changes_by_one_pixel(force_simple: bool, runs: Runs, data: Path) -> None:
    """Another file with the same pixels is asked again too: keys are made of files."""
    options: dict[str, Any] = {"limit": LIMIT, "force_simple": force_simple}
    runs.here(**options)
    change(data, "test", 2, "image", saved_again)
    runs.here(**options)
    change(data, "test", 3, "image", one_pixel)
    runs.here(**options)
    assert runs.asked == [
        [f"figlang_mini {number}" for number in range(LIMIT)],
        ["figlang_mini 2"],
        ["figlang_mini 3"],
    ]


def test_a_text_changes(runs: Runs, data: Path) -> None:
    """The digest of the data is another: nothing tells which rows differ, so all are asked."""
    runs.here(limit=LIMIT)
    change(data, "test", 70, "claim", lambda claim: f"{claim}!")
    runs.here(limit=LIMIT)
    assert len(runs.asked[1]) == LIMIT


@pytest.mark.parametrize(
    ("column", "force_simple"), [("image", False), ("explanation", True)], ids=["chat", "simple"]
)
def test_an_exemplar_changes(column: str, force_simple: bool, runs: Runs, data: Path) -> None:
    """Exemplars are rows of the train split, which the digest of the test split says nothing of."""
    options: dict[str, Any] = {
        "limit": LIMIT,
        "include_path": mini_tasks(),
        "force_simple": force_simple,
    }
    runs.here("mini_2shot", **options)
    runs.here("mini_2shot", **options)

    def longer(text: str) -> str:
        return f"{text} Indeed."

    new = one_pixel if column == "image" else longer
    for number in range(sources()["figlang_mini"].splits["train"]):
        change(data, "train", number, column, new)
    runs.here("mini_2shot", **options)
    assert asked_counts(runs) == [LIMIT, 0, LIMIT]


def test_a_model_is_trained_anew_in_its_folder(runs: Runs, tmp_path: Path) -> None:
    weights = tmp_path / "my_model" / "adapter_model.safetensors"
    weights.parent.mkdir()
    options: dict[str, Any] = {"limit": LIMIT, "model_args": f"weights={weights.parent}"}
    weights.write_bytes(b"old")
    runs.here(**options)
    runs.here(**options)
    weights.write_bytes(b"new")
    runs.here(**options)
    assert asked_counts(runs) == [LIMIT, 0, LIMIT]


def test_chat_answers_are_not_given_to_the_simple_path(runs: Runs) -> None:
    runs.here(limit=LIMIT)
    runs.here(limit=LIMIT, force_simple=True)
    assert asked_counts(runs) == [LIMIT, LIMIT]


def test_both_rounds_of_an_agentic_task(runs: Runs, data: Path) -> None:
    options: dict[str, Any] = {"limit": LIMIT, "include_path": mini_tasks()}
    runs.here("mini_sg", **options)
    runs.here("mini_sg", **options)
    change(data, "test", 1, "image", one_pixel)
    runs.here("mini_sg", **options)
    assert asked_counts(runs)[:2] == [2 * LIMIT, 0]
    assert set(runs.asked[2]) == {"mini_sg 1"}


def test_the_wording_of_a_prompt_changes(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an upgrade of this package would change it."""
    runs.here(limit=LIMIT)
    render = Template.render

    def render_politely(template: Template, *values: Any, **variables: Any) -> str:
        return render(template, *values, **variables) + " Please."

    monkeypatch.setattr(Template, "render", render_politely)
    runs.here(limit=LIMIT)
    assert asked_counts(runs) == [LIMIT, LIMIT]
