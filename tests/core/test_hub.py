"""If these fail, a fault of the hub ends in a traceback, or leaves half a file in its cache.

The hub is a server of our own (`hub_server`). Each load is a process of its own, over real HTTP.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import warm
from documents import ROOT
from flute_rows import (
    VFLUTE_REPO_ID,
    VFLUTE_REVISION,
    VFLUTE_SPLIT_SIZES,
    invented_vflute_rows,
    write_vflute_repo,
)
from hub_server import Fault, HubServer, Response, Spoil

from figlang_tasks import DataError
from figlang_tasks.core import hub, parquet_files
from figlang_tasks.core.benchmark import source_of, sources

LOAD = (
    "from figlang_tasks.benchmarks.vflute import rows\n"
    "validation = rows.load('V-FLUTE', 'validation')\n"
    "print(len(validation), validation[5]['id'])\n"
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository") / "V-FLUTE"
    splits = {"train": 30, "validation": VFLUTE_SPLIT_SIZES["validation"], "test": 30}
    write_vflute_repo(
        folder,
        {split: invented_vflute_rows(split, rows) for split, rows in splits.items()},
        image_size=8,
    )
    return folder


def load(
    server: HubServer, home: Path, token: str | None = None, program: str = LOAD, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program that loads from the server, with its cache in `home`."""
    home.mkdir(exist_ok=True)
    env = server.env(home=home, token=token) | {"HF_HUB_DOWNLOAD_TIMEOUT": "1"} | environment
    return warm.run([sys.executable, "-c", program], env=env, cwd=home, timeout=600)


def status(code: int, **headers: str) -> Spoil:
    """Answer with this status in place of the file."""
    http_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda response: Response(code, http_headers, b"sorry")


