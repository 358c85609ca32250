"""Name, version and data of Emblems."""

from pathlib import Path

from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name="emblems",
    version="1-0",
    summary="does a picture convey a saying?",
    sources=(Source(name="Emblems", splits={"test": 8}, folder=Path(__file__).parent / "data"),),
)
