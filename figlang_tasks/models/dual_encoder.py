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
    read_comparison,
    row_of_text,
    with_errors_naming_rows,
)
from .dual_networks import Floats, Matcher, load
from .dual_queues import ImageEncoder, PairMatcher
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
        encoder = ImageEncoder(network, self.images)
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
        text_lengths = self._text_lengths(comparisons)
        self._log_cut_texts(comparisons, text_lengths)
        for texts, features in self.texts.run(_longest_first(text_lengths), encode_texts):
            text_features.update(zip(texts, features, strict=True))
        return Features(comparisons, encoder.features, text_features)

    def _match_all(self, network: Matcher, requests: Sequence[SimpleArguments]) -> list[str]:
        """Answer score requests by a matching head, which sees each distinct pair once."""
        matches = PairMatcher(network, self.images, self.pairs)
        for comparison, pictures in self._read_all(requests):
            matches.add(comparison, pictures)
            if len(matches.waiting) >= self.pairs.size:
                matches.match_waiting()
        matches.match_waiting()
        self._log_cut_texts(matches.comparisons, self._text_lengths(matches.comparisons))
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
            # Closed also if the caller fails: reading that has not begun is then cancelled.
            with closing(results_ahead(read, requests, limit=THREADS)) as read_requests:
                for _, (comparison, pictures) in tqdm(
                    read_requests,
                    desc="Model Responding",
                    total=len(requests),
                    disable=is_bar_hidden,
                ):
                    # Equal texts of several requests are kept in memory once.
                    texts = [distinct_texts.setdefault(text, text) for text in comparison.texts]
                    yield replace(comparison, texts=texts), pictures

    def _read(self, request: SimpleArguments) -> tuple[Comparison, list[Image.Image]]:
        """What a request compares, and its pictures."""
        doc = self.task_dict[request.task][request.split][request.doc_id]
        return read_comparison(request, doc)

    def _text_lengths(self, comparisons: Sequence[Comparison]) -> dict[str, int]:
        """The number of tokens of each distinct text of all comparisons, before it is cut."""
        texts: dict[str, None] = {}  # an ordered set
        for comparison in comparisons:
            texts.update(dict.fromkeys(comparison.texts))
        if not texts:
            return {}
        return dict(zip(texts, self.network.lengths(list(texts)), strict=True))

    def _log_cut_texts(
        self, comparisons: Sequence[Comparison], text_lengths: Mapping[str, int]
    ) -> None:
        """Log how many pairs are compared, and how many of their texts the model cuts."""
        limit = self.network.limit
        cut_count = sum(length > limit for length in text_lengths.values())
        pair_count = sum(len(comparison.pairs()) for comparison in comparisons)
        logger.log(
            "WARNING" if cut_count else "INFO",
            f"figlang_clip: {pair_count} pairs of image and text; {cut_count} of"
            f" {len(text_lengths)} texts cut to {limit} tokens",
        )


def _longest_first(text_lengths: Mapping[str, int]) -> list[str]:
    """The texts in the order of their lengths, the longest first, so that batches pad little.

    Texts of one length are sorted too, so that the order of the requests does not decide what
    shares a batch.
    """
    return sorted(text_lengths, key=lambda text: (text_lengths[text], text), reverse=True)


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
    """The cosines of normalised features: of one image with each text, or of each with one text.

    Row by row rather than by a matrix product: equal features must give equal scores, wherever they
    stand.
    """
    # One of the two is [1, width]: numpy repeats it for the rows of the other.
    return (images * texts).sum(axis=1).tolist()
