"""`figlang_clip`: ranks images and texts with dual encoders (CLIP, SigLIP, ALIGN ...) and
image-text matching heads.

    --model figlang_clip --model_args pretrained=openai/clip-vit-base-patch32 --batch_size 64

It answers score requests (`core.score_requests`) and nothing else. The scores, always computed in
float32 or better:

- dual encoders: cosine of the two L2-normalised features, -1 to 1, **not** multiplied by the
  model's logit scale;
- BLIP, BLIP-2 (``BlipForImageTextRetrieval``, ``Blip2ForImageTextRetrieval``): probability of a
  match, 0 to 1;
- ViLT (``ViltForImageAndTextRetrieval``): sigmoid of the logit of its ranking head, whose order
  alone means something.

Dual encoders see every distinct image and text of a run once, matching heads each distinct pair.
Features are kept in memory (4 bytes times width each), pictures only until their batch is full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch
from lmms_eval.api.instance import Instance
from loguru import logger
from PIL import Image
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.images import content_key
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.score_requests import KEY, KINDS, answer, only_scores_message, score_request
from figlang_tasks.metrics.explanation.compute import is_out_of_memory

from .ahead import THREADS, Batches, ahead, threads
from .base import ModelBase
from .dual_networks import Floats, Matcher, load

AUTO_BATCH = 64
TEXTS = 256  # of a batch

_Result = TypeVar("_Result")


class CLIPError(FigLangError):
    """A score request cannot be answered; the message names task and document."""


class FigLangCLIP(ModelBase):
    """The model class of the harness; ``--batch_size`` is the number of images (matching heads: and
    of pairs).

    Args:
        pretrained: hub id or folder of a dual encoder, or of one of
            `dual_networks.RETRIEVAL_CLASSES`.
        revision: of the hub repository.
        dtype: of the weights, as in transformers; official results take float32.
        device: torch device; by default the GPU of this process if there is one.
        batch_size: images of a batch; ``auto`` is `AUTO_BATCH`. Out of memory halves it.
        trust_remote_code: as in transformers.

    Raises:
        FigLangError: unknown or wrong argument, or not a dual encoder.
    """

    is_simple = True
    answers_score_requests = KINDS
    answers_words = False
    answers_at_once = True  # each image and text is encoded once (figlang_tasks.harness.answers)

    def __init__(
        self,
        pretrained: str = "",
        revision: str | int | None = None,
        dtype: str = "float32",
        device: str | None = None,
        batch_size: int | str = 1,
        trust_remote_code: bool = False,
        **unknown: Any,
    ) -> None:
        super().__init__()
        models.check_arguments(
            "figlang_clip", FigLangCLIP, unknown, {"trust_remote_code": trust_remote_code}
        )
        models.require_checkpoint("figlang_clip", pretrained)
        auto = str(batch_size).startswith("auto")
        size = AUTO_BATCH if auto else models.whole_number("figlang_clip", "batch_size", batch_size)
        self.images, self.texts, self.pairs = (
            Batches(size, "image"),
            Batches(TEXTS, "text"),
            Batches(size, "pair"),
        )
        self.device = (
            torch.device(device) if device and self._world_size == 1 else self.accelerator.device
        )
        source = {"revision": str(revision or "main"), "trust_remote_code": trust_remote_code}
        self.network = load(pretrained, source, dtype, self.device)
        self.commit = models.commit_of(pretrained, str(source["revision"]))

    @property
    def batch_size(self) -> int:
        """Images of a batch; falls when memory runs out."""
        return self.images.size

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer score requests; what is kept of one call is not used by the next."""
        for request in requests:
            if KEY not in request.args[1]:
                raise CLIPError(only_scores_message("figlang_clip", request.args[4]))
        asked = [request.args for request in requests]
        if isinstance(self.network, Matcher):
            return self._matched(self.network, asked)
        return self.features(asked).cosines()

    def features(self, requests: Sequence[tuple[Any, ...]]) -> Features:
        """The features of what score requests, by their ``args``, compare; others are read
        meanwhile.
        """
        network = self.network
        if isinstance(network, Matcher):
            raise FigLangError(
                f"{type(network.model).__name__} has no features of a picture alone: use a dual"
                " encoder"
            )
        images: dict[str, Floats] = {}
        waiting: dict[str, Image.Image] = {}

        plan: list[_Asked] = []

        def features_of(keys: Sequence[str]) -> Floats:
            return network.image_features([waiting[key] for key in keys])

        image_features = _with_rows(features_of, partial(_row_of_image, plan))

        def encode() -> None:
            for keys, values in self.images.run(list(waiting), image_features):
                images.update(zip(keys, values, strict=True))
            waiting.clear()

        for asked, pictures in self._read_all(requests):
            plan.append(asked)
            waiting.update(
                (key, shown)
                for key, shown in zip(asked.images, pictures, strict=True)
                if key not in images
            )
            if len(waiting) >= self.images.size:
                encode()
        encode()
        texts: dict[str, Floats] = {}
        text_features = _with_rows(network.text_features, partial(_row_of_text, plan))
        for said, values in self.texts.run(self._measured(plan), text_features):
            texts.update(zip(said, values, strict=True))
        return Features(plan, images, texts)

    def _matched(self, network: Matcher, requests: Sequence[tuple[Any, ...]]) -> list[str]:
        """Match the pairs that were not matched before, a few batches of them at a time."""
        scores: dict[tuple[str, str], float] = {}
        waiting: dict[tuple[str, str], Image.Image] = {}
        plan: list[_Asked] = []

        def match() -> None:
            pictures = {key: picture for (key, _), picture in waiting.items()}

            def look(keys: Sequence[str]) -> Mapping[str, torch.Tensor]:
                return network.look([pictures[key] for key in keys])

            for keys, seen in self.images.run(
                list(pictures), _with_rows(look, partial(_row_of_image, plan))
            ):

                def step(
                    pairs: Sequence[tuple[str, str]],
                    keys: Sequence[str] = keys,
                    seen: Mapping[str, Any] = seen,
                ) -> list[float]:
                    return network.match(
                        seen, [keys.index(key) for key, _ in pairs], [text for _, text in pairs]
                    )

                pairs_of_keys = [pair for pair in waiting if pair[0] in keys]
                for pairs, found in self.pairs.run(
                    pairs_of_keys, _with_rows(step, partial(_row_of_pair, plan))
                ):
                    scores.update(zip(pairs, found, strict=True))
            waiting.clear()

        for asked, pictures in self._read_all(requests):
            plan.append(asked)
            for key, picture in zip(asked.images, pictures, strict=True):
                waiting.update(
                    ((key, text), picture) for text in asked.texts if (key, text) not in scores
                )
            if len(waiting) >= self.pairs.size:
                match()
        match()
        self._measured(plan)
        return [
            asked.answer([scores[key, text] for key in asked.images for text in asked.texts])
            for asked in plan
        ]

    def _read_all(
        self, requests: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[_Asked, list[Image.Image]]]:
        """Yield what each request compares, with its pictures; threads read the next ones
        meanwhile.
        """
        said: dict[str, str] = {}  # equal texts of several requests are kept once
        with (
            threads(THREADS) as pool,
            closing(ahead(lambda each: pool.submit(self._read, each), requests, THREADS)) as read,
        ):
            for _, (where, keys, texts, pictures) in tqdm(
                read, "Model Responding", len(requests), disable=self.rank != 0
            ):
                yield _Asked(where, keys, [said.setdefault(text, text) for text in texts]), pictures

    def _read(
        self, request: tuple[Any, ...]
    ) -> tuple[str, list[str], Sequence[str], list[Image.Image]]:
        """A request's task and document, the keys of its pictures, its texts and its pictures."""
        context, settings, doc_to_visual, doc_id, task, split = request
        where = f"task {task}, document {doc_id}"
        doc = self.task_dict[task][split][doc_id]
        with models.naming(CLIPError, f"figlang_clip: {where}"):
            asked = score_request(settings, doc)
            assert asked is not None
            pictures = [
                picture if picture.mode == "RGB" else picture.convert("RGB")
                for picture in doc_to_visual(doc) or []
            ]
            keys = [content_key(picture) for picture in pictures]
        if not pictures or (asked.kind == "candidates" and len(pictures) > 1):
            raise CLIPError(
                f"figlang_clip: {where}: {len(pictures)} images; a request of kind {asked.kind}"
                f" needs {'one' if asked.kind == 'candidates' else 'at least one'}"
            )
        if asked.kind == "match" and "<image>" in context:
            raise CLIPError(
                f"figlang_clip: {where}: its text contains <image>, which this model does not use."
                " Give the task a block only_scores in lmms_eval_specific_kwargs"
            )
        return where, keys, asked.candidates or (context,), pictures

    def _measured(self, plan: Sequence[_Asked]) -> list[str]:
        """All texts, the longest first; the log tells how many are cut."""
        said = list(dict.fromkeys(text for asked in plan for text in asked.texts))
        lengths = self.network.lengths(said) if said else []
        cut = sum(length > self.network.limit for length in lengths)
        logger.log(
            "WARNING" if cut else "INFO",
            f"figlang_clip: {sum(len(asked.images) * len(asked.texts) for asked in plan)} pairs of"
            f" image and text; {cut} of {len(said)} texts cut to {self.network.limit} tokens",
        )
        # Sorted by the text too, so that the order of the requests does not decide what shares a
        # batch.
        return [text for _, text in sorted(zip(lengths, said, strict=True), reverse=True)]


