"""The report as one HTML file: nothing is loaded from elsewhere, and no script from data can run.

Every text of a run is escaped: by Jinja in the page, and as JSON in the block that the page's
script reads, which makes text nodes of it. A Content-Security-Policy allows that script and the
style sheet alone, by their digests.
"""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

import figlang_tasks
from figlang_tasks.core.card import Card
from figlang_tasks.core.html_pages import (
    content_security_policy,
    page_environment,
    shared_style,
)
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import without_paths
from figlang_tasks.report import gallery
from figlang_tasks.report.buckets import BUCKETS, sort_into_buckets
from figlang_tasks.report.run_warnings import contradiction_warnings
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.readings import UNREAD, WITHOUT_WORDS

if TYPE_CHECKING:
    from figlang_tasks.report.sections import Group, Section, Table

GENERATOR = "figlang_tasks"
"""Content of ``<meta name=generator>``, by which a report is recognized."""

_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Page:
    """A report as an HTML file, not yet written.

    Attributes:
        content: the bytes of the file, UTF-8.
        samples: the number of cards in the gallery.
        pictures: the number of pictures in the gallery, without damaged ones.
        warnings: what is missing, and what to do about it; the page shows them too.
    """

    content: bytes
    samples: int
    pictures: int
    warnings: list[str]


class _Provenance(NamedTuple):
    """How a run was made: facts about it, and about each of its tasks, by the name of the task."""

    run_name: str
    run_facts: Mapping[str, str]
    task_facts: Mapping[str, Mapping[str, str]]


def build(
    runs: Sequence[Run],
    title: str = "Figurative-language evaluation",
    with_pictures: bool = True,
    max_cards: int = gallery.MAX_CARDS,
    command: str = "",
    judged: Section | None = None,
) -> Page:
    """Make the HTML page that reports on runs; it is returned, not written.

    Args:
        title: the heading of the page.
        with_pictures: whether the gallery shows the pictures of the benchmarks.
        max_cards: how many rows the gallery may show, all tasks together; 0 for no gallery.
        command: the command line that asked for the report, which the page shows; "" for none.
        judged: what people say of the runs, which stands below the overview; None for nothing.

    Raises:
        RunError: a run has a damaged record.
    """
    from figlang_tasks.report import sections

    buckets = sort_into_buckets(runs)
    # The gallery raises an error for a damaged row, so it comes before the comparisons in the
    # sections, which take time.
    cards_and_pictures = gallery.build(runs, with_pictures, max_cards, buckets)
    groups = sections.build(runs, buckets)
    if judged is not None:
        groups.insert(1, sections.Group("judged", judged.title, (judged,)))
    return render(runs, groups, cards_and_pictures, title, command)


def render(
    runs: Sequence[Run],
    groups: Sequence[Group],
    cards_and_pictures: gallery.Gallery,
    title: str,
    command: str = "",
) -> Page:
    """Make the page from groups of sections and a gallery that are ready.

    Args:
        runs: the runs that both are about.
        title, command: as for `build`.
    """
    style = shared_style() + (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    run_names = [run.name for run in runs]
    contradictions: list[str] = []  # warnings: a results file and its samples differ in numbers
    for run in runs:
        contradictions += contradiction_warnings((run, task) for task in run.tasks.values())
    pictures = cards_and_pictures.pictures
    template = _environment().get_template("page.jinja")
    html = template.render(
        title=title,
        generator=f"{GENERATOR} {figlang_tasks.__version__}",
        policy=content_security_policy(style, script),
        style=Markup(style),  # Markup is not escaped: both are files of this package
        script=Markup(script),
        run_names=run_names,
        partial_runs={run.name: run.partial for run in runs if run.partial},
        contradictions=contradictions,
        groups=groups,
        gallery=cards_and_pictures,
        script_data={
            "runs": run_names,
            "cards": _without_nan(cards_and_pictures.cards),
            "pictures": pictures,
            "buckets": BUCKETS,
            "statuses": {"unread": UNREAD, "withoutWords": WITHOUT_WORDS},
        },
        provenance=[_provenance(run) for run in runs],
        report_facts=_report_facts(command),
    )
    return Page(
        content=html.encode("utf-8", "replace"),  # half a surrogate pair has no bytes in UTF-8
        samples=len(cards_and_pictures.cards),  # a card for each row that is shown
        pictures=sum(picture is not None for picture in pictures),
        warnings=[*contradictions, *cards_and_pictures.warnings],
    )


def is_report(path: Path) -> bool:
    """Whether a file is a report of this package, which another report may replace."""
    with path.open("rb") as file:
        beginning = file.read(4096)  # the meta element is among the first of the page
    return f'<meta name="generator" content="{GENERATOR} '.encode() in beginning


# --- what the template shows ---


def _provenance(run: Run) -> _Provenance:
    """How a run was made, for the last section of the page."""
    task_facts = {task.task: provenance.task_facts(task) for task in run.tasks.values()}
    return _Provenance(run.name, provenance.run_facts(run), task_facts)


def _report_facts(command: str) -> dict[str, str]:
    """When and how this report was made, without secrets and paths of this machine."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "made": now.strftime("%Y-%m-%d %H:%M UTC"),
        "figlang_tasks": figlang_tasks.__version__,
        "Python": platform.python_version(),
        "command": without_paths(redacted(command)),
    }


def _without_nan(cards: Sequence[Card]) -> list[Card]:
    """A copy of the cards with None in place of NaN and infinities, which JSON does not have."""
    # Python writes such numbers as the words NaN, Infinity and -Infinity; when it reads one of
    # these words, it takes what `parse_constant` returns in its place.
    text = json.dumps(cards)
    finite_cards: list[Card] = json.loads(text, parse_constant=_none_for_constant)
    return finite_cards


def _none_for_constant(constant: str) -> None:
    return None


# --- HTML ---


def _environment() -> Environment:
    """The Jinja environment of the page, with its filters."""
    environment = page_environment(_FOLDER)
    environment.filters["data_url"] = _data_url
    environment.filters["html"] = _table_html
    # The filter tojson writes no blanks: the cards are most of the page.
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def _data_url(text: str, media_type: str) -> str:
    """A text as a data URL of this media type: ``data:text/csv;charset=utf-8,...``."""
    return f"data:{media_type};charset=utf-8,{quote(text)}"


def _table_html(table: Table) -> Markup:
    """A table as HTML with its tooltips; all texts in it are escaped.

    The first column is the head of each row.
    """
    import pandas as pd

    # No line break within an interval such as "[18.6, 39.4]"
    cells = table.cells.replace(r", (?=[\d.]+\])", ",\u00a0", regex=True)
    # pandas cuts long texts off unless it is told not to.
    with pd.option_context("display.max_colwidth", None):
        # pandas escapes texts by default (escape=True). With index_names=False the heading of the
        # first column is left empty.
        html = cells.set_index(cells.columns[0]).to_html(border=0, index_names=False)
    # pandas gives the row of heads a style attribute, which the policy of the page forbids.
    html = html.replace('<tr style="text-align: right;">', "<tr>")
    # The first cell of each row is a <th> too, so tooltips are put into the head alone.
    head, end_of_head, body = html.partition("</thead>")
    for column, tooltip in table.tooltips.items():
        name = escape(column, quote=False)  # as pandas escapes it
        head = head.replace(f"<th>{name}</th>", f'<th title="{escape(tooltip)}">{name}</th>')
    return Markup(head + end_of_head + body)
