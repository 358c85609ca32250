"""If these fail, a model's words run in the report, or Chromium does not show the gallery."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Locator,
    Page,
    Request,
    expect,
    sync_playwright,
)
from saved_runs import ANSWER_BY_TASK, sample_lines, write_run

from figlang_tasks.core.card import Card
from figlang_tasks.report import page as report_page
from figlang_tasks.report.gallery import Gallery, build
from figlang_tasks.report.page import render
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run

pytestmark = pytest.mark.slow  # a program of its own

# Milliseconds: a busy machine may take more than the 5 seconds that Playwright waits.
expect.set_options(timeout=60_000)

EVIL = "</script><script>alert(1)</script>\"><img src=x onerror=alert(2)>'"


PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of this machine; skips the test, or in CI fails it, where there is none."""
    path = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        reason = f"no Chromium here (looked for {', '.join(PROGRAMS)})"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@dataclass
class PageActivity:
    """What a page did besides showing itself."""

    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def quiet(self) -> bool:
        """Whether the page did nothing of this."""
        return not (self.console or self.errors or self.requests or self.dialogs)


@contextmanager
def opened(
    browser: Browser, file: Path, width: int = 1280, dark: bool = False
) -> Iterator[tuple[Page, PageActivity]]:
    """A file in a new window, and what the page did; requests for itself and ``data:`` are left
    out.
    """
    color_scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=color_scheme,
        accept_downloads=True,
    )
    context.set_default_timeout(120_000)
    page = context.new_page()
    activity = PageActivity()

    def note_message(message: ConsoleMessage) -> None:
        activity.console.append(f"{message.type}: {message.text}")

    def note_error(error: Error) -> None:
        activity.errors.append(str(error))

    def note_request(request: Request) -> None:
        is_page_itself = request.url.partition("#")[0] == file.as_uri()
        if not is_page_itself and not request.url.startswith("data:"):
            activity.requests.append(request.url)

    def dismiss(dialog: Dialog) -> None:
        activity.dialogs.append(str(dialog))
        dialog.dismiss()

    page.on("console", note_message)
    page.on("pageerror", note_error)
    page.on("request", note_request)
    page.on("dialog", dismiss)
    page.goto(file.as_uri())
    try:
        yield page, activity
    finally:
        context.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running_browser:
        yield running_browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Run]:
    """Two runs of all benchmarks; the second answers V-FLUTE in its own way."""
    first_samples = {task: sample_lines(task, 30) for task in ANSWER_BY_TASK}
    second_samples = sample_lines("figlang_mini", 30, answer_entailment)
    for samples, shift in ((first_samples["figlang_mini"], 0), (second_samples, 7)):
        for number, sample in enumerate(samples):
            score = ((number + shift) * 37 % 100) / 100
            scores = {"scorer": "embedded", "bertscore": score, "mean": score}
            sample["sample"]["explanation_scores"] = scores
    first = write_run(folder / "first", first_samples)
    second = write_run(folder / "second", {"figlang_mini": second_samples})
    return [read(f"first={first}"), read(f"second={second}")]


def answer_entailment(doc: Mapping[str, Any], number: int) -> str:
    """Always entailment; every second explanation has the words that a test looks for."""
    reason = "of the kettle" if number % 2 else ""
    return f"Because {reason}.\nLABEL: entailment"


@pytest.fixture(scope="module")
def gallery(runs: list[Run]) -> Gallery:
    return build(runs)


@pytest.fixture(scope="module")
def report(folder: Path, runs: list[Run]) -> Path:
    """A whole report."""
    (folder / "report.html").write_bytes(report_page.build(runs).content)
    return folder / "report.html"


def texts(page: Page, selector: str) -> list[str]:
    """The texts of all elements that a selector names."""
    return page.locator(selector).all_text_contents()


def ids(page: Page) -> list[str]:
    """Ids of the cards that are drawn."""
    return texts(page, "#cards .id")


def open_sample(page: Page, index: int = 0) -> Locator:
    """The card of an index, opened to all of its sample."""
    card = page.locator("#cards .card").nth(index)
    card.get_by_text("all of this sample").click()
    expect(card.locator(".whole pre").first).to_be_attached()
    return card


