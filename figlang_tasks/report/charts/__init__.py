"""Charts of a report: drawn by matplotlib, as SVG to stand inside an HTML page, each with its data as CSV.

A chart reads in light and dark (its colours are the page's CSS variables, see :data:`COLOURS`), in grey print and
without colour vision (markers, dashes and hatches beside colours), and without sight (`Chart.alt`). It needs no
network, no script and no style sheet: styles are attributes, so that it shows under a strict content security policy.
Names of runs are untrusted: they are text, and neither markup nor mathematics.
"""

from figlang_tasks.report.charts.bars import bars
from figlang_tasks.report.charts.chart import Chart, Panels, Reference, References
from figlang_tasks.report.charts.curves import Curve, curves
from figlang_tasks.report.charts.dots import dots
from figlang_tasks.report.charts.dumbbells import Ends, dumbbells
from figlang_tasks.report.charts.forest import Effect, forest
from figlang_tasks.report.charts.overview import Row, overview
from figlang_tasks.report.charts.style import COLOURS

__all__ = [
    "COLOURS",
    "Chart",
    "Curve",
    "Effect",
    "Ends",
    "Panels",
    "Reference",
    "References",
    "Row",
    "bars",
    "curves",
    "dots",
    "dumbbells",
    "forest",
    "overview",
]
