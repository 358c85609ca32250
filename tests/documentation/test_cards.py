"""A benchmark's card shows another prompt, version or source than the code has if this fails."""

from __future__ import annotations

import re

import pytest
from documents import ROOT, blocks
from lmms_eval import utils

from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks, parse_request
from figlang_tasks.harness.plugin import tasks_dir

CARDS = {name: ROOT / "docs" / "cards" / f"{name}.md" for name in (*benchmarks(), MINI)}


def sections(name: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", CARDS[name].read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SHIPPED = [
    name
    for name, path in sorted(CARDS.items())
    if re.search(r"row of `figlang_mini", path.read_text("utf-8"))
]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_example_is_a_row_that_the_package_ships(name: str) -> None:
    text = sections(name)["Example"]
    (found,) = re.findall(r"^The (first|second) row of `(\w+)`", text, re.MULTILINE)
    (path,) = tasks_dir().rglob(f"{found[1]}.yaml")
    task = utils.load_yaml_config(str(path))
    benchmark, request = parse_request(task["dataset_name"])
    row = benchmark.documents(request, check_images=True)[("first", "second").index(found[0])]
    turns = task["doc_to_messages"](row, task["lmms_eval_specific_kwargs"]["default"])
    parts = [part.get("text", "[image]") for turn in turns for part in turn["content"]]
    prompt, answer = (block.text for block in blocks(text))
    assert prompt == "\n".join(parts) + "\n"
    references = task["doc_to_target"](row)
    assert answer.strip() == (
        references.splitlines()[0] if "The first of its" in text else references
    )


@pytest.mark.parametrize("name", sorted(CARDS))
def test_versions_are_those_of_the_tasks_and_in_the_changelog(name: str) -> None:
    files = (tasks_dir() / name.removeprefix("figlang_")).rglob("*.yaml")
    contents = [task_files.read(file.resolve()) for file in files]
    versions = {
        parse_request(each["dataset_name"])[0].version
        for each in contents
        if "dataset_name" in each
    }
    (told,) = re.findall(r"Task version\s+(.+?)\.\n", sections(name)["Paper"], re.DOTALL)
    assert set(re.findall(r"\d+-\d+", told)) == versions
    assert versions <= set(re.findall(r"^\* (\d+-\d+)", sections(name)["Changelog"], re.MULTILINE))


@pytest.mark.parametrize("name", ["vflute", "irfl", "flute", "nykms"])
def test_repository_and_revision_are_those_that_are_read(name: str) -> None:
    text = sections(name)["Data access and licence"]
    for source in benchmarks()[name].sources:
        assert source.repository is None or source.repository in text
        assert source.revision is None or source.revision in text
