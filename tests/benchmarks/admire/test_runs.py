"""AdMIRe through the harness: by chance, in words, by scores; and what is handed in."""

from __future__ import annotations

import ast
import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import demo_runs
import pytest
import rows_with_images
import tiny_models
import typer.testing

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.admire.card import answer
from figlang_tasks.cli.figlang import app
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.scoring import OVERALL, from_json


def submit(*arguments: str | Path) -> typer.testing.Result:
    return typer.testing.CliRunner().invoke(app, ["submit", "admire", *map(str, arguments)])


SHORT = "max_new_tokens=8"


def estimates(results: dict[str, Any], task: str) -> Any:
    return from_json(results["configs"][task]["metadata"]["measures"])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    tables = [
        f"{kind}_{part}"
        for kind in ("en", "sequence")
        for part in ("train", "dev", "test", "extended")
    ]
    return rows_with_images.write_admire(folder, *tables)


@pytest.fixture(autouse=True)
def here(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(data))


OTHER_FORMS = {"in_words": "rank", "polito": "polito"}


def other_forms(folder: Path) -> str:
    """Task files of a user, as the card has them: words in place of scores, and a team's prompt."""
    for name, prompt in OTHER_FORMS.items():
        (folder / f"{name}.yaml").write_text(
            f"include: [{tasks_dir()}/_shared.yaml,"
            f" {tasks_dir()}/admire/admire_rank_en.yaml]\ntask: {name}\nlmms_eval_specific_kwargs:"
            f" {{default: {{prompt: {prompt}}}}}\n"
        )
    return str(folder)


def test_the_demo_model_in_words_and_by_score(tmp_path: Path) -> None:
    words = [*OTHER_FORMS, "admire_rank_en_text", "admire_sequence"]
    results = demo_runs.evaluate(
        [*words, "admire_rank_en"], "figlang_vlm", demo_runs.DEMO,
        include_path=other_forms(tmp_path), gen_kwargs=SHORT, limit=2,
    )  # fmt: skip
    for name in words:
        assert len(demo_runs.answers(results, name)) == 2 and all(
            demo_runs.answers(results, name).values()
        )
        for sample in results["samples"][name]:
            assert sample["sample"]["status"] != "scores" and sample["sample"]["predicted"] is None
    for sample in results["samples"]["admire_rank_en"]:
        record = sample["sample"]
        ranked = sorted(
            zip(record["scores"], record["names"], strict=True), key=lambda each: -each[0]
        )
        assert record["status"] == "scores" and record["predicted"] == [name for _, name in ranked]
        assert sample["dcg"] > 1.59


@pytest.mark.slow
def test_a_dual_encoder_ranks_and_what_is_handed_in_scores_the_same(tmp_path: Path) -> None:
    checkpoint = tiny_models.write_encoder("clip", tmp_path / "clip")
    tasks = ["admire_rank_en", "admire_rank_extended_en"]
    arguments = f"pretrained={checkpoint},device=cpu"
    results = demo_runs.evaluate(
        tasks, "figlang_clip", arguments, saved=tmp_path / "run", log_samples=True
    )
    done = submit(tmp_path / "run", "-o", tmp_path / "a.zip")
    assert done.exit_code == 0, done.output
    assert f"(submission_EN.tsv, submission_XE.tsv, of {', '.join(tasks)})" in done.stdout
    assert "CodaBench" in done.stdout
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        handed_in = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, file, table in zip(
        tasks, ("submission_EN.tsv", "submission_XE.tsv"), ("en_test", "en_extended"), strict=True
    ):
        gold = {
            row["compound"]: ast.literal_eval(row["expected_order"])
            for row in rows_with_images.admire_rows(table)
        }
        found = list(csv.DictReader(io.StringIO(handed_in[file]), delimiter="\t"))
        assert list(found[0]) == ["compound", "expected_order"] and len(found) == len(gold)
        first = [
            ast.literal_eval(row["expected_order"])[0] == gold[row["compound"]][0] for row in found
        ]
        assert sum(first) / len(first) == estimates(results, name)["acc"][OVERALL].value
    shown = [answer([sample["sample"]]) for sample in results["samples"]["admire_rank_en"]]
    assert [each["outcome"] == "right" for each in shown] == [
        sample["acc"] == 1 for sample in results["samples"]["admire_rank_en"]
    ]
    assert all(sorted(each["predicted"].split(", ")) == list("ABCDE") for each in shown)
    with pytest.raises(FigLangError, match="asks for an answer in words"):
        demo_runs.evaluate("admire_sequence", "figlang_clip", arguments)


def test_tasks_that_the_board_does_not_take_are_left_out(tmp_path: Path) -> None:
    tasks = ["admire_rank_en", "admire_rank_both_en"]
    demo_runs.evaluate(tasks, "figlang_random", saved=tmp_path, log_samples=True)
    done = submit(tmp_path, "-o", tmp_path / "a.zip")
    assert "(submission_EN.tsv, of admire_rank_en)" in " ".join(done.stdout.split()), done.output
    next(tmp_path.glob("*samples_admire_rank_en.jsonl")).unlink()
    done = submit(tmp_path, "-o", tmp_path / "b.zip")
    assert (
        done.exit_code == 1 and "results of admire_rank_en have no samples: restore " in done.stderr
    )


def test_what_is_not_whole_is_not_handed_in(tmp_path: Path) -> None:
    tasks, forms = ["in_words", "admire_rank_en_text", "admire_sequence"], other_forms(tmp_path)
    demo_runs.evaluate(
        tasks, "figlang_random", include_path=forms, saved=tmp_path / "words", log_samples=True
    )
    demo_runs.evaluate(
        "admire_rank_en", "figlang_random", saved=tmp_path / "cut", limit=2, log_samples=True
    )
    saved = sorted((tmp_path / "words").rglob("*_samples_*.jsonl"))
    samples = [str(path.relative_to(tmp_path / "words")) for path in saved]
    for arguments, message in (
        (["words"], "en_test is in "),
        (
            [*(f"words/{name}" for name in samples if "in_words" not in name)],
            "tables en_test, sequence_test: hand in rankings or sequences",
        ),
        (["cut"], "the run was cut short (limit 2)"),
    ):
        done = submit(*(tmp_path / argument for argument in arguments), "-o", tmp_path / "a.zip")
        assert done.exit_code == 1 and message in done.stderr, done.output
        assert not (tmp_path / "a.zip").exists()
    (path,) = (tmp_path / "words").rglob("*samples_in_words.jsonl")
    path.write_text(path.read_text().replace('"status": "read"', '"status": "unreadable"', 1))
    for results in (tmp_path / "words").rglob("*_results.json"):  # which such samples contradict
        results.unlink()
    done = submit(path, "-o", tmp_path / "a.zip")
    assert "1 of 15 rows of en_test have no complete answer (en_test-0)" in done.stderr
    (path,) = (tmp_path / "words").rglob("*samples_admire_sequence.jsonl")
    assert submit(path, "-o", tmp_path / "a.zip").exit_code == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        head, *found = archive.read("submission_EN.tsv").decode().splitlines()
    assert head.split("\t") == ["compound", "sentence_type", "expected_item"] and len(found) == 5
