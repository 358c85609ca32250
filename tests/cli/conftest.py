"""Fixtures of the tests of the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from huggingface_hub import constants


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No token, no settings and no cache of whoever runs the tests."""
    for name in os.environ:
        if name.startswith(("HF_", "HUGGING", "FIGLANG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "scores"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
