"""Loads data from a hub dataset at one revision, from ``FIGLANG_DATA_DIR``, or from this package.

The benchmarks declare their datasets (:mod:`figlang_tasks.core.benchmark`). Every source becomes a local folder in the
layout of the hub's repository, so the rest of the code reads all of them in one way.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from loguru import logger

from figlang_tasks.core.errors import DataError

if TYPE_CHECKING:
    import datasets

DATA_DIR_VARIABLE = "FIGLANG_DATA_DIR"
USE_THE_RELEASE = "Use the files of the original release."
OWN = "own"
"""In place of a revision: rows that the user brought, which are not those of the release."""

_TABLES = (".csv", ".json", ".jsonl", ".parquet", ".tsv", ".txt", ".zip")
_Loader = TypeVar("_Loader", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """A dataset: its name here, where it lives, and what it must contain.

    Attributes:
        name: folder name under ``FIGLANG_DATA_DIR``.
        splits: rows of each parquet split, in the published order.
        columns: columns that every parquet split must have.
        repository: dataset repository on the hub; None for data that this package ships or that has no release.
        revision: 40-hex commit that the repository is read at; None where it is not known: then the default branch,
            resolved once a process, or the user's pin (:attr:`pin_variable`).
        gated: the hub asks for the acceptance of conditions.
        folder: the shipped folder, for data that this package ships.
        title: in reports, where the name alone does not tell whose it is.
        gigabytes: to download, about; 0 where nothing is.
        bring: how users bring rows of their own: a command and a card.
    """

    name: str
    splits: dict[str, int] = field(hash=False, default_factory=dict)
    columns: tuple[str, ...] = ()
    repository: str | None = None
    revision: str | None = None
    gated: bool = False
    folder: Path | None = None
    title: str = ""
    bring: str = ""
    gigabytes: float = 0

    @property
    def access(self) -> str:
        """How users get the data."""
        if self.folder is not None:
            return "ships with the package"
        if self.repository is None:
            return "bring your own"
        return "gated" if self.gated else "open"

    @property
    def page(self) -> str:
        return f"https://huggingface.co/datasets/{self.repository}"

    @property
    def pin_variable(self) -> str:
        """Environment variable with a commit, tag or branch to read instead, e.g. ``FIGLANG_REVISION_IRFL``."""
        return "FIGLANG_REVISION_" + re.sub(r"\W", "_", self.name).upper()


@dataclass(frozen=True)
class Snapshot:
    """Files of a dataset on this machine.

    Attributes:
        folder: in the layout of the hub's repository.
        revision: 40-hex commit of the hub; ``local`` for ``FIGLANG_DATA_DIR``, ``package`` for shipped data.
    """

    folder: Path
    revision: str


@cache
def sources() -> Mapping[str, Source]:
    """The datasets of all benchmarks by name, as these declare them."""
    from figlang_tasks.core.benchmark import benchmarks

    return {source.name: source for benchmark in benchmarks().values() for source in benchmark.sources}


def source(name: str) -> Source:
    """Return the source called `name`.

    Raises:
        DataError: there is none.
    """
    known = sources()
    if name not in known:
        raise DataError(f"unknown dataset {name!r}; known: {', '.join(known)}")
    return known[name]


def kept(maxsize: int) -> Callable[[_Loader], _Loader]:
    """Keep the last results of a function whose first argument is the name of a dataset, as `functools.lru_cache`.

    A result is used again while the environment names the same folder or revision, and the tables there are as they
    were at the last :func:`look_again`: those of all datasets of the benchmark, because one may take data from another.
    """

    def decorate(load: _Loader) -> _Loader:
        found = lru_cache(maxsize=maxsize)(lambda state, *args, **kwargs: load(*args, **kwargs))

        @wraps(load)
        def same(name: str, *args: Any, **kwargs: Any) -> Any:
            return found(_state(name), name, *args, **kwargs)

        same.cache_clear = found.cache_clear  # type: ignore[attr-defined]
        return cast("_Loader", same)

    return decorate


def look_again() -> None:
    """Look at the files in ``FIGLANG_DATA_DIR`` again; not while a run asks, which would mix old and new rows."""
    _tables.cache_clear()


def _state(name: str) -> Hashable:
    """What decides the rows of a dataset; files of the hub and of this package do not change."""
    from figlang_tasks.core.benchmark import of_dataset

    root = os.environ.get(DATA_DIR_VARIABLE)
    origins = of_dataset(name).sources
    tables = [_tables(Path(root).expanduser().absolute() / each.name) for each in origins] if root else []
    return root, *(os.environ.get(each.pin_variable) for each in origins), *tables


@cache
def _tables(folder: Path) -> Hashable:
    """A folder, the tables and the folders below it, each with what changes when it is written; nothing without it."""
    paths = [str(folder)]
    for place, folders, files in os.walk(folder):
        paths += [os.path.join(place, each) for each in (*folders, *(each for each in files if each.endswith(_TABLES)))]
    written = [(path, os.stat(path)) for path in paths if os.path.exists(path)]  # not a link to nothing
    return tuple((path, stat.st_mtime_ns, stat.st_size, stat.st_ino) for path, stat in written)


@kept(maxsize=8)
def load_split(name: str, split: str) -> tuple[datasets.Dataset, tuple[str, ...]]:
    """Load one split of a dataset; only this split is downloaded.

    Columns that a dataset does not have by :func:`sources` are left out, with a warning.

    Args:
        name: of a dataset of a benchmark.
        split: one of its splits.

    Returns:
        The rows, and what is wrong with their number.

    Raises:
        DataError: dataset or split unknown, not reachable, access not granted, damaged, or without a column.
    """
    origin = source(name)
    if split not in origin.splits:
        raise DataError(f"{name} has no split {split!r}; it has: {', '.join(origin.splits)}")
    folder = snapshot(origin, ["README.md", f"*{split}-*.parquet"]).folder
    files = split_files(name, split, folder)
    if not files:
        present = ", ".join(sorted(str(path.relative_to(folder)) for path in folder.glob("**/*.parquet"))) or "none"
        raise DataError(
            f"{name}: no file {split}-*.parquet for split {split!r} in {folder} (parquet files there: {present}). "
            "The folder must have the layout of the hub repository: data/<split>-00000-of-0000N.parquet"
            + (f"; for rows of your own see {origin.bring}" if origin.bring else "")
        )
    where = f"{name}: split {split!r} in {folder}"
    rows = read_parquet(files, origin.columns, where)
    if unknown := [column for column in rows.column_names if column not in origin.columns]:
        logger.warning(f"figlang_tasks: {where} has unused columns: {', '.join(unknown)}")
    faults = []
    if len(rows) != origin.splits[split]:
        faults.append(
            f"{where} has {len(rows)} rows, the published one has {origin.splits[split]}. "
            "Ids and instructions depend on the row order of the whole split; to run fewer rows use --limit."
        )
    return rows.select_columns(list(origin.columns)), tuple(faults)


def split_files(name: str, split: str, folder: Path) -> list[Path]:
    """The Parquet files of a split, in order; none where there is none.

    Raises:
        DataError: there are fewer than their names say.
    """
    files = sorted(folder.glob(f"**/{split}-*.parquet"))
    parts = {int(found[1]) for path in files if (found := re.search(r"-of-(\d+)\.parquet$", path.name))}
    if parts and max(parts) > len(files):
        raise DataError(
            f"{name}: {len(files)} of {max(parts)} files of split {split!r} are in {folder}: the others are missing. "
            "Connect to the hub (HF_HUB_OFFLINE unset) and run again, or copy all files."
        )
    return files


def read_parquet(files: Sequence[Path], columns: Sequence[str], where: str) -> datasets.Dataset:
    """Read Parquet files.

    Args:
        files: of one table, in order.
        columns: that it must have.
        where: names the files in errors.

    Raises:
        DataError: a file is damaged, or a column is missing.
    """
    import datasets

    try:
        rows = datasets.load_dataset(
            "parquet", data_files=[str(path) for path in files], split="train", verification_mode="no_checks"
        )
        rows.data.validate(full=True)  # else a text that is not UTF-8 is found by whoever reads that row
    except (datasets.exceptions.DatasetGenerationError, OSError, ValueError) as error:
        cause = error.__cause__ or error
        raise DataError(
            f"{where} cannot be read ({type(cause).__name__}: {cause}). Delete the damaged file and load it again."
        ) from error
    if missing := [column for column in columns if column not in rows.column_names]:
        raise DataError(
            f"{where} lacks column(s) {', '.join(missing)} (it has: {', '.join(rows.column_names)}). {USE_THE_RELEASE}"
        )
    return rows


def local_folder(origin: Source) -> Path | None:
    """The folder of a dataset in ``FIGLANG_DATA_DIR``; None if the variable is not set, or such a folder is not there.

    Raises:
        DataError: the variable does not name a folder.
    """
    root = os.environ.get(DATA_DIR_VARIABLE)
    if not root:
        return None
    if not Path(root).expanduser().is_dir():
        raise DataError(
            f"{DATA_DIR_VARIABLE}={root} is not a folder: correct the variable, or unset it to load from the hub"
        )
    folder = Path(root).expanduser() / origin.name
    return folder if folder.is_dir() else None


def snapshot(origin: Source, patterns: Sequence[str]) -> Snapshot:
    """Return the files of a dataset: from FIGLANG_DATA_DIR, this package, or downloaded from the hub.

    Args:
        origin: the dataset.
        patterns: glob patterns of the files that are needed; only these are downloaded. A local folder is returned even
            if it lacks them.

    Raises:
        DataError: the data is not available; the message has the reason and the remedy.
    """
    if folder := local_folder(origin):
        logger.info(f"figlang_tasks: {origin.name} from {folder} ({DATA_DIR_VARIABLE})")
        return Snapshot(folder, "local")
    if (root := os.environ.get(DATA_DIR_VARIABLE)) and origin.repository is not None:
        logger.warning(
            f"figlang_tasks: {DATA_DIR_VARIABLE}={root} has no folder {origin.name}: it is not used for this dataset"
        )
    if origin.folder is not None:
        return Snapshot(origin.folder, "package")
    if origin.repository is None:
        raise DataError(
            f"{origin.name} is not on the hub: put its files into a folder {origin.name} and set "
            f"{DATA_DIR_VARIABLE} to the folder above it" + (f"; to make them: {origin.bring}" if origin.bring else "")
        )
    if _failed is not None and origin.name in _failed:
        raise _failed[origin.name]
    try:
        return _download(origin, patterns)
    except DataError as error:
        if _failed is not None and error.__cause__ is not None:  # one without a cause is about a single file
            _failed[origin.name] = error
        raise


_failed: dict[str, DataError] | None = None  # by name of the source, while asking_once() is open


@contextmanager
def asking_once() -> Iterator[None]:
    """Inside the block a repository that failed is not tried again: the same error is raised."""
    global _failed
    before, _failed = _failed, {}
    try:
        yield
    finally:
        _failed = before


def folder(name: str) -> Path:
    """Return the folder of a dataset on this machine, below which all files lie that its rows may name.

    Raises:
        DataError: as :func:`source` and :func:`snapshot`.
    """
    return _folder(source(name), os.environ.get(DATA_DIR_VARIABLE))


@lru_cache(maxsize=16)
def _folder(origin: Source, root: str | None) -> Path:
    """`root` is part of the cache key: another folder gives another answer."""
    return snapshot(origin, []).folder


_ATTEMPTS = 3
_LONGEST_PAUSE = 300.0  # the hub's limits are for five minutes
_resolved: dict[str, str] = {}  # repository -> commit, so that one process never mixes two


def _download(origin: Source, patterns: Sequence[str], attempt: int = 1) -> Snapshot:
    from huggingface_hub import errors, snapshot_download

    assert origin.repository is not None
    asked = os.environ.get(origin.pin_variable) or origin.revision or "main"
    revision = _resolved.get(f"{origin.repository}@{asked}", asked)
    logger.info(f"figlang_tasks: {origin.name} from {origin.repository}@{revision}")
    elsewhere = f"or put the files into ${DATA_DIR_VARIABLE}/{origin.name}"
    conditions = (
        f"the dataset is gated: accept its conditions on {origin.page}" if origin.gated else f"see {origin.page}"
    )
    started = time.time()
    try:
        folder = Path(
            snapshot_download(origin.repository, repo_type="dataset", revision=revision, allow_patterns=[*patterns])
        )
    except errors.GatedRepoError as error:
        raise DataError(
            f"access to {origin.repository} is not granted: the dataset is gated. Accept its conditions on "
            f"{origin.page} and set HF_TOKEN to a token of that account (or run `hf auth login`), {elsewhere}."
        ) from error
    except errors.RevisionNotFoundError as error:
        whose = origin.pin_variable if os.environ.get(origin.pin_variable) else "this version"
        raise DataError(
            f"{origin.repository} has no revision {revision}, which {whose} asks for: see {origin.page}"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise DataError(
            f"{origin.repository} is not visible ({_first_line(error)}). If HF_TOKEN is set, check that it is valid; "
            f"{conditions}, {elsewhere}."
        ) from error
    except Exception as error:  # the HTTP library's own errors (a connection cut off) have no common base here
        refused = _refused(error)
        told = f"HTTP status {refused}" if refused else f"{type(error).__name__}: {_first_line(error)}"
        pause = _pause(error, attempt)
        if pause is not None:
            logger.warning(f"figlang_tasks: {origin.repository}: {told}; trying again")
            time.sleep(pause)
            return _download(origin, patterns, attempt + 1)
        if refused == 401:
            raise DataError(
                f"the hub refuses the token given for {origin.repository}: put a valid one into HF_TOKEN "
                f"(or run `hf auth login`) of an account that has access to {origin.page}, {elsewhere}."
            ) from error
        if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "on", "yes", "true"):
            raise DataError(
                f"{origin.repository}@{revision} is not in the cache of this machine, and HF_HUB_OFFLINE is set. Unset "
                f"it and run once with a connection, {elsewhere}."
            ) from error
        advice = "Wait some minutes" if refused == 429 else "Check the connection and HF_ENDPOINT / HF_HUB_OFFLINE"
        raise DataError(
            f"{origin.repository} cannot be downloaded ({told}). {advice} and run again, {elsewhere}."
        ) from error
    _check_downloaded(origin.repository, folder, started)
    _resolved[f"{origin.repository}@{asked}"] = folder.name  # the cache names a snapshot's folder after its commit
    return Snapshot(folder, folder.name)


def _pause(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before a download is tried again, where the hub's client does not do so; None: do not."""
    response = _response(error)
    if response is not None and response.status_code >= 500:
        return 2 if attempt == 1 else None
    import huggingface_hub

    if int(huggingface_hub.__version__.partition(".")[0]) >= 1 or attempt > _ATTEMPTS:
        return None
    # Before 1.0 (which transformers 4 takes) it waits for nobody, and goes on with a file at the next call only.
    if response is not None and response.status_code == 429:
        wait = response.headers.get("Retry-After", "")
        return min(float(wait), _LONGEST_PAUSE) if wait.isdigit() else 5
    return 2 if type(error).__module__.startswith("requests.") else None


