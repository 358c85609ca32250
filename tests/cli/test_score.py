"""``figlang score`` on real samples files, with the real scorer that needs no hub."""

from __future__ import annotations

import hashlib
import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.testing
import warm
from saved_samples import NAME, evaluated
from sklearn.metrics import f1_score

import figlang_tasks
import figlang_tasks.metrics.explanation
from figlang_tasks.cli.figlang import app
from figlang_tasks.metrics.explanation import compute, get_scorer
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.weights import locate
from figlang_tasks.scoring import from_json

STEM = NAME.removesuffix(".jsonl")
THRESHOLDS = {"f1@0": 0.0, "f1@53": 0.53, "f1@60": 0.60}
EMBEDDED = ("--scorer", "embedded")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The score cache, empty."""
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def samples_file(tmp_path: Path) -> Path:
    """What the harness wrote for the first 10 rows, in a run without a scorer."""
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / NAME
    path.write_bytes(first_lines(10))
    return path


def first_lines(count: int) -> bytes:
    return b"".join(line + b"\n" for line in evaluated()[0].split(b"\n")[:count])


def figlang(*arguments: str | Path) -> typer.testing.Result:
    return typer.testing.CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments: str | Path) -> str:
    """Standard output of a call that went well."""
    result = figlang(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str | Path) -> str:
    """The one line on standard error that a call ended with."""
    result = figlang(*arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    (line,) = result.stderr.splitlines()
    return line


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- what it writes --------------------------------------------------------------------------------------------------


def test_metrics_equal_scikit_learn_and_those_of_the_task(samples_file: Path) -> None:
    content, in_task = evaluated("embedded")
    samples_file.write_bytes(content)
    printed = done("score", samples_file, *EMBEDDED)
    report = json.loads((samples_file.parent / f"{STEM}.embedded.json").read_text())
    records = [line["sample"] for line in read_lines(samples_file.parent / f"{STEM}.embedded.jsonl")]
    found = from_json(report["measures"])
    for scope in ("all", *{record["report_group"] for record in records}):
        chosen = [record for record in records if scope in ("all", record["report_group"])]
        scores = np.array([record["explanation_scores"]["mean"] for record in chosen])
        expected = {"explanation_score": scores.mean()}
        gold = np.array([record["gold"] for record in chosen])
        for name, threshold in THRESHOLDS.items():
            right = np.array([record["predicted"] == record["gold"] for record in chosen]) & (scores > threshold)
            expected[name] = f1_score(gold, np.where(right, gold, 1 - gold), average="macro")
        for name, value in expected.items():
            estimate = found[name][scope]
            assert estimate.value == pytest.approx(value, abs=1e-12), name
            assert estimate.low is not None and estimate.high is not None and estimate.low <= value <= estimate.high
            assert scope != "all" or in_task[name] == pytest.approx(value, abs=1e-6), name
    assert list(found) == ["f1@0", "f1@53", "f1@60", "explanation_score", "acc", "parse_rate", "parse_disagreement"]
    assert report["n"] == 76
    assert report["without_explanation"] == 15
    assert report["samples"]["file"] == NAME
    assert report["signature"] == get_scorer("embedded", cache=False).signature
    for part in ("| all ", "| muse ", "f1@53", report["signature"], "without an explanation: 15 of 76", "written: "):
        assert part in printed
    assert f"{100 * found['f1@60']['all'].value:.1f} [" in printed


def test_lines_are_those_of_the_harness_with_the_scores_added(samples_file: Path) -> None:
    done("score", samples_file, *EMBEDDED)
    before = samples_file.read_bytes()
    after = []
    for line in read_lines(samples_file.parent / f"{STEM}.embedded.jsonl"):
        scores = line["sample"].pop("explanation_scores")
        assert scores.keys() == {"scorer", "bertscore", "mean"}
        assert scores["scorer"] == "embedded"
        after.append(json.dumps(line, ensure_ascii=False) + "\n")
    assert "".join(after).encode() == before == first_lines(10)
    assert names(samples_file.parent) == {NAME, f"{STEM}.embedded.jsonl", f"{STEM}.embedded.json"}


def test_texts_of_all_kinds(samples_file: Path) -> None:
    kinds = [None, "", " \n", "half a pair \ud800 of surrogates \udfff", "long " * 2000, "\x00\u2028\x85<b>", "🫖 茶"]
    lines = read_lines(samples_file)[: len(kinds)]
    for line, text in zip(lines, kinds, strict=True):
        line["sample"]["explanation"] = line["filtered_resps"] = text
    samples_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "without an explanation: 3 of 7" in done("score", samples_file, *EMBEDDED)
    scored = read_lines(samples_file.parent / f"{STEM}.embedded.jsonl")
    means = [line["sample"].pop("explanation_scores")["mean"] for line in scored]
    assert scored == lines
    assert means[:3] == [0, 0, 0]
    assert all(0 < mean < 1 for mean in means[3:])
    content = (samples_file.parent / f"{STEM}.embedded.jsonl").read_bytes()
    assert b"\\ud800" in content
    assert "🫖 茶".encode() in content


def test_a_second_run_gives_the_same_bytes_from_the_cache(samples_file: Path, cache: Path) -> None:
    done("score", samples_file, *EMBEDDED)
    first = {path: path.read_bytes() for path in samples_file.parent.iterdir()}
    stored = stored_scores(cache / "explanation")
    done("score", samples_file, *EMBEDDED)
    assert {path: path.read_bytes() for path in samples_file.parent.iterdir()} == first
    assert stored_scores(cache / "explanation") == stored != {}


def test_with_the_cache_switched_off_nothing_is_kept(
    samples_file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_CACHE", "off")
    done("score", samples_file, *EMBEDDED)
    assert names(samples_file.parent) == {NAME, f"{STEM}.embedded.jsonl", f"{STEM}.embedded.json"}
    assert not (cache / "explanation").exists()  # of scores; which kernel is the quicker one may stand beside it


def test_several_files_into_another_folder_as_json(samples_file: Path, tmp_path: Path) -> None:
    second = samples_file.with_name("second.jsonl")
    second.write_bytes(first_lines(5))
    printed = done("score", samples_file, second, *EMBEDDED, "--json", "--output-dir", tmp_path / "new" / "folder")
    reports = json.loads(printed)
    assert [report["path"] for report in reports] == [str(samples_file), str(second)]
    assert [report["n"] for report in reports] == [10, 5]
    assert names(samples_file.parent) == {NAME, "second.jsonl"}
    for report in reports:
        scored, metrics = map(Path, report.pop("written"))
        assert scored.parent == metrics.parent == tmp_path / "new" / "folder"
        assert len(read_lines(scored)) == report["n"]
        del report["path"]
        assert json.loads(metrics.read_text()) == report


@pytest.mark.slow
def test_names_tell_fast_and_other_models_apart(samples_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "choose", lambda dtype: "torch")  # bfloat16 on a processor without it, too
    assert "within .005 of a threshold, where fp32 may decide otherwise: " in done(
        "score", samples_file, *EMBEDDED, "--dtype", "fast"
    )
    done("score", samples_file, *EMBEDDED, "--bertscore-layer", "3")
    reports = {path.name: json.loads(path.read_text()) for path in samples_file.parent.glob("*.json")}
    assert len({report["signature"] for report in reports.values()}) == 2
    fast = reports.pop(f"{STEM}.embedded-fast.json")
    assert fast["dtype"] == "fast"
    assert 0 < fast["near_threshold"] <= 8  # of 10, 2 without a text: no rounding moves their 0
    assert all(name.startswith(f"{STEM}.embedded-") and len(name) == len(STEM) + 23 for name in reports)


def test_the_output_of_an_earlier_call_among_the_files_is_left_out(samples_file: Path) -> None:
    done("score", samples_file, *EMBEDDED)
    result = figlang("score", *sorted(samples_file.parent.glob("*.jsonl")), *EMBEDDED, "--bertscore-layer", "3")
    assert result.exit_code == 0
    assert f"{STEM}.embedded.jsonl is skipped" in result.stderr
    assert len(names(samples_file.parent)) == 5

    # Of a run that had the same scores the output is the same, byte for byte.
    output, report = (samples_file.with_name(f"{STEM}.embedded{ending}") for ending in (".jsonl", ".json"))
    content = json.loads(report.read_text())
    content["samples"]["sha256"] = hashlib.sha256(output.read_bytes()).hexdigest()
    report.write_text(json.dumps(content))
    alone = figlang("score", output, *EMBEDDED)
    assert alone.exit_code == 1 and "nothing is left to score: give the samples file" in alone.stderr


def test_the_demo_is_told_of_its_scorer(samples_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(samples_file.parent))
    found = figlang("score", samples_file)
    assert found.exit_code == 1 and "For figlang_mini use --scorer embedded" in found.stderr


def test_a_scored_file_can_be_scored_again(samples_file: Path) -> None:
    done("score", samples_file, *EMBEDDED)
    scored = samples_file.parent / f"{STEM}.embedded.jsonl"
    done("score", scored, *EMBEDDED, "--bertscore-layer", "3", "--output-dir", samples_file.parent / "again")
    (again,) = (samples_file.parent / "again").glob("*.jsonl")
    first, second = ([line["sample"]["explanation_scores"]["mean"] for line in read_lines(p)] for p in (scored, again))
    assert len(first) == len(second)
    assert first != second


def test_a_folder_and_a_results_file_stand_for_the_samples_of_a_run(samples_file: Path) -> None:
    run = samples_file.parent
    retrieval = {"id": "x", "data": "IRFL/simile-retrieval-task", "status": "read", "rule": "word", "value": 1.0}
    written(run / NAME.replace("figlang_mini", "irfl_retrieve"), [{"doc_id": 0, "sample": retrieval}])
    results = run / NAME.replace("samples_figlang_mini.jsonl", "results.json")
    results.write_text("{}")
    for given in (run, run.parent, results):  # also the folder above that of the model, as --output_path names it
        scored = figlang("score", given, *EMBEDDED)
        assert scored.exit_code == 0 and f"{STEM}.embedded.jsonl" in scored.stdout, scored.output
        assert "irfl_retrieve.jsonl, line 1 has no explanation to score" in scored.stderr
        assert "skipped" in scored.stderr
    newer = run / NAME.replace("2026-01-02", "2026-01-03")
    newer.write_bytes(first_lines(5))
    assert f"{newer.stem}.embedded.jsonl" in done("score", run, *EMBEDDED)
    newer.write_bytes(first_lines(5)[:-100])
    assert "line 5 is not JSON" in figlang("score", run, *EMBEDDED).stderr
    for path in (newer, samples_file):
        path.unlink()
    (run / NAME.replace("figlang_mini", "irfl_retrieve")).rename(
        run / "2026-01-04T00-00-00_samples_irfl_retrieve.jsonl"
    )
    told = figlang("score", run, *EMBEDDED)
    assert told.exit_code == 1 and f"{run}: there are no explanations to score" in told.stderr
    assert "there are no samples files in" in refused("score", run.parent / "cache", *EMBEDDED)
    assert "evaluate with --log_samples" in figlang("score", results, *EMBEDDED).stderr


# --- what it refuses -------------------------------------------------------------------------------------------------


def test_all_wrong_files_are_told_and_nothing_is_computed(samples_file: Path) -> None:
    broken, missing = samples_file.with_name("broken.jsonl"), samples_file.with_name("missing.jsonl")
    broken.write_bytes(samples_file.read_bytes()[:-100])
    script = (
        "import sys\nfrom figlang_tasks.cli.figlang import main\n"
        "try:\n    main()\nfinally:\n    print('torch' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, "score", samples_file, broken, missing, *EMBEDDED],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stdout == "False\n"
    first, second = result.stderr.splitlines()
    assert "broken.jsonl, line 10 is not JSON" in first
    assert "missing.jsonl cannot be read" in second
    assert names(samples_file.parent) == {NAME, "broken.jsonl"}


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_a_file_of_somebody_else_is_not_replaced(ending: str, samples_file: Path) -> None:
    theirs = samples_file.parent / f"{STEM}.embedded.{ending}"
    theirs.write_text('{"samples": "mine"}')
    line = refused("score", samples_file, *EMBEDDED)
    assert f"{theirs} exists and was not made" in line
    assert "--output-dir" in line
    assert theirs.read_text() == '{"samples": "mine"}'
    assert names(samples_file.parent) == {NAME, theirs.name}


def test_the_scores_of_other_samples_of_that_name_are_not_replaced(samples_file: Path) -> None:
    done("score", samples_file, *EMBEDDED)
    before = (samples_file.parent / f"{STEM}.embedded.jsonl").read_bytes()
    samples_file.write_bytes(samples_file.read_bytes().replace(b"picture", b"image"))
    assert "was not made from this" in refused("score", samples_file, *EMBEDDED)
    assert (samples_file.parent / f"{STEM}.embedded.jsonl").read_bytes() == before


def test_files_that_would_be_written_to_one_place(samples_file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / NAME
    other.write_bytes(first_lines(5))
    line = refused("score", samples_file, other, *EMBEDDED, "--output-dir", tmp_path / "new")
    assert f"{samples_file} and {other} would both be written to" in line
    assert f"{samples_file} and {samples_file} would both" in refused("score", samples_file, samples_file, *EMBEDDED)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scorer", "vflute26"), "unknown scorer 'vflute26'; valid: vflute25"),
        (("--scorer", "vflute25"), "deberta-xlarge-mnli holds no weights"),
        ((*EMBEDDED, "--bertscore-layer", "9"), "has layers 1 to 6, not 9"),
        ((*EMBEDDED, "--bertscore-model", "nowhere"), "neither a folder nor a hub repository"),
        ((*EMBEDDED, "--bleurt-model", "a/b"), "has no BLEURT in it"),
        ((*EMBEDDED, "--output-dir", __file__), "test_score.py: File exists"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    options: tuple[str, ...], message: str, samples_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "weights" / "deberta-xlarge-mnli").mkdir(parents=True)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path / "weights"))
    locate.cache_clear()
    line = refused("score", samples_file, *options)
    assert line.startswith("figlang score: ")
    assert message in line
    assert names(samples_file.parent) == {NAME}


@pytest.mark.parametrize(
    "options",
    [
        ("--cache", "c", "--no-cache"),
        ("--dtype", "fp8"),
        ("--colour",),
    ],
)
def test_wrong_usage(options: tuple[str, ...], samples_file: Path) -> None:
    assert figlang("score", samples_file, *options).exit_code == 2
    assert figlang("score").exit_code == 2


def test_a_full_disk_leaves_the_old_output_whole(samples_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done("score", samples_file, *EMBEDDED)
    before = {path: path.read_bytes() for path in samples_file.parent.iterdir()}
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> None:
        write_bytes(path, content[:100])
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert refused("score", samples_file, *EMBEDDED).endswith("No space left on device")
    assert {path: path.read_bytes() for path in samples_file.parent.iterdir()} == before


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_help_and_version_are_quick_and_have_examples() -> None:
    subprocess.run(
        [sys.executable, "-c", "import figlang_tasks.cli.figlang, sys; assert 'torch' not in sys.modules"], check=True
    )
    assert done("--version") == f"figlang_tasks {figlang_tasks.__version__}\n"
    assert "figlang score results/*/*_samples_vflute.jsonl" in done("--help")
    help_text = done("score", "--help")
    assert "figlang score run.jsonl --scorer figlang24 --dtype fast" in help_text
    assert "lm_eval wrote with" in " ".join(help_text.split())


# --- a kill ----------------------------------------------------------------------------------------------------------

ROWS = 240
IN_SMALL_BATCHES = """
from figlang_tasks.cli.figlang import main
from figlang_tasks.metrics.explanation import compute
compute._CPU_TOKENS = 96
main()
"""


def stored_scores(cache: Path) -> dict[str, float]:
    """Time of storing of each score in a cache folder, by key."""
    database = cache / "scores" / "cache.db"
    if not database.is_file():
        return {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=600)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'").fetchone():
            return {}
        return dict(connection.execute("SELECT key, store_time FROM Cache"))


@pytest.fixture
def many_rows() -> bytes:
    """So many that a run can be killed between two of them, all texts different."""
    draw = random.Random(0)
    words = "the a lawyer shark kettle cold slow bright is of on under like winter bridge says cruel never".split()
    pattern = json.loads(first_lines(1))
    del pattern["input_media"]
    lines = []
    for number in range(ROWS):
        reference, explanation = (f"{number} {' '.join(draw.choices(words, k=draw.randint(2, 6)))}" for _ in range(2))
        changes = {"id": f"muse-test-{number}", "reference": reference, "explanation": explanation}
        lines.append(json.dumps(pattern | {"sample": pattern["sample"] | changes}) + "\n")
    return "".join(lines).encode()


@pytest.mark.slow
def test_a_killed_run_is_taken_up_where_it_was(many_rows: bytes, tmp_path: Path) -> None:
    def start(name: str) -> warm.Process:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "many.jsonl").write_bytes(many_rows)
        options = [f"{name}/many.jsonl", *EMBEDDED, "--cache", f"{name} cache"]
        return warm.Process([sys.executable, "-c", IN_SMALL_BATCHES, "score", *options], cwd=tmp_path)

    def finish(process: warm.Process) -> None:
        errors = process.communicate(timeout=600)[1]
        assert process.returncode == 0, errors

    finish(start("whole"))
    process = start("killed")
    deadline = time.monotonic() + 120
    while len(stored_scores(tmp_path / "killed cache")) < 60 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    at_the_kill = stored_scores(tmp_path / "killed cache")
    assert 60 <= len(at_the_kill) < ROWS
    assert names(tmp_path / "killed") == {"many.jsonl"}
    (tmp_path / "killed" / ".many.embedded.jsonl.4711.tmp").write_text("what a kill while writing leaves")

    finish(start("killed"))
    in_the_end = stored_scores(tmp_path / "killed cache")
    assert len(in_the_end) == ROWS
    assert at_the_kill.items() <= in_the_end.items(), "nothing was computed and stored a second time"
    assert (
        names(tmp_path / "killed")
        == names(tmp_path / "whole")
        == {"many.jsonl", "many.embedded.jsonl", "many.embedded.json"}
    )
    for name in names(tmp_path / "whole"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.slow
def test_without_the_cache_a_stopped_run_is_taken_up_as_well(
    samples_file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("score", samples_file, *EMBEDDED, "--no-cache")
    monkeypatch.setattr(compute, "_CPU_TOKENS", 16)
    done(*command, "--output-dir", samples_file.parent / "whole")
    stored: list[set[tuple[str, str]]] = []
    store, stop_after = ScoreCache.store, 3

    def store_or_stop(own: ScoreCache, model: str, scores: Any, embeddings: Any) -> None:
        if len(stored) == stop_after:
            raise KeyboardInterrupt
        stored.append(set(scores))
        store(own, model, scores, embeddings)

    monkeypatch.setattr(ScoreCache, "store", store_or_stop)
    assert figlang(*command).exit_code == 130
    assert names(samples_file.parent) == {NAME, "whole", f".{STEM}.embedded.partial"}
    at_the_stop = stored_scores(samples_file.parent / f".{STEM}.embedded.partial")

    stop_after = 1000
    done(*command)
    first, second = set.union(*stored[:3]), set.union(*stored[3:])
    assert len(first) == len(at_the_stop) > 0
    assert second and not first & second
    assert names(samples_file.parent) == {NAME, "whole"} | names(samples_file.parent / "whole")
    for name in names(samples_file.parent / "whole"):
        assert (samples_file.parent / name).read_bytes() == (samples_file.parent / "whole" / name).read_bytes(), name
    assert not (cache / "explanation").exists()  # of scores; which kernel is the quicker one may stand beside it


# --- FLUTE -----------------------------------------------------------------------------------------------------------


def flute_lines(explained: str) -> list[dict[str, Any]]:
    """Records as the FLUTE tasks write them, of both labels and two types."""
    lines = []
    for number in range(12):
        gold = number % 2
        record = {
            "id": f"simile-{number}-00000000",
            "data": "FLUTE/heldout:0123456789ab",
            "gold": gold,
            "predicted": (gold, gold, 1 - gold, None)[number // 3],
            "explanation": ("The lawyer has fins.", "A storm is near.", None)[number % 3],
            "status": "read",
            "rule": "released-entails",
            "predicted_strict": gold,
            "report_group": "simile" if number < 8 else "sarcasm",
            "reference": "The lawyer has fins.",
            "unit": f"simile-{number}-00000000",
            "explained": explained,
            "revision": "local",
        }
        lines.append({"doc_id": number, "sample": record})
    return lines


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_nothing_to_explain_is_no_traceback(tmp_path: Path) -> None:
    """Of the paper's first version entailments need no explanation; and a dataset of the user's own is none of ours."""
    lines = [line for line in flute_lines("contradiction") if line["sample"]["gold"] == 1]
    for line in lines:
        line["sample"]["data"] = "Mine/test:0123456789ab"
    path = written(tmp_path / "samples_mine_2026-01-02T03-04-05.123456.jsonl", lines)
    assert "without an explanation: 0 of 0" in done("score", path, *EMBEDDED)
    found = from_json(json.loads(path.with_suffix(".embedded.json").read_text())["measures"])
    assert "explanation_score" not in found and found["acc@60"]["all"] == found["acc"]["all"]


@pytest.mark.parametrize("explained", ["all", "contradiction"])
def test_flute_samples_get_the_accuracies_of_their_definition(explained: str, tmp_path: Path) -> None:
    path = written(tmp_path / "samples_flute_2026-01-02T03-04-05.123456.jsonl", flute_lines(explained))
    printed = done("score", path, *EMBEDDED)
    report = json.loads(path.with_suffix(".embedded.json").read_text())
    scored = [line["sample"] for line in read_lines(path.with_suffix(".embedded.jsonl"))]
    assert (report["task"], report["n"]) == ("flute", 12)
    found = from_json(report["measures"])
    for scope in ("all", "simile", "sarcasm", "paraphrase_sarcasm"):
        chosen = [record for record in scored if scope.rpartition("_")[2] in ("all", record["report_group"])]
        right = [record for record in chosen if record["predicted"] == record["gold"]]
        assert found["acc@0"][scope].value == pytest.approx(len(right) / len(chosen))
        for k in (50, 60):
            above = [r for r in right if r.get("explanation_scores", {"mean": 0})["mean"] > k / 100]
            v1 = sum(r["gold"] == 1 for r in right) + sum(r["gold"] == 0 for r in above)
            own = len(above) if explained == "all" else v1
            assert found[f"acc@{k}"][scope].value == pytest.approx(own / len(chosen))
            if explained == "all":
                assert found[f"v1_acc@{k}"][scope].value == pytest.approx(v1 / len(chosen))
    assert report["thresholds"]["acc@60"] == 0.6
    unscored = [record for record in scored if "explanation_scores" not in record]
    if explained == "all":
        assert not unscored and "without an explanation: 4 of 12" in printed
    else:
        assert [record["gold"] for record in unscored] == [1] * 6 and "without an explanation: 2 of 6" in printed
    assert "| paraphrase_sarcasm " in printed and "acc@50" in printed


@pytest.mark.parametrize(
    "record",
    [
        {"question": "mc", "gold": {"MC": 1}, "predicted": {"MC": 0}, "predicted_strict": None},
        {"question": "sc", "gold": "B", "predicted": ["A"]},
        {"question": "retrieve", "answer_text": "x", "rank": 3},
    ],
    ids=["NYK-MS", "choices", "ranks"],
)
def test_samples_of_tasks_without_explanations_are_told_apart_from_damaged_ones(
    record: dict[str, Any], tmp_path: Path
) -> None:
    lines = [{"doc_id": 0, "sample": {"id": "x", "data": "d:0", "status": "read", "rule": "yes"} | record}]
    line = refused("score", written(tmp_path / "2026_samples_nykms_mc.jsonl", lines), *EMBEDDED)
    assert "line 1 has no explanation to score" in line and "a file of the task nykms_mc?" in line
    assert "restore the file" not in line


def test_without_a_name_the_papers_scorer_is_taken(
    samples_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def get_nothing(name: str, **options: Any) -> None:
        asked.append(name)
        raise ValueError("enough")

    monkeypatch.setattr(figlang_tasks.metrics.explanation, "get_scorer", get_nothing)
    flute = written(tmp_path / "flute.jsonl", flute_lines("all"))
    for file in (flute, samples_file):
        refused("score", file)
    assert asked == ["flute22", "vflute25"]
    line = refused("score", samples_file, flute)
    assert f"the papers' scorers differ (vflute25 for {samples_file}, flute22 for {flute})" in line
    assert "give --scorer" in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"explained": "some"}, "`sample` has explained='some', which no task of figlang_tasks writes"),
        ({"explained": "contradiction"}, "mixes rows that are scored in different ways: all .11 rows., contradiction"),
        ({"revision": None}, "revision=None, must be a text"),
    ],
)
def test_flute_samples_that_are_damaged(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    lines = flute_lines("all")
    lines[4]["sample"].update(change)
    assert re.search(message, refused("score", written(tmp_path / "flute.jsonl", lines), *EMBEDDED))
