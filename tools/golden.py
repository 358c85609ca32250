"""Write what the package computes as text, to show that a change of its code changes no result.

    python tools/golden.py before --only mini     # in a checkout of the commit before the change
    python tools/golden.py after --only mini      # in the changed one
    diff -r -I _stderr before after               # what differs, line by line

Folders `results` and `samples`: the mini benchmarks by chance, by the majority and by the demo
model; all of V-FLUTE, IRFL and FLUTE (the tables beside the checkout, with drawn pictures) by
chance, twice. `after`: what ``figlang compare``, ``report`` and each ``submit`` make of those runs.

``--only mini`` leaves out the whole splits and what needs them, and takes about 8 minutes on 2
cores: it is for each step of a change. Without it all takes about half an hour (`make golden`):
once at the start of a change, and once at its end. Two runs of one checkout are equal, byte for
byte. The script says how long each run took.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from figlang_tasks.scoring import flat, from_json, full_name

ROOT = Path(__file__).resolve().parents[1]
MINI = ",".join(f"figlang_mini{part}" for part in ("", "_irfl", "_flute", "_nykms", "_metaclue"))
# Only tasks with labels have a majority answer.
MAJORITY = "figlang_mini,figlang_mini_irfl_detect_idiom,figlang_mini_flute,figlang_mini_nykms"
# The tables of open similes are not available.
IRFL = (
    "irfl_match_idiom,irfl_match_metaphor,irfl_match_simile,irfl_retrieve_metaphor,"
    "irfl_retrieve_simile"
)
WHOLE = f"vflute,{IRFL},flute_train,flute_codalab"

# What differs between equal runs: times, identifiers of files, and the checkout's commit.
_VARIES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?[\d:.+Z-]*|\d{8}_\d{6}|[0-9a-f-]{36}|\d{10}\.\d+|(?<=timestamp\":"
    r" \")\d+|(?<=\nseconds\n)\d+"
    r"|(?<=git_hash\": \")[0-9a-f]+|(?<=working folder\n)\S+"
)


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print how many seconds a step took."""
    started = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


# --- runs ---


def data(folder: Path) -> Path:
    """Write the full benchmarks as they are on the hub, but with drawn pictures."""
    from flute_rows import (
        blind_rows,
        released_vflute_csv,
        released_vflute_rows,
        write_lines,
        write_vflute_repo,
    )
    from irfl_release import copy_tables

    shared = released_vflute_csv().parent
    if not shared.is_dir():
        raise SystemExit(f"golden.py: {shared} is missing")
    write_vflute_repo(folder / "V-FLUTE", {"test": released_vflute_rows(released_vflute_csv())})
    copy_tables(shared / "irfl", folder / "IRFL")
    write_lines(folder / "FLUTE" / "flute_codalab_test_blind.jsonl", blind_rows())
    shutil.copyfile(shared / "flute_train.jsonl", folder / "FLUTE" / "train.jsonl")
    return folder


def evaluate(tasks: str, output: Path, *model: str) -> int:
    """Run one evaluation by the command; return its exit status, such as 1 where SPICE is missing.

    Raises:
        SystemExit: it left no results.
    """
    command = [
        str(Path(sys.executable).with_name("lmms_eval")),
        "--tasks",
        tasks,
        "--log_samples",
        *model,
    ]
    done = subprocess.run([*command, "--output_path", str(output)], capture_output=True, text=True)
    if not list(output.rglob("*_results.json")):
        raise SystemExit(
            f"golden.py: no results of {' '.join(command)}:\n{done.stdout}{done.stderr}"
        )
    return done.returncode


def write_runs(folder: Path, work: Path, only_mini: bool) -> None:
    from figlang_tasks.mini import DEMO_MODEL_DIR

    demo = (
        "--model",
        "figlang_vlm",
        "--model_args",
        f"pretrained={DEMO_MODEL_DIR}",
        "--batch_size",
        "8",
    )
    runs = {
        "mini_random": (MINI, "--model", "figlang_random"),
        "mini_majority": (MAJORITY, "--model", "figlang_majority"),
        "mini_demo": (MINI, *demo, "--device", "cpu"),
    }
    if not only_mini:
        runs["whole_1"] = (WHOLE, "--model", "figlang_random", "--model_args", "seed=1")
        runs["whole_2"] = (WHOLE, "--model", "figlang_random", "--model_args", "seed=2")
    for name, (tasks, *model) in runs.items():
        with timed(f"run {name}"):
            status = evaluate(tasks, work / name, *model)
        for path in sorted((work / name).rglob("*.json*")):
            task = path.stem.partition("_samples_")[2]
            kind = "samples" if task else "results"
            target = folder / kind / name / f"{task or 'all'}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            lines = samples(path) if task else [f"status {status}", *numbers(path)]
            target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def samples(path: Path) -> list[str]:
    """Return a line for each sample, with request, answer and scores."""
    rows = map(json.loads, path.read_text(encoding="utf-8").split("\n")[:-1])
    kept = ({key: value for key, value in row.items() if not key.endswith("hash")} for row in rows)
    return sorted(json.dumps(row, sort_keys=True) for row in kept)


