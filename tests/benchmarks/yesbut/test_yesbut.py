"""YesBut: if this fails, its rows, scores or baselines are not those of the paper and its release,
or a model is shown what tells the label.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from loguru import logger
from sklearn.metrics import f1_score
from yesbut import release

from figlang_tasks.benchmarks.yesbut import measures, reproduced, rows, tasks, text_scores
from figlang_tasks.benchmarks.yesbut.benchmark import BENCHMARK
from figlang_tasks.core import images, notes
from figlang_tasks.core.hub import DATA_DIR_VARIABLE
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Measures, Record, evaluate

UNDERSTANDING = Request.of("YesBut", task="understanding")
DETECTION = Request.of("YesBut", task="detection")


def values(records: Sequence[Record], declared: Measures) -> dict[str, dict[str, float]]:
    """The value of each metric by scope."""
    estimates = evaluate(records, declared, stderr_resamples=0)
    return {
        metric: {scope: estimate.value for scope, estimate in scopes.items()}
        for metric, scopes in estimates.items()
    }


def detection_document(number: int, gold: str, style: str = "3d_orig") -> dict[str, Any]:
    """A document of detection."""
    fields = {"data": "x", "unit": f"comic {number}", "stage": "4", "style": style, "gold": gold}
    return {"id": str(number), "request": str(DETECTION), **fields}


# --- detection ---


def test_f1_is_that_of_satirical_and_an_unread_answer_is_the_wrong_label() -> None:
    gold = ["Y", "Y", "N", "N", "Y"]
    answers = ["Y", "N", "Y", "N", "Who knows?"]
    counted = ["Y", "N", "Y", "N", "N"]
    records: list[Record] = []
    for number, (label, answer) in enumerate(zip(gold, answers, strict=True)):
        records.append(tasks.DETECTION.answer_record(detection_document(number, label), answer))
    scores = values(records, measures.DETECTION)
    assert scores["acc"]["all"] == 2 / 5
    assert scores["f1"]["all"] == pytest.approx(f1_score(gold, counted, pos_label="Y"))
    assert scores["f1_macro"]["all"] == pytest.approx(f1_score(gold, counted, average="macro"))
    assert scores["parse_rate"]["all"] == 4 / 5


@pytest.mark.parametrize("shared_file", ["data/yesbut/files.csv"], indirect=True)
def test_the_baselines_of_the_card_come_out_of_the_release(shared_file: Path) -> None:
    """Facts, section 6: always Y, always N, and the majority of each style."""
    pictures = list(csv.DictReader(shared_file.open(encoding="utf-8")))
    satirical_by_style: dict[str, list[bool]] = {}
    for picture in pictures:
        style = f"{picture['left_style']}_{picture['right_style']}".lower()
        satirical_by_style.setdefault(style, []).append(picture["satirical"] == "1")
    labels: dict[str, list[Record]] = {"always Y": [], "always N": [], "by style": []}
    for number, picture in enumerate(pictures):
        style = f"{picture['left_style']}_{picture['right_style']}".lower()
        document = detection_document(number, "Y" if picture["satirical"] == "1" else "N", style)
        is_mostly_satirical = 2 * sum(satirical_by_style[style]) > len(satirical_by_style[style])
        answers = {"always Y": "Y", "always N": "N", "by style": "NY"[is_mostly_satirical]}
        for name, answer in answers.items():
            labels[name].append(tasks.DETECTION.answer_record(document, answer))
    printed: dict[str, tuple[float, float]] = {}
    for name, records in labels.items():
        scores = values(records, measures.DETECTION)
        printed[name] = (round(100 * scores["acc"]["all"], 2), round(100 * scores["f1"]["all"], 2))
    assert printed == {
        "always Y": (42.56, 59.71),
        "always N": (57.44, 0.0),
        "by style": (72.01, 63.11),
    }
    generated = [record for record in labels["by style"] if record["style"] != "orig_orig"]
    card = (BENCHMARK.home.folder.parents[2] / "docs/cards/yesbut.md").read_text("utf-8")
    assert (len(generated), sum(record["gold"] == "Y" for record in generated)) == (2264, 801)
    for accuracy, f1 in printed.values():
        assert f"{accuracy:.2f} | {f1:.2f}" in card


# --- the rows ---


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders for FIGLANG_DATA_DIR with the hub's table, and with the archive."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("hub", "archive")}
    release.write_valid(folders["hub"])
    release.write_valid(folders["archive"], archive=True)
    return folders


def test_hub_and_archive_have_the_same_pictures_of_283_comics(
    releases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub names no stage and lacks a difficulty: sizes and rows of the same comic tell them."""
    documents: dict[str, Any] = {}
    for name, folder in releases.items():
        monkeypatch.setenv(DATA_DIR_VARIABLE, str(folder))
        rows.for_request.cache_clear()  # type: ignore[attr-defined]
        documents[name] = BENCHMARK.documents(UNDERSTANDING)
    hub, archive = documents["hub"], documents["archive"]
    assert hub["id"][:] == archive["id"][:]
    assert hub["explanation"][:] == archive["explanation"][:]
    assert hub["difficulty"][:] == archive["difficulty"][:]
    assert [len(set(units["unit"])) for units in (hub, archive)] == [283, 283]
    assert Counter(archive["stage"]) == {"2": 283, "3": 302, "4": 499}
    assert Counter(hub["stage"]) == {"2": 283, "3_or_4": 801}
    assert set(hub["has_text"]) == {None}
    assert set(archive["has_text"]) == {True, False}


