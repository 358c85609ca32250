"""Checks for the weights of the explanation scorers, and for Java. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from figlang_tasks.cli.doctor_checks import Finding, benchmarks_in_need_of
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.metrics.explanation.scorers import scorer_weights
from figlang_tasks.metrics.explanation.weights import (
    WEIGHTS_DIR_VARIABLE,
    Weights,
    WeightsError,
    locate,
)


def check_weights() -> Iterator[Finding]:
    """Check for the weights of each explanation scorer that a paper uses."""
    for weights, scorer_names in scorer_weights().items():
        yield _find_weights(weights, scorer_names)


def _find_weights(weights: Weights, scorer_names: Sequence[str]) -> Finding:
    """Find out where the weights of a model are, without downloading them.

    Args:
        weights: those of the model.
        scorer_names: the scorers that use it.
    """
    scorers = ", ".join(scorer_names)
    concerns = tuple(
        benchmark.name for benchmark in benchmarks().values() if benchmark.scorer in scorer_names
    )
    try:
        with hub.downloading_nothing():
            folder = locate(weights).folder
    except WeightsError as error:
        if error.__cause__ is None:
            # A cause would be an error of the hub's client. Without one there are files, and the
            # message is about them.
            remedy = f"complete the folder, or unset {WEIGHTS_DIR_VARIABLE}"
            return Finding(weights.name, "problem", str(error), remedy, concerns)
        text = (
            f"not here; for {scorers}. A run downloads it first, or leaves the explanations"
            " unscored"
        )
        local_folder = f"${WEIGHTS_DIR_VARIABLE}/{weights.name.rpartition('/')[2]}"
        remedy = (
            f"figlang data prefetch --scorers, or put its files into {local_folder}, or"
            " FIGLANG_SCORER=off"
        )
        return Finding(weights.name, "warning", text, remedy, concerns)
    return Finding(weights.name, "ok", f"{folder}, for {scorers}")


def check_java() -> Iterator[Finding]:
    """Check for Java, which computes METEOR and SPICE, and for the files of SPICE."""
    from figlang_tasks.metrics import caption_java

    # The tasks of each benchmark that need Java: ["metaclue_caption* and metaclue_vqa*"].
    tasks_with_java = [
        benchmark.needs["java"] for benchmark in benchmarks().values() if "java" in benchmark.needs
    ]
    tasks = " and ".join(tasks_with_java)
    concerns = benchmarks_in_need_of("java")
    java = caption_java.find_java()
    if java is None:
        text = (
            f"there is none that runs: {tasks} leave out METEOR and SPICE; their runs end with"
            " status 1"
        )
        yield Finding("Java", "warning", text, "install a Java runtime (8 or newer)", concerns)
        return

    yield Finding("Java", "ok", f"{java}, for METEOR of {tasks}")
    if not caption_java.has_spice():
        text = (
            f"two files of Stanford CoreNLP 3.6.0 are not here (400 MB): {tasks} leave it out;"
            " their runs end with status 1"
        )
        yield Finding("SPICE", "warning", text, caption_java.SPICE_COMMAND, concerns)
