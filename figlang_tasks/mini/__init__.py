"""`figlang_mini`: a small benchmark drawn and written by this project, and a demo model to run it offline.

`DATA_DIR` is the benchmark in the hub's parquet layout; `DEMO_MODEL_DIR` holds a tiny LLaVA trained from scratch.
Both are plain paths: importing this package reads no file.
"""

from pathlib import Path

from figlang_tasks.core.hub import MINI_DATA_DIR

DATA_DIR: Path = MINI_DATA_DIR
DEMO_MODEL_DIR: Path = Path(__file__).resolve().parent / "demo_model"
