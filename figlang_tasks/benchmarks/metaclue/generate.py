"""Text to image: ``metaclue_generate`` for classes of the harness, and a way for any other generator (paper, 3.4).

    python -m figlang_tasks.benchmarks.metaclue.generate prompts prompts.jsonl
    python -m figlang_tasks.benchmarks.metaclue.generate score FOLDER --prompts prompts.jsonl

``prompts`` writes the 300 prompts, each with the name of the file that a generator is to write; ``score`` gives CLIP
similarity and FID of a folder of such files, once it has seen that the prompts are still those. The shares of Figure 8
are ``figlang_tasks.metrics.generated_images.preference_shares`` of the ratings.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.benchmarks.metaclue import rows
from figlang_tasks.benchmarks.metaclue.measures import GENERATE, distance, generated, judged_of_image, similarity
from figlang_tasks.benchmarks.metaclue.task import Document, no_chance
from figlang_tasks.core import json_lines
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.prompting import render
from figlang_tasks.core.text import printable, printable_lines
from figlang_tasks.metrics import generated_images

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")


def prompt_of(doc: Document) -> str:
    """Return the paper's prompt: "An advertisement where ... is as ... as ...."."""
    return render("metaclue/draw.jinja", doc=doc)


chance_answers = no_chance


def doc_to_target(doc: Document) -> str:
    """Return the path of the real picture."""
    return doc["image"]


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record of one document and its numbers: the picture is found in what a class of the harness answers.

    That is JSON with a list ``images`` of paths, the path of a picture, or that of a folder with ``{number}.png`` or
    ``{number}_s0.png``.
    """
    file = _generated(results[0], doc["number"])
    if file is not None and (damage := _damage(file)):
        logger.warning(f"figlang_tasks: {doc['id']}: counts as no picture: {damage}")
        file = None
    return judged_of_image(_record(doc, file), GENERATE)


def _record(doc: Document, file: Path | None) -> dict[str, Any]:
    picture = None if file is None else str(file)
    return {"id": doc["id"], "data": doc["data"], "prompt": prompt_of(doc), "file": picture}


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
        generated(file)
    except (DataError, OSError) as error:
        return str(error)
    return None


def in_folder(folder: Path, number: int) -> Path | None:
    """Return the picture for the document `number` in a folder of generated ones; None if there is none."""
    names = [f"{number:04d}{end}{suffix}" for end in ("", "_s0") for suffix in SUFFIXES]
    return next((folder / name for name in names if (folder / name).is_file()), None)


# --- any other generator ---------------------------------------------------------------------------------------------


def prompts(dataset: str) -> list[dict[str, Any]]:
    """Return the prompts to generate, each with its image and the name of the file to write.

    Raises:
        DataError: the data is not available.
    """
    return [
        {"file": f"{doc['number']:04d}.png", "prompt": prompt_of(doc), "image": doc["image"]}
        for doc in rows.load(dataset, "generate")
    ]


def _check_prompts(path: Path, dataset: str) -> None:
    """Check that pictures, whose names are numbers, were made for the prompts of today.

    Raises:
        DataError: other annotations have given other prompts since, or the file cannot be read.
    """
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


def score(folder: Path, dataset: str, prompts_file: Path, model: str = generated_images.CLIP_MODEL) -> dict[str, Any]:
    """Return the scores of a folder of generated pictures, ``0000.png`` and so on.

    Args:
        folder: a picture for every prompt.
        dataset: ``MetaCLUE`` or ``figlang_mini_metaclue``.
        prompts_file: what ``prompts`` wrote.
        model: CLIP model.

    Returns:
        ``clip_similarity`` and ``fid`` (None where one cannot be computed; the reason is logged), the number of
        ``images``, and ``signature`` of what was used.

    Raises:
        DataError: a picture is missing or damaged, the prompts were others, or the data is not available.
    """
    _check_prompts(prompts_file, dataset)
    docs = rows.load(dataset, "generate")
    files = [in_folder(folder, doc["number"]) for doc in docs]
    if missing := [f"{number:04d}.png" for number, file in enumerate(files) if file is None]:
        raise DataError(f"{folder} lacks {len(missing)} of {len(files)} pictures, e.g. {missing[0]}: generate them")
    for file in files:
        if file is not None and (damage := _damage(file)):
            raise DataError(damage)
    found = [_record(doc, file) for doc, file in zip(docs, files, strict=True)]
    likeness, gap = similarity(found, model), distance(found)
    signatures = [] if likeness is None else [likeness.signature]
    signatures += [] if gap is None else [generated_images.fid_signature(len(found))]
    return {
        "clip_similarity": None if likeness is None else likeness.value,
        "fid": gap,
        "images": len(found),
        "signature": "; ".join(signatures),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command line that the module's docstring shows."""
    parser = argparse.ArgumentParser(prog="python -m figlang_tasks.benchmarks.metaclue.generate", description=__doc__)
    parser.add_argument("--dataset", default="MetaCLUE", choices=["MetaCLUE", "figlang_mini_metaclue"])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("prompts").add_argument("output", type=Path, help="JSON lines file to write")
    scoring = verbs.add_parser("score")
    scoring.add_argument("folder", type=Path, help="pictures 0000.png, 0001.png ...")
    scoring.add_argument("--prompts", type=Path, required=True, help="what `prompts` wrote")
    scoring.add_argument("--model", default=generated_images.CLIP_MODEL, help="CLIP model, hub id or folder")
    args = parser.parse_args(argv)
    try:
        if args.verb == "prompts":
            found = prompts(args.dataset)
            # ASCII, so that no character of a prompt ends a line
            args.output.write_text("".join(f"{json.dumps(each)}\n" for each in found), encoding="utf-8", newline="\n")
            print(printable(f"{args.output}: {len(found)} prompts"))
        else:
            scored = score(args.folder, args.dataset, args.prompts, args.model)
            print(printable_lines(json.dumps(scored, indent=2)))
            # FID is promised of the paper's number of pictures alone.
            wants_fid = scored["images"] >= generated_images.PAPER_IMAGES
            return int(scored["clip_similarity"] is None or (wants_fid and scored["fid"] is None))
    except (DataError, OSError) as error:
        print(printable(f"figlang_tasks: {error}"), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