def numbers(path: Path) -> list[str]:
    """Return every value of every task to 12 digits, from the harness's table and from our measures
    with their intervals.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    found = {
        (task, name): value
        for task, of_task in content["results"].items()
        for name, value in of_task.items()
    }
    for task, config in content["configs"].items():
        for measure, scope, estimate in flat(from_json(config["metadata"]["measures"])):
            name = full_name(measure, scope)
            values = {"": estimate.value, "_ci_low": estimate.low, "_ci_high": estimate.high}
            found |= {
                (task, f"{name}{end},none"): value
                for end, value in values.items()
                if value is not None
            }
    rounded = {
        at: f"{value:.12g}" if isinstance(value, float) else str(value)
        for at, value in found.items()
    }
    return [f"{task}\t{name}\t{value}" for (task, name), value in sorted(rounded.items())]


# --- after a run ---


def irfl_run(folder: Path) -> Path:
    """Write records, some right and some wrong, for all tables of a row of the leaderboard."""
    import saved_runs

    for phrase in saved_runs.DETECTION_ROWS:
        saved_runs.write_irfl_samples(
            folder,
            f"irfl_match_{phrase}",
            saved_runs.detection_records(phrase, lambda number: number % 3 == 0),
        )
        saved_runs.write_irfl_samples(
            folder,
            f"irfl_retrieve_{phrase}",
            saved_runs.retrieval_records(phrase, lambda number: number % 3),
        )
    return folder


def write_after(folder: Path, work: Path, only_mini: bool) -> None:
    demo, chance = work / "mini_demo", work / "mini_random"
    pages = [f"a={demo}", f"b={chance}"]
    commands: dict[str, tuple[str, ...]] = {
        "compare_mini.json": (
            "compare",
            f"a={demo}",
            f"b={chance}",
            "--json",
            "--resamples",
            "1000",
            "--all",
        ),
    }
    if not only_mini:
        first, second = work / "whole_1", work / "whole_2"
        pages = [f"a={first}", f"b={second}", f"c={demo}", f"d={chance}"]
        eee = (
            "--organization",
            "a",
            "--relationship",
            "other",
            "--model",
            "a/model",
            "--no-samples",
        )
        commands |= {
            "compare_whole.json": (
                "compare",
                f"a={first}",
                f"b={second}",
                "--json",
                "--resamples",
                "1000",
                "--all",
            ),
            "figlang24.zip": ("submit", "figlang2024", str(first), "-o", "OUT"),
            "flute22.jsonl": ("submit", "figlang2022", str(first), "-o", "OUT"),
            "irfl": ("submit", "irfl", str(irfl_run(work / "irfl"))),
            "hub": ("submit", "hub", str(first), "--repo", "a/model", "-o", "OUT"),
            "every_eval_ever": ("submit", "every-eval-ever", str(first), *eee, "-o", "OUT"),
        }
    commands["report.html"] = ("report", *pages, "--no-images", "-o", "OUT")
    folder.mkdir(parents=True)
    figlang = str(Path(sys.executable).with_name("figlang"))
    for name, command in commands.items():
        output = work / "after" / name
        output.parent.mkdir(exist_ok=True)
        words = [str(output) if word == "OUT" else word for word in command]
        with timed(f"after {name}"):
            done = subprocess.run([figlang, *words], capture_output=True, text=True)
        kept = [f"status {done.returncode}"]
        kept += [] if "OUT" in command and not done.returncode else [done.stdout, done.stderr]
        for path in (
            sorted(output.rglob("*")) if output.is_dir() else [output] if output.exists() else []
        ):
            if path.is_file():
                kept += [f"== {path.suffix}", _words(path)]
        text = "\n".join(kept).replace(str(work), "WORK")
        (folder / f"{name}.txt").write_text(_VARIES.sub("VARIES", text), encoding="utf-8")


def _words(path: Path) -> str:
    """Return the text of a file: of a page without markup, of an archive that of its files."""
    if path.suffix == ".zip":
        import zipfile

        with zipfile.ZipFile(path) as archive:
            return "\n".join(archive.read(name).decode() for name in archive.namelist())
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        return "\n".join(
            filter(str.strip, html.unescape(re.sub(r"<[^>]*>", "\n", text)).split("\n"))
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="to write into; must not exist")
    parser.add_argument("--only", choices=["mini"], help="leave out the whole splits")
    given = parser.parse_args()
    only_mini = given.only == "mini"
    sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT)]
    given.folder.mkdir(parents=True)
    with timed("all"), TemporaryDirectory(prefix="figlang-golden-") as folder:
        work = Path(folder)
        os.environ |= {
            "FIGLANG_SCORER": "embedded",
            "FIGLANG_CACHE": str(work / "cache"),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
        }
        if not only_mini:
            os.environ["FIGLANG_DATA_DIR"] = str(data(work / "data"))
        write_runs(given.folder, work, only_mini)
        write_after(given.folder / "after", work, only_mini)


if __name__ == "__main__":
    main()
