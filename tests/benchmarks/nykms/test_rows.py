"""A valid row of NYK-MS is lost or changed on import, or its digest is another, if this fails."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.benchmarks.nykms.counts import part
from figlang_tasks.core import hub

MINI = mini.NYKMS_DIR


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FIGLANG_DATA_DIR/NYK-MS with the files of the shipped benchmark, which are in the same
    format.
    """
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    return Path(shutil.copytree(MINI, tmp_path / "NYK-MS"))


def records(folder: Path, name: str = "nyk_m") -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def write(folder: Path, found: list[dict[str, Any]], name: str = "nyk_m") -> None:
    text = "".join(json.dumps(record) + "\n" for record in found)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    hub.clear_caches()


def test_the_digest_tells_data_apart_and_knows_no_place(folder: Path) -> None:
    def digest(name: str, question: str = "metaphor", modality: str = "image") -> str:
        dataset, _, found = rows.load(name, question, modality)[0]["data"].partition(":")
        assert dataset == f"{name}/{part(question)}"
        assert re.fullmatch(r"[0-9a-f]{12}", found)
        return found

    assert digest("NYK-MS") == digest("figlang_mini_nykms") == digest("NYK-MS", "mw")
    assert (
        digest("NYK-MS", modality="text")
        == digest("figlang_mini_nykms", modality="text")
        != digest("NYK-MS")
    )
    before, before_text = digest("NYK-MS"), digest("NYK-MS", modality="text")
    found = records(folder)
    found[0]["description"] += " And a cat."  # not shown with the picture
    write(folder, found)
    assert digest("NYK-MS") == before
    assert digest("NYK-MS", modality="text") != before_text
    found[0]["caption"] += "!"
    write(folder, found)
    assert digest("NYK-MS") != before


def test_blank_lines_line_separators_and_a_byte_order_mark_are_read(folder: Path) -> None:
    found = records(folder)
    found[0]["caption"] = "One\u2028two\x85three"
    lines = [json.dumps(record, ensure_ascii=False) for record in found]
    (folder / "nyk_m.jsonl").write_text(
        "\ufeff" + "\r\n\n".join(lines), encoding="utf-8", newline=""
    )
    documents = rows.load("NYK-MS", "mc", "image")
    assert len(documents) == 12 and documents[0]["caption"] == "One\u2028two\x85three"


def test_negatives_may_leave_their_answers_out_and_ids_tell_the_contest(folder: Path) -> None:
    found = records(folder)
    for record in found:
        if not record["MC"]:
            record["MW"] = None
            del record["ME"]
    write(folder, found)
    checked, faults = rows.read(folder / "nyk_m.jsonl")
    assert not faults
    assert [row.contest for row in checked] == [int(row.id.split("_")[1]) for row in checked]
    assert checked[-1].answers == {"MW": "", "ME": ""}


def test_a_cartoon_has_one_split_and_a_row_may_name_another(folder: Path) -> None:
    wide = [records(folder)[-1] | {"id": f"NYK_{n // 3}_{n % 3}"} for n in range(2000, 5000)]
    write(folder, wide)
    parts = {split: rows.load("NYK-MS", "mc", "image", split=split) for split in rows.SPLITS}
    shares = [len(part) / 3000 for part in parts.values()]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02) and sum(shares) == 1
    cartoons = [set(part["cartoon"]) for part in parts.values()]
    assert sum(map(len, cartoons)) == len(set.union(*cartoons)), "no cartoon is in two splits"

    write(
        folder,
        [record | {"split": "test" if record["id"] == "NYK_666_2" else "train"} for record in wide],
    )
    assert rows.load("NYK-MS", "mc", "image", split="test")["id"] == ["NYK_666_2"]
