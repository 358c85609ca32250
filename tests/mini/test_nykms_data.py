"""The rows of `figlang_mini_nykms`, as written and as shipped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.benchmarks.nykms.parse import FIELDS, MARKED_FIELDS, read_annotation
from tools.mini import nykms
from tools.mini.nykms_texts import CARTOONS, METAPHOR, SARCASM

SHIPPED = mini.NYKMS_DIR
PARTS = ("nyk_m", "nyk_s")


@pytest.mark.parametrize("part", PARTS)
def test_shipped_rows_pass_every_check_without_a_warning(part: str, warnings_of_loguru: list[str]) -> None:
    found = rows.read(SHIPPED / f"{part}.jsonl")[0]
    assert len(found) == 12 and sum(row.label for row in found) == 7
    assert warnings_of_loguru == []
    assert all(row.description and row.image and row.contest for row in found)
    assert len({row.caption for row in found}) == 12


def test_every_kind_of_answer_occurs() -> None:
    kinds = Counter(
        (field, read_annotation(raw, field).kind)
        for part in PARTS
        for row in rows.read(SHIPPED / f"{part}.jsonl")[0]
        for field, raw in row.answers.items()
        if raw and field in MARKED_FIELDS
    )
    assert set(kinds) == {
        *[("MW", kind) for kind in ("word", "object", "image", "free")],
        *[("SW", kind) for kind in ("word", "object", "image")],
        *[("ST", kind) for kind in ("word", "object", "free")],
    }


def test_marks_follow_the_annotation_rules() -> None:
    """Appendix C: words without a mark are in the caption, objects with [I] in the description."""
    for part in PARTS:
        for row in rows.read(SHIPPED / f"{part}.jsonl")[0]:
            for field in MARKED_FIELDS:
                if raw := row.answers.get(field):
                    answer = read_annotation(raw, field)
                    if answer.kind == "word":
                        assert answer.text in row.caption
                    elif answer.kind == "object":
                        assert answer.text.lower() in row.description.lower()


def test_texts_are_complete_and_trimmed() -> None:
    assert nykms.FIELDS == {"nyk_m": FIELDS["metaphor"], "nyk_s": FIELDS["sarcasm"]}
    texts = [text for row in (*METAPHOR, *SARCASM) for text in (row.caption, *row.answers)]
    texts += [cartoon.description for cartoon in CARTOONS.values()]
    assert all(text and text == text.strip() for text in texts)
    assert any('"' in row.caption for row in METAPHOR) and any("?" in row.caption for row in SARCASM)
    assert {row.contest for row in (*METAPHOR, *SARCASM)} == set(CARTOONS)
    assert max(Counter(row.contest for row in (*METAPHOR, *SARCASM)).values()) > 1, "cartoons have several captions"


def test_shipped_equals_a_rebuild(tmp_path: Path) -> None:
    assert nykms.write(tmp_path) == {"nyk_m": 12, "nyk_s": 12}
    shipped = sorted(path.relative_to(SHIPPED) for path in SHIPPED.rglob("*") if path.is_file())
    shipped.remove(Path("croissant.json"))
    assert shipped == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    for name in shipped:
        if name.suffix != ".png":
            assert (SHIPPED / name).read_bytes() == (tmp_path / name).read_bytes(), name
            continue
        with Image.open(SHIPPED / name) as before, Image.open(tmp_path / name) as after:
            assert before.size == after.size == (nykms.IMAGE_SIZE, nykms.IMAGE_SIZE)
            assert before.mode == after.mode == "L"
            # near, not equal: another Pillow may place the edge of a shape a little differently
            gap = np.abs(np.asarray(before, dtype=np.int16) - np.asarray(after, dtype=np.int16))
            assert gap.mean() < 2


def test_shipped_files_are_small_and_carry_a_card() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 400_000
    card = (SHIPPED / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: apache-2.0\n")
    assert "12 rows on metaphor (7 positive), 12 rows on sarcasm (7 positive), 18 cartoons" in card


def test_no_drawing_is_shown_twice() -> None:
    assert len({nykms.picture(contest, 64).tobytes() for contest in CARTOONS}) == len(CARTOONS)
