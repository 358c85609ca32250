"""Explanation scores beside other packages: time, and how far the scores agree.

    python benchmarks/peers.py --workdir FOLDER [--rows 8] [--repeats 2] [--peers bert-score mbrs ...] [--markdown FILE]

Each peer is installed by pip in an environment of its own in the work folder (`ENVIRONMENTS`; kept for the next time).
All score the same texts with the same checkpoints: those of `explanation_score.py`, random weights of the real sizes.
Each scorer is a process of its own, which loads its model, scores two texts that do not count, and then scores the
rows on one thread. CPU seconds of that last step are compared. They run in turns; the best run of each counts.

`evaluate` reads the code of its metrics from the hub. Where the hub cannot be reached, `--evaluate-metrics` takes the
folder `metrics` of a checkout of its repository.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from explanation_score import Setup

Pair = tuple[str, str]
"""Reference, candidate."""
Score = Callable[[list[Pair]], list[float]]

# pyarrow of today needs numpy 2, torchmetrics (of unbabel-comet) the pkg_resources that setuptools 81 dropped.
_FOUR = ("transformers==4.57.6", "torch=={torch}", "pyarrow==21.0.0", "setuptools==80.9.0")
ENVIRONMENTS = {
    # Their pins agree, so they share one: mbrs needs bert-score and, by unbabel-comet, transformers 4 and numpy 1.
    "transformers4": ("bert-score==0.3.13", "evaluate==0.4.6", "mbrs==0.1.8", *_FOUR),
    "pymarian": ("pymarian==1.12.42",),
}
SHOWN_VERSIONS = (
    "torch transformers bert-score bleurt-pytorch mbrs evaluate pymarian sentencepiece tokenizers numpy".split()
)
KINDS = ("BERTScore", "BLEURT")
MAX_TOKENS = 512
MARIAN_WORKSPACE = 2000  # MB


@dataclass(frozen=True)
class Job:
    """What a worker is given, as JSON.

    Attributes:
        deberta, bleurt, marian: the checkpoints.
        layers: of DeBERTa, all of which are used.
        metrics: folder of evaluate's metrics, or empty.
        small: whether the models are the tiny ones.
        warm, pairs: what is scored before the clock starts, and after.
    """

    deberta: str
    bleurt: str
    marian: str
    layers: int
    metrics: str
    small: bool
    warm: list[Pair]
    pairs: list[Pair]


# ---------------------------------------------------------------- workers: one scorer each, in its own environment


def bert_score_rows(job: Job) -> Score:
    return _bert_score(job, 1)


def bert_score_batches(job: Job) -> Score:
    return _bert_score(job, 64)  # the package's default


def _bert_score(job: Job, batch_size: int) -> Score:
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=job.deberta, num_layers=job.layers, device="cpu")

    def score(pairs: list[Pair]) -> list[float]:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
        return list(scorer.score(candidates, references, batch_size=batch_size)[2].tolist())

    return (lambda pairs: [score([pair])[0] for pair in pairs]) if batch_size == 1 else score


def evaluate_bertscore(job: Job) -> Score:
    import evaluate

    metric = evaluate.load(os.path.join(job.metrics, "bertscore") if job.metrics else "bertscore")

    def score(pairs: list[Pair]) -> list[float]:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
        options = {"model_type": job.deberta, "num_layers": job.layers, "device": "cpu"}
        return list(metric.compute(predictions=candidates, references=references, **options)["f1"])

    return score


def mbrs_rows(job: Job) -> Score:
    metric = _mbrs(job)
    return lambda pairs: [metric.score(candidate, reference) for reference, candidate in pairs]


def mbrs_batches(job: Job) -> Score:
    metric = _mbrs(job)
    return lambda pairs: list(metric.scores([pair[1] for pair in pairs], [pair[0] for pair in pairs]).tolist())


def _mbrs(job: Job) -> Any:
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer
    from mbrs.metrics.bleurt import MetricBLEURT

    BleurtSPTokenizer.max_model_input_sizes[job.bleurt] = MAX_TOKENS  # it knows the published names alone
    return MetricBLEURT(MetricBLEURT.Config(model=job.bleurt, cpu=True))


def pymarian_bleurt(job: Job) -> Score:
    from pymarian import Evaluator

    evaluator = Evaluator.new(
        model_file=os.path.join(job.marian, "model.npz"),
        vocab_file=os.path.join(job.marian, "vocab.spm"),
        like="bleurt",
        cpu_threads=1,
        workspace=MARIAN_WORKSPACE,
        quiet="",
    )
    # It joins the two in the order given. That of its own fields, candidate first, is not BLEURT's.
    return lambda pairs: list(evaluator.evaluate("\t".join(pair) for pair in pairs))


def _ours(kind: Any, dtype: Any) -> Callable[[Job], Score]:
    def prepare(job: Job) -> Score:
        from figlang_tasks.metrics.explanation.cache import ScoreCache

        folder = tempfile.mkdtemp(prefix="figlang-peers-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        setup = _setup(Path(job.deberta).parent, len(job.pairs), job.small)
        model = setup.model(kind, dtype, ScoreCache(Path(folder)))

        def score(pairs: list[Pair]) -> list[float]:
            found = model.score(pairs)
            return [found[pair] for pair in pairs]

        return score

    return prepare


@dataclass(frozen=True)
class Scorer:
    """A way to score.

    Attributes:
        name: in the table.
        kind: ``BERTScore`` or ``BLEURT``.
        environment: of `ENVIRONMENTS`; None: that of this process.
        prepare: loads the model.
        peer: what ``--peers`` calls it; None for what always runs.
    """

    name: str
    kind: str
    environment: str | None
    prepare: Callable[[Job], Score]
    peer: str | None


SCORERS = {
    "bert-score-rows": Scorer("bert-score, row by row", "BERTScore", "transformers4", bert_score_rows, "bert-score"),
    "bert-score": Scorer("bert-score, batches of 64", "BERTScore", "transformers4", bert_score_batches, "bert-score"),
    "evaluate": Scorer("evaluate, batches of 64", "BERTScore", "transformers4", evaluate_bertscore, "evaluate"),
    "bertscore-fp32": Scorer("ours, fp32", "BERTScore", None, _ours("BERTScore", "fp32"), None),
    "bertscore-fast": Scorer("ours, fast", "BERTScore", None, _ours("BERTScore", "fast"), None),
    "mbrs-rows": Scorer("mbrs, row by row", "BLEURT", "transformers4", mbrs_rows, "mbrs"),
    "mbrs": Scorer("mbrs, batches of 64", "BLEURT", "transformers4", mbrs_batches, "mbrs"),
    "pymarian": Scorer("PyMarian, batches of 16", "BLEURT", "pymarian", pymarian_bleurt, "pymarian"),
    "bleurt-fp32": Scorer("ours, fp32", "BLEURT", None, _ours("BLEURT", "fp32"), None),
    "bleurt-fast": Scorer("ours, fast", "BLEURT", None, _ours("BLEURT", "fast"), None),
}


def work(name: str) -> int:
    """Read a job from standard input; the last line of standard output is what was measured, as JSON."""
    given = json.load(sys.stdin)
    job = Job(**given | {side: [tuple(pair) for pair in given[side]] for side in ("warm", "pairs")})
    try:
        import torch
    except ModuleNotFoundError:  # PyMarian's environment has none
        pass
    else:
        torch.set_num_threads(1)
    score = SCORERS[name].prepare(job)
    score(job.warm)
    start = time.process_time()
    scores = score(job.pairs)
    seconds = time.process_time() - start
    versions = {}
    for package in SHOWN_VERSIONS:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    print()
    print(json.dumps({"seconds": seconds, "scores": scores, "versions": versions}))
    return 0


# ---------------------------------------------------------------- checkpoints


def _setup(workdir: Path, rows: int, small: bool) -> Setup:
    sys.path.insert(0, str(Path(__file__).parent))
    from explanation_score import Setup

    return Setup(device="cpu", small=small, rows=rows, repeats=1, token_budget=None, workdir=workdir, cpu_clock=True)


def write_marian(source: Path, folder: Path, heads: int) -> Path:
    """Write a BLEURT checkpoint as Marian's ``bleurt2marian.py`` does: ``model.npz`` and ``vocab.spm``.

    Marian begins a pair with token 0 and ends each text with token 1, ``</s>``. So these have the vectors of [CLS] and
    [SEP]. The texts' own tokens keep their numbers.

    Args:
        source: folder with ``model.safetensors`` and ``spm.model``, as ``lucadiliello/BLEURT-20`` has them.
        folder: to write to; it is left as it is where it is newer than `source`.
        heads: attention heads of a layer.
    """
    import numpy as np
    import sentencepiece
    import yaml
    from safetensors.numpy import load_file

    done = folder / "vocab.spm"
    if done.exists() and done.stat().st_mtime > (source / "config.json").stat().st_mtime:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(source / "spm.model"))
    state = load_file(source / "model.safetensors")
    # Marian wants as many vectors as there are pieces; no text has the tokens beyond.
    words = state["bleurt.embeddings.word_embeddings.weight"][: len(pieces)].copy()
    words[0], words[1] = words[pieces.piece_to_id("[CLS]")], words[pieces.piece_to_id("[SEP]")]
    model: dict[str, np.ndarray] = {"Wemb": words}
    encoder = "BleurtEncoder->encoder"

    def linear(name: str, to: str) -> None:
        model[f"{to}->weight"], model[f"{to}->bias"] = state[f"{name}.weight"].T.copy(), state[f"{name}.bias"]

    def norm(name: str, to: str) -> None:
        for part in ("weight", "bias"):
            model[f"{to}->norm->{part}"] = state[f"{name}.LayerNorm.{part}"]

    model[f"{encoder}->positionEmbedding->embeddings"] = state["bleurt.embeddings.position_embeddings.weight"]
    model["BleurtEncoder->typeEmbedding->embeddings"] = state["bleurt.embeddings.token_type_embeddings.weight"]
    norm("bleurt.embeddings", f"{encoder}->preprocessor")
    linear("bleurt.encoder.embedding_projection", f"{encoder}->eProj")
    layers = 1 + max(int(name.split(".")[3]) for name in state if name.startswith("bleurt.encoder.layer."))
    for number in range(layers):
        name = f"bleurt.encoder.layer.{number}"
        layer = f"{encoder}->layers->at({number})->as<marian::nn::TransformerEncoderLayer>()"
        for part, letter in (("query", "q"), ("key", "k"), ("value", "v")):
            linear(f"{name}.attention.self.{part}", f"{layer}->selfAttentionBlock->selfAttention->{letter}Proj")
        linear(f"{name}.attention.output.dense", f"{layer}->selfAttentionBlock->selfAttention->oProj")
        norm(f"{name}.attention.output", f"{layer}->selfAttentionBlock->postprocessor")
        for dense, place in (("intermediate.dense", 0), ("output.dense", 3)):
            linear(f"{name}.{dense}", f"{layer}->filterBlock->layers->at({place})->as<marian::nn::Linear>()")
        norm(f"{name}.output", f"{layer}->filterBlock->postprocessor")
    linear("bleurt.pooler.dense", "BleurtPooler->layers->at(0)->as<marian::nn::Linear>()")
    linear("classifier", "BleurtPooler->layers->at(3)->as<marian::nn::Linear>()")
    settings = {
        "type": "bleurt",
        "tied-embeddings-all": True,
        "tied-embeddings-src": False,
        "transformer-ffn-depth": 2,
        "transformer-ffn-activation": "gelu",
        "transformer-train-position-embeddings": True,
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "nd",
        "bert-train-type-embeddings": True,
        "bert-type-vocab-size": 2,
        "comet-prepend-zero": True,
        "input-join-fields": True,
        "version": "bleurt2marian.py conversion",
        "enc-depth": layers,
        "transformer-dim-model": state["bleurt.pooler.dense.weight"].shape[0],
        "transformer-dim-ffn": state["bleurt.encoder.layer.0.intermediate.dense.bias"].shape[0],
        "transformer-heads": heads,
        "dim-emb": words.shape[1],
        "dim-vocabs": [words.shape[0]],
        "max-length": MAX_TOKENS,
    }
    model["special:model.yml"] = np.frombuffer(yaml.safe_dump(settings).encode("ascii") + b"\0", dtype=np.int8)
    np.savez(folder / "model.npz", **model)  # type: ignore[arg-type]
    done.write_bytes(_marian_vocabulary((source / "spm.model").read_bytes()))
    return folder


def _marian_vocabulary(content: bytes) -> bytes:
    """A sentencepiece model with ``</s>`` as piece 1 and ``<unk>`` in the place of [SEP]; words keep their numbers."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto.FromString(content)  # type: ignore[attr-defined]
    kinds = model.SentencePiece
    unknown = next(number for number, piece in enumerate(model.pieces) if piece.piece == "[SEP]")
    for number, name, kind in ((1, "</s>", kinds.CONTROL), (unknown, "<unk>", kinds.UNKNOWN)):
        model.pieces[number].piece, model.pieces[number].type = name, kind
    spec = model.trainer_spec
    spec.eos_id, spec.eos_piece, spec.unk_id, spec.unk_piece = 1, "</s>", unknown, "<unk>"
    del spec.control_symbols[:]
    spec.control_symbols.append("[CLS]")
    return bytes(model.SerializeToString())


