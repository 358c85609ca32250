"""Checkpoints of tiny models, written once for all tests of model classes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tiny_vlms
from openai_server import OpenAIServer

from figlang_tasks.mini import DEMO_MODEL_DIR

if TYPE_CHECKING:
    from figlang_tasks.models.vlm import FigLangVLM


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return functools.cache(lambda family: str(tiny_vlms.write(family, folder)))


@pytest.fixture
def template(tmp_path: Path) -> Callable[[str], str]:
    """The path of a file with a chat template of `tiny_vlms.TEMPLATES`."""

    def written(name: str) -> str:
        path = tmp_path / f"{name}.jinja"
        path.write_text(tiny_vlms.TEMPLATES[name])
        return str(path)

    return written


@pytest.fixture
def server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenAIServer]:
    """A server with the demo model behind it; a test's parameter is its settings, or the list of
    its faults.
    """
    given = getattr(request, "param", {})
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with OpenAIServer(
        DEMO_MODEL_DIR, **(given if isinstance(given, dict) else {"faults": given})
    ) as running:
        yield running


@pytest.fixture
def build(
    checkpoint: Callable[[str], str], template: Callable[[str], str]
) -> Callable[..., FigLangVLM]:
    """A model of a family, with its own chat template or a named one."""
    from figlang_tasks.models.vlm import FigLangVLM

    def build(family: str = "llava", name: str = "", **arguments: Any) -> FigLangVLM:
        given = {"chat_template": template(name)} if name else {}
        return FigLangVLM(
            **{"pretrained": checkpoint(family), "device": "cpu", **given, **arguments}
        )

    return build
