"""Which commit a revision of a repository on the hub stands for."""

from __future__ import annotations

import re
from pathlib import Path

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.hub import not_here, refusal


def model_commit(
    repository: str, revision: str = "main", is_required: bool = False, cache_dir: str | None = None
) -> str | None:
    """The 40-hex commit of a revision of a model, from the hub or else from the local cache.

    Args:
        repository: ``OWNER/NAME``.
        revision: a branch, a tag or a commit.
        is_required: whether the model cannot be loaded without a commit.
        cache_dir: the folder of the local cache; None for that of the hub's library.

    Returns:
        None if the cache lacks the revision and the hub does not tell its commit: because there
        is no such repository, because it refuses access, or because it cannot be asked (with
        `is_required` an error).

    Raises:
        FigLangError: the repository has no such revision; or the commit is required, the cache
            lacks it, and the hub cannot be asked.
    """
    from huggingface_hub import HfApi, constants, errors

    if re.fullmatch("[0-9a-f]{40}", revision):
        return revision
    error = refusal(repository, "model")
    if error is None:
        timeout = constants.HF_HUB_ETAG_TIMEOUT
        try:
            return HfApi().model_info(repository, revision=revision, timeout=timeout).sha
        except errors.RevisionNotFoundError as raised:
            raise FigLangError(
                f"{repository} has no revision {revision}: see {constants.ENDPOINT}/{repository}"
            ) from raised
        except Exception as raised:  # the HTTP library's own errors have no common base here
            error = raised  # the cache may still know the commit

    commit = cached_commit(repository, revision, cache_dir)
    # It has answered that it does not give the repository. Others are a server's own fault (5xx),
    # or no answer at all.
    has_answered = isinstance(error, errors.HfHubHTTPError) and error.response.status_code < 500
    if commit is None and is_required and not has_answered:
        raise FigLangError(
            f"figlang_tasks: {not_here(f'{repository}@{revision}', error)}, or give a local folder"
        )
    return commit


def cached_commit(repository: str, revision: str, cache_dir: str | None = None) -> str | None:
    """The commit that a model's revision stood for when it was downloaded last; None if never.

    Args:
        repository: ``OWNER/NAME``.
        revision: a branch, a tag or a commit.
        cache_dir: the folder of the local cache; None for that of the hub's library.
    """
    folder = cached_folder(repository, revision, cache_dir)
    return folder.name if folder else None  # the cache names a snapshot's folder after its commit


def cached_folder(
    repository: str, revision: str, cache_dir: str | None = None, kind: str = "model"
) -> Path | None:
    """The folder with all that the local cache has of a revision; None if it has nothing of it.

    Args:
        repository: ``OWNER/NAME``.
        revision: a branch, a tag or a commit.
        cache_dir: the folder of the local cache; None for that of the hub's library.
        kind: ``model`` or ``dataset``.
    """
    from huggingface_hub import errors, snapshot_download

    try:
        folder = snapshot_download(
            repository,
            repo_type=kind,
            revision=revision,
            local_files_only=True,
            cache_dir=cache_dir,
        )
    except errors.LocalEntryNotFoundError:
        return None
    return Path(folder)
