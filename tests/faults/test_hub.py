"""Faults of the hub, over real HTTP: data after another attempt, or one message; never half a file in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import faulty_hub
import huggingface_hub
import pytest
import warm
from faulty_hub import Fault, FaultyHub
from vflute_hub import REPO_ID, REVISION, synthetic_rows, write_vflute_repo

from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, load_split

FILE = "validation-00000-of-00001.parquet"
LOAD = (
    "import sys\n"
    "from figlang_tasks.core import hub\n"
    "try:\n"
    f"    print(hub.snapshot(hub.source('V-FLUTE'), ['*{FILE}']).folder)\n"
    "except hub.DataError as error:\n"
    "    sys.exit(f'DataError: {error}')\n"
)
AT_ONCE = "import time\npause = time.sleep\ntime.sleep = lambda seconds: pause(min(seconds, 0.05))\n"
"""Before :data:`LOAD`: the hub's client tries as often as it does, for a minute in all, without its pauses."""
CONTENT = "/lfs/"
# What tells which files there are, by version of the hub's client.
LISTING = "/tree/" if hasattr(huggingface_hub, "parse_eval_result_entries") else "/api/datasets/"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository") / "V-FLUTE"
    write_vflute_repo(folder, {"validation": synthetic_rows("validation", 60)}, image_size=8)
    return folder


def load(hub: FaultyHub, home: Path, program: str = LOAD, **variables: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith("FIGLANG_DATA")}
    env |= hub.env(home) | {"HF_HUB_DOWNLOAD_TIMEOUT": "1"} | variables
    return warm.run([sys.executable, "-c", program], env=env, cwd=home, timeout=200)


def assert_loaded(done: subprocess.CompletedProcess[str], repository: Path) -> None:
    assert done.returncode == 0, done.stderr
    (loaded,) = Path(done.stdout.splitlines()[-1]).glob(f"data/{FILE}")
    assert loaded.read_bytes() == (repository / "data" / FILE).read_bytes()


def assert_only_whole_files(home: Path) -> None:
    """What the cache holds under its final name has the content that the name says."""
    for path in faulty_hub.blobs(home):
        content = path.read_bytes()
        git_id = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        assert path.name in (hashlib.sha256(content).hexdigest(), git_id)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(CONTENT, faulty_hub.cut(), times=2),
        Fault(CONTENT, faulty_hub.stall(), times=1),
        Fault(CONTENT, faulty_hub.drip()),
    ],
    ids=["cut off twice", "stalls once", "slow drip"],
)
def test_another_attempt_helps(fault: Fault, repository: Path, tmp_path: Path) -> None:
    with FaultyHub(fault) as hub:
        hub.add_repo(REPO_ID, repository, commit=REVISION)
        assert_loaded(load(hub, tmp_path), repository)
    assert_only_whole_files(tmp_path)


ELSEWHERE = r"put the files into \$FIGLANG_DATA_DIR/V-FLUTE\.$"
SLOW = pytest.mark.slow  # the hub's client tries again and again


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("/resolve/", faulty_hub.status(401), any_method=True), "the token is not valid.*HF_TOKEN"),
        (Fault("/resolve/", faulty_hub.status(403), any_method=True), r"does not give it \(.*403"),
        (Fault(FILE, faulty_hub.status(404), any_method=True), r"does not give it \(.*404"),
        (Fault(CONTENT, faulty_hub.shorter()), r"file should be of size \d+ but has size \d+"),
        (Fault(CONTENT, faulty_hub.status(503)), r"does not give it \(.*503"),
        pytest.param(
            Fault("/resolve/", faulty_hub.status(429, Retry_After="1"), any_method=True),
            r"does not give it \(.*429.*or wait, and run again",
            marks=SLOW,
        ),
        pytest.param(Fault(LISTING, faulty_hub.status(500)), r"does not give it \(.*500", marks=SLOW),
        pytest.param(Fault(CONTENT, faulty_hub.cut()), "peer closed connection|IncompleteRead", marks=SLOW),
    ],
    ids=["401", "403", "404", "wrong size", "503 of the CDN", "429", "500", "always cut off"],
)
def test_one_message_when_nothing_helps(fault: Fault, message: str, repository: Path, tmp_path: Path) -> None:
    with FaultyHub(fault) as hub:
        hub.add_repo(REPO_ID, repository, commit=REVISION)
        done = load(hub, tmp_path, AT_ONCE + LOAD)
        told = done.stderr.splitlines()[-1]
        assert done.returncode == 1
        assert re.search(f"^DataError: .*({message}).*{ELSEWHERE}", told), told
        assert "Traceback" not in done.stderr
        assert not faulty_hub.blobs(tmp_path)
        hub.faults.clear()
        assert_loaded(load(hub, tmp_path), repository)  # what is left of the first attempt does no harm


def test_offline_without_a_cache(repository: Path, tmp_path: Path) -> None:
    with FaultyHub() as hub:
        hub.add_repo(REPO_ID, repository, commit=REVISION)
        done = load(hub, tmp_path, HF_HUB_OFFLINE="1")
        assert done.returncode == 1
        message = rf"^DataError: {REPO_ID}@{REVISION} is not on this machine, and HF_HUB_OFFLINE is set\."
        assert re.search(message + ".*" + ELSEWHERE, done.stderr.splitlines()[-1])
        assert not hub.requests


def test_a_warm_cache_needs_no_hub(repository: Path, tmp_path: Path) -> None:
    with FaultyHub() as hub:
        hub.add_repo(REPO_ID, repository, commit=REVISION)
        assert_loaded(load(hub, tmp_path), repository)
        asked = len(hub.requests)
        assert_loaded(load(hub, tmp_path, HF_HUB_OFFLINE="1"), repository)
        assert len(hub.requests) == asked
    assert_loaded(load(hub, tmp_path), repository)  # the hub is gone


def test_part_of_a_split_is_told(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a broken download leaves of the three files of the train split, read without a hub."""
    folder = tmp_path / "V-FLUTE" / "data"
    folder.mkdir(parents=True)
    for number in (0, 2):
        (folder / f"train-0000{number}-of-00003.parquet").write_bytes((repository / "data" / FILE).read_bytes())
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    with pytest.raises(DataError, match="2 of 3 files of split 'train' are in .*: the others are missing"):
        load_split("V-FLUTE", "train")
