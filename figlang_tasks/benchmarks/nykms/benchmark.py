"""NYK-MS: metaphor and sarcasm in captions of cartoons (arXiv 2409.01037)"""

from __future__ import annotations

from figlang_tasks import mini
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="nykms",
    version="4-1",
    prompt_hash="11eef236b350",
    summary="metaphor and sarcasm in cartoons",
    citation="""\
@misc{chang-etal-2024-nykms,
  title = {{NYK-MS}: A Well-annotated Multi-modal Metaphor and Sarcasm Understanding Benchmark on Cartoon-Caption
    Dataset},
  author = {Chang, Ke and Li, Hao and Zhang, Junzhao and Wu, Yunfang},
  year = {2024},
  eprint = {2409.01037},
  url = {https://arxiv.org/abs/2409.01037},
  archivePrefix = {arXiv}
}""",  # noqa: E501
    sources=(
        # The annotations have no public release; their cartoons and descriptions have.
        Source(name="NYK-MS", bring="figlang data template nykms (docs/cards/nykms.md)"),
        Source(
            name="NewYorkerCaptionContest",
            repository="jmhessel/newyorker_caption_contest",
            revision="508076d8e54f6e96c9af2df092f943d181308f8c",
        ),
        Source(name="figlang_mini_nykms", folder=mini.NYKMS_DIR),
    ),
    keys=("question", "modality"),
    optional_keys=("split",),
)

# For task files of lm-eval, which has no hook that could add them.
METADATA = BENCHMARK.metadata(BENCHMARK.source)
METADATA_MINI = BENCHMARK.metadata(BENCHMARK.sources[2])
