"""Models that die where they are told to, with what it takes to run them by the command line.

They answer by what they see, so that another prompt or another picture makes another answer. They
are installed as a plugin of the harness, as any other package would be. What they do is told by the
environment, because arguments of a model belong to the key of a cached answer:

* ``FAULTY_LOG``: file that gets one line for each document that is asked about.
* ``FAULTY_AT`` and ``FAULTY``: number of the answer, from 0, before which it happens, and what:
  ``raise``, ``kill`` (itself, by SIGKILL), ``swallow`` (waits, and goes on waiting after a
  KeyboardInterrupt), ``leave`` (this rank alone).
* ``FAULTY_SECONDS``: that it takes for an answer; 0 if not given.
* ``FAULTY_RANK``: the rank that it happens on; 0 if not given.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.models.registry_v2 import ModelManifest
from PIL import Image
from tqdm import tqdm

from figlang_tasks.models.base import Offline

ANSWERS = (
    "It fits.\nLABEL: entailment",
    "It does not fit.\nLABEL: contradiction",
    "It is hard to tell.",
)


def digest_of(shown: Any) -> str:
    """SHA-256 of texts and pixels."""
    if isinstance(shown, Image.Image):
        return hashlib.sha256(shown.tobytes()).hexdigest()
    if isinstance(shown, dict):
        shown = list(shown.values())
    if isinstance(shown, list | tuple):
        shown = " ".join(map(digest_of, shown))
    return hashlib.sha256(str(shown).encode()).hexdigest()


class Faulty(Offline):
    """Of the harness's simple kind: sees the text and the pictures."""

    answers_at_once = False
    answered = 0

    def __init__(self, weights: str | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.accelerator.wait_for_everyone()  # as some classes of the harness do

    def generate_until(self, requests: list[Instance]) -> list[str]:
        return [self._answer(request) for request in tqdm(requests, desc="Model Responding")]

    def _answer(self, request: Instance) -> str:
        *_, doc_id, name, split = request.args
        if self.answered == int(os.environ.get("FAULTY_AT", -1)) and self.rank == int(
            os.environ.get("FAULTY_RANK", 0)
        ):
            self._fail(os.environ["FAULTY"])
        time.sleep(float(os.environ.get("FAULTY_SECONDS", 0)))
        self.answered += 1
        with open(os.environ["FAULTY_LOG"], "a", encoding="utf-8") as log:
            log.write(f"{name} {doc_id}\n")
        seen = self._seen(request, self.task_dict[name][split][doc_id])
        return ANSWERS[int(digest_of(seen), 16) % len(ANSWERS)]

    def _seen(self, request: Instance, doc: Any) -> Any:
        text, _, doc_to_visual = request.args[:3]
        return [text, *doc_to_visual(doc)]

    def _fail(self, how: str) -> None:
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "leave":
            os._exit(3)
        if how == "swallow":
            with suppress(KeyboardInterrupt):
                Path(os.environ["FAULTY_LOG"]).with_suffix(".waiting").touch()
                time.sleep(600)
            time.sleep(600)
        raise RuntimeError("the model is broken")


class FaultyChat(Faulty):
    """Of the harness's chat kind: sees the messages."""

    is_simple = False

    def _seen(self, request: Instance, doc: Any) -> Any:
        return request.args[1](doc)


def manifests() -> list[ModelManifest]:
    """The entry point."""
    return [
        ModelManifest(
            "faulty",
            simple_class_path=f"{__name__}.Faulty",
            chat_class_path=f"{__name__}.FaultyChat",
        )
    ]


def install(folder: Path) -> str:
    """Make `folder` an installation of this module with its entry point; return the PYTHONPATH that
    it needs.
    """
    package = folder / "faulty-1.0.dist-info"
    package.mkdir(parents=True, exist_ok=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[lmms_eval.models]\nfaulty = faulty_model:manifests\n"
    )
    return os.pathsep.join([str(folder), str(Path(__file__).parent)])
