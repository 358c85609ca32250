"""If this fails, Chromium does not sort or filter the leaderboard, or the page loads something."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from figlang_tasks.leaderboard.board import FORMAT, Leaderboard, RunFacts
from figlang_tasks.leaderboard.site import write
from figlang_tasks.leaderboard.task_board import (
    PublishedResult,
    RankedRun,
    TaskBoard,
    UnrankedRun,
)

pytestmark = pytest.mark.slow  # a program of its own

EVIL = "</script><script>document.title = 'x'</script><img src=x>" + "W" * 150
SCORER = "vflute25|bertscore"


def run_facts(run: str, model: str, parameters: int | None, date: str | None) -> RunFacts:
    return RunFacts(run, model, "figlang_vlm", parameters, date, report=None)


def ranked(run: str, rank: int, value: float, scorer: str | None) -> RankedRun:
    return RankedRun(run, rank, value, value - 0.05, value + 0.05, "a", 723, scorer)


LEADERBOARD = Leaderboard(
    format=FORMAT,
    generator="figlang_tasks leaderboard 1",
    made="today",
    runs=[
        run_facts("one", "small", 900_000_000, "2026-02-01"),
        run_facts("two", EVIL, None, None),
        run_facts("three", "large", 70_000_000_000, "2026-01-01"),
        run_facts("four", "partial", 7_000_000_000, "2026-01-01"),
    ],
    tasks=[
        TaskBoard(
            task="vflute",
            dataset="V-FLUTE",
            metric="f1@60",
            is_share=True,
            tests=3,
            ranked=[
                ranked("three", 1, 0.6, SCORER),
                ranked("one", 2, 0.4, SCORER),
                ranked("two", 3, 0.2, None),
            ],
            not_compared=[UnrankedRun("four", "f1@60", 0.9, 8, None, ["partial: limit 8"])],
            published=[
                PublishedResult("GPT", "zero-shot", 0.5, None, None, "50.0", "Paper", "Table 1")
            ],
        )
    ],
    unreadable=[],
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of this machine; skips the test, or in CI fails it, where there is none."""
    programs = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        pytest.fail("no Chromium") if os.environ.get("CI") else pytest.skip("no Chromium")
    with sync_playwright() as playwright:
        running_browser = playwright.chromium.launch(executable_path=path)
        yield running_browser
        running_browser.close()


@pytest.fixture
def window(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page on a phone; a request, a message of the console or an error fails the test."""
    write(tmp_path / "site", LEADERBOARD, [])
    page = browser.new_page(viewport={"width": 390, "height": 800})
    events: list[str] = []
    page.on("request", lambda request: events.append(request.url))
    page.on("console", lambda message: events.append(message.text))
    page.on("pageerror", lambda error: events.append(str(error)))
    address = (tmp_path / "site/index.html").as_uri()
    page.goto(address)
    yield page
    assert [event for event in events if event != address] == []
    page.close()


def names(page: Page, part: str = "tbody:not(.not-compared)") -> list[str]:
    """The first letters of the models in the rows of the task that are shown, in their order."""
    rows = page.locator(f"table.task {part} tr:not([hidden])")
    return [name.strip()[:5] for name in rows.locator("th > bdi").all_text_contents()]


def test_rows_are_sorted_by_keys_alone_and_unknown_values_come_last(window: Page) -> None:
    assert names(window) == ["large", "GPT", "small", EVIL[:5]]
    button = window.locator("table.task").get_by_role("button", name="size")
    button.focus()
    window.keyboard.press("Enter")
    assert names(window)[:2] == ["large", "small"]
    window.keyboard.press("Enter")
    assert names(window)[:2] == ["small", "large"]
    heading = window.locator("table.task th[aria-sort]")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    assert names(window, "tbody.not-compared") == ["parti"]


def test_filters_hide_rows_by_size_date_scorer_and_text_in_all_tables(window: Page) -> None:
    filters = window.locator("#filters")
    filters.locator("[name=published]").select_option("hide")
    filters.locator("[name=size]").select_option("unknown")
    assert names(window) == [EVIL[:5]]
    filters.locator("[name=size]").select_option("")
    filters.locator("[name=since]").fill("2026-01-15")
    assert names(window) == ["small"]
    filters.get_by_role("button", name="Clear").click()
    filters.locator("[name=scorer]").select_option("vflute25")
    assert names(window) == ["large", "GPT", "small"]
    filters.locator("[name=text]").fill("LAR")
    assert names(window) == ["large"]
    assert window.locator("table.overview tbody tr:not([hidden])").count() == 1
    expect(window.locator("#count")).to_contain_text("rows are hidden")


def test_the_page_is_as_wide_as_a_phone_and_runs_no_script_of_a_name(window: Page) -> None:
    assert window.evaluate("document.documentElement.scrollWidth") == 390
    assert window.title() == "Leaderboard: figurative language"
    assert window.locator("img, script:not(:last-child)").count() == 0
