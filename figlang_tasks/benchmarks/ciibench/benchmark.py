"""What CII-Bench declares of itself: names, versions, source and citation (arXiv 2410.13854)."""

from __future__ import annotations

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="ciibench",
    version="1-0",
    prompt_hash="9b96345a9c66",
    summary="what does a Chinese picture imply?",
    citation="""\
@inproceedings{zhang2025ciibench,
  title = {Can {MLLMs} Understand the Deep Implication Behind {Chinese} Images?},
  author = {Zhang, Chenhao and others},
  booktitle = {Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics},
  year = {2025},
  pages = {14369--14402},
  doi = {10.18653/v1/2025.acl-long.700},
  url = {https://aclanthology.org/2025.acl-long.700}
}""",  # noqa: E501
    sources=(
        Source(
            name="CII-Bench",
            splits={"test": 765, "dev": 35},
            repository="m-a-p/CII-Bench",
            # The only commit with data whose full name is known. Its dev split has no pictures.
            revision="3f3725a9204d0454ec4e23201e46e195066c8c1d",
        ),
    ),
)
