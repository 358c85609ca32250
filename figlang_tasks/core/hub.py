"""Loads data from a hub dataset at one revision, from ``FIGLANG_DATA_DIR``, or from this package.

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
"""In place of a revision: rows that the user brought, which are not those of the release."""

_Loader = TypeVar("_Loader", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """A dataset: its name here, where it lives, and what it must contain.

    Attributes:
        name: folder name under ``FIGLANG_DATA_DIR``.
        splits: rows of each parquet split, in the published order.
        repository: dataset repository on the hub; None for data that this package ships or that has
            no release.
        revision: 40-hex commit that the repository is read at; None where it is not known: then the
            default branch, resolved once a process, or the user's pin (:attr:`pin_variable`).
        unpinned: what results say of the revision where none is pinned.
        gated: the hub asks for the acceptance of conditions.
        folder: the shipped folder, for data that this package ships.
        title: in reports, where the name alone does not tell whose it is.
        bring: how users bring rows of their own: a command and a card.
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
        """How users get the data."""
        if self.folder is not None:
            return "ships with the package"
        if self.repository is None:
            return "bring your own"
        return "gated" if self.gated else "open"

    @property
    def stated_revision(self) -> str:
        """The revision as results name it, before any row is read."""
        if self.folder is not None:
            return "package"
        return self.revision or self.unpinned

    @property
    def wanted_revision(self) -> str:
        """The revision that a run reads: the user's pin, else ours, else the default branch."""
        return os.environ.get(self.pin_variable) or self.revision or "main"

    @property
    def page(self) -> str:
        return f"https://huggingface.co/datasets/{self.repository}"

    @property
    def pin_variable(self) -> str:
        """Environment variable with a commit, tag or branch to read instead, e.g.
        ``FIGLANG_REVISION_IRFL``.
        """
        return "FIGLANG_REVISION_" + re.sub(r"\W", "_", self.name).upper()


class Snapshot(NamedTuple):
    """Files of a dataset on this machine, in the layout of the hub's repository."""

    folder: Path
    # 40-hex commit of the hub; ``local`` for ``FIGLANG_DATA_DIR``, ``package`` for shipped data
    revision: str


# --- loading ---


_kept: list[Any] = []


def cached(maxsize: int) -> Callable[[_Loader], _Loader]:
    """Keep the last results of a loader of data, until `clear_caches`."""

    def decorate(load: _Loader) -> _Loader:
        found = lru_cache(maxsize=maxsize)(load)
        _kept.append(found)
        return cast("_Loader", found)

    return decorate


def clear_caches() -> None:
    """Read data anew from now on, and ask the hub again; not while a run asks, which would mix old
    and new rows.
    """
    for loader in _kept:
        loader.cache_clear()


def local_folder(origin: Source) -> Path | None:
    """The folder of a dataset in ``FIGLANG_DATA_DIR``; None without the variable, or without such a
    folder.
    """
    root = os.environ.get(DATA_DIR_VARIABLE)
    if not root:
        return None
    if not Path(root).expanduser().is_dir():
        remedy = "correct the variable"
        if origin.repository is not None:
            remedy += ", or unset it to load from the hub"
        raise DataError(f"{DATA_DIR_VARIABLE}={root} is not a folder: {remedy}")
    folder = Path(root).expanduser() / origin.name
    return folder if folder.is_dir() else None


def snapshot(origin: Source, patterns: Sequence[str] = ()) -> Snapshot:
    """The files of a dataset: from FIGLANG_DATA_DIR, this package, or the hub, downloaded as far as
    `patterns` ask.

    Without patterns: the files that are on this machine already.
    """
    if folder := local_folder(origin):
        logger.info(f"figlang_tasks: {origin.name} from {folder} ({DATA_DIR_VARIABLE})")
        return Snapshot(folder, "local")
    if (root := os.environ.get(DATA_DIR_VARIABLE)) and origin.repository is not None:
        logger.warning(
            f"figlang_tasks: {DATA_DIR_VARIABLE}={root} has no folder {origin.name}: it is not used"
            " for this dataset"
        )
    if origin.folder is not None:
        return Snapshot(origin.folder, "package")
    if origin.repository is None:
        raise DataError(
            f"{origin.name} is not on the hub: put its files into a folder {origin.name} and set "
            f"{DATA_DIR_VARIABLE} to the folder above it"
            + (f"; to make them: {origin.bring}" if origin.bring else "")
        )
    return _download(origin, patterns)


