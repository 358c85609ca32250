"""If these fail, a results file or a model card of the hub has other numbers, or a local path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
import yaml
from hub_server import Fault, HubServer, Response
from huggingface_hub import close_session, constants
from hypothesis import given
from hypothesis import strategies as st
from published_runs import (
    WRITES_EVAL_RESULTS,
    estimates_of,
    records,
    results,
    whole_estimates,
    write_run,
)

from figlang_tasks.core.benchmark import Benchmark, benchmarks, source_of
from figlang_tasks.core.hub import clear_caches
from figlang_tasks.report.verdict import verdicts_against
from figlang_tasks.results import runs
from figlang_tasks.results.task_run import Run
from figlang_tasks.submit import SubmissionError, hub_results, model_card
from figlang_tasks.submit.hub_leaderboards import leaderboards_of

needs_eval_results = pytest.mark.skipif(not WRITES_EVAL_RESULTS, reason="huggingface_hub below 2.0")
_, *_LIMITS = whole_estimates()["f1@0"]["all"][:3]
INTERVAL = [f"{100 * limit:.1f}" for limit in _LIMITS if limit is not None]


ROOT = Path(__file__).parents[2]
EVAL_FILES = ROOT / "docs" / "upstream" / "eval"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub whose V-FLUTE has declared the leaderboards that we propose."""
    dataset = tmp_path / "on_the_hub"
    dataset.mkdir()
    proposal = (EVAL_FILES / "V-FLUTE.yaml").read_bytes()
    (dataset / "eval.yaml").write_bytes(proposal)
    with HubServer() as server:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, server.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        server.add_repo("ColumbiaNLP/V-FLUTE", dataset)
        clear_caches()  # of what another hub has said
        yield server
    clear_caches()
    close_session()  # The hub's client must not keep a connection to this server.


@pytest.fixture
def run(hub: HubServer, tmp_path: Path) -> Run:
    """A run of V-FLUTE, on a machine that reaches the hub."""
    return runs.read(str(write_run(tmp_path / "run", records(), results())))


@pytest.mark.skipif(WRITES_EVAL_RESULTS, reason="huggingface_hub 2.0 or newer")
def test_hub_needs_a_newer_client(run: Run, tmp_path: Path) -> None:
    message = commands.refused(
        "submit", "hub", run.path, "--repo", "org/model", "-o", tmp_path / "model"
    )
    assert (
        "this huggingface_hub cannot write .eval_results: pip install --upgrade huggingface_hub"
        in message
    )
    assert not (tmp_path / "model").exists()