# ---------------------------------------------------------------- measuring


@dataclass
class Measured:
    """Runs of a scorer: CPU seconds of each, the scores, versions of its packages, or why there are none."""

    seconds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    failed: str = ""


def environment(name: str, workdir: Path) -> Path:
    """The Python of an environment, which is made unless it is there.

    Raises:
        subprocess.CalledProcessError: pip cannot install it.
    """
    folder = workdir / f"env-{name}"
    python, done = folder / "bin" / "python", folder / "installed"
    wanted = [each.format(torch=version("torch").partition("+")[0]) for each in ENVIRONMENTS[name]]
    if not done.exists() or done.read_text(encoding="utf-8").split() != wanted:
        say(f"installing {' '.join(wanted)}")
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", *wanted], check=True)
        done.write_text("\n".join(wanted), encoding="utf-8")
    return python


def run(name: str, python: Path, job: Job, found: Measured) -> None:
    """One turn of a scorer, added to what was `found`."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    clean = {
        key: value for key, value in os.environ.items() if key != "PYTHONPATH" or SCORERS[name].environment is None
    }
    done = subprocess.run(
        [python, __file__, "--worker", name],
        input=json.dumps(vars(job)),
        capture_output=True,
        text=True,
        env=clean | threads | {"TOKENIZERS_PARALLELISM": "false"},
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        found.failed = lines[-1].strip() if lines else f"status {done.returncode}"
        say(f"{name}: {found.failed}")
        return
    told = json.loads(done.stdout.strip().splitlines()[-1])
    found.seconds.append(told["seconds"])
    found.scores, found.versions = told["scores"], told["versions"]
    say(f"{name}: {told['seconds']:.2f} CPU s")


def measure(given: argparse.Namespace, workdir: Path) -> dict[str, Measured]:
    """All scorers in turns."""
    setup = _setup(workdir, given.rows, given.small)
    from explanation_score import SEED, make_texts

    texts, warm = make_texts(given.rows, setup.clusters), make_texts(2, seed=SEED + 1)
    names = [
        name
        for name, each in SCORERS.items()
        if each.kind in given.kinds and (each.peer is None or each.peer in given.peers)
    ]
    pythons: dict[str | None, Path] = {None: Path(sys.executable)}
    for name in names:
        if (wanted := SCORERS[name].environment) not in pythons:
            assert wanted is not None
            pythons[wanted] = environment(wanted, workdir)
    deberta, bleurt = setup.folder("BERTScore"), setup.folder("BLEURT")
    marian = bleurt.with_name(f"{bleurt.name}-marian")
    if "pymarian" in names:
        write_marian(bleurt, marian, setup.bleurt.heads)
    job = Job(
        deberta=str(deberta.absolute()),
        bleurt=str(bleurt.absolute()),
        marian=str(marian.absolute()),
        layers=setup.bertscore.layers,
        metrics=str(given.evaluate_metrics.resolve()) if given.evaluate_metrics else "",
        small=given.small,
        warm=warm.pairs(warm.first),
        pairs=texts.pairs(texts.first),
    )
    found = {name: Measured() for name in names}
    for _ in range(given.repeats):
        for name in names:
            if not found[name].failed:
                run(name, pythons[SCORERS[name].environment], job, found[name])
    return found


# ---------------------------------------------------------------- tables


def table(kind: str, found: Mapping[str, Measured]) -> str:
    """The scorers of a kind; times are compared with the first one, scores with ours in fp32."""
    from figlang_tasks.core.text import table as markdown

    own = {name: each for name, each in found.items() if SCORERS[name].kind == kind}
    base = next((min(each.seconds) for each in own.values() if each.seconds), None)
    fp32 = own[f"{kind.lower()}-fp32"]
    best = min(fp32.seconds, default=None)
    rows = [[kind, "CPU s", "times as fast as the first", "time, ours fp32 = 1", "largest difference from ours fp32"]]
    for name, each in own.items():
        label = SCORERS[name].name
        if each.failed or base is None or best is None:
            rows.append([label, "not measured", "", "", each.failed])
            continue
        seconds = min(each.seconds)
        apart = max(abs(a - b) for a, b in zip(each.scores, fp32.scores, strict=True))
        rows.append([label, f"{seconds:.1f}", f"{base / seconds:.2f}", f"{seconds / best:.2f}", f"{apart:.1e}"])
    return markdown(rows)


def versions(found: Mapping[str, Measured]) -> str:
    """The packages of each environment."""
    lines = {}
    for name, each in found.items():
        if each.versions:
            told = ", ".join(f"{package} {number}" for package, number in each.versions.items())
            lines[SCORERS[name].environment or "ours"] = told
    return "\n".join(f"- {name}: {told}" for name, told in lines.items())


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all were measured, else 1."""
    peers = sorted({each.peer for each in SCORERS.values() if each.peer})
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=Path, help="folder for environments (9 GB) and checkpoints (8 GB); kept")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--peers", nargs="*", choices=peers, default=peers, help="(all)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="(both)")
    parser.add_argument("--evaluate-metrics", type=Path, metavar="FOLDER", help="evaluate's metrics, without the hub")
    parser.add_argument("--small", action="store_true", help="tiny models, for a test of this script")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there, too")
    parser.add_argument("--worker", choices=SCORERS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        return work(given.worker)
    if given.workdir is None:
        parser.error("--workdir is missing")
    given.workdir.mkdir(parents=True, exist_ok=True)
    found = measure(given, given.workdir)
    note = " Tiny models: the times mean nothing." if given.small else ""
    text = "\n\n".join(
        [
            f"{given.rows} rows, one thread, best of {given.repeats} runs in turns.{note}",
            *(table(kind, found) for kind in given.kinds),
            versions(found),
        ]
    )
    print(text)
    if given.markdown:
        given.markdown.write_text(f"{text}\n", encoding="utf-8")
    return int(any(each.failed for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
