"""BERTScore F1 (Zhang et al. 2020, arXiv 1904.09675) for BERT and DeBERTa encoders: no idf, no
baseline rescaling.

What the ``bert-score`` package computes, batched by a token budget and without its faults on
transformers 5. The details that decide the last digits, as measured on that package (0.3.13): texts
are stripped; [CLS] and [SEP] are matched against but have no weight of their own, wherever they
stand; a text without tokens of its own scores 0. One difference: padding is left out of the
matching altogether, where the package counts it as a similarity of 0, so that a score there can
depend on the other pairs of its batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch.nn.functional import pad

from .cache import ScoreCache
from .compute import DType, Pair, PairModel, pad_ids, padded, without_surrogates
from .encoder import Encoder
from .weights import Located, WeightsError, load, read_config

MAX_TOKENS = 512

LAYERS = {
    "deberta-xlarge-mnli": 40,
    "deberta-large-mnli": 18,
    "deberta-base-mnli": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
}
"""The layer that bert-score 0.3.13 takes of a model, chosen by its authors for its correlation with
human judgement.
"""

_MODEL_TYPES = ("bert", "deberta")
_TOKENIZERS = ({"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"})
_CHUNK = 8  # token budgets of embeddings held at a time


class BertScore(PairModel):
    """BERTScore F1, -1 to 1, with one model, cut at `layer` (1 is the first), whose vectors are
    compared.
    """

    bounds = (-1.01, 1.01)

    def __init__(
        self, located: Located, layer: int, device: str, dtype: DType, cache: ScoreCache
    ) -> None:
        _check_config(located, layer)
        super().__init__(
            f"bertscore:{located.identity},layer:{layer},idf:no,rescale:no,max:{MAX_TOKENS}",
            device,
            dtype,
            cache,
        )
        self._located, self._layer = located, layer

    def _computed(self, pairs: set[Pair]) -> Iterator[Mapping[Pair, float]]:
        texts = list({text for pair in pairs for text in pair})
        ids = dict(zip(texts, self.token_ids(texts), strict=True))
        full = [pair for pair in pairs if all(len(ids[text]) > 2 for text in pair)]
        yield dict.fromkeys(pairs - set(full), 0.0)

        def longest_first(pair: Pair) -> tuple[int, str, int, str]:
            return -len(ids[pair[0]]), pair[0], -len(ids[pair[1]]), pair[1]

        # Memory trouble shows at once, and all pairs of a reference stand together.
        for chunk in self._chunks(sorted(full, key=longest_first), ids):
            yield self._match(chunk, ids, self._vectors(chunk, ids))

    def _chunks(
        self, pairs: Sequence[Pair], ids: Mapping[str, Sequence[int]]
    ) -> Iterator[list[Pair]]:
        """Consecutive pairs whose texts have at most `_CHUNK` token budgets; those of a reference
        stay together.
        """
        if not pairs:
            return
        self.runner.model  # noqa: B018  (the budget depends on its device)
        limit = _CHUNK * self.runner.budget
        of_reference: dict[str, set[str]] = {}
        for pair in pairs:
            of_reference.setdefault(pair[0], set()).update(pair)
        chunk: list[Pair] = []
        held: set[str] = set()
        tokens = 0
        for pair in pairs:
            added = set(pair) - held
            ahead = added if chunk and chunk[-1][0] == pair[0] else of_reference[pair[0]] - held
            if chunk and tokens + sum(len(ids[text]) for text in ahead) > limit:
                yield chunk
                chunk, held, tokens = [], set(), 0
                added = set(pair)
            chunk.append(pair)
            held |= added
            tokens += sum(len(ids[text]) for text in added)
        yield chunk

    def _vectors(
        self, chunk: Sequence[Pair], ids: Mapping[str, Sequence[int]]
    ) -> dict[str, torch.Tensor]:
        """Unit vectors of the texts of a chunk, each encoded once."""
        todo = sorted(
            {text for pair in chunk for text in pair}, key=lambda text: (-len(ids[text]), text)
        )
        vectors: dict[str, torch.Tensor] = {}

        def encode(start: int, stop: int) -> list[torch.Tensor]:
            return self._encode([ids[text] for text in todo[start:stop]])

        for start, stop, batch in self.runner.batches([len(ids[text]) for text in todo], encode):
            vectors |= zip(todo[start:stop], batch, strict=True)
        return vectors

    def _encode(self, ids: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """float32 unit vectors [tokens, width] of each text."""
        device = self.runner.device
        input_ids = pad_ids(ids, self._tokenizer.pad_token_id, device)
        mask = pad_ids([[1] * len(row) for row in ids], 0, device)
        hidden = self.runner.model(input_ids, mask).float()
        unit = hidden / hidden.norm(dim=-1, keepdim=True)
        vectors = [unit[row, : len(tokens)].clone() for row, tokens in enumerate(ids)]
        if not all(bool(torch.isfinite(vector).all()) for vector in vectors):
            raise ArithmeticError(
                f"{self._located.identity} gives vectors that are not finite; use dtype='fp32'"
            )
        return vectors

    def _match(
        self,
        chunk: Sequence[Pair],
        ids: Mapping[str, Sequence[int]],
        vectors: Mapping[str, torch.Tensor],
    ) -> dict[Pair, float]:
        """BERTScore F1 of the pairs of a chunk, by greedy matching of their vectors."""
        lengths = [max(len(ids[text]) for text in pair) for pair in chunk]
        order = sorted(range(len(chunk)), key=lambda index: (-lengths[index], index))
        scores: dict[Pair, float] = {}

        def match(start: int, stop: int) -> list[float]:
            batch = [chunk[index] for index in order[start:stop]]
            return self._f1(
                *(self._side([pair[side] for pair in batch], ids, vectors) for side in (0, 1))
            )

        for start, stop, values in self.runner.batches([lengths[index] for index in order], match):
            scores |= zip((chunk[index] for index in order[start:stop]), values, strict=True)
        return scores

    def _side(
        self,
        texts: Sequence[str],
        ids: Mapping[str, Sequence[int]],
        vectors: Mapping[str, torch.Tensor],
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Padded vectors [n, length, width], mask [n, length] and token weights [n, length] of one
        side of a batch.
        """
        device = self.runner.device
        width = padded(max(len(ids[text]) for text in texts))
        stacked = torch.stack(
            [pad(vectors[text].to(device), (0, 0, 0, width - len(ids[text]))) for text in texts]
        )
        weightless = (self._tokenizer.cls_token_id, self._tokenizer.sep_token_id)
        mask = pad_ids([[1] * len(ids[text]) for text in texts], 0, device).bool()
        weights = pad_ids(
            [[int(token not in weightless) for token in ids[text]] for text in texts], 0, device
        )
        return stacked, mask, weights.float()

    @staticmethod
    def _f1(
        reference: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        candidate: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    ) -> list[float]:
        ref, ref_mask, ref_weights = reference
        cand, cand_mask, cand_weights = candidate
        similarity = torch.bmm(cand, ref.transpose(1, 2))
        similarity = similarity.masked_fill(
            ~(cand_mask[:, :, None] & ref_mask[:, None, :]), -torch.inf
        )
        # A padded token has no match at all (-inf) and no weight: 0 for both, or their product is
        # NaN.
        best_of_cand = similarity.amax(dim=2).masked_fill(~cand_mask, 0)
        best_of_ref = similarity.amax(dim=1).masked_fill(~ref_mask, 0)
        precision = (best_of_cand * cand_weights).sum(1) / cand_weights.sum(1)
        recall = (best_of_ref * ref_weights).sum(1) / ref_weights.sum(1)
        f1 = 2 * precision * recall / (precision + recall)
        # 0 / 0: nothing but [CLS] and [SEP] on a side, or no similarity at all. The package makes
        # it 0 as well.
        return torch.where(f1.isfinite(), f1, torch.zeros_like(f1)).tolist()

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AddedToken, AutoTokenizer

        folder = self._located.folder
        tokenizer = AutoTokenizer.from_pretrained(folder)
        ids = tokenizer("the word", add_special_tokens=False)["input_ids"]
        if not ids or set(ids) == {tokenizer.unk_token_id}:
            raise WeightsError(
                f"the tokenizer in {folder} knows no words: its vocabulary is missing or damaged"
            )
        if "deberta" in type(tokenizer).__name__.lower():
            # As on transformers 4: a literal [MASK] swallows the space before it.
            tokenizer.add_special_tokens(
                {"mask_token": AddedToken("[MASK]", lstrip=True, special=True)}
            )
        return tokenizer

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        inputs = [tokenizer_input(text) for text in texts]
        return self._tokenizer(inputs, truncation=True, max_length=MAX_TOKENS)["input_ids"]

    def _load(self, dtype: torch.dtype) -> torch.nn.Module:
        from transformers import AutoConfig, BertModel, DebertaModel

        config = AutoConfig.from_pretrained(self._located.folder)
        config.num_hidden_layers = self._layer
        if config.model_type == "bert":
            model = load(BertModel, self._located, config, dtype, add_pooling_layer=False)
        else:
            model = load(DebertaModel, self._located, config, dtype)
        return Encoder(model, padded(MAX_TOKENS))


def tokenizer_input(text: str) -> str:
    """`text` without white space around it, and without halves of surrogate pairs."""
    return without_surrogates(text).strip()


def _check_config(located: Located, layer: int) -> None:
    config = read_config(located)
    # Without all files of one kind, libraries make a tokenizer that knows no word.
    if not any(all((located.folder / name).is_file() for name in names) for names in _TOKENIZERS):
        raise WeightsError(
            f"{located.folder} holds no tokenizer (tokenizer.json, vocab.txt, or vocab.json with"
            " merges.txt): put all files of the model's repository there"
        )
    if config.get("model_type") not in _MODEL_TYPES:
        raise WeightsError(
            f"{located.identity} is a {config.get('model_type')} model; BERTScore is implemented"
            f" here for {' and '.join(_MODEL_TYPES)}"
        )
    if not 1 <= layer <= config["num_hidden_layers"]:
        raise WeightsError(
            f"{located.identity} has layers 1 to {config['num_hidden_layers']}, not {layer}"
        )
