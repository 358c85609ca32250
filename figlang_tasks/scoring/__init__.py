"""From the records of a task to its values: metrics are declared once, as :class:`Measure`."""

from figlang_tasks.scoring.evaluation import Measures, evaluate
from figlang_tasks.scoring.measure import (
    BOOTSTRAP,
    OVERALL,
    TWO_CLASSES,
    WILSON,
    Estimate,
    Estimates,
    IntervalMethod,
    Measure,
    Record,
    Scopes,
    by_field,
    failed,
    flat,
    from_json,
    full_name,
    grouped,
    ratio,
    to_json,
)
from figlang_tasks.scoring.task import Task, process_results
