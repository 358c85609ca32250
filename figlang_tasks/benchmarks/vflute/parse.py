"""The authors' rules that extract the label and the explanation from a model's output.

"We looked at the sample outputs of each model and designed rules to extract the label and the
explanation from the output" (V-FLUTE, arXiv 2405.01474, Appendix D). These are the rules behind the
published numbers. Their defects are kept, since the numbers depend on them. Every string is read in
linear time.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from figlang_tasks.answers.verdict import Status
from figlang_tasks.scoring.explained import Explained

ENTAILMENT: Final = 1
CONTRADICTION: Final = 0

_MARKER = re.compile(r"LABEL:|Label:|label:")
_LABEL_WORD: Final = {
    ENTAILMENT: re.compile(r"entailment|Entailment|entails|Entails"),
    CONTRADICTION: re.compile(r"contradiction|Contradiction|contradicts|Contradicts"),
}

# The phrases of outputs without a marker. All refusals are looked for before all phrases of
# entailment, and these before all of contradiction, wherever they stand in the output.
_BOTH_LABELS: Final = "entailment or contradiction"
_REFUSAL_PHRASES = (
    "not possible to definitively label",
    "neither",
    "does not support or contradict",
    _BOTH_LABELS,
)
_ENTAILMENT_PHRASES = (
    "entail",
    "supports the claim",
    "is consistent",
    "image can be seen as indirectly supporting",
    "appears to be consistent with the claim",
    "in harmony with",
    "is in agreement",
    "confirms the claim",
)
_CONTRADICTION_PHRASES = ("contradict", "appears to contest")


def parse_official(output: str | None, *, scene_graph: bool = False) -> Explained:
    """Label (1 entailment, 0 contradiction; None if unread) and explanation, by the authors' rules.

    The rules are as the authors have them, but for `_MAX_NODE_NAMES`.

    1. No output: no label, no explanation.
    2. After the first ``LABEL:`` / ``Label:`` / ``label:`` (these three spellings only): "neither"
       gives no label, else "contradict" gives 0, else "entail" gives 1, else there is none. So
       ``LABEL: entailment, does not contradict`` is a contradiction. The explanation is what
       precedes the marker. If that is blank: with a label, what follows the first word in the whole
       output that names the label ("entailment" or "entails" for 1, "contradiction" or
       "contradicts" for 0, also with a capital); else, or if that is blank too, the whole output.
    3. Without a marker, over the whole output: phrases of refusal give no label; else "entail" or a
       phrase of agreement gives 1; else "contradict" or "appears to contest" gives 0. So "does not
       entail; it contradicts" is an entailment. The explanation is the whole output.
    4. The explanation is always cleaned. ``Contradiction.`` and ``Entailment.`` are deleted
       wherever they stand, then ``Contradiction:`` and ``Entailment:``, then either word before a
       newline. Then everything from the last ``Therefore,`` on is dropped. The explanation may be
       empty then.
    5. The explanation of a scene-graph run is rewritten (`rewrite_scene_graph_talk`).

    The status says what became of the label. Only ``read`` has one; with every other status the row
    counts as one with the wrong label. Any explanation is scored, a missing one as "".

    - ``read``: there is a label.
    - ``refused``: "neither" after the marker, or a phrase of refusal without a marker.
    - ``ambiguous``: "entailment or contradiction" without a marker, and none of those phrases.
    - ``unreadable``: none of the words and phrases.
    - ``empty``: the output is blank.
    - ``missing``: the output is None.

    Args:
        output: the model's output; None if there is none.
        scene_graph: whether it is the answer of a scene-graph run.
    """
    if output is None:
        return Explained(value=None, status="missing", rule="missing")
    marker = _MARKER.search(output)
    if marker is None:
        reading = _read_without_marker(output)
    else:
        reading = _read_with_marker(output, marker)

    explanation = _clean_explanation(reading.explanation or "")
    if scene_graph:
        explanation = rewrite_scene_graph_talk(explanation)
    status = reading.status if output.strip() else "empty"
    return Explained(reading.value, status, reading.rule, explanation)


def _read_with_marker(output: str, marker: re.Match[str]) -> Explained:
    """Rule 2: the label that stands after the marker, and the explanation before it."""
    before_marker = output[: marker.start()].strip()
    after_marker = output[marker.end() :].lower()
    if "neither" in after_marker:
        return Explained(None, "refused", "marker-neither", before_marker or output)
    # In this order: "contradict" decides where both words follow the marker.
    for label, word in ((CONTRADICTION, "contradict"), (ENTAILMENT, "entail")):
        if word in after_marker:
            explanation = before_marker or _after_label_word(output, label) or output
            return Explained(label, "read", f"marker-{word}", explanation)
    return Explained(None, "unreadable", "marker-none", before_marker or output)


def _after_label_word(output: str, label: int) -> str:
    """What follows the first word of a label in an output; "" if there is no such word."""
    label_word = _LABEL_WORD[label].search(output)
    if label_word is None:
        return ""
    return output[label_word.end() :].strip()


def _read_without_marker(output: str) -> Explained:
    """Rule 3: the label by phrases anywhere in the output, which is the explanation as a whole."""
    lowered = output.lower()
    for phrase in _REFUSAL_PHRASES:
        # `_BOTH_LABELS` is the last of them, so that an output with any other one is a refusal.
        if phrase in lowered:
            status: Status = "ambiguous" if phrase == _BOTH_LABELS else "refused"
            return Explained(None, status, "phrase-refusal", output)
    if any(phrase in lowered for phrase in _ENTAILMENT_PHRASES):
        return Explained(ENTAILMENT, "read", "phrase-entail", output)
    if any(phrase in lowered for phrase in _CONTRADICTION_PHRASES):
        return Explained(CONTRADICTION, "read", "phrase-contradict", output)
    return Explained(None, "unreadable", "none", output)


def _clean_explanation(explanation: str) -> str:
    """Rule 4: an explanation without the label words and without its last "Therefore, ..."."""
    for end in (".", ":", "\n"):
        explanation = explanation.replace(f"Contradiction{end}", "")
        explanation = explanation.replace(f"Entailment{end}", "")
        explanation = explanation.strip()
    before_conclusion, conclusion_word, _ = explanation.rpartition("Therefore,")
    return before_conclusion.strip() if conclusion_word else explanation


# --- scene-graph runs ---

# Each phrase is replaced wherever it occurs, one phrase after the other; case matters. "n the scene
# graph" is the end of "in the scene graph" and of "on the scene graph".
_SCENE_GRAPH_PHRASES = (
    ("and the scene graph's description", ""),
    ("and the scene graph both support", "supports"),
    ("and the scene graph together support", "supports"),
    ("and the scene graph", ""),
    ("or the scene graph", ""),
    ("n the scene graph", "n the image"),
    ("the scene graph shows", "the image shows"),
    ("the scene graph describes", "the image shows"),
    ("the scene graph indicates", "the image displays"),
    ("the scene graph states", "the image displays"),
    ("the scene graph explicitly states", "the image displays"),
    ("scene graph", "image"),
    ("  ", " "),
)
_MAX_NODE_NAMES: Final = 200
"""How many different names of nodes are rewritten. The released code has no such limit: this
project's keeps the time linear. An answer of 256 tokens cannot hold so many.
"""


def rewrite_scene_graph_talk(explanation: str) -> str:
    """Rule 5: an explanation of a scene-graph run, made to speak of the image and not of the graph.

    One that says "scene graph" nowhere is returned as it is. In all others, names of nodes such as
    "red_dog" become plain words too.

    Source: V-FLUTE's released `eval/extract_label_and_expl.py` (asaakyan/V-FLUTE at 053cba8).
    """
    # As in the released code, this test ignores case and the phrases do not: a text with "Scene
    # graph" alone keeps these words. It changes only by the last phrase, which makes one blank of
    # two, by `strip`, and in the names of nodes.
    if "scene graph" not in explanation.lower():
        return explanation
    for phrase, replacement in _SCENE_GRAPH_PHRASES:
        explanation = explanation.replace(phrase, replacement)
    explanation = explanation.strip()

    # A word with an underscore is taken for the name of a node. It becomes "red dog" wherever its
    # letters stand, also inside another word. "crying_face_emoji" is no such name.
    words = explanation.split()
    node_names = dict.fromkeys(word for word in words if "_" in word and "emoji" not in word)
    for node_name in islice(node_names, _MAX_NODE_NAMES):
        plain_name = node_name.replace("_", " ").replace('"', "")
        explanation = explanation.replace(node_name, plain_name)
    return explanation
