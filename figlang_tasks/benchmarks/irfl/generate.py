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
from typing import TypedDict

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.irfl.sorting import SORTING
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import printable
from figlang_tasks.metrics.files import write_whole

PAPER_IDIOMS = 15
"""How many idioms the paper sampled (section 4.3)."""

PICTURES = 4
"""Pictures of each prompt, as those of Table 9 suggest (up to 59 of idioms, 120 of definitions)."""


class PictureToGenerate(TypedDict):
    """A line of ``prompts.jsonl``.

    Attributes:
        file: the name to save the picture under.
        prompt: the text that it is generated from.
        input: what the prompt is: ``idiom`` or ``definition``.
        phrase: the idiom.
        definitions: all definitions of the idiom.
        data: the table that the idiom is from, the text of a `DataId`.
    """

    file: str
    prompt: str
    input: str
    phrase: str
    definitions: list[str]
    data: str


def prompts(
    dataset: str, idioms: int = PAPER_IDIOMS, pictures: int = PICTURES
) -> list[PictureToGenerate]:
    """The pictures to generate: some for each drawn idiom, and as many for each definition of it.

    The names of the paper's 15 idioms are not published. A digest draws ours, whatever the order of
    the table.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        idioms: how many idioms to draw.
        pictures: how many pictures of each prompt.

    Raises:
        DataError: the table cannot be read, or has fewer idioms.
    """
    table = tables.read_base_table(dataset, "idioms-dataset")
    definitions_by_idiom: dict[str, tuple[str, ...]] = {}
    for row in table.rows:  # an idiom has a row for each of its images; its first one counts
        definitions_by_idiom.setdefault(row.phrase, row.definitions)
    available = len(definitions_by_idiom)
    if available < idioms:
        raise DataError(
            f"{table.data} has {available} idioms: draw at most so many (--idioms {available})"
        )
    drawn_idioms = sorted(definitions_by_idiom, key=_digest_of_idiom)[:idioms]

    idiom_input, definition_input = SORTING.inputs  # "idiom", "definition"
    lines: list[PictureToGenerate] = []
    for idiom in drawn_idioms:
        definitions = definitions_by_idiom[idiom]
        inputs_and_prompts = [(idiom_input, idiom)]
        inputs_and_prompts += [(definition_input, definition) for definition in definitions]
        for prompt_input, prompt in inputs_and_prompts:
            for _ in range(pictures):
                line = PictureToGenerate(
                    file=f"{len(lines):04}.png",
                    prompt=prompt,
                    input=prompt_input,
                    phrase=idiom,
                    definitions=list(definitions),
                    data=table.data,
                )
                lines.append(line)
    return lines


def _digest_of_idiom(idiom: str) -> bytes:
    """The key by which idioms are drawn: as good as random, and the same everywhere."""
    return hashlib.sha256(f"0/{idiom}".encode()).digest()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line that the module's docstring shows; return its exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    if min(args.idioms, args.pictures) < 1:
        parser.error("--idioms and --pictures must be 1 or more")
    try:
        lines = prompts(args.dataset, args.idioms, args.pictures)
        _write(lines, args.output)
    except (DataError, OSError) as error:
        print(printable(f"figlang_tasks: {error}"), file=sys.stderr)
        return 1
    print(printable(f"{args.output}: {len(lines)} pictures to generate, of {args.idioms} idioms"))
    return 0


def _parser() -> argparse.ArgumentParser:
    """The options of the command line."""
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
    return parser


def _write(lines: Sequence[PictureToGenerate], path: Path) -> None:
    """Write the lines as JSON Lines; a `DataError` if the file is there with other lines.

    A file with the same lines is written again.
    """
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode("ascii")
    if path.exists() and path.read_bytes() != content:
        raise DataError(
            f"{path} has other prompts, and pictures may be of those: name a new folder"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


if __name__ == "__main__":
    raise SystemExit(main())
