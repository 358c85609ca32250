"""Faults of the hub, over real HTTP: data after another attempt, or one message; never half a file in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import faulty_hub
import pytest
import warm
from faulty_hub import Fault, FaultyHub
from vflute_hub import REPO_ID, REVISION, synthetic_rows, write_vflute_repo

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


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository") / "V-FLUTE"
    write_vflute_repo(folder, {"validation": synthetic_rows("validation", 60)}, image_size=8)
    return folder


def load(hub: FaultyHub, home: Path, program: str = LOAD) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("FIGLANG_DATA")}
    env |= hub.env(home) | {"HF_HUB_DOWNLOAD_TIMEOUT": "1"}
    return warm.run([sys.executable, "-c", program], env=env, cwd=home, timeout=200)


def assert_loaded(done: subprocess.CompletedProcess[str], repository: Path) -> None:
    assert done.returncode == 0, done.stderr
    (loaded,) = Path(done.stdout.splitlines()[-1]).glob(f"data/{FILE}")
    assert loaded.read_bytes() == (repository / "data" / FILE).read_bytes()


@pytest.mark.parametrize(
    "fault",
    [Fault(CONTENT, faulty_hub.cut(), times=2), Fault(CONTENT, faulty_hub.stall(), times=1)],
    ids=["cut off twice", "stalls once"],
)
def test_another_attempt_helps(fault: Fault, repository: Path, tmp_path: Path) -> None:
    with FaultyHub(fault) as hub:
        hub.add_repo(REPO_ID, repository, commit=REVISION)
        assert_loaded(load(hub, tmp_path), repository)
    for path in faulty_hub.blobs(tmp_path):  # what the cache holds under its final name is what the name says
        content = path.read_bytes()
        git_id = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        assert path.name in (hashlib.sha256(content).hexdigest(), git_id)


SLOW = pytest.mark.slow  # the hub's client tries again and again


@pytest.mark.parametrize(
    ("part", "spoil", "message"),
    [
        ("/resolve/", faulty_hub.status(403), r"does not give it \(.*403"),
        (FILE, faulty_hub.status(404), r"does not give it \(.*404"),
        (CONTENT, faulty_hub.shorter(), r"file should be of size \d+ but has size \d+"),
        (CONTENT, faulty_hub.status(503), r"does not give it \(.*503"),
        pytest.param(
            "/resolve/",
            faulty_hub.status(429, Retry_After="1"),
            r"does not give it \(.*429.*or wait, and run again",
            marks=SLOW,
        ),
        pytest.param(CONTENT, faulty_hub.cut(), "peer closed connection|IncompleteRead", marks=SLOW),
    ],
    ids=["403", "404", "wrong size", "503 of the CDN", "429", "always cut off"],
)
def test_one_message_when_nothing_helps(
    part: str, spoil: faulty_hub.Spoil, message: str, repository: Path, tmp_path: Path
) -> None:
    with FaultyHub(Fault(part, spoil)) as hub:
        hub.add_repo(REPO_ID, repository, commit=REVISION)
        done = load(hub, tmp_path, AT_ONCE + LOAD)
        told = done.stderr.splitlines()[-1]
        assert done.returncode == 1
        assert re.search(rf"^DataError: .*({message}).*put the files into \$FIGLANG_DATA_DIR/V-FLUTE\.$", told), told
        assert "Traceback" not in done.stderr
        assert not faulty_hub.blobs(tmp_path)
        hub.faults.clear()
        assert_loaded(load(hub, tmp_path), repository)  # what is left of the first attempt does no harm
