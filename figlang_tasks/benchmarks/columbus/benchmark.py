"""COLUMBUS: which word or phrase does a rebus convey? (arXiv 2409.04053)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.columbus import measures, rows, task
from figlang_tasks.core.benchmark import Asked, Benchmark
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.hub import Source


def asked(data: DataId, record: Mapping[str, Any]) -> Asked:
    """What the task that wrote the record asks for."""
    _, *parts = data.part.split("-")
    graph = {"graph": "true"} if "graph" in parts else {}
    return {"dataset": data.dataset, "order": "published" if "published" in parts else "benchmark"} | graph


BENCHMARK = Benchmark(
    name="columbus",
    version="2-1",
    prompt_hash="f3ca24b6cf1e",
    about="which phrase does a rebus convey?",
    citation="""\
@article{kraaijveld2024columbus,
  title = {{COLUMBUS}: Evaluating {COgnitive} Lateral Understanding through Multiple-choice {reBUSes}},
  author = {Kraaijveld, Koen and Jiang, Yifan and Ma, Kaixin and Ilievski, Filip},
  year = {2024},
  eprint = {2409.04053},
  url = {https://arxiv.org/abs/2409.04053},
  archivePrefix = {arXiv}
}""",
    sources=(Source(rows.NAME, repository="koen-47/COLUMBUS", revision=rows.REVISION),),
    measures=measures.of_records,
    load=lambda asked, _: rows.load(asked["dataset"], asked["order"], "graph" in asked),
    keys=("order",),
    optional_keys=("graph",),
    asked=asked,
    options=task.Options,
    preflight=task.preflight,
    count=lambda _: 1005,  # of the hub's release
)
