"""A real headless Chromium, by Playwright. Where there is none tests are skipped, but not in CI,
which installs it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of this machine; skips the test, or in CI fails it, where there is none."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = f"no Chromium here (looked for {', '.join(NAMES)})"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@dataclass
class Seen:
    """What a page did besides showing itself."""

    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def quiet(self) -> bool:
        return not (self.console or self.errors or self.requests or self.dialogs)


@contextmanager
def opened(
    browser: Browser, file: Path, width: int = 1280, dark: bool = False
) -> Iterator[tuple[Page, Seen]]:
    """A file in a window of its own, and what it says and asks for (its own address and ``data:``
    left out).
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        accept_downloads=True,
    )
    context.set_default_timeout(120_000)
    page, seen = context.new_page(), Seen()
    page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on(
        "request",
        lambda request: seen.requests.append(request.url) if _foreign(request.url, file) else None,
    )

    def dismiss(dialog: object) -> None:
        seen.dialogs.append(str(dialog))
        dialog.dismiss()  # type: ignore[attr-defined]

    page.on("dialog", dismiss)
    page.goto(file.as_uri())
    try:
        yield page, seen
    finally:
        context.close()


def _foreign(url: str, file: Path) -> bool:
    return url.partition("#")[0] != file.as_uri() and not url.startswith("data:")
