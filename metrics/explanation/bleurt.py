"""BLEURT (Sellam et al. 2020; BLEURT-20: Pu et al. 2021, arXiv 2110.06341) with RemBERT's layers.

Reads the PyTorch checkpoints of ``lucadiliello/BLEURT-20*``, whose own package does not import on transformers 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from .cache import ScoreCache
from .compute import DType, Runner, exact_float32, pad_ids, without_surrogates
from .encoder import Encoder
from .weights import Located, WeightsError, load, read_config

MAX_TOKENS = 512
ALGORITHM = 3  # as in BERTScore

_NAMES = {r"^bleurt\.": "rembert.", r"encoder\.embedding_projection": "encoder.embedding_hidden_mapping_in"}
"""Of weights: those of the checkpoint (patterns), and those of RemBERT."""

_SPECIAL = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
_SPECIAL_PATTERN = re.compile("(" + "|".join(map(re.escape, _SPECIAL)) + ")")

Pair = tuple[str, str]


class Bleurt:
    """BLEURT with one checkpoint; arguments as in `BertScore`."""

    def __init__(self, located: Located, device: str, dtype: DType, cache: ScoreCache) -> None:
        self._located = located
        self._cache = cache
        self._config = _config(located)
        self._tokenizer = PairTokenizer(located)
        self._runner = Runner(self._load, device, dtype)
        self.identity = f"bleurt:{located.identity},max:{MAX_TOKENS}"
        self._cache_id = f"{self.identity},{dtype},algorithm:{ALGORITHM}"

    def score(self, pairs: Sequence[Pair], advance: Callable[[int], object] = lambda done: None) -> dict[Pair, float]:
        """Raw output of the regression head for every distinct (reference, candidate) pair: about 0 to 1, unclipped."""
        known = self._cache.scores(self._cache_id, set(pairs))
        advance(len(known))
        inputs = self._in_order(set(pairs) - known.keys())
        todo = list(inputs)

        def forward(start: int, stop: int) -> list[float]:
            return self._forward([inputs[pair] for pair in todo[start:stop]])

        with torch.inference_mode(), exact_float32():
            for start, stop, values in self._runner.batches([len(inputs[pair][0]) for pair in todo], forward):
                scores = dict(zip(todo[start:stop], values, strict=True))
                self._cache.store(self._cache_id, scores)
                known |= scores
                advance(len(scores))
        return known

    def release(self) -> None:
        """Free the model's memory."""
        self._runner.release()

    def _in_order(self, pairs: Iterable[Pair]) -> dict[Pair, tuple[list[int], list[int]]]:
        """Ids and token types of each pair, the longest first."""
        pairs = list(pairs)
        tokens = {text: self._tokenizer.ids(text) for text in {text for pair in pairs for text in pair}}
        inputs = {pair: self._tokenizer.join(tokens[pair[0]], tokens[pair[1]]) for pair in pairs}
        return dict(sorted(inputs.items(), key=lambda item: (-len(item[1][0]), item[0])))

    def _forward(self, inputs: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        device = self._runner.device
        values = self._runner.model(
            pad_ids([ids for ids, _ in inputs], self._config.pad_token_id, device),
            pad_ids([[1] * len(ids) for ids, _ in inputs], 0, device),
            pad_ids([types for _, types in inputs], 0, device),
        ).float()
        if not bool(values.isfinite().all()):
            raise ArithmeticError(f"{self._located.identity} gives scores that are not finite; use dtype='fp32'")
        return values.tolist()

    def _load(self, dtype: torch.dtype) -> torch.nn.Module:
        from transformers import RemBertForSequenceClassification

        model = load(RemBertForSequenceClassification, self._located, self._config, dtype, key_mapping=_NAMES)
        return _Regression(model)


class _Regression(torch.nn.Module):
    """The encoder, and the head that reads the vector of [CLS]; takes ``RemBertForSequenceClassification`` apart."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.pooler, self.classifier = model.rembert.pooler, model.classifier
        self.encoder = Encoder(model.rembert, MAX_TOKENS, first=True)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """One number for each pair; all of shape [pairs, length]."""
        return self.classifier(self.pooler(self.encoder(ids, mask, types)[:, None]))[:, 0]


class PairTokenizer:
    """SentencePiece ids of a text pair: ``[CLS] reference [SEP] candidate [SEP]``, at most `MAX_TOKENS`."""

    def __init__(self, located: Located) -> None:
        import sentencepiece

        path = located.folder / "spm.model"
        if not path.is_file():
            raise WeightsError(
                f"{path} is missing: BLEURT checkpoints of other kinds than BLEURT-20* are not supported"
            )
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        found = {name: self._pieces.piece_to_id(name) for name in _SPECIAL}
        self._special_ids = {name: id for name, id in found.items() if self._pieces.id_to_piece(id) == name}

    def ids(self, text: str) -> list[int]:
        """Ids of one text. Names of special pieces in it stand for these, as in the original tokenizer."""
        ids: list[int] = []
        for part in _SPECIAL_PATTERN.split(without_surrogates(text)):
            ids += [self._special_ids[part]] if part in self._special_ids else self._pieces.encode(part)
        return ids

    def join(self, reference: Sequence[int], candidate: Sequence[int]) -> tuple[list[int], list[int]]:
        """Ids and token types of a pair, cut as the original tokenizer cuts: one by one from the longer side."""
        kept_ref, kept_cand = cut_pair(len(reference), len(candidate), MAX_TOKENS - 3)
        cls, sep = self._special_ids["[CLS]"], self._special_ids["[SEP]"]
        first = [cls, *reference[:kept_ref], sep]
        second = [*candidate[:kept_cand], sep]
        return first + second, [0] * len(first) + [1] * len(second)


def cut_pair(first: int, second: int, total: int) -> tuple[int, int]:
    """Lengths after taking tokens off the longer text (off the second of two equal ones) until they fit `total`."""
    while first + second > total:
        first, second = (first - 1, second) if first > second else (first, second - 1)
    return first, second


def _config(located: Located) -> Any:
    from transformers import RemBertConfig

    given = read_config(located)
    if given.get("model_type") != "bleurt":
        raise WeightsError(
            f"{located.folder / 'config.json'} is of model_type {given.get('model_type')!r}, not 'bleurt'"
        )
    same = {key: value for key, value in given.items() if key not in ("model_type", "architectures", "embedding_size")}
    return RemBertConfig(**{**same, "input_embedding_size": given["embedding_size"], "num_labels": 1})
