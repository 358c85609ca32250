"""BERTScore F1 (Zhang et al. 2020, arXiv 1904.09675) for BERT, DeBERTa and RoBERTa encoders.

Without idf weights, and without rescaling by a baseline.

What the ``bert-score`` package computes, batched by a token budget and without its faults on
transformers 5. The details that decide the last digits, as measured on that package (0.3.13): texts
are stripped; [CLS] and [SEP] are matched against but have no weight of their own, wherever they
stand; a text without tokens of its own scores 0. One difference: padding is left out of the
matching altogether, where the package counts it as a similarity of 0, so that a score there can
depend on the other pairs of its batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

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
    "roberta-large": 17,
}
"""The layer that bert-score 0.3.13 takes of a model.

Its authors chose it for its correlation with human judgement.
"""

_MODEL_TYPES = ("bert", "deberta", "roberta")
_TOKENIZERS = ({"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"})
"""Each set of files is enough to make a tokenizer from."""

_CHUNK = 8  # token budgets of embeddings held at a time


class _Side(NamedTuple):
    """The references, or the candidates, of a batch of pairs.

    Attributes:
        vectors: unit vectors of the tokens, padded with zeros, [pairs, length, width].
        is_token: False for padding, [pairs, length].
        weights: 1 for tokens of the text; 0 for [CLS], [SEP] and padding, [pairs, length].
    """

    vectors: torch.Tensor
    is_token: torch.Tensor
    weights: torch.Tensor


class BertScore(PairModel):
    """BERTScore F1, -1 to 1, with one model.

    Args:
        located: the weights of the model.
        layer: the layer whose vectors are compared, 1 for the first; those above are not loaded.
        device, dtype: see `compute.Runner`.
        cache: keeps the scores.

    Raises:
        WeightsError: the model is no BERT, DeBERTa or RoBERTa, or lacks a tokenizer or the layer.
    """

    bounds = (-1.01, 1.01)

    def __init__(
        self, located: Located, layer: int, device: str, dtype: DType, cache: ScoreCache
    ) -> None:
        """Check the model's configuration; its weights are loaded when they are needed."""
        config = _check_config(located, layer)
        super().__init__(
            f"bertscore:{located.identity},layer:{layer},idf:no,rescale:no,max:{MAX_TOKENS}",
            device,
            dtype,
            cache,
        )
        self._located = located
        self._layer = layer
        self._needs_space = config["model_type"] == "roberta"

    def _compute(self, pairs: set[Pair]) -> Iterator[Mapping[Pair, float]]:
        """Yield the scores of all pairs in parts, each by (reference, candidate).

        First come the pairs with an empty text, which score 0, then chunks of similar length.
        """
        texts = list(_texts_of(pairs))
        ids = dict(zip(texts, self.token_ids(texts), strict=True))
        # A text is empty if it has no token besides [CLS] and [SEP].
        pairs_to_match = [pair for pair in pairs if all(len(ids[text]) > 2 for text in pair)]
        yield dict.fromkeys(pairs - set(pairs_to_match), 0.0)

        def longest_first(pair: Pair) -> tuple[int, str, int, str]:
            """The sort key of a pair, by which all pairs of a reference stand together."""
            reference, candidate = pair
            return -len(ids[reference]), reference, -len(ids[candidate]), candidate

        # The longest first, so that trouble with the memory shows at once.
        for chunk in self._chunks(sorted(pairs_to_match, key=longest_first), ids):
            vectors = self._vectors(chunk, ids)
            yield self._match(chunk, ids, vectors)

    def _chunks(
        self, pairs: Sequence[Pair], ids: Mapping[str, Sequence[int]]
    ) -> Iterator[list[Pair]]:
        """Yield consecutive pairs whose texts have at most `_CHUNK` token budgets together.

        The pairs of a reference stay together where they fit.

        Args:
            pairs: sorted, so that the pairs of a reference follow each other.
            ids: the tokens of each text.
        """
        if not pairs:
            return
        self.runner.model  # noqa: B018  (loads the model, whose device decides the budget)
        limit = _CHUNK * self.runner.budget
        texts_by_reference: dict[str, set[str]] = {}
        for pair in pairs:
            texts_by_reference.setdefault(pair[0], set()).update(pair)

        chunk: list[Pair] = []
        chunk_texts: set[str] = set()  # the texts of the chunk: each counts once
        tokens = 0  # those of `chunk_texts`
        for pair in pairs:
            reference = pair[0]
            new_texts = set(pair) - chunk_texts
            # At the first pair of a reference, all its pairs must fit; later, the pair alone.
            is_same_reference = bool(chunk) and chunk[-1][0] == reference
            needed_texts = (
                new_texts if is_same_reference else texts_by_reference[reference] - chunk_texts
            )
            if chunk and tokens + sum(len(ids[text]) for text in needed_texts) > limit:
                yield chunk
                chunk = []
                chunk_texts = set()
                tokens = 0
                new_texts = set(pair)  # in the new chunk both texts are new
            chunk.append(pair)
            chunk_texts |= new_texts
            tokens += sum(len(ids[text]) for text in new_texts)
        yield chunk

    def _vectors(
        self, chunk: Sequence[Pair], ids: Mapping[str, Sequence[int]]
    ) -> dict[str, torch.Tensor]:
        """The unit vectors [tokens, width] of the texts of a chunk; each text is encoded once."""
        texts = sorted(_texts_of(chunk), key=lambda text: (-len(ids[text]), text))
        vectors: dict[str, torch.Tensor] = {}

        def encode(start: int, stop: int) -> list[torch.Tensor]:
            return self._encode([ids[text] for text in texts[start:stop]])

        lengths = [len(ids[text]) for text in texts]
        for start, stop, batch in self.runner.batches(lengths, encode):
            vectors |= zip(texts[start:stop], batch, strict=True)
        return vectors

    def _encode(self, ids: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """The float32 unit vectors [tokens, width] of each text.

        Raises:
            ArithmeticError: a vector is not finite.
        """
        device = self.runner.device
        input_ids = pad_ids(ids, self._tokenizer.pad_token_id, device)
        mask = pad_ids([[1] * len(row) for row in ids], 0, device)
        hidden = self.runner.model(input_ids, mask).float()
        unit = hidden / hidden.norm(dim=-1, keepdim=True)
        # Copies without padding, so that the padded batch can go.
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
        """BERTScore F1 of the pairs of a chunk, by greedy matching of their vectors.

        Args:
            chunk: the pairs, in any order.
            ids: the tokens of each text, by text.
            vectors: the unit vectors of its tokens, [tokens, width], by text.
        """
        # Batches take the longest first; a pair is as long as the longer one of its texts.
        lengths = [max(len(ids[text]) for text in pair) for pair in chunk]
        order = sorted(range(len(chunk)), key=lambda index: (-lengths[index], index))
        sorted_pairs = [chunk[index] for index in order]
        scores: dict[Pair, float] = {}

        def match(start: int, stop: int) -> list[float]:
            batch = sorted_pairs[start:stop]
            references = self._side([reference for reference, _ in batch], ids, vectors)
            candidates = self._side([candidate for _, candidate in batch], ids, vectors)
            return self._f1(references, candidates)

        sorted_lengths = [lengths[index] for index in order]
        for start, stop, batch_scores in self.runner.batches(sorted_lengths, match):
            scores |= zip(sorted_pairs[start:stop], batch_scores, strict=True)
        return scores

    def _side(
        self,
        texts: Sequence[str],
        ids: Mapping[str, Sequence[int]],
        vectors: Mapping[str, torch.Tensor],
    ) -> _Side:
        """The references, or the candidates, of a batch, padded to equal length.

        The weight of a token is 0 for [CLS], [SEP] and padding, else 1.

        Args:
            texts: the references, or the candidates.
            ids: the tokens of each text, by text.
            vectors: the unit vectors of its tokens, [tokens, width], by text.
        """
        device = self.runner.device
        padded_length = padded(max(len(ids[text]) for text in texts))
        padded_vectors: list[torch.Tensor] = []
        ones: list[list[int]] = []
        token_weights: list[list[int]] = []
        weightless = (self._tokenizer.cls_token_id, self._tokenizer.sep_token_id)
        for text in texts:
            tokens = ids[text]
            # From the last dimension on: no more numbers in a vector, vectors of zeros at the end.
            padding = (0, 0, 0, padded_length - len(tokens))
            padded_vectors.append(pad(vectors[text].to(device), padding))
            ones.append([1] * len(tokens))
            token_weights.append([int(token not in weightless) for token in tokens])
        # `pad_ids` pads to the same length, which it computes from the longest row.
        return _Side(
            vectors=torch.stack(padded_vectors),
            is_token=pad_ids(ones, 0, device).bool(),
            weights=pad_ids(token_weights, 0, device).float(),
        )

    @staticmethod
    def _f1(reference: _Side, candidate: _Side) -> list[float]:
        """BERTScore F1 of each pair of a batch.

        With x the vectors of the reference, y those of the candidate, and w their weights::

            precision = sum over y of w_y * max over x of (x . y) / sum of w_y
            recall = sum over x of w_x * max over y of (x . y) / sum of w_x
            F1 = 2 * precision * recall / (precision + recall)
        """
        similarity = torch.bmm(candidate.vectors, reference.vectors.transpose(1, 2))
        are_tokens = candidate.is_token[:, :, None] & reference.is_token[:, None, :]
        similarity = similarity.masked_fill(~are_tokens, -torch.inf)
        # A padded token has no match at all (-inf) and no weight: 0 for both, or their product is
        # NaN.
        best_of_candidate = similarity.amax(dim=2).masked_fill(~candidate.is_token, 0)
        best_of_reference = similarity.amax(dim=1).masked_fill(~reference.is_token, 0)
        precision = (best_of_candidate * candidate.weights).sum(1) / candidate.weights.sum(1)
        recall = (best_of_reference * reference.weights).sum(1) / reference.weights.sum(1)
        f1 = 2 * precision * recall / (precision + recall)
        # 0 / 0: nothing but [CLS] and [SEP] on a side, or no similarity at all. The package makes
        # it 0 as well.
        return torch.where(f1.isfinite(), f1, torch.zeros_like(f1)).tolist()

    @cached_property
    def _tokenizer(self) -> Any:  # transformers has no useful type for all tokenizers
        """The model's tokenizer, loaded at the first call.

        Raises:
            WeightsError: it knows no words.
        """
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
        """The ids of each text, with [CLS] and [SEP], cut to `MAX_TOKENS`."""
        inputs = [tokenizer_input(text) for text in texts]
        if self._needs_space:
            # To RoBERTa's tokenizer, a word at the start of a text is another one than the same
            # word behind a space. bert-score puts a space there (`add_prefix_space`), unless the
            # text is empty.
            inputs = [text and f" {text}" for text in inputs]
        return self._tokenizer(inputs, truncation=True, max_length=MAX_TOKENS)["input_ids"]

    def _load(self, dtype: torch.dtype) -> torch.nn.Module:
        """Load the encoder up to `layer`, with weights of a dtype."""
        from transformers import AutoConfig, BertModel, DebertaModel, RobertaModel

        config = AutoConfig.from_pretrained(self._located.folder)
        config.num_hidden_layers = self._layer
        if config.model_type == "bert":
            model = load(BertModel, self._located, config, dtype, add_pooling_layer=False)
        elif config.model_type == "roberta":
            model = load(RobertaModel, self._located, config, dtype, add_pooling_layer=False)
        else:
            model = load(DebertaModel, self._located, config, dtype)
        return Encoder(model, longest=padded(MAX_TOKENS))


def _texts_of(pairs: Iterable[Pair]) -> set[str]:
    """All references and candidates of pairs."""
    texts: set[str] = set()
    for pair in pairs:
        texts.update(pair)
    return texts


def tokenizer_input(text: str) -> str:
    """`text` without white space around it, and without halves of surrogate pairs."""
    return without_surrogates(text).strip()


def _check_config(located: Located, layer: int) -> dict[str, Any]:
    """The configuration of a model that `BertScore` can take.

    Raises:
        WeightsError: it is none of `_MODEL_TYPES`, or lacks a tokenizer or the layer.
    """
    config = read_config(located)
    # Without all files of one set, libraries make a tokenizer that knows no word.
    has_tokenizer = any(
        all((located.folder / name).is_file() for name in names) for names in _TOKENIZERS
    )
    if not has_tokenizer:
        raise WeightsError(
            f"{located.folder} holds no tokenizer (tokenizer.json, vocab.txt, or vocab.json with"
            " merges.txt): put all files of the model's repository there"
        )
    if config.get("model_type") not in _MODEL_TYPES:
        raise WeightsError(
            f"{located.identity} is a {config.get('model_type')} model; BERTScore is implemented"
            f" here for {', '.join(_MODEL_TYPES)}"
        )
    if not 1 <= layer <= config["num_hidden_layers"]:
        raise WeightsError(
            f"{located.identity} has layers 1 to {config['num_hidden_layers']}, not {layer}"
        )
    return config
