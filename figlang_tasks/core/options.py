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
from figlang_tasks.core.task_files import TaskConfig
from figlang_tasks.core.text import did_you_mean

Kwargs = Mapping[str, Any] | None
"""The options as the harness hands them to the functions of a task; None if there are none."""

_OptionsClass = TypeVar("_OptionsClass", bound="Options")


class Options(BaseModel):
    """Options of the tasks of a benchmark; messages call the benchmark `OF`.

    Values are not converted: "no" is not a bool.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    OF: ClassVar[str] = "figlang_tasks"

    @classmethod
    def of(cls: type[_OptionsClass], kwargs: Kwargs) -> _OptionsClass:
        """Read the options from what the harness hands over.

        Raises:
            ValueError: there is an unknown option, or a value is not valid; the message names the
                valid ones.
        """
        # The harness leaves the blocks for other models ("default", "figlang_clip", ...) among the
        # options. Blocks are dicts, and no option is one.
        options: dict[str, Any] = {}
        for key, option in (kwargs or {}).items():
            if not isinstance(option, Mapping):
                options[str(key)] = option

        unknown = sorted(options.keys() - cls.model_fields.keys())
        if unknown:
            valid = ", ".join(sorted(cls.model_fields)) or "there are none"
            suggestion = did_you_mean(unknown[0], cls.model_fields)
            raise ValueError(
                f"unknown {cls.OF} task option(s) {', '.join(unknown)}; valid: {valid}{suggestion}"
            )
        # A required option that is missing is None, so that the message names its valid values.
        for name, field in cls.model_fields.items():
            if field.is_required():
                options.setdefault(name, None)
        try:
            return cls.model_validate(options)
        except ValidationError as error:
            raise ValueError(f"{cls.OF} task option {first_fault(error)}") from error

    @classmethod
    def blocks(cls: type[_OptionsClass], config: TaskConfig) -> list[_OptionsClass]:
        """Read the options that models get from a task file, one for each case of its blocks.

        Raises:
            ValueError: an option of a block is not valid.
        """
        return [cls.of(options) for options in options_by_block(config)]
