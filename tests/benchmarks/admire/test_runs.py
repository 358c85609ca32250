"""AdMIRe through the harness: if this fails, a model in words, a model of scores or the demo model
is judged wrongly, or a wrong file is handed in.
"""

from __future__ import annotations

import ast
import csv
import io
import shutil
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

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


@pytest.fixture(scope="module")
def written_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A FIGLANG_DATA_DIR with all tables in English, written once."""
    tables: list[str] = []
    for kind in ("en", "sequence"):
        tables += [f"{kind}_{part}" for part in ("train", "dev", "test", "extended")]
    return rows_with_images.write_admire(tmp_path_factory.mktemp("data"), *tables)


@pytest.fixture(autouse=True)
def data_dir(written_tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(written_tables))


PROMPTS_OF_USER_TASKS = {"in_words": "rank", "polito": "polito"}
"""Tasks of a user, as the card has them: words in place of scores, and a team's prompt."""


def write_user_tasks(folder: Path) -> str:
    """Write the task files of `PROMPTS_OF_USER_TASKS`, and return the folder as `include_path`."""
    bases = f"[{tasks_dir()}/_shared.yaml, {tasks_dir()}/admire/admire_rank_en.yaml]"
    for name, prompt in PROMPTS_OF_USER_TASKS.items():
        (folder / f"{name}.yaml").write_text(
            f"include: {bases}\n"
            f"task: {name}\n"
            f"lmms_eval_specific_kwargs: {{default: {{prompt: {prompt}}}}}\n"
        )
    return str(folder)


def records_of(results: dict[str, Any], task: str) -> list[dict[str, Any]]:
    """The records of a task in the results of the harness."""
    return [sample["sample"] for sample in results["samples"][task]]


def submit(*arguments: str | Path) -> typer.testing.Result:
    """The result of ``figlang submit admire`` with arguments."""
    return typer.testing.CliRunner().invoke(app, ["submit", "admire", *map(str, arguments)])


def read_archive(path: Path) -> dict[str, str]:
    """The texts of the files in an archive that is to be handed in, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


# --- the demo model ---

TASKS_IN_WORDS = [*PROMPTS_OF_USER_TASKS, "admire_rank_en_text", "admire_sequence"]


@pytest.fixture(scope="module")
def demo_results(written_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of the demo model on two rows of the tasks in words and of one by scores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_DATA_DIR", str(written_tables))
        return demo_runs.evaluate(
            [*TASKS_IN_WORDS, "admire_rank_en"],
            "figlang_vlm",
            demo_runs.DEMO,
            include_path=write_user_tasks(tmp_path_factory.mktemp("tasks")),
            gen_kwargs="max_new_tokens=8",
            limit=2,
        )


@pytest.mark.parametrize("task", TASKS_IN_WORDS)
def test_a_task_in_words_takes_no_scores_from_a_model_that_has_them(
    task: str, demo_results: dict[str, Any]
) -> None:
    answers = demo_runs.answers(demo_results, task)
    assert len(answers) == 2
    assert all(answers.values())
    for record in records_of(demo_results, task):
        assert record["status"] != "scores"
        assert record["predicted"] is None


def test_the_demo_model_ranks_by_its_scores(demo_results: dict[str, Any]) -> None:
    for sample in demo_results["samples"]["admire_rank_en"]:
        record = sample["sample"]
        scored_names = list(zip(record["scores"], record["names"], strict=True))
        scored_names.sort(key=lambda scored_name: -scored_name[0])
        assert record["status"] == "scores"
        assert record["predicted"] == [name for _, name in scored_names]
        assert sample["dcg"] > 1.59


# --- a dual encoder, and what is handed in of its run ---

ENCODER_TASKS = ["admire_rank_en", "admire_rank_extended_en"]


class EncoderRun(NamedTuple):
    """A run of a tiny CLIP on `ENCODER_TASKS`.

    Attributes:
        arguments: the arguments of the model class.
        results: the results of the harness.
        submission: the result of ``figlang submit admire``.
        archive: the archive that the command wrote.
    """

    arguments: str
    results: dict[str, Any]
    submission: typer.testing.Result
    archive: Path


@pytest.fixture(scope="module")
def encoder_run(written_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> EncoderRun:
    """The run, which is handed in once."""
    folder = tmp_path_factory.mktemp("encoder")
    arguments = f"pretrained={tiny_models.write_encoder('clip', folder / 'clip')},device=cpu"
    archive = folder / "a.zip"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_DATA_DIR", str(written_tables))
        results = demo_runs.evaluate(
            ENCODER_TASKS, "figlang_clip", arguments, saved=folder / "run", log_samples=True
        )
        submission = submit(folder / "run", "-o", archive)
    return EncoderRun(arguments, results, submission, archive)


@pytest.mark.slow
def test_submit_names_the_files_the_tasks_and_the_board(encoder_run: EncoderRun) -> None:
    submission = encoder_run.submission
    assert submission.exit_code == 0, submission.output
    names = f"(submission_EN.tsv, submission_XE.tsv, of {', '.join(ENCODER_TASKS)})"
    assert names in submission.stdout
    assert "CodaBench" in submission.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "file_name", "table"),
    [
        ("admire_rank_en", "submission_EN.tsv", "en_test"),
        ("admire_rank_extended_en", "submission_XE.tsv", "en_extended"),
    ],
)
def test_what_is_handed_in_scores_the_same_as_the_run(
    task: str, file_name: str, table: str, encoder_run: EncoderRun
) -> None:
    best_by_compound: dict[str, str] = {}
    for row in rows_with_images.admire_rows(table):
        best_by_compound[row["compound"]] = ast.literal_eval(row["expected_order"])[0]

    text = read_archive(encoder_run.archive)[file_name]
    submitted_rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    assert list(submitted_rows[0]) == ["compound", "expected_order"]
    assert len(submitted_rows) == len(best_by_compound)

    hits = 0
    for row in submitted_rows:
        hits += ast.literal_eval(row["expected_order"])[0] == best_by_compound[row["compound"]]
    estimates = from_json(encoder_run.results["configs"][task]["metadata"]["measures"])
    assert hits / len(submitted_rows) == estimates["acc"][OVERALL].value


@pytest.mark.slow
def test_the_answers_of_a_gallery_are_all_letters_and_right_as_in_acc(
    encoder_run: EncoderRun,
) -> None:
    for sample in encoder_run.results["samples"]["admire_rank_en"]:
        gallery_answer = answer([sample["sample"]])
        assert (gallery_answer["outcome"] == "right") == (sample["acc"] == 1)
        assert sorted(gallery_answer["predicted"].split(", ")) == list("ABCDE")


@pytest.mark.slow
def test_a_dual_encoder_refuses_a_task_that_asks_for_words(encoder_run: EncoderRun) -> None:
    with pytest.raises(FigLangError, match="asks for an answer in words"):
        demo_runs.evaluate("admire_sequence", "figlang_clip", encoder_run.arguments)


# --- what is not handed in ---


def test_tasks_that_the_board_does_not_take_are_left_out(tmp_path: Path) -> None:
    tasks = ["admire_rank_en", "admire_rank_both_en"]
    demo_runs.evaluate(tasks, "figlang_random", saved=tmp_path, log_samples=True)
    result = submit(tmp_path, "-o", tmp_path / "a.zip")
    printed = " ".join(result.stdout.split())
    assert "(submission_EN.tsv, of admire_rank_en)" in printed, result.output

    next(tmp_path.glob("*samples_admire_rank_en.jsonl")).unlink()
    result = submit(tmp_path, "-o", tmp_path / "b.zip")
    assert result.exit_code == 1
    assert "results of admire_rank_en have no samples: restore " in result.stderr


@pytest.fixture(scope="module")
def random_run(written_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of random answers on rankings in words, twice on one table, and on sequences."""
    folder = tmp_path_factory.mktemp("random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_DATA_DIR", str(written_tables))
        demo_runs.evaluate(
            ["in_words", "admire_rank_en_text", "admire_sequence"],
            "figlang_random",
            include_path=write_user_tasks(folder),
            saved=folder / "words",
            log_samples=True,
        )
    return folder / "words"


