"""`figlang_clip`: ranks images and texts by dual encoders and image-text matching heads.

    --model figlang_clip --model_args pretrained=openai/clip-vit-base-patch32 --batch_size 64

It answers score requests (`core.score_requests`) and nothing else. The scores, always computed in
float32 or better:

- dual encoders (CLIP, SigLIP, ALIGN ...): cosine of the two L2-normalised features, -1 to 1,
  **not** multiplied by the model's logit scale;
- BLIP, BLIP-2 (``BlipForImageTextRetrieval``, ``Blip2ForImageTextRetrieval``): probability of a
  match, 0 to 1;
- ViLT (``ViltForImageAndTextRetrieval``): sigmoid of the logit of its ranking head, whose order
  alone means something.

Dual encoders see every distinct image and text of a run once, matching heads each distinct pair.
Features are kept in memory (4 bytes times width each), pictures only until their batch is full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import torch
from lmms_eval.api.instance import Instance
from loguru import logger
from PIL import Image
from tqdm import tqdm

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import KEY, KINDS, only_scores_message

from .ahead import THREADS, BatchRunner, results_ahead, threads
from .arguments import check_arguments, require_checkpoint, whole_number
from .base import ModelBase
from .checkpoints import commit_of
from .dual_comparisons import (
    CLIPError,
    Comparison,
    Pair,
    read_comparison,
    row_of_image,
    row_of_pair,
    row_of_text,
    with_errors_naming_rows,
)
from .dual_networks import Floats, Matcher, Network, load
from .requests import SimpleArguments

AUTO_BATCH = 64
"""Images of a batch with ``--batch_size auto``."""

TEXTS = 256
"""Texts of a batch."""

ScoresOfPairs: TypeAlias = Callable[[Floats, Floats], Sequence[float]]
"""``(images, texts) -> scores``, features of float32 [n, width] each; one of them is [1, width]."""


class FigLangCLIP(ModelBase):
    """Answers score requests by a dual encoder or a matching head.

    Args:
        pretrained: hub id or folder of a dual encoder, or of one of
            `dual_networks.RETRIEVAL_CLASSES`.
        revision: of the hub repository.
        dtype: of the weights, as in transformers; official results take float32.
        device: torch device; by default the GPU of this process if there is one.
        batch_size: images of a batch, for matching heads also pairs; ``auto`` is `AUTO_BATCH`. Out
            of memory halves it.
        trust_remote_code: as in transformers.

    Raises:
        FigLangError: unknown or wrong argument, or not a dual encoder.
    """

    is_simple = True
    answers_score_requests = KINDS
    answers_words = False
    # All requests come in one call, so that each image and text is encoded once
    # (figlang_tasks.harness.answers).
    answers_at_once = True

    def __init__(
        self,
        pretrained: str = "",
        revision: str | int | None = None,
        dtype: str = "float32",
        device: str | None = None,
        batch_size: int | str = 1,
        trust_remote_code: bool = False,
        **unknown: object,
    ) -> None:
        super().__init__()
        flags = {"trust_remote_code": trust_remote_code}
        check_arguments("figlang_clip", FigLangCLIP, unknown, flags)
        require_checkpoint("figlang_clip", pretrained)
        if str(batch_size).startswith("auto"):
            size = AUTO_BATCH
        else:
            size = whole_number("figlang_clip", "batch_size", batch_size)
        self.images = BatchRunner(size, "image")
        self.texts = BatchRunner(TEXTS, "text")
        self.pairs = BatchRunner(size, "pair")
        self.device = self.accelerator.device
        # Of several processes each has a device of its own.
        if device and self._world_size == 1:
            self.device = torch.device(device)
        source: dict[str, str | bool] = {
            "revision": str(revision or "main"),
            "trust_remote_code": trust_remote_code,
        }
        self.network = load(pretrained, source, dtype, self.device)
        self.commit = commit_of(pretrained, str(source["revision"]))

    @property
    def batch_size(self) -> int:
        """Images of a batch; falls when memory runs out."""
        return self.images.size

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer score requests, in their order; nothing is kept for the next call."""
        arguments_of_requests = [SimpleArguments.of(request) for request in requests]
        for arguments in arguments_of_requests:
            if KEY not in arguments.generation_kwargs:
                raise CLIPError(only_scores_message("figlang_clip", arguments.task))
        if isinstance(self.network, Matcher):
            return self._match_all(self.network, arguments_of_requests)
        return self.features(arguments_of_requests).cosines()

    def features(self, requests: Sequence[SimpleArguments]) -> Features:
        """The features of the images and texts that score requests compare.

        Images are encoded while threads read those of later requests.

        Raises:
            FigLangError: the model is a matching head, which has no such features.
            CLIPError: a request cannot be answered.
        """
        network = self.network
        if isinstance(network, Matcher):
            raise FigLangError(
                f"{type(network.model).__name__} has no features of a picture alone:"
                " use a dual encoder"
            )
        encoder = _ImageEncoder(network, self.images)
        for comparison, pictures in self._read_all(requests):
            encoder.add(comparison, pictures)
            if len(encoder.waiting) >= self.images.size:
                encoder.encode_waiting()
        encoder.encode_waiting()

        comparisons = encoder.comparisons
        text_features: dict[str, Floats] = {}
        encode_texts = with_errors_naming_rows(
            network.text_features, partial(row_of_text, comparisons)
        )
        sorted_texts = self._longest_first(comparisons)
        for texts, features in self.texts.run(sorted_texts, encode_texts):
            text_features.update(zip(texts, features, strict=True))
        return Features(comparisons, encoder.features, text_features)

    def _match_all(self, network: Matcher, requests: Sequence[SimpleArguments]) -> list[str]:
        """Answer score requests by a matching head, which sees each distinct pair once."""
        matches = _PairMatcher(network, self.images, self.pairs)
        for comparison, pictures in self._read_all(requests):
            matches.add(comparison, pictures)
            if len(matches.waiting) >= self.pairs.size:
                matches.match_waiting()
        matches.match_waiting()
        self._longest_first(matches.comparisons)  # logs how many texts were cut
        answers: list[str] = []
        for comparison in matches.comparisons:
            scores = [matches.scores[pair] for pair in comparison.pairs()]
            answers.append(comparison.answer(scores))
        return answers

    def _read_all(
        self, requests: Sequence[SimpleArguments]
    ) -> Iterator[tuple[Comparison, list[Image.Image]]]:
        """Yield what each request compares, with its pictures, while threads read the next ones."""
        distinct_texts: dict[str, str] = {}
        with threads(THREADS) as pool:

            def read(request: SimpleArguments) -> Future[tuple[Comparison, list[Image.Image]]]:
                """Begin to read a request."""
                return pool.submit(self._read, request)

            is_bar_hidden = self.rank != 0
            with closing(results_ahead(read, requests, THREADS)) as read_requests:
                for _, (comparison, pictures) in tqdm(
                    read_requests, "Model Responding", len(requests), disable=is_bar_hidden
                ):
                    # Equal texts of several requests are kept in memory once.
                    texts = [distinct_texts.setdefault(text, text) for text in comparison.texts]
                    yield replace(comparison, texts=texts), pictures

    def _read(self, request: SimpleArguments) -> tuple[Comparison, list[Image.Image]]:
        """What a request compares, and its pictures."""
        doc = self.task_dict[request.task][request.split][request.doc_id]
        return read_comparison(request, doc)

    def _longest_first(self, comparisons: Sequence[Comparison]) -> list[str]:
        """The distinct texts of all comparisons, the longest first, so that batches pad little.

        The log says how many of them the model cuts.
        """
        texts: dict[str, None] = {}  # an ordered set
        for comparison in comparisons:
            texts.update(dict.fromkeys(comparison.texts))
        lengths = self.network.lengths(list(texts)) if texts else []
        limit = self.network.limit
        cut_count = sum(length > limit for length in lengths)
        pair_count = sum(len(comparison.pairs()) for comparison in comparisons)
        logger.log(
            "WARNING" if cut_count else "INFO",
            f"figlang_clip: {pair_count} pairs of image and text; {cut_count} of {len(texts)} texts"
            f" cut to {limit} tokens",
        )
        # Sorted by the text too, so that the order of the requests does not decide what shares a
        # batch.
        lengths_and_texts = sorted(zip(lengths, texts, strict=True), reverse=True)
        return [text for _, text in lengths_and_texts]


