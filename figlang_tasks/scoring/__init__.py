"""From the records of a task to its values: metrics are declared once, as :class:`Measure`."""

from figlang_tasks.core.record import Record
from figlang_tasks.scoring.common_measures import parse_rate, tie_rate
from figlang_tasks.scoring.estimates import (
    OVERALL,
    Estimate,
    Estimates,
    failed_metrics,
    flat,
    from_json,
    full_name,
    to_json,
)
from figlang_tasks.scoring.evaluation import Measures, evaluate
from figlang_tasks.scoring.interval_methods import BOOTSTRAP, TWO_CLASSES, WILSON, IntervalMethod
from figlang_tasks.scoring.measure import Measure
from figlang_tasks.scoring.scopes import Scopes, by_field
from figlang_tasks.scoring.statistics import grouped, ratio
from figlang_tasks.scoring.task import Task, process_results
