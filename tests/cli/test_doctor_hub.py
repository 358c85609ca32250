"""``figlang doctor`` says whether the hub, the token and each dataset can be used."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from commands import doctor
from hub_server import Fault, HubServer, Response
from huggingface_hub import close_session, constants

from figlang_tasks.benchmarks.irfl.counts import ROWS
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of, sources

pytestmark = pytest.mark.usefixtures("nothing_set")
TOKEN = "hf_a_secret_that_must_not_be_shown"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub with all our datasets; V-FLUTE is gated, and TOKEN has access to it."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "README.md").write_text("a card")
    with HubServer() as hub_server:
        monkeypatch.setattr(constants, "ENDPOINT", hub_server.url)
        for source in sources().values():
            granted_tokens = {TOKEN} if source.gated else set()
            if source.repository is not None:
                hub_server.add_repo(
                    source.repository,
                    tmp_path / "files",
                    commit=source.revision,
                    gated=source.gated,
                    granted_tokens=granted_tokens,
                    known_tokens={"hf_of_another_account"},
                )
        yield hub_server
    close_session()  # The hub's client must not keep a connection to this server.


Access = Literal["granted", "refused", "not asked"]
NOT_DOWNLOADED = {
    "granted": ("ok", "not downloaded yet (gated, access granted)"),
    "refused": ("warning", "not downloaded yet (gated, access is not granted)"),
    "not asked": ("warning", "not downloaded yet (hub not contacted)"),
}


@pytest.mark.parametrize(
    ("token", "hub_text", "access", "expected_status"),
    [
        (TOKEN, "the account of the token is tester", "granted", 0),
        ("hf_of_another_account", "is tester", "refused", 0),
        ("", "no token: open datasets alone", "refused", 0),
        ("hf_wrong", "refuses the token", "not asked", 1),
    ],
)
def test_access_to_gated_data_is_that_of_the_token(
    server: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    hub_text: str,
    access: Access,
    expected_status: int,
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    status, findings = doctor("hub")
    assert status == expected_status
    assert hub_text in findings["hub"]["text"]
    vflute = findings["V-FLUTE"]
    assert (vflute["status"], vflute["text"]) == NOT_DOWNLOADED[access]
    if access == "refused":
        assert source_of("V-FLUTE").page in vflute["remedy"]
        assert "HF_TOKEN" in vflute["remedy"]
    is_download = ["/resolve/" in request.path for request in server.requests]
    assert not any(is_download)
    check_other_datasets(findings, is_token_accepted=status == 0)


def check_other_datasets(findings: Mapping[str, dict[str, Any]], is_token_accepted: bool) -> None:
    """Check the findings on datasets that are open or not on the hub, where any token will do."""
    if is_token_accepted:
        assert findings["IRFL"]["text"] == "not downloaded yet (open)"
        assert "data prefetch irfl" in findings["IRFL"]["remedy"]
    assert findings["MetaCLUE"]["status"] == "warning"
    assert "docs/cards/metaclue.md" in findings["MetaCLUE"]["remedy"]
    assert findings["NewYorkerCaptionContest"]["concerns"] == ["nykms"]


def test_a_dead_server_is_one_problem(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", server.url.replace("//", "//user:swordfish@"))
    server.stop()
    status, findings = doctor("hub")
    assert "swordfish" not in str(findings)
    assert status == 1
    assert "cannot be reached (Connect" in findings["hub"]["text"]
    assert "HF_HUB_OFFLINE=1" in findings["hub"]["remedy"]
    problems = [name for name, finding in findings.items() if finding["status"] == "problem"]
    assert problems == ["hub"]
    assert findings["FLUTE"]["text"] == "not downloaded yet (hub not contacted)"


@pytest.mark.parametrize(
    ("path", "name"), [("", "hub"), ("whoami", "hub"), ("V-FLUTE/auth-check", "V-FLUTE")]
)
def test_a_question_without_an_answer_is_given_up(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    def answer_late(response: Response) -> Response:
        time.sleep(2)
        return response

    server.faults.append(Fault(path, answer_late))
    monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", 0.5)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    status, findings = doctor("hub")
    assert status == 1
    assert "Timeout" in findings[name]["text"]


def test_offline_is_no_error(server: HubServer) -> None:
    status, findings = doctor("hub", "--offline")
    assert status == 0
    assert "offline" in findings["hub"]["text"]
    assert findings["IRFL"]["status"] == "warning"
    assert "$FIGLANG_DATA_DIR/IRFL" in findings["IRFL"]["remedy"]
    assert server.requests == []


def test_a_pin_that_does_not_exist(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_REVISION_IRFL", "0" * 40)
    status, findings = doctor("hub")
    assert status == 1
    assert "0" * 40 in findings["IRFL"]["text"]
    assert "FIGLANG_REVISION_IRFL" in findings["IRFL"]["remedy"]


def test_local_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "NYK-MS"
    folder.mkdir(parents=True)
    for name in ("nyk_m.jsonl", "nyk_s.jsonl"):
        (folder / name).touch()
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "data"))
    _, findings = doctor("hub", "--offline")
    assert findings["NYK-MS"]["text"] == f"in {folder}"
    assert findings["MetaCLUE"]["status"] == "warning"
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "typo"))
    status, findings = doctor("hub", "--offline")
    assert status == 1
    assert "typo is not a folder" in findings[hub.DATA_DIR_VARIABLE]["text"]


@pytest.mark.parametrize(
    ("file", "expected_status", "text"),
    [
        # All tasks need the pictures.
        ("IRFL_images.zip", "warning", "no IRFL_images.zip, idioms_dataset.csv there: no task can"),
        # Of 33 tasks, irfl_random2_simile and irfl_random4_simile alone draw from this table.
        ("similes_dataset.csv", "ok", "2 of 33 tasks cannot run"),
    ],
)
def test_a_missing_file_of_local_data_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, expected_status: str, text: str
) -> None:
    """The rows alone once made doctor say that IRFL can run."""
    folder = tmp_path / "IRFL"
    folder.mkdir()
    tables = [name.replace("-", "_") + ".csv" for name in ROWS]
    for name in {"IRFL_images.zip", *tables} - {file}:
        (folder / name).touch()
    if expected_status == "warning":
        (folder / "idioms_dataset.csv").unlink()
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    _, findings = doctor("hub", "--offline")
    irfl = findings["IRFL"]
    assert irfl["status"] == expected_status
    assert irfl["text"].startswith(f"in {folder}; no ")
    assert file in irfl["text"]
    assert text in irfl["text"]
    assert "https://huggingface.co/datasets/lampent/IRFL" in irfl["remedy"]
    assert "`figlang data check irfl`" in irfl["remedy"]


def test_a_download_that_is_not_whole(server: HubServer, tmp_path: Path) -> None:
    """The cache of the hub then has one of two files of the only split."""
    repository = source_of("FLUTE").repository
    assert repository is not None
    cache = Path(constants.HF_HUB_CACHE) / f"datasets--{repository.replace('/', '--')}"
    folder = cache / "snapshots" / "abc" / "data"
    folder.mkdir(parents=True)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("abc")
    (folder / "train-00000-of-00002.parquet").touch()
    _, findings = doctor("hub", "--offline")
    flute = findings["FLUTE"]
    assert flute["status"] == "warning"
    assert "; no **/train-*.parquet or " in flute["text"]
    assert "figlang data prefetch flute" in flute["remedy"]
    (folder / "train-00001-of-00002.parquet").touch()
    _, findings = doctor("hub", "--offline")
    assert findings["FLUTE"]["text"] == "downloaded, commit abc (hub not contacted)"
