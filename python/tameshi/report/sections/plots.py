"""Plots of a study: the one next to its answer, and all others."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.report.sections import answer_plot, model_error
from tameshi.report.view.figures import Figure, figures
from tameshi.report.view.section import Page
from tameshi.report.view.time_figures import RATE, SECONDS, hits_and_rates, over_time


def chief(page: Page) -> Sequence[Figure]:
    """Return the plot of the first screen.

    Of a database over minutes in one phase its rate; of a study with a table as its answer that
    table; else the first plot.
    """
    if page.view.asked is not None:
        return []
    drawn = _all(page)
    return (_rate_over_minutes(drawn) or answer_plot.figures(page.view, page.text) or drawn)[:1]


def others(page: Page) -> list[Figure]:
    """Return every other plot."""
    shown = {figure.id for figure in chief(page)}
    return [figure for figure in _all(page) if figure.id not in shown]


def _all(page: Page) -> list[Figure]:
    """Return the plots of cells and those over time; these come first if a lone phase takes
    minutes."""
    series = model_error.banded(page.view, page.inputs.series)
    of_cells = figures(page.view, page.inputs.percentiles)
    times = [*over_time(page.view, series), *hits_and_rates(page.view, series)]
    return [*times, *of_cells] if _rate_over_minutes(times) else [*of_cells, *times]


def _rate_over_minutes(drawn: Sequence[Figure]) -> Sequence[Figure]:
    """Return the rate over minutes; empty with several phases, which their cells compare."""
    rates = [figure for figure in drawn if figure.title.key == f"figure.over_time_{RATE}"]
    if len(rates) != 1 or rates[0].x.label.key == f"axis.{SECONDS}":
        return []
    return rates