def break_off(seconds: float = 0) -> Spoil:
    """Send half of the body, nothing for so many seconds, and then close the connection."""

    def send_half(body: bytes) -> Iterator[bytes]:
        yield body[: len(body) // 2]
        time.sleep(seconds)
        raise ConnectionAbortedError

    return lambda response: replace(response, sent=send_half)


def shorten(response: Response) -> Response:
    """Send ten bytes less than the hub has announced, as if that were all."""
    return replace(response, body=response.body[:-10])


def complete_blobs(home: Path) -> list[Path]:
    """The files of the hub's cache that count as complete."""
    return [
        path
        for path in home.glob("huggingface/hub/*/blobs/*")
        if not path.name.endswith(".incomplete")
    ]


def test_only_the_split_is_downloaded_at_the_pinned_revision_and_then_read_without_a_hub(
    repository: Path, tmp_path: Path
) -> None:
    with HubServer() as server:
        server.add_repo(
            VFLUTE_REPO_ID,
            repository,
            commit=VFLUTE_REVISION,
            gated=True,
            granted_tokens={"hf_good"},
        )
        done = load(server, tmp_path, "hf_good")
        assert done.stdout.split() == ["726", "irfl-validation-5"], done.stderr
        paths = {request.path for request in server.requests if "/resolve/" in request.path}
        assert all(VFLUTE_REVISION in path for path in paths)
        assert any("validation-00000" in path for path in paths)
        assert not any("train-" in path or "test-" in path for path in paths)
    for offline in ("", "1"):  # nobody listens at its address any more
        done = load(server, tmp_path, "hf_good", HF_HUB_OFFLINE=offline)
        assert done.stdout.split() == ["726", "irfl-validation-5"], done.stderr


def test_the_message_tells_a_gated_dataset_a_wrong_token_and_a_wrong_revision_apart(
    repository: Path, tmp_path: Path
) -> None:
    with HubServer() as server:
        server.add_repo(
            VFLUTE_REPO_ID,
            repository,
            commit="0" * 40,  # which is not the pinned revision
            gated=True,
            known_tokens={"hf_of_another"},
            granted_tokens={"hf_good"},
        )
        without_access = load(server, tmp_path, "hf_of_another").stderr
        wrong_token = load(server, tmp_path, "hf_wrong").stderr
        with_access = load(server, tmp_path, "hf_good").stderr
    message = without_access.splitlines()[-1]
    assert "access to ColumbiaNLP/V-FLUTE is not granted: the dataset is gated" in message
    assert "https://huggingface.co/datasets/ColumbiaNLP/V-FLUTE" in message
    assert "HF_TOKEN" in message and "$FIGLANG_DATA_DIR/V-FLUTE" in message
    assert "hf_of_another" not in without_access
    assert "access to ColumbiaNLP/V-FLUTE is not granted: the token is not valid" in wrong_token
    assert f"has no revision {VFLUTE_REVISION}, which this version asks for" in with_access


def test_all_tasks_together_ask_once_for_a_repository_that_is_refused(
    repository: Path, tmp_path: Path
) -> None:
    check = (
        "import figlang_tasks; from figlang_tasks.harness.preflight import preflight;"
        " preflight(figlang_tasks.task_manager(include_defaults=False), ['vflute', 'vflute_val',"
        " 'vflute_5shot'])"
    )
    with HubServer() as server:
        server.add_repo(VFLUTE_REPO_ID, repository, commit=VFLUTE_REVISION, gated=True)
        done = load(server, tmp_path, program=check)
        questions = [request.path.rpartition("/")[2] for request in server.requests]
    message = (
        "figlang_tasks: tasks vflute, vflute_val, vflute_5shot: access to ColumbiaNLP/V-FLUTE is"
        " not granted"
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        f"figlang_tasks.core.errors.DataError: {message}"
    )
    assert questions == ["auth-check"]


@pytest.mark.parametrize(
    ("offline", "reason"), [("1", "HF_HUB_OFFLINE is set. Unset it"), ("", "http://127.0.0.1:")]
)
def test_a_hub_that_cannot_be_reached_is_told_in_one_line_without_trying_again(
    tmp_path: Path, offline: str, reason: str
) -> None:
    with HubServer() as server:
        pass  # nobody listens at its address any more
    done = load(server, tmp_path, HF_HUB_OFFLINE=offline)
    message = done.stderr.splitlines()[-1]
    assert f"{VFLUTE_REPO_ID}@{VFLUTE_REVISION} is not on this machine, and {reason}" in message
    assert message.endswith("put the files into $FIGLANG_DATA_DIR/V-FLUTE.")
    assert "etry" not in done.stderr and "offline" in done.stderr.lower()


def test_a_hub_that_never_answers_is_given_up(repository: Path, tmp_path: Path) -> None:
    def answer_late(response: Response) -> Response:
        time.sleep(5)
        return response

    with HubServer(Fault("/auth-check", answer_late)) as server:
        server.add_repo(VFLUTE_REPO_ID, repository, commit=VFLUTE_REVISION)
        done = load(server, tmp_path, HF_HUB_ETAG_TIMEOUT="1")
    assert done.returncode == 1 and "timed out). Offline? Connect" in done.stderr.splitlines()[-1]
    assert not any("/resolve/" in request.path for request in server.requests)


# --- faults of the hub ---

FILE = "validation-00000-of-00001.parquet"
FETCH = (
    "import sys\n"
    "from figlang_tasks.core import benchmark, errors, hub\n"
    "try:\n"
    f"    print(hub.snapshot(benchmark.source_of('V-FLUTE'), ['*{FILE}']).folder)\n"
    "except errors.DataError as error:\n"
    "    sys.exit(f'DataError: {error}')\n"
)
AT_ONCE = (
    "import time\npause = time.sleep\ntime.sleep = lambda seconds: pause(min(seconds, 0.05))\n"
)
"""Stands before `FETCH`: the hub's client tries as often as ever, but without long pauses."""
CONTENT = "/lfs/"


def assert_loaded(done: subprocess.CompletedProcess[str], repository: Path) -> None:
    assert done.returncode == 0, done.stderr
    (loaded_file,) = Path(done.stdout.splitlines()[-1]).glob(f"data/{FILE}")
    assert loaded_file.read_bytes() == (repository / "data" / FILE).read_bytes()


@pytest.mark.parametrize(
    "fault",
    [Fault(CONTENT, break_off(), times=2), Fault(CONTENT, break_off(seconds=3), times=1)],
    ids=["cut off twice", "stalls once"],
)
def test_a_download_that_breaks_off_is_tried_again(
    fault: Fault, repository: Path, tmp_path: Path
) -> None:
    with HubServer(fault) as server:
        server.add_repo(VFLUTE_REPO_ID, repository, commit=VFLUTE_REVISION)
        assert_loaded(load(server, tmp_path, program=FETCH), repository)
    for path in complete_blobs(tmp_path):  # whose names are digests of what they hold
        content = path.read_bytes()
        git_id = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        assert path.name in (hashlib.sha256(content).hexdigest(), git_id)


TRIES_AGAIN = pytest.mark.slow  # the hub's client tries again and again


@pytest.mark.parametrize(
    ("part", "spoil", "message"),
    [
        ("/resolve/", status(403), r"does not give it \(.*403"),
        (FILE, status(404), r"does not give it \(.*404"),
        (CONTENT, shorten, r"file should be of size \d+ but has size \d+"),
        (CONTENT, status(503), r"does not give it \(.*503"),
        pytest.param(
            "/resolve/",
            status(429, Retry_After="1"),
            r"does not give it \(.*429.*or wait, and run again",
            marks=TRIES_AGAIN,
        ),
        pytest.param(
            CONTENT, break_off(), "peer closed connection|IncompleteRead", marks=TRIES_AGAIN
        ),
    ],
    ids=["403", "404", "wrong size", "503 of the CDN", "429", "always cut off"],
)
def test_a_lasting_fault_of_the_hub_is_one_message_and_leaves_nothing(
    part: str, spoil: Spoil, message: str, repository: Path, tmp_path: Path
) -> None:
    with HubServer(Fault(part, spoil)) as server:
        server.add_repo(VFLUTE_REPO_ID, repository, commit=VFLUTE_REVISION)
        done = load(server, tmp_path, program=AT_ONCE + FETCH)
        last_line = done.stderr.splitlines()[-1]
        assert done.returncode == 1
        pattern = rf"^DataError: .*({message}).*put the files into \$FIGLANG_DATA_DIR/V-FLUTE\.$"
        assert re.search(pattern, last_line), last_line
        assert "Traceback" not in done.stderr
        assert not complete_blobs(tmp_path)
        server.faults.clear()
        # What the failed load has left does no harm to the next one.
        assert_loaded(load(server, tmp_path, program=FETCH), repository)


# --- $FIGLANG_DATA_DIR; other faults: tests/benchmarks/vflute/faults.yaml ---


def test_missing_files_of_a_split_are_told(repository: Path, tmp_path: Path) -> None:
    """As a broken download leaves it."""
    shutil.copytree(repository, tmp_path / "V-FLUTE")
    (tmp_path / "V-FLUTE" / "data" / "train-00001-of-00003.parquet").unlink()
    with pytest.raises(
        DataError, match=r"2 of 3 files of split 'train' are in .*: the others are missing"
    ):
        parquet_files.split_files("V-FLUTE", "train", tmp_path / "V-FLUTE")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("IRFL", "correct the variable, or unset it to load from the hub"),
        ("NYK-MS", "correct the variable"),
    ],
)
def test_a_data_folder_that_does_not_exist_is_told_with_its_remedy(
    name: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, "/no/such/folder")
    message = f"FIGLANG_DATA_DIR=/no/such/folder is not a folder: {remedy}"
    with pytest.raises(DataError, match=f"^{message}$"):
        hub.snapshot(source_of(name))


@pytest.mark.parametrize("source", sources().values(), ids=lambda source: source.name)
def test_the_files_that_say_how_to_bring_rows_exist(source: hub.Source) -> None:
    for file in re.findall(r"[\w/.-]+\.(?:md|py)\b", source.bring):
        assert (ROOT / file).is_file(), f"bring of {source.name} names {file}"
