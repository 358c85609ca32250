"""CII-Bench: if this fails, its rows, prompts or readings are not the release's, or the paper's
tables do not fit them. Counts and figures are those of shared/facts/ciibench.md.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ciibench import release
from commands import figlang, refused
from tasks_without_harness import check_data

from figlang_tasks.benchmarks.ciibench import labels, reproduced, tasks
from figlang_tasks.benchmarks.ciibench.benchmark import BENCHMARK
from figlang_tasks.benchmarks.ciibench.measures import CIIBENCH
from figlang_tasks.benchmarks.ciibench.parse import parse_official
from figlang_tasks.core.hub import DATA_DIR_VARIABLE
from figlang_tasks.core.request import Request
from figlang_tasks.results.measures import headline_metric
from figlang_tasks.results.published import RunConditions, comparable_metrics, figures_of_task
from figlang_tasks.scoring import evaluate, process_results

TEST_ROWS = "data/ciibench/test.json"
FIGURES = "facts/published_ciibench.json"
OVERALL_TABLES = {"Table 1", "Table 6", "Table 7", "Table 8"}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def released_items(test_file: Path) -> list[dict[str, Any]]:
    """The 800 items of the release."""
    return [*read(test_file), *read(test_file.with_name("dev.json"))]


def document(item: dict[str, Any]) -> dict[str, Any]:
    """The columns of an item that its prompt and its record need, joined as the paper says."""
    (question,) = item["questions"]
    shown_labels = {}
    for column in ("domain", "emotion", "rhetoric"):
        label = item["meta_data"][column]
        shown_labels[column] = ",".join(label["choices"]) if isinstance(label, dict) else label
    return {**question, **shown_labels}


# --- the release ---


@pytest.mark.parametrize("shared_file", [TEST_ROWS], indirect=True)
def test_all_4000_prompts_are_the_released_ones(shared_file: Path) -> None:
    templates = read(shared_file.with_name("prompts.json"))
    for item in released_items(shared_file):
        doc = document(item)
        question = doc["question"]
        for letter, text in zip("ABCDEF", doc["options"], strict=True):
            question += f"\n({letter}) {text}"
        for prompt in ("none", "cot", "domain", "emotion", "rhetoric"):
            expected = templates[prompt if prompt in templates else "keywords"]
            expected = expected.replace("{question}", question)
            expected = expected.replace("{key_words}", doc.get(prompt, ""))
            assert tasks.doc_to_text(doc, {"prompt": prompt}) == expected


@pytest.mark.parametrize("shared_file", [TEST_ROWS], indirect=True)
def test_the_released_rule_reads_the_cases_as_the_released_code(shared_file: Path) -> None:
    options_by_id = {}
    for item in released_items(shared_file):
        options_by_id[item["questions"][0]["id"]] = tasks.options_by_letter(document(item))
    cases = read(shared_file.with_name("parse_cases.json"))["cases"]
    wrong = [case for case in cases if parse_official(case[1], options_by_id[case[0]]) != case[2]]
    assert (len(cases), wrong) == (80, [])


SCOPES = {"Life": "life", "Env.": "environment", "CTC": "chinese_culture", "Illus.": "illustration",
          "Paint.": "painting", "Single-C.": "single_panel", "Multi-C.": "multi_panel",
          "Meta.": "metaphor", "Exag.": "exaggeration", "Symb.": "symbolism", "Pers.":
          "personification", "VisD.": "visual_dislocation", "Anal.": "analogy", "Anti.":
          "antithesis"}  # fmt: skip
"""Our names of the paper's scopes, where they are other words."""


def rows_by_scope(items: list[dict[str, Any]]) -> Counter[str]:
    """How many items each scope has."""
    counts: Counter[str] = Counter(overall=len(items))
    for item in items:
        for column, scope_by_label in labels.SCOPES_BY_LABEL.items():
            for label in labels.labels_of(item["meta_data"][column], column, "here"):
                counts[scope_by_label[label]] += 1
    return counts


def rounded(hits: int, rows: int) -> Decimal:
    """Hits in percent as the paper prints them: to two decimals, then to one, both half up."""
    percent = Decimal(100 * hits) / rows
    two_decimals = percent.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return two_decimals.quantize(Decimal("0.1"), ROUND_HALF_UP)


