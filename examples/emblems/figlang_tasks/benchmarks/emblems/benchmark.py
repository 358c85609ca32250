"""Name, version and data source of Emblems."""

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="emblems",
    version="1-0",
    prompt_hash="124f4cf3f429",
    summary="does a picture convey a saying?",
    sources=(Source(name="Emblems", bring="docs/cards/emblems.md"),),
)
