"""What AdMIRe declares of itself: names, versions, source, citation (SemEval-2025 Task 1)."""

from __future__ import annotations

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

ARCHIVES = "doi.org/10.15131/shef.data.28436600"

BENCHMARK = Benchmark(
    name="admire",
    version="5-0",
    prompt_hash="094b9c167cde",
    summary="which picture shows this compound?",
    citation="""\
@inproceedings{pickard-etal-2025-admire,
  title = {{SemEval}-2025 Task 1: {AdMIRe} - Advancing Multimodal Idiomaticity Representation},
  author = {Pickard, Thomas and Villavicencio, Aline and Mi, Maggie and He, Wei and Phelps, Dylan and Idiart, Marco and
    Scarton, Carolina},
  booktitle = {Proceedings of the 19th International Workshop on Semantic Evaluation (SemEval-2025)},
  year = {2025},
  eprint = {2503.15358},
  url = {https://arxiv.org/abs/2503.15358},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        Source(name="AdMIRe", bring=f"unpack the archives of {ARCHIVES} (docs/cards/admire.md)"),
    ),
    keys=("table", "shown"),
)