@pytest.fixture
def words_folder(random_run: Path, tmp_path: Path) -> Path:
    """A copy of `random_run` that a test may change."""
    return Path(shutil.copytree(random_run, tmp_path / "words"))


def refused_submission(tmp_path: Path, *paths: Path) -> str:
    """What ``figlang submit admire`` says when it hands in nothing."""
    archive = tmp_path / "a.zip"
    result = submit(*paths, "-o", archive)
    assert result.exit_code == 1, result.output
    assert not archive.exists()
    return result.stderr


def test_a_table_twice_or_tables_of_two_boards_are_refused(
    words_folder: Path, tmp_path: Path
) -> None:
    assert "en_test is in " in refused_submission(tmp_path, words_folder)

    samples_of_two_boards: list[Path] = []
    for path in sorted(words_folder.rglob("*_samples_*.jsonl")):
        if "in_words" not in path.name:
            samples_of_two_boards.append(path)
    message = refused_submission(tmp_path, *samples_of_two_boards)
    assert "tables en_test, sequence_test: hand in rankings or sequences" in message


def test_a_run_with_a_limit_is_refused(tmp_path: Path) -> None:
    demo_runs.evaluate(
        "admire_rank_en", "figlang_random", saved=tmp_path / "cut", limit=2, log_samples=True
    )
    message = refused_submission(tmp_path, tmp_path / "cut")
    assert "the run was cut short (limit 2)" in message


def test_an_answer_without_a_ranking_is_refused(words_folder: Path, tmp_path: Path) -> None:
    (samples,) = words_folder.rglob("*samples_in_words.jsonl")
    changed_samples = samples.read_text().replace('"status": "read"', '"status": "unreadable"', 1)
    samples.write_text(changed_samples)
    for path in words_folder.rglob("*_results.json"):  # the changed samples contradict them
        path.unlink()
    message = refused_submission(tmp_path, samples)
    assert "1 of 15 rows of en_test have no complete answer (en_test-0)" in message


def test_sequences_are_handed_in_with_picture_and_sense(words_folder: Path, tmp_path: Path) -> None:
    (samples,) = words_folder.rglob("*samples_admire_sequence.jsonl")
    assert submit(samples, "-o", tmp_path / "a.zip").exit_code == 0
    header, *lines = read_archive(tmp_path / "a.zip")["submission_EN.tsv"].splitlines()
    assert header.split("\t") == ["compound", "sentence_type", "expected_item"]
    assert len(lines) == 5
