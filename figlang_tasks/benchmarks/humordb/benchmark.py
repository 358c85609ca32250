"""What HumorDB declares of itself: names, versions, source and citation (arXiv 2406.13564)."""

from __future__ import annotations

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="humordb",
    version="1-0",
    prompt_hash="948c0258f153",
    summary="is a picture funny, and how funny?",
    citation="""\
@inproceedings{jain2025humordb,
  title = {{HumorDB}: Can {AI} understand graphical humor?},
  author = {Jain, Vedaant V and Feitosa, Felipe dos Santos Alves and Kreiman, Gabriel},
  booktitle = {Proceedings of the IEEE/CVF International Conference on Computer Vision (ICCV)},
  year = {2025},
  eprint = {2406.13564},
  url = {https://arxiv.org/abs/2406.13564},
  archivePrefix = {arXiv}
}""",
    sources=(
        # No full commit of the release is known here.
        Source(
            name="HumorDB",
            splits={"train": 2136, "validation": 703, "test": 706},
            repository="kreimanlab/HumorDB",
            unpinned="resolved at first use",
        ),
    ),
    keys=("question", "split"),
)
