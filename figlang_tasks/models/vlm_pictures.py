"""Pictures for ``figlang_vlm``: keywords of a checkpoint's image processor, pictures that it
refuses, their sizes.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PIL import Image

from figlang_tasks.metrics.explanation.compute import is_out_of_memory

from . import vlm_loading

# What the code around an image processor sets, or what says how pictures are handed over.
_NOT_FOR_USERS = {
    *("self", "images", "videos", "image_like_kwargs"),
    *("return_tensors", "device", "data_format", "input_data_format"),
}
# Keywords by which pictures become fewer tokens, by image processor.
_MAKE_SMALLER = (
    "max_pixels",
    "max_patches",
    "max_image_tiles",
    "max_num_patches",
    "max_image_size",
    "size",
)
_JSON_EXAMPLE = '{"height":224,"width":224}'
_SMALLEST_SQUARE = 64  # pixels; no processor is known that refuses it


class PictureProcessing:
    """How the pictures of a run are processed.

    Attributes:
        keywords: those of the checkpoint's image processor, which a user may set.
        call_options: what the whole processor must be told at each call, as it has defaults of its
            own for it.
    """

    def __init__(self, processor: Any) -> None:
        self._processor = processor
        self.keywords = keywords_of(getattr(processor, "image_processor", None))
        self.call_options: dict[str, Any] = {}

    def set(self, options: Mapping[str, Any]) -> None:
        """Set `keywords` as ``--model_args`` gives them, by name; a `FigLangError` for a value that
        is not taken.
        """
        if not options:
            return
        options = {name: _parsed(name, value) for name, value in options.items()}
        before = self._processor.image_processor
        try:
            self._processor.image_processor = type(before).from_dict(before.to_dict(), **options)
            defaults = _defaults_above_the_image_processor(self._processor)
            if defaults is None:
                self.call_options = dict(options)
            else:
                self.call_options = {
                    name: value for name, value in options.items() if name in defaults
                }
            self._try(Image.new("RGB", (_SMALLEST_SQUARE, _SMALLEST_SQUARE)))
        except Exception as error:  # whatever a library says of a value
            given = ", ".join(f"{name}={value!r}" for name, value in options.items())
            cause = " ".join(str(error).split())
            vlm_loading.stop(
                f"the checkpoint's image processor, {type(before).__name__}, does not take {given}."
                f" Correct the value in --model_args. ({type(error).__name__}: {cause[:300]})"
            )

    def accepted(self, picture: Image.Image) -> Image.Image:
        """The picture as it is if the image processor takes it, else with as little white around it
        as it takes.

        Raises:
            Exception: that of the image processor, if it refuses the picture with any margin, too.
        """
        if getattr(self._processor, "image_processor", None) is None:  # of a language model
            return picture
        try:
            self._try(picture)
        except Exception as error:  # each family raises its own kind
            if is_out_of_memory(error):
                raise
            side = _smallest_side(picture, self._takes)
            if side is None:
                raise
            return with_margin(picture, side)
        return picture

    def _try(self, picture: Image.Image) -> None:
        defaults = _defaults_above_the_image_processor(self._processor) or {}
        options = {**defaults, **self.call_options, "return_tensors": "pt"}
        self._processor.image_processor(images=[picture], **options)

    def _takes(self, picture: Image.Image) -> bool:
        try:
            self._try(picture)
        except Exception as error:  # as above
            if is_out_of_memory(error):
                raise
            return False
        return True

    @property
    def remedy(self) -> str:
        """What to do where pictures take too much room."""
        names = [name for name in _MAKE_SMALLER if name in self.keywords]
        smaller = (
            f"make pictures smaller ({' or '.join(names)} in --model_args)"
            if names
            else "give smaller pictures"
        )
        return f"{smaller}, or show fewer of them (num_shots of the task)"


def keywords_of(image_processor: Any) -> list[str]:
    """The keywords that an image processor takes, and a user may give."""
    if image_processor is None:
        return []
    names = set(getattr(getattr(image_processor, "valid_kwargs", None), "__annotations__", {}))
    for function in (type(image_processor).__init__, image_processor.preprocess):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                names.add(parameter.name)
    return sorted(names - _NOT_FOR_USERS)


def with_margin(picture: Image.Image, side: int) -> Image.Image:
    """The picture in the middle of a white ground whose sides are `side` pixels long or longer."""
    ground = Image.new("RGB", (max(picture.width, side), max(picture.height, side)), "white")
    ground.paste(
        picture, ((ground.width - picture.width) // 2, (ground.height - picture.height) // 2)
    )
    return ground


def sizes(pictures: Sequence[Image.Image]) -> str:
    """Number and sizes of pictures, for messages."""
    if not pictures:
        return "no picture"
    shown = ", ".join(f"{picture.width} x {picture.height}" for picture in pictures[:5])
    more = ", ..." if len(pictures) > 5 else ""
    return f"{len(pictures)} picture{'s' if len(pictures) > 1 else ''} of {shown}{more} pixels"


def context_of(config: Any) -> int | None:
    """The number of tokens that prompt and answer of a model may have; None if its configuration
    sets no limit.
    """
    text_config = config.get_text_config()
    names = ("max_position_embeddings", "n_positions", "max_seq_len")
    given = [getattr(text_config, name, None) for name in names]
    positions = next((value for value in given if isinstance(value, int) and value > 0), None)
    if positions is None or getattr(
        text_config, "alibi", False
    ):  # ALiBi (Falcon) looks at distances, not positions
        return None
    rope = (
        getattr(text_config, "rope_parameters", None)
        or getattr(text_config, "rope_scaling", None)
        or {}
    )
    # Some families have a set of parameters for each kind of layer.
    kinds = [rope, *(value for value in rope.values() if isinstance(value, Mapping))]
    stretched = [positions]
    for kind in kinds:
        # Whether the number of positions is that before or after the stretching differs: the larger
        # one is taken.
        factor = kind.get("factor")
        if isinstance(factor, int | float):
            stretched.append(int(kind.get("original_max_position_embeddings", positions) * factor))
    return max(stretched)


def _smallest_side(picture: Image.Image, takes: Callable[[Image.Image], bool]) -> int | None:
    """The smallest `side` of :func:`with_margin` that is taken; None if none is."""
    refused, taken = min(picture.size), max(*picture.size, _SMALLEST_SQUARE)
    if not takes(with_margin(picture, taken)):
        return None
    while taken - refused > 1:
        middle = (refused + taken) // 2
        if takes(with_margin(picture, middle)):
            taken = middle
        else:
            refused = middle
    return taken


def _defaults_above_the_image_processor(processor: Any) -> dict[str, Any] | None:
    """What a processor tells its image processor at each call; None in transformers 4, which does
    not show it.
    """
    call_types = getattr(processor, "valid_processor_kwargs", None)
    if call_types is None:
        return None
    older = getattr(call_types, "_defaults", {}).get("images_kwargs", {})
    return {**older, **getattr(processor, "images_kwargs", {})}


def _parsed(name: str, value: Any) -> Any:
    """A value of ``--model_args``, which hands over JSON objects and lists as texts."""
    if not (isinstance(value, str) and value.startswith(("{", "["))):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        vlm_loading.stop(
            f"{name}={value} is not valid JSON ({error}): write {name}={_JSON_EXAMPLE}"
        )