def write(run: Run, folder: Path) -> dict[str, str]:
    """Write the files of a run, and return their contents by path."""
    paths, _ = hub_results.write([run], folder)
    contents = {}
    for path in paths:
        contents[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
    return contents


@needs_eval_results
def test_one_entry_for_each_metric_that_is_a_leaderboard_of_the_dataset(
    run: Run, tmp_path: Path
) -> None:
    """The run also has a value of acc, which the proposal does not name."""
    from huggingface_hub import parse_eval_result_entries

    contents = write(run, tmp_path / "model")
    assert list(contents) == ["README.md", ".eval_results/V-FLUTE.yaml"]
    entries = parse_eval_result_entries(yaml.safe_load(contents[".eval_results/V-FLUTE.yaml"]))
    assert {entry.task_id: entry.value for entry in entries} == {"vflute_f1@0": 74.69}
    for entry in entries:
        assert entry.dataset_id == "ColumbiaNLP/V-FLUTE"
        assert entry.dataset_revision == "d920d848e21b6aba96e03704b134c546f89b74f4"
        assert entry.date == "2026-11-21T19:39:16Z"  # eight hours behind Singapore
        assert entry.notes
        assert "V-FLUTE/test, 723 rows, digest 0123456789ab; task version 1-0;" in entry.notes
    assert entries[0].notes and entries[0].notes.startswith(
        f"f1@0, percent, 95 % interval {INTERVAL[0]} to {INTERVAL[1]}; "
    )


def test_the_section_says_how_to_get_the_numbers_again(run: Run) -> None:
    section = model_card.make_section([run])
    for expected in (
        "| scope |   n |        **f1@0 ↑** |             acc ↑ |",
        f"| all   | 723 | 74.7 [{', '.join(INTERVAL)}] |",
        "- model_args: `pretrained=org/model,api_key=[REDACTED]`\n- batch_size: `1`\n",
        (
            "[ColumbiaNLP/V-FLUTE](https://huggingface.co/datasets/ColumbiaNLP/V-FLUTE) at"
            " `d920d848e21b6aba9"
        ),
        "- prompt hash: `5b1910affe97`",
        "- version: `1-0`",
        "- harness: `lmms_eval 0.7.3`",
        f"- SHA-256 of the samples: `{run.tasks['vflute'].sha256}`",
    ):
        assert expected in section
    assert "secret" not in section
    assert "muse" not in section  # of the whole benchmark alone


@needs_eval_results
@pytest.mark.usefixtures("hub")
def test_no_local_path_is_published(tmp_path: Path) -> None:
    scores = {"scorer": "vflute25", "mean": 0.5}
    scored = [{**record, "explanation_scores": scores} for record in records()]
    config = {
        "model": "llava_hf",
        "model_args": "pretrained=/home/me/models/tuned",
        "device": "cuda:0",
    }
    saved = results(estimates=estimates_of(scored), config=config)
    saved["configs"]["vflute"]["metadata"]["explanation_scorer"] = (
        "vflute25|bertscore:/home/me/deberta@sha256:12"
    )
    run = runs.read(str(write_run(tmp_path / "run", scored, saved)))
    contents = write(run, tmp_path / "model")
    for text in contents.values():
        for private in ("/home", str(tmp_path), "cuda"):
            assert private not in text
        assert "vflute25|bertscore:[local]/deberta@sha256:12" in text
    assert "- model_args: `pretrained=[local]/tuned`\n" in contents["README.md"]


@needs_eval_results
def test_a_dataset_without_a_repository_has_no_entries(tmp_path: Path) -> None:
    changes = {"data": "figlang_mini/test:fe9a", "request": "figlang_mini,split=test"}
    mini = [{**record, **changes} for record in records()[:76]]
    counts = {"vflute": {"original": 76, "effective": 76}}
    saved = {**results(estimates=estimates_of(mini)), "n-samples": counts}
    run = write_run(tmp_path / "run", mini, saved)
    result = commands.figlang("submit", "hub", run, "--repo", "org/model", "-o", tmp_path / "model")
    assert "no .eval_results of figlang_mini: the hub does not have these rows" in result.stderr
    (readme,) = (path for path in (tmp_path / "model").rglob("*") if path.is_file())
    assert "- data: `figlang_mini/test:fe9a`\n" in readme.read_text()


def declare(hub: HubServer, folder: Path, declaration: str | None) -> None:
    """Let V-FLUTE have this eval.yaml on the hub; None for none."""
    folder.mkdir()
    (folder / "README.md").write_text("a card")
    if declaration is not None:
        (folder / "eval.yaml").write_text(declaration)
    hub.add_repo("ColumbiaNLP/V-FLUTE", folder)


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        (None, "ColumbiaNLP/V-FLUTE has no eval.yaml: the hub takes no results of it yet"),
        ("tasks: [vflute_f1@0]", "eval.yaml of ColumbiaNLP/V-FLUTE names no task"),
        ("[", "eval.yaml of ColumbiaNLP/V-FLUTE names no task"),
        ("tasks: [{id: 2026-13-45}]", "eval.yaml of ColumbiaNLP/V-FLUTE names no task"),
    ],
)
def test_a_dataset_that_declares_no_leaderboard(
    hub: HubServer, tmp_path: Path, declaration: str | None, reason: str
) -> None:
    declare(hub, tmp_path / "newer", declaration)
    assert leaderboards_of(source_of("V-FLUTE")) == (frozenset(), reason)


def test_a_hub_that_fails_is_not_taken_for_one_without_leaderboards(hub: HubServer) -> None:
    hub.faults.append(Fault("/resolve/", lambda _: Response(500)))
    for _ in range(2):  # two tasks of one dataset
        task_ids, reason = leaderboards_of(source_of("V-FLUTE"))
        assert not task_ids
    assert "eval.yaml of ColumbiaNLP/V-FLUTE is not on this machine, and http" in reason
    assert "500" in reason
    questions = [request for request in hub.requests if "eval.yaml" in request.path]
    assert len(questions) == 1  # it is not tried again, which would take half a minute


def test_a_gated_dataset_asks_for_a_token(hub: HubServer, tmp_path: Path) -> None:
    hub.add_repo("lampent/IRFL", tmp_path / "on_the_hub", gated=True)
    _, reason = leaderboards_of(source_of("IRFL"))
    assert "Accept its conditions on https://huggingface.co/datasets/lampent/IRFL" in reason
    assert "set HF_TOKEN" in reason and "Offline?" not in reason


@needs_eval_results
def test_what_the_hub_would_not_take_is_not_written(
    hub: HubServer, run: Run, tmp_path: Path
) -> None:
    declare(hub, tmp_path / "newer", "tasks: [{id: vflute_rank}]")
    paths, reasons = hub_results.write([run], tmp_path / "model")
    assert [path.name for path in paths] == ["README.md"]
    reason = "eval.yaml of ColumbiaNLP/V-FLUTE names no value of vflute"
    assert reasons == {"V-FLUTE": reason}


