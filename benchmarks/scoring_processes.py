"""What several processes gain in scoring explanations on a CPU.

    python benchmarks/scoring_processes.py [--rows N] [--token-budget N] [--workers 1 2] [--workdir FOLDER]

Checkpoints and texts are those of `benchmarks/explanation_score.py`: real widths, random weights. One model after the
other, in fp32, nothing cached. Every process has one thread, as in `torchrun`. Loading is not counted. The CPU seconds
are of each process: the largest is what a quiet machine takes, the sum shows what sharing costs. Reads /proc: Linux.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from explanation_score import Patience, Setup, machine, make_texts, markdown, say

from figlang_tasks.metrics.explanation import Scorer, get_scorer
from figlang_tasks.metrics.explanation.bertscore import Pair

KINDS = ("BERTScore", "BLEURT")
HEADER = ["", "processes", "parts", "CPU s of each process", "gain in the largest", "wall s", "gain", "scores"]


def cpu_seconds(pids: Sequence[int]) -> list[float]:
    """User and system time of each process so far."""
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return [(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") for fields in stats]


def score(scorer: Scorer, index: int, pairs: set[Pair]) -> tuple[dict[Pair, float], list[int]]:
    """The scores of one of its models, and the processes that are there."""
    if scorer._workers is None:
        return scorer.models[index].score(sorted(pairs)), [os.getpid()]
    missing = [pairs if number == index else set() for number in range(2)]
    found = scorer._workers.lead(scorer.models, missing, lambda done: None)[index]
    return found, [os.getpid(), *(child.pid for child in scorer._workers._children)]


def until_idle(pids: Sequence[int]) -> None:
    """Wait for those that are still loading a model."""
    spent = cpu_seconds(pids)
    while True:
        time.sleep(5)
        before, spent = spent, cpu_seconds(pids)
        if max(now - then for now, then in zip(spent, before, strict=True)) < 0.5:
            return


def measure(setup: Setup, kinds: Sequence[str], layers: int, counts: Sequence[int]) -> list[list[str]]:
    texts, spare = make_texts(setup.rows), make_texts(1, seed=1)
    pairs = set(texts.pairs(texts.first))
    rows: list[list[str]] = []
    for index, kind in enumerate(KINDS):
        if kind not in kinds:
            continue
        alone: tuple[dict[Pair, float], float, float] | None = None
        for count in counts:
            say(f"{kind}, {count}")
            torch.set_num_threads(count)  # to be shared out: one for each
            scorer = get_scorer(
                "vflute25",
                device="cpu",
                cache=False,
                token_budget=setup.token_budget,
                bertscore_model=str(setup.folder("BERTScore").resolve()),
                bertscore_layer=layers,
                bleurt_model=str(setup.folder("BLEURT").resolve()),
                workers=count,
            )
            _, pids = score(scorer, index, set(spare.pairs(spare.first)))
            until_idle(pids)
            before, start = cpu_seconds(pids), time.perf_counter()
            found, _ = score(scorer, index, pairs)
            wall = time.perf_counter() - start
            spent = [now - then for now, then in zip(cpu_seconds(pids), before, strict=True)]
            parts = len(scorer.models[index].plan(pairs))
            scorer.release()
            alone = alone or (found, max(spent), wall)
            apart = max(abs(found[pair] - alone[0][pair]) for pair in pairs)
            rows.append(
                [
                    kind,
                    str(count),
                    str(parts),
                    " + ".join(f"{each:.1f}" for each in spent),
                    f"{alone[1] / max(spent):.2f}x",
                    f"{wall:.1f}",
                    f"{alone[2] / wall:.2f}x",
                    "equal" if apart == 0 else f"{apart:.0e} apart",
                ]
            )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=723, help="pairs to score (723, as V-FLUTE has)")
    parser.add_argument("--token-budget", type=int, help="padded tokens of a batch (the library's own default)")
    parser.add_argument("--models", nargs="+", choices=KINDS, default=KINDS, help="what to measure (both)")
    parser.add_argument("--layers", type=int, default=40, help="of DeBERTa (40)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="numbers of processes (1 2)")
    parser.add_argument("--workdir", type=Path, help="where checkpoints (5 GB) are kept for the next time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        workdir = given.workdir or Path(temporary)
        setup = Setup("cpu", False, given.rows, 1, given.token_budget, workdir, Patience(0))
        rows = measure(setup, given.models, given.layers, given.workers)
    torch.set_num_threads(1)
    print(machine("cpu"), f"{given.rows} rows, {given.layers} layers of DeBERTa", sep="\n", end="\n\n")
    print(markdown(HEADER, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
