"""Pictures of detection and measures, as SVG or PNG, with names of columns and counts; values only with an option."""

from anon_core.report.plots.assessment import plot_assessment
from anon_core.report.plots.detection import plot_decomposition, plot_detection, plot_selection
from anon_core.report.plots.scores import plot_scores
from anon_core.report.plots.values import plot_value_risk

__all__ = [
    "plot_assessment",
    "plot_decomposition",
    "plot_detection",
    "plot_scores",
    "plot_selection",
    "plot_value_risk",
]
