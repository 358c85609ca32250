"""Every command in the documents runs, or the table below says why it does not and its options are checked."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
import typer.main
import warm
from benchmarks.nycc import release
from docs.documents import DOCUMENTS, ROOT, blocks, prose
from submit.published import WRITES_EVAL_RESULTS

from figlang_tasks import models
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.mini import DEMO_MODEL_DIR

PROGRAMS = ("lmms_eval", "lm_eval", "figlang")
PLACEHOLDERS = {"TASK", "my_vlm", "NAME"}

# --- the table -------------------------------------------------------------------------------------------------------

ELSEWHERE = {
    "after_a_run.md": "tests/test_after_a_run.py",
    "adding_a_vlm.md": "tests/test_docs.py",
    "finetuning.md": "tests/docs/test_finetuning.py",
    "CONTRIBUTING.md": "tests/docs/test_contributing.py",
}
"""Documents whose commands make one sequence that another test runs."""

NOT_RUN = {
    r"make (?!.*>)": "sets up an environment, for minutes: .ci/run runs these targets",
    r"(\.venv/bin/)?python (tools|benchmarks)/": "a script of the repository, with tests of its own",
    r"(git clone|python3 -m venv) ": "a checkout and its environment: .ci/run makes both",
    r"pip install ": "downloads: .ci/run installs the wheel",
    r"figlang train nykms|lmms_eval --tasks nykms_mc_test ": "trains encoders of 0.8 GB: tests/benchmarks/nykms",
    r"figlang data prefetch": "downloads: tests/cli/test_data.py runs it against a local hub",
    r"torchrun ": "several processes: tests/test_processes.py and tests/test_end_to_end.py start them",
    r"vllm serve |python -m sglang\.": "a server that needs a GPU",
    r"lmms_eval .*--model (vllm|sglang) ": "an engine that needs a GPU",
    r"lmms_eval .*(device_map=auto|load_in_4bit)": "needs one GPU or several",
    r"figlang submit hub .*--push": "uploads: tests/cli/test_submit.py runs it against a local hub",
    r"lmms_eval .*admire|figlang (submit admire|data check admire|compare .*admire)": "data that users bring: "
    "tests/benchmarks/admire runs them",
    r"python -m [\w.]+\.metaclue\.generate score ": "needs 300 pictures and the weights of two networks",
}
if not WRITES_EVAL_RESULTS:
    NOT_RUN[r"figlang submit hub "] = "needs huggingface_hub 2.0, which transformers 4 does not take"
"""Lines that are not run, by how they begin, and why."""

DEMO, CLIP, LANGUAGE, SERVER, JUDGE = "@DEMO@", "@CLIP@", "@LANGUAGE@", "@SERVER@", "@JUDGE@"
CHANGES = [
    # what is written, what is run instead, why
    (r"(?<=pretrained=)Qwen/Qwen(2\.5|3)-VL-\dB-Instruct", DEMO, "a model of 15 GB"),
    (r"(?<=pretrained=)(llava-hf|OpenGVLab)/[\w.-]+-hf", DEMO, "a model of 15 GB"),
    (r"(?<=pretrained=)google/gemma-3-4b-it", DEMO, "a gated model of 9 GB"),
    (r"(?<=pretrained=)HuggingFaceTB/SmolVLM2-2\.2B-Instruct", DEMO, "a model of 9 GB"),
    (r"(?<=pretrained=)meta-llama/Llama-3\.2-11B-Vision-Instruct", DEMO, "a gated model of 21 GB"),
    (r"--model llava(?= )(?!.*pretrained)", f"--model llava --model_args pretrained={DEMO}", "its default is 14 GB"),
    (r"--model qwen2_5_vl\b", "--model figlang_vlm", "the demo model is of another architecture"),
    (r"(?<=pretrained=)openai/clip-vit-\w+-patch\d+(-\d+)?", CLIP, "a model of .6 GB and more"),
    (r"(?<=pretrained=)(Qwen/Qwen2\.5-7B-Instruct|MODEL|\.\.\.)", LANGUAGE, "a language model, or the user's own"),
    (
        r"model(_version)?=(Qwen/Qwen2\.5-VL-72?B-Instruct|gpt-4o),",
        rf"model\1=demo_model,base_url={SERVER},",
        "a server",
    ),
    (r",base_url=http://localhost:\d+/v1", "", "the same server"),
    (r"(?<=OPENAI_BASE_URL=)http://localhost:8000/v1", JUDGE, "a judge"),
    (r"--model (gpt-4o|Qwen/Qwen2\.5-VL-7B-Instruct)(?= -o)", "--model judge-1", "a judge"),
    (
        r"--tasks TASK\b",
        "--tasks match_the --include_path tasks",
        "a task that asks for scores, in words that the demo says",
    ),
    (
        r"(?<=--tasks )irfl_detect(?= )",
        "figlang_mini_irfl_detect_idiom",
        "pictures of 1.7 GB: one of them on ours",
    ),
    (
        r"figlang train irfl (?!--dataset)(.*?)(--table \S+ )?--output",
        r"figlang train irfl --dataset figlang_mini_irfl --table metaphor-retrieval-task --epochs 1 \1--output",
        "pictures of 1.7 GB: on ours, whose idioms are all tested",
    ),
    (r"(?<=figlang train irfl )", f"--encoder {CLIP} ", "a model of .6 GB"),
    (
        r"--tasks irfl_\w+(?= --model figlang_probe)",
        "--tasks figlang_mini_irfl_retrieve_metaphor --limit 6",
        "pictures of 1.7 GB: what the probe was trained for, a whole row",
    ),
    (r"(?<=--tasks )irfl_(\w+)(,irfl_(\w+))?", r"figlang_mini_irfl_\1", "pictures of 1.7 GB: the same tasks on ours"),
    (r"--scorer vflute25", "--scorer embedded", "weights of 5 GB"),
    (r"^figlang-score ", "python -m figlang_tasks.metrics.explanation ", "a script of figlang-metrics"),
    (r"(figlang score (?!.*--scorer).*)", r"\1 --scorer embedded", "weights of 5 GB"),
    (
        r"(submit (?:hub|every-eval-ever)) results/MODEL",
        r"\1 results/base",
        "the runs of other tasks in MODEL have no metrics",
    ),
    (r"score2024 figlang2024\.zip", "score2024 figlang2024.zip --scorer embedded", "weights of 1.5 GB"),
    (r"^(figlang doctor)\b(.*)", r"\1 --offline\2 || test $? = 1", "tells what the machine lacks"),
    (r"(judge export (?!--task).*)", r"\1 --n 12", "the judge is asked about each"),
    (r"(irfl\.generate \S+).*", r"\1 --dataset figlang_mini_irfl --idioms 2", "the table is on the hub: ours"),
    (r"^# \.\.\. generate the pictures .*", "python draw.py", "a generator"),
    (r"^# \.\.\. each annotator fills in .*", "python fill.py", "people"),
    (r"^# \.\.\. both fill in their sheet \.\.\.", "python fill.py", "people"),
    (
        r"^((?:\w+=\S+ )*lmms_eval (?!.*--limit)(?!.*gen_kwargs).*)",
        r"\1 --limit 2 --gen_kwargs max_new_tokens=8",
        "time",
    ),
    (r"^((?:\w+=\S+ )*lm_eval (?!.*--limit).*)", r"\1 --limit 2 --gen_kwargs max_gen_toks=8", "time"),
    (r"^(lmms_eval .*metaclue_caption.*)", r"\1 || test $? = 1", "METEOR and SPICE, promised by the task, need Java"),
]
"""What is changed in a line before it is run."""

# --- reading the documents -------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A command with all its continuation lines, as it is typed."""

    document: str
    number: int
    text: str

    @property
    def words(self) -> list[str]:
        """Of the command itself, without variables before it and redirections behind it."""
        words = shlex.split(self.text, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        return [word for word in words[: words.index(">")]] if ">" in words else words

    @property
    def reason(self) -> str | None:
        """Why it is not run."""
        command = re.sub(r"^([A-Z_]+=\S+ )+", "", self.text)
        return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, command)), None)


