"""`figlang_clip`: ranks images and texts with dual encoders (CLIP, SigLIP, ALIGN ...) and image-text matching heads.

    --model figlang_clip --model_args pretrained=openai/clip-vit-base-patch32,cache=embeddings --batch_size 64

It answers score requests (`core.score_requests`) and nothing else. The scores, always computed in float32
or better from what the model gives out:

- dual encoders, and BLIP with ``head=cosine``: cosine of the two L2-normalised features, -1 to 1, **not** multiplied
  by the model's logit scale;
- BLIP, BLIP-2, BridgeTower (``BlipForImageTextRetrieval``, ``Blip2ForImageTextRetrieval``,
  ``BridgeTowerForImageAndTextRetrieval``): probability of a match, 0 to 1, by their matching head;
- ViLT (``ViltForImageAndTextRetrieval``): sigmoid of the logit of its ranking head, 0 to 1. The head was trained to
  rank, so that the order means something and the level does not.

Dual encoders see every distinct image and text of a run once, however many pairs there are; matching heads see each
distinct pair once. Features are kept in memory (4 bytes times width each), pictures only until their batch is
full.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
import transformers
from accelerate import Accelerator
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from loguru import logger
from PIL import Image
from torch.nn import functional
from tqdm import tqdm
from transformers.modeling_outputs import BaseModelOutput

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.images import content_key
from figlang_tasks.core.score_requests import KEY, KINDS, ScoreRequestError, answer, only_ranks, score_request
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import exact_float32, without_surrogates

from .ahead import THREADS, ahead, threads
from .memory import attempt, halved

DTYPES = ("float32", "bfloat16", "float16", "auto")
RETRIEVAL_CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "blip-2": "Blip2ForImageTextRetrieval",
    "bridgetower": "BridgeTowerForImageAndTextRetrieval",
    "vilt": "ViltForImageAndTextRetrieval",
}
AUTO_BATCH = 64
TEXT_BLOCK = 2048  # texts that are tokenized and looked up on disk together

# What a model was trained with, where its processor does not do it unless told: SigLIP has no attention mask.
_PADDED_TO_MAXIMUM = ("siglip", "siglip2", "align")
_TRAINED_LENGTH = {"align": 64}
# Text models of RoBERTa's kind, whose positions begin behind that of padding.
_POSITIONS_AFTER_PADDING = ("altclip", "bridgetower")
# The only one that keeps the texts causal in a batch without padding: transformers leaves the mask out there, and the
# faster ones then read a text in both directions.
_ATTENTION = {"aimv2": "eager"}

_Floats = npt.NDArray[np.float32]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class FigLangCLIP(lmms):
    """The model class of the harness; ``--batch_size`` is the number of images (matching heads: and of pairs).

    Args:
        pretrained: hub id or folder of a dual encoder, `RETRIEVAL_CLASSES` included.
        revision: of the hub repository.
        dtype: of the weights, one of `DTYPES`; official results take float32.
        device: torch device; by default the GPU of this process if there is one.
        batch_size: images of a batch; ``auto`` is `AUTO_BATCH`. Out of memory halves it.
        text_batch_size: texts of a batch.
        cache: folder for features and matching scores, or ``off``. Entries belong to these weights, this revision,
            this processor and this version of transformers.
        head: BLIP only: ``itm`` (default) or ``cosine``.
        max_length: tokens that a text is cut to, at most what the model takes (the default).
        trust_remote_code: as in transformers.

    Raises:
        FigLangError: unknown or wrong argument, or not a dual encoder.
    """

    is_simple = True
    answers_score_requests = KINDS
    answers_words = False
    answers_at_once = True  # each image and text is encoded once (figlang_tasks.harness.answer_cache)

    def __init__(
        self,
        pretrained: str = "",
        revision: str | int | None = None,
        dtype: str = "float32",
        device: str | None = None,
        batch_size: int | str = 1,
        text_batch_size: int = 256,
        cache: str = "off",
        head: str | None = None,
        max_length: int | None = None,
        trust_remote_code: bool = False,
        max_batch_size: Any = None,
        **unknown: Any,
    ) -> None:
        super().__init__()
        del max_batch_size  # the command line's --max_batch_size arrives here; memory sets the limit itself
        if unknown or not pretrained:
            hidden = ("unknown", "max_batch_size")
            valid = [name for name in inspect.signature(FigLangCLIP).parameters if name not in hidden]
            wrong = f"unknown argument {', '.join(sorted(unknown))}" if unknown else "pretrained= is missing"
            raise FigLangError(f"figlang_clip: {wrong}; valid: {', '.join(valid)}")
        if not cache or not isinstance(cache, str):
            raise FigLangError(f"figlang_clip: cache={cache!r}; valid: a folder, or off")
        if not isinstance(trust_remote_code, bool):  # "no" is a text, and true
            raise FigLangError(f"figlang_clip: trust_remote_code={trust_remote_code!r}; valid: True, False")
        if dtype not in DTYPES:
            raise FigLangError(f"figlang_clip: dtype={dtype!r}; valid: {', '.join(DTYPES)}")
        images = AUTO_BATCH if str(batch_size).startswith("auto") else _positive("batch_size", batch_size)
        self._sizes = {"image": images, "pair": images, "text": _positive("text_batch_size", text_batch_size)}
        self.accelerator = Accelerator()
        self._rank, self._world_size = self.accelerator.process_index, self.accelerator.num_processes
        self._device = _device(device, self.accelerator)
        revision = None if revision is None else str(revision)
        longest = None if max_length is None else _positive("max_length", max_length)
        self._network = _load(pretrained, revision, dtype, self._device, head, longest, trust_remote_code)
        self._cache = ScoreCache(None if cache == "off" else Path(cache).expanduser())
        self._revision = revision
        self._identity = self.identity() if self._cache.enabled else ""

    @property
    def device(self) -> torch.device:
        return self._device

    @property
    def batch_size(self) -> int:
        """Images of a batch; falls when memory runs out."""
        return self._sizes["image"]

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer score requests; what is kept of one call is not used by the next, which the disk cache is for.

        Returns:
            The answers, ``{"scores": [...]}`` each, in the order of `requests`.

        Raises:
            ValueError: a request asks for words or is not valid, has no image or several with candidates, or a score
                is not finite; the message names the task, and the document.
            MemoryError: a single image, text or pair does not fit.
        """
        for request in requests:
            if KEY not in request.args[1]:
                raise ValueError(only_ranks("figlang_clip", request.args[4]))
        try:
            if isinstance(self._network, _Matcher):
                return self._matched(self._network, requests)
        finally:
            self._cache.close()
        return self.features(requests).cosines()

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise ValueError(only_ranks("figlang_clip", requests[0].args[4]))

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        raise ValueError(only_ranks("figlang_clip", requests[0].args[5]))

    def clean(self) -> None:
        """Let go of the model, as the harness asks for after the answers."""
        if hasattr(self, "_network"):
            del self._network
        super().clean()

    def identity(self) -> str:
        """A digest of all that decides a feature. To be asked before the first request: the tokenizer's use leaves
        traces in it."""
        return self._network.identity(self._revision)

    def features(self, requests: list[Instance]) -> Features:
        """Encode images while they are read, then texts.

        Args:
            requests: for scores, as those of `generate_until`.

        Raises:
            FigLangError: the model looks at image and text together, and so has no features of either.
            ValueError, MemoryError: as `generate_until`.
        """
        if isinstance(network := self._network, _Matcher):
            raise FigLangError(f"{type(network.model).__name__} has no features of a picture alone: use a dual encoder")
        try:
            return self._features(network, requests)
        finally:
            self._cache.close()

    def _features(self, network: _Network, requests: list[Instance]) -> Features:
        images, texts = _Rows(), _Rows()
        waiting: dict[str, Image.Image] = {}

        def encode() -> None:
            self._encode("image", images, waiting, network.image_features)
            waiting.clear()

        def see(key: str, picture: Image.Image, place: tuple[int, int]) -> None:
            waiting[key] = picture
            if len(waiting) >= self._sizes["image"]:
                encode()

        plan = self._plan(requests, images, texts, see)
        encode()
        cut, blocks = self._measured(network, texts)
        for block in blocks:
            self._encode("text", texts, {text: text for text in block}, network.text_features)
        self._report(images, texts, sum(map(len, plan)), cut, network)
        return Features(plan, images, texts)

    def _matched(self, network: _Matcher, requests: list[Instance]) -> list[str]:
        """Read everything to learn the pairs, then read the images again, each with its texts."""
        images, texts = _Rows(), _Rows()
        places: list[tuple[int, int]] = []

        def see(key: str, picture: Image.Image, place: tuple[int, int]) -> None:
            places.append(place)

        plan = self._plan(requests, images, texts, see)
        cut, _ = self._measured(network, texts)
        names, said = list(images.rows), list(texts.rows)
        pairs = dict.fromkeys(pair for asked in plan for pair in asked.pairs())
        known = self._cache.scores(self._identity, [(names[image], said[text]) for image, text in pairs])
        scores = {pair: known.get((names[pair[0]], said[pair[1]])) for pair in pairs}
        wanted: dict[int, list[int]] = {}
        for (image, text), score in scores.items():
            if score is None:
                wanted.setdefault(image, []).append(text)

        @lru_cache(maxsize=1)
        def pictures(index: int) -> list[Image.Image]:
            return self._pictures(requests[index], self._doc(requests[index]))

        def look(rows: Sequence[int]) -> dict[str, torch.Tensor]:
            return network.look([pictures(index)[position] for index, position in (places[row] for row in rows)])

        def match(seen: dict[str, torch.Tensor], rows: Sequence[int], some: Sequence[tuple[int, int]]) -> list[float]:
            return network.match(seen, [rows.index(image) for image, _ in some], [said[text] for _, text in some])

        bar = tqdm(total=sum(map(len, wanted.values())), disable=self.rank != 0, desc="Model Responding")
        for rows, seen in self._in_batches("image", list(wanted), look):
            todo = [(row, text) for row in rows for text in wanted[row]]
            for batch, found in self._in_batches("pair", todo, partial(match, seen, rows)):
                scores.update(zip(batch, found, strict=True))
                fresh = {(names[i], said[t]): score for (i, t), score in zip(batch, found, strict=True)}
                self._cache.store(self._identity, scores=fresh)
                bar.update(len(batch))
        bar.close()
        self._report(images, texts, len(pairs), cut, network)
        return [asked.answer([scores[pair] for pair in asked.pairs()]) for asked in plan]

    def _plan(
        self,
        requests: list[Instance],
        images: _Rows,
        texts: _Rows,
        see: Callable[[str, Image.Image, tuple[int, int]], None],
    ) -> list[_Asked]:
        """Read all requests; `see` gets each distinct image once, with its place: request, and position there.

        Threads read the next ones meanwhile.
        """
        with (
            threads(THREADS) as pool,
            closing(ahead(lambda each: pool.submit(self._read, each), requests, THREADS)) as read,
        ):
            return self._planned(read, len(requests), images, texts, see)

    def _read(self, request: Instance) -> tuple[Mapping[str, Any], list[Image.Image], list[str]]:
        """Return a request's document, its pictures and their keys."""
        doc = self._doc(request)
        pictures = self._pictures(request, doc)
        return doc, pictures, [content_key(picture) for picture in pictures]

    def _planned(
        self,
        read: Iterable[tuple[Instance, tuple[Mapping[str, Any], list[Image.Image], list[str]]]],
        count: int,
        images: _Rows,
        texts: _Rows,
        see: Callable[[str, Image.Image, tuple[int, int]], None],
    ) -> list[_Asked]:
        plan = []
        bar = tqdm(read, total=count, disable=self.rank != 0, desc="Reading images")
        for index, (request, (doc, pictures, keys)) in enumerate(bar):
            context, settings, _, doc_id, task, _ = request.args
            where = f"task {task}, document {doc_id}"
            try:
                asked = score_request(settings, doc)
            except ScoreRequestError as error:
                raise ScoreRequestError(f"figlang_clip: {where}: {error}") from error
            assert asked is not None
            if not pictures or (asked.kind == "candidates" and len(pictures) > 1):
                raise ValueError(
                    f"figlang_clip: {where}: {len(pictures)} images; a request of kind "
                    f"{asked.kind} needs {'one' if asked.kind == 'candidates' else 'at least one'}"
                )
            if asked.kind == "match" and "<image>" in context:
                raise ValueError(
                    f"figlang_clip: {where}: its text contains <image>, which this model does not use. Give the task a "
                    "block only_scores in lmms_eval_specific_kwargs"
                )
            rows = []
            for position, (key, picture) in enumerate(zip(keys, pictures, strict=True)):
                new = key not in images.rows
                rows.append(images.row(key))
                if new:
                    see(key, picture, (index, position))
            said = [texts.row(text) for text in asked.candidates or (context,)]
            plan.append(_Asked(where, _indices(rows), _indices(said)))
        return plan

    def _doc(self, request: Instance) -> Mapping[str, Any]:
        _, _, _, doc_id, task, split = request.args
        return self.task_dict[task][split][doc_id]

    def _pictures(self, request: Instance, doc: Mapping[str, Any]) -> list[Image.Image]:
        _, _, doc_to_visual, doc_id, task, _ = request.args
        pictures = list(doc_to_visual(doc) or [])
        for picture in pictures:
            if not isinstance(picture, Image.Image):
                kind = type(picture).__name__
                raise ValueError(f"figlang_clip: task {task}, document {doc_id}: a {kind} instead of a PIL image")
        return pictures

    def _measured(self, network: _Network, texts: _Rows) -> tuple[int, list[list[str]]]:
        """Return how many texts will be cut, and all texts, the longest first, in blocks."""
        said = list(texts.rows)
        lengths: list[int] = []
        for start in range(0, len(said), TEXT_BLOCK):
            lengths += network.lengths(said[start : start + TEXT_BLOCK])
        # Sorted by the text too, so that the order of the requests does not decide what shares a batch.
        ordered = [text for _, text in sorted(zip(lengths, said, strict=True), reverse=True)]
        blocks = [ordered[start : start + TEXT_BLOCK] for start in range(0, len(ordered), TEXT_BLOCK)]
        return sum(length > network.limit for length in lengths), blocks

    def _encode(
        self, kind: str, rows: _Rows, items: Mapping[str, _Item], encode: Callable[[Sequence[_Item]], _Floats]
    ) -> None:
        """Fill in the features of `items`, from the disk cache or by the model."""
        stored = self._cache.embeddings(self._identity, [f"{kind} {key}" for key in items])
        missing = []
        for key in items:
            if (found := stored.get(f"{kind} {key}")) is None:
                missing.append(key)
            else:
                rows.fill([key], found)
        for keys, values in self._in_batches(kind, missing, lambda batch: encode([items[key] for key in batch])):
            rows.fill(keys, values)
            named = {f"{kind} {key}": value[None] for key, value in zip(keys, values, strict=True)}
            self._cache.store(self._identity, embeddings=named)

    def _in_batches(
        self, kind: str, items: Sequence[_Item], step: Callable[[Sequence[_Item]], _Result]
    ) -> Iterator[tuple[Sequence[_Item], _Result]]:
        """Yield each batch with its result; out of memory halves the batches of this kind for good."""
        start = 0
        while start < len(items):
            batch = items[start : start + self._sizes[kind]]
            result = attempt(partial(step, batch))
            if result is None:
                self._sizes[kind] = halved(len(batch), "figlang_clip", kind)
            else:
                yield batch, result
                start += len(batch)

    def _report(self, images: _Rows, texts: _Rows, pairs: int, cut: int, network: _Network) -> None:
        logger.log(
            "WARNING" if cut else "INFO",
            f"figlang_clip: {pairs} pairs of {len(images.rows)} images and {len(texts.rows)} texts; "
            f"{cut} of {len(texts.rows)} texts cut to {network.limit} tokens",
        )


