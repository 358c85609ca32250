"""IRFL: which picture shows the figurative meaning? (arXiv 2303.15445)"""

from __future__ import annotations

from figlang_tasks import mini
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="irfl",
    version="6-0",
    prompt_hash="32de4d05a64b",
    summary="which picture shows what a phrase says?",
    citation="""\
@inproceedings{yosef-etal-2023-irfl,
  title = {{IRFL}: Image Recognition of Figurative Language},
  author = {Yosef, Ron and Bitton, Yonatan and Shahaf, Dafna},
  booktitle = {Findings of the Association for Computational Linguistics: EMNLP 2023},
  pages = {1044--1058},
  year = {2023},
  eprint = {2303.15445},
  url = {https://arxiv.org/abs/2303.15445},
  archivePrefix = {arXiv}
}""",
    sources=(
        # The full commit of the release is not known here.
        Source(name="IRFL", repository="lampent/IRFL", unpinned="main"),
        Source(name="figlang_mini_irfl", folder=mini.IRFL_DIR),
    ),
    keys=("table",),
    optional_keys=("rotations",),
)
