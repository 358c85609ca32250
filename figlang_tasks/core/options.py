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

from figlang_tasks.core.blocks import options_by_block
from figlang_tasks.core.row_files import first_fault
from figlang_tasks.core.text import did_you_mean

Kwargs = Mapping[str, Any] | None
"""What the harness hands to the functions of a task."""

_Own = TypeVar("_Own", bound="Options")


class Options(BaseModel):
    """Options of the tasks of a benchmark, called `OF` in messages. Values are taken as they are:
    "no" is no bool.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    OF: ClassVar[str] = "figlang_tasks"

    @classmethod
    def of(cls: type[_Own], kwargs: Kwargs) -> _Own:
        """Read the options from what the harness hands over.

        Raises:
            ValueError: unknown option, or a value that is not valid; the message says which are.
        """
        # The harness leaves the blocks for other models ("default", "figlang_clip", ...) in the
        # dict: they are dicts.
        given = {
            str(key): value
            for key, value in (kwargs or {}).items()
            if not isinstance(value, Mapping)
        }
        required = {name: None for name, field in cls.model_fields.items() if field.is_required()}
        if unknown := sorted(given.keys() - cls.model_fields.keys()):
            valid = ", ".join(sorted(cls.model_fields)) or "there are none"
            meant = did_you_mean(unknown[0], cls.model_fields)
            raise ValueError(
                f"unknown {cls.OF} task option(s) {', '.join(unknown)}; valid: {valid}{meant}"
            )
        try:
            return cls.model_validate(required | given)
        except ValidationError as error:
            raise ValueError(f"{cls.OF} task option {first_fault(error)}") from error

    @classmethod
    def blocks(cls: type[_Own], config: Mapping[str, Any]) -> list[_Own]:
        """Read the options that a task file has for each model."""
        return [cls.of(options) for options in options_by_block(config)]
