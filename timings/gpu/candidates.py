"""Candidate scoring: 50 candidates of one request, by a LLaVA with random weights."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace

import torch

from figlang_tasks.models.vlm_scoring import Scorer
from timings.candidate_scoring import AIMS, SIZES, build, candidates, timed, whole
from timings.gpu.flops import count_flops
from timings.gpu.measurement import Measurement

SECTION = "candidate scoring"
ARCHITECTURE = "llava"
CANDIDATES = 50
RUNS = 5
BASELINE = "one forward pass per candidate"


@torch.inference_mode()
def measure(device: str, small: bool) -> Iterator[Measurement]:
    """Yield the speed with the prefix shared, and of one pass per candidate, in bfloat16.

    The two ways run in turns.
    """
    size = "small" if small else "cuda"
    with torch.device(device):  # random weights are drawn there
        model, inputs = build(ARCHITECTURE, size, device, torch.bfloat16)
    scorer = Scorer(model, SimpleNamespace(pad_token_id=0))
    token_ids = candidates(CANDIDATES, SIZES[size][2])

    def score_each_alone() -> list[list[float]]:
        return [whole(model, inputs, ids) for ids in token_ids]

    ways: dict[str, Callable[[], list[list[float]]]] = {
        "prefix shared by all": partial(scorer.log_probs, inputs, token_ids),
        BASELINE: score_each_alone,
    }
    # The first call also checks the shared prefix, which a run does once.
    flops = dict.fromkeys(ways, 0)
    for name, score in ways.items():
        score()
        flops[name] = count_flops(score)

    seconds: dict[str, list[float]] = {name: [] for name in ways}
    sums: dict[str, list[float]] = {}
    for _ in range(RUNS):
        for name, score in ways.items():
            taken, log_probs = timed(score, device)
            seconds[name].append(taken)
            sums[name] = [sum(log_probs_of_tokens) for log_probs_of_tokens in log_probs]

    difference = max(abs(a - b) for a, b in zip(*sums.values(), strict=True))
    aim = f"aim: {AIMS[ARCHITECTURE]:g}x"
    prefix = "shared" if scorer.uses_shared_prefix else "NOT trusted, so decoded token by token"
    remarks = {
        BASELINE: f"sums of log-probabilities differ by {difference:.2g} nats at most",
        "prefix shared by all": f"median of {RUNS} runs; prefix {prefix}; {aim}",
    }
    for name in ways:
        median = statistics.median(seconds[name])
        yield Measurement(
            SECTION,
            name,
            CANDIDATES / median,
            "candidates/s",
            baseline="" if name == BASELINE else BASELINE,
            tflops=flops[name] / median / 1e12,
            remark=remarks[name],
        )
