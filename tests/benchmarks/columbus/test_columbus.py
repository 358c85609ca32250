"""COLUMBUS's rows, prompts or readings are not the paper's, or Table 2 does not come out, if this
fails.
"""

from __future__ import annotations

import hashlib
import json
import runpy
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
import rows_with_images
import tiny_models
from commands import done
from demo_runs import evaluate
from tasks_without_harness import accepted_data

from figlang_tasks.benchmarks.columbus import rows, tasks
from figlang_tasks.benchmarks.columbus.benchmark import BENCHMARK
from figlang_tasks.benchmarks.columbus.measures import COLUMBUS
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.request import Request
from figlang_tasks.results import runs
from figlang_tasks.scoring import evaluate as evaluate_records
from figlang_tasks.scoring import process_results

SHARED = "data/columbus/benchmark.json"
EXAMPLE = Path(__file__).parents[3] / "examples" / "columbus_outputs"
REQUEST = "COLUMBUS,order=benchmark"
OPTIONS = dict(
    zip("ABCD", ["up and about", "about to", "just about", "last of the Mohicans"], strict=True)
)


def request_for(order: str, **graph: str) -> Request:
    return Request.of("COLUMBUS", order=order, **graph)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "COLUMBUS"


@pytest.fixture
def released(shared_file: Path, folder: Path) -> Path:
    folder.symlink_to(shared_file.parent)
    return shared_file.parent


@pytest.mark.parametrize(
    ("scores", "ours", "official"), [([1, 3, 2, 0], "B", "B"), ([1, 3, 3, 0], None, "B")]
)
def test_the_first_of_equal_scores_is_official(
    scores: list[float], ours: str | None, official: str
) -> None:
    doc = dict.fromkeys(("id", "data", "unit", "kind", "overlap"), "x") | {
        "request": REQUEST,
        "candidates": [*OPTIONS.values()],
        "answer": "B",
    }
    record = process_results(doc, [json.dumps({"scores": scores})])["sample"]
    assert (record["predicted"], record["predicted_official"], record["status"]) == (
        ours,
        official,
        "scores",
    )


def test_accuracies_of_both_rules_by_kind_and_overlap() -> None:
    # Kind, whether the words of the phrase stand in the picture, right letter, what was said
    answers = [
        ("text", True, "A", "(A) up and about"),  # both rules read A
        ("text", False, "B", "The answer is (B)."),  # the careful reader alone reads it
        ("icon", True, "C", "B) about to"),
        ("icon", False, "D", "D"),
        ("icon", False, "D", "It is a rebus."),
    ]
    records = []
    for number, (kind, overlap, right, said) in enumerate(answers):
        doc = {
            "id": f"{number}",
            "data": "x",
            "unit": f"{number}",
            "kind": kind,
            "overlap": overlap,
            "answer": right,
        }
        doc |= {"request": REQUEST, "candidates": [*OPTIONS.values()]}
        records.append(process_results(doc, [said])["sample"])
    estimates = evaluate_records(records, COLUMBUS, stderr_resamples=0)
    values = {
        metric: {scope: own.value for scope, own in scopes.items()}
        for metric, scopes in estimates.items()
    }
    shares = {"all": 3 / 5, "text": 1.0, "icon": 1 / 3, "overlap_text": 1.0, "overlap_icon": 0.0}
    assert values["acc"] == pytest.approx(shares)
    assert values["acc_official"] == pytest.approx(shares | {"all": 2 / 5, "text": 1 / 2})
    assert (values["parse_rate"]["all"], values["parse_rate_official"]["all"]) == (4 / 5, 3 / 5)