class _ImageEncoder:
    """Encodes each distinct image of the comparisons once, and lets go of it.

    Attributes:
        comparisons: those that were added.
        features: float32 [width], by the key of an image.
        waiting: images that are not encoded yet, by key.
    """

    def __init__(self, network: Network, batch_runner: BatchRunner) -> None:
        self._network = network
        self._batch_runner = batch_runner
        self.comparisons: list[Comparison] = []
        self.features: dict[str, Floats] = {}
        self.waiting: dict[str, Image.Image] = {}

    def add(self, comparison: Comparison, images: Sequence[Image.Image]) -> None:
        """Let the images of a comparison wait, unless they were encoded before."""
        self.comparisons.append(comparison)
        for image_key, image in zip(comparison.image_keys, images, strict=True):
            if image_key not in self.features:
                self.waiting[image_key] = image

    def encode_waiting(self) -> None:
        """Encode the images that wait."""
        step = with_errors_naming_rows(self._encode, partial(row_of_image, self.comparisons))
        for image_keys, features in self._batch_runner.run(list(self.waiting), step):
            self.features.update(zip(image_keys, features, strict=True))
        self.waiting.clear()

    def _encode(self, image_keys: Sequence[str]) -> Floats:
        """The features of a batch."""
        return self._network.image_features([self.waiting[key] for key in image_keys])


