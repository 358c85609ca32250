"""``figlang data``: files that are valid as they are, nothing overwritten, import and check by exit
status.
"""

from __future__ import annotations

import errno
import re
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import commands
import irfl_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vflute_hub
import warm
from hub_server import HubServer

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of

figlang = partial(commands.figlang, "data")


@pytest.mark.parametrize(("name", "dataset"), [("nykms", "NYK-MS"), ("vflute", "V-FLUTE")])
def test_a_template_passes_its_check(name: str, dataset: str, tmp_path: Path) -> None:
    done = figlang("template", name, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert f"FIGLANG_DATA_DIR={tmp_path} figlang data check {name}" in done.output
    status, lines, _ = check(name, tmp_path)
    assert status == 0 and lines[-1] == "no faults"
    if name == "vflute":
        assert count(lines, "V-FLUTE, test")[:2] == ["11", "-"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "NYK-MS" / "nyk_m.jsonl"
    mine.parent.mkdir()
    mine.write_text("mine")
    done = figlang("template", "nykms", "--output", tmp_path)
    assert done.exit_code == 1
    assert "exists already and is not overwritten" in done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
        mine
    ] and mine.read_text() == "mine"
    mine.unlink()
    assert figlang("template", "nykms", "--output", tmp_path).exit_code == 0, (
        "an empty folder is taken"
    )


def test_what_could_not_be_written_whole_does_not_stand_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", full)
        done = figlang("template", "nykms", "--output", tmp_path)
    assert done.exit_code == 1 and "No space left" in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_mistakes() -> None:
    done = figlang("template", "flute")
    assert done.exit_code == 2 and "no template for flute; there are: nykms, vflute" in " ".join(
        done.stderr.split()
    )
    done = figlang("prefetch", "vflutes")
    assert done.exit_code == 2 and "unknown benchmark vflutes (did you mean `vflute`" in " ".join(
        done.stderr.split()
    )


TOKEN = "hf_good"
CONTESTS = source_of("NewYorkerCaptionContest")


def with_hub(
    server: HubServer, home: Path, *arguments: str, token: str | None = None, **variables: str
) -> Any:
    command = [sys.executable, "-m", "figlang_tasks.cli.figlang", *arguments]
    home.mkdir(exist_ok=True)
    return warm.run(command, cwd=home, env=server.env(home, token) | variables)


def write_contests(folder: Path) -> Path:
    (folder / "ranking").mkdir(parents=True)
    table = pa.table(
        {"contest_number": [1], "image_description": ["A cat."], "caption_choices": [["Meow."]]}
    )
    pq.write_table(table, folder / "ranking" / "train-00000-of-00001.parquet")
    return folder


def test_the_open_ones_are_fetched_one_that_fails_is_told_and_all_is_there_offline(
    tmp_path: Path,
) -> None:
    (tmp_path / "FLUTE").mkdir()
    (tmp_path / "FLUTE" / "train.jsonl").write_text('{"id": 1}\n')
    with HubServer() as server:
        commit = server.add_repo("lampent/IRFL", irfl_hub.valid(tmp_path))
        server.add_repo(
            str(CONTESTS.repository),
            write_contests(tmp_path / "contests"),
            commit=CONTESTS.revision,
        )
        server.add_repo("ColumbiaNLP/FLUTE", tmp_path / "FLUTE")
        done = with_hub(server, tmp_path / "home", "data", "prefetch")
        assert done.returncode == 1
        (message,) = [
            line for line in done.stderr.splitlines() if line.startswith("figlang: flute: ")
        ]
        assert "train.jsonl" in message and "premise, hypothesis" in message, message
        lines = {line.partition(":")[0]: line for line in done.stdout.splitlines()}
        assert (
            "irfl: IRFL, simile-retrieval-task: 142 rows: " in done.stdout
            and f"(revision {commit})" in done.stdout
        )
        assert f"(revision {CONTESTS.revision})" in lines["nykms"]
        assert "V-FLUTE" not in str([request.path for request in server.requests])
    # The server is gone: what was fetched is all that a run needs.
    done = with_hub(
        server, tmp_path / "home", "data", "prefetch", "irfl", "nykms", HF_HUB_OFFLINE="1"
    )
    assert done.returncode == 0, done.stderr
    done = with_hub(server, tmp_path / "home", "doctor", "hub", HF_HUB_OFFLINE="1")
    assert f"IRFL: downloaded, commit {commit[:12]}" in done.stdout
    done = with_hub(server, tmp_path / "home", "data", "check", "irfl")
    assert done.returncode == 0 and count(
        done.stdout.splitlines(), "IRFL, idiom-detection-task"
    ) == ["200", "200", ""]


def test_the_gated_one_where_it_is_named(tmp_path: Path) -> None:
    splits = {
        split: vflute_hub.synthetic_rows(split, count)
        for split, count in vflute_hub.SPLIT_SIZES.items()
    }
    vflute_hub.write_vflute_repo(tmp_path / "V-FLUTE", splits, image_size=8)
    with HubServer() as server:
        server.add_repo(
            vflute_hub.REPO_ID,
            tmp_path / "V-FLUTE",
            commit=vflute_hub.REVISION,
            gated=True,
            granted_tokens={TOKEN},
        )
        done = with_hub(server, tmp_path, "data", "prefetch", "vflute", "metaclue")
        assert done.returncode == 1
        assert done.stdout.startswith(
            "metaclue: its rows are not on the hub: docs/cards/metaclue.md"
        )
        assert "figlang: vflute: access to ColumbiaNLP/V-FLUTE is not granted" in done.stderr
        done = with_hub(server, tmp_path, "data", "prefetch", "vflute", token=TOKEN)
        assert done.returncode == 0, done.stderr
        found = dict(re.findall(r"V-FLUTE, (\w+): (\d+) rows", done.stdout))
        assert found == {"train": "4578", "validation": "726", "test": "723"}
        assert (
            done.stdout.count(vflute_hub.REVISION) >= 3 and TOKEN not in done.stdout + done.stderr
        )


@pytest.mark.slow  # imports torch
def test_scorer_weights(tmp_path: Path) -> None:
    """One of the two models is there: it is fetched, the other is told, status 1."""
    files = tmp_path / "model"
    files.mkdir()
    for name in ("config.json", "pytorch_model.bin", "vocab.json", "merges.txt", "tf_model.h5"):
        (files / name).write_text("{}")
    name, revision = "microsoft/deberta-xlarge-mnli", "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c"
    with HubServer() as server:
        server.add_repo(name, files, repo_type="model", commit=revision)
        server.add_repo(
            str(CONTESTS.repository),
            write_contests(tmp_path / "contests"),
            commit=CONTESTS.revision,
        )
        done = with_hub(server, tmp_path, "data", "prefetch", "nykms", "--scorers")
        assert not any("tf_model" in request.path for request in server.requests)
    assert done.returncode == 1
    assert (
        f"scorers: {name} (vflute25, figlang24, flute22-xlarge)" in done.stdout
        and revision[:12] in done.stdout
    )
    assert (
        "figlang: scorers: the metric model lucadiliello/BLEURT-20 cannot be downloaded"
        in done.stderr
    )


def check(benchmark: str, folder: Path) -> tuple[int, list[str], str]:
    hub.look_again()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(hub.DATA_DIR_VARIABLE, str(folder))
        done = figlang("check", benchmark)
    return done.exit_code, done.stdout.splitlines(), done.stderr


def count(lines: list[str], name: str) -> list[str]:
    (line,) = [line for line in lines if line.startswith(f"| {name} ")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_vflute_every_faulty_row_is_listed(tmp_path: Path) -> None:
    rows = vflute_hub.synthetic_rows("test", 723)
    vflute_hub.write_vflute_repo(tmp_path / "V-FLUTE", {"test": rows}, image_size=8)
    (path,) = (tmp_path / "V-FLUTE" / "data").glob("test-*.parquet")
    content = pq.read_table(path).to_pylist()
    content[7]["label"], content[9]["source_dataset"] = "neutral", "newspaper"
    content[11]["image"]["bytes"] = content[11]["image"]["bytes"][:40]
    pq.write_table(pa.Table.from_pylist(content, schema=vflute_hub.FEATURES.arrow_schema), path)
    status, lines, _ = check("vflute", tmp_path)
    assert status == 1 and lines[-1] == "3 fault(s)"
    assert re.findall(r"^V-FLUTE/test row (\d+)", "\n".join(lines), re.M) == ["7", "9", "11"]
    assert count(lines, "V-FLUTE, test") == ["-", "723", "faulty"]
    assert count(lines, "V-FLUTE, train") == ["-", "4578", "not here"]


def test_check_without_data_names_the_ways_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    status, lines, stderr = check("irfl", tmp_path)
    assert (status, lines) == (
        1,
        [],
    ) and "IRFL is not on this machine: name it to `figlang data prefetch" in stderr
