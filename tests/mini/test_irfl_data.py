"""The tables and pictures of `figlang_mini_irfl`, as written and as shipped."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from PIL import Image

from figlang_tasks import mini
from tools.mini.draw import CONCEPTS, draw
from tools.mini.irfl import (
    COLUMNS,
    EFFECTS,
    IMAGE_SIZE,
    ROWS,
    ZIP_NAME,
    check_files,
    drawings,
    main,
    paint,
    pictures,
    tables,
    uuid,
    validate,
    write,
)
from tools.mini.irfl_texts import CORPUS, Corpus, Detection, Phrase, Picture, Retrieval
from tools.mini.texts import TEST_SEED, TRAIN_SEED

DETECTION = [name for name in COLUMNS if name.endswith("_detection_task")]
RETRIEVAL = [name for name in COLUMNS if name.endswith("_retrieval_task")]
BASE = [name for name in COLUMNS if name.endswith("_dataset")]
# the tables of the original that lie beside the checkout
REAL = [
    "idiom_detection_task",
    "metaphor_detection_task",
    "simile_detection_task",
    "metaphor_retrieval_task",
    "simile_retrieval_task",
]
BASE_KINDS = {
    "idioms_dataset": "idiom",
    "metaphors_dataset": "metaphor",
    "similes_dataset": "simile",
}


def _read(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(10**8)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def shipped() -> dict[str, list[dict[str, str]]]:
    return {name: _read(mini.IRFL_DIR / f"{name}.csv") for name in COLUMNS}


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rebuilt") / "irfl"
    assert write(folder) == ROWS
    return folder


def _candidates(row: dict[str, str]) -> tuple[str, list[str], list[dict[str, Any]]]:
    (answer,) = json.loads(row["answer"])
    return answer, json.loads(row["distractors"]), json.loads(row["images_metadata"])


def _sides(row: dict[str, str]) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    return json.loads(row["first_category"]), json.loads(row["second_category"]), json.loads(row["images_metadata"])


# ---------------------------------------------------------------- files


def test_files_and_their_sizes() -> None:
    names = {path.name for path in mini.IRFL_DIR.iterdir()}
    assert names == {"README.md", "croissant.json", ZIP_NAME, *(f"{name}.csv" for name in COLUMNS)}
    assert (mini.IRFL_DIR / ZIP_NAME).stat().st_size < 600_000
    assert sum(path.stat().st_size for path in mini.IRFL_DIR.iterdir()) < 1_000_000


@pytest.mark.parametrize("name", COLUMNS)
def test_shipped_tables_equal_a_rebuild(rebuilt: Path, name: str) -> None:
    assert (mini.IRFL_DIR / f"{name}.csv").read_bytes() == (rebuilt / f"{name}.csv").read_bytes()


def test_shipped_card_equals_a_rebuild(rebuilt: Path) -> None:
    card = (mini.IRFL_DIR / "README.md").read_text(encoding="utf-8")
    assert card == (rebuilt / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: apache-2.0\n")
    for name, count in ROWS.items():
        assert f"| `{name}.csv` | {count} |" in card


def test_shipped_pictures_equal_a_rebuild(rebuilt: Path) -> None:
    with zipfile.ZipFile(mini.IRFL_DIR / ZIP_NAME) as old, zipfile.ZipFile(rebuilt / ZIP_NAME) as new:
        assert old.namelist() == new.namelist()
        for member in old.namelist():
            before, after = (Image.open(io.BytesIO(archive.read(member))) for archive in (old, new))
            # near, not equal: another Pillow or libjpeg may round a little differently
            gap = np.abs(np.asarray(before, dtype=np.int16) - np.asarray(after, dtype=np.int16))
            assert gap.mean() < 2, member


def test_zip_members() -> None:
    with zipfile.ZipFile(mini.IRFL_DIR / ZIP_NAME) as archive:
        members = archive.infolist()
        assert archive.testzip() is None
        contents = [archive.read(member) for member in members]
    assert len(members) == len({member.filename for member in members}) == len(set(contents)) <= 130
    for member, content in zip(members, contents, strict=True):
        assert member.filename.startswith("images/") and member.filename.endswith(".jpeg")
        name = member.filename[len("images/") : -len(".jpeg")]
        assert name.isdecimal() and 75 <= len(name) <= 78
        assert member.date_time == members[0].date_time
        image = Image.open(io.BytesIO(content))
        assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (IMAGE_SIZE, IMAGE_SIZE))
    methods = Counter(member.compress_type for member in members)
    assert methods[zipfile.ZIP_DEFLATED] >= 3
    assert methods[zipfile.ZIP_STORED] > methods[zipfile.ZIP_DEFLATED]


def test_hub_configurations(shipped: dict[str, list[dict[str, str]]], tmp_path: Path) -> None:
    """The card's configurations load with `datasets`, as the hub's do; a uuid stays text."""
    names = datasets.get_dataset_config_names(str(mini.IRFL_DIR))
    assert names == [name.replace("_", "-") for name in COLUMNS]
    for name, split in (("idiom-detection-task", "test"), ("idioms-dataset", "dataset")):
        table = datasets.load_dataset(str(mini.IRFL_DIR), name, split=split, cache_dir=str(tmp_path))
        assert table.to_list() == shipped[name.replace("-", "_")]


# ---------------------------------------------------------------- all tables


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_rows_and_encoding(shipped: dict[str, list[dict[str, str]]], name: str) -> None:
    content = (mini.IRFL_DIR / f"{name}.csv").read_bytes()
    assert content.startswith(",".join(COLUMNS[name]).encode() + b"\n")
    assert b"\r" not in content and content.endswith(b"\n")
    assert len(shipped[name]) == ROWS[name]
    kind = BASE_KINDS.get(name) or name.removeprefix("open_").split("_")[0]
    for row in shipped[name]:
        assert tuple(row) == COLUMNS[name]
        assert row["figurative_type"] == kind
        assert row["phrase"] == row["phrase"].strip() != ""
        assert "<image>" not in "".join(row.values())
        assert "http" not in "".join(row.values())


def test_every_picture_is_in_the_zip_and_in_a_base_table(shipped: dict[str, list[dict[str, str]]]) -> None:
    with zipfile.ZipFile(mini.IRFL_DIR / ZIP_NAME) as archive:
        stored = {name[len("images/") : -len(".jpeg")] for name in archive.namelist()}
    assert {row["uuid"] for name in BASE for row in shipped[name]} == stored
    for name in (*DETECTION, *RETRIEVAL):
        for row in shipped[name]:
            assert {entry["uuid"] for entry in json.loads(row["images_metadata"])} <= stored


def test_definitions(shipped: dict[str, list[dict[str, str]]]) -> None:
    lengths: dict[str, int] = {}
    for name in ("idiom_detection_task", "idiom_retrieval_task", "idioms_dataset"):
        for row in shipped[name]:
            definitions = json.loads(row["definition"])
            assert all(isinstance(text, str) and text.strip() for text in definitions)
            assert lengths.setdefault(row["phrase"], len(definitions)) == len(definitions)
    assert set(lengths.values()) == {1, 2, 3}
    for name in ("metaphors_dataset", "similes_dataset"):
        assert {row["definition"] for row in shipped[name]} == {""}
    # hard cases for readers: a quotation mark, a comma and a letter beyond ASCII
    every = "".join(text for row in shipped["idioms_dataset"] for text in json.loads(row["definition"]))
    assert '"' in every and "," in every and not every.isascii()


# ---------------------------------------------------------------- detection


@pytest.mark.parametrize("name", DETECTION)
def test_detection_rows(shipped: dict[str, list[dict[str, str]]], name: str) -> None:
    for row in shipped[name]:
        answer, distractors, metadata = _candidates(row)
        listed = [entry["uuid"] for entry in metadata]
        assert len(distractors) == 3
        assert len(set(listed)) == 4
        assert set(listed) == {answer, *distractors}
        if not name.startswith("metaphor"):
            assert listed == [*distractors, answer]
        if not name.startswith("idiom"):
            assert row["type"] == "figurative"
    assert len({(row["phrase"], row["answer"], row["distractors"]) for row in shipped[name]}) >= 8


def test_idiom_detection_roles(shipped: dict[str, list[dict[str, str]]]) -> None:
    rows = shipped["idiom_detection_task"]
    assert Counter(row["type"] for row in rows) == {"figurative": 8, "figurative+literal": 4}
    assert len({row["phrase"] for row in rows}) >= 6
    own_counts, random_categories, places = Counter[int](), Counter[str](), set[int]()
    for row in rows:
        answer, _, metadata = _candidates(row)
        category = "Figurative Literal" if row["type"] == "figurative+literal" else "Figurative"
        own = 0
        for i, entry in enumerate(metadata):
            assert entry["IRFL_id"] == f"{entry['uuid']}_{entry['phrase']}"
            assert isinstance(entry["literal_candidate"], bool) and isinstance(entry["rank"], int)
            if "annotations" in entry:
                assert len(entry["annotations"]) == 5
                assert Counter(entry["annotations"]).most_common(1)[0][0] == entry["category"]
            else:
                assert entry["category"] == "No Category"
            if entry["uuid"] == answer:
                assert (entry["phrase"], entry["category"]) == (row["phrase"], category)
                assert entry["query"] == row["query"]
            elif entry["phrase"] == row["phrase"]:
                assert entry["category"] == "Partial Objects"
                own += 1
                places.add(i)
            else:
                random_categories[entry["category"]] += 1
        own_counts[own] += 1
    assert set(own_counts) == {1, 2} and min(own_counts.values()) >= 4
    assert places == {0, 1, 2}
    assert set(random_categories) == {
        *("Figurative", "Figurative Literal", "Caption", "None", "No Category"),
        "Partial Objects",  # of another phrase: the category alone does not make a partial-literal distractor
    }


def test_metaphor_detection_roles(shipped: dict[str, list[dict[str, str]]]) -> None:
    rows = shipped["metaphor_detection_task"]
    assert len({row["phrase"] for row in rows}) >= 5
    base = {(row["phrase"], row["uuid"]): row["category"] for row in shipped["metaphors_dataset"]}
    literal, others = Counter[int](), Counter[str]()
    for row in rows:
        answer, distractors, metadata = _candidates(row)
        category = {entry["uuid"]: entry["category"] for entry in metadata}
        assert all(set(entry) == {"source", "uuid", "category"} for entry in metadata)
        assert category[answer] == "figurative" and base[row["phrase"], answer] == "Figurative"
        own = [name for name in distractors if category[name] == "literal"]
        assert all(base[row["phrase"], name] == "Partial Literal" for name in own)
        literal[len(own)] += 1
        for name in set(distractors) - set(own):
            assert (row["phrase"], name) not in base
            others[category[name]] += 1
    assert set(literal) == {1, 2, 3}
    assert set(others) == {"figurative", "none"}
    # the order of the metadata tells nothing about the answer
    assert len({[e["uuid"] for e in m].index(a) for a, _, m in map(_candidates, rows)}) == 4


def test_simile_detection_roles(shipped: dict[str, list[dict[str, str]]]) -> None:
    rows = shipped["simile_detection_task"]
    retrieval = {row["phrase"]: _sides(row)[2] for row in shipped["simile_retrieval_task"]}
    assert len({row["phrase"] for row in rows}) >= 6
    orders = set()
    for row in rows:
        answer, distractors, metadata = _candidates(row)
        role = {entry["uuid"]: entry.get("sub_category", entry["category"]) for entry in retrieval[row["phrase"]]}
        assert role[answer] == "figurative"
        order = tuple(role.get(name, "random") for name in distractors)
        assert sorted(order) == ["random", "source", "target"]
        orders.add(order)
        for entry in metadata:
            marks = {key: value for key, value in entry.items() if key not in ("source", "uuid")}
            source = role.get(entry["uuid"]) == "source"
            assert marks == ({"category": "literal", "sub_category": "source"} if source else {})
    assert len(orders) >= 4


@pytest.mark.parametrize("task", ["detection", "retrieval"])
def test_open_similes_drop_the_property(shipped: dict[str, list[dict[str, str]]], task: str) -> None:
    closed, opened = shipped[f"simile_{task}_task"], shipped[f"open_simile_{task}_task"]
    for before, after in zip(closed, opened, strict=True):
        assert before | {"phrase": ""} == after | {"phrase": ""}
        assert " is as " in before["phrase"] and " is like " in after["phrase"]
        head, tail = after["phrase"].split(" is like ")
        assert before["phrase"].startswith(f"{head} is as ") and before["phrase"].endswith(f" as {tail}")
    # two closed similes fall together, as they do in the original
    assert len({row["phrase"] for row in opened}) == len({row["phrase"] for row in closed}) - 1


# ---------------------------------------------------------------- retrieval


@pytest.mark.parametrize("name", RETRIEVAL)
def test_retrieval_rows(shipped: dict[str, list[dict[str, str]]], name: str) -> None:
    for row in shipped[name]:
        first, second, metadata = _sides(row)
        assert 1 <= len(first) <= 5 and 2 <= len(second) <= 8
        listed = [entry["uuid"] for entry in metadata]
        assert len(set(listed)) == len(listed) == len(first) + len(second)
        assert set(listed) == {*first, *second}
        for entry in metadata:
            positive = entry["uuid"] in first
            if name.startswith("idiom"):
                figurative = "Figurative Literal" if row["type"] == "FLvsPL" else "Figurative"
                assert entry["category"] == (figurative if positive else "Partial Objects")
                assert entry["phrase"] == row["phrase"]
            else:
                assert entry["category"] == ("figurative" if positive else "literal")
            if "simile" in name:
                assert entry.get("sub_category") in ((None,) if positive else ("source", "target"))
    assert len({(row["phrase"], row["type"], row["first_category"]) for row in shipped[name]}) == len(shipped[name])


def test_retrieval_types_and_sizes(shipped: dict[str, list[dict[str, str]]]) -> None:
    assert Counter(row["type"] for row in shipped["idiom_retrieval_task"]) == {"FvsPL": 6, "FLvsPL": 4}
    for name in RETRIEVAL[1:]:
        assert {row["type"] for row in shipped[name]} == {"FvsPL"}
    sizes = [_sides(row)[:2] for name in RETRIEVAL for row in shipped[name]]
    assert {len(first) for first, _ in sizes} >= {1, 2, 3, 5}
    assert {len(second) for _, second in sizes} >= {2, 8}


def test_retrieval_covers_detection(shipped: dict[str, list[dict[str, str]]]) -> None:
    for kind in ("simile", "open_simile"):
        sought = {row["phrase"] for row in shipped[f"{kind}_retrieval_task"]}
        assert {row["phrase"] for row in shipped[f"{kind}_detection_task"]} == sought
    metaphors = {row["phrase"] for row in shipped["metaphor_detection_task"]}
    assert len(metaphors - {row["phrase"] for row in shipped["metaphor_retrieval_task"]}) == 1


# ---------------------------------------------------------------- base tables


@pytest.mark.parametrize("name", BASE)
def test_base_tables(shipped: dict[str, list[dict[str, str]]], name: str) -> None:
    rows = shipped[name]
    assert len({(row["phrase"], row["uuid"]) for row in rows}) == len(rows)
    expected = {
        "idioms_dataset": {"Figurative", "Figurative+Literal", "Literal", "Partial Literal", "None"},
        "metaphors_dataset": {"Figurative", "Partial Literal", "None"},
        "similes_dataset": {"Figurative", "Partial Literal"},
    }
    assert {row["category"] for row in rows} == expected[name]
    assert all(row["source"].startswith("figlang_tasks/mini/") for row in rows)


def test_base_table_of_idioms_agrees_with_detection(shipped: dict[str, list[dict[str, str]]]) -> None:
    base = {(row["phrase"], row["uuid"]): row for row in shipped["idioms_dataset"]}
    names = {
        "Figurative": "Figurative",
        "Figurative Literal": "Figurative+Literal",
        "Caption": "Literal",
        "Partial Objects": "Partial Literal",
        "None": "None",
        "No Category": "None",
    }
    for name in ("idiom_detection_task", "idiom_retrieval_task"):
        for row in shipped[name]:
            for entry in json.loads(row["images_metadata"]):
                original = base[entry["phrase"], entry["uuid"]]
                assert original["category"] == names[entry["category"]]
                assert original["source"] == entry["source"]


# ---------------------------------------------------------------- the original


def _keys(rows: list[dict[str, str]]) -> set[tuple[str, ...]]:
    return {tuple(entry) for row in rows for entry in json.loads(row["images_metadata"])}


@pytest.mark.parametrize(
    ("shared_file", "name"), [(f"data/irfl/{name}.csv", name) for name in REAL], indirect=["shared_file"]
)
def test_layout_equals_the_original(shared_file: Path, name: str, shipped: dict[str, list[dict[str, str]]]) -> None:
    real, ours = _read(shared_file), shipped[name]
    assert list(real[0]) == list(ours[0])
    assert _keys(real) == _keys(ours)
    for column in COLUMNS[name]:
        if column in ("distractors", "answer", "definition", "first_category", "second_category", "images_metadata"):
            kinds = [{type(item) for row in rows for item in json.loads(row[column])} for rows in (real, ours)]
            assert kinds[0] == kinds[1]
    for column in ("type", "figurative_type"):
        assert {row[column] for row in real} == {row[column] for row in ours}
    for key in ("category", "sub_category", "annotations", "literal_candidate", "rank"):
        kinds = [
            {type(entry[key]) for row in rows for entry in json.loads(row["images_metadata"]) if key in entry}
            for rows in (real, ours)
        ]
        assert kinds[0] == kinds[1]
    values = [
        {
            (entry.get("category"), entry.get("sub_category"))
            for row in rows
            for entry in json.loads(row["images_metadata"])
        }
        for rows in (real, ours)
    ]
    assert values[0] == values[1]
    # nothing is taken over
    assert not {row["phrase"].casefold() for row in real} & {row["phrase"].casefold() for row in ours}
    for field in ("uuid", "source"):
        theirs, mine = (
            {entry[field] for row in rows for entry in json.loads(row["images_metadata"])} for rows in (real, ours)
        )
        assert not theirs & mine


# ---------------------------------------------------------------- pictures


def test_no_drawing_is_used_twice_nor_by_another_data_set() -> None:
    parts = [part for picture in pictures() for part in drawings(picture)]
    assert len(set(parts)) == len(parts)
    assert min(seed for _, seed in parts) >= max(TRAIN_SEED, TEST_SEED) + 50_000


def test_every_effect_changes_the_drawing() -> None:
    for effect in EFFECTS:
        picture = Picture(f"crown, {effect}", 5)
        first = paint(picture, 48)
        assert (first.mode, first.size) == ("RGB", (48, 48))
        assert first.tobytes() == paint(picture, 48).tobytes()
        gap = np.abs(np.asarray(first, dtype=np.int16) - np.asarray(draw("crown", 5, 48), dtype=np.int16))
        assert gap.mean() > 2, effect
    assert paint(Picture("crown", 5), 48).tobytes() == draw("crown", 5, 48).tobytes()


@pytest.mark.parametrize("scene", ["fox with crown", "fox then crown"])
def test_scenes_of_two_hold_both(scene: str) -> None:
    """Each of the two concepts changes a part of the picture of its own."""
    whole = np.asarray(paint(Picture(scene, 3), 64), dtype=np.int16)
    for other in (scene.replace("fox", "snail"), scene.replace("crown", "snail")):
        changed = np.abs(np.asarray(paint(Picture(other, 3), 64), dtype=np.int16) - whole).max(axis=2) > 24
        assert 0.05 < changed.mean() < 0.9


def test_colours_that_the_phrases_name() -> None:
    """The golden balloon and the gilded cage are yellow, the frozen hearts blue; the targets are not so."""

    def share(picture: Picture, yellow: bool) -> float:
        red, green, blue = np.moveaxis(np.asarray(paint(picture), dtype=np.int16), 2, 0)
        hit = (red > blue + 130) & (green > blue + 80) if yellow else blue > red + 30
        return float(hit.mean())

    golden, cold = CORPUS.phrases["golden"].pictures, CORPUS.phrases["cold"].pictures
    assert share(golden["F"][0], yellow=True) > 0.08 > 4 * share(golden["T"][0], yellow=True)
    for picture in cold["F"]:
        assert share(picture, yellow=False) > 0.9
    for picture in cold["T"]:
        assert share(picture, yellow=False) < 0.5
    gilded = share(CORPUS.phrases["cage"].pictures["C"][0], yellow=True)
    assert gilded > 2 * max(share(picture, yellow=True) for picture in CORPUS.phrases["cage"].pictures["P"])


@pytest.mark.parametrize("scene", ["unicorn", "unicorn, off", "fox with unicorn", "fox, asleep", "fox, off with sun"])
def test_unknown_scenes(scene: str) -> None:
    with pytest.raises(ValueError, match="unknown (concept|effect)"):
        paint(Picture(scene, 1))


def test_uuid_depends_on_scene_and_seed() -> None:
    assert len({uuid(Picture(scene, seed)) for scene in CONCEPTS for seed in range(3)}) == 3 * len(CONCEPTS)


# ---------------------------------------------------------------- validation


def _phrase(key: str, **changes: Any) -> Corpus:
    """The corpus with one phrase changed."""
    changed: Phrase = replace(CORPUS.phrases[key], **changes)
    return Corpus({**CORPUS.phrases, key: changed}, CORPUS.detections, CORPUS.retrievals)


def _pictures(key: str, **roles: tuple[Picture, ...]) -> Corpus:
    """The corpus with some pictures of one phrase changed."""
    return _phrase(key, pictures={**CORPUS.phrases[key].pictures, **roles})


def _detection(*rows: Detection) -> Corpus:
    return Corpus(CORPUS.phrases, (*CORPUS.detections, *rows), CORPUS.retrievals)


def _retrieval(*rows: Retrieval) -> Corpus:
    return Corpus(CORPUS.phrases, CORPUS.detections, (*CORPUS.retrievals, *rows))


def _faults() -> Iterator[tuple[Corpus, str]]:
    yield _phrase("cloud", text=""), "phrase 'cloud': empty"
    yield _phrase("cloud", text="a cloud "), "phrase 'cloud': empty or untrimmed"
    yield _phrase("cloud", definitions=("",)), "phrase 'cloud': empty"
    yield _phrase("cloud", definitions=()), "phrase 'cloud': an idiom has one to three definitions, not 0"
    yield _phrase("debt", definitions=("A burden",)), "phrase 'debt': only idioms have definitions"
    yield _phrase("cloud", text="see <image>"), "phrase 'cloud': <image>"
    yield _phrase("debt", text=CORPUS.phrases["hope"].text.upper()), "phrase 'hope': the text occurs twice"
    yield _phrase("fast", text="The snail is quick"), "phrase 'fast': simile 'The snail is quick' does not read"
    yield _pictures("debt", Z=()), "phrase 'debt': unknown role.s. Z"
    yield _pictures("fast", S=()), "phrase 'fast': no picture of role S"
    yield _pictures("debt", N=CORPUS.phrases["debt"].pictures["F"]), "phrase 'debt': a picture occurs twice"
    yield _pictures("debt", N=(Picture("anchor", 7),)), "anchor:7: the seed must be at least"
    yield _pictures("debt", N=(Picture("anchor, off", 950_109),)), "anchor, off:950109: its anchor is that of"
    yield _pictures("debt", N=(Picture("unicorn", 950_999),)), "unknown concept 'unicorn'"
    yield _detection(Detection("moon", "F1", "P1 P2 P3")), "row 'moon' F1 .* unknown phrase"
    yield _detection(Detection("cloud", "F9", "P1 P2 house:F1")), "row 'cloud' F9 .* no picture 'F9'"
    yield _detection(Detection("cloud", "F0", "P1 P2 house:F1")), "no picture 'F0'"
    yield _detection(Detection("cloud", "F1", "P1 P2 moon:F1")), "no picture 'moon:F1'"
    yield _detection(Detection("cloud", "F1", "P1 house:F1")), "row 'cloud' F1 .* 2 distractors, not 3"
    yield _detection(Detection("cloud", "F1", "P1 P1 house:F1")), "row 'cloud' F1 .* a picture occurs twice"
    yield _detection(Detection("cloud", "P1", "P2 P3 house:F1")), "row 'cloud' P1 .* no figurative picture"
    yield _detection(Detection("cloud", "house:F1", "P2 P3 house:F2")), "no figurative picture of the phrase"
    yield _detection(Detection("cloud", "F1", "P1 P2 P3")), "row 'cloud' F1 .* roles 'PPP'"
    yield _detection(Detection("cloud", "F1", "F2 P2 house:F1")), "row 'cloud' F1 .* roles 'FP'"
    yield _detection(Detection("debt", "F1", "hope:F1 job:F1 love:F1")), "row 'debt' F1 .* roles ''"
    yield _detection(Detection("debt", "F1", "P1 P2 hope:P1")), "random picture hope:P is literal"
    yield _detection(Detection("debt", "F1", "P1 P2 house:F1")), "'house' is no metaphor"
    yield _detection(Detection("fast", "F1", "S1 S2 loud:F1")), "row 'fast' F1 .* roles 'SS'"
    yield _detection(Detection("bright", "F1", "S1 T1 dazzling:F2")), "random picture dazzling:F belongs to"
    yield _detection(replace(CORPUS.detections[0], distractors="P3 P1 house:U1")), "row 'iceberg' F1 .* occurs twice"
    yield _retrieval(Retrieval("moon")), "retrieval row 'moon' FvsPL: unknown phrase"
    yield _retrieval(Retrieval("love", "FLvsPL")), "retrieval row 'love' FLvsPL: a metaphor has no such row"
    yield _retrieval(Retrieval("house", "FLvsPL")), "retrieval row 'house' FLvsPL: 0 positives"
    yield _retrieval(Retrieval("cloud")), "retrieval row 'cloud' FvsPL occurs twice"
    yield Corpus(CORPUS.phrases, CORPUS.detections, ()), "row 'bright' F1: the simile has no retrieval row"


@pytest.mark.parametrize(("corpus", "message"), _faults())
def test_validation_names_the_fault(corpus: Corpus, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        validate(corpus)


def test_open_text_of_other_kinds_is_the_phrase() -> None:
    assert CORPUS.phrases["debt"].open_text == CORPUS.phrases["debt"].text


def test_files_are_checked_against_each_other() -> None:
    images = (mini.IRFL_DIR / ZIP_NAME).read_bytes()
    check_files(tables(), images)

    built = tables()
    built["similes_dataset"].pop()
    with pytest.raises(ValueError, match="similes_dataset has 40 rows, not 41"):
        check_files(built, images)

    built = tables()
    row = built["idiom_detection_task"][3]
    row["answer"] = json.dumps(json.loads(row["distractors"])[:1])
    with pytest.raises(ValueError, match="idiom_detection_task row 3 .*do not name the same pictures once"):
        check_files(built, images)

    built = tables()
    built["idioms_dataset"][1]["uuid"] = built["idioms_dataset"][0]["uuid"]
    with pytest.raises(ValueError, match="idioms_dataset row 1 .*occurs twice for the phrase"):
        check_files(built, images)

    built = tables()
    built["metaphors_dataset"][2]["uuid"] = "1" * 77
    with pytest.raises(ValueError, match="metaphors_dataset row 2 .*has no picture 1{77}"):
        check_files(built, images)

    buffer = io.BytesIO(images)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("images/2.jpeg", b"")
    with pytest.raises(ValueError, match="pictures of no phrase: images/2.jpeg"):
        check_files(tables(), buffer.getvalue())


@pytest.mark.slow
def test_the_command_builds_the_same_again(rebuilt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--output", str(tmp_path / "new")]) == 0
    assert "idiom_detection_task 12" in capsys.readouterr().out
    names = {path.name for path in rebuilt.iterdir()}
    assert names == {path.name for path in (tmp_path / "new").iterdir()}
    assert all((rebuilt / name).read_bytes() == (tmp_path / "new" / name).read_bytes() for name in names)
