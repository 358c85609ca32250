"""Checkpoints of tiny models, written once for all tests of model classes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tiny_models
from openai_server import OpenAIServer, without_proxies

from figlang_tasks.mini import DEMO_MODEL_DIR

if TYPE_CHECKING:
    from figlang_tasks.models.vlm import FigLangVLM


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Writes the tiny checkpoint of a family, once, and returns its folder."""
    folder = tmp_path_factory.mktemp("checkpoints")
    return functools.cache(lambda family: str(tiny_models.write_vlm(family, folder)))


@pytest.fixture
def template(tmp_path: Path) -> Callable[[str], str]:
    """Writes a chat template of `tiny_models.TEMPLATES` into a file, and returns its path."""

    def write(name: str) -> str:
        path = tmp_path / f"{name}.jinja"
        path.write_text(tiny_models.TEMPLATES[name])
        return str(path)

    return write


@pytest.fixture
def server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenAIServer]:
    """A server with the demo model behind it.

    A test's parameter is its settings, or the list of its faults.
    """
    parameter = getattr(request, "param", {})
    settings = parameter if isinstance(parameter, dict) else {"faults": parameter}
    without_proxies(monkeypatch)
    with OpenAIServer(DEMO_MODEL_DIR, **settings) as running_server:
        yield running_server


@pytest.fixture
def build(
    checkpoint: Callable[[str], str], template: Callable[[str], str]
) -> Callable[..., FigLangVLM]:
    """Builds a model of a family, with its own chat template or a named one."""
    from figlang_tasks.models.vlm import FigLangVLM

    def build(family: str = "llava", name: str = "", **arguments: Any) -> FigLangVLM:
        defaults = {"pretrained": checkpoint(family), "device": "cpu"}
        if name:
            defaults["chat_template"] = template(name)
        return FigLangVLM(**{**defaults, **arguments})

    return build