def scripts(path: Path) -> Iterator[list[Line]]:
    """The lines of each block of commands, comments among them."""
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language == "sh":
            texts = re.sub(r"\\\n\s*", "", block.text).splitlines()
            yield [Line(path.name, block.line, text) for text in texts if text.strip()]


def commands(path: Path) -> list[Line]:
    return [line for script in scripts(path) for line in script if line.words]


def inline_commands(path: Path) -> list[Line]:
    """What prose names in passing: ``figlang data check metaclue``."""
    text = prose(path.read_text(encoding="utf-8"))
    found = re.findall(rf"`((?:[A-Z_]+=\S+ )*(?:{'|'.join(PROGRAMS)}) [^`]+)`", text)
    return [Line(path.name, 0, " ".join(each.split())) for each in found]


EVERY = [line for path in DOCUMENTS for line in commands(path)]

# --- quick: each line can be parsed ----------------------------------------------------------------------------------


@cache
def options_of_lmms_eval() -> dict[str, argparse.Action]:
    return _options("lmms_eval.__main__", "parse_eval_args")


@cache
def options_of_lm_eval() -> dict[str, argparse.Action]:
    return _options("lm_eval.__main__", "cli_evaluate")


class _Stop(Exception):
    pass


def _options(module: str, function: str) -> dict[str, argparse.Action]:
    """The options that a harness's own parser takes: it is caught when it begins to parse."""
    found: dict[str, argparse.Action] = {}

    def stop(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        pending = [parser]
        while pending:
            for action in pending.pop()._actions:
                found.update(dict.fromkeys(action.option_strings, action))
                if isinstance(action, argparse._SubParsersAction):
                    pending += action.choices.values()
        raise _Stop

    with patch.object(argparse.ArgumentParser, "parse_args", stop), pytest.raises(_Stop):
        with patch.object(argparse.ArgumentParser, "parse_known_args", stop):
            getattr(importlib.import_module(module), function)()
    return found


@cache
def figlang() -> Any:
    """``figlang`` with all its commands."""
    return typer.main.get_command(app)


def check_figlang(words: list[str]) -> None:
    command = figlang()
    while words and hasattr(command, "list_commands"):
        if words[0].startswith("-"):
            break
        name = words.pop(0)
        if set(name) <= set("|"):
            continue
        alternatives = name.split("|")
        context = typer.Context(command)
        assert set(alternatives) <= set(command.list_commands(context)), f"figlang has no {name}"
        command = command.get_command(context, alternatives[0])
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
    for word in words:
        if re.match(r"--?[a-zA-Z]", word):
            assert word.partition("=")[0] in known, f"{command.name} has no option {word}"


def check_harness(words: list[str], options: dict[str, argparse.Action], harness: str) -> None:
    given: dict[str, str] = {}
    for place, word in enumerate(words):
        if word.startswith("--"):
            assert word in options, f"{harness} has no option {word}"
            given[word] = words[place + 1] if place + 1 < len(words) else ""
    known = known_tasks(harness)
    for name in filter(None, given.get("--tasks", "").split(",")):
        assert name in known | PLACEHOLDERS | {"emblems", "list"} or "..." in name, f"{harness} has no task {name}"
    if harness == "lmms_eval" and (model := given.get("--model")):
        assert model in known_models() | PLACEHOLDERS, f"there is no model class {model}"


@cache
def known_tasks(harness: str) -> set[str]:
    return {name for name, each in definitions().items() if harness in each.harnesses}


@cache
def known_models() -> set[str]:
    import lmms_eval.models

    ours = {manifest.model_id for manifest in models.manifests()}
    return ours | set(lmms_eval.models.list_available_models(include_aliases=True))


def check(line: Line) -> None:
    """Check that a command could be parsed, as far as that can be told without running it.

    Raises:
        AssertionError: it could not.
    """
    program, *words = line.words
    words = [word for word in words if word not in ("...", "ID")]
    if program == "figlang":
        check_figlang(words)
    elif program == "lmms_eval":
        if words and not words[0].startswith("-"):
            assert words[0] in ("tasks", "models", "eval"), line.text
        else:
            check_harness(words, options_of_lmms_eval(), "lmms_eval")
    elif program == "lm_eval":
        check_harness(words, options_of_lm_eval(), "lm_eval")
    elif program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert {word for word in words if "=" not in word} - {"-c"} <= targets, line.text
    elif program == "python" and words[:1] == ["-m"] and words[1].startswith("figlang_tasks"):
        spec = importlib.util.find_spec(words[1])
        assert spec is not None and spec.origin is not None
        source = Path(spec.origin).read_text(encoding="utf-8")
        assert all(f'"{word}"' in source for word in words if word.startswith("--")), line.text


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_can_be_parsed(path: Path) -> None:
    for line in commands(path) + inline_commands(path):
        try:
            check(line)
        except AssertionError as error:
            raise AssertionError(f"{line.document}, block of line {line.number}: {line.text}\n{error}") from error


@pytest.mark.parametrize(
    "text",
    [
        "figlang comparison a b",
        "figlang compare a b --papers",
        "figlang submit figlang25 run",
        "lmms_eval --tasks vflut --model llava_hf",
        "lmms_eval --tasks vflute --model lava_hf",
        "lmms_eval --task vflute",
        "lm_eval --tasks irfl_match --model hf",
        "make tests",
        "python -m figlang_tasks.benchmarks.metaclue.generate score x --prompt y",
    ],
)
def test_a_command_that_could_not_be_parsed_is_found(text: str) -> None:
    with pytest.raises(AssertionError):
        check(Line("", 0, text))


def test_nothing_in_the_table_is_out_of_date() -> None:
    texts = [re.sub(r"^([A-Z_]+=\S+ )+", "", line.text) for line in EVERY]
    unused = [pattern for pattern in NOT_RUN if not any(re.match(pattern, text) for text in texts)]
    lines = [
        line.text for path in DOCUMENTS if path.name not in ELSEWHERE for script in scripts(path) for line in script
    ]
    unused += [pattern for pattern, _, _ in CHANGES if not any(re.search(pattern, text) for text in lines)]
    assert not unused, "no document has these any more"


@pytest.mark.parametrize(("document", "test"), ELSEWHERE.items())
def test_documents_that_another_test_runs_are_named_there(document: str, test: str) -> None:
    assert document in (ROOT / test).read_text(encoding="utf-8")


def test_the_first_lines_of_the_readme_make_a_checkout(tmp_path: Path) -> None:
    """A reader puts an address into one line, and pastes all."""
    origin = tmp_path / "origin"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(origin)]
    for command in (["git", "init", "-q", str(origin)], [*git, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(command, check=True)
    pasted = next(scripts(ROOT / "README.md"))[:2]
    script, changed = re.subn(r"(?m)^REPOSITORY=\S+$", f"REPOSITORY={origin}", "\n".join(each.text for each in pasted))
    assert changed == 1
    subprocess.run(["sh", "-ec", f"{script}\ntest -d ../figlang_tasks/.git"], cwd=tmp_path, check=True)


# --- slow: each line runs --------------------------------------------------------------------------------------------


class World(NamedTuple):
    """What commands find: models, servers and data in place of those that are not available."""

    folder: Path
    values: dict[str, str]
    environment: dict[str, str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    from docs import stand_ins

    folder = tmp_path_factory.mktemp("world")
    with ExitStack() as stack:
        bin_dir = write_programs(folder / "bin")
        server = stack.enter_context(stand_ins.model_server())
        judge = stack.enter_context(stand_ins.judge_server())
        stand_ins.write_data(folder / "data")
        values = {
            DEMO: str(DEMO_MODEL_DIR),
            CLIP: str(stand_ins.write_clip(folder / "clip")),
            LANGUAGE: f"{stand_ins.write_language_model(folder / 'language')},dtype=float32",
            SERVER: server.url,
            JUDGE: judge.url,
        }
        environment = {
            **{
                "PATH": str(bin_dir),
                "HF_HUB_OFFLINE": "1",
            },  # no Java: METEOR would start it for every part of a caption
            **{"CUDA_VISIBLE_DEVICES": "", "FIGLANG_SCORER": "embedded", "FIGLANG_DATA_DIR": str(folder / "data")},
            **{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": judge.url},
        }
        yield World(folder, values, os.environ | environment)


def write_programs(folder: Path) -> Path:
    """Write the programs of the documents, and return their folder."""
    warm.write_programs(folder, *PROGRAMS, "python")
    for name in ("sh", "grep"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def prepared(line: Line, world: World) -> str:
    """What is run for a line."""
    if line.words and line.reason:
        return f": not run, {line.reason}"
    text = line.text
    for pattern, instead, _ in CHANGES:
        text = re.sub(pattern, instead, re.sub(r"\s+#\s.*$", "", text))
    for name, value in world.values.items():
        text = text.replace(name, value)
    return text


def run(script: str, folder: Path, world: World) -> None:
    done = subprocess.run(
        ["sh", "-exc", script], cwd=folder, env=world.environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def _copy(samples: Path, folder: Path, task: str = "vflute") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(samples, folder / samples.name.replace("samples_vflute", f"samples_{task}"))


def _saved_runs(folder: Path, world: World) -> None:
    """Whole runs of figlang_random on V-FLUTE, with two seeds, under the names that the documents give to runs."""
    made = world.folder / "made"
    if not made.is_dir():
        made.mkdir()
        whole = "FIGLANG_SCORER=off lmms_eval --tasks vflute --model figlang_random --log_samples --output_path"
        run(f"{whole} first\n{whole} second --model_args seed=2", made, world)
    (first,) = (made / "first").rglob("*_samples_vflute.jsonl")
    (second,) = (made / "second").rglob("*_samples_vflute.jsonl")
    for name in ("a", "results/MODEL", "results/base", "results/my_model"):
        _copy(first, folder / name)
    _copy(second, folder / "b", "vflute_5shot")
    _copy(second, folder / "results/tuned")
    shutil.copyfile(first, folder / "run_samples_vflute.jsonl")


def _for_submit(folder: Path, world: World) -> None:
    from docs import stand_ins

    _saved_runs(folder, world)
    (path,) = (world.folder / "made/first").rglob("*_results.json")
    results = json.loads(path.read_text())
    results["config"]["model_args"] = "pretrained=ORG/MODEL"  # as of a model of the hub
    (folder / "results/base" / path.name).write_text(json.dumps(results))
    stand_ins.add_irfl_run(folder / "results/MODEL")
    _codalab_run(folder, world)


def _codalab_run(folder: Path, world: World) -> None:
    run("lmms_eval --tasks flute_codalab --model figlang_random --log_samples --output_path codalab", folder, world)
    (folder / "results/MODEL").mkdir(parents=True, exist_ok=True)
    (samples,) = (folder / "codalab").rglob("*_samples_flute_codalab.jsonl")
    shutil.copyfile(samples, folder / "results/MODEL" / samples.name)


def _for_judge(folder: Path, world: World) -> None:
    _saved_runs(folder, world)
    (folder / "fill.py").write_text(
        "import csv, pathlib\n"
        "for path in pathlib.Path('human').glob('sheet.annotator*.csv'):\n"
        "    rows = list(csv.DictReader(path.open(encoding='utf-8-sig', newline='')))\n"
        "    for row in rows:\n"
        "        row |= {'label': 'entailment', 'adequate': 'yes', 'preferred': 'none'}\n"
        "    with path.open('w', encoding='utf-8-sig', newline='') as file:\n"
        "        writer = csv.DictWriter(file, list(rows[0]))\n"
        "        writer.writeheader()\n"
        "        writer.writerows(rows)\n"
    )


def _for_irfl(folder: Path, world: World) -> None:
    (folder / "draw.py").write_text(
        "import json, pathlib\n"
        "from PIL import Image\n"
        "for path in pathlib.Path().glob('*/prompts.jsonl'):\n"
        "    for line in path.read_text().splitlines():\n"
        "        Image.new('RGB', (8, 8)).save(path.parent / json.loads(line)['file'])\n"
    )
    (folder / "fill.py").write_text(
        "import pathlib, pandas\n"
        "for path in pathlib.Path('human').glob('pictures.annotator*.csv'):\n"
        "    frame = pandas.read_csv(path, dtype=str, encoding='utf-8-sig')\n"
        "    frame['category'] = 'fl'\n"
        "    frame.to_csv(path, index=False)\n"
    )


def _for_explanation_score(folder: Path, world: World) -> None:
    run("lmms_eval --tasks vflute --model figlang_random --limit 4 --log_samples --output_path made", folder, world)
    (samples,) = (folder / "made").rglob("*_samples_vflute.jsonl")
    (folder / "results/MODEL").mkdir(parents=True)
    shutil.copyfile(samples, folder / "results/MODEL/DATE_samples_vflute.jsonl")
    for name in ("refs.txt", "hyps.txt"):
        (folder / name).write_text("He is calm.\nThe lawyer has fins.\n")
    (folder / "pairs.csv").write_text("gold,output\nHe is calm.,He is a storm.\n")


def _for_model_classes(folder: Path, world: World) -> None:
    run(
        "lmms_eval --tasks vflute --model figlang_random --limit 2 --log_samples --output_path results/my_run",
        folder,
        world,
    )
    (folder / "tasks").mkdir()
    (folder / "tasks/match_the.yaml").write_text(
        f"include: {tasks_dir()}/mini/irfl/figlang_mini_irfl_match_idiom.yaml\ntask: match_the\n"
        "model_specific_generation_kwargs:\n  default: {}\n  figlang_clip: {figlang_score: {kind: match}}\n"
        "  figlang_openai: {figlang_score: {kind: match, yes: The, no: 'No'}}\n"
    )


def _for_metaclue(folder: Path, world: World) -> None:
    (folder / "ratings.jsonl").write_text(json.dumps(["left"] * 5 + ["right"] * 2) + "\n")


def _for_nycc(folder: Path, world: World) -> None:
    tasks = (f"{task}_from_pixels" for task in ("matching", "ranking", "explanation"))
    configs = [f"{task}{fold}" for task in tasks for fold in ("", "_1", "_2", "_3", "_4")]
    release.release(world.folder / "data" / "NYCC", *configs)


SETUPS: dict[str, Callable[[Path, World], None]] = {
    "explanation_score.md": _for_explanation_score,
    "flute.md": _codalab_run,
    "irfl.md": _for_irfl,
    "judge.md": _for_judge,
    "metaclue.md": _for_metaclue,
    "model_classes.md": _for_model_classes,
    "nycc.md": _for_nycc,
    "report.md": _saved_runs,
    "submit.md": _for_submit,
}
"""What a document's reader has before its commands."""

RUN_HERE = [
    path for path in DOCUMENTS if path.name not in ELSEWHERE and any(not line.reason for line in commands(path))
]


QUICK = {"README", "data", "explanation_score", "figlang_mini", "irfl", "judge", "report", "submit", "vflute"}
"""Documents whose commands take some seconds; those of the others are not in each run of CI."""


def marked(path: Path) -> Any:
    return pytest.param(path, marks=pytest.mark.slow if path.stem in QUICK else pytest.mark.long, id=path.name)


@pytest.mark.parametrize("path", map(marked, RUN_HERE))
def test_every_command_runs(path: Path, world: World, tmp_path: Path) -> None:
    if prepare := SETUPS.get(path.name):
        prepare(tmp_path, world)
    for script in scripts(path):
        run("\n".join(prepared(line, world) for line in script), tmp_path, world)