@needs_eval_results
def test_without_the_hub_the_model_card_alone_is_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    result = commands.figlang("submit", "hub", run.path, "--repo", "a/b", "-o", tmp_path / "model")
    assert result.exit_code == 0
    assert "no .eval_results of V-FLUTE: eval.yaml of ColumbiaNLP/V-FLUTE" in result.stderr
    assert "HF_HUB_OFFLINE is set" in result.stderr
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["README.md"]


@needs_eval_results
def test_one_task_in_two_runs_is_refused(run: Run, tmp_path: Path) -> None:
    again = runs.read(str(write_run(tmp_path / "again", records(), results())))
    with pytest.raises(
        SubmissionError, match=r"vflute is in .*run.* and in .*again.*: give one of the two"
    ):
        hub_results.write([run, again], tmp_path / "model")


@needs_eval_results
def test_the_card_says_what_compare_says_of_a_baseline(run: Run, tmp_path: Path) -> None:
    wrong = [{**record, "predicted": 1 - record["gold"]} for record in records()]
    base = f"base={write_run(tmp_path / 'base', wrong)}"
    tuned = f"tuned={run.path}"
    commands.figlang("submit", "hub", tuned, "--baseline", base, "--repo", "a/b", "-o", tmp_path)
    verdict = commands.figlang("compare", base, tuned).stdout.splitlines()[-1]
    assert verdict.startswith("tuned is better than base on vflute: f1@0 +")
    assert f"- `{verdict}`" in (tmp_path / "README.md").read_text(encoding="utf-8")
    (sentence,) = verdicts_against(run, [run])
    assert sentence.startswith(
        "Cannot tell model from the baseline on vflute with 723 rows: f1@0 0.0, p = 1.000"
    )


SECTION = f"{model_card.BEGIN}\n\nnumbers\n\n{model_card.END}\n"


@given(before=st.text().filter(lambda text: "figlang_tasks" not in text), after=st.text())
def test_the_rest_of_a_readme_stays_as_it_is(before: str, after: str) -> None:
    once = model_card.place_section(SECTION, before)
    assert once.startswith(before)
    assert once.endswith(SECTION)
    assert model_card.place_section(SECTION, once) == once
    assert model_card.place_section(SECTION, None) == SECTION
    newer = SECTION.replace("numbers", "newer")
    followed = once + after.replace("figlang_tasks", "")
    assert model_card.place_section(newer, followed) == followed.replace(SECTION, newer)


def test_a_readme_with_damaged_marks() -> None:
    for readme in (
        model_card.BEGIN,
        model_card.END,
        SECTION * 2,
        f"{model_card.END}\n{model_card.BEGIN}",
    ):
        with pytest.raises(SubmissionError, match="are not one begin and one end"):
            model_card.place_section(SECTION, readme)


def test_what_a_run_says_of_itself_cannot_leave_the_section(tmp_path: Path) -> None:
    evil = "x` <!-- figlang_tasks: end --> <script>alert(1)</script>\n# Best model\x1b[31m"
    config = {"model": "hf", "model_args": evil}
    saved = results(config=config)
    saved["configs"]["vflute"]["metadata"] |= {
        "prompt_hash": "z" * 3000,
        "versions": {"lmms-eval": evil},
    }
    run = runs.read(str(write_run(tmp_path / "run", records(), saved)))
    section = model_card.make_section([run])
    assert section.count("<!-- figlang_tasks: end -->") == 1
    assert "\n# Best" not in section and "\x1b" not in section
    assert f"- prompt hash: `{'z' * 997}...`\n" in section
    for line in section.splitlines():
        if "<script>" in line:  # it stands in a code span
            assert line.count("`") % 2 == 0
            assert "`" in line.partition("<script>")[0]
    assert (
        model_card.place_section(section, model_card.place_section(section, "# Mine\n"))
        == f"# Mine\n\n{section}"
    )


@needs_eval_results
def test_the_command_writes_a_folder_and_says_how_to_upload_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = commands.figlang("submit", "hub", run.path, "--repo", "org/model")
    assert result.stdout.splitlines() == [
        "written: model/README.md",
        "written: model/.eval_results/V-FLUTE.yaml",
        "to upload as a pull request: hf upload org/model model . --create-pr",
    ]
    assert "README.md is new" in result.stderr
    readme = tmp_path / "model" / "README.md"
    section = readme.read_text(encoding="utf-8")
    before = "---\nlicense: mit\n---\n# A model\r\n\r\nIt models.\n"
    readme.write_bytes(before.encode())
    for _ in range(2):  # the second replaces the section of the first
        result = commands.figlang("submit", "hub", run.path, "--repo", "org/model")
        assert "README.md is new" not in result.stderr
        assert readme.read_bytes().decode() == f"{before}\n{section}"
    assert sorted(path.name for path in readme.parent.iterdir()) == [".eval_results", "README.md"]


