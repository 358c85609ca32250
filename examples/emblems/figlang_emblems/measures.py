"""The metrics of Emblems."""

from figlang_tasks.scoring import Measure, Measures, Record, parse_rate


def _is_right(record: Record) -> float:
    """Return 1 if the answer is right, else 0."""
    return float(record["predicted"] == record["gold"])


MEASURES = Measures.of(
    Measure(
        "acc",
        description="Share of pictures with the right answer.",
        source="figlang_tasks",
        value_of_record=_is_right,
    ),
    parse_rate(),
)