class _Rows:
    """Features by key.

    Attributes:
        rows: the row of each key, in the order they came.
        values: float32 [at least the rows filled, width]; NaN where nothing has been filled in.
    """

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.values: _Floats = np.zeros((0, 0), dtype=np.float32)

    def row(self, key: str) -> int:
        return self.rows.setdefault(key, len(self.rows))

    def fill(self, keys: Sequence[str], values: _Floats) -> None:
        """Put in `values`, float32 [n, width]."""
        if len(self.values) < len(self.rows):
            grown = np.full((max(len(self.rows), 2 * len(self.values)), values.shape[1]), np.nan, dtype=np.float32)
            if len(self.values):
                grown[: len(self.values)] = self.values
            self.values = grown
        self.values[[self.rows[key] for key in keys]] = values


@dataclass(frozen=True)
class _Asked:
    """The comparison of one request: several images with one text, or one image with several texts, by row."""

    where: str
    images: npt.NDArray[np.int32]
    texts: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return max(len(self.images), len(self.texts))

    def pairs(self) -> list[tuple[int, int]]:
        return [(image, text) for image in self.images.tolist() for text in self.texts.tolist()]

    def answer(self, scores: Any) -> str:
        try:
            return answer(scores)
        except ValueError as error:
            raise ValueError(f"figlang_clip: {self.where}: {error}") from error


