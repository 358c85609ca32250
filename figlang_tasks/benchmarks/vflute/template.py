"""A table and pictures that users replace by their own (``figlang data template vflute``)."""

from __future__ import annotations

import csv
from pathlib import Path

from figlang_tasks import mini
from figlang_tasks.benchmarks.vflute import rows

_README = """V-FLUTE for figlang_tasks: rows of your own
===========================================

The tasks of V-FLUTE (arXiv 2405.01474) ask whether a picture entails or contradicts a claim, and why. Put your rows in
place of the examples (which this project wrote and drew), and set FIGLANG_DATA_DIR to the folder above this one.

test.csv   one row for each picture and claim; CSV in UTF-8. Or test.jsonl: one JSON object a line, the same columns.
           train.csv serves vflute_5shot and vflute_10shot, validation.csv serves vflute_val.
images/    the pictures

id               unique in the file
image            path of the picture, below this folder
claim            what the picture entails or contradicts
label            entailment or contradiction
explanation      your reference, which explanations of models are scored against
source_dataset   may be left out. Where your rows are from: each source gets results of its own
phenomenon       may be left out: metaphor, simile, idiom, sarcasm, humor ...

Keep this folder free of the Parquet files of the release. Published results are not shown with rows of your own.

Check, with FIGLANG_DATA_DIR set to the folder above this one: figlang data check vflute
Try:   FIGLANG_SCORER=off lmms_eval --tasks vflute --model figlang_random --limit 5
"""  # noqa: E501


def template(folder: Path) -> list[Path]:
    """Write a table of example rows, one for each source and label, their pictures, and how to
    replace them.
    """
    import pyarrow.parquet as pq

    (folder / "images").mkdir(parents=True)
    table, readme, pictures = folder / "test.csv", folder / "README.txt", []
    kinds = set()
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows.REQUIRED, *rows.OPTIONAL], lineterminator="\n")
        writer.writeheader()
        for example in pq.read_table(
            mini.DATA_DIR / "data" / "test-00000-of-00001.parquet"
        ).to_pylist():
            kind = (
                rows.report_group(example["source_dataset"], example["phenomenon"]),
                example["label"],
            )
            if kind in kinds:
                continue
            kinds.add(kind)
            pictures.append(folder / "images" / f"{len(kinds)}.png")
            pictures[-1].write_bytes(example["image"]["bytes"])
            writer.writerow(
                {
                    **{
                        column: example[column]
                        for column in ("claim", "label", "explanation", "phenomenon")
                    },
                    "id": f"example-{len(kinds)}",
                    "image": f"images/{len(kinds)}.png",
                    "source_dataset": f"mini_{example['phenomenon']}",
                }
            )
    readme.write_text(_README, encoding="utf-8")
    return [readme, table, *pictures]
