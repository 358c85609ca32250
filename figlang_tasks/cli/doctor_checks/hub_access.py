"""Checks whether the hub answers, and whether each dataset is on this machine or can be loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from figlang_tasks.cli.doctor_checks import Finding, Status, error_text
from figlang_tasks.cli.doctor_checks.data_files import (
    MissingFiles,
    find_missing_files,
    requests_by_dataset,
)
from figlang_tasks.core import commits, hub
from figlang_tasks.core.benchmark import of_dataset, sources
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.request import Request

_OFFLINE = "offline (--offline, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE): only what is downloaded"


def check_hub() -> Iterator[Finding]:
    """Check the hub, the account of the user's token, and each dataset that is not shipped."""
    from huggingface_hub import constants

    hub_finding = _check_account()
    yield hub_finding
    # Its status is "ok" too if the user wants no contact with the hub.
    can_ask_hub = hub_finding.status == "ok" and not constants.HF_HUB_OFFLINE

    datasets = [source for source in sources().values() if source.folder is None]
    local_folders: dict[str, Path | None] = {}
    try:
        for dataset in datasets:
            local_folders[dataset.name] = hub.local_folder(dataset)
    except DataError as error:
        # The variable names no folder. Datasets are then looked for in the hub's cache alone.
        remedy = "correct it, or unset it to load from the hub"
        yield Finding(hub.DATA_DIR_VARIABLE, "problem", str(error), remedy)
    requests = requests_by_dataset()
    for dataset in datasets:
        dataset_requests = requests.get(dataset.name, ())
        folder = local_folders.get(dataset.name)
        if folder is not None:
            yield _check_folder(dataset, folder, dataset_requests)
        else:
            yield _check_dataset(dataset, dataset_requests, can_ask_hub)


def _check_folder(source: hub.Source, folder: Path, requests: Sequence[Request]) -> Finding:
    """Find out whether a folder of the user's has the files of a dataset.

    Args:
        source: the dataset.
        folder: in ``FIGLANG_DATA_DIR``.
        requests: those of the tasks on the dataset.
    """
    benchmark = of_dataset(source.name).name
    missing = find_missing_files(source, folder, requests)
    if not missing.files:
        return Finding(source.name, "ok", f"in {folder}")
    origin = source.bring or f"from {source.page}"
    remedy = f"put what is missing there: {origin}; `figlang data check {benchmark}` says more"
    return _finding_about_files(source, f"in {folder}", missing, "warning", remedy)


def _finding_about_files(
    source: hub.Source, text: str, missing: MissingFiles, status: Status, remedy: str
) -> Finding:
    """The finding about a dataset of which files are missing.

    A part that only some tasks need is no fault: rows of users are often those of one split.

    Args:
        source: the dataset.
        text: where it is.
        missing: what is missing.
        status: of the finding, if no task can run.
        remedy: what to do.
    """
    benchmark = of_dataset(source.name).name
    # Without tasks of its own, other data need all of it.
    if not missing.stop_all_tasks:
        status = "ok"
    return Finding(source.name, status, f"{text}; {missing.text}", remedy, concerns=(benchmark,))


def _check_account() -> Finding:
    """Ask the hub whether it answers, and whose account the user's token belongs to."""
    from huggingface_hub import constants, errors, get_session

    if constants.HF_HUB_OFFLINE:
        return Finding("hub", "ok", _OFFLINE)
    endpoint = redacted(constants.ENDPOINT)  # The address of a proxy may hold a password.
    get_session().timeout = constants.HF_HUB_ETAG_TIMEOUT  # `whoami` takes no timeout.
    try:
        _ask_for_an_open_dataset()
        account = f"the account of the token is {_account_name()}"
    except errors.LocalTokenNotFoundError:
        account = "no token: open datasets alone"
    except Exception as error:  # Each version of the hub's client uses an HTTP library of its own.
        if "Invalid user token" in str(error):
            text = f"{endpoint} refuses the token, for open datasets too"
            remedy = "put a valid one into HF_TOKEN, run `hf auth login`, or remove it"
        else:
            text = f"{endpoint} cannot be reached"
            remedy = (
                "check the connection, HF_ENDPOINT and proxies; set HF_HUB_OFFLINE=1 to use only"
                " what is downloaded"
            )
        return Finding("hub", "problem", f"{text} ({error_text(error)})", remedy)
    return Finding("hub", "ok", f"{endpoint} answers; {account}")


