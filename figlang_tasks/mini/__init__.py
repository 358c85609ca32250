"""The data of small benchmarks that this project drew and wrote, and a demo model to run them
offline.

``DATA_DIR`` is `figlang_mini` in the hub's Parquet layout, the others stand beside it;
``DEMO_MODEL_DIR`` holds a tiny LLaVA trained from scratch. All are plain paths: importing this
package reads no file.
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
DATA_DIR: Path = _HERE / "data" / "figlang_mini"
FLUTE_DIR: Path = _HERE / "data" / "figlang_mini_flute"
IRFL_DIR: Path = _HERE / "data" / "figlang_mini_irfl"
METACLUE_DIR: Path = _HERE / "data" / "figlang_mini_metaclue"
NYKMS_DIR: Path = _HERE / "data" / "figlang_mini_nykms"
DEMO_MODEL_DIR: Path = _HERE / "demo_model"
