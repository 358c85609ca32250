"""Writes a table and pictures that users replace by their own: ``figlang data template vflute``."""

from __future__ import annotations

import csv
from pathlib import Path

from figlang_tasks import mini
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.benchmarks.vflute.row_tables import OPTIONAL_COLUMNS, USER_COLUMNS

_README = """V-FLUTE for figlang_tasks: rows of your own
===========================================

The tasks of V-FLUTE (arXiv 2405.01474) ask whether a picture entails or contradicts a claim, and
why. Replace the example rows (which this project wrote and drew) by yours, and set FIGLANG_DATA_DIR
to the folder above this one.

test.csv   one row for each picture and claim; CSV in UTF-8. Or write test.jsonl: one JSON object a
           line, with the same columns. train.csv serves vflute_5shot and vflute_10shot,
           validation.csv serves vflute_val.
images/    the pictures

id               unique in the file
image            path of the picture, below this folder
claim            what the picture entails or contradicts
label            entailment or contradiction
explanation      your reference: explanations of models are scored against it
source_dataset   optional. Where your rows are from: each source gets results of its own
phenomenon       optional: metaphor, simile, idiom, sarcasm, humor ...

Keep this folder free of the Parquet files of the release. Published results are not shown with rows
of your own.

With FIGLANG_DATA_DIR set to the folder above this one:
Check: figlang data check vflute
Try:   FIGLANG_SCORER=off lmms_eval --tasks vflute --model figlang_random --limit 5
"""


def template(folder: Path) -> list[Path]:
    """Write example rows, their pictures, and a README that says how to replace them.

    The examples are rows of figlang_mini: the first of each report group and label.

    Args:
        folder: where to write; it gets ``README.txt``, ``test.csv`` and ``images/``, which must not
            exist.

    Returns:
        The paths of the written files.
    """
    import pyarrow.parquet as pq

    (folder / "images").mkdir(parents=True)
    readme = folder / "README.txt"
    table = folder / "test.csv"
    pictures: list[Path] = []
    groups_and_labels: set[tuple[str, str]] = set()
    mini_rows = pq.read_table(mini.DATA_DIR / "data" / "test-00000-of-00001.parquet").to_pylist()

    with table.open("w", encoding="utf-8", newline="") as file:
        columns = [*USER_COLUMNS, *OPTIONAL_COLUMNS]
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for mini_row in mini_rows:
            group = rows.report_group(mini_row["source_dataset"], mini_row["phenomenon"])
            group_and_label = (group, mini_row["label"])
            if group_and_label in groups_and_labels:
                continue  # only the first row of a group and label is an example
            groups_and_labels.add(group_and_label)
            number = len(groups_and_labels)
            picture = folder / "images" / f"{number}.png"
            picture.write_bytes(mini_row["image"]["bytes"])
            pictures.append(picture)
            writer.writerow(
                {
                    "id": f"example-{number}",
                    "image": f"images/{number}.png",
                    "claim": mini_row["claim"],
                    "label": mini_row["label"],
                    "explanation": mini_row["explanation"],
                    # Rows of the user have report groups of their own: not ``irfl_idiom``.
                    "source_dataset": f"mini_{mini_row['phenomenon']}",
                    "phenomenon": mini_row["phenomenon"],
                }
            )
    readme.write_text(_README, encoding="utf-8")
    return [readme, table, *pictures]
