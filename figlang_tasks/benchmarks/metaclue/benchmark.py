"""MetaCLUE: visual metaphors, classified, retrieved, described, found, drawn (arXiv 2212.09898)"""

from __future__ import annotations

from figlang_tasks import mini
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="metaclue",
    version="5-0",
    prompt_hash="b17d07aa486c",
    summary="visual metaphors in advertisements",
    citation="""\
@inproceedings{akula-etal-2023-metaclue,
  title = {{MetaCLUE}: Towards Comprehensive Visual Metaphors Research},
  author = {Akula, Arjun R. and Driscoll, Brendan and Narayana, Pradyumna and Changpinyo, Soravit and Jia, Zhiwei and
    Damle, Suyash and Pruthi, Garima and Basu, Sugato and Guibas, Leonidas and Freeman, William T. and Li, Yuanzhen and
    Jampani, Varun},
  booktitle = {Proceedings of the IEEE/CVF Conference on Computer Vision and Pattern Recognition (CVPR)},
  pages = {23201--23211},
  year = {2023},
  eprint = {2212.09898},
  url = {https://arxiv.org/abs/2212.09898},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        # The annotations have no public release (module annotations).
        Source(name="MetaCLUE", unpinned="local", bring="docs/cards/metaclue.md"),
        Source(name="figlang_mini_metaclue", folder=mini.METACLUE_DIR),
    ),
    keys=("task",),
    needs={"java": "metaclue_caption* and metaclue_vqa*", "generation": "FID of metaclue_generate"},
)
