"""The pictures and annotations of `figlang_mini_metaclue`, as written and as shipped."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.core.hub import sources
from tools.mini import metaclue
from tools.mini.metaclue import DATA_DIR, HEIGHT, WIDTH, Advertisement, advertisements, validate
from tools.mini.metaclue_texts import METAPHORS, NEGATIVES


@pytest.fixture(scope="module")
def made() -> list[Advertisement]:
    return advertisements()


def test_the_folder_is_the_source() -> None:
    assert sources()["figlang_mini_metaclue"].folder == DATA_DIR


def test_shipped_files_equal_a_rebuild(tmp_path: Path, made: list[Advertisement]) -> None:
    assert metaclue.write(tmp_path) == len(made) == len(METAPHORS) + len(NEGATIVES)
    for name in ("annotations.jsonl", "README.md"):
        assert (DATA_DIR / name).read_bytes() == (tmp_path / name).read_bytes()
    shipped = {str(path.relative_to(DATA_DIR)) for path in DATA_DIR.rglob("*") if path.is_file()}
    assert shipped == {"annotations.jsonl", "README.md", "croissant.json", *(each.row.image for each in made)}
    for each in made:
        before = Image.open(DATA_DIR / each.row.image)
        assert before.format == ("PNG" if each.row.image.endswith(".png") else "JPEG")
        assert (before.mode, before.size) == ("RGB", (WIDTH, HEIGHT))
        after = Image.open(tmp_path / each.row.image)
        # near, not equal: another Pillow or libjpeg may round a little differently
        gap = np.abs(np.asarray(before, dtype=np.int16) - np.asarray(after, dtype=np.int16))
        assert gap.mean() < 2, each.row.image


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in DATA_DIR.rglob("*") if path.is_file()) < 700_000


def test_build_is_deterministic(made: list[Advertisement]) -> None:
    again = advertisements()
    assert [each.row for each in again] == [each.row for each in made]
    assert [each.content for each in again[:5]] == [each.content for each in made[:5]]


def test_what_it_holds(made: list[Advertisement]) -> None:
    counts = Counter((each.row.set, each.row.split) for each in made)
    assert counts == {
        ("metaphor", "test"): 40,
        ("metaphor", "train"): 4,
        ("symbolic_negative", "test"): 10,
        ("symbolic_negative", "train"): 3,
        ("literal_negative", "test"): 8,
        ("literal_negative", "train"): 3,
    }
    folders = {each.row.image.partition("/")[0] for each in made}
    assert folders == {str(number) for number in range(11)}
    assert len({each.content for each in made}) == len(made)
    boxes = [box for each in made if each.row.split == "test" for box in each.row.boxes]
    assert {box.type for box in boxes} == set(schema.BOX_TYPES)
    assert min(Counter(box.type for box in boxes).values()) >= 8
    for each in made:
        if each.row.set == "metaphor":
            assert {box.role for box in each.row.boxes} == set(schema.ROLES)
            assert len(each.row.metaphors) == 27
            assert each.row.best.votes == (5, 5, 5) == max(metaphor.votes for metaphor in each.row.metaphors)
    assert len({each.row.topic for each in made}) == 8
    # enough for 1,000 candidates, and for 50 of another topic
    said = {metaphor.statement for each in made if each.row.split == "test" for metaphor in each.row.metaphors}
    assert len(said) == 40 * 27
    # neither sets nor best metaphors stand in an order that tells anything
    assert len({each.row.set for each in made[:20]}) == 3
    assert len({each.row.metaphors.index(each.row.best) for each in made if each.row.metaphors}) > 10


def test_boxes_lie_on_what_was_put_there(made: list[Advertisement]) -> None:
    """Within each box the picture varies; the paper around it does not."""
    for each in made:
        pixels = np.asarray(each.picture, dtype=np.int16)
        paper = pixels[0, 0]
        empty = (np.abs(pixels - paper).max(axis=2) < 3).copy()
        for box in each.row.boxes:
            left, top, right, bottom = map(int, box.bbox)
            inner = empty[top:bottom, left:right]
            assert inner.mean() < (0.9 if box.type == "text" else 0.6), (each.row.image, box)
            # tight: something reaches close to each edge
            margin = 3
            for edge in (inner[:margin], inner[-margin:], inner[:, :margin], inner[:, -margin:]):
                assert not edge.all(), (each.row.image, box)


def test_the_shipped_rows_are_valid_and_read_back(made: list[Advertisement]) -> None:
    rows, faults = annotation_file.parse_rows((DATA_DIR / "annotations.jsonl").read_bytes(), DATA_DIR)
    assert faults == []
    assert rows == [each.row for each in made]


def test_validation_names_the_fault(made: list[Advertisement]) -> None:
    first = next(each for each in made if each.row.boxes)
    far = replace(first.row, boxes=(schema.Box("primary", "logo", (0, 0, WIDTH + 1, 5)),))
    with pytest.raises(ValueError, match="the logo box of the primary concept leaves the picture"):
        validate([Advertisement(far, first.picture)])
    second = replace(first.row, image="0/other.jpg")
    with pytest.raises(ValueError, match="0/other.jpg: .* is said of .* too"):
        validate([first, Advertisement(second, first.picture)])
    with pytest.raises(schema.SchemaError, match="split is"):
        validate([Advertisement(replace(first.row, split="val"), first.picture)])


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert metaclue.main(["--output", str(tmp_path / "new")]) == 0
    assert "68 pictures" in capsys.readouterr().out
    with Image.open(io.BytesIO((tmp_path / "new" / "0/100000.jpg").read_bytes())) as image:
        assert image.size == (WIDTH, HEIGHT)