class _PairMatcher:
    """Matches each distinct pair of the comparisons once, and lets go of its image.

    Attributes:
        comparisons: those that were added.
        scores: by pair.
        waiting: the image of each pair that is not matched yet.
    """

    def __init__(
        self, network: Matcher, image_runner: BatchRunner, pair_runner: BatchRunner
    ) -> None:
        self._network = network
        self._image_runner = image_runner
        self._pair_runner = pair_runner
        self.comparisons: list[Comparison] = []
        self.scores: dict[Pair, float] = {}
        self.waiting: dict[Pair, Image.Image] = {}

    def add(self, comparison: Comparison, images: Sequence[Image.Image]) -> None:
        """Let the pairs of a comparison wait, unless they were matched before."""
        self.comparisons.append(comparison)
        image_by_key = dict(zip(comparison.image_keys, images, strict=True))
        for pair in comparison.pairs():
            if pair not in self.scores:
                self.waiting[pair] = image_by_key[pair.image_key]

    def match_waiting(self) -> None:
        """Match the pairs that wait; an image is looked at once for all of its pairs."""
        image_by_key = {pair.image_key: image for pair, image in self.waiting.items()}

        def look(image_keys: Sequence[str]) -> Mapping[str, torch.Tensor]:
            """What the model needs of a batch of images."""
            return self._network.look([image_by_key[key] for key in image_keys])

        named_look = with_errors_naming_rows(look, partial(row_of_image, self.comparisons))
        for image_keys, image_inputs in self._image_runner.run(list(image_by_key), named_look):
            pairs = [pair for pair in self.waiting if pair.image_key in image_keys]
            match = partial(self._match, image_keys, image_inputs)
            named_match = with_errors_naming_rows(match, partial(row_of_pair, self.comparisons))
            for matched_pairs, scores in self._pair_runner.run(pairs, named_match):
                self.scores.update(zip(matched_pairs, scores, strict=True))
        self.waiting.clear()

    def _match(
        self,
        image_keys: Sequence[str],
        image_inputs: Mapping[str, torch.Tensor],
        pairs: Sequence[Pair],
    ) -> list[float]:
        """The scores of a batch of pairs.

        Args:
            image_keys: the images that were looked at.
            image_inputs: what the model needs of them, in their order.
            pairs: of these images.
        """
        indices = [image_keys.index(pair.image_key) for pair in pairs]
        texts = [pair.text for pair in pairs]
        return self._network.match(image_inputs, indices, texts)


@dataclass(frozen=True)
class Features:
    """Normalised features of the images and texts of requests.

    Attributes:
        comparisons: what each request compares, in the order of the requests.
        images: float32 [width], by `content_key`.
        texts: float32 [width], by text.
    """

    comparisons: list[Comparison]
    images: dict[str, Floats]
    texts: dict[str, Floats]

    def keys_of_requests(self) -> list[set[str]]:
        """The keys of the images, and the texts, of each request."""
        return [{*comparison.image_keys, *comparison.texts} for comparison in self.comparisons]

    def all_keys(self) -> set[str]:
        """The keys of the images, and the texts, of all requests."""
        return set().union(*self.keys_of_requests())

    def pairs(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield images and texts of each request, float32 [n, width]; one of them is [1, width]."""
        for comparison in self.comparisons:
            images = np.stack([self.images[key] for key in comparison.image_keys])
            texts = np.stack([self.texts[text] for text in comparison.texts])
            yield images, texts

    def answers(self, score: ScoresOfPairs) -> list[str]:
        """The answers to the requests, in their order, by a function that scores pairs."""
        answers: list[str] = []
        for comparison, (images, texts) in zip(self.comparisons, self.pairs(), strict=True):
            answers.append(comparison.answer(score(images, texts)))
        return answers

    def cosines(self) -> list[str]:
        """The answers of the encoder itself: cosines of image and text."""
        return self.answers(_cosines)


def _cosines(images: Floats, texts: Floats) -> Sequence[float]:
    """The cosines of normalised features.

    Row by row rather than by a matrix product: equal features must give equal scores, wherever they
    stand.
    """
    return (images * texts).sum(axis=1).tolist()
