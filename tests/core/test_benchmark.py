"""If these fail, a run works on data that has changed meanwhile, or tells its faults one by one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from datasets import Dataset, DatasetInfo

from figlang_tasks import DataError, mini
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import process_docs, task_faults


@pytest.mark.parametrize(
    ("dataset_name", "message"),
    [
        (None, "dataset_name is None: unknown dataset 'None'; known: "),
        ("FLUTE,part=", "it must be DATASET,part=..."),
        ("FLUTE,part=a,part=b", "it must be DATASET,part=..."),
        ("FLUTE", "dataset_name is 'FLUTE'; it must be DATASET,part=...[,prompt=...][,scorer=...]"),
        ("FLUTE,part=train,prompt=v2,x=1", "it must be DATASET,part=...[,prompt=...][,scorer=...]"),
    ],
)
def test_a_wrong_dataset_name_is_one_fault(dataset_name: object, message: str) -> None:
    (fault,) = task_faults({"dataset_name": dataset_name})
    assert isinstance(fault, DataError) and message in str(fault)


def test_faults_of_options_and_of_data_are_told_together() -> None:
    config = {
        "dataset_name": "figlang_mini,split=tset",
        "lmms_eval_specific_kwargs": {"default": {"num_shot": 5}},
    }
    fault_of_options, fault_of_data = map(str, task_faults(config))
    assert "unknown V-FLUTE task option(s) num_shot" in fault_of_options
    assert "figlang_mini has no split 'tset'; it has: train, test" in fault_of_data


@pytest.mark.parametrize(
    ("shipped_folder", "parameters", "file_name"),
    [
        (mini.IRFL_DIR, "table=metaphor-detection-task", "metaphor_detection_task.csv"),
        (mini.FLUTE_DIR, "part=train", "train.jsonl"),
        (mini.METACLUE_DIR, "task=caption", "annotations.jsonl"),
        (mini.NYKMS_DIR, "question=mc,modality=image", "nyk_m.jsonl"),
    ],
)
def test_a_run_reads_the_folder_and_the_files_as_they_are_when_it_starts(
    shipped_folder: Path,
    parameters: str,
    file_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A notebook keeps its process, and so what the process has read."""

    def read_data(data_dir: str) -> set[str]:
        """The identity of the data (`DataId`) that a run reads from a data folder."""
        monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / data_dir))
        hub.clear_caches()  # as a run does when it starts
        config_name = f"{shipped_folder.name},{parameters}"
        stub = Dataset.from_dict({}, info=DatasetInfo(config_name=config_name))
        return set(process_docs(stub)["data"])

    def change_rows(data_dir: str) -> None:
        path = tmp_path / data_dir / shipped_folder.name / file_name
        path.write_text(path.read_text("utf-8").replace(" a ", " the "), "utf-8")

    for data_dir in ("original", "changed"):
        shutil.copytree(shipped_folder, tmp_path / data_dir / shipped_folder.name)
    change_rows("changed")
    original_data = read_data("original")
    changed_data = read_data("changed")
    assert original_data != changed_data
    assert read_data("original") == original_data
    change_rows("original")
    assert read_data("original") == changed_data
