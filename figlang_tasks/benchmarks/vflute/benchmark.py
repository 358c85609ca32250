"""V-FLUTE: does a picture entail a figurative claim, and why? (arXiv 2405.01474)"""

from __future__ import annotations

from figlang_tasks import mini
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="vflute",
    version="5-0",
    prompt_hash="5b1910affe97",
    summary="does a picture entail a claim, and why?",
    citation="""\
@inproceedings{saakyan-etal-2025-understanding,
  title = {Understanding Figurative Meaning through Explainable Visual Entailment},
  author = {Saakyan, Arkadiy and Kulkarni, Shreyas and Chakrabarty, Tuhin and Muresan, Smaranda},
  booktitle = {Proceedings of the 2025 Conference of the Nations of the Americas Chapter of the Association for
    Computational Linguistics: Human Language Technologies (Volume 1: Long Papers)},
  pages = {1--23},
  year = {2025},
  eprint = {2405.01474},
  url = {https://arxiv.org/abs/2405.01474},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        Source(
            name="V-FLUTE",
            splits={"train": 4578, "validation": 726, "test": 723},
            repository="ColumbiaNLP/V-FLUTE",
            revision="d920d848e21b6aba96e03704b134c546f89b74f4",
            gated=True,
            bring="figlang data template vflute (docs/cards/vflute.md)",
        ),
        Source(
            name="figlang_mini",
            splits={"train": 26, "test": 76},
            folder=mini.DATA_DIR,
            title="figlang_mini (V-FLUTE)",
        ),
    ),
    optional_keys=("instructions",),
    scorer="vflute25",
)
