"""The report of a study: one HTML file, Markdown, or the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text as RichText

from tameshi.analysis.left_out import NO_HOST
from tameshi.analysis.stats.timeline import MISSED
from tameshi.core.reasons import Reason, key_of
from tameshi.report.render.colours import coloured
from tameshi.report.render.draw import draw, drawn
from tameshi.report.render.html import asset, bundle, packed, script_hash, template
from tameshi.report.render.markdown import answer_list, heading, markdown_table, markdown_text
from tameshi.report.render.plot_data import file_name, plot_csv
from tameshi.report.render.terminal import rich_table
from tameshi.report.sections import asked, doubts, published, validity
from tameshi.report.sections.registry import answers_of, filled
from tameshi.report.sections.timeline import missing
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import View, at_worst, read_results
from tameshi.report.view.section import Page
from tameshi.report.view.streams import named_streams
from tameshi.report.view.tables import Answer
from tameshi.report.words.text import Text


def render(inputs: ReportInputs, lang: str = "en") -> str:
    """Return the report as one HTML file; raises `ValueError` for an unknown language."""
    made = _page(inputs, lang)
    view, text = made.view, made.text
    sections = [
        (each.section, each, [drawn(figure, text) for figure in each.figures])
        for each in filled(made)
    ]
    labels = (
        validity.model_label(world, inputs.environments.get(world, {}), text)
        for world in view.worlds
    )
    plotly, page = bundle(), asset("page.js")
    plots = {str(each["id"]): each["plot"] for *_, figures in sections for each in figures}
    return template("template.html").render(
        t=text,
        view=view,
        at_worst=at_worst(view),
        doubts=_doubts(view, text),
        models=[label for label in labels if label],
        sections=sections,
        plots=packed(json.dumps(plots, ensure_ascii=False)),
        plotly=plotly,
        page=Markup(page),
        style=Markup(asset("style.css")),
        script_hashes=[script_hash(page), plotly.hash],
    )


def plot_tables(inputs: ReportInputs, lang: str = "en") -> dict[str, str]:
    """Return the data of each plot of the report as CSV, by file name."""
    made = _page(inputs, lang)
    return {
        f"{file_name(figure)}.csv": plot_csv(figure, made.text)
        for each in filled(made)
        for figure in each.figures
    }


def plot_figures(inputs: ReportInputs, lang: str = "en") -> dict[str, dict[str, Any]]:
    """Return each plot of the report as plotly's `data` and `layout`, in light colours, by name."""
    made = _page(inputs, lang)
    return {
        file_name(figure): coloured(draw(figure, made.text))
        for each in filled(made)
        for figure in each.figures
    }


def _page(inputs: ReportInputs, lang: str) -> Page:
    view, text = _worded(inputs, lang)
    return Page(view, inputs, text)


def _worded(inputs: ReportInputs, lang: str) -> tuple[View, Text]:
    """Return view and text, with the study's own words if it has some in this language."""
    view = read_results(inputs.results)
    own = view.japanese if lang == "ja" else {}
    text = Text(lang, named_streams(view, Text(lang, own.get("names"))))
    view = replace(
        view, title=own.get("title") or view.title, question=own.get("question") or view.question
    )
    return asked.worded(view, text), text


def terminal_summary(inputs: ReportInputs, lang: str = "en") -> list[str]:
    """Return the answer in at most five lines, and a word of what is left out."""
    page = _page(inputs, lang)
    return _answer_lines(answers_of(page), page.text)


def terminal_doubts(inputs: ReportInputs, lang: str = "en") -> list[str]:
    """Return a verdict that is not valid, deviations from a method, what the model leaves out, and
    unmatched published figures."""
    view, text = _worded(inputs, lang)
    unmatched = published.unmatched(view, text)
    if view.verdict["level"] == "valid":
        return [*_method(view, text), *_left_out(view, text), *unmatched]
    verdict, *reasons = _verdict(view, text)
    return [verdict, *(f"  {reason}" for reason in reasons), *unmatched]


def terminal(inputs: ReportInputs, lang: str = "en") -> RenderableType:
    """Return the report without plots, for a `rich` console."""
    made = _page(inputs, lang)
    view, text = made.view, made.text
    parts: list[RenderableType] = [RichText(view.question, style="bold"), RichText(view.title)]
    parts += [RichText(line) for line in _verdict(view, text)]
    for each in filled(made, plots=False):
        parts.append(RichText(text(f"section.{each.section.id}"), style="bold underline"))
        lines = [*(_answer_lines(each.answers, text) if each.section.answers else ()), *each.lines]
        parts += [Padding(RichText(line), (0, 0, 0, 2)) for line in lines]
        parts += [rich_table(table) for table in each.tables]
    return Group(*(part for each in parts for part in (each, RichText(""))))


def markdown(inputs: ReportInputs, lang: str = "en") -> str:
    """Return the report without plots, in Markdown."""
    made = _page(inputs, lang)
    view, text = made.view, made.text
    parts = [f"# {markdown_text(view.question)}", markdown_text(view.title)]
    parts += [markdown_text(line) for line in _verdict(view, text)]
    for each in filled(made, plots=False):
        parts.append(heading(text, each.section.id))
        if each.section.answers:
            parts.append(answer_list(each.answers, text))
        parts += [markdown_table(table) for table in each.tables]
        if each.lines:
            begin, written = ("    ", str) if each.section.code else ("- ", markdown_text)
            parts.append("\n".join(f"{begin}{written(line)}" for line in each.lines))
    return "\n\n".join(parts) + "\n"


def _answer_lines(answers: Sequence[Answer], text: Text) -> list[str]:
    """Return a line for each answer, with a clause for each world."""
    return [
        answer.topic
        + "".join(
            text("answer.clause", world=clause.label, sentence=clause.sentence)
            if clause.label
            else f" — {clause.sentence}"
            for clause in answer.clauses
        )
        for answer in answers
    ] or [text("answer.none")]


def _verdict(view: View, text: Text) -> list[str]:
    """Return the study's verdict, and its doubts in plain sentences."""
    verdict = text.study_verdict(view.verdict["level"], at_worst(view))
    return [verdict, *_doubts(view, text)]


def _doubts(view: View, text: Text) -> list[str]:
    """Return deviations from a method, which cells are in doubt and why, what concerns the study as
    a whole, and the missing end."""
    own = {key_of(reason) for cell in view.cells for reason in _reasons(cell)}
    whole = [r for r in view.verdict.get("reasons", []) if key_of(r) not in own]
    missed = missing(view, text)
    without = {MISSED} if missed else set()
    whole = [reason for reason in whole if reason["code"] not in without]
    return [
        *_method(view, text),
        *doubts.sentences(view, text, without),
        *text.reasons(whole),
        *missed,
        *_left_out(view, text),
    ]


def _left_out(view: View, text: Text) -> list[str]:
    """Return what the model leaves out of this study's arrays; the rest is in the caveats."""
    return [
        text("caveat.left_out", reason=text.reason(each))
        for each in view.left_out
        if each["code"] != NO_HOST
    ]


def _method(view: View, text: Text) -> list[str]:
    """Return whether the study deviates from the published method that it follows."""
    if view.method is None or view.method["compliant"]:
        return []
    name, count = view.method["name"], len(view.method["deviations"])
    return [text("doubt.method", name=name, count=count)]


def _reasons(cell: Mapping[str, Any]) -> Sequence[Reason]:
    return (cell.get("verdict") or {}).get("reasons") or ()