def _refused(error: BaseException | None) -> int | None:
    """The HTTP status of an error of the hub's client, or of what it comes from."""
    response = _response(error)
    return None if response is None else int(response.status_code)


def _response(error: BaseException | None) -> Any:
    from huggingface_hub import errors

    while error is not None:
        if isinstance(error, errors.HfHubHTTPError) and error.response is not None:
            return error.response
        error = error.__cause__ or error.__context__
    return None


def _check_downloaded(repository: str, folder: Path, started: float) -> None:
    """Compare files that were just downloaded with their checksum, which is their name in the hub's cache.

    The hub's client compares sizes only. Older files were checked when they were downloaded.

    Raises:
        DataError: one differs; it has been deleted.
    """
    for path in sorted(folder.rglob("*")):
        blob = path.resolve()
        if blob.parent.name != "blobs" or blob.stat().st_mtime < started - 1:
            continue
        if len(blob.name) == 64:
            digest = hashlib.sha256()
        elif len(blob.name) == 40:
            digest = hashlib.sha1(b"blob %d\0" % blob.stat().st_size)  # as git names it
        else:
            continue
        with blob.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        if digest.hexdigest() != blob.name:
            path.unlink()
            blob.unlink(missing_ok=True)
            raise DataError(
                f"{repository}: {path.relative_to(folder)} was damaged by the download: its checksum is "
                f"{digest.hexdigest()}, the hub has {blob.name}. The file was deleted. Run again. If the error comes "
                "back, a proxy or the server of HF_ENDPOINT changes files."
            )


