"""What to know of a task's outputs before its numbers are read: for the screen, ``figlang compare`` and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from figlang_tasks.answers.text import Answer
from figlang_tasks.core.text import listing, printable
from figlang_tasks.scoring.measure import Measure, Record

LEAST_READ = 0.5
"""Share of outputs that must be read, for the metrics to be about the model."""

MOST_DISSENT = 0.1
"""Share of outputs that the paper's rules and our reader may take for different labels."""

UNFINISHED = Measure(
    "unfinished",
    each=lambda record: float(record.get("unfinished", False)),
    higher_is_better=False,
    diagnostic=True,
    rare=True,
)
"""The share of answers that are a thought alone; no answer is behind it."""

_SHOWN = 3
_LONGEST = 80  # characters of an output


def notices(measures: Mapping[str, Measure], records: Sequence[Record], outputs: Sequence[str | None]) -> list[str]:
    """Notices about the outputs of a task, a line each without a full stop; `outputs` are empty where not kept."""
    found = []
    unfinished = [record["id"] for record in records if record.get(UNFINISHED.name)]
    if unfinished:
        found.append(
            f"unfinished: {_share(unfinished, records)} answers are a thought alone, with no answer after it (rows "
            f"{listing(unfinished, _SHOWN)}). Allow more tokens (--gen_kwargs max_new_tokens=4096), or turn thinking "
            "off"
        )
    if empty := [
        record["id"]
        for record in records
        if record.get("status") in ("empty", "missing") and record["id"] not in unfinished
    ]:
        found.append(f"{_share(empty, records)} answers are empty (rows {listing(empty, _SHOWN)})")
    unread = _bad("parse_rate", measures, records)
    if len(unread) > (1 - LEAST_READ) * len(records):
        found.append(
            f"all its values rest on unread outputs: no answer was found in {_share(unread, records)}"
            f"{_examples(unread, outputs)}. What may help: the model's chat template (lm_eval: --apply_chat_template), "
            f"a few-shot task, a larger model"
        )
        return found  # and readers that differ are no news
    apart = _bad("parse_disagreement", measures, records)
    if len(apart) > MOST_DISSENT * len(records):
        found.append(
            f"its values depend on the reader: the paper's rules and a careful reader differ in "
            f"{_share(apart, records)} outputs (parse_disagreement){_examples(apart, outputs)}"
        )
    return found


def is_thought_alone(output: str | None) -> bool:
    """Whether an output is a thought with no answer after it."""
    answer = Answer.of(output) if isinstance(output, str) else None
    return answer is not None and answer.has_thought and not answer.text


def _bad(name: str, measures: Mapping[str, Measure], records: Sequence[Record]) -> list[int]:
    """The places of the records that speak against a run by a measure that counts 0 or 1 of each; none without it."""
    measure = measures.get(name)
    if measure is None or measure.each is None:
        return []
    bad = 0.0 if measure.higher_is_better else 1.0
    return [place for place, record in enumerate(records) if measure.applies(record) and measure.each(record) == bad]


def _share(some: Sequence[object], records: Sequence[Record]) -> str:
    return f"{len(some)} of {len(records)}"


def _examples(places: Sequence[int], outputs: Sequence[str | None]) -> str:
    """The first of different outputs that are not empty."""
    texts = (printable(outputs[place] or "", _LONGEST).strip() for place in places if outputs)
    first = list(dict.fromkeys(filter(None, texts)))[:_SHOWN]
    return ", such as " + ", ".join(f'"{text}"' for text in first) if first else ""
