"""Text to image: ``metaclue_generate`` for classes of the harness, and a way for any other generator (paper, 3.4).

    python -m figlang_tasks.benchmarks.metaclue.generate prompts prompts.jsonl
    python -m figlang_tasks.benchmarks.metaclue.generate score FOLDER --prompts prompts.jsonl
    python -m figlang_tasks.benchmarks.metaclue.generate preference ratings.jsonl

``prompts`` writes the 300 prompts, each with the name of the file that a generator is to write; ``score`` gives CLIP
similarity and FID of a folder of such files, once it has seen that the prompts are still those; ``preference`` the
shares of Figure 8 from seven ratings of each pair.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.benchmarks.metaclue import pictures, rows
from figlang_tasks.benchmarks.metaclue.measures import GENERATE, distance, judged_of_image, similarity
from figlang_tasks.benchmarks.metaclue.task import Document, no_chance
from figlang_tasks.core import json_lines
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.prompting import render
from figlang_tasks.core.text import printable, printable_lines
from figlang_tasks.metrics import generated_images

PROMPTS = "prompts.jsonl"
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True)
class GenerateRecord:
    """What was generated for one document.

    Attributes:
        id: the path of the real picture.
        data: dataset, task, revision and digest.
        prompt: what was asked for.
        file: the generated picture; None if there is none, or a damaged one.
    """

    id: str
    data: str
    prompt: str
    file: str | None


def prompt_of(doc: Document) -> str:
    """Return the paper's prompt: "An advertisement where ... is as ... as ...."."""
    return render("metaclue/draw.jinja", doc=doc)


chance_answers = no_chance


def doc_to_target(doc: Document) -> str:
    """Return the path of the real picture."""
    return doc["image"]


