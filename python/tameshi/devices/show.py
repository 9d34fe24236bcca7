"""Profiles for a terminal or a page, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tameshi.core.units import format_value
from tameshi.devices.behaviour import Behaviour, Measured
from tameshi.devices.depths import ByDepth
from tameshi.devices.units import display_value
from tameshi.devices.values import Array, Described, Plain, Value
from tameshi.devices.words import words
from tameshi.report.view.scales import SHOWN_SCALE

SCHEMA_VERSION = 1
ROWS, BLOCKS = 8, " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT, LEFT = 760, 200, 90
TICKS = 4
BAR = 4
"""Columns of a terminal per queue depth of an array."""


@dataclass(frozen=True)
class Shown:
    """Simulated behaviour for display: plots and a table.

    `series`: key of the label, kind of value, values. `places`: positions on the axis from 0 to 1,
    with labels.
    """

    title: str
    explained: str
    series: tuple[tuple[str, str, list[float]], ...]
    places: list[tuple[float, str]]
    ticks: list[tuple[float, str]]
    bar: int
    table: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


def listing(drives: Sequence[Described], lang: str) -> RenderableType:
    """Return the table of drives: model, capacity, description."""
    rows = [
        (drive.name, drive.model, format_capacity(drive.capacity_bytes), drive.description)
        for drive in drives
    ]
    return _listing(("model", "capacity", "description"), rows, lang)


def listing_plain(kind: str, profiles: Sequence[Plain], lang: str) -> RenderableType:
    """Return the table of hosts or links with their descriptions."""
    rows = [(each.name, each.description) for each in profiles]
    return _listing(("description",), rows, lang, title=f"{kind}s")


def listing_arrays(arrays: Sequence[Array], lang: str) -> RenderableType:
    """Return the table of arrays: stack, capacity, description."""
    rows = [
        (array.name, array.made_of, format_capacity(array.capacity_bytes), array.description)
        for array in arrays
    ]
    return _listing(("made_of", "capacity", "description"), rows, lang, title="arrays")


def _listing(
    columns: Sequence[str], rows: Sequence[Sequence[str]], lang: str, title: str | None = None
) -> Table:
    """Return a table of profiles that never truncates names, since users type them."""
    table = Table(title=words(title, lang) if title else None, title_justify="left")
    longest = max((len(name) for name, *_ in rows), default=0)
    table.add_column(words("profile", lang), min_width=longest, no_wrap=True)
    for key in columns:
        table.add_column(words(key, lang))
    for name, *cells in rows:
        table.add_row(name, *map(Text, cells))
    return table


def format_capacity(size: float) -> str:
    """Format bytes in powers of a thousand, as drives are sold."""
    return f"{size / 1e12:.4g} TB" if size >= 1e12 else f"{size / 1e9:.4g} GB"


def as_json(drive: Described, behaviour: Behaviour | None) -> dict[str, Any]:
    """Return a profile and its simulated behaviour as plain data; latencies in ns."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": drive.name,
        "description": drive.description,
        "model": drive.model,
        "capacity_bytes": drive.capacity_bytes,
        "values": [asdict(value) for value in drive.values],
        "behaviour": _as_data(behaviour) if behaviour else None,
    }


