"""BLEURT (Sellam et al. 2020; BLEURT-20: Pu et al. 2021, arXiv 2110.06341) with RemBERT's layers.

Reads the PyTorch checkpoints of ``lucadiliello/BLEURT-20*``, whose own package does not import on
transformers 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
"""Of weights: those of the checkpoint (patterns), and those of RemBERT."""

_SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
_SPECIAL_PATTERN = re.compile("(" + "|".join(map(re.escape, _SPECIAL)) + ")")


class Bleurt(PairModel):
    """BLEURT with one checkpoint: raw output of the regression head, about 0 to 1, unclipped."""

    bounds = (-2.0, 2.0)  # far outside of what it says of any text

    def __init__(self, located: Located, device: str, dtype: DType, cache: ScoreCache) -> None:
        super().__init__(f"bleurt:{located.identity},max:{MAX_TOKENS}", device, dtype, cache)
        self._located = located
        self._config = _config(located)
        self._tokenizer = PairTokenizer(located)

    def _computed(self, pairs: set[Pair]) -> Iterator[Mapping[Pair, float]]:
        tokens = {
            text: self._tokenizer.ids(text) for text in {text for pair in pairs for text in pair}
        }
        inputs = {pair: self._tokenizer.join(tokens[pair[0]], tokens[pair[1]]) for pair in pairs}
        todo = sorted(inputs, key=lambda pair: (-len(inputs[pair][0]), pair))  # the longest first

        def forward(start: int, stop: int) -> list[float]:
            return self._forward([inputs[pair] for pair in todo[start:stop]])

        for start, stop, values in self.runner.batches(
            [len(inputs[pair][0]) for pair in todo], forward
        ):
            yield dict(zip(todo[start:stop], values, strict=True))

    def _forward(self, inputs: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        device = self.runner.device
        values = self.runner.model(
            pad_ids([ids for ids, _ in inputs], self._config.pad_token_id, device),
            pad_ids([[1] * len(ids) for ids, _ in inputs], 0, device),
            pad_ids([types for _, types in inputs], 0, device),
        ).float()
        if not bool(values.isfinite().all()):
            raise ArithmeticError(
                f"{self._located.identity} gives scores that are not finite; use dtype='fp32'"
            )
        return values.tolist()

    def _load(self, dtype: torch.dtype) -> torch.nn.Module:
        from transformers import RemBertForSequenceClassification

        model = load(
            RemBertForSequenceClassification, self._located, self._config, dtype, key_mapping=_NAMES
        )
        return _Regression(model)


class _Regression(torch.nn.Module):
    """The encoder, and the head that reads the vector of [CLS]; takes
    ``RemBertForSequenceClassification`` apart.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.pooler, self.classifier = model.rembert.pooler, model.classifier
        self.encoder = Encoder(model.rembert, MAX_TOKENS, first=True)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """One number for each pair; the arguments are of shape [pairs, length]."""
        return self.classifier(self.pooler(self.encoder(ids, mask, types)[:, None]))[:, 0]


class PairTokenizer:
    """SentencePiece ids of a text pair: ``[CLS] reference [SEP] candidate [SEP]``, at most
    `MAX_TOKENS`.
    """

    def __init__(self, located: Located) -> None:
        import sentencepiece

        path = located.folder / "spm.model"
        if not path.is_file():
            raise WeightsError(
                f"{path} is missing: BLEURT checkpoints of other kinds than BLEURT-20* are not"
                " supported"
            )
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        found = {name: self._pieces.piece_to_id(name) for name in _SPECIAL}
        self._special_ids = {
            name: id for name, id in found.items() if self._pieces.id_to_piece(id) == name
        }

    def ids(self, text: str) -> list[int]:
        """Ids of one text. Names of special pieces in it stand for these, as in the original
        tokenizer.
        """
        ids: list[int] = []
        for part in _SPECIAL_PATTERN.split(without_surrogates(text)):
            ids += (
                [self._special_ids[part]]
                if part in self._special_ids
                else self._pieces.encode(part)
            )
        return ids

    def join(
        self, reference: Sequence[int], candidate: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """Ids and token types of a pair, cut to `MAX_TOKENS` as by the original tokenizer.

        One by one goes from the longer side, from the candidate where both are equal.
        """
        first, second = list(reference), list(candidate)
        while len(first) + len(second) > MAX_TOKENS - 3:
            (first if len(first) > len(second) else second).pop()
        cls, sep = self._special_ids["[CLS]"], self._special_ids["[SEP]"]
        return [cls, *first, sep, *second, sep], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def _config(located: Located) -> Any:
    from transformers import RemBertConfig

    given = read_config(located)
    if given.get("model_type") != "bleurt":
        raise WeightsError(
            f"{located.folder / 'config.json'} is of model_type {given.get('model_type')!r}, not"
            " 'bleurt'"
        )
    same = {
        key: value
        for key, value in given.items()
        if key not in ("model_type", "architectures", "embedding_size")
    }
    return RemBertConfig(
        **{**same, "input_embedding_size": given["embedding_size"], "num_labels": 1}
    )
