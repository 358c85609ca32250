"""Measure what `figlang score` costs, compared with the imports that it always needs.

    python timings/score_predictions.py [--repeats 5] [--rows 10000 100000] [--no-labels]
                                        [--claims FILE]

Tables are scored, each in processes of its own. The first has labels for the 723 rows of V-FLUTE's
size, with tiny pictures, as rows of a user's own: its processor time stands beside that of ``python
-c "import datasets, scipy.stats"``, in turns, and the least of several rounds counts. The others
have answers in words, in four styles, to 10,000 and to 100,000 rows: processor time and largest
memory are medians of as many rounds. ``--no-labels`` leaves the first table out.

Texts are made up; ``--claims`` takes those of a file in the form of V-FLUTE's released CSV, which
is read and not kept.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path

from processes import FIGLANG, Cost, cost_of, median_cost
from user_rows import LABELS, VFLUTE_ROWS, made_up_claims, row_id, write_rows

from figlang_tasks.core.text import markdown_table

IMPORTS_ALONE = "import datasets, scipy.stats"


# --- 723 labels ---


def write_labels(folder: Path, claims_file: Path | None) -> None:
    """Write a user's own rows in the place of V-FLUTE's, and ``labels.csv`` with a label each."""
    claims = made_up_claims(VFLUTE_ROWS)
    if claims_file is not None:
        with claims_file.open(encoding="utf-8", newline="") as stream:
            claims = [row["claim"] for row in csv.DictReader(stream)]
    write_rows(folder / "data" / "V-FLUTE", claims)
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as stream:
        labels = csv.writer(stream)
        labels.writerow(["id", "label"])
        for number in range(len(claims)):
            labels.writerow([row_id(number), LABELS[number % 3 % 2]])


def labels_table(folder: Path, repeats: int) -> str:
    """Return a table of the least processor time of several rounds, after one to fill caches."""
    imports_seconds: list[float] = []
    score_seconds: list[float] = []
    for turn in range(repeats + 1):
        imports_seconds.append(cost_of(IMPORTS_ALONE, [], folder).seconds)
        arguments = ["score", "labels.csv", "--task", "vflute", "-o", f"labels_{turn}"]
        score_seconds.append(cost_of(FIGLANG, arguments, folder).seconds)
    least_imports, least_score = min(imports_seconds[1:]), min(score_seconds[1:])
    return markdown_table(
        [
            ["", "CPU s", "of the imports alone"],
            [IMPORTS_ALONE, f"{least_imports:.2f}", "1.00x"],
            [
                f"figlang score, {VFLUTE_ROWS} labels",
                f"{least_score:.2f}",
                f"{least_score / least_imports:.2f}x",
            ],
        ]
    )


# --- many rows in words ---

_REASONS = (
    "The image shows a wooden table with a glass jar on its side, and a heap of small beans lies"
    " around it. A person stands behind the table and holds a hand before the mouth, as one does"
    " who has said too much. The idiom to spill the beans means to tell a secret before its time."
    " The jar in picture {number} stands for the secret, and the open mouth of the person stands"
    " for the telling. The claim says that number {number} did so, and the picture does show this"
    " in a figurative way, since nobody in it cares for real beans. Taken together, the details of"
    " the picture {verb} the claim."
)
"""An explanation of 114 words."""


def answer_in_words(number: int) -> str:
    """An answer to a row: a label alone, a sentence, 100 words and a label, or JSON, in turns."""
    label = LABELS[number % 3 % 2]
    style = number % 4
    if style == 0:
        return label.capitalize()
    if style == 1:
        return f"Whoever spills beans tells a secret, so the image is row {number}'s {label}."
    if style == 2:
        verb = "support" if label == "entailment" else "refute"
        return f"{_REASONS.format(number=number, verb=verb)}\n\nLABEL: {label}"
    explanation = f"The picture shows that {number} told a secret."
    return json.dumps({"explanation": explanation, "label": label})


def write_answers(folder: Path, count: int) -> None:
    """Write a user's own rows in V-FLUTE's form, all with one picture, and ``answers.csv``."""
    write_rows(folder / "data" / "V-FLUTE", made_up_claims(count), rows_per_picture=count)
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as stream:
        answers = csv.writer(stream)
        answers.writerow(["id", "output"])
        for number in range(count):
            answers.writerow([row_id(number), answer_in_words(number)])


def cost_of_many_rows(count: int, repeats: int) -> Cost:
    """The cost of scoring answers in words to as many rows, without explanation scores."""
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_answers(folder, count)
        for turn in range(repeats):
            arguments = ["score", "answers.csv", "--task", "vflute", "--scorer", "off"]
            costs.append(cost_of(FIGLANG, [*arguments, "-o", f"many_{turn}"], folder))
    return median_cost(costs)


def many_rows_table(counts: Sequence[int], repeats: int) -> str:
    """Return a table of processor time and memory by number of rows, beside those of the first."""
    table = [["rows", "CPU s", "of the first", "largest memory, MiB", "of the first"]]
    costs = [cost_of_many_rows(count, repeats) for count in counts]
    first = costs[0]
    for count, cost in zip(counts, costs, strict=True):
        table.append(
            [
                f"{count:,}",
                f"{cost.seconds:.1f}",
                f"{cost.seconds / first.seconds:.1f}x",
                f"{cost.largest_memory:.0f}",
                f"{cost.largest_memory / first.largest_memory:.1f}x",
            ]
        )
    return markdown_table(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="rounds: the least, or the median (%(default)s)"
    )
    parser.add_argument(
        "--rows",
        type=int,
        nargs="*",
        default=[10_000, 100_000],
        help="numbers of rows in words (%(default)s)",
    )
    parser.add_argument("--no-labels", action="store_true", help="leave the first table out")
    parser.add_argument("--claims", type=Path, help="V-FLUTE's released CSV")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    if not options.no_labels:
        with tempfile.TemporaryDirectory() as folder:
            write_labels(Path(folder), options.claims)
            print(labels_table(Path(folder), options.repeats))
    if options.rows:
        print(f"\n{many_rows_table(options.rows, options.repeats)}")


if __name__ == "__main__":
    main()
