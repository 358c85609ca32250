"""Options of tasks: the keys of ``lmms_eval_specific_kwargs`` in a task file, by model.

A benchmark declares them as fields of a dataclass, each with the values that are valid::

    @dataclass(frozen=True)
    class Options(TaskOptions):
        OF: ClassVar[str] = "IRFL"

        prompt: str = one_of(("choose", "grid"))
        blind: bool = true_or_false()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from figlang_tasks.core.score_requests import ONLY_SCORES, SCORES

Kwargs = Mapping[str, Any] | None
"""What the harness hands to the functions of a task."""

PICTURES_FIRST = "pictures_first"
"""A block of the options: a prompt for models that read all pictures before the text."""

_Own = TypeVar("_Own", bound="Options")


def option(default: Any, valid: Callable[[Any], bool], words: str) -> Any:
    """A field of `Options`.

    Args:
        default: its value where the task file does not name it; `MISSING`: the task file must.
        valid: whether a value may be given.
        words: the valid values, for the message.
    """
    return field(default=default, metadata={"valid": valid, "words": words})


def one_of(values: Sequence[Any], default: Any = MISSING) -> Any:
    """One of some texts; the default may be given too."""
    return option(default, lambda value: value in (*values, default), ", ".join(values))


def true_or_false(default: bool = False) -> Any:
    return option(default, lambda value: isinstance(value, bool), "true or false")


def whole_number(default: int | None = 0, low: int = 0, high: float = float("inf"), words: str = "") -> Any:
    """A whole number from `low` to `high`; the default may be given too."""
    return option(
        default,
        lambda value: (
            (value is None and default is None)
            or (isinstance(value, int) and not isinstance(value, bool) and low <= value <= high)
        ),
        words or f"{low} or a greater whole number",
    )


@dataclass(frozen=True)
class Options:
    """Options of the tasks of a benchmark, called `OF` in messages."""

    OF: ClassVar[str] = ""

    @classmethod
    def of(cls: type[_Own], kwargs: Kwargs) -> _Own:
        """Read the options from what the harness hands over.

        Raises:
            ValueError: unknown option, or a value that is not valid; the message lists the valid ones.
        """
        known = {each.name: each for each in fields(cls)}
        # The harness leaves the blocks for other models ("default", "figlang_clip", ...) in the dict: they are dicts.
        given = {key: value for key, value in (kwargs or {}).items() if not isinstance(value, Mapping)}
        if unknown := sorted(set(given) - set(known)):
            valid = ", ".join(sorted(known)) or "there are none"
            raise ValueError(f"unknown {cls.OF} task option(s) {', '.join(unknown)}; valid: {valid}")
        for name, each in known.items():
            value = given.get(name, each.default)
            if value is MISSING or not each.metadata["valid"](value):
                shown = None if value is MISSING else value
                raise ValueError(f"{cls.OF} task option {name}={shown!r}; valid: {each.metadata['words']}")
        return cls(**given)

    @classmethod
    def blocks(cls: type[_Own], config: Mapping[str, Any]) -> list[_Own]:
        """The options that a task file has, for each model (:func:`by_model`).

        Args:
            config: the task's YAML as a dict.

        Raises:
            ValueError: as :meth:`of`.
        """
        return [cls.of(kwargs) for kwargs in by_model(config)]


@dataclass(frozen=True)
class NoOptions(Options):
    """Of a benchmark whose tasks have no options."""


def by_model(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a task file gives each model, put together as the harness does.

    ``default``, and a block that may take its place, adds to what stands outside of blocks; a block with the name of a
    model stands alone. What stands outside is for models without a block where there is no ``default``.

    Args:
        config: the task's YAML as a dict, with the name after ``--model`` under ``model`` where it is known.
    """
    kwargs = config.get("lmms_eval_specific_kwargs") or {}
    blocks = {name: block for name, block in kwargs.items() if isinstance(block, Mapping)}
    outside = {name: value for name, value in kwargs.items() if name not in blocks}
    usual = {**outside, **blocks.get("default", {})}
    upon = {"default": outside, SCORES: outside, ONLY_SCORES: outside, PICTURES_FIRST: usual}
    found: list[Mapping[str, Any]] = [{**upon.get(name, {}), **block} for name, block in blocks.items()]
    if "default" not in blocks and (outside or config.get("model") not in (None, *blocks) or not blocks):
        found.append(outside)
    return found