@dataclass(frozen=True)
class _Asked:
    """The comparison of one request: several images (their keys) with one text, or one image with
    several texts.
    """

    where: str
    images: list[str]
    texts: list[str]

    def answer(self, scores: Any) -> str:
        try:
            return answer(scores)
        except ValueError as error:
            raise CLIPError(f"figlang_clip: {self.where}: {error}") from error


def _with_rows(
    step: Callable[[Sequence[Any]], _Result], row_of: Callable[[Any], str]
) -> Callable[[Sequence[Any]], _Result]:
    """`step`, work on a batch, whose errors name the row of the item for which it fails.

    `row_of` says which row an item is of. Running out of memory is left to `Batches`.
    """

    def named(items: Sequence[Any]) -> _Result:
        try:
            return step(items)
        except Exception as error:  # libraries raise many kinds
            if is_out_of_memory(error):
                raise
            culprits, cause = _culprits(step, items, error)
            raise CLIPError(
                f"figlang_clip: {'; '.join(map(row_of, culprits))} cannot be scored:"
                f" {type(cause).__name__}: {' '.join(str(cause).split())[:300]}. Correct the row,"
                " or take another model"
            ) from error

    return named


def _culprits(
    step: Callable[[Sequence[Any]], Any], items: Sequence[Any], error: Exception
) -> tuple[Sequence[Any], Exception]:
    """The first item of a batch for which `step` fails, with its error; the whole batch if it fails
    for none alone.
    """
    if len(items) > 1:
        for item in items:
            try:
                step([item])
            except Exception as alone:  # as above
                return [item], alone
    return items, error


