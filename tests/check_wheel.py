"""Run by .ci/run with the Python of an environment that holds our wheel: what landed in site-packages is right."""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

import figlang_tasks
from figlang_tasks import resource_dir

files = distribution("figlang-tasks").files or []
top = {Path(str(file)).parts[0] for file in files}
unexpected = {name for name in top if name not in {"figlang_tasks", ".."} and not name.endswith(".dist-info")}
if unexpected:
    sys.exit(f"the wheel puts {sorted(unexpected)} at the top of site-packages")

package = Path(figlang_tasks.__file__).parent
for folder in ("task_yamls", "prompts"):
    if resource_dir(folder) != package / folder:
        sys.exit(f"{folder} was found in {resource_dir(folder)}, not in the installed package")

from figlang_tasks.metrics.entailment import macro_f1  # noqa: E402  (only now known to be the installed one)

if macro_f1([1, 0], [1, 0]) != 1.0:
    sys.exit("metrics do not work")
print(f"wheel {figlang_tasks.__version__}: {len(files)} files, all in figlang_tasks/")
