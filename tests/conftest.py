"""Shared fixtures."""

from __future__ import annotations

import gc
import os
import ssl
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from commands import logged_warnings
from fast_yaml import read_yaml_in_c
from hub_server import ask_the_hub_at_once
from hypothesis import HealthCheck, settings

# Before torch is imported, here and in child processes: models this small are several times quicker
# on one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Some tests have a hub of their own; those that are offline say so themselves.
for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
    os.environ.pop(name, None)
# Nothing that the user has set changes what a test finds: no data, revision, scorer or cache of
# theirs. FIGLANG_WEIGHTS_DIR stays, for the tests that need weights; FIGLANG_TEST_RUNS is ours.
for name in list(os.environ):
    if name.startswith("FIGLANG_") and name not in ("FIGLANG_WEIGHTS_DIR", "FIGLANG_TEST_RUNS"):
        del os.environ[name]
# The scorer that needs no hub.
os.environ["FIGLANG_SCORER"] = "embedded"
# datasets reports to the hub that files are loaded, local ones too: 5 seconds each where there is
# no network.
os.environ["HF_UPDATE_DOWNLOAD_COUNTS"] = "0"
# What several processes of the tests share (varied_run of demo_runs.py): the first process makes
# the folder.
if "FIGLANG_TEST_RUNS" not in os.environ:
    _RUNS = tempfile.TemporaryDirectory(prefix="figlang-runs-", ignore_cleanup_errors=True)
    os.environ["FIGLANG_TEST_RUNS"] = _RUNS.name
# A score cache that outlasts no run.
os.environ["FIGLANG_CACHE"] = tempfile.mkdtemp(prefix="cache-", dir=os.environ["FIGLANG_TEST_RUNS"])

# Of a property, 30 inputs are tried (as tools/mutants.py does), and 100 with
# --hypothesis-profile=default, however long it takes: no test may depend on what else the machine
# does.
for _profile, _tried in (("default", 100), ("fast", 30)):
    settings.register_profile(
        _profile, max_examples=_tried, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("fast")

ask_the_hub_at_once()
read_yaml_in_c()
# Each call of a command in a test made all commands anew, a tenth of a second.
typer.testing._get_command = lru_cache(typer.testing._get_command)
# Each client of a server read the certificates of the whole web anew, a fiftieth of a second.
_ssl: Any = ssl
_ssl.create_default_context = cache(ssl.create_default_context)

SHARED = Path(__file__).resolve().parents[2] / "shared"


# Modules that keep what they have read, or have told once.
KEEP_DATA = (
    "figlang_tasks.core.hub",
    "figlang_tasks.core.images",
    "figlang_tasks.core.benchmark",
    "figlang_tasks.benchmarks.",
    "figlang_tasks.scoring.task",
    "figlang_tasks.metrics.caption_java",
)
# Files that take longest, so that no process starts one of them when the others have finished
# (--dist loadfile).
LONGEST = (
    "test_end_to_end.py",
    "test_growth.py",
    "test_sections.py",
    "test_api_server.py",
    "test_plugin.py",
    "test_vlm.py",
    "test_openai_scores.py",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Turn garbage collection off while the test files and all that they import are read.

    It would take a quarter of that time, and find nearly all objects in use. During the tests it
    looks for garbage less often than it would by default, after 700 objects.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Prepare what the test files have imported: `datasets`, and the server of commands."""
    if "datasets" in sys.modules:
        name_datasets_at_random()
    if "warm" in sys.modules:
        sys.modules["warm"].start_server()


def name_datasets_at_random() -> None:
    """Give new datasets a random fingerprint, which names the file of a cache that nobody uses.

    To hash all that they hold takes as long as to read most of the datasets of the tests.
    """
    from datasets import arrow_dataset, fingerprint

    def draw_fingerprint(dataset: arrow_dataset.Dataset) -> str:
        return fingerprint.generate_random_fingerprint()

    arrow_dataset.generate_fingerprint = draw_fingerprint


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In one of several processes, begin with the files that take longest; otherwise keep the
    order.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    items.sort(
        key=lambda item: (
            LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST)
        )
    )


@pytest.fixture(autouse=True)
def no_cached_data() -> Iterator[None]:
    """Forget what this test loaded, as tests point FIGLANG_DATA_DIR at different folders, and what
    it told.
    """
    yield
    for forget in _caches(len(sys.modules)):
        forget()


@lru_cache(maxsize=1)
def _caches(modules: int) -> list[Callable[[], None]]:
    """What forgets data, while there are as many modules: looking for it takes longer than most
    tests.
    """
    clear: list[Callable[[], None]] = []
    for name, module in list(sys.modules.items()):
        if not name.startswith(KEEP_DATA):
            continue
        for value in vars(module).values():
            # Not what it imports: homes.py reads what all installed packages say of themselves.
            if hasattr(value, "cache_clear") and value.__module__ == name:
                clear.append(value.cache_clear)
    return clear


@pytest.fixture(scope="module", autouse=True)
def less_to_collect() -> None:
    """Take what earlier modules have imported out of garbage collection, of which the harness does
    two in each run.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let the interpreter end as it would; the processes of ``-n`` end at once."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        gc.unfreeze()


@pytest.fixture
def shared_file(request: pytest.FixtureRequest) -> Path:
    """A file of the project's shared folder, named by an indirect parameter; skips where there is
    none.
    """
    path = SHARED / request.param
    if not path.is_file():
        pytest.skip(f"shared/{request.param} is not beside this checkout")
    return path


@pytest.fixture
def warnings_of_loguru() -> Iterator[list[str]]:
    """The messages of level WARNING and above that are logged during the test."""
    with logged_warnings() as messages:
        yield messages