@dataclass(frozen=True)
class Features:
    """Normalised features of the images and texts of requests."""

    plan: list[_Asked]
    images: _Rows
    texts: _Rows

    def shown(self) -> list[set[str]]:
        """Of each request the keys of its images (`content_key`), and its texts."""
        images, texts = list(self.images.rows), list(self.texts.rows)
        return [{*(images[row] for row in own.images), *(texts[row] for row in own.texts)} for own in self.plan]

    def seen(self) -> set[str]:
        """Those of all requests."""
        return {key for shown in self.shown() for key in shown}

    def pairs(self) -> Iterator[tuple[_Floats, _Floats]]:
        """Images and texts, float32 [n, width] each, of the pairs of each request; one of them is [1, width]."""
        for asked in self.plan:
            yield self.images.values[asked.images], self.texts.values[asked.texts]

    def answers(self, score: Callable[[_Floats, _Floats], Any]) -> list[str]:
        """The answers by ``(images, texts) -> scores``, of the pairs of a request, in the order of requests."""
        return [asked.answer(score(*pair)) for asked, pair in zip(self.plan, self.pairs(), strict=True)]

    def cosines(self) -> list[str]:
        """The answers of the encoder itself."""
        # Row by row rather than by a matrix product: equal features must give equal scores, wherever they stand.
        return self.answers(lambda images, texts: (images * texts).sum(axis=1))


