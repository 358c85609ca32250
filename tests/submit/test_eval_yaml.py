"""`docs/upstream/eval`: what owners of datasets put into their repositories, so that the hub shows a leaderboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from figlang_tasks.core.benchmark import Benchmark, benchmarks, source_of

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "docs" / "upstream" / "eval").glob("*.yaml"))
# A leaderboard of the hub has one configuration of the data; the New Yorker's numbers are means over five.
ON_THE_HUB = {
    each.source.name: each for each in benchmarks().values() if each.source.repository and each.source.name != "NYCC"
}


def leaderboards(benchmark: Benchmark) -> set[str]:
    """What `figlang submit hub` calls the metrics that papers give figures of."""
    records = json.loads((benchmark.folder / "published.json").read_text(encoding="utf-8"))["records"]
    tasks = [(each["task"], each["metric"]) for each in records]
    return {f"{name}_{metric}" for named, metric in tasks for name in ([named] if isinstance(named, str) else named)}


def test_each_dataset_of_the_hub_has_one() -> None:
    assert [path.stem for path in FILES] == sorted(ON_THE_HUB)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_names_our_leaderboards_and_the_data_of_their_tasks(path: Path) -> None:
    """The form is that of https://huggingface.co/docs/hub/eval-results."""
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert list(written) == ["name", "description", "evaluation_framework", "tasks"]
    assert written["name"] == path.stem and written["evaluation_framework"] == "lmms-eval"
    ids = [task["id"] for task in written["tasks"]]
    assert len(ids) == len(set(ids)) and set(ids) <= leaderboards(ON_THE_HUB[path.stem])
    splits = source_of(path.stem).splits or {"test"}
    for task in written["tasks"]:
        assert set(task) <= {"id", "config", "split"} and task["split"] in splits
        if (config := task.get("config", "default")) != "default":
            (file,) = [
                each
                for each in (ROOT / "task_yamls" / "lmms_eval").rglob("*.yaml")
                if task["id"].startswith(f"{each.stem}_")
                and task["id"].removeprefix(f"{each.stem}_")[:3] in ("acc", "p@k")
            ]
            assert f"dataset_name: {path.stem},table={config}\n" in file.read_text(encoding="utf-8")
