"""Names in archives and answers lead to no file outside of their folder (in tables:
tests/benchmarks/*/faults.yaml).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from filled_sheets import save_sheet
from openai_server import JUDGE_MODEL, JudgeServer
from PIL import Image
from saved_runs import sample_lines, write_run

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.metaclue import generated as metaclue
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.images import below
from figlang_tasks.core.text import without_paths
from figlang_tasks.judge.llm import JudgedSheet
from figlang_tasks.judge.sheet import COLUMNS
from figlang_tasks.report import gallery
from figlang_tasks.results.runs import read
from figlang_tasks.scoring import process_results


def secret(folder: Path) -> Path:
    """A picture that nothing may open."""
    path = folder / "secret.png"
    Image.new("RGB", (4, 4)).save(path)
    return path


@pytest.mark.parametrize(
    "image",
    ["../secret.png", "images/../..", "/etc/secret.png", "linked.png", "linked/secret.png", "a\0b"],
)
def test_a_path_that_leaves_its_folder_is_refused(tmp_path: Path, image: str) -> None:
    (tmp_path / "data" / "images").mkdir(parents=True)
    (tmp_path / "data" / "linked.png").symlink_to(secret(tmp_path))
    (tmp_path / "data" / "linked").symlink_to(tmp_path)
    with pytest.raises(
        DataError, match=r"row 3: image .* points outside of .*data: write a path inside"
    ):
        below(tmp_path / "data", image, "row 3")
    (tmp_path / "data" / "inside.png").symlink_to(tmp_path / "data" / "images" / "1.png")
    for allowed in ("images/1.png", "inside.png", "none.png"):
        assert below(tmp_path / "data", allowed, "row 3") == tmp_path / "data" / allowed


def test_a_folder_is_where_its_link_leads_now(tmp_path: Path) -> None:
    link = tmp_path / "data"
    for release in ("first", "second"):
        (tmp_path / release / "images").mkdir(parents=True)
        link.unlink(missing_ok=True)
        link.symlink_to(release)
        assert below(link, "images/1.png", "row 3") == link / "images" / "1.png"
    with pytest.raises(DataError, match="points outside of"):
        below(link, "../first/images/1.png", "row 3")


# --- IRFL's zip ---


def test_a_table_named_by_saved_samples_is_one_of_the_release() -> None:
    with pytest.raises(DataError, match="figlang_mini_irfl has no table"):
        tables.read_detection_table("figlang_mini_irfl", "../../x-detection-task")


# --- what others have saved ---


def test_a_report_of_somebody_elses_run_shows_no_picture_of_this_machine(tmp_path: Path) -> None:
    image = str(secret(tmp_path))
    task = "figlang_mini_metaclue_caption"
    lines = sample_lines(task, 2)
    lines[1]["sample"]["id"] = image
    built = gallery.build([read(str(write_run(tmp_path / "run", {task: lines})))])
    assert [picture is None for picture in built.pictures] == [False, True]
    warnings = [warning for warning in built.warnings if f"{task} {image}: image" in warning]
    assert any("points outside of" in warning for warning in warnings)


def no_judgement(prompt: str, pictures: list[Image.Image]) -> str:
    """An answer without a judgement."""
    return "{}"


def test_a_sheet_sends_no_picture_of_this_machine_to_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret(tmp_path)
    (tmp_path / "got").mkdir()
    cells = {"item": "1", "letter": "A", "image": "../secret.png", "annotator": "a", "sheet": "s-1"}
    sheet = save_sheet(tmp_path / "got" / "sheet.csv", [dict.fromkeys(COLUMNS, "") | cells])
    with JudgeServer(no_judgement) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with pytest.raises(DataError, match=r"sheet.csv, item 1: image .* points outside of .*got"):
            JudgedSheet(sheet, tmp_path / "filled.csv", JUDGE_MODEL)
        assert server.prompts == []


# --- pictures that a generating model names ---


@pytest.mark.parametrize(
    "answer", ["/etc/passwd", "a\0b.png", "x" * 5_000 + ".png", '{"images": ["\\ud800.png"]}']
)
def test_words_are_no_picture(answer: str) -> None:
    assert metaclue.generated_picture(answer, 0) is None


def test_only_pictures_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_text("a key")
    doc = {
        "id": "0/a.png",
        "data": "MetaCLUE/generate@local:0123456789ab",
        "dataset": "MetaCLUE",
        "number": 0,
        "request": "MetaCLUE,task=generate",
        "primary": "a",
        "relationship": "b",
        "secondary": "c",
    }
    judged = process_results(doc, [str(tmp_path / "secret.png")])
    assert judged["image_rate"] == 0.0
    assert judged["sample"]["file"] is None


@pytest.mark.parametrize(
    ("text", "without_folders"),
    [
        ("pretrained=/home/me/model,dtype=x", "pretrained=[local]/model,dtype=x"),
        ("--model_args 'a=~/m' b=./out/c ../d", "--model_args 'a=[local]/m' b=[local]/c [local]/d"),
        (
            "a=out/checkpoints/500|bertscore:/me/x@sha256:1",
            "a=[local]/500|bertscore:[local]/x@sha256:1",
        ),
        (
            "pretrained=org/model,base_url=http://host:80/v1/x",
            "pretrained=org/model,base_url=http://host:80/v1/x",
        ),
    ],
)
def test_local_paths_are_cut_down_to_a_name(text: str, without_folders: str) -> None:
    assert without_paths(text) == without_folders
