"""The options of V-FLUTE's task files (`figlang_tasks.core.options`), and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import explanations


class Options(TaskOptions):
    """Options of a V-FLUTE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        instruction: the number of an instruction in Table 8, 1 to 21, which every row is asked
            with; None asks each row with the instruction that the authors assigned to it.
        num_shots: how many exemplars stand before the question. They are rows of the train split.
        fewshot_seed: the seed with which the exemplars are drawn.
        blind: show a white square instead of the row's image; exemplars keep theirs. The
            hypothesis-only baseline of section 4.3 ("-Image" in Table 4) sees the same, but is
            also fine-tuned on white squares; this option changes the evaluation alone.
        label_only: ask for the label without an explanation (Appendix J). Its task file turns the
            scorer off: F1@0 then counts labels alone, and F1@53 and F1@60 have no value.
        scorer: the name of the explanation scorer (`figlang_tasks.scoring.explanations`); None
            takes the paper's. The environment variable ``FIGLANG_SCORER`` overrides this option,
            unless the option is ``off``.
    """

    OF: ClassVar[str] = "V-FLUTE"

    instruction: int | None = Field(default=None, ge=1, le=rows.INSTRUCTION_COUNT)
    num_shots: int = Field(default=0, ge=0)
    fewshot_seed: int = Field(default=42, ge=0)
    blind: bool = False
    label_only: bool = False
    scorer: explanations.ScorerOption = None


def names_instructions(request: Request) -> bool:
    """Whether a request has the key ``instructions``, whose only valid value is ``all``."""
    return "instructions" in request


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check the options of a task file, load its exemplars and fetch its scorer (`Task.preflight`).

    A scorer whose weights are missing ends nothing: a warning says so.

    Args:
        config: the task file as a dict.
        request: its parsed ``dataset_name``.

    Raises:
        DataError: the exemplars cannot be loaded.
        ValueError: options exclude each other, or there is no such scorer.
    """
    # `lmms_eval_specific_kwargs` may hold a block of options for some models. Every block is
    # checked, and all of them before any exemplar is loaded.
    options_of_blocks = Options.blocks(config)
    asks_for_scene_graph = config.get("output_type") == "generate_until_agentic"
    for options in options_of_blocks:
        if options.instruction is not None and names_instructions(request):
            raise ValueError(
                "V-FLUTE task option instruction: dataset_name has instructions=all already; leave"
                " out one of the two"
            )
        if asks_for_scene_graph and (options.num_shots or options.label_only):
            raise ValueError(
                "V-FLUTE scene-graph tasks take neither num_shots nor label_only; valid:"
                " instruction, blind, scorer"
            )

    for options in options_of_blocks:
        if options.num_shots:
            # The loader keeps the exemplars for the prompts.
            rows.exemplars(request.dataset, options.num_shots, options.fewshot_seed)
    scorers = {options.scorer for options in options_of_blocks}
    for scorer in scorers:
        explanations.preflight(request.dataset, scorer)