class _Network:
    """A model with its processor.

    Attributes:
        limit: tokens of the longest text that the model takes, special tokens included.
    """

    def __init__(self, model: Any, processor: Any, device: torch.device, max_length: int | None) -> None:
        self.model = model.eval().to(device)
        self.processor = processor
        self._device = device
        self._kind = model.config.model_type
        # The text_config of BLIP-2 is that of a language model, which plays no part here.
        of_text = "qformer_config" if self._kind == "blip-2" else "text_config"
        text = getattr(model.config, of_text, model.config)
        positions = getattr(text, "max_position_embeddings", None)
        if positions is not None and self._kind in _POSITIONS_AFTER_PADDING:
            positions -= text.pad_token_id + 1
        limits = (processor.tokenizer.model_max_length, positions)
        given = (max_length, _TRAINED_LENGTH.get(self._kind))
        self.limit: int = min(limit for limit in (*limits, *given) if limit is not None)
        self._takes_types = "token_type_ids" in inspect.signature(self._text_method()).parameters

    def identity(self, revision: str | None) -> str:
        """A digest of all that decides a feature. Computed before the tokenizer is used: use leaves traces in it."""
        model = self.model
        digest = hashlib.sha256()
        facts = [type(self).__name__, type(model).__name__, getattr(model.config, "_commit_hash", None), revision]
        facts += [str(model.dtype), self.limit, transformers.__version__, model.config.to_json_string()]
        facts += [_ATTENTION[self._kind]] if self._kind in _ATTENTION else []
        digest.update(json.dumps(facts).encode())
        for name, tensor in model.state_dict().items():
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().data)
        with tempfile.TemporaryDirectory() as folder:
            self.processor.save_pretrained(folder)
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    digest.update(path.name.encode())
                    digest.update(path.read_bytes())
        return digest.hexdigest()

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text before it is cut."""
        clean = [without_surrogates(text) for text in texts]
        return [len(ids) for ids in self.processor.tokenizer(clean, verbose=False)["input_ids"]]

    def image_features(self, images: Sequence[Image.Image]) -> _Floats:
        """Normalised features, float32 [n, width]."""
        with _exactly():
            return self._normalised(self._image_features(self._pixels(images)), len(images))

    def text_features(self, texts: Sequence[str]) -> _Floats:
        """Normalised features, float32 [n, width]."""
        with _exactly():
            return self._normalised(self._text_features(self._tokens(texts)), len(texts))

    def _image_features(self, pixels: Mapping[str, torch.Tensor]) -> Any:
        return self.model.get_image_features(**pixels)

    def _text_features(self, tokens: Mapping[str, torch.Tensor]) -> Any:
        return self.model.get_text_features(**tokens)

    def _text_method(self) -> Callable[..., Any]:
        return self.model.get_text_features

    def _pixels(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        processor = self.processor.image_processor
        if not getattr(processor, "do_convert_rgb", False):
            images = [_rgb(image) for image in images]
        # The whole processor where it takes images alone: its own defaults stand above the image processor's.
        inputs = (processor if self._kind == "vilt" else self.processor)(images=list(images), return_tensors="pt")
        return self._moved(inputs)

    def _tokens(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        inputs = self.processor.tokenizer(
            [without_surrogates(text) for text in texts],
            padding="max_length" if self._kind in _PADDED_TO_MAXIMUM else True,
            truncation=True,
            max_length=self.limit,
            return_tensors="pt",
        )
        if not self._takes_types:
            inputs.pop("token_type_ids", None)
        return self._moved(inputs)

    def _moved(self, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The inputs on the device; numbers with a fraction in the model's precision."""
        dtype = self.model.dtype
        return {
            name: value.to(self._device, dtype if value.is_floating_point() else None) for name, value in inputs.items()
        }

    def _normalised(self, features: Any, count: int) -> _Floats:
        if not isinstance(features, torch.Tensor):  # transformers 5 puts them into an output of several
            features = features.pooler_output
        if features.shape[:-1] != (count,):
            name = type(self.model).__name__
            raise ValueError(f"figlang_clip: {name} gives features of shape {tuple(features.shape)}, not [{count}, d]")
        return functional.normalize(features.float(), dim=-1).cpu().numpy()


