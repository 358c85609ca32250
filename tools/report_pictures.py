"""Take pictures of parts of a report and of a leaderboard in headless Chromium, for
docs/images/report-*.png and leaderboard.png; `make report-pictures` runs it.

python tools/report_pictures.py seeing=results/figlang_vlm blind=results/figlang_blind
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from figlang_tasks.leaderboard import board
from figlang_tasks.leaderboard.page import render
from figlang_tasks.report import page
from figlang_tasks.results.runs import read_all

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
PICTURES = {
    "report.html": {
        "report-overview": "#group-overview",
        "report-sample": "#cards > li:nth-child(2)",
    },
    "leaderboard.html": {"leaderboard": "#dataset-1"},
}
"""The part of each page on each picture, as a CSS selector."""
STYLE = (
    "nav, h2, .downloads { display: none !important }"
    " #group-overview, #dataset-1 { padding: 1rem !important }"
)


def main(runs: list[str]) -> None:
    path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if not runs or path is None:
        sys.exit(__doc__ if path else "tools/report_pictures.py: there is no Chromium here")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = Path(folder)
        saved_runs = read_all(runs)
        (pages / "report.html").write_bytes(page.build(saved_runs).content)
        (pages / "leaderboard.html").write_bytes(render(board.build(saved_runs)))
        browser = playwright.chromium.launch(
            executable_path=path, args=["--headless", "--no-sandbox"]
        )
        window = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme="light", bypass_csp=True
        )
        for file, selectors in PICTURES.items():
            window.goto((pages / file).as_uri())
            window.add_style_tag(content=STYLE)
            for name, selector in selectors.items():
                take_picture(window, selector, FOLDER / f"{name}.png")
        browser.close()


def take_picture(window: Page, selector: str, file: Path) -> None:
    part = window.locator(selector)
    part.scroll_into_view_if_needed()
    part.locator("img").evaluate_all("images => Promise.all(images.map(image => image.decode()))")
    whole = Image.open(io.BytesIO(part.screenshot())).convert("RGB")
    whole.quantize(192).save(file, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
