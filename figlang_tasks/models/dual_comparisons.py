"""What score requests ask ``figlang_clip`` to compare, and errors that name the row at fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from PIL import Image

from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.images import content_key
from figlang_tasks.core.row_files import brief
from figlang_tasks.metrics.explanation.compute import is_out_of_memory

from .requests import Document, SimpleArguments, errors_naming

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class CLIPError(FigLangError):
    """A score request cannot be answered; the message names task and document."""


class Pair(NamedTuple):
    """An image, by its `content_key`, with a text."""

    image_key: str
    text: str


@dataclass(frozen=True)
class Comparison:
    """What one request compares: several images with one text, or one image with several texts.

    Attributes:
        row: task and document, for messages.
        image_keys: the `content_key` of each image.
        texts: the texts.
    """

    row: str
    image_keys: Sequence[str]
    texts: Sequence[str]

    def pairs(self) -> list[Pair]:
        """Every image with every text, in the order of the scores in the answer."""
        return [Pair(image_key, text) for image_key in self.image_keys for text in self.texts]

    def answer(self, scores: Sequence[float]) -> str:
        """The answer to the request, such as ``{"scores": [0.31, 0.27]}``.

        Args:
            scores: of the pairs, in the order of `pairs`.

        Raises:
            CLIPError: a score is NaN or infinite.
        """
        try:
            return score_requests.answer(scores)
        except ValueError as error:
            raise CLIPError(f"figlang_clip: {self.row}: {error}") from error


def read_comparison(
    request: SimpleArguments, doc: Document
) -> tuple[Comparison, list[Image.Image]]:
    """What a score request compares, and its images in RGB, in the order of their keys.

    A request of kind ``match`` compares its text with each of its images, one of kind
    ``candidates`` its one image with each of the candidates.

    Args:
        request: the arguments of the request.
        doc: its document, with pictures.

    Raises:
        CLIPError: the request has no image, several images with several texts, or a text that is
            made for models that answer in words.
    """
    row = f"task {request.task}, document {request.doc_id}"
    with errors_naming(CLIPError, f"figlang_clip: {row}"):
        score_request = score_requests.score_request(request.generation_kwargs, doc)
        assert score_request is not None, "the caller has refused requests for words"
        images = [_rgb(image) for image in request.doc_to_visual(doc) or ()]
        image_keys = [content_key(image) for image in images]

    kind = score_request.kind
    if not images or (kind == "candidates" and len(images) > 1):
        needed = "one" if kind == "candidates" else "at least one"
        raise CLIPError(
            f"figlang_clip: {row}: {len(images)} images; a request of kind {kind} needs {needed}"
        )
    if kind == "match" and "<image>" in request.context:
        raise CLIPError(
            f"figlang_clip: {row}: its text contains <image>, which this model does not use."
            " Give the task a block only_scores in lmms_eval_specific_kwargs"
        )
    # The candidates are empty for kind match, and never for kind candidates.
    texts = score_request.candidates or (request.context,)
    return Comparison(row, image_keys, texts), images


def _rgb(image: Image.Image) -> Image.Image:
    return image if image.mode == "RGB" else image.convert("RGB")


# --- errors ---


def with_errors_naming_rows(
    step: Callable[[Sequence[_Item]], _Result], row_of: Callable[[_Item], str]
) -> Callable[[Sequence[_Item]], _Result]:
    """Wrap `step`, which works on a batch, so that its errors name the row of the item at fault.

    An error for want of memory passes as it is: `BatchRunner` halves the batch.

    Args:
        step: works on a batch of items.
        row_of: says which row an item is of, for the message.

    Returns:
        A function that does what `step` does, but raises a `CLIPError` where `step` fails.
    """

    def named_step(items: Sequence[_Item]) -> _Result:
        """Do what `step` does, and look for the item at fault if it fails."""
        try:
            return step(items)
        except Exception as error:  # libraries raise many classes
            if is_out_of_memory(error):
                raise
            items_at_fault, cause = _items_at_fault(step, items, error)
            rows = "; ".join(map(row_of, items_at_fault))
            cause_text = " ".join(str(cause).split())[:300]
            raise CLIPError(
                f"figlang_clip: {rows} cannot be scored: {type(cause).__name__}: {cause_text}."
                " Correct the row, or take another model"
            ) from error

    return named_step


def _items_at_fault(
    step: Callable[[Sequence[_Item]], object], items: Sequence[_Item], error: Exception
) -> tuple[Sequence[_Item], Exception]:
    """The first item of a batch for which `step` fails alone, as a list of one, with its error.

    If `step` fails for none alone, the whole batch with the error of the batch.

    Args:
        step: works on a batch.
        items: a batch for which it failed.
        error: the error of the batch.
    """
    if len(items) > 1:
        for item in items:
            try:
                step([item])
            except Exception as error_of_item:  # libraries raise many classes
                return [item], error_of_item
    return items, error


def row_of_image(comparisons: Sequence[Comparison], image_key: str) -> str:
    """The first row with an image, for messages."""
    for comparison in comparisons:
        if image_key in comparison.image_keys:
            return f"{comparison.row}: its picture"
    raise KeyError(image_key)


def row_of_text(comparisons: Sequence[Comparison], text: str) -> str:
    """The first row with a text, for messages."""
    for comparison in comparisons:
        if text in comparison.texts:
            return f"{comparison.row}: its text {brief(text)}"
    raise KeyError(text)


def row_of_pair(comparisons: Sequence[Comparison], pair: Pair) -> str:
    """The first row that compares an image with a text, for messages."""
    for comparison in comparisons:
        if pair.image_key in comparison.image_keys and pair.text in comparison.texts:
            return f"{comparison.row}: its picture with the text {brief(pair.text)}"
    raise KeyError(pair)
