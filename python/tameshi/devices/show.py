"""Profiles for people on a terminal or in a page, and for programs as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tameshi.devices.behaviour import Behaviour
from tameshi.devices.values import Described, Plain, Value
from tameshi.devices.words import words
from tameshi.report.text import format_value

SCHEMA_VERSION = 1
ROWS, BLOCKS = 8, " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT, LEFT = 760, 200, 90
TICKS = 4


def listing(drives: Sequence[Described], lang: str) -> RenderableType:
    """Every profile: model, capacity, and what it is; names are whole, for a person types them."""
    table = Table()
    longest = max((len(drive.name) for drive in drives), default=0)
    table.add_column(words("profile", lang), min_width=longest, no_wrap=True)
    for key in ("model", "capacity", "description"):
        table.add_column(words(key, lang))
    for drive in drives:
        capacity = format_capacity(drive.capacity_bytes)
        table.add_row(drive.name, drive.model, capacity, Text(drive.description))
    return table


def listing_plain(kind: str, found: Sequence[Plain], lang: str) -> RenderableType:
    """Every profile of what is no drive, and what it is."""
    table = Table(title=words(f"{kind}s", lang), title_justify="left")
    longest = max((len(each.name) for each in found), default=0)
    table.add_column(words("profile", lang), min_width=longest, no_wrap=True)
    table.add_column(words("description", lang))
    for each in found:
        table.add_row(each.name, Text(each.description))
    return table


def format_capacity(size: float) -> str:
    """Bytes as drives are sold: in powers of a thousand."""
    return f"{size / 1e12:.4g} TB" if size >= 1e12 else f"{size / 1e9:.4g} GB"


def as_json(drive: Described, found: Behaviour | None) -> dict[str, Any]:
    """A profile and what was simulated, as plain data; latencies in ns."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": drive.name,
        "description": drive.description,
        "model": drive.model,
        "capacity_bytes": drive.capacity_bytes,
        "values": [asdict(value) for value in drive.values],
        "behaviour": asdict(found) if found else None,
    }


def plain_as_json(found: Plain) -> dict[str, Any]:
    """A host's or a link's profile as plain data."""
    return {"schema_version": SCHEMA_VERSION, **asdict(found)}


def render_plain(found: Plain, lang: str) -> RenderableType:
    """A host's or a link's values with their sources, for a `rich` console."""
    title = Text(f"{found.name}: {found.description}", style="bold")
    return Group(title, Text(""), _values(found.values, lang))


def _values(values: Sequence[Value], lang: str) -> Table:
    table = Table(title=words("values", lang), title_justify="left")
    for key in ("parameter", "value", "source"):
        table.add_column(words(key, lang), overflow="fold")
    for value in values:
        table.add_row(value.key, Text(value.value), Text(_source(value, lang)))
    return table


def render(drive: Described, found: Behaviour | None, lang: str) -> RenderableType:
    """Values, the plot, and the steady state, for a `rich` console."""
    table = _values(drive.values, lang)
    title = Text(f"{drive.name}: {drive.description}", style="bold")
    if found is None:
        return Group(title, Text(""), table)
    steady = Table(title=words("steady", lang), title_justify="left")
    for key in ("work", "rate", "bandwidth", "latency"):
        steady.add_column(words(key, lang), justify="left" if key == "work" else "right")
    for row in _steady(found, lang):
        steady.add_row(*row)
    plots = [Text(line) for line in _plots(found, lang)]
    head = [Text(words("behaviour", lang), style="bold"), Text(_explained(found, lang))]
    return Group(title, Text(""), table, Text(""), *head, *plots, Text(""), steady)


def _source(value: Value, lang: str) -> str:
    if value.fitted_on is None:
        return value.source
    return f"{value.source} [{words('fitted_on', lang, ids=value.fitted_on)}]"


def _explained(found: Behaviour, lang: str) -> str:
    if not found.ages:
        return words("explained_by_time", lang)
    scale = words("scaled", lang, n=found.scale) if found.scale > 1 else words("whole", lang)
    return words("explained", lang, scale=scale)


def _steady(found: Behaviour, lang: str) -> Iterable[tuple[str, str, str, str]]:
    for of in found.steady:
        yield (
            words(of.name, lang),
            format_value("rate", of.iops),
            format_value("bandwidth", of.bytes_per_s),
            format_value("latency", of.latency_ns),
        )


def _series(found: Behaviour) -> tuple[tuple[str, str, list[float]], ...]:
    """What is plotted: the label's key, the kind of value, the values."""
    return (
        ("iops", "rate", [point.iops for point in found.points]),
        ("latency", "latency", [point.latency_ns for point in found.points]),
    )


def _plots(found: Behaviour, lang: str) -> Iterable[str]:
    """Columns of blocks from zero up, one for each point."""
    for key, kind, values in _series(found):
        top = max(values)
        filled = [round(value / top * ROWS * (len(BLOCKS) - 1)) for value in values]
        yield f"{words(key, lang)}:"
        for row in reversed(range(ROWS)):
            of = (min(max(each - row * (len(BLOCKS) - 1), 0), len(BLOCKS) - 1) for each in filled)
            label = format_value(kind, top) if row == ROWS - 1 else "0" if row == 0 else ""
            yield f"{label:>10} ┤{''.join(BLOCKS[each] for each in of)}"
        last = _place(found, _across(found)[-1])
        yield f"{'':>10} └{'─' * len(values)} {last}"


def _across(found: Behaviour) -> list[float]:
    """Where the points stand: by what was written, or by time where nothing gets old."""
    return [point.written if found.ages else point.at_s for point in found.points]


def _place(found: Behaviour, across: float) -> str:
    return f"{across:.0%}" if found.ages else f"{across:.0f} s"


def html(drive: Described, found: Behaviour | None, lang: str) -> str:
    """A page that needs nothing else: values, plots, steady state."""
    loader = resources.files("tameshi")
    template = loader.joinpath("devices", "page.html").read_text(encoding="utf-8")
    style = loader.joinpath("report", "style.css").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(template).render(
        drive=drive,
        capacity=format_capacity(drive.capacity_bytes),
        explained=_explained(found, lang) if found else "",
        plots=[_drawn(found, *series) for series in _series(found)] if found else [],
        steady=list(_steady(found, lang)) if found else [],
        source=lambda value: _source(value, lang),
        w=lambda key: words(key, lang),
        lang=lang,
        style=Markup(style),
        size=(WIDTH, HEIGHT, LEFT),
    )


def _drawn(found: Behaviour, key: str, kind: str, values: list[float]) -> dict[str, Any]:
    """One plot's line and ticks in the coordinates of its drawing."""
    places = _across(found)
    top, last = max(values) * 1.05, places[-1]

    def at(place: float, value: float) -> tuple[float, float]:
        across = LEFT + place / last * (WIDTH - LEFT - 10)
        return round(across, 1), round(HEIGHT - 30 - value / top * (HEIGHT - 45), 1)

    pairs = list(zip(places, values, strict=True))
    marks = [top / 1.05 * n / TICKS for n in range(TICKS + 1)]
    return {
        "key": key,
        "line": " ".join(f"{x},{y}" for x, y in (at(*pair) for pair in pairs)),
        "points": [
            (*at(place, value), f"{_place(found, place)}: {format_value(kind, value)}")
            for place, value in pairs
        ],
        "across": [
            (at(last * n / TICKS, 0)[0], _place(found, last * n / TICKS)) for n in range(TICKS + 1)
        ],
        "up": [(at(0, of)[1], format_value(kind, of) if of else "0") for of in marks],
    }
