"""Builds `figlang_mini_nykms`: `python -m tools.mini.nykms` draws the cartoons and writes the rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from figlang_tasks import mini

from . import command
from .draw import draw
from .nykms_texts import CARTOONS, METAPHOR, SARCASM, SEED, Annotated

IMAGE_SIZE = 224
FIELDS: dict[str, tuple[str, ...]] = {"nyk_m": ("MC", "MW", "ME"), "nyk_s": ("SC", "SW", "ST", "SE")}
TEXTS: dict[str, tuple[Annotated, ...]] = {"nyk_m": METAPHOR, "nyk_s": SARCASM}

_CARD = """---
license: apache-2.0
language:
- en
pretty_name: figlang_mini_nykms
size_categories:
- n<1K
task_categories:
- visual-question-answering
tags:
- figurative-language
- metaphor
- sarcasm
- synthetic
---
# figlang_mini_nykms

Cartoons with captions: is there a metaphor (`nyk_m.jsonl`) or sarcasm (`nyk_s.jsonl`), in which word or object, what
does it mean or whom does it mock, and why. It exists so that the NYK-MS tasks can be run, tested and shown without a
download. **It is no substitute for NYK-MS**, and a score on it says little about a real model.

- {m} rows on metaphor ({m1} positive), {s} rows on sarcasm ({s1} positive), {cartoons} cartoons, grey PNG of {size} x
  {size} pixels in `images/`.
- The format is the one that `FIGLANG_DATA_DIR/NYK-MS` must have; `docs/cards/nykms.md` describes it. The marks
  `[I] object`, `[I]` and `[S] text` all occur.
- The contest numbers are made up. No cartoon, caption or annotation is taken from NYK-MS or from the New Yorker.

## Making

Everything is this project's own work: drawn by seeded code (`tools/mini/draw.py`), written by hand
(`tools/mini/nykms_texts.py`), put together by `python -m tools.mini.nykms`.

## Licence

Apache-2.0.
"""


def picture(contest: int, size: int = IMAGE_SIZE) -> Image.Image:
    """The grey drawing of a cartoon, `size` x `size`."""
    return draw(CARTOONS[contest].concept, SEED + contest, size).convert("L")


def records(part: str) -> list[dict[str, Any]]:
    """The rows of ``nyk_m`` or ``nyk_s`` in the import format, ids as in NYK-MS (contest, caption)."""
    label, *fields = FIELDS[part]
    captions: Counter[int] = Counter()
    found = []
    for text in TEXTS[part]:
        captions[text.contest] += 1
        answers = dict(zip(fields, text.answers, strict=True)) if text.answers else dict.fromkeys(fields, "")
        found.append(
            {
                "id": f"NYK_{text.contest}_{captions[text.contest]}",
                "contest_number": text.contest,
                "image": f"images/{text.contest}.png",
                "caption": text.caption,
                "description": CARTOONS[text.contest].description,
                label: int(bool(text.answers)),
                **answers,
            }
        )
    return found


def write(folder: Path) -> dict[str, int]:
    """Write rows, cartoons and the card below `folder` (made when missing).

    Returns:
        Number of rows of each file.
    """
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = {part: records(part) for part in FIELDS}
    for part, found in rows.items():
        lines = [json.dumps(record, ensure_ascii=False) for record in found]
        (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for contest in CARTOONS:
        picture(contest).save(folder / "images" / f"{contest}.png", optimize=True)
    card = _CARD.format(
        m=len(rows["nyk_m"]),
        m1=sum(record["MC"] for record in rows["nyk_m"]),
        s=len(rows["nyk_s"]),
        s1=sum(record["SC"] for record in rows["nyk_s"]),
        cartoons=len(CARTOONS),
        size=IMAGE_SIZE,
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    return {part: len(found) for part, found in rows.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """The command line (``tools.mini.command``)."""
    return command.run("nykms", __doc__, mini.NYKMS_DIR, lambda folder: command.listed(write(folder).items()), argv)


if __name__ == "__main__":
    raise SystemExit(main())
