"""Pictures for ``figlang_vlm``: options of an image processor, and pictures that it refuses."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, get_args, is_typeddict

from PIL import Image

from figlang_tasks.metrics.explanation.compute import is_out_of_memory

from . import vlm_loading

if TYPE_CHECKING:
    from transformers import BaseImageProcessor, ProcessorMixin

Options: TypeAlias = dict[str, Any]
"""Keyword arguments of an image processor."""

_NOT_FOR_USERS = {
    # what says how pictures are handed over
    *("self", "images", "videos", "image_like_kwargs"),
    # what the code around an image processor sets
    *("return_tensors", "device", "data_format", "input_data_format"),
}
"""Parameters of image processors that are no options of a user."""

_MAKE_SMALLER = (
    "max_pixels",
    "max_patches",
    "max_image_tiles",
    "max_num_patches",
    "max_image_size",
    "size",
)
"""Options by which pictures become fewer tokens; each image processor has some of them."""

_JSON_EXAMPLE = '{"height":224,"width":224}'
_SMALLEST_SQUARE = 64  # pixels; no processor is known that refuses it


class PictureProcessing:
    """How the processor of a checkpoint treats pictures.

    Attributes:
        keywords: options of the image processor that a user may set, sorted.
        call_options: options that the whole processor must be given at each call, because it has
            defaults of its own that would override the image processor's.
    """

    def __init__(self, processor: ProcessorMixin) -> None:
        self._processor = processor
        self.keywords = keywords_of(getattr(processor, "image_processor", None))
        self.call_options: Options = {}

    def set(self, options: Mapping[str, Any]) -> None:
        """Replace the image processor by one with these options, and try it on a picture.

        It also sets `call_options`. Without options nothing is done.

        Args:
            options: by keyword, as ``--model_args`` gives them.

        Raises:
            FigLangError: the image processor does not take a value.
        """
        if not options:
            return
        options = {name: _parsed(name, option) for name, option in options.items()}
        image_processor = self._processor.image_processor
        try:
            self._processor.image_processor = type(image_processor).from_dict(
                image_processor.to_dict(), **options
            )
            # The processor's own defaults for calls would override these options.
            self.call_options = self._overridden(options)
            # A trial: some wrong values only fail when a picture is processed.
            self._process(Image.new("RGB", (_SMALLEST_SQUARE, _SMALLEST_SQUARE)))
        except Exception as error:  # libraries raise many classes for a value that they cannot use
            settings = ", ".join(f"{name}={option!r}" for name, option in options.items())
            cause = " ".join(str(error).split())
            vlm_loading.stop(
                f"the checkpoint's image processor, {type(image_processor).__name__}, does not take"
                f" {settings}. Correct the value in --model_args. ({type(error).__name__}:"
                f" {cause[:300]})"
            )

    def _overridden(self, options: Options) -> Options:
        """The options that the whole processor overrides by a default of its own.

        All of them if it does not say which defaults it has.
        """
        defaults = _defaults_of_calls(self._processor)
        if defaults is None:
            return dict(options)
        return {name: option for name, option in options.items() if name in defaults}

    def accepted(self, picture: Image.Image) -> Image.Image:
        """The picture as it is if the image processor takes it, else with a white margin.

        The margin is as small as the image processor takes.

        Raises:
            Exception: that of the image processor, if it refuses the picture with any margin too.
        """
        # The processor of a language model has no image processor.
        if getattr(self._processor, "image_processor", None) is None:
            return picture
        try:
            self._process(picture)
        except Exception as error:  # each family raises its own class
            if is_out_of_memory(error):
                raise
            side = _smallest_side(picture, self._takes)
            if side is None:
                raise
            return with_margin(picture, side)
        return picture

    def _process(self, picture: Image.Image) -> None:
        """Process one picture as the whole processor would, to see whether that fails."""
        defaults = _defaults_of_calls(self._processor) or {}
        options = {**defaults, **self.call_options, "return_tensors": "pt"}
        self._processor.image_processor(images=[picture], **options)

    def _takes(self, picture: Image.Image) -> bool:
        """Whether the image processor takes a picture."""
        try:
            self._process(picture)
        except Exception as error:  # each family raises its own class
            if is_out_of_memory(error):
                raise
            return False
        return True

    @property
    def remedy(self) -> str:
        """What a user can do where pictures take too much room."""
        options = [name for name in _MAKE_SMALLER if name in self.keywords]
        smaller = "give smaller pictures"
        if options:
            smaller = f"make pictures smaller ({' or '.join(options)} in --model_args)"
        return f"{smaller}, or show fewer of them (num_shots of the task)"


def keywords_of(image_processor: BaseImageProcessor | None) -> list[str]:
    """The keywords that an image processor takes and a user may give, sorted."""
    if image_processor is None:
        return []
    # An image processor of transformers 5 lists its options in the annotations of a class, an older
    # one in the signatures of its functions.
    option_types = getattr(image_processor, "valid_kwargs", None)
    names = set(getattr(option_types, "__annotations__", {}))
    for function in (type(image_processor).__init__, image_processor.preprocess):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                names.add(parameter.name)
    return sorted(names - _NOT_FOR_USERS)


def with_margin(picture: Image.Image, side: int) -> Image.Image:
    """The picture in the middle of a white one, each side of which has at least `side` pixels."""
    width = max(picture.width, side)
    height = max(picture.height, side)
    white = Image.new("RGB", (width, height), "white")
    white.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
    return white


def sizes(pictures: Sequence[Image.Image]) -> str:
    """Number and sizes of pictures, for messages: "2 pictures of 64 x 48, 40 x 30 pixels"."""
    if not pictures:
        return "no picture"
    first_pictures = pictures[:5]
    first_sizes = ", ".join(f"{picture.width} x {picture.height}" for picture in first_pictures)
    ellipsis = ", ..." if len(pictures) > 5 else ""
    plural = "s" if len(pictures) > 1 else ""
    return f"{len(pictures)} picture{plural} of {first_sizes}{ellipsis} pixels"


def _smallest_side(picture: Image.Image, takes: Callable[[Image.Image], bool]) -> int | None:
    """The smallest `side` of `with_margin` for which the picture is taken; None if there is none.

    Found by bisection between the picture's shorter side, with which it was refused, and a square.
    """
    refused_side = min(picture.size)
    taken_side = max(*picture.size, _SMALLEST_SQUARE)
    if not takes(with_margin(picture, taken_side)):
        return None
    while taken_side - refused_side > 1:
        middle = (refused_side + taken_side) // 2
        if takes(with_margin(picture, middle)):
            taken_side = middle
        else:
            refused_side = middle
    return taken_side


def _defaults_of_calls(processor: ProcessorMixin) -> Options | None:
    """The options that a whole processor gives its image processor at each call, by default.

    None if the processor does not say which they are, as code of a checkpoint may not.
    """
    call_types = _call_types(processor)
    if not call_types:
        return None
    defaults: Options = {}
    for keyword_types in call_types:
        defaults.update(getattr(keyword_types, "_defaults", {}).get("images_kwargs", {}))
    # Newer processors of transformers 5 have them as an attribute.
    return {**defaults, **getattr(processor, "images_kwargs", {})}


def _call_types(processor: ProcessorMixin) -> list[type]:
    """The types of the keyword arguments of a processor's call, which declare their defaults.

    Older processors of transformers 5 have them as an attribute, those of 4.57 in the signature
    alone: ``**kwargs: Unpack[Types]``.
    """
    call_types: list[type] = []
    declared = getattr(processor, "valid_processor_kwargs", None)
    if declared is not None:
        call_types.append(declared)
    keywords = inspect.signature(processor.__call__).parameters.get("kwargs")
    if keywords is not None:
        # Other annotations (``dict[str, Any]``) say nothing about defaults.
        call_types.extend(filter(is_typeddict, get_args(keywords.annotation)))
    return call_types


def _parsed(name: str, option: object) -> object:
    """An option of ``--model_args``, read as JSON if it is an object or a list.

    lmms-eval 0.7.3 reads numbers and booleans itself, and hands these over as texts.
    """
    if not isinstance(option, str) or not option.startswith(("{", "[")):
        return option
    try:
        return json.loads(option)
    except ValueError as error:
        vlm_loading.stop(
            f"{name}={option} is not valid JSON ({error}): write {name}={_JSON_EXAMPLE}"
        )
