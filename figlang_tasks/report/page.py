"""The report as one HTML file: nothing is loaded from elsewhere, and no script from data can run.

Every text of a run is escaped: by Jinja in the page, as JSON in the blocks that the page's script
reads, which makes text nodes of it. A Content-Security-Policy allows that script and the style
sheet alone, by their digests.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import figlang_tasks
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import without_paths
from figlang_tasks.report import gallery
from figlang_tasks.report.verdict import contradicted
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.readings import UNREAD, WITHOUT_WORDS

if TYPE_CHECKING:
    from figlang_tasks.report.sections import Group, Table

GENERATOR = "figlang_tasks"
"""Content of ``<meta name=generator>``; by it a report is known again."""

_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes:
        content: the file, UTF-8.
        samples: cards of the gallery.
        pictures: thumbnails in it.
        notices: what is missing, and what to do about it; they stand in the page as well.
    """

    content: bytes
    samples: int
    pictures: int
    notices: list[str]


def build(
    runs: Sequence[Run],
    title: str = "Figurative-language evaluation",
    pictures: bool = True,
    most: int = gallery.MOST_CARDS,
    command: str = "",
) -> Page:
    """Make the report of some runs."""
    from figlang_tasks.report import sections

    shown = gallery.build(runs, pictures, most)  # first: it refuses damaged rows
    return render(runs, sections.build(runs), shown, title=title, command=command)


def render(
    runs: Sequence[Run],
    found: Sequence[Group],
    shown: gallery.Gallery,
    title: str,
    command: str = "",
) -> Page:
    """Make the page of groups of sections and a gallery; see `build`."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    names = [run.name for run in runs]
    # JSON has no words for NaN and infinities.
    cards = json.loads(json.dumps(shown.cards), parse_constant=lambda name: None)
    contradictions = contradicted((run, task) for run in runs for task in run.tasks.values())
    html = (
        _environment()
        .get_template("page.jinja")
        .render(
            title=title,
            generator=f"{GENERATOR} {figlang_tasks.__version__}",
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            groups=found,
            names=names,
            partial={run.name: run.partial for run in runs if run.partial},
            told=[
                (
                    run.name,
                    provenance.run_facts(run),
                    {each.task: provenance.task_facts(each) for each in run.tasks.values()},
                )
                for run in runs
            ],
            contradictions=contradictions,
            shown=shown,
            data={
                "runs": names,
                "cards": cards,
                "pictures": shown.pictures,
                "statuses": {"unread": UNREAD, "withoutWords": WITHOUT_WORDS},
            },
            made={
                "made": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
                "figlang_tasks": figlang_tasks.__version__,
                "Python": platform.python_version(),
                "command": without_paths(redacted(command)),
            },
        )
    )
    # Half a surrogate pair has no bytes in UTF-8.
    content = html.encode("utf-8", "replace")
    return Page(
        content, len(shown.cards), sum(map(bool, shown.pictures)), [*contradictions, *shown.notices]
    )


def is_report(path: Path) -> bool:
    """Whether a file was made by `build`, and may be made again."""
    with path.open("rb") as file:
        return f'<meta name="generator" content="{GENERATOR} '.encode() in file.read(4096)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_url"] = lambda text, kind: f"data:{kind};charset=utf-8,{quote(text)}"
    environment.filters["html"] = _html
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def _html(table: Table) -> Markup:
    """A table of texts, escaped; the first column is the head of each row, and heads of columns
    have tooltips.
    """
    import pandas as pd

    shown = table.shown
    whole = shown.replace(r", (?=[\d.]+\])", ",\u00a0", regex=True)  # an interval stays in one line
    with pd.option_context("display.max_colwidth", None):
        html = whole.set_index(shown.columns[0]).to_html(border=0, index_names=False)
    # The policy of the page allows no style
    html = html.replace('<tr style="text-align: right;">', "<tr>")
    heads, end_of_heads, rows = html.partition("</thead>")
    for column, tooltip in table.tooltips.items():
        cell = f"<th>{escape(column, quote=False)}</th>"  # as pandas escapes it
        heads = heads.replace(cell, cell.replace("<th>", f'<th title="{escape(tooltip)}">'))
    return Markup(heads + end_of_heads + rows)


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return (
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
        )

    return (
        f"default-src 'none'; img-src data:; style-src {digest(style)}; script-src"
        f" {digest(script)}; base-uri 'none'; form-action 'none'"
    )
