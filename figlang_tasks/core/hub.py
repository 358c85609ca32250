"""Loads data from a hub dataset at one revision, from ``FIGLANG_DATA_DIR``, or from this package.

The benchmarks declare their datasets (:mod:`figlang_tasks.core.benchmark`). Every source becomes a local folder in the
layout of the hub's repository, so the rest of the code reads all of them in one way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from loguru import logger

from figlang_tasks.core.benchmark import Source as Source
from figlang_tasks.core.benchmark import source as source
from figlang_tasks.core.benchmark import sources as sources
from figlang_tasks.core.errors import DataError, PartMissing

if TYPE_CHECKING:
    import datasets

DATA_DIR_VARIABLE = "FIGLANG_DATA_DIR"
USE_THE_RELEASE = "Use the files of the original release."
OWN = "own"
"""In place of a revision: rows that the user brought, which are not those of the release."""

_VARIABLES = (DATA_DIR_VARIABLE, "FIGLANG_REVISION_")
_Loader = TypeVar("_Loader", bound=Callable[..., Any])


@dataclass(frozen=True)
class Snapshot:
    """Files of a dataset on this machine.

    Attributes:
        folder: in the layout of the hub's repository.
        revision: 40-hex commit of the hub; ``local`` for ``FIGLANG_DATA_DIR``, ``package`` for shipped data.
    """

    folder: Path
    revision: str


_kept: list[Any] = []


def kept(maxsize: int) -> Callable[[_Loader], _Loader]:
    """Keep the last results of a loader of data, as `functools.lru_cache`, until :func:`look_again`.

    The variables of the environment that say where data comes from are part of the key.
    """

    def decorate(load: _Loader) -> _Loader:
        found = lru_cache(maxsize=maxsize)(lambda environment, *args, **kwargs: load(*args, **kwargs))
        _kept.append(found)
        return cast("_Loader", wraps(load)(lambda *args, **kwargs: found(_environment(), *args, **kwargs)))

    return decorate


def look_again() -> None:
    """Read data anew from now on; not while a run asks, which would mix old and new rows."""
    for loader in _kept:
        loader.cache_clear()


def _environment() -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_VARIABLES))


@kept(maxsize=8)
def load_split(name: str, split: str) -> tuple[datasets.Dataset, tuple[str, ...]]:
    """The rows of one split of a dataset, and what is wrong with their number; only this split is downloaded.

    Columns that its :class:`Source` does not name are left out, with a warning.

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
        raise PartMissing(
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
    """The Parquet files of a split, in order; none where there is none."""
    files = sorted(folder.glob(f"**/{split}-*.parquet"))
    parts = {int(found[1]) for path in files if (found := re.search(r"-of-(\d+)\.parquet$", path.name))}
    if parts and max(parts) > len(files):
        raise DataError(
            f"{name}: {len(files)} of {max(parts)} files of split {split!r} are in {folder}: the others are missing. "
            "Connect to the hub (HF_HUB_OFFLINE unset) and run again, or copy all files."
        )
    return files


def read_parquet(files: Sequence[Path], columns: Sequence[str], where: str) -> datasets.Dataset:
    """The table in some Parquet files, which must have these columns; `where` names them in errors."""
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
    """The folder of a dataset in ``FIGLANG_DATA_DIR``; None without the variable, or without such a folder."""
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
    """The files of a dataset: from FIGLANG_DATA_DIR, this package, or the hub, downloaded as far as `patterns` ask."""
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
    """Inside the block, the start of a run, data is read anew, and a repository that failed is not asked again."""
    global _failed
    look_again()
    before, _failed = _failed, {}
    try:
        yield
    finally:
        _failed = before


@kept(maxsize=16)
def folder(name: str) -> Path:
    """Return the folder of a dataset on this machine, below which all files lie that its rows may name."""
    return snapshot(source(name), []).folder


def _download(origin: Source, patterns: Sequence[str]) -> Snapshot:
    from huggingface_hub import HfApi, errors, snapshot_download

    assert origin.repository is not None
    revision = os.environ.get(origin.pin_variable) or origin.revision or "main"
    logger.info(f"figlang_tasks: {origin.name} from {origin.repository}@{revision}")
    refused: Exception | None = None
    try:  # one question first: the hub's client tries to download for half a minute where no hub can be reached
        HfApi().auth_check(origin.repository, repo_type="dataset")
    except Exception as error:  # the HTTP library's own errors have no common base here
        refused = error
    try:
        found = snapshot_download(
            origin.repository,
            repo_type="dataset",
            revision=revision,
            allow_patterns=[*patterns],
            local_files_only=refused is not None,
        )
    except errors.RevisionNotFoundError as error:
        whose = origin.pin_variable if os.environ.get(origin.pin_variable) else "this version"
        raise DataError(
            f"{origin.repository} has no revision {revision}, which {whose} asks for: see {origin.page}"
        ) from error
    except Exception as error:
        why = _reason(origin, revision, refused or error, reached=refused is None)
        raise DataError(f"{why}, or put the files into ${DATA_DIR_VARIABLE}/{origin.name}.") from error
    return Snapshot(Path(found), Path(found).name)  # the cache names a snapshot's folder after its commit


def _reason(origin: Source, revision: str, error: Exception, reached: bool) -> str:
    """Why a dataset could not be downloaded, and what to do; `reached`: the hub answered the first question."""
    from huggingface_hub import constants, errors

    chain: list[BaseException | None] = [error, error.__cause__, error.__context__]
    answered = next((each for each in chain if isinstance(each, errors.HfHubHTTPError)), None)
    if answered is not None:
        status = answered.response.status_code
        if status != 401 and not isinstance(answered, errors.RepositoryNotFoundError):
            return f"{origin.repository} cannot be downloaded (HTTP status {status}). Wait some minutes and run again"
        gated = isinstance(answered, errors.GatedRepoError)
        why = "the dataset is gated. Accept its conditions on" if gated else "the token is not valid. See"
        return (
            f"access to {origin.repository} is not granted: {why} {origin.page} and set HF_TOKEN to a token of an "
            "account that has access (or run `hf auth login`)"
        )
    told = next(iter(str(error).strip().splitlines()), type(error).__name__)
    if reached:
        return f"{origin.repository} cannot be downloaded ({told}). Run again"
    missing = f"{origin.repository}@{revision} is not on this machine, and"
    if constants.HF_HUB_OFFLINE:
        return f"{missing} HF_HUB_OFFLINE is set. Unset it, connect and run again"
    where = f"{constants.ENDPOINT} cannot be reached ({told})"
    return f"{missing} {where}: offline? Connect, check HF_ENDPOINT and run again"


def read_name(name: object) -> dict[str, str]:
    """``dataset`` and each key with its value, of a task file's ``dataset_name``, e.g. ``FLUTE,part=train,prompt=v2``.

    The harness hands it to ``process_docs`` as the ``config_name`` of its stub, which is ``default`` where a task file
    has none. It may hold none of ``<>:/\\|?*``.
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
    """Return what a ``dataset_name`` says (:func:`read_name`) of a benchmark whose keys are these."""
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
