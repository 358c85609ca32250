"""Options of tasks: the keys of ``lmms_eval_specific_kwargs`` in a task file, by model.

A benchmark declares them as fields of a model of pydantic::

    class Options(TaskOptions):
        OF: ClassVar[str] = "IRFL"

        prompt: Literal["choose", "grid"]
        blind: bool = False
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from figlang_tasks.core.row_files import first_fault
from figlang_tasks.core.score_requests import ONLY_SCORES, SCORES
from figlang_tasks.core.text import did_you_mean

Kwargs = Mapping[str, Any] | None
"""What the harness hands to the functions of a task."""

PICTURES_FIRST = "pictures_first"
"""A block of the options: a prompt for models that read all pictures before the text."""

_Own = TypeVar("_Own", bound="Options")


class Options(BaseModel):
    """Options of the tasks of a benchmark, called `OF` in messages. Values are taken as they are: "no" is no bool."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    OF: ClassVar[str] = "figlang_tasks"

    @classmethod
    def of(cls: type[_Own], kwargs: Kwargs) -> _Own:
        """Read the options from what the harness hands over.

        Raises:
            ValueError: unknown option, or a value that is not valid; the message says which are.
        """
        # The harness leaves the blocks for other models ("default", "figlang_clip", ...) in the dict: they are dicts.
        given = {str(key): value for key, value in (kwargs or {}).items() if not isinstance(value, Mapping)}
        required = {name: None for name, field in cls.model_fields.items() if field.is_required()}
        if unknown := sorted(given.keys() - cls.model_fields.keys()):
            valid = ", ".join(sorted(cls.model_fields)) or "there are none"
            meant = did_you_mean(unknown[0], cls.model_fields)
            raise ValueError(f"unknown {cls.OF} task option(s) {', '.join(unknown)}; valid: {valid}{meant}")
        try:
            return cls.model_validate(required | given)
        except ValidationError as error:
            raise ValueError(f"{cls.OF} task option {first_fault(error)}") from error

    @classmethod
    def blocks(cls: type[_Own], config: Mapping[str, Any]) -> list[_Own]:
        """The options that a task file has, for each model, put together as the harness does.

        ``default``, and a block that may take its place, adds to what stands outside of blocks; a block with the name
        of a model stands alone. What stands outside is for models without a block where there is no ``default``.
        """
        kwargs = config.get("lmms_eval_specific_kwargs") or {}
        blocks = {name: block for name, block in kwargs.items() if isinstance(block, Mapping)}
        outside = {name: value for name, value in kwargs.items() if name not in blocks}
        usual = {**outside, **blocks.get("default", {})}
        upon = {"default": outside, SCORES: outside, ONLY_SCORES: outside, PICTURES_FIRST: usual}
        found = [{**upon.get(name, {}), **block} for name, block in blocks.items()]
        if "default" not in blocks and (outside or config.get("model") not in (None, *blocks) or not blocks):
            found.append(outside)
        return [cls.of(each) for each in found]