def file_name(number: int) -> str:
    """The name, without its ending, of the picture for the document `number`."""
    return f"{number:04d}"


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Find the generated picture in what a class of the harness answers.

    That is JSON with a list ``images`` of paths, the path of a picture, or that of a folder with ``{number}.png`` or
    ``{number}_s0.png``.

    Returns:
        The :class:`GenerateRecord` and its measures (``figlang_tasks.scoring.judged``).
    """
    file = _generated(results[0], doc["number"])
    if file is not None and (damage := _damage(file)):
        logger.warning(f"figlang_tasks: {doc['id']}: counts as no picture: {damage}")
        file = None
    return judged_of_image(_record(doc, file), GENERATE)


def _record(doc: Document, file: Path | None) -> dict[str, Any]:
    return asdict(GenerateRecord(doc["id"], doc["data"], prompt_of(doc), None if file is None else str(file)))


def _generated(output: str | None, number: int) -> Path | None:
    text = (output or "").strip()
    try:
        found = json.loads(text)
        listed = found.get("images") or found.get("generated_images")
        text = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], str) else ""
    except (ValueError, AttributeError, RecursionError):
        pass
    try:
        path = Path(text)
        if not text or "\0" in text or len(text) > 4096:
            return None
        if path.is_dir():
            return in_folder(path, number)
        return path if path.suffix.lower() in SUFFIXES and path.is_file() else None
    except (OSError, ValueError):  # words instead of a path
        return None


def _damage(file: Path) -> str | None:
    """What is wrong with a generated picture; None if it can be decoded."""
    try:
        pictures.generated(file)
    except (DataError, OSError) as error:
        return str(error)
    return None


def in_folder(folder: Path, number: int) -> Path | None:
    """Return the picture for the document `number` in a folder of generated ones; None if there is none."""
    names = [f"{file_name(number)}{end}{suffix}" for end in ("", "_s0") for suffix in SUFFIXES]
    return next((folder / name for name in names if (folder / name).is_file()), None)


# --- any other generator ---------------------------------------------------------------------------------------------


def prompts(dataset: str) -> list[dict[str, Any]]:
    """Return the prompts to generate, each with its image, the statement and the name of the file to write.

    Raises:
        DataError: the data is not available.
    """
    return [
        {"file": f"{file_name(doc['number'])}.png", "prompt": prompt_of(doc), "image": doc["image"]}
        for doc in rows.load(dataset, "generate")
    ]


def _line(prompt: dict[str, Any]) -> str:
    return json.dumps(prompt)  # ASCII, so that no character of a prompt ends a line


def _check_prompts(folder: Path, given: Path | None, dataset: str) -> None:
    """Check that the pictures were made for the prompts of today: their names are numbers alone.

    Raises:
        DataError: other annotations have given other prompts since, or the file cannot be read.
    """
    path = given or folder / PROMPTS
    if not given and not path.exists():
        logger.warning(
            f"figlang_tasks: there is no {path}, and --prompts is not given: it cannot be checked that the pictures "
            "belong to the prompts of these annotations"
        )
        return
    lines, faults = json_lines.read(path)
    if faults:
        raise DataError(faults[0])
    expected = prompts(dataset)
    if [line.values for line in lines] != expected:
        other = (line.where for line, prompt in zip(lines, expected, strict=False) if line.values != prompt)
        place = next(other, f"{path}: {len(lines)} prompts instead of {len(expected)}")
        raise DataError(
            f"{place}: these are not the prompts of the present {dataset}, so the pictures belong to other prompts. "
            "Use the annotations of those prompts, or generate the pictures again"
        )


def score(folder: Path, dataset: str, model: str | None = None, prompts_file: Path | None = None) -> dict[str, Any]:
    """Score a folder of generated pictures, ``0000.png`` and so on.

    Args:
        folder: a picture for every prompt.
        dataset: ``MetaCLUE`` or ``figlang_mini_metaclue``.
        model: CLIP model; default that of ``figlang_tasks.metrics.generated_images``.
        prompts_file: what ``prompts`` wrote; default ``prompts.jsonl`` in `folder`. Without one a warning says that
            nothing was checked.

    Returns:
        ``clip_similarity`` and ``fid`` (None where one cannot be computed; the reason is logged), the number of
        ``images``, and ``signature`` of what was used.

    Raises:
        DataError: a picture is missing or damaged, the prompts were others, or the data is not available.
    """
    _check_prompts(folder, prompts_file, dataset)
    found, missing = [], []
    for doc in rows.load(dataset, "generate"):
        if (path := in_folder(folder, doc["number"])) is None:
            missing.append(f"{file_name(doc['number'])}.png")
        elif damage := _damage(path):
            raise DataError(damage)
        else:
            found.append(_record(doc, path))
    if missing:
        raise DataError(
            f"{folder} lacks {len(missing)} of {len(missing) + len(found)} pictures, e.g. {missing[0]}. Generate one "
            f"for each line of `python -m figlang_tasks.benchmarks.metaclue.generate prompts`"
        )
    likeness = similarity(found, model or generated_images.CLIP_MODEL)
    gap = distance(found)
    signatures = [] if likeness is None else [likeness.signature]
    signatures += [] if gap is None else [generated_images.fid_signature(len(found))]
    return {
        "clip_similarity": None if likeness is None else likeness.value,
        "fid": gap,
        "images": len(found),
        "signature": "; ".join(signatures),
    }


def preference(path: Path) -> generated_images.PreferenceShares:
    """Return the shares of Figure 8 from a file of ratings: a JSON list of seven ``left`` or ``right`` on each line.

    Raises:
        DataError: the file cannot be read, or a line is not valid; names it.
    """
    found = []
    for number, ratings in json_lines.lists(json_lines.content_of(path)):
        where = f"{path}, line {number}"
        if isinstance(ratings, str):
            raise DataError(f"{where} {ratings}")
        found.append(ratings)
    try:
        return generated_images.preference_shares(found)
    except (ValueError, TypeError) as error:
        raise DataError(f'{path}: {error}. Each line must be a JSON list of 7 "left" or "right"') from error


def main(argv: Sequence[str] | None = None) -> int:
    """The command line that the module's docstring shows."""
    parser = argparse.ArgumentParser(prog="python -m figlang_tasks.benchmarks.metaclue.generate", description=__doc__)
    parser.add_argument("--dataset", default="MetaCLUE", choices=["MetaCLUE", "figlang_mini_metaclue"])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("prompts").add_argument("output", type=Path, help="JSON lines file to write")
    scoring = verbs.add_parser("score")
    scoring.add_argument("folder", type=Path, help="pictures 0000.png, 0001.png ...")
    scoring.add_argument("--prompts", type=Path, help=f"file of prompts; default: FOLDER/{PROMPTS}, if it exists")
    scoring.add_argument("--model", help="CLIP model, hub id or folder")
    verbs.add_parser("preference").add_argument("ratings", type=Path, help="JSON lines, seven ratings each")
    args = parser.parse_args(argv)
    try:
        if args.verb == "prompts":
            found = prompts(args.dataset)
            args.output.write_text("".join(f"{_line(each)}\n" for each in found), encoding="utf-8", newline="\n")
            print(printable(f"{args.output}: {len(found)} prompts"))
        elif args.verb == "score":
            scored = score(args.folder, args.dataset, args.model, args.prompts)
            print(printable_lines(json.dumps(scored, indent=2)))
            # FID is promised of the paper's number of pictures alone.
            if scored["clip_similarity"] is None or (
                scored["fid"] is None and scored["images"] >= generated_images.PAPER_IMAGES
            ):
                return 1
        else:
            shares = preference(args.ratings)
            print(printable(f"left, tied, right of {shares.pairs} pairs: {shares}"))
    except (DataError, OSError) as error:
        print(printable(f"figlang_tasks: {error}"), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