@pytest.mark.parametrize("shared_file", [TEST_ROWS], indirect=True)
def test_537_of_the_540_published_cells_are_whole_numbers_of_hits(shared_file: Path) -> None:
    rows = rows_by_scope(released_items(shared_file))
    figures = read(shared_file.parents[2] / FIGURES)
    cell_count = 0
    misprints = []
    for figure in figures:
        is_of_vlm = figure["kind"] == "vlm" and figure["prompt"] == "none"
        if not is_of_vlm or figure["table"] not in OVERALL_TABLES:
            continue
        cell_count += 1
        scope = SCOPES.get(figure["scope"], figure["scope"].lower())
        value = Decimal(str(figure["value"]))
        if value not in {rounded(hits, rows[scope]) for hits in range(rows[scope] + 1)}:
            misprints.append((figure["model"], scope, figure["value"]))
    assert cell_count == 540
    assert misprints == [
        ("LLaVA-1.6-72B", "neutral", 49.2),
        ("GPT-4o", "life", 54.1),
        ("Qwen2-VL-7B", "poster", 0.8),
    ]


@pytest.mark.parametrize("shared_file", [FIGURES], indirect=True)
def test_the_committed_figures_are_those_of_the_paper(shared_file: Path) -> None:
    published: dict[str, set[tuple[str, str, str, Decimal]]] = defaultdict(set)
    for figure in read(shared_file):
        model = {"human_avg": "Humans, average", "human_best": "Humans, best"}.get(
            figure["model"], figure["model"]
        )
        scope = SCOPES.get(figure["scope"], figure["scope"].lower())
        value = Decimal(str(figure["value"]))
        published[figure["prompt"] or "none"].add((figure["table"], model, scope, value))
    counts = {}
    for prompt in ("none", "cot", "domain", "emotion", "rhetoric"):
        figures = figures_of_task("ciibench" if prompt == "none" else f"ciibench_{prompt}")
        counts[prompt] = len(figures)
        for figure in figures:
            scope = figure.metric.removeprefix("acc_official").removeprefix("_") or "overall"
            value = 100 * Decimal(repr(figure.value))
            assert (figure.table, figure.model, scope, value) in published[prompt]
    # 27 different cells of 18 models, 27 of two people, 10 of three models without pictures
    assert counts == {"none": 570, "cot": 18, "domain": 18, "emotion": 18, "rhetoric": 18}


def test_figures_stand_beside_runs_on_all_rows_alone() -> None:
    metrics = ["acc_official", "acc_official_life"]
    whole_run = comparable_metrics("ciibench", metrics, [RunConditions(800)])
    assert whole_run.names == metrics
    run_of_test = comparable_metrics("ciibench", metrics, [RunConditions(765)])
    assert run_of_test.names == []
    assert "for 800 released rows; a run has 765 rows" in run_of_test.left_out


# --- records and measures ---


def test_values_of_both_readers_by_scope_and_the_headline() -> None:
    answers = {  # answer, right letter, scopes
        "答案：B": ("B", ["life", "metaphor", "symbolism", "test"]),  # both read B
        "选A": ("A", ["life", "metaphor", "test"]),  # our reader alone reads it
        "分析\n答案：F，因为A不符合": ("A", ["art", "test"]),
        "": ("C", ["art", "dev"]),
    }
    records = []
    for number, (answer, (gold, scopes)) in enumerate(answers.items()):
        doc = {"id": f"test-{number}", "data": "x", "unit": str(number), "scopes": scopes}
        doc |= {"request": "CII-Bench,split=all", "question": "什么隐喻？", "answer": gold}
        doc["options"] = [f"意思{letter}" for letter in "ABCDEF"]
        records.append(process_results(doc, [answer])["sample"])
    assert records[-1]["predicted_official"] is None  # the text "" is inside every option
    values = {}
    for metric, estimates in evaluate(records, CIIBENCH, stderr_resamples=0).items():
        values[metric] = {scope: estimate.value for scope, estimate in estimates.items()}
    official = {"all": 1 / 2, "life": 1 / 2, "art": 1 / 2, "metaphor": 1 / 2, "symbolism": 1.0}
    assert values["acc_official"] == pytest.approx({**official, "test": 2 / 3, "dev": 0.0})
    assert values["acc"]["life"] == 1.0
    assert values["parse_rate_official"]["all"] == 1 / 2
    assert headline_metric(values) == "acc_official"


