"""What YesBut declares of itself: names, versions, source and citation (arXiv 2409.13592).

This is the satire of Nandy et al., not the YESBUT of Hu, Liang et al. (NeurIPS 2024).
"""

from __future__ import annotations

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="yesbut",
    version="1-0",
    prompt_hash="7c874521de22",
    summary="satire in comics of two halves",
    citation="""\
@inproceedings{nandy-etal-2024-yesbut,
  title = {{YesBut}: A High-Quality Annotated Multimodal Dataset for evaluating Satire Comprehension capability of Vision-Language Models},
  author = {Nandy, Abhilash and Agarwal, Yash and Patwa, Ashish and Das, Millon Madhur and Bansal, Aman and Raj, Ankit and Goyal, Pawan and
    Ganguly, Niloy},
  booktitle = {Proceedings of the 2024 Conference on Empirical Methods in Natural Language Processing},
  pages = {16878--16895},
  year = {2024},
  eprint = {2409.13592},
  url = {https://arxiv.org/abs/2409.13592},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        Source(
            name="YesBut",
            repository="bansalaman18/yesbut",
            revision="bba51668bd93b9a6d99302069ca81c85bf92159b",
        ),
    ),
    keys=("task",),
    scorer="yesbut24",
)