def read_name(name: object) -> dict[str, str]:
    """Parse the ``dataset_name`` of a task file, e.g. ``FLUTE,part=train,prompt=v2``, key by key.

    The harness hands it to ``process_docs`` as the ``config_name`` of its stub, which is ``default`` where a task file
    has none. It may hold none of ``<>:/\\|?*``.

    Returns:
        ``dataset`` (what stands first), and each key with its value.

    Raises:
        DataError: it is missing, or does not have this form.
    """
    if name in (None, "default"):
        raise DataError("dataset_name is missing: it names the data, for example dataset_name: V-FLUTE,split=test")
    if not isinstance(name, str):
        raise DataError(f"dataset_name is {name!r}, must be a text, for example dataset_name: V-FLUTE,split=test")
    dataset, *rest = name.split(",")
    found = {"dataset": dataset}
    for each in rest:
        key, _, value = each.partition("=")
        if not (key and value) or key in found:
            wrong = f"{key} occurs twice" if key in found else f"{each!r} does not have the form key=value"
            raise DataError(f"dataset_name {name!r}: {wrong}; it must look like V-FLUTE,split=test")
        found[key] = value
    return found


def named(name: object, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, str]:
    """Return what a ``dataset_name`` says (:func:`read_name`) of a benchmark whose keys are these.

    Raises:
        DataError: as :func:`read_name`; also for a key that is missing or unknown.
    """
    found = read_name(name)
    missing = [key for key in required if key not in found]
    unknown = [key for key in found if key not in ("dataset", *required, *optional)]
    if missing or unknown:
        faults = [f"{what} {', '.join(keys)}" for what, keys in (("no", missing), ("unknown", unknown)) if keys]
        form = ",".join(["DATASET", *(f"{key}=..." for key in required)]) + "".join(f"[,{key}=...]" for key in optional)
        raise DataError(f"dataset_name {name!r} has {' and '.join(faults)}; it must be {form}")
    return found


def stub(name: object) -> datasets.Dataset:
    """Return the one row that the harness hands to ``process_docs`` of a task with this ``dataset_name``."""
    import datasets

    info = datasets.DatasetInfo(config_name=name)
    return datasets.Dataset.from_list([{"stub": "dataset_name says which data"}], info=info)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "no message")