# --- the two layouts ---


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release in the layout of the authors' archive, which a run finds."""
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    return release.write_valid(tmp_path)


def documents(split: str) -> Any:
    return BENCHMARK.documents(Request.of("CII-Bench", split=split), check_images=True)


def test_both_layouts_give_the_same_documents(
    archive: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = documents("all")
    hub_dir = tmp_path_factory.mktemp("hub")
    release.write_valid(hub_dir, hub=True, dev_pictures=False)
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(hub_dir))
    hub_docs = documents("test")  # the hub's dev has no pictures
    columns = ["id", "unit", "question", "options", "answer", "rhetoric", "scopes"]
    assert hub_docs.select_columns(columns)[:] == docs.select_columns(columns)[:765]
    assert docs["rhetoric"][:2] == ["隐喻,象征", "夸张"]  # as a prompt shows them
    # Dependent rows share a unit: five pictures of each split here.
    assert (len(docs), len(set(docs["unit"]))) == (800, 10)
    assert docs["scopes"][0] == [
        "life", "neutral", "easy", "meme", "metaphor", "symbolism", "test"
    ]  # fmt: skip
    for doc in [*docs.select(range(5)), *hub_docs.select(range(5))]:  # JPEG, CMYK, WebP, PNG, GIF
        (picture,) = tasks.doc_to_visual(doc, {"prompt": "none"})
        assert (picture.mode, picture.size) == ("RGB", (16, 16))
    (square,) = tasks.doc_to_visual(docs[0], {"prompt": "none", "blind": True})
    assert square.getcolors() == [(square.width * square.height, (255, 255, 255))]


def test_the_check_fails_where_the_hub_lacks_pictures_that_every_task_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.write_valid(tmp_path, hub=True, dev_pictures=False)
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    lines, (fault,) = check_data(BENCHMARK)
    assert "split 'dev'" in fault
    assert "the Parquet file has no pictures" in fault
    assert lines[-1] == "1 fault(s)"


# --- Table 4 ---


@pytest.mark.parametrize("shared_file", ["data/ciibench/ctc_rows_half.json"], indirect=True)
def test_half_of_the_judgements_give_the_means_of_pandas_and_not_table_4(shared_file: Path) -> None:
    table = pd.DataFrame(read(shared_file))
    table["number"] = table["score"].str.split("]").str[0].str.strip("[").astype(int)
    expected = {"all": table["number"].mean()}
    expected |= table.groupby("difficulty")["number"].mean().to_dict()
    expected |= table.groupby("emotion")["number"].mean().to_dict()
    means = reproduced.mean_scores(read(shared_file))
    assert list(means.values()) == pytest.approx(
        [expected[name] for name in ("all", "简单", "中等", "困难", "积极", "消极", "中性")]
    )
    message = refused("reproduce", "ciibench", "--data", shared_file.parent)
    assert "has 65 of the 130 released judgements" in message
    assert "Table 4 needs all of them" in message


@pytest.mark.parametrize("name", ["CTC_Evaluation/exp_CTC_with_scores.json", "ctc_rows_all.json"])
def test_all_judgements_give_the_seven_cells(name: str, tmp_path: Path) -> None:
    """Made up so that each label has the sum of scores that its published mean needs."""
    # difficulty, emotion, rows, sum of scores: easy 39/13 = 3.0, medium 144/45 = 3.2, hard 169/72 =
    # 2.35; positive 216/82 = 2.63, negative 12/4 = 3.0, neutral 124/44 = 2.82; 352/130 = 2.71
    groups = [("简单", "积极", 9, 27), ("简单", "消极", 4, 12), ("中等", "中性", 20, 70)]
    groups += [("中等", "积极", 25, 74), ("困难", "中性", 24, 54), ("困难", "积极", 48, 115)]
    judgements: list[dict[str, Any]] = []
    for difficulty, emotion, count, total in groups:
        for number in range(count):
            score = total * (number + 1) // count - total * number // count
            row = {"id": len(judgements), "local_path": f"{len(judgements)}.jpg"}
            row |= {"difficulty": difficulty, "emotion": emotion, "score": f"[{score}]\n\nOf 5."}
            judgements.append(row)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(json.dumps(judgements), encoding="utf-8")
    result = figlang("reproduce", "ciibench", "--data", tmp_path)
    assert result.stdout.splitlines()[-1] == "7 cells, 7 equal, largest difference 0.00"
