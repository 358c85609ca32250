"""``figlang data``: templates are valid, nothing is overwritten, and a check finds all faults."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import commands
import flute_rows
import irfl_release
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import warm
from hub_server import HubServer

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of

figlang = partial(commands.figlang, "data")


# --- templates ---


@pytest.mark.parametrize(("name", "dataset"), [("nykms", "NYK-MS"), ("vflute", "V-FLUTE")])
def test_a_template_passes_its_check(name: str, dataset: str, tmp_path: Path) -> None:
    result = figlang("template", name, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert f"FIGLANG_DATA_DIR={tmp_path} figlang data check {name}" in result.output
    status, lines, _ = check(name, tmp_path)
    assert status == 0
    assert lines[-1] == "no faults"
    if name == "vflute":
        rows, published_rows, _ = columns_of(lines, "V-FLUTE, test")
        assert rows == "11"
        assert published_rows == "-"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    my_file = tmp_path / "NYK-MS" / "nyk_m.jsonl"
    my_file.parent.mkdir()
    my_file.write_text("mine")
    result = figlang("template", "nykms", "--output", tmp_path)
    assert result.exit_code == 1
    assert "exists already and is not overwritten" in result.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [my_file]
    assert my_file.read_text() == "mine"
    my_file.unlink()
    result = figlang("template", "nykms", "--output", tmp_path)
    assert result.exit_code == 0, "an empty folder is taken"


def test_after_a_full_disk_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def copy_to_full_disk(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", copy_to_full_disk)
        result = figlang("template", "nykms", "--output", tmp_path)
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("template", "flute"), "no template for flute; there are: nykms, vflute"),
        (("prefetch", "vflutes"), "unknown benchmark vflutes (did you mean `vflute`"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str) -> None:
    result = figlang(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


# --- downloads ---


TOKEN = "hf_good"
CONTESTS = source_of("NewYorkerCaptionContest")


def figlang_with_hub(
    server: HubServer, home: Path, *arguments: str, token: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run ``figlang`` in a process whose hub is a server of the test."""
    command = [sys.executable, "-m", "figlang_tasks.cli.figlang", *arguments]
    home.mkdir(exist_ok=True)
    return warm.run(command, cwd=home, env=server.env(home, token) | variables)


def write_contests(folder: Path) -> Path:
    """Write a dataset of caption contests with one row."""
    (folder / "ranking").mkdir(parents=True)
    table = pa.table(
        {"contest_number": [1], "image_description": ["A cat."], "caption_choices": [["Meow."]]}
    )
    pq.write_table(table, folder / "ranking" / "train-00000-of-00001.parquet")
    return folder


def add_contests(server: HubServer, folder: Path) -> None:
    files = write_contests(folder)
    server.add_repo(str(CONTESTS.repository), files, commit=CONTESTS.revision)


class Prefetched(NamedTuple):
    """A home with all open data of a server, which has stopped, but for FLUTE, which is faulty.

    Attributes:
        home: the home folder of the command.
        server: the server; it has stopped.
        requested_paths: what was requested of the server.
        irfl_commit: the commit of IRFL on the server.
        ended: the command that downloaded the data.
    """

    home: Path
    server: HubServer
    requested_paths: list[str]
    irfl_commit: str
    ended: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def prefetched(tmp_path_factory: pytest.TempPathFactory) -> Prefetched:
    """What ``figlang data prefetch`` leaves where one of the datasets lacks columns."""
    folder = tmp_path_factory.mktemp("prefetched")
    (folder / "FLUTE").mkdir()
    (folder / "FLUTE" / "train.jsonl").write_text('{"id": 1}\n')  # columns are missing
    with HubServer() as server:
        commit = server.add_repo("lampent/IRFL", irfl_release.write_valid_irfl(folder))
        add_contests(server, folder / "contests")
        server.add_repo("ColumbiaNLP/FLUTE", folder / "FLUTE")
        ended = figlang_with_hub(server, folder / "home", "data", "prefetch")
        requested_paths = [request.path for request in server.requests]
    return Prefetched(folder / "home", server, requested_paths, commit, ended)


def test_faulty_data_stops_no_other_download(prefetched: Prefetched) -> None:
    ended = prefetched.ended
    assert ended.returncode == 1
    flute_messages = []
    for line in ended.stderr.splitlines():
        if line.startswith("figlang: flute: "):
            flute_messages.append(line)
    (message,) = flute_messages
    assert "train.jsonl" in message
    assert "premise, hypothesis" in message
    assert "irfl: IRFL, simile-retrieval-task: 142 rows: " in ended.stdout
    assert f"(revision {prefetched.irfl_commit})" in ended.stdout
    line_by_name = {line.partition(":")[0]: line for line in ended.stdout.splitlines()}
    assert f"(revision {CONTESTS.revision})" in line_by_name["nykms"]


def test_gated_data_is_not_downloaded_with_open_data(prefetched: Prefetched) -> None:
    assert "V-FLUTE" not in str(prefetched.requested_paths)