def _ask_for_an_open_dataset() -> None:
    """Ask the hub for an open dataset; raise what its client raises if it cannot be reached."""
    from huggingface_hub import HfApi, constants

    for source in sources().values():
        if source.repository and not source.gated:
            timeout = constants.HF_HUB_ETAG_TIMEOUT
            # Without a token, so that a wrong one is noticed only when the account is asked for.
            HfApi().dataset_info(source.repository, timeout=timeout, token=False)
            return


def _account_name() -> str:
    from huggingface_hub import HfApi

    return str(HfApi().whoami()["name"])


def _check_dataset(source: hub.Source, requests: Sequence[Request], can_ask_hub: bool) -> Finding:
    """Find out whether a dataset without a local folder is downloaded, or can be.

    Args:
        source: the dataset.
        requests: those of the tasks on the dataset.
        can_ask_hub: False if the hub must not be asked, or does not answer.
    """
    benchmark = of_dataset(source.name).name
    if source.repository is None:
        text = f"is not on the hub, and {_folder_for(source)} is not there"
        return Finding(source.name, "warning", text, source.bring, concerns=(benchmark,))

    how_to_get = f"figlang data prefetch {benchmark}, or put its files into {_folder_for(source)}"
    access = _Access("warning", "hub not contacted", how_to_get)
    if can_ask_hub:  # Asked about downloaded data too, for the text.
        access = _ask_for_access(source, how_to_get)
    try:
        folder = commits.cached_folder(source.repository, source.wanted_revision, kind="dataset")
    except OSError:  # The cache cannot be read.
        folder = None
    if folder is not None:
        # The cache names the folder after the commit.
        text = f"downloaded, commit {folder.name[:12]} ({access.text})"
        missing = find_missing_files(source, folder, requests)
        if not missing.files:
            return Finding(source.name, "ok", text)
        return _finding_about_files(source, text, missing, access.status, access.remedy)
    text = f"not downloaded yet ({access.text})"
    return Finding(source.name, access.status, text, access.remedy, concerns=(benchmark,))


class _Access(NamedTuple):
    """Whether the hub gives a dataset.

    Attributes:
        status: of a finding about a dataset that is not downloaded yet.
        text: what the hub said.
        remedy: what to do to have the dataset on this machine.
    """

    status: Status
    text: str
    remedy: str


def _ask_for_access(source: hub.Source, how_to_get: str) -> _Access:
    """Ask the hub whether it gives a dataset, and say what to do to have it on this machine.

    Args:
        source: a dataset of the hub.
        how_to_get: what to do if the hub gives it.
    """
    from huggingface_hub import HfApi, constants, errors

    assert source.repository is not None
    revision = source.wanted_revision
    try:
        HfApi().dataset_info(
            source.repository, revision=revision, timeout=constants.HF_HUB_ETAG_TIMEOUT
        )
        # The hub tells about a gated dataset, but may not give its files.
        refusal = hub.refusal(source.repository)
        if refusal is not None:
            raise refusal  # caught below
    except errors.GatedRepoError:
        remedy = (
            f"accept the conditions on {source.page} and set HF_TOKEN, or put its files into"
            f" {_folder_for(source)}"
        )
        return _Access("warning", "gated, access is not granted", remedy)
    except Exception as error:  # Errors of an HTTP library, see _check_account.
        remedy = f"see {source.page}"
        if os.environ.get(source.pin_variable):
            remedy = f"correct or unset {source.pin_variable}"
        text = f"{source.repository} at {revision}: {error_text(error)}"
        return _Access("problem", text, remedy)
    return _Access("ok", "gated, access granted" if source.gated else "open", how_to_get)


def _folder_for(source: hub.Source) -> str:
    """Where users put the files of a dataset, as a shell writes it."""
    return f"${hub.DATA_DIR_VARIABLE}/{source.name}"
