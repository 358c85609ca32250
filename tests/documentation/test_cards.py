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
    """The texts of a card by their headings."""
    parts = re.split(r"^## (.+)\n", CARDS[name].read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def has_shipped_example(name: str) -> bool:
    """Whether the example of a card is a row that the package ships."""
    return "row of `figlang_mini" in CARDS[name].read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in sorted(CARDS) if has_shipped_example(name)])
def test_the_example_is_a_row_that_the_package_ships(name: str) -> None:
    text = sections(name)["Example"]
    row_and_task = re.findall(r"^The (first|second) row of `(\w+)`", text, re.MULTILINE)
    ((ordinal, task_name),) = row_and_task
    (path,) = tasks_dir().rglob(f"{task_name}.yaml")
    task = utils.load_yaml_config(str(path))
    benchmark, request = parse_request(task["dataset_name"])
    row = benchmark.documents(request, check_images=True)[("first", "second").index(ordinal)]
    parts: list[str] = []
    for turn in task["doc_to_messages"](row, task["lmms_eval_specific_kwargs"]["default"]):
        parts += [part.get("text", "[image]") for part in turn["content"]]
    prompt, answer = (block.text for block in blocks(text))
    assert prompt == "\n".join(parts) + "\n"
    expected_answer = task["doc_to_target"](row)
    if "The first of its" in text:  # the card shows one of several references
        expected_answer = expected_answer.splitlines()[0]
    assert answer.strip() == expected_answer


@pytest.mark.parametrize("name", sorted(CARDS))
def test_versions_are_those_of_the_tasks_and_in_the_changelog(name: str) -> None:
    versions: set[str] = set()
    for path in (tasks_dir() / name.removeprefix("figlang_")).rglob("*.yaml"):
        task = task_files.read(path.resolve())
        if "dataset_name" in task:
            benchmark, _ = parse_request(task["dataset_name"])
            versions.add(benchmark.version)
    texts = sections(name)
    (sentence,) = re.findall(r"Task version\s+(.+?)\.\n", texts["Paper"], re.DOTALL)
    assert set(re.findall(r"\d+-\d+", sentence)) == versions
    assert versions <= set(re.findall(r"^\* (\d+-\d+)", texts["Changelog"], re.MULTILINE))


@pytest.mark.parametrize("name", ["vflute", "irfl", "flute", "nykms"])
def test_repository_and_revision_are_those_that_are_read(name: str) -> None:
    text = sections(name)["Data access and licence"]
    for source in benchmarks()[name].sources:
        assert source.repository is None or source.repository in text
        assert source.revision is None or source.revision in text
