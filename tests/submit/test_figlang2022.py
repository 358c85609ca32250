"""If these fail, FigLang 2022 would refuse our submission, or it differs from the samples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from demo_runs import evaluate
from flute_rows import blind_rows, write_lines

from figlang_tasks.benchmarks.flute import blind
from figlang_tasks.core import hub
from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.submit import SubmissionError, figlang2022

KEYS = ["codalab_id", "id", "premise", "hypothesis", "predicted_label", "model_explanation"]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The samples file of a whole run of figlang_random, through lmms-eval."""
    folder = tmp_path_factory.mktemp("run")
    write_lines(folder / "data" / "FLUTE" / blind.BLIND_FILE, blind_rows())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(hub.DATA_DIR_VARIABLE, str(folder / "data"))
        results = evaluate("flute_codalab", "figlang_random", saved=folder)
    reported = set()
    for name in results["results"]["flute_codalab"]:
        if "_stderr" not in name and "," in name:
            reported.add(name.partition(",")[0].partition("_ci")[0])
    assert reported == {"parse_rate", "parse_disagreement"}
    (file,) = folder.rglob("*_samples_flute_codalab.jsonl")
    return file.read_bytes()


@pytest.fixture
def samples(whole_run: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in whole_run.split(b"\n")[:-1]]


submit: Any = partial(commands.figlang, "submit", "figlang2022")


def test_the_file_is_what_the_shared_task_takes(
    tmp_path: Path, samples: list[dict[str, Any]]
) -> None:
    samples[3]["sample"] |= {"explanation": "Naïve \u2028 and half \ud83d", "predicted": 0}
    samples[4]["sample"] |= {"explanation": None}
    path = write_lines(tmp_path / "samples.jsonl", samples[::-1])
    printed = submit(path, "-o", tmp_path / "submission.jsonl").stdout
    assert "(1500 rows of FLUTE/codalab:" in printed
    assert "to upload: CodaLab, competition 5908" in printed
    text = (tmp_path / "submission.jsonl").read_text(encoding="ascii")
    written = [json.loads(line) for line in text.split("\n")[:-1]]
    assert [list(row) for row in written] == [KEYS] * 1500
    for expected, row, sample in zip(blind_rows(), written, samples, strict=True):
        record = sample["sample"]
        assert [row[key] for key in KEYS[:4]] == [expected[key] for key in KEYS[:4]]
        assert row["predicted_label"] == ("Contradiction", "Entailment")[record["predicted"]]
        assert row["model_explanation"] == (record["explanation"] or "")
    assert {row["predicted_label"] for row in written} == {"Entailment", "Contradiction"}
    assert {path.name for path in tmp_path.iterdir()} == {"samples.jsonl", "submission.jsonl"}


def test_outputs_without_a_label_need_a_word_from_the_user(
    tmp_path: Path, samples: list[dict[str, Any]]
) -> None:
    for sample in samples[:7]:
        sample["sample"]["predicted"] = None
    path = write_lines(tmp_path / "samples.jsonl", samples)
    message = commands.refused("submit", "figlang2022", path, "-o", tmp_path / "submission.jsonl")
    assert re.search(r"7 outputs have no label \(codalab-0, .*, and 2 more\)", message)
    assert not (tmp_path / "submission.jsonl").exists()
    result = submit(path, "-o", tmp_path / "submission.jsonl", "--fallback", "entailment")
    assert (
        "7 labels are the fallback, not the model's: they may add up to 0.47 points to its Acc@0"
        in result.stderr
    )
    first = json.loads((tmp_path / "submission.jsonl").read_text().split("\n")[0])
    assert first["predicted_label"] == "Entailment"


def remove_a_row(samples: list[dict[str, Any]]) -> None:
    del samples[2]


def remove_an_explanation(samples: list[dict[str, Any]]) -> None:
    del samples[9]["sample"]["explanation"]


def make_an_id_a_text(samples: list[dict[str, Any]]) -> None:
    samples[9]["sample"]["codalab_id"] = "9"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove_a_row, "1499 of the 1500 rows of codalab: evaluate all rows"),
        (remove_an_explanation, "not as the task .* writes it .*explanation"),
        (make_an_id_a_text, "not as the task .* writes it .*TypeError"),
    ],
)
def test_what_is_wrong_with_the_samples(
    damage: Callable[[list[dict[str, Any]]], None],
    message: str,
    tmp_path: Path,
    samples: list[dict[str, Any]],
) -> None:
    damage(samples)
    path = write_lines(tmp_path / "samples.jsonl", samples)
    with pytest.raises((SubmissionError, RunError), match=message):
        figlang2022.write_lines(runs.read(str(path)), tmp_path / "submission.jsonl")
    assert not (tmp_path / "submission.jsonl").exists()