def test_both_layouts_and_both_releases(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = rows_with_images.columbus_rows(1005)
    for row, right in zip(table, ("A", {"A": None, "B": "phrase 0"}, "phrase 1"), strict=False):
        row["correct"] = right  # the hub may have it in these ways too
    table[0]["options"] = [*table[0]["options"].values()]
    rows_with_images.write_columbus(folder, table)
    hub = accepted_data(BENCHMARK, "COLUMBUS", order="benchmark")
    with pytest.raises(DataError, match="need the archive of the authors' repository"):
        BENCHMARK.documents(request_for("benchmark", graph="true"), check_images=True)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "other"))
    rows_with_images.write_columbus(
        tmp_path / "other" / "COLUMBUS",
        rows_with_images.columbus_rows(1005)[::-1],
        archive=True,
        runs=True,
    )
    archive = accepted_data(BENCHMARK, "COLUMBUS", order="benchmark")
    assert hub["data"][0] == archive["data"][0] and hub["id"] == archive["id"]
    assert DataId.parse(hub["data"][0]).part == "v2" and archive[2]["unit"] == "phrase 100"
    for request in (request_for("published"), request_for("benchmark", graph="true")):
        documents = BENCHMARK.documents(request, check_images=True)
        data = DataId.parse(documents["data"][0])
        assert data.digest != DataId.parse(hub["data"][0]).digest
        # A record names the request by which the same documents are found again.
        record = process_results(documents[0], ["A"])["sample"]
        assert (record["task"], parse_request(record["request"])) == (
            "columbus",
            (BENCHMARK, request),
        )
        assert BENCHMARK.documents(parse_request(record["request"])[1])["data"][0] == record["data"]
        for one, other in zip(archive, documents, strict=True):
            right = one["candidates"]["ABCD".index(one["answer"])]
            assert other["candidates"]["ABCD".index(other["answer"])] == right
    assert other["nodes_and_edges"] == "Node 1\nEdge 1\n"


# SHA-256 of the 1,008 prompts in the order of benchmark.json, joined by NUL: of the released
# prompts, shared/facts
PROMPTS = {
    ("plain", True): ("590bfb7aab087b5d", "caee786059c0d6b2"),
    ("rebus", True): ("ac8d675a287d51de", "da4f89520ecb27f3"),
    ("nodes", True): ("3995ef3020b172e6", "030bd2c540223198"),
    ("graph", True): ("d2f2d8f704218dfc", "89c40b2f79690bc0"),
    ("nodes", False): ("f59231b1e96f314a", "54f934eb8b0f4594"),
    ("graph", False): ("1935c1a1ff6a3640", "1cf5f220503253e3"),
}


@pytest.mark.parametrize("shared_file", [SHARED], indirect=True)
def test_the_counts_and_every_prompt_of_the_release(shared_file: Path, released: Path) -> None:
    documents = BENCHMARK.documents(request_for("benchmark"), check_images=True)
    assert DataId.parse(documents["data"][0]).part == "v1" and len(set(documents["unit"])) == 637
    assert (documents["kind"].count("text"), sum(documents["overlap"])) == (638, 678)
    ids = [row["image"].removesuffix(".png") for row in json.loads(shared_file.read_text("utf-8"))]
    for place, order in enumerate(rows.ORDERS):
        documents = BENCHMARK.documents(request_for(order, graph="true"), check_images=True)
        by_id = {doc["id"]: doc for doc in documents.remove_columns("image")}
        for (prompt, picture), digests in PROMPTS.items():
            texts = [
                tasks.doc_to_text(by_id[each], {"prompt": prompt, "picture": picture})
                for each in ids
            ]
            assert hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16] == digests[place], (
                prompt,
                picture,
                order,
            )


@pytest.mark.slow
@pytest.mark.parametrize("shared_file", [SHARED], indirect=True)
@pytest.mark.parametrize(
    ("model", "text", "icon"),  # Table 2 of v1
    [("clip", "56.3", "52.7"), ("blip-2_flan-t5-xxl", "68.2", "72.2"), ("qwenvl", "57.8", "64.3")],
)
def test_table_2_from_released_outputs(
    released: Path, model: str, text: str, icon: str, tmp_path: Path
) -> None:
    convert = runpy.run_path(str(EXAMPLE / "convert.py"))["convert"]
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(convert(released / "rows" / f"rows_{model}.json"))
    done("score", outputs, "--task", EXAMPLE / "columbus_released.yaml", "-o", tmp_path / "scored")
    accuracies = (
        runs.read(str(tmp_path / "scored")).tasks["columbus_released"].reported["acc_official"]
    )
    shares = [Decimal(100 * accuracies[kind].value) for kind in ("text", "icon")]
    assert [str(share.quantize(Decimal("0.1"), ROUND_HALF_UP)) for share in shares] == [text, icon]


@pytest.mark.slow
def test_a_dual_encoder_chooses_the_most_similar(folder: Path, tmp_path: Path) -> None:
    rows_with_images.write_columbus(folder, rows_with_images.columbus_rows(1008), archive=True)
    clip = f"pretrained={tiny_models.write_encoder('clip', tmp_path / 'clip')},device=cpu"
    results = evaluate("columbus_match", "figlang_clip", clip, limit=6)
    for record in (sample["sample"] for sample in results["samples"]["columbus_match"]):
        assert record["predicted"] == "ABCD"[record["scores"].index(max(record["scores"]))]
