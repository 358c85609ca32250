"""``figlang doctor`` says of token, access and the data on the hub what is not so, or waits for
ever, if this fails.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import doctor
from hub_server import Fault, HubServer, Response
from huggingface_hub import close_session, constants

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of, sources

pytestmark = pytest.mark.usefixtures("nothing_set")
TOKEN = "hf_a_secret_that_must_not_be_shown"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub with all our datasets; V-FLUTE is gated, and TOKEN has access to it."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "README.md").write_text("a card")
    with HubServer() as found:
        monkeypatch.setattr(constants, "ENDPOINT", found.url)
        for source in sources().values():
            if source.repository is not None:
                found.add_repo(
                    source.repository,
                    tmp_path / "files",
                    commit=source.revision,
                    gated=source.gated,
                    granted_tokens={TOKEN} if source.gated else (),
                    known_tokens={"hf_of_another_account"},
                )
        yield found
    close_session()  # the hub's client is not used again


@pytest.mark.parametrize(
    ("token", "hub_says", "vflute", "ends"),
    [
        (
            TOKEN,
            "the account of the token is tester",
            ("ok", "not cached; gated, access granted"),
            0,
        ),
        (
            "hf_of_another_account",
            "is tester",
            ("warning", "not cached; gated, access is not granted"),
            0,
        ),
        (
            "",
            "no token: open datasets alone",
            ("warning", "not cached; gated, access is not granted"),
            0,
        ),
        ("hf_wrong", "refuses the token", ("warning", "not cached; the hub was not asked"), 1),
    ],
)
def test_access(
    server: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    hub_says: str,
    vflute: tuple[str, str],
    ends: int,
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    status, found = doctor("hub")
    assert status == ends and hub_says in found["hub"]["text"]
    assert (found["V-FLUTE"]["status"], found["V-FLUTE"]["text"]) == vflute
    if "not granted" in vflute[1]:
        assert (
            source_of("V-FLUTE").page in found["V-FLUTE"]["remedy"]
            and "HF_TOKEN" in found["V-FLUTE"]["remedy"]
        )
    if not ends:
        assert (
            found["IRFL"]["text"] == "not cached; open"
            and "data prefetch irfl" in found["IRFL"]["remedy"]
        )
    assert (
        found["MetaCLUE"]["status"] == "warning"
        and "docs/cards/metaclue.md" in found["MetaCLUE"]["remedy"]
    )
    assert found["NewYorkerCaptionContest"]["concerns"] == ["nykms"]
    # Nothing is downloaded
    assert not any("/resolve/" in request.path for request in server.requests)


def test_a_dead_server_is_one_problem(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", server.url.replace("//", "//user:swordfish@"))
    server.stop()
    status, found = doctor("hub")
    assert "swordfish" not in str(found)
    assert status == 1 and "cannot be reached (Connect" in found["hub"]["text"]
    assert "HF_HUB_OFFLINE=1" in found["hub"]["remedy"]
    assert {name for name, each in found.items() if each["status"] == "problem"} == {"hub"}
    assert found["FLUTE"]["text"] == "not cached; the hub was not asked"


@pytest.mark.parametrize(
    ("part", "name"), [("", "hub"), ("whoami", "hub"), ("V-FLUTE/auth-check", "V-FLUTE")]
)
def test_a_question_without_an_answer_is_given_up(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, part: str, name: str
) -> None:
    def late(response: Response) -> Response:
        time.sleep(2)
        return response

    server.faults.append(Fault(part, late))
    monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", 0.5)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    status, found = doctor("hub")
    assert status == 1 and "Timeout" in found[name]["text"]


def test_offline_is_no_error(server: HubServer) -> None:
    status, found = doctor("hub", "--offline")
    assert status == 0 and "offline" in found["hub"]["text"]
    assert (
        found["IRFL"]["status"] == "warning" and "$FIGLANG_DATA_DIR/IRFL" in found["IRFL"]["remedy"]
    )
    assert server.requests == []


def test_a_pin_that_does_not_exist(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_REVISION_IRFL", "0" * 40)
    status, found = doctor("hub")
    assert (
        status == 1
        and "0" * 40 in found["IRFL"]["text"]
        and "FIGLANG_REVISION_IRFL" in found["IRFL"]["remedy"]
    )


def test_local_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data" / "NYK-MS").mkdir(parents=True)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "data"))
    found = doctor("hub", "--offline")[1]
    assert found["NYK-MS"]["text"] == f"in {tmp_path / 'data' / 'NYK-MS'}"
    assert found["MetaCLUE"]["status"] == "warning"
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "typo"))
    status, found = doctor("hub", "--offline")
    assert status == 1 and "typo is not a folder" in found[hub.DATA_DIR_VARIABLE]["text"]
