"""FLUTE: does a sentence entail a figurative one, and why? (arXiv 2205.12404)"""

from __future__ import annotations

from figlang_tasks import mini
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="flute",
    version="6-0",
    prompt_hash="beefc3e73f83",
    summary="does a text entail another, and why?",
    citation="""\
@inproceedings{chakrabarty-etal-2022-flute,
  title = {{FLUTE}: Figurative Language Understanding through Textual Explanations},
  author = {Chakrabarty, Tuhin and Saakyan, Arkadiy and Ghosh, Debanjan and Muresan, Smaranda},
  booktitle = {Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing},
  pages = {7139--7159},
  year = {2022},
  eprint = {2205.12404},
  url = {https://arxiv.org/abs/2205.12404},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        # Text only, train split only. The full commit of the release is not known here.
        Source(
            name="FLUTE",
            splits={"train": 7534},
            repository="ColumbiaNLP/FLUTE",
            unpinned="resolved at first use",
        ),
        Source(name="figlang_mini_flute", splits={"train": 32}, folder=mini.FLUTE_DIR),
    ),
    keys=("part",),
    optional_keys=("prompt", "scorer"),
    scorer="flute22",
)

# For task files of lm-eval, which has no hook that could add them.
METADATA = BENCHMARK.metadata(BENCHMARK.source)
METADATA_4SHOT = {**METADATA, "num_fewshot": 4}
METADATA_MINI = BENCHMARK.metadata(BENCHMARK.sources[1])
