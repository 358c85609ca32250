"""A link in the documents that leads nowhere is a fault of ``make docs``; files that they name are there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from documents import DOCUMENTS, ROOT, blocks, prose

import figlang_tasks

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
# Folders of the repository, in the names of files that prose gives.
_FILE = re.compile(
    r"`((?:figlang_tasks|metrics|prompts|task_yamls|tests|tools|benchmarks|docs|\.ci)/[\w./-]+|[A-Z]\w+\.(?:md|cff)|constraints\.txt)`"
)


def build(folder: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """As ``make docs``, but nothing is written."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", "-b", "dummy"]
    return subprocess.run([*command, str(folder), str(output)], capture_output=True, text=True, timeout=300)


def pages(folder: Path, index: str) -> Path:
    """A small folder of documents with the settings of the real one, and a file of the repository beside it."""
    docs = folder / "docs"
    docs.mkdir()
    (folder / "figlang_tasks").mkdir()
    shutil.copyfile(ROOT / "docs" / "conf.py", docs / "conf.py")
    (folder / "figlang_tasks" / "__init__.py").touch()
    (folder / "metrics").mkdir()
    shutil.copyfile(ROOT / "metrics" / "__init__.py", folder / "metrics" / "__init__.py")
    (folder / "CONTRIBUTING.md").write_text("# Contributing\n\n[page](docs/page.md#a-part)\n")
    (docs / "picture.png").write_bytes(b"")
    (docs / "page.md").write_text("# Page\n\n## A part\n")
    (docs / "contributing.md").write_text((ROOT / "docs" / "contributing.md").read_text())
    (docs / "index.md").write_text(f"# Index\n\n```{{toctree}}\npage\ncontributing\n```\n\n{index}\n")
    return docs


GOOD = (
    "[page](page.md)",
    "[part](page.md#a-part)",
    "![a picture](picture.png)",
    "[file](../figlang_tasks/__init__.py)",
)


@pytest.mark.slow
def test_links_that_lead_somewhere_pass(tmp_path: Path) -> None:
    done = build(pages(tmp_path, "\n\n".join(GOOD)), tmp_path / "built")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_each_link_that_leads_nowhere_fails(tmp_path: Path) -> None:
    broken = [link.replace("page.md)", "pages.md)").replace("a-part", "no-part") for link in GOOD]
    broken = [link.replace("picture.png", "pictures.png").replace("__init__", "__main__") for link in broken]
    docs = pages(tmp_path, "\n\n".join(broken))
    contributing = tmp_path / "CONTRIBUTING.md"
    contributing.write_text(contributing.read_text().replace("a-part", "other-part"))
    done = build(docs, tmp_path / "built")
    assert done.returncode != 0
    for name in ("pages.md", "no-part", "pictures.png", "__main__.py", "other-part"):
        assert any("WARNING" in line and name in line for line in done.stderr.splitlines()), (name, done.stderr)


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()  # what the format requires
    assert (cited["version"], cited["license"]) == (figlang_tasks.__version__, "Apache-2.0")


def anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere_on_the_site_that_hosts_the_repository(path: Path) -> None:
    document = prose(path.read_text(encoding="utf-8"))
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", document) if "://" not in link]
    links = [link for link in links if link != "../../issues"]  # a page of the site that hosts the repository
    for link in links:
        name, _, part = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        if part:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in map(anchor, headings), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    shown = {"emblems"}  # the worked example of CONTRIBUTING.md
    for name in _FILE.findall(prose(path.read_text(encoding="utf-8"))):
        if re.search(r"BENCHMARK|VERB", name) or shown & set(re.split(r"[/.]", name)):
            continue
        assert (ROOT / name).exists(), f"{path.name} names {name}, which is not there"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_code_block_says_its_language(path: Path) -> None:
    """Commands are ``sh``, which are run (test_commands.py); what is no program is ``text``."""
    known = {"sh", "python", "yaml", "toml", "json", "jinja", "text", "bibtex", "diff", "csv"}
    for block in blocks(path.read_text(encoding="utf-8")):
        directive = block.language.startswith("{")
        assert directive or block.language in known, f"{path.name}, line {block.line}: {block.language!r}"