@contextmanager
def downloading_nothing() -> Iterator[None]:
    """Take no file from the hub inside the block."""
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@cached(maxsize=16)
def refusal(repository: str, kind: str = "dataset") -> Exception | None:
    """Why the hub does not give a repository; None if it does. Asked once a run.

    The hub's client tries to download for half a minute where no hub can be reached, and its
    `auth_check` waits for ever where one is silent.
    """
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    question = f"{constants.ENDPOINT}/api/{kind}s/{repository}/auth-check"
    try:
        answer = get_session().get(
            question, headers=build_hf_headers(), timeout=constants.HF_HUB_ETAG_TIMEOUT
        )
        if answer.status_code in (
            401,
            403,
        ):  # mirrors do not know the question: a download tells of everything else
            hf_raise_for_status(answer)
    except Exception as error:  # the HTTP library's own errors have no common base here
        return error
    return None


def _download(origin: Source, patterns: Sequence[str]) -> Snapshot:
    from huggingface_hub import errors, snapshot_download

    assert origin.repository is not None
    revision = origin.wanted_revision
    logger.info(f"figlang_tasks: {origin.name} from {origin.repository}@{revision}")
    refused = refusal(origin.repository) if patterns else None
    try:
        found = snapshot_download(
            origin.repository,
            repo_type="dataset",
            revision=revision,
            allow_patterns=[*patterns],
            local_files_only=refused is not None or not patterns,
        )
    except errors.RevisionNotFoundError as error:
        whose = origin.pin_variable if os.environ.get(origin.pin_variable) else "this version"
        raise DataError(
            f"{origin.repository} has no revision {revision}, which {whose} asks for: see"
            f" {origin.page}"
        ) from error
    except Exception as error:
        why = f"{origin.name} is not on this machine: name it to `figlang data prefetch`"
        if patterns:
            why = _reason(origin, revision, refused or error)
        raise DataError(
            f"{why}, or put the files into ${DATA_DIR_VARIABLE}/{origin.name}."
        ) from error
    # The cache names a snapshot's folder after its commit
    return Snapshot(Path(found), Path(found).name)


def _reason(origin: Source, revision: str, error: Exception) -> str:
    """Why a dataset could not be downloaded, and what to do."""
    from huggingface_hub import constants, errors

    chain = (error, error.__cause__, error.__context__)
    for cause in chain:
        if isinstance(cause, OSError) and (remedy := remedy_of_writing(cause)):
            return (
                f"{origin.repository} cannot be written into the cache of the hub,"
                f" {constants.HF_HUB_CACHE} ({cause}): {remedy}, set HF_HOME to another folder"
            )
    answered = next((each for each in chain if isinstance(each, errors.HfHubHTTPError)), None)
    if isinstance(answered, errors.RepositoryNotFoundError) or (
        answered and answered.response.status_code == 401
    ):
        gated = isinstance(answered, errors.GatedRepoError)
        why = (
            "the dataset is gated. Accept its conditions on"
            if gated
            else "the token is not valid. See"
        )
        return (
            f"access to {origin.repository} is not granted: {why} {origin.page} and set HF_TOKEN to"
            " a token of an account that has access (or run `hf auth login`)"
        )
    return not_here(f"{origin.repository}@{revision}", answered or error)


def not_here(what: str, error: Exception) -> str:
    """Why something is neither on this machine nor given by the hub, and what to do."""
    from huggingface_hub import constants

    missing = f"{what} is not on this machine, and"
    if constants.HF_HUB_OFFLINE:
        return f"{missing} HF_HUB_OFFLINE is set. Unset it, connect and run again"
    cause = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return (
        f"{missing} {constants.ENDPOINT} does not give it ({cause}). Offline? Connect, or wait, and"
        " run again"
    )