def test_annotations_beside_the_table_of_the_hub_tell_which_pictures_have_text(
    releases: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "YesBut/data").mkdir(parents=True)
    table = "YesBut/data/train-00000-of-00001.parquet"
    annotations = "YesBut/YesBut_Stage2_Annotation.csv"
    (tmp_path / table).symlink_to(releases["hub"] / table)
    (tmp_path / annotations).symlink_to(releases["archive"] / annotations)
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    rows.for_request.cache_clear()  # type: ignore[attr-defined]
    documents = BENCHMARK.documents(UNDERSTANDING).remove_columns("image").to_list()
    of_comic_0 = [row for row in documents if row["explanation"] == "Joke 0 is ironic."]
    assert {row["has_text"] for row in of_comic_0} == {True}
    assert sum(row["has_text"] for row in documents) == len(of_comic_0)


def test_a_model_sees_no_name_of_a_file_which_tells_style_and_label(
    releases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(releases["archive"]))
    rows.for_request.cache_clear()  # type: ignore[attr-defined]
    documents = BENCHMARK.documents(DETECTION)
    assert Counter(documents["gold"]) == {"Y": 1084, "N": 1463}
    document = documents[0]
    (turn,) = tasks.doc_to_messages(document)
    picture, text = turn["content"]
    stored = images.stored_picture(picture["url"])
    assert stored is not None
    assert stored.file is None
    assert images.encode(picture["url"])[1] == ".jpg"
    for hint in ("STICK", "3D", "ORIG", "satirical", "stage"):
        assert hint not in json.dumps([document["id"], text["text"]])
    (blind,) = tasks.doc_to_visual(document, {"blind": True})
    assert blind.getextrema() == ((255, 255),) * 3


# --- the scores of explanations ---

REFERENCE = "The image is ironic, because he is happy."


def bleu_by_definition(candidate: list[str], reference: list[str]) -> float:
    """BLEU-4 of two lists of tokens (Papineni et al. 2002), 0 if an order has no match."""
    precision = 1.0
    for order in range(1, 5):
        ngrams, known = (
            Counter(tuple(text[start : start + order]) for start in range(len(text) - order + 1))
            for text in (candidate, reference)
        )
        precision *= (ngrams & known).total() / max(ngrams.total(), 1)
    ratio = len(candidate) / len(reference)
    brevity = 1.0 if ratio > 1 else 2.718281828459045 ** (1 - 1 / ratio)
    return brevity * precision**0.25


@pytest.mark.parametrize(
    "candidate",
    [
        REFERENCE,
        "The image is ironic , because he sleeps .",
        "The image is ironic , and so is all the rest of it , because he is happy .",
        "the image is ironic",  # tokens keep their case: no four in a row
        "ironic",
    ],
)
def test_bleu_is_that_of_a_sentence_without_smoothing(candidate: str) -> None:
    tokens = [text.replace(",", " ,").replace(".", " .").split() for text in (candidate, REFERENCE)]
    expected = bleu_by_definition(*tokens)
    assert text_scores.sentence_bleu(candidate, REFERENCE) == pytest.approx(expected)
    assert text_scores.sentence_bleu("", REFERENCE) == 0


