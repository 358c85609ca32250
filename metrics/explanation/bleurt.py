"""BLEURT (Sellam et al. 2020; BLEURT-20: Pu et al. 2021, arXiv 2110.06341) with RemBERT's layers.

Reads the PyTorch checkpoints of ``lucadiliello/BLEURT-20*``, whose own package does not import on
transformers 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from .cache import ScoreCache
from .compute import DType, Pair, PairModel, pad_ids, without_surrogates
from .encoder import Encoder
from .weights import Located, WeightsError, load, read_config

MAX_TOKENS = 512

_NAMES = {
    r"^bleurt\.": "rembert.",
    r"encoder\.embedding_projection": "encoder.embedding_hidden_mapping_in",
}
"""The name of weights in RemBERT, by their name in the checkpoint (a pattern)."""

_SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
_SPECIAL_PATTERN = re.compile("(" + "|".join(map(re.escape, _SPECIAL)) + ")")


class _PairInput(NamedTuple):
    """A pair of texts as the model reads it.

    Attributes:
        ids: ``[CLS] reference [SEP] candidate [SEP]``.
        types: 0 for each id up to the first [SEP], then 1.
    """

    ids: list[int]
    types: list[int]


class Bleurt(PairModel):
    """BLEURT with one checkpoint: the raw output of its regression head, about 0 to 1, unclipped.

    Args:
        located: the checkpoint.
        device, dtype: see `compute.Runner`.
        cache: keeps the scores.

    Raises:
        WeightsError: the checkpoint is no BLEURT, or is not of the kind of BLEURT-20.
    """

    bounds = (-2.0, 2.0)  # far beyond any score of a text

    def __init__(self, located: Located, device: str, dtype: DType, cache: ScoreCache) -> None:
        super().__init__(f"bleurt:{located.identity},max:{MAX_TOKENS}", device, dtype, cache)
        self._located = located
        self._config = _rembert_config(located)
        self._tokenizer = PairTokenizer(located)

    def _compute(self, pairs: set[Pair]) -> Iterator[Mapping[Pair, float]]:
        """Yield the scores of all pairs, a batch of similar length at a time."""
        ids_by_text: dict[str, list[int]] = {}
        inputs: dict[Pair, _PairInput] = {}
        for pair in pairs:
            for text in pair:
                if text not in ids_by_text:
                    ids_by_text[text] = self._tokenizer.ids(text)
            reference, candidate = pair
            inputs[pair] = self._tokenizer.join(ids_by_text[reference], ids_by_text[candidate])
        longest_first = sorted(inputs, key=lambda pair: (-len(inputs[pair].ids), pair))

        def forward(start: int, stop: int) -> list[float]:
            return self._forward([inputs[pair] for pair in longest_first[start:stop]])

        lengths = [len(inputs[pair].ids) for pair in longest_first]
        for start, stop, scores in self.runner.batches(lengths, forward):
            yield dict(zip(longest_first[start:stop], scores, strict=True))

    def _forward(self, inputs: Sequence[_PairInput]) -> list[float]:
        """The score of each pair of a batch.

        Raises:
            ArithmeticError: a score is not finite.
        """
        device = self.runner.device
        ids = [pair.ids for pair in inputs]
        scores = self.runner.model(
            pad_ids(ids, self._config.pad_token_id, device),
            pad_ids([[1] * len(row) for row in ids], 0, device),
            pad_ids([pair.types for pair in inputs], 0, device),
        ).float()
        if not bool(scores.isfinite().all()):
            raise ArithmeticError(
                f"{self._located.identity} gives scores that are not finite; use dtype='fp32'"
            )
        return scores.tolist()

    def _load(self, dtype: torch.dtype) -> torch.nn.Module:
        """Load the encoder with its regression head, with weights of a dtype."""
        from transformers import RemBertForSequenceClassification

        model = load(
            RemBertForSequenceClassification, self._located, self._config, dtype, key_mapping=_NAMES
        )
        return _Regression(model)


class _Regression(torch.nn.Module):
    """The encoder, and the head that reads the vector of [CLS].

    Args:
        model: a ``RemBertForSequenceClassification``, which is taken apart.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.pooler = model.rembert.pooler
        self.classifier = model.classifier
        self.encoder = Encoder(model.rembert, MAX_TOKENS, first=True)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """One number for each pair; the arguments are of shape [pairs, length]."""
        vectors = self.encoder(ids, mask, types)[:, None]  # [pairs, 1, width]
        return self.classifier(self.pooler(vectors))[:, 0]


class PairTokenizer:
    """The SentencePiece tokenizer of BLEURT, for texts and for pairs of them.

    Args:
        located: the checkpoint.

    Raises:
        WeightsError: the checkpoint has no SentencePiece model.
    """

    def __init__(self, located: Located) -> None:
        """Load the SentencePiece model, and look up the ids of the special pieces."""
        import sentencepiece

        path = located.folder / "spm.model"
        if not path.is_file():
            raise WeightsError(
                f"{path} is missing: BLEURT checkpoints of other kinds than BLEURT-20* are not"
                " supported"
            )
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self._special_ids: dict[str, int] = {}
        for name in _SPECIAL:
            special_id = self._pieces.piece_to_id(name)
            # A piece that the model lacks has the id of the unknown one.
            if self._pieces.id_to_piece(special_id) == name:
                self._special_ids[name] = special_id

    def ids(self, text: str) -> list[int]:
        """The ids of one text, without [CLS] and [SEP].

        Names of special pieces in the text stand for these pieces, as in the original tokenizer.
        """
        ids: list[int] = []
        for part in _SPECIAL_PATTERN.split(without_surrogates(text)):
            if part in self._special_ids:
                ids.append(self._special_ids[part])
            else:
                ids.extend(self._pieces.encode(part))
        return ids

    def join(self, reference: Sequence[int], candidate: Sequence[int]) -> _PairInput:
        """The ids and token types of a pair, cut to `MAX_TOKENS` as by the original tokenizer.

        One by one an id goes from the end of the longer text, from the candidate where both are
        equally long.
        """
        cut_reference = list(reference)
        cut_candidate = list(candidate)
        while len(cut_reference) + len(cut_candidate) > MAX_TOKENS - 3:
            if len(cut_reference) > len(cut_candidate):
                cut_reference.pop()
            else:
                cut_candidate.pop()
        cls = self._special_ids["[CLS]"]
        sep = self._special_ids["[SEP]"]
        return _PairInput(
            ids=[cls, *cut_reference, sep, *cut_candidate, sep],
            types=[0] * (len(cut_reference) + 2) + [1] * (len(cut_candidate) + 1),
        )


def _rembert_config(located: Located) -> Any:
    """The configuration of a BLEURT checkpoint, as that of RemBERT with one output.

    Raises:
        WeightsError: it is that of another model.
    """
    from transformers import RemBertConfig

    bleurt_config = read_config(located)
    if bleurt_config.get("model_type") != "bleurt":
        raise WeightsError(
            f"{located.folder / 'config.json'} is of model_type"
            f" {bleurt_config.get('model_type')!r}, not 'bleurt'"
        )
    options = dict(bleurt_config)
    for name in ("model_type", "architectures"):
        options.pop(name, None)
    options["input_embedding_size"] = options.pop("embedding_size")
    options["num_labels"] = 1
    return RemBertConfig(**options)