class _BlipCosine(_Network):
    """BLIP's two encoders, as it compares them before matching."""

    def _image_features(self, pixels: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return self.model.vision_proj(self.model.vision_model(**pixels).last_hidden_state[:, 0])

    def _text_features(self, tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return self.model.text_proj(self.model.text_encoder(**tokens).last_hidden_state[:, 0])

    def _text_method(self) -> Callable[..., Any]:
        return self.model.text_encoder.forward


class _Matcher(_Network):
    """A model that looks at image and text together."""

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        """What the model needs of each image: tensors [n, ...]."""
        return self._pixels(images)

    def match(self, seen: Mapping[str, torch.Tensor], images: Sequence[int], texts: Sequence[str]) -> list[float]:
        """Scores, 0 to 1, of the pairs of ``seen[images[i]]`` and ``texts[i]``.

        In float64, so that the best of several sure matches can still be told apart.
        """
        shown = {name: value[list(images)] for name, value in seen.items()}
        # ViLT draws the padding, and where there is none the order of the patches: neither matters but to rounding.
        with _exactly(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            logits = self._logits(shown, self._tokens(texts)).double()
            return (logits[:, 0].sigmoid() if logits.shape[1] == 1 else logits.softmax(dim=-1)[:, 1]).tolist()

    def _logits(self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return self.model(**tokens, **shown).logits

    def _text_method(self) -> Callable[..., Any]:
        return self.model.forward


class _BlipMatcher(_Matcher):
    """Its vision tower reads each image once: in ``forward`` stands what it gave in its place."""

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        with _exactly():
            return {"pixel_values": self.model.vision_model(**self._pixels(images)).last_hidden_state}

    def _logits(self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        tower, self.model.vision_model = self.model.vision_model, _Seen()
        try:
            return self._head(**shown, **tokens)
        finally:
            self.model.vision_model = tower

    def _head(self, **inputs: torch.Tensor) -> torch.Tensor:
        return self.model(**inputs, use_itm_head=True).itm_score


class _Blip2Matcher(_BlipMatcher):
    def _head(self, **inputs: torch.Tensor) -> torch.Tensor:
        if self.model.config.image_token_index is not None:  # it takes the places of the queries off the text
            places = (self.model.config.num_query_tokens, 0)
            inputs |= {name: functional.pad(inputs[name], places, value=1) for name in ("input_ids", "attention_mask")}
        return self.model(**inputs, use_image_text_matching_head=True).logits_per_image


class _Seen(torch.nn.Module):
    """In place of a vision tower: returns what that gave for the images."""

    def forward(self, pixel_values: torch.Tensor, **others: Any) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=pixel_values)


def _rgb(image: Image.Image) -> Image.Image:
    """`image` as RGB, over white where it is transparent, as transformers' processors that convert do it."""
    if "A" not in image.getbands() and image.info.get("transparency") is None:
        return image.convert("RGB")
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def _load(
    pretrained: str,
    revision: str | None,
    dtype: str,
    device: torch.device,
    head: str | None,
    max_length: int | None,
    trust_remote_code: bool,
) -> _Network:
    source: dict[str, Any] = {"trust_remote_code": trust_remote_code}
    if revision is not None:
        source["revision"] = revision
    models.require_checkpoint("figlang_clip", pretrained)
    try:
        config = transformers.AutoConfig.from_pretrained(pretrained, **source)
    except (OSError, ValueError) as error:
        raise FigLangError(f"figlang_clip: {models.cannot_load('the configuration of', pretrained, error)}") from error
    kind = config.model_type
    model_class = _model_class(config)
    two_heads = getattr(model_class, "__name__", "") == RETRIEVAL_CLASSES["blip"]
    if head is not None and not (two_heads and head in ("itm", "cosine")):
        raise FigLangError(
            f"figlang_clip: head={head!r} for a model of type {kind}; valid: itm, cosine, for "
            f"{RETRIEVAL_CLASSES['blip']} alone"
        )
    if model_class is None:
        raise FigLangError(
            f"figlang_clip: {pretrained} ({', '.join(config.architectures or [kind])}) is not a dual encoder. "
            + ("Generative models run as --model figlang_vlm. " if models.generative_class(config) else "")
            + "Supported: models of transformers with get_image_features and get_text_features (clip, siglip, siglip2, "
            f"align, altclip, chinese_clip, metaclip_2 ...), {', '.join(RETRIEVAL_CLASSES.values())}"
        )
    attention = {"attn_implementation": _ATTENTION[kind]} if kind in _ATTENTION else {}
    try:
        options = {"dtype": dtype, **attention, **source}
        model, loaded = model_class.from_pretrained(pretrained, output_loading_info=True, **options)
        processor = transformers.AutoProcessor.from_pretrained(pretrained, **source)
    except (OSError, ValueError) as error:  # a file is missing or damaged, or needs code of the checkpoint's
        raise FigLangError(f"figlang_clip: {models.cannot_load('model and processor', pretrained, error)}") from error
    if lost := models.missing_weights(pretrained, model, loaded):
        raise FigLangError(f"figlang_clip: {lost}")
    network = _MATCHERS.get(type(model).__name__, _Network)
    return (_BlipCosine if head == "cosine" else network)(model, processor, device, max_length)


_MATCHERS: dict[str, type[_Network]] = {
    "BlipForImageTextRetrieval": _BlipMatcher,
    "Blip2ForImageTextRetrieval": _Blip2Matcher,
    "BridgeTowerForImageAndTextRetrieval": _Matcher,
    "ViltForImageAndTextRetrieval": _Matcher,
}


def _model_class(config: Any) -> Any:
    """The transformers class to load; None if it would not do."""
    if config.model_type in RETRIEVAL_CLASSES:
        names = (RETRIEVAL_CLASSES[config.model_type], "BlipModel")
        return next((getattr(transformers, name) for name in names if name in (config.architectures or [])), None)
    if config.model_type == "xclip":  # of videos
        return None
    if "AutoModel" in getattr(config, "auto_map", {}):
        return transformers.AutoModel
    found = transformers.MODEL_MAPPING.get(type(config), None)
    dual = all(hasattr(found, method) for method in ("get_image_features", "get_text_features"))
    return found if dual else None


def _device(name: str | None, accelerator: Accelerator) -> torch.device:
    if name is None or (accelerator.num_processes > 1 and re.fullmatch(r"cuda(:\d+)?", name)):
        return accelerator.device
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise FigLangError(f"figlang_clip: device={name!r}, but torch sees no GPU here; use cpu")
    return torch.device(name)


def _positive(name: str, value: Any) -> int:
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise FigLangError(f"figlang_clip: {name}={value!r}, must be a whole number of at least 1")
    return number


def _indices(rows: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.array(rows, dtype=np.int32)


@contextmanager
def _exactly() -> Iterator[None]:
    """No gradients; float32 means float32, in convolutions too, whatever another model class has set."""
    convolution: Any = getattr(torch.backends.cudnn, "conv", None)  # torch 2.9 and newer
    before = getattr(convolution, "fp32_precision", None)
    try:
        if before is not None:
            convolution.fp32_precision = "ieee"
        with torch.inference_mode(), exact_float32():
            yield
    finally:
        if before is not None:
            convolution.fp32_precision = before
