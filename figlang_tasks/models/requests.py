"""Requests of lmms-eval to a model class, and errors that name the request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from lmms_eval.api.instance import Instance
from PIL import Image

Document: TypeAlias = Mapping[str, Any]
"""A row of a dataset, by column."""

GenerationKwargs: TypeAlias = Mapping[str, Any]
"""The ``generation_kwargs`` of a task."""


class ChatArguments(NamedTuple):
    """The arguments of a ``generate_until`` request to a chat model.

    Names and order are those of ``ConfigurableMessagesTask.construct_requests`` in lmms-eval 0.7.3,
    which hands over a plain tuple.
    """

    context: str
    doc_to_messages: Callable[[Document], list[dict[str, Any]]]
    generation_kwargs: GenerationKwargs
    doc_id: int
    task: str
    split: str

    @classmethod
    def of(cls, request: Instance) -> ChatArguments:
        """The arguments of a request that lmms-eval made."""
        return cls(*request.args)


class SimpleArguments(NamedTuple):
    """The arguments of a ``generate_until`` request to a model of the simple kind.

    Names and order are those of ``ConfigurableTask.construct_requests`` in lmms-eval 0.7.3, which
    hands over a plain tuple. The second and third argument stand the other way round than for chat
    models.
    """

    context: str
    generation_kwargs: GenerationKwargs
    doc_to_visual: Callable[[Document], Sequence[Image.Image] | None]
    doc_id: int
    task: str
    split: str

    @classmethod
    def of(cls, request: Instance) -> SimpleArguments:
        """The arguments of a request that lmms-eval made."""
        return cls(*request.args)


@contextmanager
def errors_naming(error_class: type[Exception], subject: str) -> Iterator[None]:
    """Turn any exception raised inside into an `error_class` whose message begins with `subject`.

    An exception that is an `error_class` already passes as it is: it was named further inside.
    """
    try:
        yield
    except error_class:
        raise
    except Exception as error:
        raise error_class(f"{subject}: {type(error).__name__}: {error}") from error
