"""Finished runs as tables of pandas, for scripts and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.core.errors import RunError
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.results import results_file, runs
from figlang_tasks.scoring import Estimates, flat

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.results.comparison import Difference

_TYPES = {"value": "float64", "low": "float64", "high": "float64", "n": "Int64"}


def estimates_frame(
    names_and_estimates: Iterable[tuple[str, Mapping[str, Estimates]]],
) -> pd.DataFrame:
    """A DataFrame with a row for each estimate of some runs.

    Args:
        names_and_estimates: for each run its name, and its estimates by task.

    Returns:
        Columns ``run``, ``task``, ``scope``, ``metric``, ``value``, ``low``, ``high`` and ``n``.
    """
    import pandas as pd

    rows = []
    for run_name, estimates_by_task in names_and_estimates:
        for task, estimates in estimates_by_task.items():
            for metric, scope, estimate in flat(estimates):
                # in the order of `_TYPES`
                numbers = (estimate.value, estimate.low, estimate.high, estimate.rows)
                rows.append((run_name, task, scope, metric, *numbers))
    return pd.DataFrame(rows, columns=["run", "task", "scope", "metric", *_TYPES]).astype(_TYPES)


def table(results: results_file.Results | str | os.PathLike[str]) -> pd.DataFrame:
    """A DataFrame of all numbers of a run: each metric of each of our tasks, in each scope.

    Args:
        results: what ``lmms_eval.evaluator.simple_evaluate`` returns, or a path: a results file
            (``*_results.json``), a samples file, or the folder of a run with ``--log_samples``.

    Returns:
        A DataFrame with a row for each number, in the order of the results file.

        ``scope`` is ``all`` for all rows, else a part of the benchmark. ``value`` is as in files: 0
        to 1, but for ``rank``, ``cider``, ``clip_similarity`` and ``fid``; NaN where the
        computation failed. ``low`` and ``high`` are its 95 % interval; NaN where there is no sound
        one. ``n`` is the number of rows in the value (``Int64``).

    Raises:
        RunError: the file cannot be read, contradicts its samples, or holds no metrics of a task
            of figlang_tasks (one of lm-eval holds none: give its samples file).

    Examples:
        A results file by hand, with one metric:

        >>> from figlang_tasks import table
        >>> values = {"f1@60": {"all": {"value": 0.473, "low": 0.436, "high": 0.509, "rows": 723}}}
        >>> measures = {"format": 1, "failed": [], "values": values}
        >>> table({"configs": {"vflute": {"metadata": {"measures": measures}}}})
             task scope metric  value    low   high    n
        0  vflute   all  f1@60  0.473  0.436  0.509  723
    """
    if isinstance(results, Mapping):
        estimates = results_file.reported_estimates(results)
        subject = "the results hold"
    else:
        estimates = _read_estimates(Path(results))
        subject = f"{results} holds"
    if not estimates:
        raise RunError(
            f"{subject} no metrics of a task of figlang_tasks (figlang tasks lists them; of a run"
            " of lm-eval give the samples file)"
        )
    unnamed_run = ""
    return estimates_frame([(unnamed_run, estimates)]).drop(columns="run")


def _read_estimates(path: Path) -> dict[str, Estimates]:
    """The estimates of a run by task: those in a results file (``.json``), else of its samples.

    A results file is read alone, without its samples. Of a samples file or a folder, the estimates
    are those of the results file beside the samples, after a check that the samples agree; without
    such estimates they are computed.

    Raises:
        RunError: the file cannot be read, or its results contradict its samples.
    """
    if path.suffix == ".json":
        return results_file.reported_estimates(results_file.read_results_file(path))
    estimates: dict[str, Estimates] = {}
    for name, task in runs.read(str(path)).tasks.items():
        task.check_consistent()
        # Without a results file, or in one of lm-eval, no estimates are reported.
        estimates[name] = task.reported or task.estimates
    return estimates


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

    saved_runs = runs.read_all([str(path) for path in paths], repeats=True)
    differences = comparison.compare(
        saved_runs,
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
