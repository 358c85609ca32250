"""Measure what `figlang_clip` costs with more candidates, and beside evaluation pair by pair.

    python timings/dual_encoder.py [--device cpu|cuda] [--images N] [--repeats N]

Backs docs/models.md, "each picture and text is encoded once": 1,000 candidates cost hardly more
than 50. The setting is MetaCLUE's retrieval: each of N pictures is compared with K statements, its
own and K - 1 of other pictures. The pool that candidates come from, 6 N texts, does not grow with
K. Only the comparison of features and bookkeeping may grow: the seconds outside the encoders are
shown separately (pictures are decoded there too).

Needs no pretrained weights: CLIP ViT-B/32 with random ones, statements of 8 to 16 tokens, JPEG
pictures of 512 x 384. Pair by pair is one pass of the model for each pair, picture decoded and both
processed each time, measured on 40 pairs and multiplied. The variants run in turns, so that other
load on the machine slows all alike; the best run counts.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import string
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from lmms_eval.api.instance import Instance
from loguru import logger
from PIL import Image

from figlang_tasks.core.score_requests import KEY, read_answer
from figlang_tasks.core.text import markdown_table
from figlang_tasks.models.dual_encoder import FigLangCLIP

AIM = 1.3
STATEMENTS = 6
PAIRS = 40
SEED = 5


def write_clip(folder: Path, small: bool) -> Path:
    """Write CLIP ViT-B/32 (or a tiny one) with random weights; letters are tokens."""
    pieces = [*string.ascii_lowercase, *(f"{letter}</w>" for letter in string.ascii_lowercase)]
    pieces += ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(
        json.dumps({piece: index for index, piece in enumerate(pieces)})
    )
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer.from_pretrained(folder, model_max_length=77)
    text: dict[str, Any] = {
        "bos_token_id": len(pieces) - 2,
        "eos_token_id": len(pieces) - 1,
        "pad_token_id": 0,
    }
    vision: dict[str, Any] = {}
    if small:
        sizes = {
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
        }
        text |= sizes
        vision |= sizes | {"image_size": 32, "patch_size": 8}
    side = vision.get("image_size", 224)
    torch.manual_seed(SEED)
    transformers.CLIPModel(
        transformers.CLIPConfig(text_config=text, vision_config=vision)
    ).save_pretrained(folder)
    image = transformers.CLIPImageProcessor(size={"shortest_edge": side}, crop_size=side)
    transformers.CLIPProcessor(image, tokenizer).save_pretrained(folder)
    return folder


def pictures(count: int) -> list[bytes]:
    """Draw coarse random patterns as JPEG files."""
    generator = np.random.default_rng(SEED)
    files = []
    for _ in range(count):
        buffer = io.BytesIO()
        coarse = Image.fromarray(generator.integers(0, 256, (24, 32, 3), dtype=np.uint8))
        coarse.resize((512, 384)).save(buffer, "JPEG", quality=90)
        files.append(buffer.getvalue())
    return files


def show(doc: dict[str, Any]) -> list[Image.Image]:
    return [Image.open(io.BytesIO(doc["file"])).convert("RGB")]


def documents(count: int, candidates: int) -> list[dict[str, Any]]:
    """Make pictures with `candidates` statements each: first the picture's own, then statements of
    other pictures, drawn with a seed.
    """
    draw = random.Random(SEED)
    pool = [
        " ".join(draw.choices(string.ascii_lowercase, k=draw.randint(6, 14)))
        for _ in range(count * STATEMENTS)
    ]
    docs = []
    for number, file in enumerate(pictures(count)):
        own_statement = number * STATEMENTS
        others = [*range(own_statement), *range(own_statement + STATEMENTS, len(pool))]
        chosen = [own_statement, *draw.sample(others, candidates - 1)]
        docs.append({"file": file, "candidates": [pool[index] for index in chosen]})
    return docs


def ours(model: FigLangCLIP, docs: list[dict[str, Any]]) -> list[list[float]]:
    model.task_dict = {"retrieve": {"test": docs}}
    settings = {KEY: {"kind": "candidates", "candidates": "candidates"}}
    meta = {"task": "retrieve", "repeats": 1}
    requests = [
        Instance(
            "generate_until",
            ("", settings, show, number, "retrieve", "test"),
            0,
            meta | {"doc_id": number},
        )
        for number in range(len(docs))
    ]
    return [read_answer(answer) or [] for answer in model.generate_until(requests)]


def naive(folder: Path, device: str) -> Callable[[list[dict[str, Any]], int], list[float]]:
    """Return a function that scores pairs one after the other, up to `most` pairs in all."""
    model = transformers.CLIPModel.from_pretrained(folder).eval().to(device)
    processor = transformers.CLIPProcessor.from_pretrained(folder)

    def scores(docs: list[dict[str, Any]], most: int) -> list[float]:
        found = []
        for number in range(most):
            doc = docs[number % len(docs)]
            inputs = processor(
                images=show(doc),
                text=[doc["candidates"][number // len(docs)]],
                return_tensors="pt",
                truncation=True,
            )
            with torch.inference_mode():
                outputs = model(**inputs.to(device))
            found.append(torch.cosine_similarity(outputs.image_embeds, outputs.text_embeds).item())
        return found

    return scores


def watch(model: FigLangCLIP) -> list[float]:
    """Return a list that collects the seconds of each later pass through an encoder."""
    seconds: list[float] = []

    def watched(encode: Callable[..., Any]) -> Callable[..., Any]:
        def run(items: Any) -> Any:
            taken, result = timed(encode, items)
            seconds.append(taken)
            return result

        return run

    network: Any = model.network
    network.image_features = watched(network.image_features)
    network.text_features = watched(network.text_features)
    return seconds


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def report(given: argparse.Namespace) -> str:
    """Measure; return a table of seconds and ratios."""
    few, many = counts = (5, 100) if given.small else (50, 1000)
    docs = {count: documents(given.images, count) for count in counts}
    runs: dict[int, list[tuple[float, float]]] = {few: [], many: []}
    pair_seconds: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = write_clip(Path(temporary), given.small)
        model = FigLangCLIP(pretrained=str(folder), device=given.device, batch_size=64)
        pair_by_pair = naive(folder, given.device)
        first = docs[few][:2]
        ours(model, first)
        pair_by_pair(first, 2)
        encoding = watch(model)
        for turn in range(given.repeats):
            found: dict[int, list[list[float]]] = {}
            for count in counts:
                encoding.clear()
                taken, found[count] = timed(ours, model, docs[count])
                runs[count].append((taken, taken - sum(encoding)))
                print(f"turn {turn + 1}, K = {count}: {taken:.1f} s", file=sys.stderr)
            taken, expected = timed(pair_by_pair, docs[many], PAIRS)
            pair_seconds.append(taken / PAIRS)
    apart = max(
        abs(found[many][number % given.images][number // given.images] - score)
        for number, score in enumerate(expected)
    )
    rows = [
        ["K", "pairs", "figlang_clip, s", "outside the encoders, s", "pair by pair, s", "as fast"]
    ]
    for count in counts:
        (best, outside), pairs = min(runs[count]), count * given.images
        by_pair = min(pair_seconds) * pairs
        rows.append([f"{count}", f"{pairs:,}", f"{best:.2f}", f"{outside:.2f}", f"{by_pair:,.0f}"])
        rows[-1].append(f"{by_pair / best:,.0f}x")
    ratio = min(runs[many])[0] / min(runs[few])[0]
    lines = [
        (
            f"{given.images} pictures, {STATEMENTS} statements each, best of {given.repeats},"
            f" {given.device}, {torch.get_num_threads()} threads, torch {torch.__version__},"
            f" transformers {transformers.__version__}"
        ),
        markdown_table(rows),
        (
            f"K = {many} costs {ratio:.2f} times K = {few} (aim: at most {AIM}). Scores differ by"
            f" at most {apart:.1e}."
        ),
    ]
    return "\n\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu, or cuda where there is one")
    parser.add_argument("--images", type=int, default=200, help="pictures (%(default)s)")
    parser.add_argument(
        "--repeats", type=int, default=2, help="runs of each, of which the best counts"
    )
    parser.add_argument(
        "--small", action="store_true", help="a tiny model, K = 5 and 100: the ratios mean nothing"
    )
    given = parser.parse_args()
    logger.disable("figlang_tasks")
    print(report(given))


if __name__ == "__main__":
    main()