def array_as_json(array: Array, by_depth: ByDepth) -> dict[str, Any]:
    """Return an array's profile and its simulated behaviour as plain data; latencies in ns."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": array.name,
        "kind": "array",
        "description": array.description,
        "made_of": array.made_of,
        "capacity_bytes": array.capacity_bytes,
        "drives": array.drives,
        "values": [asdict(value) for value in array.values],
        "behaviour": _as_data(by_depth),
    }


def plain_as_json(profile: Plain) -> dict[str, Any]:
    """Return a host's or a link's profile as plain data."""
    return {"schema_version": SCHEMA_VERSION, **asdict(profile)}


def render_plain(profile: Plain, lang: str) -> RenderableType:
    """Return a host's or a link's values with their sources, for a `rich` console."""
    title = Text(f"{profile.name}: {profile.description}", style="bold")
    return Group(title, Text(""), _values(profile.values, lang))


def _values(values: Sequence[Value], lang: str) -> Table:
    table = Table(title=words("values", lang), title_justify="left")
    for key in ("parameter", "value", "source"):
        table.add_column(words(key, lang), overflow="fold")
    for value in values:
        table.add_row(value.key, Text(display_value(value)), Text(_source(value, lang)))
    return table


def render(
    profile: Described | Array, simulated: Behaviour | ByDepth | None, lang: str
) -> RenderableType:
    """Return values, plots, and the table of simulated behaviour, for a `rich` console."""
    table = _values(profile.values, lang)
    title = Text(f"{profile.name}: {profile.description}", style="bold")
    if simulated is None:
        return Group(title, Text(""), table)
    shown = _shown(simulated, lang)
    rows = Table(title=shown.table, title_justify="left")
    for number, head in enumerate(shown.heads):
        rows.add_column(head, justify="right" if number else "left")
    for row in shown.rows:
        rows.add_row(*row)
    plots = [Text(line) for line in _plots(shown, lang)]
    above = [Text(shown.title, style="bold"), Text(shown.explained)]
    return Group(title, Text(""), table, Text(""), *above, *plots, Text(""), rows)


def _source(value: Value, lang: str) -> str:
    if value.fitted_on is None:
        return value.source
    return f"{value.source} [{words('fitted_on', lang, ids=value.fitted_on)}]"


def _shown(simulated: Behaviour | ByDepth, lang: str) -> Shown:
    return _depths(simulated, lang) if isinstance(simulated, ByDepth) else _ageing(simulated, lang)


def _scaled(scale: int, lang: str) -> str:
    return words("scaled", lang, n=scale) if scale > 1 else words("whole", lang)


def is_proven(scale: int) -> bool:
    """Return whether results at a capacity scale were validated against a whole drive."""
    return scale <= SHOWN_SCALE


def _doubt(scale: int, lang: str) -> str:
    return "" if is_proven(scale) else words("unproven", lang, most=SHOWN_SCALE)


def _as_data(simulated: Behaviour | ByDepth) -> dict[str, Any]:
    return {**asdict(simulated), "scale_is_proven": is_proven(simulated.scale)}


def _ageing(behaviour: Behaviour, lang: str) -> Shown:
    """Return a drive's behaviour over written capacity, or over time without ageing."""
    explained = words("explained_by_time", lang)
    if behaviour.ages:
        explained = words("explained", lang, scale=_scaled(behaviour.scale, lang))
        explained += _doubt(behaviour.scale, lang)
    across = [point.written if behaviour.ages else point.at_s for point in behaviour.points]

    def called(place: float) -> str:
        return f"{place:.0%}" if behaviour.ages else f"{place:.0f} s"

    rates = [point.iops for point in behaviour.points]
    latencies = [point.latency_ns for point in behaviour.points]
    return Shown(
        title=words("behaviour", lang),
        explained=explained,
        series=(("iops", "rate", rates), ("latency", "latency", latencies)),
        places=[(place / across[-1], called(place)) for place in across],
        ticks=[(n / TICKS, called(across[-1] * n / TICKS)) for n in range(TICKS + 1)],
        bar=1,
        table=words("steady", lang),
        heads=tuple(words(key, lang) for key in ("work", "rate", "bandwidth", "latency")),
        rows=[
            (
                words(stream.name, lang),
                format_value("rate", stream.iops),
                format_value("bandwidth", stream.bytes_per_s),
                format_value("latency", stream.latency_ns),
            )
            for stream in behaviour.steady
        ],
    )


