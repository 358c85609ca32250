"""COLUMBUS: if this fails, its rows, prompts or readings are not the paper's, or Table 2 does not
come out of the released outputs.
"""

from __future__ import annotations

import hashlib
import json
import runpy
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import rows_with_images
import tiny_models
from commands import done
from demo_runs import evaluate
from tasks_without_harness import accepted_data

from figlang_tasks.benchmarks.columbus import rows, tasks
from figlang_tasks.benchmarks.columbus.benchmark import BENCHMARK
from figlang_tasks.benchmarks.columbus.measures import COLUMBUS
from figlang_tasks.core import checks
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import DATA_DIR_VARIABLE
from figlang_tasks.core.request import Request
from figlang_tasks.results import runs
from figlang_tasks.scoring import Record, process_results
from figlang_tasks.scoring import evaluate as evaluate_records

RELEASED_TABLE = "data/columbus/benchmark.json"
EXAMPLE = Path(__file__).parents[3] / "examples" / "columbus_outputs"


def request_for(order: str, **graph: str) -> Request:
    return Request.of("COLUMBUS", order=order, **graph)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a run looks for the release; nothing is there yet."""
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    return tmp_path / "COLUMBUS"


@pytest.fixture
def released(shared_file: Path, folder: Path) -> Path:
    """The folder of the real release, which a run finds."""
    folder.symlink_to(shared_file.parent)
    return shared_file.parent


# --- records and measures ---


def document(row_id: str, kind: str, *, overlap: bool, answer: str) -> dict[str, Any]:
    """A document with the options "up and about", "about to" ..."""
    return {
        "id": row_id,
        "data": "x",
        "unit": row_id,
        "request": str(request_for("benchmark")),
        "kind": kind,
        "overlap": overlap,
        "candidates": ["up and about", "about to", "just about", "last of the Mohicans"],
        "answer": answer,
    }


@pytest.mark.parametrize(
    ("scores", "letter", "official_letter"),
    [([1, 3, 2, 0], "B", "B"), ([1, 3, 3, 0], None, "B")],
)
def test_of_equal_scores_the_released_code_takes_the_first_and_we_take_none(
    scores: list[float], letter: str | None, official_letter: str
) -> None:
    doc = document("x", "text", overlap=True, answer="B")
    record = process_results(doc, [json.dumps({"scores": scores})])["sample"]
    letters = (record["predicted"], record["predicted_official"])
    assert letters == (letter, official_letter)
    assert record["status"] == "scores"


def test_accuracies_of_both_rules_by_kind_and_overlap() -> None:
    answers = [  # kind, overlap, right letter, answer
        ("text", True, "A", "(A) up and about"),  # both rules read A
        ("text", False, "B", "The answer is (B)."),  # our reader alone reads it
        ("icon", True, "C", "B) about to"),
        ("icon", False, "D", "D"),
        ("icon", False, "D", "It is a rebus."),
    ]
    records: list[Record] = []
    for number, (kind, overlap, right_letter, answer) in enumerate(answers):
        doc = document(str(number), kind, overlap=overlap, answer=right_letter)
        records.append(process_results(doc, [answer])["sample"])

    values: dict[str, dict[str, float]] = {}
    for metric, scopes in evaluate_records(records, COLUMBUS, stderr_resamples=0).items():
        values[metric] = {scope: estimate.value for scope, estimate in scopes.items()}
    assert values["acc"] == pytest.approx(
        {"all": 3 / 5, "text": 1.0, "icon": 1 / 3, "overlap_text": 1.0, "overlap_icon": 0.0}
    )
    assert values["acc_official"] == pytest.approx(
        {"all": 2 / 5, "text": 1 / 2, "icon": 1 / 3, "overlap_text": 1.0, "overlap_icon": 0.0}
    )
    assert values["parse_rate"]["all"] == 4 / 5
    assert values["parse_rate_official"]["all"] == 3 / 5


# --- the two layouts of a release ---


class Layouts(NamedTuple):
    """Release v2 in both layouts: folders for FIGLANG_DATA_DIR, and the documents of each."""

    hub_dir: Path
    hub_documents: Any
    archive_dir: Path
    archive_documents: Any


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> Layouts:
    """A release that is written in both layouts, with its rows in opposite orders."""
    hub_dir = tmp_path_factory.mktemp("hub")
    hub_rows = rows_with_images.columbus_rows(1005)
    # The hub may have options and right answers in these forms too.
    hub_rows[0]["options"] = list(hub_rows[0]["options"].values())
    hub_rows[0]["correct"] = "A"
    hub_rows[1]["correct"] = {"A": None, "B": "phrase 0"}
    hub_rows[2]["correct"] = "phrase 1"
    rows_with_images.write_columbus(hub_dir / "COLUMBUS", hub_rows)

    archive_dir = tmp_path_factory.mktemp("archive")
    archive_rows = rows_with_images.columbus_rows(1005)[::-1]
    rows_with_images.write_columbus(archive_dir / "COLUMBUS", archive_rows, archive=True, runs=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_DIR_VARIABLE, str(hub_dir))
        hub_documents = accepted_data(BENCHMARK, "COLUMBUS", order="benchmark")
        patch.setenv(DATA_DIR_VARIABLE, str(archive_dir))
        archive_documents = accepted_data(BENCHMARK, "COLUMBUS", order="benchmark")
    return Layouts(hub_dir, hub_documents, archive_dir, archive_documents)


def test_both_layouts_give_the_same_documents(layouts: Layouts) -> None:
    hub_documents, archive_documents = layouts.hub_documents, layouts.archive_documents
    assert hub_documents["data"][0] == archive_documents["data"][0]
    assert hub_documents["id"] == archive_documents["id"]


def test_a_release_of_1005_rows_is_v2_and_sorted_by_id(layouts: Layouts) -> None:
    documents = layouts.archive_documents
    assert DataId.parse(documents["data"][0]).part == "v2"
    assert documents[2]["unit"] == "phrase 100"


@pytest.mark.parametrize(("row_count", "release"), [(1008, "v1"), (1005, "v2")])
def test_a_check_compares_the_rows_with_those_of_their_release(
    row_count: int, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_with_images.write_columbus(
        tmp_path / "COLUMBUS", rows_with_images.columbus_rows(row_count)
    )
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    lines, faults = checks.check(BENCHMARK, [request_for("benchmark")])
    assert faults == []
    (line,) = [line for line in lines if "benchmark" in line]
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[-4:-1] == [str(row_count), str(row_count), f"release {release}"]


def test_the_layout_of_the_hub_has_no_descriptions(
    layouts: Layouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(layouts.hub_dir))
    with pytest.raises(DataError, match="need the archive of the authors' repository"):
        BENCHMARK.documents(request_for("benchmark", graph="true"), check_images=True)


@pytest.mark.parametrize(
    ("request_of_archive", "description"),
    [
        (request_for("published"), None),
        (request_for("benchmark", graph="true"), "Node 1\nEdge 1\n"),
    ],
    ids=["published", "graph"],
)
def test_what_only_the_archive_has_changes_the_digest_and_no_right_answer(
    request_of_archive: Request,
    description: str | None,
    layouts: Layouts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(layouts.archive_dir))
    documents = BENCHMARK.documents(request_of_archive, check_images=True)
    plain_digest = DataId.parse(layouts.hub_documents["data"][0]).digest
    assert DataId.parse(documents["data"][0]).digest != plain_digest
    assert documents[-1].get("nodes_and_edges") == description
    for plain_document, doc in zip(layouts.archive_documents, documents, strict=True):
        assert right_text(doc) == right_text(plain_document)

    # A record names the request by which the same documents are found again.
    record = process_results(documents[0], ["A"])["sample"]
    benchmark, request_of_record = parse_request(record["request"])
    assert record["task"] == "columbus"
    assert (benchmark, request_of_record) == (BENCHMARK, request_of_archive)
    assert BENCHMARK.documents(request_of_record)["data"][0] == record["data"]


def right_text(doc: dict[str, Any]) -> str:
    """The text of the right option of a document."""
    return str(doc["candidates"][rows.LETTERS.index(doc["answer"])])


# --- the real release ---


@pytest.mark.parametrize("shared_file", [RELEASED_TABLE], indirect=True)
def test_the_release_of_1008_rows_is_v1_and_has_the_counts_of_the_paper(released: Path) -> None:
    documents = BENCHMARK.documents(request_for("benchmark"), check_images=True)
    assert DataId.parse(documents["data"][0]).part == "v1"
    assert len(set(documents["unit"])) == 637
    assert (documents["kind"].count("text"), sum(documents["overlap"])) == (638, 678)


# SHA-256 of the 1,008 prompts in the order of benchmark.json, joined by NUL: of the released
# prompts, shared/facts. By prompt and whether the picture is shown.
PROMPT_DIGESTS = {
    "benchmark": {
        ("plain", True): "590bfb7aab087b5d",
        ("rebus", True): "ac8d675a287d51de",
        ("nodes", True): "3995ef3020b172e6",
        ("graph", True): "d2f2d8f704218dfc",
        ("nodes", False): "f59231b1e96f314a",
        ("graph", False): "1935c1a1ff6a3640",
    },
    "published": {
        ("plain", True): "caee786059c0d6b2",
        ("rebus", True): "da4f89520ecb27f3",
        ("nodes", True): "030bd2c540223198",
        ("graph", True): "89c40b2f79690bc0",
        ("nodes", False): "54f934eb8b0f4594",
        ("graph", False): "1cf5f220503253e3",
    },
}


@pytest.mark.parametrize("order", rows.ORDERS)
@pytest.mark.parametrize("shared_file", [RELEASED_TABLE], indirect=True)
def test_every_prompt_is_that_of_the_release(shared_file: Path, released: Path, order: str) -> None:
    released_rows = json.loads(shared_file.read_text("utf-8"))
    documents = BENCHMARK.documents(request_for(order, graph="true"), check_images=True)
    documents_by_id = {doc["id"]: doc for doc in documents.remove_columns("image")}
    documents_as_released: list[dict[str, Any]] = []
    for row in released_rows:
        documents_as_released.append(documents_by_id[row["image"].removesuffix(".png")])

    for (prompt, picture), expected_digest in PROMPT_DIGESTS[order].items():
        options = {"prompt": prompt, "picture": picture}
        texts = [tasks.doc_to_text(doc, options) for doc in documents_as_released]
        digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
        assert digest[:16] == expected_digest, (prompt, picture)


@pytest.mark.slow
@pytest.mark.parametrize("shared_file", [RELEASED_TABLE], indirect=True)
@pytest.mark.parametrize(
    ("model", "text", "icon"),  # Table 2 of v1
    [("clip", "56.3", "52.7"), ("blip-2_flan-t5-xxl", "68.2", "72.2"), ("qwenvl", "57.8", "64.3")],
)
def test_table_2_comes_out_of_the_released_outputs(
    released: Path, model: str, text: str, icon: str, tmp_path: Path
) -> None:
    convert = runpy.run_path(str(EXAMPLE / "convert.py"))["convert"]
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(convert(released / "rows" / f"rows_{model}.json"))
    folder = tmp_path / "scored"
    done("score", outputs, "--task", EXAMPLE / "columbus_released.yaml", "-o", folder)
    estimates_by_scope = runs.read(str(folder)).tasks["columbus_released"].reported["acc_official"]
    assert as_printed(estimates_by_scope["text"].value) == text
    assert as_printed(estimates_by_scope["icon"].value) == icon


def as_printed(share: float) -> str:
    """A share as the paper prints it: in percent, with one decimal, halves rounded up."""
    return str(Decimal(100 * share).quantize(Decimal("0.1"), ROUND_HALF_UP))


# --- through the harness ---


@pytest.mark.slow
def test_a_dual_encoder_chooses_the_most_similar_option(folder: Path, tmp_path: Path) -> None:
    rows_with_images.write_columbus(folder, rows_with_images.columbus_rows(1008), archive=True)
    model_args = f"pretrained={tiny_models.write_encoder('clip', tmp_path / 'clip')},device=cpu"
    results = evaluate("columbus_match", "figlang_clip", model_args, limit=6)
    for sample in results["samples"]["columbus_match"]:
        record = sample["sample"]
        best_index = record["scores"].index(max(record["scores"]))
        assert record["predicted"] == rows.LETTERS[best_index]
