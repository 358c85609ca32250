"""If these fail, a benchmark of an installed package is not found, or stops work with ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from documents import ROOT

EMBLEMS = ROOT / "examples" / "emblems"

BENCHMARK = """
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(
    name={name!r}, version="1-0", summary="a test", sources=(Source(name={dataset!r}),)
)
"""
UNFINISHED = """
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.hub import Source

BENCHMARK = Benchmark(name="{name}", version={version}, summary="a test", sources=({sources},))
"""
TASK_FILE = "task: {name}\ndataset_name: {dataset},split=test\n"

# What is wrong with a package, and what the warning must say: its name, its files (None: left out)
# and the text.
BROKEN: dict[str, tuple[dict[str, str | None], str]] = {
    "raising": (
        {"benchmark.py": "1 / 0"},
        r"its_raising\.benchmark cannot be imported \(ZeroDivisionError: division by zero\): repair"
        r" it, or uninstall dist-raising",
    ),
    "exiting": (
        {"benchmark.py": "raise SystemExit(3)"},
        r"its_exiting\.benchmark cannot be imported \(SystemExit: 3\): repair it",
    ),
    "unversioned": (
        {
            "benchmark.py": UNFINISHED.format(
                name="unversioned", version=None, sources="Source('d')"
            )
        },
        r"its_unversioned\.benchmark: version is None: write it in quotes",
    ),
    "sourceless": (
        {"benchmark.py": UNFINISHED.format(name="sourceless", version="'1-0'", sources="'d'")},
        r"its_sourceless\.benchmark: sources has 'd': write Source\(name=\.\.\., \.\.\.\)",
    ),
    "uncounted": (
        {
            "benchmark.py": UNFINISHED.format(
                name="uncounted", version="'1-0'", sources="Source('d', splits=20)"
            )
        },
        r'its_uncounted\.benchmark: splits is 20: write {"test": 20}, the number of rows',
    ),
    "listed": (
        {"task_yamls/lm_eval/listed_text.yaml": "task: listed_text\ndataset_kwargs: [FLUTE]\n"},
        r"has a fault \(AttributeError: .*\): repair it, or uninstall dist-listed",
    ),
    "renamed": (
        {"benchmark.py": BENCHMARK.format(name="another", dataset="Another")},
        r"its_renamed\.benchmark must define BENCHMARK = Benchmark\(name='renamed', \.\.\.\)",
    ),
    "flute": ({}, r"another benchmark has this name: choose another one"),
    "judge": ({}, r"another benchmark has this name: choose another one"),
    "Upper": ({}, r"give it a name of lower-case letters, digits and _"),
    "dataset": (
        {"benchmark.py": BENCHMARK.format(name="dataset", dataset="V-FLUTE")},
        r"its dataset V-FLUTE has the name of one of vflute: rename it",
    ),
    "task": (
        {"task_yamls/lmms_eval/flute.yaml": TASK_FILE.format(name="flute", dataset="task_data")},
        r"its task flute has the name of one in .*task_yamls/lmms_eval: rename it",
    ),
    "unasked": ({"task_yamls/lmms_eval/unasked.yaml": None}, r"has no task file: add task_yamls"),
    "untasked": ({"tasks.py": None}, r"its_untasked has no tasks\.py: add it"),
    "unreadable": (
        {"task_yamls/lmms_eval/unreadable.yaml": "task: [unreadable\n"},
        r"unreadable\.yaml is not valid YAML",
    ),
    "misnamed": (
        {"task_yamls/lmms_eval/misnamed.yaml": TASK_FILE.format(name="other", dataset="d")},
        r"misnamed\.yaml must have `task: misnamed`, the name of the file",
    ),
    "strange": (
        {"task_yamls/lmms_eval/strange.yaml": TASK_FILE.format(name="strange", dataset="FLUTE")},
        r"dataset_name is 'FLUTE,split=test'; its dataset must be one of strange: strange_data",
    ),
    "missing": (
        dict.fromkeys(
            ("__init__.py", "benchmark.py", "tasks.py", "task_yamls/lmms_eval/missing.yaml")
        ),
        r"its package its_missing cannot be found .*correct the entry point, or uninstall",
    ),
}


def install(site: Path, name: str, package: str) -> None:
    """Write what an installation writes beside a package: its name and its entry point."""
    folder = site / f"dist_{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: dist-{name}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[figlang_tasks.benchmarks]\n{name} = {package}\n")


def write_package(site: Path, name: str, changes: dict[str, str | None]) -> None:
    """Write and install a small package; `changes` are files with other content, or left out."""
    dataset = f"{name}_data"
    files: dict[str, str | None] = {
        "__init__.py": "",
        "benchmark.py": BENCHMARK.format(name=name, dataset=dataset),
        "tasks.py": "",
        f"task_yamls/lmms_eval/{name}.yaml": TASK_FILE.format(name=name, dataset=dataset),
        **changes,
    }
    for path, content in files.items():
        file = site / f"its_{name}" / path
        if content is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    install(site, name, f"its_{name}")


def environment(*folders: Path) -> dict[str, str]:
    """The environment of a command that finds packages in these folders too."""
    path = os.pathsep.join([*map(str, folders), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), "HF_HUB_OFFLINE": "1"}


def python(script: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a Python of its own, which finds packages in these folders."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env=environment(*folders),
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_broken_package_gives_one_warning_and_all_others_are_listed(tmp_path: Path) -> None:
    for name, (changes, _) in BROKEN.items():
        write_package(tmp_path, name, changes)
    install(tmp_path, "emblems", "figlang_emblems")
    script = (
        "import sys\nfrom figlang_tasks.cli.figlang import main\n"
        "sys.argv = ['figlang', 'tasks']\nmain()"
    )
    done = python(script, tmp_path, EMBLEMS)
    listed = [line.split()[0] for line in done.stdout.splitlines()[1:14]]
    ours = [
        "admire",
        "ciibench",
        "columbus",
        "flute",
        "humordb",
        "irfl",
        "metaclue",
        "nycc",
        "nykms",
        "vflute",
        "yesbut",
    ]
    assert listed == [*ours, "emblems", "figlang_mini"]
    warnings = done.stderr.splitlines()
    assert len(warnings) == len(BROKEN)
    for name, (_, text) in BROKEN.items():
        beginning = f"figlang_tasks: benchmark {name} of the installed package dist-{name}: "
        (warning,) = [line for line in warnings if line.startswith(beginning)]
        assert re.search(text, warning), warning
        assert warning.endswith("Until then, the benchmark is left out")


def test_of_a_package_only_its_declaration_is_imported_and_its_faults_concern_nobody_else(
    tmp_path: Path,
) -> None:
    write_package(tmp_path, "lazy", {"tasks.py": "import nothing_of_this_name"})
    write_package(tmp_path, "odd", {"tasks.py": "TASKS = (1,)"})
    script = """
