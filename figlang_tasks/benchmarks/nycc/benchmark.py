"""New Yorker Caption Contest: which caption fits a cartoon, and why? (arXiv 2209.06293)"""

from __future__ import annotations

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="nycc",
    version="5-0",
    prompt_hash="3901458ced80",
    summary="which caption fits a cartoon, and why?",
    citation="""\
@inproceedings{hessel-etal-2023-androids,
  title = {Do Androids Laugh at Electric Sheep? {Humor} "Understanding" Benchmarks from {The New Yorker Caption
    Contest}},
  author = {Hessel, Jack and Marasović, Ana and Hwang, Jena D. and Lee, Lillian and Da, Jeff and Zellers, Rowan
    and Mankoff, Robert and Choi, Yejin},
  booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics},
  year = {2023},
  eprint = {2209.06293},
  url = {https://arxiv.org/abs/2209.06293},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        Source(
            name="NYCC",
            repository="jmhessel/newyorker_caption_contest",
            revision="d81cbab7d0392708d5371d3a4960e69261824db4",
            title="New Yorker Caption Contest",
        ),
    ),
    keys=("config", "fold"),
    scorer="vflute25",
)

# For task files of lm-eval, which has no hook that could add them.
METADATA = BENCHMARK.metadata(BENCHMARK.source)
METADATA_5SHOT = {**METADATA, "num_fewshot": 5}
