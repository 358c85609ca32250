"""A run works on data that changed meanwhile, or tells faults one by one, if this fails."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from datasets import Dataset, DatasetInfo

from figlang_tasks import DataError, mini
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import process_docs, task_faults


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (None, "dataset_name is None: unknown dataset 'None'; known: "),
        ("FLUTE,part=", "it must be DATASET,part=..."),
        ("FLUTE,part=a,part=b", "it must be DATASET,part=..."),
        ("FLUTE", "dataset_name is 'FLUTE'; it must be DATASET,part=...[,prompt=...][,scorer=...]"),
        ("FLUTE,part=train,prompt=v2,x=1", "it must be DATASET,part=...[,prompt=...][,scorer=...]"),
    ],
)
def test_a_wrong_name_of_data_is_told(name: object, told: str) -> None:
    (fault,) = task_faults({"dataset_name": name})
    assert isinstance(fault, DataError) and told in str(fault)


def test_options_and_data_are_told_together() -> None:
    config = {
        "dataset_name": "figlang_mini,split=tset",
        "lmms_eval_specific_kwargs": {"default": {"num_shot": 5}},
    }
    one, other = map(str, task_faults(config))
    assert "unknown V-FLUTE task option(s) num_shot" in one
    assert "figlang_mini has no split 'tset'; it has: train, test" in other


@pytest.mark.parametrize(
    ("folder", "asked", "table"),
    [
        (mini.IRFL_DIR, "table=metaphor-detection-task", "metaphor_detection_task.csv"),
        (mini.FLUTE_DIR, "part=train", "train.jsonl"),
        (mini.METACLUE_DIR, "task=caption", "annotations.jsonl"),
        (mini.NYKMS_DIR, "question=mc,modality=image", "nyk_m.jsonl"),
    ],
)
def test_rows_of_another_folder_and_rows_that_were_changed(
    folder: Path, asked: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook keeps its process: rows are those of the folder, and of the files in it, when a
    run starts.
    """

    def data_in(place: str) -> set[str]:
        monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / place))
        hub.clear_caches()  # as a run does when it starts
        stub = Dataset.from_dict({}, info=DatasetInfo(config_name=f"{folder.name},{asked}"))
        return set(process_docs(stub)["data"])

    def change(place: str) -> None:
        path = tmp_path / place / folder.name / table
        path.write_text(path.read_text("utf-8").replace(" a ", " the "), "utf-8")

    for place in ("one", "two"):
        shutil.copytree(folder, tmp_path / place / folder.name)
    change("two")
    before, changed = data_in("one"), data_in("two")
    assert before != changed
    assert data_in("one") == before
    change("one")
    assert data_in("one") == changed
