"""Finished runs as tables of pandas, for scripts and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from figlang_tasks.core.errors import RunError
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.results import results_file
from figlang_tasks.results import runs as saved_runs
from figlang_tasks.results.run_names import with_distinct_names
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimates, flat

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.results.comparison import Difference

_TYPES = {"value": "float64", "low": "float64", "high": "float64", "n": "Int64"}


RunSource: TypeAlias = results_file.Results | Run | str | os.PathLike[str]
"""What stands for a run: a path, also ``NAME=PATH``; what the harness returned; a `Run`."""


def estimates_frame(
    names_and_estimates: Iterable[tuple[str, Mapping[str, Estimates]]],
) -> pd.DataFrame:
    """A DataFrame with a row for each estimate of some runs.

    Args:
        names_and_estimates: for each run its name, and its estimates by task.

    Returns:
        Columns ``run``, ``task``, ``metric``, ``scope``, ``value``, ``low``, ``high`` and ``n``.
    """
    import pandas as pd

    rows = []
    for run_name, estimates_by_task in names_and_estimates:
        for task, estimates in estimates_by_task.items():
            for metric, scope, estimate in flat(estimates):
                # in the order of `_TYPES`
                numbers = (estimate.value, estimate.low, estimate.high, estimate.rows)
                rows.append((run_name, task, metric, scope, *numbers))
    return pd.DataFrame(rows, columns=["run", "task", "metric", "scope", *_TYPES]).astype(_TYPES)


def table(runs: RunSource | Sequence[RunSource]) -> pd.DataFrame:
    """A DataFrame of all numbers of runs: each metric of each of our tasks, in each scope.

    Args:
        runs: a run or several. A run is what ``lmms_eval.evaluator.simple_evaluate`` returns, a
            `Run`, or a path: a results file (``*_results.json``), a samples file, or the folder of
            a run with ``--log_samples``. ``NAME=PATH`` names a run, and ``NAME=PATTERN`` stands for
            several.

    Returns:
        A DataFrame with a row for each number, in the order of the results file.

        ``run`` is the name that you gave, else the model's. Runs that would share the model's name
        are named by what differs; those to which you gave one name are repeats and keep it.
        ``scope`` is ``all`` for all rows, else a part of the benchmark. ``value`` is as in files: 0
        to 1, but for ``rank``, ``cider``, ``clip_similarity`` and ``fid``; NaN where the
        computation failed. ``low`` and ``high`` are its 95 % interval; NaN where there is no sound
        one. ``n`` is the number of rows in the value (``Int64``).

    Raises:
        RunError: a file cannot be read, contradicts its samples, or holds no metrics of a task
            of figlang_tasks (one of lm-eval holds none: give its samples file).

    Examples:
        A results file by hand, with one metric:

        >>> from figlang_tasks import table
        >>> values = {"f1@60": {"all": {"value": 0.473, "low": 0.436, "high": 0.509, "rows": 723}}}
        >>> measures = {"format": 1, "failed": [], "values": values}
        >>> configs = {"vflute": {"metadata": {"measures": measures}}}
        >>> table({"model_name": "org/tiny", "configs": configs})
            run    task metric scope  value    low   high    n
        0  tiny  vflute  f1@60   all  0.473  0.436  0.509  723
    """
    if isinstance(runs, Mapping | Run | str | os.PathLike):
        runs = [runs]
    measured_runs: list[_MeasuredRun] = []
    for source in runs:
        measured_runs += _measured_runs(source)
    named_runs = with_distinct_names([measured.run for measured in measured_runs], repeats=True)
    names_and_estimates = []
    for named_run, measured in zip(named_runs, measured_runs, strict=True):
        names_and_estimates.append((named_run.name, measured.estimates))
    return estimates_frame(names_and_estimates)


class _MeasuredRun(NamedTuple):
    """A run, which has no tasks if only results were read, and its estimates by task."""

    run: Run
    estimates: Mapping[str, Estimates]


def _measured_runs(source: RunSource) -> list[_MeasuredRun]:
    """The runs that a source stands for, with their estimates; several only for a pattern.

    Raises:
        RunError: a run cannot be read, contradicts its samples, or has no metrics of our tasks.
    """
    if isinstance(source, Run):
        return [_MeasuredRun(source, source.estimates)]
    if isinstance(source, Mapping):
        name = results_file.model_name(source)
        return [_of_results(Run(name, Path(), {}, source), "the results hold")]
    arguments = saved_runs.expand_pattern(os.fspath(source))
    return [_read_measured_run(argument) for argument in arguments]


def _read_measured_run(argument: str) -> _MeasuredRun:
    """Read a run and its estimates: those in a results file (``.json``), else of its samples.

    A results file is read alone, without its samples. Of a samples file or a folder, the estimates
    are those of the results file beside the samples, after a check that the samples agree; without
    such estimates they are computed.

    Raises:
        RunError: the file cannot be read, or its results contradict its samples.
    """
    given_name, path = saved_runs.name_and_path(argument)
    if path.suffix == ".json":
        results = results_file.read_results_file(path)
        name = given_name or results_file.model_name(results) or path.stem
        return _of_results(Run(name, path, {}, results, given_name), f"{path} holds")
    run = saved_runs.read(argument)
    estimates: dict[str, Estimates] = {}
    for name, task in run.tasks.items():
        task.check_consistent()
        # Without a results file, or in one of lm-eval, no estimates are reported.
        estimates[name] = task.reported or task.estimates
    return _MeasuredRun(run, estimates)


def _of_results(run: Run, subject: str) -> _MeasuredRun:
    """A run with the estimates in its results; an error if they have none of our tasks.

    Args:
        subject: begins the message: ``the results hold``.
    """
    estimates = results_file.reported_estimates(run.results)
    if not estimates:
        raise RunError(
            f"{subject} no metrics of a task of figlang_tasks (figlang tasks lists them; of a run"
            " of lm-eval give the samples file)"
        )
    return _MeasuredRun(run, estimates)


def compare(
    *paths: str | os.PathLike[str],
    metrics: str | Sequence[str] | None = None,
    tasks: str | Sequence[str] | None = None,
    overall: bool = False,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
    every: bool = False,
) -> pd.DataFrame:
    """A DataFrame of the differences between runs, with paired tests (``figlang compare``).

    Args:
        paths: at least two runs on the same rows, saved with ``--log_samples``: a samples file, a
            results file or a folder each; ``NAME=PATH`` names a run. Runs of one name are repeats
            that differ in the seed alone: ``NAME=runs/a_seed*``. Of several answers to a row in one
            run (``--repeats``) the mean is compared.
        metrics: names or a name: ``f1@60`` in all its scopes, or ``f1@60_muse`` in one; default the
            headline metric of each task over all rows.
        tasks: names or a name; default all that the runs share.
        overall: compare over all rows alone (and in scopes that `metrics` names).
        resamples, seed: of both tests.
        every: compare all metrics but diagnostic ones, in all their scopes; ignored with `metrics`.

    Returns:
        A DataFrame with a row for each pair of runs, task, metric and scope.

        ``difference`` is candidate minus baseline (the run given later minus the one given
        earlier), ``low`` and ``high`` are its 95 % interval, ``p_randomization`` is two-sided (of
        repeats ``p_repeats``), ``p_holm`` adjusted for all tests of the call; NaN without a test.

    Raises:
        RunError: a run cannot be read.
        figlang_tasks.results.comparability.ComparisonError: the runs cannot be compared; the
            message says why.

    Examples:
        ::

            figlang_tasks.compare(
                "base=results/a", "tuned=results/b", metrics=["f1@60"], overall=True
            )
    """
    from figlang_tasks.results import comparison

    compared_runs = saved_runs.read_all([str(path) for path in paths], repeats=True)
    differences = comparison.compare(
        compared_runs,
        _list_of(metrics),
        _list_of(tasks),
        only_overall=overall,
        all_metrics=every,
        resamples=resamples,
        seed=seed,
    )
    return _differences_frame(differences)


def _differences_frame(differences: Iterable[Difference]) -> pd.DataFrame:
    """A DataFrame with a row for each difference and a column for each of its fields."""
    import pandas as pd

    from figlang_tasks.results.comparison import Difference

    # The type of a field is a text, "float | None": `from __future__ import annotations`.
    columns = {field.name: str(field.type) for field in fields(Difference)}
    # Without a type, a column that has no number would hold objects.
    types_by_annotation = {"float | None": "float64", "int | None": "Int64"}
    types = {}
    for name, annotation in columns.items():
        if annotation in types_by_annotation:
            types[name] = types_by_annotation[annotation]
    return pd.DataFrame(map(asdict, differences), columns=list(columns)).astype(types)


def _list_of(names: str | Sequence[str] | None) -> Sequence[str] | None:
    """Names as a list, also if the user gave a single one; None stays None."""
    return [names] if isinstance(names, str) else names
