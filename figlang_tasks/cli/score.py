"""``figlang score``: adds explanation scores, and the metrics that need them, to saved samples.

torch is imported when something is to be scored, not for a help text or a wrong file.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from figlang_tasks import scoring
from figlang_tasks.cli import say, say_json
from figlang_tasks.cli.scorer_options import BertscoreLayer, BertscoreModel, Cache, Dtype
from figlang_tasks.cli.summary import estimates_table, scorer_line
from figlang_tasks.core.text import printable
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import measures, samples
from figlang_tasks.results.samples import NothingToScore, Samples, SamplesError
from figlang_tasks.scoring import explained, explanations

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer


def score(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Samples or results files, or folders of a run, as lmms_eval or lm_eval wrote with --log_samples.",
            show_default=False,
        ),
    ],
    scorer: Annotated[
        str | None,
        typer.Option(
            help="vflute25 (mean of BERTScore and BLEURT), figlang24 (BERTScore), flute22, flute22-xlarge, or embedded "
            "(demo). This command ignores $FIGLANG_SCORER. [default: the paper's: vflute25; of flute*, flute22]",
            show_default=False,
        ),
    ] = None,
    dtype: Dtype = "fp32",
    device: Annotated[
        str,
        typer.Option(envvar=explanations.DEVICE_VARIABLE, help="auto (the GPU, if the models fit), cpu, cuda:1, ..."),
    ] = "auto",
    cache: Cache = None,
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache",
            help="Do not use the score cache; only an unfinished run keeps its scores, next to its output.",
        ),
    ] = False,
    bertscore_model: BertscoreModel = None,
    bertscore_layer: BertscoreLayer = None,
    bleurt_model: Annotated[str | None, typer.Option(help="Another checkpoint for BLEURT.")] = None,
    output_dir: Annotated[Path | None, typer.Option(help="Where to write. [default: next to each file]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list instead of tables.")] = False,
) -> None:
    """Score the explanations in saved samples. The model is not needed.

    The command writes two files next to each samples file: STEM.SCORER.jsonl (the samples with their scores) and
    STEM.SCORER.json (f1@0, f1@53, f1@60, or acc@0, acc@50, acc@60 for flute*, and the mean score, overall and by
    source, with 95 % intervals and the scorer's signature). If it is interrupted, run it again: it continues.

    \b
    figlang score results/MODEL
    figlang score results/*/*_samples_vflute.jsonl
    figlang score results/*/samples_flute_*.jsonl
    figlang score run.jsonl --scorer figlang24 --dtype fast --device cuda
    figlang score samples_flute.jsonl --scorer flute22-xlarge

    Exit status: 0 all files are scored, 1 a file failed (nothing is written for it), 2 wrong usage.
    """
    if cache is not None and no_cache:
        raise typer.BadParameter("use either --cache or --no-cache")
    inputs = _without_own_outputs(_read(files))
    scorer = scorer or _paper_scorer(inputs)

    from figlang_tasks.metrics.explanation import WeightsError, get_scorer
    from figlang_tasks.metrics.explanation.cache import ScoreCache, open_cache

    reports = []
    try:
        store = open_cache(False if no_cache else cache or True)
        private = None if store.enabled else _beside(inputs[0].path, f".{scorer}.partial", output_dir, hidden=True)
        if private is not None:
            store = ScoreCache(private)
        ready = get_scorer(
            scorer,
            device=device,
            dtype=dtype,
            cache=store,
            bertscore_model=bertscore_model,
            bertscore_layer=bertscore_layer,
            bleurt_model=bleurt_model,
        )
        overridden = bool(bertscore_model or bertscore_layer or bleurt_model)
        outputs = _outputs(inputs, ready, overridden, output_dir)
        try:
            for output in outputs:
                reports.append(_score(output, ready))
                if not as_json:
                    say(_text(reports[-1]))
        finally:
            ready.release()
        store.close()
        if private is not None:
            store.delete()
    except WeightsError as error:
        demo = all(file.data.dataset.startswith("figlang_mini") for file in inputs)
        _fail(f"{error}{'. For figlang_mini use --scorer embedded' * (demo and scorer != 'embedded')}")
    except (ValueError, ArithmeticError, MemoryError) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    if as_json:
        say_json(reports)


def _fail(*messages: str) -> NoReturn:
    for message in messages:
        say(f"figlang score: {printable(message)}", err=True)
    raise typer.Exit(1)


def _read(paths: Sequence[Path]) -> list[Samples]:
    """All files, checked before anything is computed; of a run those that have explanations to score."""
    from figlang_tasks.results.runs import RunError, samples_files

    found, problems = [], []
    for path in paths:
        if path.suffix == ".jsonl" and not path.is_dir():
            try:
                found.append(samples.read(path))
            except SamplesError as error:
                problems.append(str(error))
            continue
        try:
            of_run = samples_files(path)
        except RunError as error:
            problems.append(str(error))
            continue
        others = []
        for file in of_run.values():
            try:
                found.append(samples.read(file))
            except NothingToScore as error:
                others.append(str(error))
            except SamplesError as error:
                problems.append(str(error))
        for other in others:
            say(f"figlang score: skipped: {printable(other)}", err=True)
        if len(others) == len(of_run):
            problems.append(f"{path}: there are no explanations to score")
    if problems:
        _fail(*problems)
    return found


def _paper_scorer(inputs: Sequence[Samples]) -> str:
    """The scorer of the benchmark that the files are of."""
    files = {explained.SCHEMES[file.rows[0].record.scheme].scorer: file.path for file in inputs}
    if len(files) > 1:
        found = ", ".join(f"{scorer} for {path}" for scorer, path in files.items())
        _fail(f"the papers' scorers differ ({found}): score each benchmark with a separate command, or give --scorer")
    return next(iter(files), explanations.DEFAULT)


def _without_own_outputs(found: Sequence[Samples]) -> list[Samples]:
    """Leave out what an earlier call wrote for another one of the files: `*_samples_*.jsonl` names both."""
    digests = {file.sha256 for file in found}
    kept = []
    for file in found:
        if _made_from(file.path.with_suffix(".json")) in digests:
            say(
                f"figlang score: {printable(file.path)} is skipped: figlang score wrote it for another of these files",
                err=True,
            )
        else:
            kept.append(file)
    if not kept:
        _fail("nothing is left to score: give the samples file that the run wrote")
    return kept


# --- files written ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Output:
    """Where the results of a samples file go."""

    samples: Samples
    scored: Path
    metrics: Path


def _outputs(inputs: Sequence[Samples], scorer: Scorer, overridden: bool, folder: Path | None) -> list[Output]:
    """The outputs, each free to be written: not there yet, or made by us from the very same samples."""
    name = scorer.name + ("-fast" if scorer.dtype == "fast" else "")
    if overridden:
        name += f"-{hashlib.sha256(scorer.signature.encode()).hexdigest()[:8]}"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    sources: dict[Path, Path] = {}
    outputs = []
    for file in inputs:
        output = Output(file, *(_beside(file.path, f".{name}{end}", folder) for end in (".jsonl", ".json")))
        if (other := sources.setdefault(output.scored, file.path)) is not file.path:
            raise ValueError(
                f"{other} and {file.path} would both be written to {output.scored}: give each file once, and score "
                "files with the same name in separate commands with different --output-dir"
            )
        for path in (output.scored, output.metrics):
            if path.exists() and _made_from(output.metrics) != file.sha256:
                raise ValueError(
                    f"{path} exists and was not made from this {file.path.name}, so it is not replaced. Rename it, or "
                    "choose another --output-dir"
                )
        outputs.append(output)
    return outputs


def _beside(path: Path, ending: str, folder: Path | None, hidden: bool = False) -> Path:
    return (folder or path.parent) / ("." * hidden + path.name.removesuffix(".jsonl") + ending)


def _made_from(metrics: Path) -> str | None:
    """Digest of the samples that a metrics file of ours was made from; None if it is none of ours."""
    try:
        content = json.loads(metrics.read_text(encoding="utf-8"))
        return str(content["samples"]["sha256"]) if content["written_by"] == samples.SCORED_BY else None
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None


def _write(path: Path, content: bytes) -> None:
    """Write whole or not at all."""
    for left_by_a_kill in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        left_by_a_kill.unlink(missing_ok=True)
    write_whole(path, content)


# --- scoring ---------------------------------------------------------------------------------------------------------


def _score(output: Output, scorer: Scorer) -> dict[str, Any]:
    """Score one file, write its outputs, and return the report."""
    from figlang_tasks.metrics.explanation import near_threshold

    records = [dict(row.values["sample"]) for row in output.samples.rows]
    asked = [record for record in records if explained.needs_score(record)]
    pairs = [explained.pair(record) for record in asked]
    scored = scorer.score([reference for reference, _ in pairs], [candidate for _, candidate in pairs])
    details = explanations.by_pair(pairs, scored)
    for record in asked:
        record["explanation_scores"] = {"scorer": scorer.name, **details[explained.pair(record)]}
    thresholds = explained.scheme_of(records[0]).by_name
    declared = measures.of_explained(records)
    report = {
        "written_by": samples.SCORED_BY,
        "samples": {"file": output.samples.path.name, "sha256": output.samples.sha256},
        "scored": output.scored.name,
        "task": output.samples.task,
        "data": str(output.samples.data),
        "scorer": scorer.name,
        "dtype": scorer.dtype,
        "signature": scored.signature,
        "thresholds": thresholds,
        "n": len(records),
        "without_explanation": sum(not explained.pair(record)[1].strip() for record in asked),
        # BERTScore of an empty text is 0 in every dtype.
        "near_threshold": near_threshold(scored.mean[scored.mean != 0], list(thresholds.values())),
        "measures": scoring.to_json(scoring.evaluate(records, declared)),
    }
    if len(asked) < len(records):
        report["explanations"] = len(asked)
    lines = [_line({**row.values, "sample": own}) for row, own in zip(output.samples.rows, records, strict=True)]
    # The metrics first: they are what says that the samples beside them are ours to replace.
    _write(output.metrics, (json.dumps(report, indent=2) + "\n").encode("ascii"))
    _write(output.scored, b"".join(lines))
    return {"path": str(output.samples.path), **report, "written": [str(output.scored), str(output.metrics)]}


def _line(values: Mapping[str, Any]) -> bytes:
    # As the harness writes it; half a surrogate pair, which UTF-8 has no bytes for, as the escape that JSON has for it.
    return (json.dumps(values, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _text(report: Mapping[str, Any]) -> str:
    lines = [
        f"{printable(report['path'])}: {report['n']} rows of {report['data']}, in percent with 95 % intervals",
        estimates_table(report["task"] or "samples", scoring.from_json(report["measures"])),
        scorer_line(printable(report["signature"])),
        f"without an explanation: {report['without_explanation']} of {report.get('explanations', report['n'])}",
    ]
    if report["dtype"] == "fast":
        lines.append(f"within .005 of a threshold, where fp32 may decide otherwise: {report['near_threshold']}")
    lines += [f"written: {printable(path)}" for path in report["written"]]
    return "\n\n".join(lines[:2]) + "\n\n" + "\n".join(lines[2:]) + "\n"
