"""What an answer is stored under: a digest of all that the model sees, and of how it answers.

The cache of lmms-eval 0.7.3 cannot be relied on for this. Its key has neither the messages nor the
pictures, and is computed once more after the model class may have written into the settings.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import PIL
from PIL import Image

from figlang_tasks.core import images, score_requests
from figlang_tasks.core.deferred_pictures import DeferredPicture, deferred
from figlang_tasks.harness.harness_types import Model
from figlang_tasks.models.ahead import THREADS, threads

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance


class AnswerKeys:
    """Makes the keys of the answers of a run: each repeat of a request has a key of its own.

    Args:
        seed: that of answers that are drawn.
    """

    def __init__(self, seed: object) -> None:
        self._seed = seed
        self._times_asked: Counter[tuple[str, object, str]] = Counter()

    def keys_of(self, lm: Model, requests: Sequence[Instance]) -> list[str]:
        """The key of each request: ``DIGEST-N``, where N counts how often it was asked before.

        Call it before the model is asked, since some classes write into the settings of a request.
        """
        # lmms-eval 0.7.3 repeats a request as one and the same object, so its digest is made once.
        request_by_id = {id(request): request for request in requests}

        def digest_of(request: Instance) -> str:
            return request_digest(lm, request, self._seed)

        with threads(THREADS) as pool:  # Files of pictures are read, and some decoded, for this.
            digests = pool.map(digest_of, request_by_id.values())
            digest_by_id = dict(zip(request_by_id, digests, strict=True))

        keys: list[str] = []
        for request in requests:
            digest = digest_by_id[id(request)]
            if _is_padding(request):  # does not count as asked
                keys.append(f"{digest}-0")
                continue
            row = (request.task_name, request.doc_id, digest)
            keys.append(f"{digest}-{self._times_asked[row]}")
            self._times_asked[row] += 1
        return keys


def _is_padding(request: Instance) -> bool:
    """Whether the harness drops the answer to a request.

    lmms-eval 0.7.3 copies a request for such processes as have fewer than others, so that all call
    the model equally often.
    """
    return bool((request.metadata or {}).get("__padding_only__"))


def request_digest(lm: Model, request: Instance, seed: object = None) -> str:
    """SHA-256 of a request: its prompt with pictures, its settings, the identity of its data.

    Also of the seed, if the answer is drawn at random.

    Args:
        lm: the model, which holds the documents.
        request: of type ``generate_until``.
        seed: counts only where the settings let the answer be drawn.
    """
    from lmms_eval.caching.response_cache import is_deterministic

    # lmms-eval 0.7.3 gives a chat class (text, function to messages, settings, ...), and a simple
    # one (text, settings, function to pictures, ...).
    text, second, third, doc_id, task_name, split = request.args[:6]
    doc = lm.task_dict[task_name][split][doc_id]
    with deferred():
        if callable(second):
            model_type = "chat"
            settings = third
            prompt = second(doc)  # messages, with the text and the pictures
        else:
            model_type = "simple"
            settings = second
            prompt = [text, third(doc)]

    score_request = settings.get(score_requests.KEY)
    if score_request:  # It may name a column of the document, whose candidates no prompt shows.
        score_request = repr(score_requests.score_request(settings, doc))
    drawn_with = None if is_deterministic(request.request_type, settings) else [seed]
    # doc["data"] is the identity of the rows: "FLUTE/test:" and a digest.
    return content_digest(
        [model_type, prompt, settings, doc.get("data"), score_request, drawn_with]
    )


def content_digest(content: object) -> str:
    """SHA-256 of what JSON can hold, and of pictures within it; the order of keys counts not."""
    text = json.dumps(content, sort_keys=True, default=_json_of)
    return hashlib.sha256(text.encode()).hexdigest()


def _json_of(content: object) -> object:
    """What stands in JSON for a picture, or for any other object that JSON cannot hold.

    A picture that the task shows as the data has it stands for its file: the version of Pillow,
    like that of this package in the key of the model, says how it is decoded. Any other one, drawn
    or changed by the task, stands for its pixels.
    """
    if isinstance(content, DeferredPicture):  # nothing has looked at its pixels
        stored = images.stored_picture(content)
        assert stored is not None, "only `images.decode` makes deferred pictures"
        return ["file", hashlib.sha256(stored.read()).hexdigest(), PIL.__version__]
    if isinstance(content, Image.Image):
        pixels = hashlib.sha256(content.tobytes()).hexdigest()
        return ["image", content.mode, content.size, pixels]
    return repr(content)