def test_what_was_downloaded_is_all_that_a_run_needs(prefetched: Prefetched) -> None:
    home = prefetched.home
    server = prefetched.server
    offline = {"HF_HUB_OFFLINE": "1"}
    ended = figlang_with_hub(server, home, "data", "prefetch", "irfl", "nykms", **offline)
    assert ended.returncode == 0, ended.stderr
    ended = figlang_with_hub(server, home, "doctor", "hub", **offline)
    assert f"IRFL: downloaded, commit {prefetched.irfl_commit[:12]}" in ended.stdout
    ended = figlang_with_hub(server, home, "data", "check", "irfl")
    assert ended.returncode == 0
    lines = ended.stdout.splitlines()
    assert columns_of(lines, "IRFL, idiom-detection-task") == ["200", "200", ""]


def test_gated_data_is_downloaded_where_it_is_named(tmp_path: Path) -> None:
    splits = {}
    for split, count in flute_rows.VFLUTE_SPLIT_SIZES.items():
        splits[split] = flute_rows.invented_vflute_rows(split, count)
    flute_rows.write_vflute_repo(tmp_path / "V-FLUTE", splits, image_size=8)
    with HubServer() as server:
        server.add_repo(
            flute_rows.VFLUTE_REPO_ID,
            tmp_path / "V-FLUTE",
            commit=flute_rows.VFLUTE_REVISION,
            gated=True,
            granted_tokens={TOKEN},
        )
        ended = figlang_with_hub(server, tmp_path, "data", "prefetch", "vflute", "metaclue")
        assert ended.returncode == 1
        metaclue = "metaclue: its rows are not on the hub: docs/cards/metaclue.md"
        assert ended.stdout.startswith(metaclue)
        assert "figlang: vflute: access to ColumbiaNLP/V-FLUTE is not granted" in ended.stderr

        ended = figlang_with_hub(server, tmp_path, "data", "prefetch", "vflute", token=TOKEN)
        assert ended.returncode == 0, ended.stderr
        rows_by_split = dict(re.findall(r"V-FLUTE, (\w+): (\d+) rows", ended.stdout))
        assert rows_by_split == {"train": "4578", "validation": "726", "test": "723"}
        assert ended.stdout.count(flute_rows.VFLUTE_REVISION) >= 3
        assert TOKEN not in ended.stdout + ended.stderr


@pytest.mark.slow  # It imports torch.
def test_scorer_weights(tmp_path: Path) -> None:
    """The hub has one of the two models: it is downloaded, and the status is 1 for the other."""
    files = tmp_path / "model"
    files.mkdir()
    for file_name in (
        "config.json",
        "pytorch_model.bin",
        "vocab.json",
        "merges.txt",
        "tf_model.h5",
    ):
        (files / file_name).write_text("{}")
    model = "microsoft/deberta-xlarge-mnli"
    revision = "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c"
    with HubServer() as server:
        server.add_repo(model, files, repo_type="model", commit=revision)
        add_contests(server, tmp_path / "contests")
        ended = figlang_with_hub(server, tmp_path, "data", "prefetch", "nykms", "--scorers")
        assert not any("tf_model" in request.path for request in server.requests)
    assert ended.returncode == 1
    assert f"scorers: {model} (vflute25, figlang24, flute22-xlarge)" in ended.stdout
    assert revision[:12] in ended.stdout
    message = "figlang: scorers: the metric model lucadiliello/BLEURT-20 cannot be downloaded"
    assert message in ended.stderr


# --- checks ---


def check(benchmark: str, folder: Path) -> tuple[int, list[str], str]:
    """Exit status, lines and errors of ``figlang data check`` on a data folder."""
    hub.clear_caches()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(hub.DATA_DIR_VARIABLE, str(folder))
        result = figlang("check", benchmark)
    return result.exit_code, result.stdout.splitlines(), result.stderr


def columns_of(lines: list[str], name: str) -> list[str]:
    """The rows that are here, those that were published, and the remark on a part of the data."""
    (line,) = [line for line in lines if line.startswith(f"| {name} ")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_every_faulty_row_is_listed(tmp_path: Path) -> None:
    rows = flute_rows.invented_vflute_rows("test", 723)
    flute_rows.write_vflute_repo(tmp_path / "V-FLUTE", {"test": rows}, image_size=8)
    (path,) = (tmp_path / "V-FLUTE" / "data").glob("test-*.parquet")
    content = pq.read_table(path).to_pylist()
    content[7]["label"] = "neutral"
    content[9]["source_dataset"] = "newspaper"
    content[11]["image"]["bytes"] = content[11]["image"]["bytes"][:40]
    pq.write_table(
        pa.Table.from_pylist(content, schema=flute_rows.VFLUTE_FEATURES.arrow_schema), path
    )
    status, lines, _ = check("vflute", tmp_path)
    assert status == 1
    assert lines[-1] == "3 fault(s)"
    assert re.findall(r"^V-FLUTE/test row (\d+)", "\n".join(lines), re.M) == ["7", "9", "11"]
    assert columns_of(lines, "V-FLUTE, test") == ["-", "723", "faulty"]
    assert columns_of(lines, "V-FLUTE, train") == ["-", "4578", "not here"]


def test_check_without_data_names_the_ways_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    status, lines, stderr = check("irfl", tmp_path)
    assert status == 1
    assert lines == []
    assert "IRFL is not on this machine: name it to `figlang data prefetch" in stderr
