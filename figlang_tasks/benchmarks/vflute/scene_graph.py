"""The outputs of scene-graph runs, in which a model is called twice for each row.

V-FLUTE's Appendix G calls the method compositional chain-of-thought (Mitra et al. 2023).
"""

from __future__ import annotations

import json
from typing import NamedTuple, TypedDict

from PIL import Image


class NextCall(NamedTuple):
    """What lmms-eval 0.7.3 expects of ``doc_to_text`` after each call of an agentic task.

    It takes a tuple of five in this order.

    Attributes:
        pictures: those of the next call; None after the last call.
        prompt: that of the next call; None after the last call.
        is_finished: whether there is no further call.
        outputs: the model's outputs so far; after the last call, the output that is judged.
        state: what lmms-eval hands to the next call; None, because nothing is needed there.
    """

    pictures: list[Image.Image] | None
    prompt: str | None
    is_finished: bool
    outputs: list[str]
    state: None = None


class Stages(TypedDict):
    """What a model wrote in the two calls.

    Attributes:
        scene_graph: the output of the first call, which asks for a scene graph in JSON.
        answer: the output of the second call, which shows the graph and asks the question.
    """

    scene_graph: str
    answer: str


def stages_to_json(scene_graph: str, answer: str) -> str:
    """The output of a scene-graph run that is judged: a JSON object with both `Stages`."""
    stages = Stages(scene_graph=scene_graph, answer=answer)
    return json.dumps(stages, ensure_ascii=False)


def stages_from_json(output: str) -> Stages | None:
    """The stages in a text of `stages_to_json`; None for any other output."""
    try:
        stages = json.loads(output)
        if not isinstance(stages, dict) or set(stages) != {"scene_graph", "answer"}:
            return None
        return Stages(scene_graph=str(stages["scene_graph"]), answer=str(stages["answer"]))
    except (ValueError, RecursionError):  # the words of a model are no JSON, or nest too deeply
        return None
