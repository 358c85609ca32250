"""Text to image: prompts of idioms for any generator, and the paper's categories for its pictures
(section 4.3).

    python -m figlang_tasks.benchmarks.irfl.generate FOLDER/prompts.jsonl

writes a line for each picture to generate: its ``prompt``, and the ``file``, beside this one, to
save it in. Then people sort the pictures (``figlang judge export --task irfl_generate``,
docs/cards/irfl.md).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.irfl.sorting import SORTING
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import printable
from figlang_tasks.metrics.files import write_whole

PAPER_IDIOMS = 15
PICTURES = 4
"""Of each prompt, as the numbers of pictures in Table 9 (up to 59 and 120) suggest."""


def prompts(
    dataset: str, idioms: int = PAPER_IDIOMS, pictures: int = PICTURES
) -> list[dict[str, Any]]:
    """One line for each picture to generate; the prompts of an idiom are the idiom, and each
    definition of it.

    Idioms are drawn, whatever the order of the table: the names of the paper's 15 are not
    published.
    """
    table = tables.read_base_table(dataset, "idioms-dataset")
    known: dict[str, tuple[str, ...]] = {}
    for row in table.rows:
        known.setdefault(row.phrase, row.definitions)
    if len(known) < idioms:
        raise DataError(
            f"{table.data} has {len(known)} idioms: draw at most so many (--idioms {len(known)})"
        )
    drawn = sorted(known, key=lambda phrase: hashlib.sha256(f"0/{phrase}".encode()).digest())[
        :idioms
    ]
    asked = [
        {
            "prompt": prompt,
            "input": given,
            "phrase": phrase,
            "definitions": list(known[phrase]),
            "data": table.data,
        }
        for phrase in drawn
        for given, texts in zip(SORTING.inputs, ((phrase,), known[phrase]), strict=True)
        for prompt in texts
        for _ in range(pictures)
    ]
    return [{"file": f"{number:04}.png", **each} for number, each in enumerate(asked)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line that the module's docstring shows; return its exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m {SORTING.prompts}", description=__doc__)
    parser.add_argument(
        "output", type=Path, help="prompts.jsonl in the folder that the pictures are for"
    )
    parser.add_argument("--dataset", default="IRFL", choices=["IRFL", "figlang_mini_irfl"])
    parser.add_argument(
        "--idioms", type=int, default=PAPER_IDIOMS, help="how many to draw; default: %(default)s"
    )
    parser.add_argument(
        "--pictures", type=int, default=PICTURES, help="of each prompt; default: %(default)s"
    )
    args = parser.parse_args(argv)
    if min(args.idioms, args.pictures) < 1:
        parser.error("--idioms and --pictures must be 1 or more")
    try:
        found = prompts(args.dataset, args.idioms, args.pictures)
        content = "".join(f"{json.dumps(each)}\n" for each in found).encode("ascii")
        if args.output.exists() and args.output.read_bytes() != content:
            raise DataError(
                f"{args.output} has other prompts, and pictures may be of those: name a new folder"
            )
        args.output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(args.output, content)
    except (DataError, OSError) as error:
        print(printable(f"figlang_tasks: {error}"), file=sys.stderr)
        return 1
    print(printable(f"{args.output}: {len(found)} pictures to generate, of {args.idioms} idioms"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
