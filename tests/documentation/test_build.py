"""Files and parts of pages that the documents name are there (links within docs/ fail ``make docs``
too).
"""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import pytest
from documents import DOCUMENTS, ROOT, blocks, prose

# Names of files in prose: those below a folder of the repository, and those beside README.md.
_FILE = re.compile(
    r"`((?:figlang_tasks|metrics|prompts|task_yamls|tests|tools|timings|docs|examples|\.ci)/[\w./-]+|[A-Z]\w+\.(?:md|cff))`"
)
LANGUAGES = {"sh", "python", "yaml", "toml", "json", "jinja", "text", "bibtex", "diff", "csv"}
"""Of code blocks. Commands are ``sh``, which are parsed (test_commands.py); what is no program is
``text``.
"""


def anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading, e.g. "The `vflute` tasks": "the-vflute-tasks"."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DOCUMENTS, ids=attrgetter("name"))
def test_links_and_files_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", prose(text)) + re.findall(r'src="([^"]+)"', text)
    for link in links:
        if "://" in link or link == "../../issues":  # a page of the site that hosts the repository
            continue
        name, _, part = link.partition("#")
        target = path
        if name:
            target = path.parent / name
        assert target.exists(), link
        if part:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in map(anchor, headings), link
    for name in _FILE.findall(prose(text)):
        if not re.search(r"BENCHMARK|VERB|HARNESS", name):
            assert (ROOT / name).exists(), name
    for block in blocks(text):
        assert block.language in LANGUAGES or block.language.startswith("{"), (
            f"line {block.line}: {block.language!r}"
        )