def choose(page: Page, **values: str) -> None:
    """Fill in filters, and wait each time until the gallery has followed."""
    for name, value in values.items():
        page.locator("#count").evaluate("element => { element.textContent = 'old' }")
        field = page.locator(f"#filters [name={name}]")
        if field.evaluate("element => element.tagName") == "SELECT":
            field.select_option(label=value)
        else:
            field.fill(value)
        expect(page.locator("#count")).not_to_have_text("old")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_report_opens_quietly_with_its_pictures_and_never_scrolls_sideways(
    browser: Browser, report: Path, width: int, dark: bool
) -> None:
    with opened(browser, report, width, dark) as (page, activity):
        expect(page.locator("#cards img").first).to_have_js_property("complete", True)
        charts = page.locator("figure img.chart")
        assert 2 * charts.count() == page.locator("a[download]").count() > 4
        for chart in charts.all():
            assert chart.get_attribute("alt")
            assert chart.evaluate("element => element.naturalWidth") > 300
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        open_sample(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert activity.quiet, activity


def read_rank(card: Card, run: int | None = None) -> int:
    """0 for a card with an unread answer in words, 1 for one with an answer without words, else 2.

    The answer may be that of any run, or of one.
    """
    statuses = {answer["status"] for answer in card["answers"] if run in (None, answer["run"])}
    if statuses & {"refused", "ambiguous", "unreadable", "out_of_range"}:
        return 0
    return 1 if statuses & {"empty", "missing"} else 2


def test_unread_answers_come_first_with_status_rule_and_output(
    browser: Browser, report: Path, gallery: Gallery
) -> None:
    ranks = [read_rank(card) for card in gallery.cards]
    assert {0, 1, 2} == set(ranks) != set(ranks[:3])
    with opened(browser, report) as (page, activity):
        assert ids(page) == [card["id"] for card in sorted(gallery.cards, key=read_rank)][:48]
        card = next(card for card in gallery.cards if read_rank(card, run=0) == 0)
        (answer,) = [answer for answer in card["answers"] if answer["run"] == 0]
        choose(page, run="first")
        cell = page.locator("#cards .card").first.locator(".answer:not(.reference)")
        assert cell.locator(".meta").text_content() == f"{answer['status']} (rule {answer['rule']})"
        assert cell.locator(".text").text_content() == answer["output"]
        choose(page, run="all", sort="order of the rows")
        assert ids(page) == [card["id"] for card in gallery.cards][:48]
        assert activity.quiet, activity


def first_ids(gallery: Gallery, task: str = "", run: int | None = None, **fields: str) -> list[str]:
    """Ids of the first cards that have an answer with these fields, unread answers first.

    By default the card may be of any task, and the answer of any run.
    """
    cards = []
    for card in gallery.cards:
        answers = [answer for answer in card["answers"] if run in (None, answer["run"])]
        has_answer = any(answer.items() >= fields.items() for answer in answers)
        if has_answer and task in ("", card["task"]):
            cards.append(card)
    cards.sort(key=partial(read_rank, run=run))
    return [card["id"] for card in cards][:48]


def clear_filters(page: Page, gallery: Gallery) -> None:
    """Show all samples again."""
    total = len(gallery.cards)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#count")).to_have_text(f"{total} of {total} samples")


@pytest.fixture(scope="module")
def filtered(
    browser: Browser, report: Path, gallery: Gallery
) -> Iterator[tuple[Page, PageActivity]]:
    """The report in one window for the tests of filters, each of which clears them first."""
    total = len(gallery.cards)
    with opened(browser, report) as (page, activity):
        assert page.text_content("#count") == f"{total} of {total} samples"
        assert ids(page)[:48] == first_ids(gallery)
        yield page, activity


def test_filters_by_task_outcome_and_run(
    filtered: tuple[Page, PageActivity], gallery: Gallery
) -> None:
    page, activity = filtered
    clear_filters(page, gallery)
    total = len(gallery.cards)
    assert page.text_content("#count") == f"{total} of {total} samples"
    assert ids(page)[:48] == first_ids(gallery)
    choose(page, task="figlang_mini", outcome="✗ wrong")
    wrong = first_ids(gallery, "figlang_mini", outcome="wrong")
    assert ids(page) == wrong
    assert len(wrong) > 3
    choose(page, run="second")
    wrong_of_second = first_ids(gallery, "figlang_mini", run=1, outcome="wrong")
    assert ids(page) == wrong_of_second != wrong
    assert set(texts(page, "#cards .answer .name")) == {"Reference", "second"}
    assert activity.quiet, activity


def test_filters_by_source_status_and_text(
    filtered: tuple[Page, PageActivity], gallery: Gallery
) -> None:
    page, activity = filtered
    clear_filters(page, gallery)
    choose(page, source="irfl_metaphor_simile")
    source_cards = [card for card in gallery.cards if card["source"] == "irfl_metaphor_simile"]
    assert ids(page) == [card["id"] for card in sorted(source_cards, key=read_rank)]
    choose(page, source="all", status="refused")
    assert ids(page) == first_ids(gallery, status="refused") != []

    choose(page, status="all", text="KETTLE", task="figlang_mini")
    ids_with_word = set()
    for card in gallery.cards:
        if card["task"] == "figlang_mini" and "kettle" in str(card).lower():
            ids_with_word.add(card["id"])
    assert set(ids(page)) == ids_with_word != set()
    assert activity.quiet, activity


def test_a_link_opens_the_rows_of_a_bucket_and_back_shows_all(
    browser: Browser, report: Path, gallery: Gallery
) -> None:
    """The second run is wrong where the first one, which gives the published label, is right."""
    broken = []
    for card in gallery.cards:
        outcomes = [answer["outcome"] for answer in card["answers"]]
        if len(outcomes) == 2 and outcomes[0] == "right" != outcomes[1]:
            broken.append(card["id"])
    total = len(gallery.cards)
    with opened(browser, report) as (page, activity):
        page.locator(".buckets a[href='#figlang_mini:broken']").click()
        expect(page.locator("#count")).to_have_text(f"{len(broken)} of {total} samples")
        assert sorted(ids(page)) == sorted(broken) != []
        options = texts(page, "#filters [name=bucket] option:checked")
        assert options == [f"broken ({len(broken)})"]
        expect(page.locator("#filters")).to_be_in_viewport()
        page.go_back()
        expect(page.locator("#count")).to_have_text(f"{total} of {total} samples")
        assert activity.quiet, activity


def test_clearing_the_filters_shows_all_samples(
    filtered: tuple[Page, PageActivity], gallery: Gallery
) -> None:
    page, _ = filtered
    choose(page, task="figlang_mini")
    total = len(gallery.cards)
    expect(page.locator("#count")).not_to_have_text(f"{total} of {total} samples")
    clear_filters(page, gallery)


def test_sorting(browser: Browser, report: Path, gallery: Gallery) -> None:
    cards = [card for card in gallery.cards if card["task"] == "figlang_mini"]
    score = {card["id"]: card["answers"][0]["score"] for card in cards}
    with opened(browser, report) as (page, activity):
        choose(page, task="figlang_mini", run="first", sort="score, lowest first")
        scores = [score[card_id] for card_id in ids(page)]
        assert scores == sorted(score.values())
        assert len(scores) == len(cards)
        choose(page, sort="outcome, wrong first")
        order = ["wrong", "no answer", "open", "right"]
        rank = {card["id"]: order.index(card["answers"][0]["outcome"]) for card in cards}
        assert [rank[card_id] for card_id in ids(page)] == sorted(rank.values())

        choose(page, run="all", sort="order of the rows", outcome="≠ runs differ")
        differing = []
        for card in cards:
            predictions = {answer["predicted"] for answer in card["answers"]}
            if len(predictions) > 1:
                differing.append(card["id"])
        assert ids(page) == differing
        assert len(differing) < len(cards)
        assert activity.quiet, activity


def test_a_card_shows_the_reference_and_what_each_run_wrote_and_opens_to_everything(
    browser: Browser, report: Path, gallery: Gallery
) -> None:
    card = gallery.cards[1]
    with opened(browser, report) as (page, activity):
        choose(page, sort="order of the rows")
        cells = page.locator("#cards .card").nth(1).locator(".answer")
        assert cells.nth(0).locator(".text").text_content() == card["reference"]
        for number, answer in enumerate(card["answers"], 1):
            cell = cells.nth(number)
            score_text = f"explanation score {100 * answer['score']:.1f}"
            assert cell.locator(".score").text_content() == score_text
            assert (cell.locator(".text").text_content() or "") == answer["explanation"]
        words = open_sample(page, 1).text_content() or ""
        for text in (card["id"], dict(card["facts"])["claim"], card["prompt"], card["source"]):
            assert text in words
        for answer in card["answers"]:
            assert answer["output"] in words
            assert answer["rule"] in words
            assert answer["predicted"] in words
        assert activity.quiet, activity


def test_samples_of_every_benchmark(browser: Browser, report: Path) -> None:
    pattern_by_task = {
        "figlang_mini_irfl_match_idiom": r"A 0\.100",
        "figlang_mini_irfl_retrieve_metaphor": r"1\. \d\.\d{3}",
        "figlang_mini_nykms_metaphor": "metaphorical word",
        "figlang_mini_metaclue_localize": "dashed are annotated",
        "figlang_mini_metaclue_vqa": "right answers",
        "figlang_mini_flute": "hypothesis",
    }
    with opened(browser, report) as (page, activity):
        choose(page, sort="order of the rows")
        for task, pattern in pattern_by_task.items():
            choose(page, task=task)
            body = open_sample(page)
            words = body.text_content() or ""
            assert re.search(pattern, words), task
            assert (body.locator("img").count() == 0) == ("flute" in task)
            if "localize" in task:
                assert body.locator("rect.truth").count() > 0 < body.locator("rect.found").count()
            if "retrieve" in task:
                ranked = re.findall(r"\d+\. (\d\.\d{3})", words)
                assert ranked == sorted(ranked, reverse=True) and len(ranked) > 2
        assert activity.quiet, activity


@pytest.fixture(scope="module")
def hostile(folder: Path) -> Path:
    """A report of a run whose every text is an attack."""
    tasks = ("figlang_mini", "figlang_mini_nykms_metaphor")
    samples = {task: sample_lines(task, 2) for task in tasks}
    first = samples["figlang_mini"][0]
    first["sample"] |= {
        "id": EVIL,
        "explanation": EVIL,
        "reference": EVIL,
        "status": EVIL,
        "rule": EVIL,
    }
    first["sample"]["explanation_scores"] = {"scorer": EVIL, "mean": 0.5, EVIL: EVIL}
    first |= {"input": EVIL, "filtered_resps": EVIL}
    cartoon = samples["figlang_mini_nykms_metaphor"][0]["sample"]
    cartoon["predicted"]["MW"] = EVIL
    cartoon["gold"]["MW"] = EVIL
    config = {"model": EVIL, "model_args": EVIL, "limit": EVIL}
    counts = {task: {"original": 76, "effective": 2} for task in samples}
    path = write_run(folder / "hostile", samples, config, git_hash=EVIL, **{"n-samples": counts})
    run = read(f"x={path}")
    run = Run(EVIL, run.path, run.tasks, run.results)
    honest = build([run])
    cards: list[Card] = [
        {**card, "facts": [("claim", EVIL)], "source": EVIL} for card in honest.cards
    ]
    content = render([run], [], Gallery(cards, honest.pictures, [EVIL]), EVIL, EVIL).content
    (folder / "hostile.html").write_bytes(content)
    return folder / "hostile.html"


def test_what_a_model_says_never_runs(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile) as (page, activity):
        assert page.title() == EVIL
        choose(page, status=EVIL)
        choose(page, status="all")
        assert EVIL in (open_sample(page).locator(".whole").text_content() or "")
        assert ids(page)[0] == EVIL
        open_sample(page, 1)
        assert page.locator("img[onerror], img[src=x]").count() == 0
        assert page.evaluate("document.scripts.length") == 2
        assert activity.quiet, activity


def test_the_policy_stops_a_script_that_came_in(
    browser: Browser, report: Path, tmp_path: Path
) -> None:
    """Should a text ever get through, it must not run: the browser itself is asked."""
    content = report.read_text(encoding="utf-8")
    attack = (
        "<script>document.title='attacked'</script><img src=x"
        " onerror=\"document.title='attacked'\">"
    )
    (tmp_path / "attacked.html").write_text(
        content.replace("<main", attack + "<main", 1), encoding="utf-8"
    )
    with opened(browser, tmp_path / "attacked.html") as (page, activity):
        expect(page.locator("#cards > li").first).to_be_attached()
        assert page.title() == "Figurative-language evaluation"
        refused = [message for message in activity.console if "Content Security Policy" in message]
        assert refused == activity.console
        assert len(refused) >= 2  # the script and the picture
