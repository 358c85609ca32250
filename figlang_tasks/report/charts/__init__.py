"""Charts of a report: plain matplotlib in one style, saved as SVG, each with its data as CSV.

A chart can be read in grey print and without colour vision, since series differ in markers and
dashes too. A reader who cannot see it has the tables. The page shows a chart as a picture, and
inverts it where the page is dark. Names of runs are untrusted: they are drawn as text, never as
markup or mathematics.
"""

from figlang_tasks.report.charts.chart import Chart, Reference
from figlang_tasks.report.charts.curves import curve_chart
from figlang_tasks.report.charts.forest import difference_row, forest_plot
from figlang_tasks.report.charts.intervals import IntervalGroup, IntervalPanels, interval_chart
