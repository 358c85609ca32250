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
  author = {Zhang, Chenhao and Feng, Xi and Bai, Yuelin and Du, Xeron and Hou, Jinchang and Deng, Kaixin and Han, Guangzeng and Li, Qinrui and Wang, Bingli and Liu, Jiaheng and Qu, Xingwei and Zhang, Yifei and Zhao, Qixuan and Liang, Yiming and Liu, Ziqiang and Fang, Feiteng and Yang, Min and Huang, Wenhao and Lin, Chenghua and Zhang, Ge and Ni, Shiwen},
  booktitle = {Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics (Volume 1: Long Papers)},
  pages = {14369--14402},
  year = {2025},
  eprint = {2410.13854},
  url = {https://arxiv.org/abs/2410.13854},
  archivePrefix = {arXiv}
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
