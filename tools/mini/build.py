"""Builds `figlang_mini`: `python -m tools.mini.build` draws the pictures and writes the parquet files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.core.hub import sources
from figlang_tasks.mini import DATA_DIR

from . import command
from .draw import CONCEPTS, draw
from .texts import Row, Split, rows

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL import Image

IMAGE_SIZE = 224
SPLITS: tuple[Split, ...] = ("train", "test")
COLUMNS = sources()["figlang_mini"].columns
LABELS: tuple[str, ...] = ("entailment", "contradiction")
# which phenomena each source may carry
PHENOMENA: dict[str, tuple[str, ...]] = {
    "irfl": ("metaphor", "simile", "idiom"),
    "vismet": ("metaphor", "simile"),
    "muse": ("sarcasm",),
    "memecap": ("humor",),
    "nycartoons": ("humor",),
}


def validate(all_rows: Sequence[Row]) -> None:
    """Check the texts of all splits together.

    Raises:
        ValueError: an empty or untrimmed text, an unknown label, source, phenomenon or concept, a claim or a picture
            that occurs twice.
    """
    claims: set[str] = set()
    pictures: set[tuple[str, int]] = set()
    for row in all_rows:
        where = f"{row.split} row {row.claim!r}"
        for text in (row.claim, row.explanation):
            if not text or text != text.strip():
                raise ValueError(f"{where}: empty or untrimmed text")
        if "LABEL" in row.explanation:
            raise ValueError(f"{where}: the explanation must not hold a label")
        if row.label not in LABELS:
            raise ValueError(f"{where}: unknown label {row.label!r}")
        if row.phenomenon not in PHENOMENA.get(row.source_dataset, ()):
            raise ValueError(f"{where}: {row.phenomenon!r} does not occur in {row.source_dataset!r}")
        if row.concept not in CONCEPTS:
            raise ValueError(f"{where}: unknown concept {row.concept!r}")
        if row.claim.casefold() in claims:
            raise ValueError(f"{where}: the claim occurs twice")
        if (row.concept, row.seed) in pictures:
            raise ValueError(f"{where}: the picture occurs twice")
        claims.add(row.claim.casefold())
        pictures.add((row.concept, row.seed))


def picture(row: Row, size: int = IMAGE_SIZE) -> Image.Image:
    """The RGB picture of a row, `size` x `size`; cartoons (`nycartoons`) are grey like the magazine's."""
    image = draw(row.concept, row.seed, size)
    return image.convert("L").convert("RGB") if row.source_dataset == "nycartoons" else image


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def build_split(split: Split) -> Dataset:
    """One split as a `datasets.Dataset` with the features of V-FLUTE, in its column order; images are PNG."""
    from datasets import Dataset, Features, Image, Value

    features = Features({name: Image() if name == "image" else Value("string") for name in COLUMNS})
    records = [
        {
            "image": {"bytes": _png(picture(row)), "path": f"{split}-{i:04d}.png"},
            "claim": row.claim,
            "label": row.label,
            "explanation": row.explanation,
            "phenomenon": row.phenomenon,
            "source_dataset": row.source_dataset,
        }
        for i, row in enumerate(rows(split))
    ]
    return Dataset.from_list(records, features=features)


_CARD = """---
license: apache-2.0
language:
- en
pretty_name: figlang_mini
size_categories:
- n<1K
task_categories:
- visual-question-answering
tags:
- figurative-language
- visual-entailment
- synthetic
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
  - split: test
    path: data/test-*
dataset_info:
  features:
  - name: image
    dtype: image
  - name: claim
    dtype: string
  - name: label
    dtype: string
  - name: explanation
    dtype: string
  - name: phenomenon
    dtype: string
  - name: source_dataset
    dtype: string
  splits:
  - name: train
    num_bytes: {train_bytes}
    num_examples: {train}
  - name: test
    num_bytes: {test_bytes}
    num_examples: {test}
  download_size: {download}
  dataset_size: {in_memory}
---
# figlang_mini

A small benchmark of explainable figurative visual entailment: a picture, a claim, whether the picture entails or
contradicts the claim, and an explanation. It exists so that an evaluation of figurative language can be run, tested
and shown from end to end without a download, an account or a GPU. **It is no substitute for V-FLUTE**, and a score on
it says little about a real model.

- {train} train and {test} test rows, {concepts} pictured concepts, PNG of {size} x {size} pixels.
- Test labels: {entail} entailment, {contra} contradiction; always answering `entailment` scores {majority:.1f} %
  accuracy.
- Columns, their order and their values are those of V-FLUTE. `source_dataset` names the V-FLUTE source that a row
  *imitates* (irfl, vismet, muse, memecap, nycartoons) so that the same report groups occur; no row, picture or text
  is taken from any of them. As in V-FLUTE, `nycartoons` holds entailment only.

## Making

Everything is this project's own work. The pictures are drawn by seeded code (`tools/mini/draw.py`), the claims
and explanations are written by hand (`tools/mini/texts.py`), and `python -m tools.mini.build` writes
this folder again. Similes, idioms and symbols are those of everyday English.

## Limits

The pictures show one plain subject each, the claims are short, and the author who wrote the claims also chose the
pictures. Explanations are one person's reading; others are possible.

## Licence

Apache-2.0.
"""


def write(folder: Path) -> dict[Split, int]:
    """Write both splits and the data set card below `folder` (made when missing).

    Returns:
        Number of rows of each split.

    Raises:
        ValueError: the texts do not pass `validate`.
    """
    validate([row for split in SPLITS for row in rows(split)])
    (folder / "data").mkdir(parents=True, exist_ok=True)
    counts: dict[Split, int] = {}
    sizes: dict[Split, int] = {}
    download = 0
    for split in SPLITS:
        data = build_split(split)
        target = folder / "data" / f"{split}-00000-of-00001.parquet"
        data.to_parquet(str(target))
        counts[split], sizes[split] = len(data), data.data.nbytes
        download += target.stat().st_size
    labels = [row.label for row in rows("test")]
    card = _CARD.format(
        **counts,
        train_bytes=sizes["train"],
        test_bytes=sizes["test"],
        in_memory=sum(sizes.values()),
        download=download,
        concepts=len({row.concept for split in SPLITS for row in rows(split)}),
        size=IMAGE_SIZE,
        entail=labels.count("entailment"),
        contra=labels.count("contradiction"),
        majority=100 * labels.count("entailment") / len(labels),
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """The command line (``tools.mini.command``)."""
    return command.run("build", __doc__, DATA_DIR, lambda folder: command.listed(write(folder).items()), argv)


if __name__ == "__main__":
    raise SystemExit(main())