@pytest.fixture
def nltk_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where alone NLTK looks for its data; nothing is there yet."""
    import nltk
    from nltk.corpus import wordnet
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    caches = (text_scores.has_wordnet, nltk.tokenize._get_punkt_tokenizer)
    # The loader becomes the reader of the first WordNet that it finds.
    loader = LazyCorpusLoader("wordnet", WordNetCorpusReader, None)
    before = (wordnet.__class__, dict(wordnet.__dict__))
    for cache in caches:
        cache.cache_clear()
    wordnet.__dict__.clear()
    wordnet.__class__, wordnet.__dict__ = LazyCorpusLoader, dict(loader.__dict__)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    notes.take_failures()
    yield tmp_path
    wordnet.__class__, wordnet.__dict__ = before
    for cache in caches:
        cache.cache_clear()
    notes.take_failures()


def write_wordnet(folder: Path) -> None:
    """A WordNet in which content and glad are synonyms, and a tokenizer without abbreviations."""
    wordnet = folder / "corpora" / "wordnet"
    wordnet.mkdir(parents=True)
    (wordnet / "lexnames").write_text("00\tadj.all\t3\n")
    (wordnet / "index.sense").write_text("")
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (wordnet / name).write_text("")
    licence = "  1 WordNet 3.0 Copyright  \n"
    offset = f"{len(licence):08}"  # of the line behind it
    synset = f"{offset} 00 a 02 content 0 glad 0 000 | in good spirits  \n"
    (wordnet / "data.adj").write_text(licence + synset)
    lines = [f"{word} a 1 0 1 0 {offset}  \n" for word in ("content", "glad")]
    (wordnet / "index.adj").write_text("".join(lines))
    punkt = folder / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (punkt / name).write_text("")


def test_meteor_counts_stems_and_synonyms_of_wordnet(nltk_folder: Path) -> None:
    """By its formula: F = 10PR / (R + 9P), less 0.5 (chunks / matches) ** 3 of it.

    NLTK looks up what is left of a word after stemming, so that "happy" would find no synonym.
    """
    write_wordnet(nltk_folder)
    assert text_scores.sentence_meteor("he seems glad", "he seemed content") == pytest.approx(
        1 - 0.5 * (1 / 3) ** 3
    )
    # "he" and "glad" of three words each are two chunks.
    assert text_scores.sentence_meteor("he feels glad", "he seemed content") == pytest.approx(
        2 / 3 * (1 - 0.5 * (2 / 2) ** 3)
    )
    assert text_scores.sentence_meteor("", "he seemed content") == 0


def understanding_records(scorer: Callable[[int], float] | None = None) -> list[dict[str, Any]]:
    """Records of two comics, of one of which nothing was said."""
    records: list[dict[str, Any]] = []
    for number, output in enumerate((REFERENCE, "")):
        document = {
            "id": str(number),
            "data": "x",
            "unit": f"comic {number}",
            "request": str(UNDERSTANDING),
            "explanation": REFERENCE,
            "stage": "2",
            "difficulty": "easy" if number else "hard",
            "has_text": None,
        }
        record = dict(tasks.UNDERSTANDING.answer_record(document, output))
        if scorer is not None:
            record["explanation_scores"] = {"scorer": "x", "bertscore": scorer(number)}
        records.append(record)
    return records


def test_the_average_is_that_of_four_scores_over_all_rows(nltk_folder: Path) -> None:
    write_wordnet(nltk_folder)
    scores = values(understanding_records([1.0, 0.5].__getitem__), measures.UNDERSTANDING)
    meteor = scores["sentence_meteor"]["all"]
    assert meteor == pytest.approx((1 - 0.5 * (1 / 10) ** 3) / 2)  # ten tokens in one chunk
    assert scores["sentence_bleu"]["all"] == pytest.approx(0.5)
    assert scores["bertscore"]["all"] == 0.75
    assert scores["average"]["all"] == pytest.approx((0.5 + 0.5 + 0.75 + meteor) / 4)
    assert scores["rouge_l"].keys() == {"all", "stage_2", "easy", "hard"}
    assert scores["explained@0"]["all"] == scores["parse_rate"]["all"] == 0.5


def test_without_wordnet_the_average_has_no_value_and_the_run_says_why(nltk_folder: Path) -> None:
    scores = values(understanding_records([1.0, 0.5].__getitem__), measures.UNDERSTANDING)
    assert "average" not in scores
    assert "sentence_meteor" not in scores
    assert scores["bertscore"]["all"] == 0.75
    assert notes.take_failures() == [
        "sentence_meteor and average are missing: there is no WordNet here"
    ]
    assert "bertscore" not in values(understanding_records(), measures.UNDERSTANDING)


# --- numbers that can be computed again ---


CRITERIA = ("correctness", "appropriate_length", "visual_completeness", "faithfulness")


def judgement_row(judged: Mapping[str, Any]) -> dict[str, str]:
    """A row of the authors' Human_Eval_Results.csv."""
    authors = [description["by"] for description in judged["rows"]]
    row = {"image_filename": judged["image"], "order_of_overall_img_descriptions": str(authors)}
    for number, description in enumerate(judged["rows"], start=1):
        for criterion in CRITERIA:
            is_yes = description[criterion]
            row[f"{criterion}_{number}"] = f"desc{number}_word" if is_yes else ""
    return row


@pytest.mark.parametrize("shared_file", ["data/yesbut/human_eval_half.json"], indirect=True)
def test_gaps_to_people_need_all_thirty_judged_pictures(shared_file: Path, tmp_path: Path) -> None:
    """The shared half, and the same twice, whose shares are those of the half."""
    half = json.loads(shared_file.read_text("utf-8"))
    judged = [judgement_row(picture) for picture in half]
    warnings: list[str] = []
    sink = logger.add(warnings.append, level="WARNING", format="{message}")
    gaps: list[dict[str, float]] = []
    for judged_rows in (judged, judged * 2):
        with (tmp_path / "Human_Eval_Results.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(judged[0]))
            writer.writeheader()
            writer.writerows(judged_rows)
        cells = reproduced.gaps_to_people(tmp_path)
        gaps.append({name.rpartition(": ")[2]: ours for name, _, ours in cells})
    logger.remove(sink)
    (warning,) = warnings
    assert "has 15 pictures, the release has 30: the four cells of" in warning
    assert gaps[0] == {}
    for criterion in CRITERIA:
        yes = Counter(by["by"] for picture in half for by in picture["rows"] if by[criterion])
        gap = yes.pop("humanannotation") - max(yes.values(), default=0)
        assert gaps[1][criterion] == pytest.approx(100 * gap / 15)
