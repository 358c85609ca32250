"""A valid row of NYK-MS is lost or changed on import, or its digest is another, if this fails."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import annotation_files, rows
from figlang_tasks.benchmarks.nykms.counts import file_stem
from figlang_tasks.core import hub

MINI = mini.NYKMS_DIR


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FIGLANG_DATA_DIR/NYK-MS with the files of the shipped benchmark, which have its form."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    return Path(shutil.copytree(MINI, tmp_path / "NYK-MS"))


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows about metaphor."""
    lines = (folder / "nyk_m.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write_rows(folder: Path, annotated_rows: list[dict[str, Any]]) -> None:
    """Write the rows about metaphor, and let them be read anew."""
    text = "".join(json.dumps(row) + "\n" for row in annotated_rows)
    (folder / "nyk_m.jsonl").write_text(text, encoding="utf-8")
    hub.clear_caches()


def digest(dataset: str, question: str = "metaphor", modality: str = "image") -> str:
    """The digest of the rows that a question is asked of."""
    name, _, digest = rows.load(dataset, question, modality)[0]["data"].partition(":")
    assert name == f"{dataset}/{file_stem(question)}"
    assert re.fullmatch(r"[0-9a-f]{12}", digest)
    return digest


def test_equal_rows_have_one_digest_wherever_they_lie(folder: Path) -> None:
    assert digest("NYK-MS") == digest("figlang_mini_nykms") == digest("NYK-MS", "mw")
    digest_with_descriptions = digest("NYK-MS", modality="text")
    assert digest_with_descriptions == digest("figlang_mini_nykms", modality="text")
    assert digest_with_descriptions != digest("NYK-MS")


def test_the_digest_changes_with_the_texts_that_are_shown(folder: Path) -> None:
    digest_before = digest("NYK-MS")
    digest_before_with_descriptions = digest("NYK-MS", modality="text")
    annotated_rows = read_rows(folder)
    annotated_rows[0]["description"] += " And a cat."  # not shown with the picture
    write_rows(folder, annotated_rows)
    assert digest("NYK-MS") == digest_before
    assert digest("NYK-MS", modality="text") != digest_before_with_descriptions
    annotated_rows[0]["caption"] += "!"
    write_rows(folder, annotated_rows)
    assert digest("NYK-MS") != digest_before


def test_blank_lines_line_separators_and_a_byte_order_mark_are_read(folder: Path) -> None:
    annotated_rows = read_rows(folder)
    annotated_rows[0]["caption"] = "One\u2028two\x85three"
    lines = [json.dumps(row, ensure_ascii=False) for row in annotated_rows]
    (folder / "nyk_m.jsonl").write_text(
        "\ufeff" + "\r\n\n".join(lines), encoding="utf-8", newline=""
    )
    documents = rows.load("NYK-MS", "mc", "image")
    assert len(documents) == 12
    assert documents[0]["caption"] == "One\u2028two\x85three"


def test_negatives_may_leave_their_answers_out_and_ids_name_the_contest(folder: Path) -> None:
    annotated_rows = read_rows(folder)
    for row in annotated_rows:
        if not row["MC"]:
            row["MW"] = None
            del row["ME"]
    write_rows(folder, annotated_rows)
    captions, faults = annotation_files.read(folder / "nyk_m.jsonl")
    assert not faults
    for caption in captions:
        assert caption.contest == int(caption.id.split("_")[1])
    assert captions[-1].answers == {"MW": "", "ME": ""}


def test_a_cartoon_has_one_split_and_a_row_may_name_another(folder: Path) -> None:
    last_row = read_rows(folder)[-1]
    annotated_rows: list[dict[str, Any]] = []
    for number in range(2000, 5000):  # three captions of each cartoon
        annotated_rows.append({**last_row, "id": f"NYK_{number // 3}_{number % 3}"})
    write_rows(folder, annotated_rows)

    shares: list[float] = []
    cartoons_of_splits: list[set[str]] = []
    for split in annotation_files.SPLITS:
        documents = rows.load("NYK-MS", "mc", "image", split=split)
        shares.append(len(documents) / 3000)
        cartoons_of_splits.append(set(documents["cartoon"]))
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02)
    assert sum(shares) == 1
    cartoon_count = sum(len(cartoons) for cartoons in cartoons_of_splits)
    assert cartoon_count == len(set.union(*cartoons_of_splits)), "no cartoon is in two splits"

    for row in annotated_rows:
        row["split"] = "test" if row["id"] == "NYK_666_2" else "train"
    write_rows(folder, annotated_rows)
    assert rows.load("NYK-MS", "mc", "image", split="test")["id"] == ["NYK_666_2"]