@pytest.mark.parametrize("repo", ["mymodel", "a/b/c", "org/..", "org/"])
def test_what_is_no_repository_names_no_folder(
    repo: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    result = commands.figlang("submit", "hub", run.path, "--repo", repo)
    assert result.exit_code == 2
    assert repo == "org/" or "ORG/MODEL" in result.stderr or "Repo id" in result.stderr
    assert not [*tmp_path.rglob("README.md")]


# --- docs/upstream/eval: by these files of a dataset's owner the hub shows a leaderboard ---

FILES = sorted(EVAL_FILES.glob("*.yaml"))


def benchmarks_on_the_hub() -> dict[str, Benchmark]:
    """Benchmarks that may have a leaderboard on the hub, by the name of their dataset.

    A leaderboard has one configuration and one split of the data. Those of NYCC are means over
    five configurations, those of CII-Bench are over two splits, and those of YesBut are of stages,
    which the hub does not tell apart.
    """
    without_leaderboard = ("NYCC", "CII-Bench", "YesBut")
    on_the_hub: dict[str, Benchmark] = {}
    for benchmark in benchmarks().values():
        source = benchmark.source
        if source.repository and source.name not in without_leaderboard:
            on_the_hub[source.name] = benchmark
    return on_the_hub


ON_THE_HUB = benchmarks_on_the_hub()


def leaderboards(benchmark: Benchmark) -> set[str]:
    """What `figlang submit hub` calls the metrics that papers give figures of."""
    published = json.loads((benchmark.folder / "published.json").read_text(encoding="utf-8"))
    names: set[str] = set()
    for figure in published["records"]:
        tasks = figure["task"]
        if isinstance(tasks, str):
            tasks = [tasks]
        names.update(f"{task}_{figure['metric']}" for task in tasks)
    return names


def proposed_key() -> str:
    """The key that our pull request adds to the hub's list of evaluation frameworks."""
    patch = (ROOT / "docs" / "upstream" / "hub_evaluation_framework.patch").read_text()
    keys = re.findall(r'^\+\t"([\w-]+)": \{$', patch, re.MULTILINE)
    names = re.findall(r'^\+\t\tname: "([\w-]+)",$', patch, re.MULTILINE)
    assert keys == names
    (key,) = keys
    return key


def test_each_dataset_of_the_hub_has_one_and_the_proposal_names_it() -> None:
    assert [path.stem for path in FILES] == sorted(ON_THE_HUB)
    proposal = (ROOT / "docs" / "upstream" / "hub_evaluation_framework.patch").read_text()
    repositories = {source_of(path.stem).repository for path in FILES}
    assert set(re.findall(r"^\* `(.+)`", proposal, re.MULTILINE)) == repositories
    (listed,) = re.findall(r"`eval.yaml` for (.+?)\.", (ROOT / "docs" / "submit.md").read_text())
    assert set(re.split(", | and ", listed)) == {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_names_our_leaderboards_and_the_data_of_their_tasks(path: Path) -> None:
    """The form is that of https://huggingface.co/docs/hub/eval-results."""
    declaration = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert list(declaration) == ["name", "description", "evaluation_framework", "tasks"]
    assert declaration["name"] == path.stem
    assert declaration["evaluation_framework"] == proposed_key()
    ids = [task["id"] for task in declaration["tasks"]]
    assert len(ids) == len(set(ids))
    assert set(ids) <= leaderboards(ON_THE_HUB[path.stem])
    splits = source_of(path.stem).splits or {"test"}
    for task in declaration["tasks"]:
        assert set(task) <= {"id", "config", "split"}
        assert task["split"] in splits
        config = task.get("config", "default")
        if config != "default":
            content = task_file_of(task["id"]).read_text(encoding="utf-8")
            assert f"dataset_name: {path.stem},table={config}\n" in content


def task_file_of(leaderboard: str) -> Path:
    """The task file whose name, with a metric, is that of a leaderboard."""
    files = []
    for file in (ROOT / "task_yamls" / "lmms_eval").rglob("*.yaml"):
        prefix = f"{file.stem}_"
        if leaderboard.startswith(prefix):
            metric = leaderboard.removeprefix(prefix)
            if metric[:3] in ("acc", "p@k"):
                files.append(file)
    (file,) = files
    return file
