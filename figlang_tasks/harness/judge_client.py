"""The harness's clients of servers that judge (``lmms_eval.llm_judge``), for ``figlang judge llm``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmms_eval.llm_judge import Response, ServerInterface


def server(provider: str, **settings: Any) -> ServerInterface:
    """A client of a provider's server; raises whatever that client raises.

    Args:
        provider: of the harness.
        settings: fields of its ``ServerConfig``.
    """
    from lmms_eval.llm_judge import ServerConfig, get_server

    return get_server(provider, ServerConfig(**settings))


def ask(client: ServerInterface, content: Sequence[Mapping[str, Any]]) -> Response:
    """Ask once; raises whatever the client raises, after its last attempt.

    Args:
        client: of :func:`server`.
        content: of the user's message, as chat interfaces take it.
    """
    from lmms_eval.llm_judge import Request

    return client.evaluate(Request(messages=[{"role": "user", "content": content}]))


def picture(path: Path) -> str:
    """A picture as base64 of a JPEG.

    Raises:
        OSError: it cannot be read, or is no picture.
    """
    from lmms_eval.models.model_utils.media_encoder import encode_image_to_base64

    return str(encode_image_to_base64(str(path), image_format="JPEG", convert_rgb=True, quality=85))
