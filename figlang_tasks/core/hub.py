"""Finds the files of a dataset: on the hub at one revision, in ``FIGLANG_DATA_DIR``, or here.

Every source becomes a local folder in the layout of the hub's repository, so the rest of the code
reads all of them in one way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from loguru import logger

from figlang_tasks.core.errors import DataError, remedy_of_writing

DATA_DIR_VARIABLE = "FIGLANG_DATA_DIR"
USE_THE_RELEASE = "Use the files of the original release."
USER_ROWS = "own"
"""Stands in place of a revision where rows are the user's own, and not those of the release."""

_Loader = TypeVar("_Loader", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """A dataset: its name here, where it lives, and what it must contain.

    Attributes:
        name: the name of its folder under ``FIGLANG_DATA_DIR``.
        splits: the number of rows of each parquet split, in the published order.
        repository: the dataset repository on the hub; None for data that this package ships or
            that has no release.
        revision: the 40-hex commit that the repository is read at. None where no commit is
            known; then the user's pin (`pin_variable`) is read, or else the default branch.
        unpinned: what results have as the revision where `revision` is None.
        gated: whether users must accept conditions on the hub.
        folder: the folder of data that this package ships; None for other data.
        title: the name in reports; "" where `name` already tells whose data it is.
        bring: how users bring rows of their own, a command and a card; "" if they cannot.
    """

    name: str
    splits: dict[str, int] = field(hash=False, default_factory=dict)
    repository: str | None = None
    revision: str | None = None
    unpinned: str = "none"
    gated: bool = False
    folder: Path | None = None
    title: str = ""
    bring: str = ""

    @property
    def access(self) -> str:
        """How users get the data: "ships with the package", "bring your own", "gated" or "open"."""
        if self.folder is not None:
            return "ships with the package"
        if self.repository is None:
            return "bring your own"
        return "gated" if self.gated else "open"

    @property
    def stated_revision(self) -> str:
        """The revision that results name; a user's pin does not change it."""
        if self.folder is not None:
            return "package"
        return self.revision or self.unpinned

    @property
    def wanted_revision(self) -> str:
        """The revision that a run reads: the user's pin, else ours, else the default branch."""
        return os.environ.get(self.pin_variable) or self.revision or "main"

    @property
    def page(self) -> str:
        """The address of the repository's page on the hub."""
        return f"https://huggingface.co/datasets/{self.repository}"

    @property
    def pin_variable(self) -> str:
        """The environment variable with a commit, tag or branch to read in place of ours.

        For example ``FIGLANG_REVISION_IRFL``.
        """
        return "FIGLANG_REVISION_" + re.sub(r"\W", "_", self.name).upper()


class Snapshot(NamedTuple):
    """The files of a dataset on this machine, in the layout of the hub's repository.

    Attributes:
        folder: the folder with the files.
        revision: the 40-hex commit of the hub; ``local`` for files in ``FIGLANG_DATA_DIR``,
            ``package`` for shipped data.
    """

    folder: Path
    revision: str


# --- caches of loaded data ---


_cached_loaders: list[Any] = []  # `functools` has no public type for the wrapper of `lru_cache`


def cached(maxsize: int) -> Callable[[_Loader], _Loader]:
    """Decorate a loader so that its last `maxsize` results are kept until `clear_caches`."""

    def decorate(load: _Loader) -> _Loader:
        cached_loader = lru_cache(maxsize=maxsize)(load)
        _cached_loaders.append(cached_loader)
        return cast("_Loader", cached_loader)

    return decorate


def clear_caches() -> None:
    """Forget all loaded data, so that files are read and the hub is asked again.

    Call it before a run, not during one, which would mix old and new rows.
    """
    for loader in _cached_loaders:
        loader.cache_clear()


# --- the files of a dataset ---


def local_folder(source: Source) -> Path | None:
    """The folder of a dataset in ``FIGLANG_DATA_DIR``; None without the variable or the folder.

    Raises:
        DataError: the variable names no folder.
    """
    data_dir = os.environ.get(DATA_DIR_VARIABLE)
    if not data_dir:
        return None
    if not Path(data_dir).expanduser().is_dir():
        remedy = "correct the variable"
        if source.repository is not None:
            remedy += ", or unset it to load from the hub"
        raise DataError(f"{DATA_DIR_VARIABLE}={data_dir} is not a folder: {remedy}")
    folder = Path(data_dir).expanduser() / source.name
    return folder if folder.is_dir() else None


def snapshot(source: Source, patterns: Sequence[str] = ()) -> Snapshot:
    """The files of a dataset: from the first of ``FIGLANG_DATA_DIR``, this package and the hub.

    A folder of the user's in ``FIGLANG_DATA_DIR`` comes before all others; a warning says if the
    variable is set and has no such folder.

    Args:
        source: the dataset.
        patterns: the files to download from the hub if they are not here (``*.csv``); without
            patterns nothing is downloaded.

    Raises:
        DataError: the files are not on this machine and cannot be downloaded.
    """
    folder = local_folder(source)
    if folder is not None:
        logger.info(f"figlang_tasks: {source.name} from {folder} ({DATA_DIR_VARIABLE})")
        return Snapshot(folder, "local")
    data_dir = os.environ.get(DATA_DIR_VARIABLE)
    if data_dir and source.repository is not None:
        logger.warning(
            f"figlang_tasks: {DATA_DIR_VARIABLE}={data_dir} has no folder {source.name}: it is not"
            " used for this dataset"
        )
    if source.folder is not None:
        return Snapshot(source.folder, "package")
    if source.repository is None:
        raise _no_release_error(source)
    logger.info(f"figlang_tasks: {source.name} from {source.repository}@{source.wanted_revision}")
    return _download(source, source.repository, patterns)


def check_without_hub(source: Source) -> None:
    """Raise the error of a run for a dataset that cannot be here, as far as this machine knows.

    The hub is not asked: unless it is turned off (``HF_HUB_OFFLINE``), it may have the files.

    Raises:
        DataError: there is no file of the dataset, and none can be downloaded.
    """
    from huggingface_hub import constants

    if local_folder(source) is not None or source.folder is not None:
        return
    if source.repository is None:
        raise _no_release_error(source)
    if constants.HF_HUB_OFFLINE:
        _download(source, source.repository, ("*",))


def _no_release_error(source: Source) -> DataError:
    """The error for a dataset without release, of which there is no folder."""
    message = (
        f"{source.name} is not on the hub: put its files into a folder {source.name} and set "
        f"{DATA_DIR_VARIABLE} to the folder above it"
    )
    if source.bring:
        message += f"; to make them: {source.bring}"
    return DataError(message)


def _download(source: Source, repository: str, patterns: Sequence[str]) -> Snapshot:
    """The files of a dataset of the hub; those that match a pattern and are missing are downloaded.

    Without patterns, or where the hub refuses, only what is on this machine is taken.
    """
    from huggingface_hub import errors, snapshot_download

    revision = source.wanted_revision
    refusal_error = refusal(repository) if patterns else None
    is_local = not patterns or refusal_error is not None
    try:
        folder = snapshot_download(
            repository,
            repo_type="dataset",
            revision=revision,
            allow_patterns=[*patterns],
            local_files_only=is_local,
        )
    except errors.RevisionNotFoundError as error:
        is_pinned = bool(os.environ.get(source.pin_variable))
        pinned_by = source.pin_variable if is_pinned else "this version"
        raise DataError(
            f"{repository} has no revision {revision}, which {pinned_by} asks for: see"
            f" {source.page}"
        ) from error
    except Exception as error:  # the HTTP library's own errors have no common base here
        if patterns:
            reason = _reason(source, revision, refusal_error or error)
        else:
            reason = f"{source.name} is not on this machine: name it to `figlang data prefetch`"
        raise DataError(
            f"{reason}, or put the files into ${DATA_DIR_VARIABLE}/{source.name}."
        ) from error
    # The cache names a snapshot's folder after its commit.
    return Snapshot(Path(folder), Path(folder).name)


def _reason(source: Source, revision: str, error: Exception) -> str:
    """Why a dataset could not be downloaded, and what to do: the beginning of a sentence.

    The cache cannot be written, the hub refuses access, or anything else.
    """
    from huggingface_hub import constants, errors

    http_error: errors.HfHubHTTPError | None = None
    for cause in (error, error.__cause__, error.__context__):  # the hub's client wraps errors
        if isinstance(cause, OSError):
            remedy = remedy_of_writing(cause)
            if remedy:
                return (
                    f"{source.repository} cannot be written into the cache of the hub,"
                    f" {constants.HF_HUB_CACHE} ({cause}): {remedy}, set HF_HOME to another folder"
                )
        if http_error is None and isinstance(cause, errors.HfHubHTTPError):
            http_error = cause

    return not_given(source, f"{source.repository}@{revision}", http_error or error)


# --- asking the hub ---


@contextmanager
def downloading_nothing() -> Iterator[None]:
    """Download nothing from the hub inside the block; what its cache holds is still found."""
    from huggingface_hub import constants

    was_offline = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was_offline


@cached(maxsize=16)
def refusal(repository: str, kind: str = "dataset") -> Exception | None:
    """Ask the hub whether it gives a repository: the error if it refuses or cannot be reached.

    None if the repository may be downloaded. The hub is asked once a run. Without this question,
    the hub's client would try for half a minute where no hub can be reached; and its own
    `auth_check` waits for ever for a hub that does not answer.

    Args:
        repository: ``OWNER/NAME``.
        kind: ``dataset`` or ``model``.
    """
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    address = f"{constants.ENDPOINT}/api/{kind}s/{repository}/auth-check"
    try:
        response = get_session().get(
            address, headers=build_hf_headers(), timeout=constants.HF_HUB_ETAG_TIMEOUT
        )
        # Mirrors do not know this address and answer with other errors, which mean nothing here.
        # If there is another fault, the download tells of it.
        if response.status_code in (401, 403):
            hf_raise_for_status(response)
    except Exception as error:  # the HTTP library's own errors have no common base here
        return error
    return None


def not_given(source: Source, name: str, error: Exception) -> str:
    """Why the hub does not give a dataset or a file of it, and what to do: a sentence without end.

    Args:
        source: the dataset.
        name: what was asked for, ``OWNER/NAME@REVISION``.
        error: of the hub's client.
    """
    from huggingface_hub import errors

    # The hub may say "not found" of what one may not see. A GatedRepoError is a kind of that.
    is_refused = isinstance(error, errors.RepositoryNotFoundError) or (
        isinstance(error, errors.HfHubHTTPError) and error.response.status_code == 401
    )
    if not is_refused:
        return not_here(name, error)
    if isinstance(error, errors.GatedRepoError):
        refusal_reason = "the dataset is gated. Accept its conditions on"
    else:
        refusal_reason = "the token is not valid. See"
    return (
        f"access to {source.repository} is not granted: {refusal_reason} {source.page} and set"
        " HF_TOKEN to a token of an account that has access (or run `hf auth login`)"
    )


def not_here(name: str, error: Exception) -> str:
    """The message for something that is not on this machine and that the hub does not give.

    Args:
        name: the repository with its revision, ``OWNER/NAME@REVISION``.
        error: why the hub does not give it.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return (
            f"{name} is not on this machine, and HF_HUB_OFFLINE is set. Unset it, connect and run"
            " again"
        )
    error_lines = str(error).strip().splitlines()
    cause = error_lines[0] if error_lines else type(error).__name__
    return (
        f"{name} is not on this machine, and {constants.ENDPOINT} does not give it ({cause})."
        " Offline? Connect, or wait, and run again"
    )
