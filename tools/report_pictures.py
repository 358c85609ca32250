"""Makes the pictures of docs/after_a_run.md: parts of a report of the demo model, photographed in headless Chromium.

    DEMO=figlang_tasks/mini/demo_model TASKS=figlang_mini,figlang_mini_irfl_match,figlang_mini_irfl_retrieve_metaphor
    for class in figlang_vlm figlang_blind; do
      lmms_eval --model $class --model_args pretrained=$DEMO --device cpu --batch_size 8 --tasks $TASKS \
        --log_samples --output_path results/$class
    done
    python tools/report_pictures.py seeing=results/figlang_vlm blind=results/figlang_blind

Writes docs/images/report-*.png, each of 256 colours and below 150 KB; exit status 1 if one is larger.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageOps

from figlang_tasks.report import page
from figlang_tasks.results.runs import read_all

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
PICTURES = {
    "overview": "#group-overview figure",
    "sample": "#cards > li:nth-child(2) > .card",
}
"""What is on each picture, as a selector of the page."""
MOST_BYTES = 150_000
MARGIN = 16


def photographed(report: bytes) -> dict[str, Image.Image]:
    """The parts of a report's file that `PICTURES` names."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("tools/report_pictures.py: there is no Chromium here")
    found = {}
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_bytes(report)
        browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox"])
        window = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light", bypass_csp=True)
        window.goto(file.as_uri())
        window.add_style_tag(content="nav, figure details, .downloads { display: none !important }")
        window.add_style_tag(content="figure { padding: 0 !important }")
        for name, selector in PICTURES.items():
            part = window.locator(selector)
            part.scroll_into_view_if_needed()
            part.locator("img:not([src])").first.wait_for(state="detached")
            part.locator("img").evaluate_all("images => Promise.all(images.map(image => image.decode()))")
            whole = Image.open(io.BytesIO(part.screenshot())).convert("RGB")
            ground = whole.getpixel((0, 0))
            assert isinstance(ground, tuple)
            found[name] = ImageOps.expand(whole, MARGIN, ground)
        browser.close()
    return found


def main(runs: list[str]) -> int:
    if not runs:
        sys.exit(__doc__)
    status = 0
    for name, picture in photographed(page.build(read_all(runs)).content).items():
        file = FOLDER / f"report-{name}.png"
        picture.quantize(256).save(file, optimize=True)
        print(f"{file.name}: {picture.width} x {picture.height}, {file.stat().st_size / 1000:.0f} KB")
        status |= file.stat().st_size > MOST_BYTES
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