def _depths(by_depth: ByDepth, lang: str) -> Shown:
    """Return an array's behaviour by queue depth."""
    pairs = list(zip(by_depth.reads, by_depth.writes, strict=True))
    last = len(pairs) - 1
    places = [(n / last, read.name) for n, (read, _) in enumerate(pairs)]
    explained = words("explained_by_depth", lang, scale=_scaled(by_depth.scale, lang))
    heads = ("outstanding", "reads", "read_latency", "writes", "write_latency")
    return Shown(
        title=words("by_depth", lang),
        explained=explained + _doubt(by_depth.scale, lang),
        series=(
            ("reads", "rate", [point.iops for point in by_depth.reads]),
            ("writes", "rate", [point.iops for point in by_depth.writes]),
        ),
        places=places,
        ticks=places,
        bar=BAR,
        table=words("by_depth", lang),
        heads=tuple(words(key, lang) for key in heads),
        rows=[(read.name, *_both(read), *_both(write)) for read, write in pairs],
    )


def _both(stream: Measured) -> tuple[str, str]:
    return format_value("rate", stream.iops), format_value("latency", stream.latency_ns)


def _plots(shown: Shown, lang: str) -> Iterable[str]:
    """Return columns of blocks from zero up, one per position."""
    for key, kind, values in shown.series:
        top = max(values)
        filled = [round(value / top * ROWS * (len(BLOCKS) - 1)) for value in values]
        yield f"{words(key, lang)}:"
        for row in reversed(range(ROWS)):
            cells = (
                min(max(each - row * (len(BLOCKS) - 1), 0), len(BLOCKS) - 1) for each in filled
            )
            label = format_value(kind, top) if row == ROWS - 1 else "0" if row == 0 else ""
            # Separate wide bars by a gap.
            bars = (BLOCKS[each] * max(shown.bar - 1, 1) + " " * (shown.bar > 1) for each in cells)
            yield f"{label:>10} ┤{''.join(bars).rstrip()}"
        width = len(values) * shown.bar
        if shown.bar == 1:
            yield f"{'':>10} └{'─' * width} {shown.places[-1][1]}"
        else:
            yield f"{'':>10} └{'─' * width}"
            yield f"{'':>12}{''.join(f'{name:<{shown.bar}}' for _, name in shown.places).rstrip()}"


def html(profile: Described | Array, simulated: Behaviour | ByDepth | None, lang: str) -> str:
    """Return a self-contained page: values, plots, simulated behaviour."""
    import jinja2
    from markupsafe import Markup

    loader = resources.files("tameshi")
    template = loader.joinpath("devices", "page.html").read_text(encoding="utf-8")
    style = loader.joinpath("report", "render", "style.css").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    shown = _shown(simulated, lang) if simulated else None
    return environment.from_string(template).render(
        profile=profile,
        kind=profile.made_of if isinstance(profile, Array) else profile.model,
        capacity=format_capacity(profile.capacity_bytes),
        shown=shown,
        plots=[_drawn(shown, *series) for series in shown.series] if shown else [],
        source=lambda value: _source(value, lang),
        display_value=display_value,
        w=lambda key: words(key, lang),
        lang=lang,
        style=Markup(style),
        size=(WIDTH, HEIGHT, LEFT),
    )


def _drawn(shown: Shown, key: str, kind: str, values: list[float]) -> dict[str, Any]:
    """Return the line and ticks of one plot in coordinates of its drawing."""
    top = max(values) * 1.05

    def at(place: float, value: float) -> tuple[float, float]:
        across = LEFT + place * (WIDTH - LEFT - 10)
        return round(across, 1), round(HEIGHT - 30 - value / top * (HEIGHT - 45), 1)

    pairs = list(zip(shown.places, values, strict=True))
    marks = [top / 1.05 * n / TICKS for n in range(TICKS + 1)]
    return {
        "key": key,
        "line": " ".join(f"{x},{y}" for x, y in (at(place, value) for (place, _), value in pairs)),
        "points": [
            (*at(place, value), f"{name}: {format_value(kind, value)}")
            for (place, name), value in pairs
        ],
        "across": [(at(place, 0)[0], name) for place, name in shown.ticks],
        "up": [(at(0, mark)[1], format_value(kind, mark) if mark else "0") for mark in marks],
    }
