"""The report as one HTML file that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from tameshi.report import (
    asked,
    database,
    endurance,
    interference,
    limits,
    modelled,
    offers,
    power,
    slowest,
    standing,
    timeline,
    why,
)
from tameshi.report.asked import answers
from tameshi.report.draw import draw
from tameshi.report.figures import Figure, figures
from tameshi.report.inputs import ReportInputs
from tameshi.report.matrices import matrices
from tameshi.report.modelled import with_models
from tameshi.report.points import View, at_worst, read_results
from tameshi.report.summary import Column, Row, overview
from tameshi.report.text import Text


def render(inputs: ReportInputs, lang: str = "en") -> str:
    """Return the whole report page; raises `ValueError` for an unknown language."""
    text = Text(lang)
    view = asked.worded(read_results(inputs.results), text)
    scripts = {"plotly": get_plotlyjs(), "page": asset("page.js")}
    series = modelled.banded(view, inputs.series)
    drawn = [_drawn(figure, text) for figure in figures(view, inputs.percentiles, series)]
    models = [_drawn(figure, text) for figure in modelled.figures(view)]
    whys = [_drawn(figure, text) for figure in why.figures(view)]
    hangs = [_drawn(figure, text) for figure in asked.figures(view)]
    return template("template.html").render(
        **_content(view, inputs, text),
        t=text,
        view=view,
        figures=drawn,
        why_figures=whys,
        asked_figures=hangs,
        model_figures=models,
        plots=_json({str(f["id"]): f["plot"] for f in (*drawn, *whys, *hangs, *models)}),
        style=Markup(asset("style.css")),
        scripts={name: Markup(script) for name, script in scripts.items()},
        script_hashes=[_hash(script) for script in scripts.values()],
    )


def template(name: str) -> jinja2.Template:
    """A page of this package, as whoever fills it in needs it."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"spans": spans, "grouped": grouped, "sentence": sentence}
    return environment.get_template(name)


def _drawn(figure: Figure, text: Text) -> dict[str, Any]:
    return {
        "id": figure.id,
        "title": text.phrase(figure.title),
        "hint": " ".join(filter(None, map(text.phrase, figure.hints))),
        "plot": draw(figure, text),
    }


def _content(view: View, inputs: ReportInputs, text: Text) -> dict[str, Any]:
    labels = {
        world: standing.model_label(world, inputs.environments.get(world, {}), text)
        for world in view.worlds
    }
    return {
        "answers": answers(view, text),
        "asked": with_models(asked.tables(view, text), text),
        "offers": offers.table(view, text),
        "overview": with_models([overview(view, text)], text)[0],
        "matrices": with_models(matrices(view, text), text),
        "database": with_models(database.tables(view, text), text),
        "limits": limits.table(view, text),
        "interference": interference.tables(view, text),
        "timeline": with_models(timeline.tables(view, text), text),
        "why": why.tables(view, text),
        "endurance": endurance.tables(view, text),
        "power": power.tables(view, text),
        "slowest": slowest.tables(inputs.slowest, text),
        "verdicts": standing.verdicts(view, text),
        "unserved": standing.unserved(view, text),
        "at_worst": at_worst(view),
        "method": standing.method(view, text),
        "steady": standing.steady(view, text),
        "published": standing.published(view, text),
        "environments": standing.environments(inputs.environments, text),
        "caveats": standing.caveats(view, inputs.environments, text),
        "reproduce": list(inputs.reproduce),
        "models": [label for label in labels.values() if label],
    }


def spans(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """Neighbouring columns of one group as (group, how many), the row header left out."""
    found: list[tuple[str, int]] = []
    for column in columns[1:]:
        if found and found[-1][0] == column.group:
            found[-1] = (column.group, found[-1][1] + 1)
        else:
            found.append((column.group, 1))
    return found


def sentence(said: str) -> Markup:
    """A sentence whose values do not break across lines and whose intervals stand back."""
    safe = re.sub(r"(?<=\d) (?=([kMG]|[kMG]?B/s|[nµm]?s|×)(?!\w))", "\u00a0", str(escape(said)))
    safe = re.sub(r"(?<=\d)–(?=\d)", "\u2060–\u2060", safe)
    aside = r"\((?=\d|model |モデル|他の)[^()]*\)"
    return Markup(re.sub(aside, r'<span class="interval">\g<0></span>', safe))


def grouped(rows: tuple[Row, ...]) -> list[dict[str, Any]]:
    """Neighbouring rows of one group, in their order."""
    return [
        {"name": name, "rows": list(members)}
        for name, members in itertools.groupby(rows, key=lambda row: row.group)
    ]


def _json(value: object) -> Markup:
    """JSON that may stand inside a script element."""
    return Markup(json.dumps(value, ensure_ascii=False).replace("<", "\\u003c"))


def _hash(script: str) -> str:
    """The script's hash for the page's content security policy: nothing else may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def asset(name: str) -> str:
    """A file of the report's, as text."""
    return resources.files("tameshi.report").joinpath(name).read_text(encoding="utf-8")
