"""Pictures of what was detected and scored, as SVG or PNG: names of columns and counts, never a cell value."""

from anon_core.report.plots.detection import plot_detection
from anon_core.report.plots.scores import plot_scores
from anon_core.report.plots.selection import plot_selection

__all__ = ["plot_detection", "plot_scores", "plot_selection"]
