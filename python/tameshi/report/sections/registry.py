"""Sections of a study's report, in the order of the page. Register new sections here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tameshi.report.sections import (
    answer,
    answer_tables,
    asked,
    comparison_table,
    database,
    endurance,
    interference,
    large_frontier,
    large_overview,
    large_settings,
    latency_breakdown,
    matrices,
    model_error,
    plots,
    power,
    published,
    served,
    slowest,
    sustainable_load,
    timeline,
    unknown_settings,
    validity,
    warm_up,
)
from tameshi.report.view.figures import Figure
from tameshi.report.view.section import Page, Section
from tameshi.report.view.tables import Answer, Table


def answers_of(page: Page) -> list[Answer]:
    """Return the lines of the answer."""
    if page.view.large:
        return list(large_overview.answers(page))
    own = asked.answers(page.view, page.text)
    return [*own, *warm_up.answers(page.view, page.inputs.series, page.text)]


SECTIONS = (
    Section(
        "answer",
        answers=answers_of,
        figures=lambda page: plots.chief(page),
        tables=lambda page: [
            *answer_tables.tables(page.view, page.text),
            comparison_table.table(page.view, page.text),
            answer.overview(page.view, page.text),
        ],
        open_rows=40,
    ),
    Section(
        "asked",
        figures=lambda page: asked.figures(page.view),
        tables=lambda page: asked.tables(page.view, page.text),
    ),
    Section(
        "database",
        figures=lambda page: model_error.figures(page.view),
        tables=lambda page: database.tables(page.view, page.text),
    ),
    Section("unknown", tables=lambda page: [unknown_settings.table(page.view, page.text)]),
    Section("limits", tables=lambda page: [sustainable_load.table(page.view, page.text)]),
    Section("interference", tables=lambda page: interference.tables(page.view, page.text)),
    Section("timeline", tables=lambda page: timeline.tables(page.view, page.text)),
    Section(
        "plots",
        figures=lambda page: plots.others(page),
    ),
    Section(
        "why",
        figures=lambda page: latency_breakdown.figures(page.view),
        tables=lambda page: latency_breakdown.tables(page.view, page.text),
        open_rows=0,
    ),
    Section("endurance", tables=lambda page: endurance.tables(page.view, page.text), open_rows=0),
    Section("served", tables=lambda page: [served.table(page.view, page.text)], open_rows=0),
    Section("power", tables=lambda page: power.tables(page.view, page.text), open_rows=0),
    Section(
        "slowest", tables=lambda page: slowest.tables(page.inputs.slowest, page.text), open_rows=0
    ),
    Section(
        "verdicts",
        tables=lambda page: [
            validity.verdicts(page.view, page.text),
            validity.unserved(page.view, page.text),
        ],
    ),
    Section("method", tables=lambda page: [validity.method(page.view, page.text)]),
    Section("steady", tables=lambda page: [validity.steady(page.view, page.text)]),
    Section("published", tables=lambda page: [published.table(page.view, page.text)]),
    Section(
        "environment",
        tables=lambda page: validity.environments(page.inputs.environments, page.text),
        side_by_side=True,
    ),
    Section("reproduce", lines=lambda page: list(page.inputs.reproduce), code=True),
    Section(
        "caveats",
        lines=lambda page: validity.caveats(page.view, page.inputs.environments, page.text),
    ),
    Section("numbers", tables=lambda page: matrices.matrices(page.view, page.text), open_rows=0),
)


_SHARED = ("published", "method", "environment", "reproduce", "caveats")
LARGE_SECTIONS = (
    Section("answer", answers=answers_of),
    Section(
        "frontier",
        figures=large_frontier.figures,
        tables=lambda page: list(large_frontier.tables(page)),
    ),
    Section(
        "sensitivity",
        figures=large_settings.sensitivity_figures,
        tables=lambda page: list(large_settings.sensitivity_tables(page)),
    ),
    Section("parallel", figures=large_settings.parallel),
    Section(
        "verdicts",
        tables=lambda page: [large_overview.verdicts(page), large_overview.reasons(page)],
    ),
    *(section for section in SECTIONS if section.id in _SHARED),
    Section("data", lines=large_overview.data),
)
"""Sections of a large study: what its cells say together, in place of a part per cell."""


@dataclass(frozen=True)
class Filled:
    """Section with its content."""

    section: Section
    answers: Sequence[Answer]
    figures: Sequence[Figure]
    tables: Sequence[Table]
    lines: Sequence[str]


def filled(page: Page, *, plots: bool = True) -> Iterator[Filled]:
    """Yield each section with content, and the answer; figures only with `plots`."""
    for section in LARGE_SECTIONS if page.view.large else SECTIONS:
        answers = section.answers(page) if section.answers else ()
        figures = section.figures(page) if plots else ()
        tables = [table for table in section.tables(page) if table and table.rows]
        lines = section.lines(page)
        if section.answers or figures or tables or lines:
            modelled_tables = model_error.with_models(tables, page.text)
            yield Filled(section, answers, figures, modelled_tables, lines)
