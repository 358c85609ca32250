"""From a model's words to a label and an explanation by V-FLUTE's published rules.

The rules are those behind the published numbers (Appendix D says that they were made by hand from
sample outputs), with their defects, since the numbers depend on them. They take any string in
linear time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Final

from figlang_tasks.answers.verdict import Status
from figlang_tasks.scoring.explained import Explained

_OFFICIAL_MARKER = re.compile(r"LABEL:|Label:|label:")
_OFFICIAL_AFTER: Final = {
    1: re.compile(r"entailment|Entailment|entails|Entails"),
    0: re.compile(r"contradiction|Contradiction|contradicts|Contradicts"),
}
# In the order of the published rules: the first phrase of the first group that occurs decides,
# wherever it stands.
_OFFICIAL_REFUSALS = (
    "not possible to definitively label",
    "neither",
    "does not support or contradict",
    "entailment or contradiction",
)
_OFFICIAL_ENTAILS = (
    "entail",
    "supports the claim",
    "is consistent",
    "image can be seen as indirectly supporting",
    "appears to be consistent with the claim",
    "in harmony with",
    "is in agreement",
    "confirms the claim",
)
_OFFICIAL_CONTRADICTS = ("contradict", "appears to contest")


def parse_official(output: str | None, *, scene_graph: bool = False) -> Explained:
    """Label (1 entailment, 0 contradiction) and explanation by the published rules, quirks
    included.

    1. No output: no label, no explanation.
    2. Behind the first ``LABEL:`` / ``Label:`` / ``label:`` (these three spellings only): "neither"
       gives no label, else "contradict" gives 0, else "entail" gives 1, else there is none. So
       ``LABEL: entailment, does not contradict`` is a contradiction. The explanation is what
       precedes the marker; if that is blank, what follows the first label word of the output; if
       that is blank too, the whole output.
    3. Without a marker, over the whole output: phrases of refusal give no label; else "entail" or a
       phrase of agreement gives 1; else "contradict" or "appears to contest" gives 0. So "does not
       entail; it contradicts" is an entailment. The explanation is the whole output.
    4. From the explanation, always: ``Contradiction.`` / ``Entailment.``, then the same with ``:``,
       then with a newline are deleted wherever they stand; then everything from the last
       ``Therefore,`` on is dropped. Nothing may be left.
    5. The explanation of a scene-graph run is rewritten (`rewrite_scene_graph_talk`).

    Source: V-FLUTE, Appendix D ("we looked at the sample outputs of each model and designed
    rules").
    """
    if output is None:
        return Explained(None, "missing", "missing")
    marker = _OFFICIAL_MARKER.search(output)
    found = (
        _official_without_marker(output)
        if marker is None
        else _official_with_marker(output, marker)
    )
    explanation = _official_cleaning(found.explanation or "")
    if scene_graph:
        explanation = rewrite_scene_graph_talk(explanation)
    return replace(
        found, explanation=explanation, status=found.status if output.strip() else "empty"
    )


def _official_with_marker(output: str, marker: re.Match[str]) -> Explained:
    """The reading by what follows the first marker; the explanation is what precedes it, if
    anything does.
    """
    before, after = output[: marker.start()].strip(), output[marker.end() :].lower()
    if "neither" in after:
        return Explained(None, "refused", "marker-neither", before or output)
    for label, word in ((0, "contradict"), (1, "entail")):
        if word in after:
            named = None if before else _OFFICIAL_AFTER[label].search(output)
            explanation = output[named.end() :].strip() if named else before
            return Explained(label, "read", f"marker-{word}", explanation or output)
    return Explained(None, "unreadable", "marker-none", before or output)


def _official_without_marker(output: str) -> Explained:
    lowered = output.lower()
    for phrase in _OFFICIAL_REFUSALS:
        if phrase in lowered:
            status: Status = "ambiguous" if phrase == "entailment or contradiction" else "refused"
            return Explained(None, status, "phrase-refusal", output)
    if any(phrase in lowered for phrase in _OFFICIAL_ENTAILS):
        return Explained(1, "read", "phrase-entail", output)
    if any(phrase in lowered for phrase in _OFFICIAL_CONTRADICTS):
        return Explained(0, "read", "phrase-contradict", output)
    return Explained(None, "unreadable", "none", output)


def _official_cleaning(explanation: str) -> str:
    for end in (".", ":", "\n"):
        explanation = (
            explanation.replace(f"Contradiction{end}", "").replace(f"Entailment{end}", "").strip()
        )
    head, found, _ = explanation.rpartition("Therefore,")
    return head.strip() if found else explanation


# Applied one after the other, each as often as it occurs; case matters.
_GRAPH_PHRASES = (
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
_MOST_NODE_NAMES: Final = 200
"""Different words with underscores that are rewritten; 256 new tokens cannot hold so many. Keeps
the cost linear.
"""


def rewrite_scene_graph_talk(explanation: str) -> str:
    """An explanation of a scene-graph run so that it speaks of the image.

    Source: V-FLUTE's released `eval/extract_label_and_expl.py` (asaakyan/V-FLUTE at 053cba8).
    """
    if "scene graph" not in explanation.lower():
        return explanation
    for phrase, replacement in _GRAPH_PHRASES:
        explanation = explanation.replace(phrase, replacement)
    explanation = explanation.strip()
    # Names of nodes lose their underscores and quotes, wherever their letters stand in the text.
    node_names = dict.fromkeys(
        word for word in explanation.split() if "_" in word and "emoji" not in word
    )
    for word in islice(node_names, _MOST_NODE_NAMES):
        explanation = explanation.replace(word, word.replace("_", " ").replace('"', ""))
    return explanation