def _row_of_image(plan: Sequence[_Asked], key: str) -> str:
    return next(f"{asked.where}: its picture" for asked in plan if key in asked.images)


def _row_of_text(plan: Sequence[_Asked], text: str) -> str:
    return next(f"{asked.where}: its text {brief(text)}" for asked in plan if text in asked.texts)


def _row_of_pair(plan: Sequence[_Asked], pair: tuple[str, str]) -> str:
    key, text = pair
    wheres = (asked.where for asked in plan if key in asked.images and text in asked.texts)
    return f"{next(wheres)}: its picture with the text {brief(text)}"


@dataclass(frozen=True)
class Features:
    """Normalised features, float32 [width] each, of the images (by `content_key`) and texts of
    requests.
    """

    plan: list[_Asked]
    images: dict[str, Floats]
    texts: dict[str, Floats]

    def shown(self) -> list[set[str]]:
        """The keys of the images, and the texts, of each request."""
        return [{*own.images, *own.texts} for own in self.plan]

    def seen(self) -> set[str]:
        """Those of all requests."""
        return {key for shown in self.shown() for key in shown}

    def pairs(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield images and texts, float32 [n, width] each, of each request; one of them is [1,
        width].
        """
        for asked in self.plan:
            yield (
                np.stack([self.images[key] for key in asked.images]),
                np.stack([self.texts[t] for t in asked.texts]),
            )

    def answers(self, score: Callable[[Floats, Floats], Any]) -> list[str]:
        """The answers by ``(images, texts) -> scores``, of the pairs of a request, in the order of
        requests.
        """
        return [
            asked.answer(score(*pair)) for asked, pair in zip(self.plan, self.pairs(), strict=True)
        ]

    def cosines(self) -> list[str]:
        """The answers of the encoder itself."""
        # Row by row rather than by a matrix product: equal features must give equal scores,
        # wherever they stand.
        return self.answers(lambda images, texts: (images * texts).sum(axis=1))
