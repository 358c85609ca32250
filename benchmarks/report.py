"""How fast a report of V-FLUTE's size opens in headless Chromium, beside one of a tenth of its rows.

    python benchmarks/report.py [--samples 723] [--runs 3] [--repeat 5]

The pictures are noise, which no format makes small, 640 by 480 pixels; texts are as long as V-FLUTE's. Told are the
seconds from opening the file until the first cards with their pictures are drawn (median, both sizes in turns), the
size of the file, and once the seconds and the memory that thumbnails take. Aims: open in under 2 s, under 25 MB.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from figlang_tasks.report.gallery import Gallery
from figlang_tasks.report.originals import Picture
from figlang_tasks.report.page import render
from figlang_tasks.report.thumbnails import Album
from figlang_tasks.results.runs import Run

AIM_SECONDS, AIM_MEGABYTES = 2.0, 25.0
SIZE = (640, 480)
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def noise(number: int) -> Image.Image:
    return Image.frombytes("RGB", SIZE, random.Random(number).randbytes(SIZE[0] * SIZE[1] * 3))


def card(number: int, picture: int, runs: int) -> dict[str, Any]:
    explanation = f"sample {number} " + "words of an explanation " * 18
    answer = {"status": "read", "rule": "marker", "predicted": "entailment", "outcome": "right", "said": []}
    return {
        "task": "vflute",
        "id": f"sample-{number}",
        "source": "muse",
        "facts": [["claim", f"claim {number} " + "word " * 12]],
        "gold": [["label", "entailment"]],
        "reference": "reference " * 40,
        "prompt": "prompt " * 40,
        "pictures": [{"label": "", "role": "", "picture": picture}],
        "answers": [
            {
                **answer,
                "run": run,
                "score": number / 1000,
                "score_name": "explanation score",
                "explanation": explanation,
                "output": explanation,
            }
            for run in range(runs)
        ],
    }


def report(samples: int, runs: int) -> bytes:
    """The file of a report of that size."""
    album = Album()
    cards = [card(number, album.place(Picture(str(number), partial(noise, number))), runs) for number in range(samples)]
    pictures = [each if isinstance(each, dict) else None for each in album.thumbnails()]
    named = [Run(f"run {number}", Path(f"run-{number}"), {}, {}) for number in range(runs)]
    return render(named, [], Gallery(cards, pictures, []), "A report").content


def seconds_to_open(browser: Any, file: Path) -> float:
    """Seconds until the cards are there and the first picture is decoded."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    start = time.perf_counter()
    page.goto(file.as_uri())
    page.locator("#gallery").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('#cards img')?.naturalWidth > 0")
    taken = time.perf_counter() - start
    page.close()
    return taken


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if the aims are reached, else 1."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="How fast a report opens.")
    parser.add_argument("--samples", type=int, default=723)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args(argv)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("benchmarks/report.py: there is no Chromium here")

    sizes = {"small": max(1, arguments.samples // 10), "whole": arguments.samples}
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        files, made = {}, {}
        for name, samples in sizes.items():
            start, files[name] = time.perf_counter(), Path(folder) / f"{name}.html"
            files[name].write_bytes(report(samples, arguments.runs))
            made[name] = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        taken: dict[str, list[float]] = {name: [] for name in files}
        for _ in range(arguments.repeat):
            for name, file in files.items():
                taken[name].append(seconds_to_open(browser, file))
        browser.close()
        megabytes = {name: file.stat().st_size / 1e6 for name, file in files.items()}
    opened = {name: statistics.median(found) for name, found in taken.items()}
    for name, samples in sizes.items():
        print(
            f"{samples:5d} samples x {arguments.runs} runs: opens in {opened[name]:.2f} s, {megabytes[name]:.1f} MB, "
            f"made in {made[name]:.1f} s"
        )
    print(f"the whole against a tenth of it: {opened['whole'] / opened['small']:.1f} times the seconds")
    print(f"memory while thumbnails are made: {memory:.0f} MB at most")
    reached = opened["whole"] < AIM_SECONDS and megabytes["whole"] < AIM_MEGABYTES
    print(f"aims (under {AIM_SECONDS:g} s, under {AIM_MEGABYTES:g} MB): {'reached' if reached else 'missed'}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