import sys
from figlang_tasks.core.benchmark import benchmarks, names_with
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.results.measures import find_measure
from figlang_tasks import FigLangError

assert definitions()["lazy"].benchmark == "lazy" and "lazy" not in names_with("charts")
print(sorted(name for name in sys.modules if name.startswith("its_lazy")))
print(find_measure("f1@60") is not None, find_measure("nothing"))
for name in ("lazy", "odd"):
    try:
        benchmarks()[name].tasks
    except FigLangError as error:
        print(error)
"""
    done = python(script, tmp_path)
    imported, measures, error, other_error = done.stdout.splitlines()
    assert imported == "['its_lazy', 'its_lazy.benchmark']"
    assert measures == "True None"
    assert error == (
        "benchmark lazy: its_lazy.tasks cannot be imported (ModuleNotFoundError: No module named"
        " 'nothing_of_this_name'): repair it, or uninstall dist-lazy"
    )
    assert done.stderr.count("its_lazy.tasks cannot be imported") == 1
    assert other_error.endswith("its_odd/tasks.py must define TASKS = (Task(...), ...): define it")


# The commands in one process, because each start takes seconds.
COMMANDS = """
import sys
from figlang_tasks.cli import figlang, lmms_eval

def run(main, *arguments):
    sys.argv = ["command", *arguments]
    try:
        main()
    except SystemExit as error:
        assert not error.code, arguments

for model in ("majority", "random"):
    run(lmms_eval.main, "--tasks", "emblems", "--model", f"figlang_{model}", "--log_samples",
        "--output_path", f"results/{model}")
for command in (
    "tasks emblems --metrics", "tasks emblems --path lmms_eval", "data check emblems",
    "data prefetch emblems", "data prompts --task emblems -o prompts.jsonl",
    "compare results/majority results/random", "report results/majority -o report.html",
    "cite results/majority", "submit hub results/majority --repo org/majority -o hub",
    "score answers.jsonl --task emblems --model mine -o mine", "doctor hub --offline",
):
    run(figlang.main, *command.split())
"""


@pytest.mark.slow
def test_every_command_works_with_an_installed_benchmark(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "emblems", "figlang_emblems")
    lines = [f'{{"id": "emblem-{number}", "output": "Yes"}}' for number in range(8)]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    done = warm.run([sys.executable, "-c", COMMANDS], cwd=tmp_path, env=environment(site, EMBLEMS))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    # Four of the eight sayings fit, and a constant answer is right for these.
    assert re.search(r"figlang_majority on emblems: acc 50\.0", done.stdout)
    assert re.search(r"mine on emblems: acc 50\.0", done.stdout)
    assert "\n% emblems@1-0|data:Emblems/test:" in done.stdout
    assert f"{EMBLEMS}/figlang_emblems/task_yamls/lmms_eval\n" in done.stdout
    assert "acc ↑         headline    Share of pictures" in done.stdout
    assert (tmp_path / "prompts.jsonl").read_text().count("Does this picture convey") == 16
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report.count("data:image/") >= 8  # the eight pictures
