"""Charts of a report: plain matplotlib in one style, saved as SVG, each with its data as CSV.

A chart reads in grey print and without colour vision (markers and dashes beside colours); without sight there are the
tables. The page shows it as a picture, and inverts it where the page is dark. Names of runs are untrusted: they are
text, and neither markup nor mathematics.
"""

from figlang_tasks.report.charts.chart import Chart, Panels, Reference, References
from figlang_tasks.report.charts.curves import Curve, curves
from figlang_tasks.report.charts.rows import Effect, bars, forest

__all__ = ["Chart", "Curve", "Effect", "Panels", "Reference", "References", "bars", "curves", "forest"]
