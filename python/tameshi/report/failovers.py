"""Report of a set of failover trials: losses, outages, costs of a standby, warm-up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from tameshi.core.units import format_interval, format_value
from tameshi.report.failover_figures import figures
from tameshi.report.render.draw import drawn
from tameshi.report.render.html import asset, bundle, packed, script_hash, template
from tameshi.report.render.markdown import markdown_table, markdown_text
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Shown, Text

Document = Mapping[str, Any]
Spread = Mapping[str, float] | None
"""Median, least and most of a figure; None if it is not known."""
READY = ("failover-ways",)
"""Sets with a title of their own."""


def failovers_page(document: Document, lang: str = "en") -> str:
    """Return the report as one self-contained HTML file."""
    text = Text(lang)
    name = document["name"] if document["name"] in READY else "set"
    plots = [drawn(figure, text) for figure in figures(document)]
    plotly, page = bundle(), asset("page.js")
    by_id = {each["id"]: each["plot"] for each in plots}
    return template("tables.html").render(
        t=text,
        figures=plots,
        plots=packed(json.dumps(by_id, ensure_ascii=False)),
        plotly=plotly,
        page=Markup(page),
        script_hashes=[script_hash(page), plotly.hash],
        title=text(f"failovers.question.{name}"),
        basis=text(f"failovers.title.{name}"),
        answer=answer(document, text),
        tables=[table for table in tables(document, text) if table.rows],
        lists=list(_lists(document, text)),
        style=Markup(asset("style.css")),
    )


def failovers_markdown(document: Document, lang: str = "en") -> str:
    """Return answer and tables in Markdown, without a title."""
    text = Text(lang)
    parts = [markdown_text(line) for line in answer(document, text)]
    parts += [markdown_table(table) for table in tables(document, text) if table.rows]
    return "\n\n".join(parts) + "\n"


def failovers_answer(document: Document, lang: str = "en") -> list[str]:
    """Return the answer in sentences."""
    return answer(document, Text(lang))


def answer(document: Document, text: Text) -> list[str]:
    """Return what was lost, how long the service was away, and what a standby costs."""
    cells = document["cells"]
    if not cells:
        return [text("failovers.none", planned=document["planned"])]
    return [
        *_losses(cells, text),
        *_slowed(cells, text),
        *_ratios(document, text),
        *_unpromised(cells, text),
        *_incomplete(document, text),
    ]


def _losses(cells: Sequence[Document], text: Text) -> Iterator[str]:
    """Yield whether promises held, with the shortest and the longest outage."""
    broken = [cell for cell in cells if not cell["holds"]]
    for cell in broken:
        fields = {"lost": max(cell["lost"]), "unexplained": max(cell["unexplained"])}
        yield text("failovers.broken", way=cell["way"], event=cell["event"], **fields)
    promised = [cell for cell in cells if cell["promises"]]
    away = [cell["away_ns"] for cell in cells if cell["away_ns"]]
    acknowledged = f"{sum(cell['acknowledged'] for cell in promised):,}"
    if not away:
        if promised and not broken:
            yield text("failovers.kept", acknowledged=acknowledged)
        return
    ends = (min(each["value"] for each in away), max(each["value"] for each in away))
    least, most = (format_value("latency", end) for end in ends)
    back = text("failovers.back_one" if least == most else "failovers.back", low=least, high=most)
    trials = sum(cell["trials"] for cell in cells if cell["steps_ns"])
    key = "failovers.held" if promised and not broken else "failovers.back_of"
    yield text(key, trials=trials, acknowledged=acknowledged, back=back)


def _slowed(cells: Sequence[Document], text: Text) -> Iterator[str]:
    """Yield the rates with and after a slow link."""
    several = len({cell["drive"] for cell in cells}) > 1
    for cell in cells:
        if not cell["steps_ns"] and cell["rate_alone"]:
            slow, after = (str(spread("rate", cell[key])) for key in ("rate_alone", "rate_after"))
            way = f"{cell['way']} ({cell['drive']})" if several else cell["way"]
            yield text("failovers.slowed", way=way, slow=slow, after=after)


def _ratios(document: Document, text: Text) -> Iterator[str]:
    """Yield the rate of each way with a standby, next to a server alone."""
    several = len({ratio["drive"] for ratio in document["ratios"]}) > 1
    phrases = [
        text(
            "failovers.ratio_on" if several else "failovers.ratio",
            way=ratio["way"],
            drive=ratio["drive"],
            ratio=str(spread("ratio", ratio)),
        )
        for ratio in document["ratios"]
    ]
    if phrases:
        yield text("failovers.ratios", ratios=text("list.separator").join(phrases))


def _unpromised(cells: Sequence[Document], text: Text) -> Iterator[str]:
    """Yield the most that each way without a promise lost."""
    worst: dict[str, Document] = {}
    for cell in cells:
        if not cell["promises"]:
            known = worst.setdefault(cell["way"], cell)
            worst[cell["way"]] = max(known, cell, key=lambda each: max(each["lost"]))
    for way, cell in worst.items():
        if lost := max(cell["lost"]):
            yield text("failovers.lost", way=way, lost=f"{lost:,}", event=cell["event"])


def _incomplete(document: Document, text: Text) -> Iterator[str]:
    made, planned = document["made"], document["planned"]
    if made < planned:
        yield text("failovers.incomplete", made=made, planned=planned)


def tables(document: Document, text: Text) -> Iterator[Table]:
    """Yield service before events, events, warm-up, and steps."""
    yield _services(document, text)
    yield _events(document["cells"], text)
    yield _warm_up(document["cells"], text)
    yield from _steps(document["cells"], text)


def _services(document: Document, text: Text) -> Table:
    ratios = {(each["way"], each["drive"]): each for each in document["ratios"]}
    rows = []
    for each in document["services"]:
        cells = (
            spread("rate", each["rate"]),
            spread("ratio", ratios.get((each["way"], each["drive"]))),
            *(spread("latency", each[key]) for key in ("p50_ns", "p99_ns", "lag_ns")),
            spread("bytes", each["link_bytes"]),
            *(spread("latency", each[key]) for key in ("primary_cpu_ns", "standby_cpu_ns")),
        )
        rows.append(Row(each["way"], cells, text("failovers.on", drive=each["drive"])))
    columns = (
        *_columns(text, "rate", "against_single"),
        *_columns(text, "p50", "p99", group="latency"),
        *_columns(text, "lag"),
        *_columns(text, "link", "primary_cpu", "standby_cpu", group="per_commit"),
    )
    return _table(text, "services", columns, rows)


def _events(cells: Sequence[Document], text: Text) -> Table:
    rows = []
    for each in cells:
        lost, unexplained = (max(each[key]) for key in ("lost", "unexplained"))
        figures = (
            *(spread("latency", each[key]) for key in ("away_ns", "outage_ns", "recovered_ns")),
            Shown(f"{each['acknowledged']:,}"),
            Shown(f"{lost:,}"),
            Shown(f"{unexplained:,}"),
            Shown(text("list.short").join(each["returned_by"]) or text("cell.none")),
            spread("latency", each["return_ns"]),
            spread("bytes", each["return_bytes"]),
        )
        mark = "" if each["holds"] else "invalid"
        group = text("failovers.on", drive=each["drive"])
        rows.append(Row(f"{each['way']}, {each['event']}", figures, group, mark))
    columns = (
        *_columns(text, "away", "outage", "recovered", group="time"),
        *_columns(text, "acknowledged", "most_lost", "unexplained", group="commits"),
        *_columns(text, "returned_by", "return_time", "return_bytes", group="return"),
    )
    return _table(text, "events", columns, rows)


def _warm_up(cells: Sequence[Document], text: Text) -> Table:
    rows = []
    for each in cells:
        warm_up = each["warm_up"]
        if warm_up:
            moments = [warm_up[moment] for moment in ("before", "first", "last")]
            figures = (
                *(spread("share", moment["hit_ratio"]) for moment in moments),
                *(spread("number", moment["reads_per_commit"]) for moment in moments),
                spread("latency", warm_up["last"]["end_ns"]),
            )
            group = text("failovers.on", drive=each["drive"])
            rows.append(Row(f"{each['way']}, {each['event']}", figures, group))
    columns = (
        *_columns(text, "before", "first", "last", group="hits"),
        *_columns(text, "before", "first", "last", group="reads"),
        *_columns(text, "last_at"),
    )
    return _table(text, "warm_up", columns, rows)


def _steps(cells: Sequence[Document], text: Text) -> Iterator[Table]:
    """Yield a table of steps for servers with a standby, and one for servers alone."""
    kinds: dict[tuple[str, ...], list[Document]] = {}
    for each in cells:
        kinds.setdefault(tuple(each["steps_ns"]), []).append(each)
    kinds.pop((), None)  # Without a failover there is no step.
    for names, alike in kinds.items():
        rows = [
            Row(
                f"{each['way']}, {each['event']}",
                tuple(spread("latency", each["steps_ns"][name]) for name in names),
                text("failovers.on", drive=each["drive"]),
            )
            for each in alike
        ]
        kind = "takeover" if "promotion" in names else "restart"
        yield _table(text, kind, _columns(text, *(f"step.{name}" for name in names)), rows)


def _lists(document: Document, text: Text) -> Iterator[tuple[str, list[str]]]:
    failed = [
        f"{each['way']}, {each['event']}, {each['drive']}, {each['repetition']}: {each['failure']}"
        for each in document["failures"]
    ]
    if failed:
        yield text("failovers.failures"), failed
    settings = [f"{key}: {value}" for key, value in document["settings"].items() if value != ""]
    yield text("failovers.settings"), settings


def spread(kind: str, value: Spread) -> Shown:
    """Return a median with the least and the most of several trials."""
    if value is None:
        return Shown("–")
    ends = (value["low"], value["high"])
    interval = "" if ends[0] == ends[1] else format_interval(kind, value["value"], *ends)
    return Shown(format_value(kind, value["value"]), interval=interval)


def _columns(text: Text, *names: str, group: str = "") -> tuple[Column, ...]:
    shared = text(f"failovers.{group}") if group else ""
    return tuple(Column(text(f"failovers.{name}"), shared) for name in names)


def _table(text: Text, name: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    first = Column(text("failovers.way"))
    caption, note = text(f"failovers.table.{name}"), text("failovers.note.spread")
    bare = not any(cell.interval for row in rows for cell in row.cells)
    return Table(
        name, caption, (first, *columns), tuple(rows), note="" if bare else note, numeric=True
    )
