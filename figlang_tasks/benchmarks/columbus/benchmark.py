"""What COLUMBUS declares of itself: names, versions, source and citation (arXiv 2409.04053)."""

from __future__ import annotations

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="columbus",
    version="3-0",
    prompt_hash="f3ca24b6cf1e",
    summary="which phrase does a rebus convey?",
    citation="""\
@article{kraaijveld2024columbus,
  title = {{COLUMBUS}: Evaluating {COgnitive} Lateral Understanding through Multiple-choice {reBUSes}},
  author = {Kraaijveld, Koen and Jiang, Yifan and Ma, Kaixin and Ilievski, Filip},
  year = {2024},
  eprint = {2409.04053},
  url = {https://arxiv.org/abs/2409.04053},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        Source(
            name="COLUMBUS",
            repository="koen-47/COLUMBUS",
            revision="d34984c1019fbf9b5ebafb3c50051dd24f42c7c4",
        ),
    ),
    keys=("order",),
    optional_keys=("graph",),
)
