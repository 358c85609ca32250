"""Take pictures of parts of a report in headless Chromium, for docs/images/report-*.png; `make
report-pictures` runs it.

python tools/report_pictures.py seeing=results/figlang_vlm blind=results/figlang_blind
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from figlang_tasks.report import page
from figlang_tasks.results.runs import read_all

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
PICTURES = {"overview": "#group-overview", "sample": "#cards > li:nth-child(2)"}
"""The part of the page on each picture, as a CSS selector."""
STYLE = (
    "nav, h2, .downloads { display: none !important } #group-overview { padding: 1rem !important }"
)


def main(runs: list[str]) -> None:
    path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if not runs or path is None:
        sys.exit(__doc__ if path else "tools/report_pictures.py: there is no Chromium here")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        report.write_bytes(page.build(read_all(runs)).content)
        browser = playwright.chromium.launch(
            executable_path=path, args=["--headless", "--no-sandbox"]
        )
        window = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme="light", bypass_csp=True
        )
        window.goto(report.as_uri())
        window.add_style_tag(content=STYLE)
        for name, selector in PICTURES.items():
            part = window.locator(selector)
            part.scroll_into_view_if_needed()
            part.locator("img").evaluate_all(
                "images => Promise.all(images.map(image => image.decode()))"
            )
            whole = Image.open(io.BytesIO(part.screenshot())).convert("RGB")
            whole.quantize(192).save(FOLDER / f"report-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
