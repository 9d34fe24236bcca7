"""Validity of results: verdicts, methods, environments, caveats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.intervals import OVER_RUNS, OVER_RUNS_PLAIN
from tameshi.core.units import format_value
from tameshi.report.sections import published, served_reasons
from tameshi.report.view.points import Point, View, freeze, kind_of, level_on, unique
from tameshi.report.view.scales import SHOWN_CHANGE, SHOWN_SCALE
from tameshi.report.view.tables import Column, Row, Table, cell_name, level_name
from tameshi.report.words.text import Shown, Text

MODELLED = ("simulated", "emulated")
_WORST_FIRST = ("invalid", "warning", "valid")
# Cells named in a row of verdicts; of more only the number.
_NAMED = 4
FAST_CHANGE = 2
"""Difference of statement rates between fast and exact mode, in per cent:
docs/validation/database-modes.md."""
EXTREME = "latency.max"
"""Measure without an interval, however many runs there are."""


def verdicts(view: View, text: Text) -> Table:
    """Return cells grouped by world, phase and verdict, worst first; valid phases share a row.

    So do phases whose only reasons are those of served drives, which concern whole runs.
    """
    groups: dict[tuple[str, str, str, tuple[str, ...], bool], list[dict[str, Any]]] = {}
    for cell in view.cells:
        verdict = cell.get("verdict") or {"level": "valid", "reasons": []}
        level, (own, of_drives) = verdict["level"], served_reasons.split(cell)
        reasons = tuple(map(text.reason, own))
        alone = not reasons and (level == "valid" or bool(of_drives))
        key = (level, cell["world"], "" if alone else cell["phase"], reasons, bool(of_drives))
        groups.setdefault(key, []).append(cell)
    rank = {level: i for i, level in enumerate(_WORST_FIRST)}
    rows = []
    for key in sorted(groups, key=lambda k: rank.get(k[0], 0)):
        level, world, phase, reasons, _ = key
        runs = " / ".join(
            str(sum(cell.get("runs", {}).get(state, 0) for cell in groups[key]))
            for state in ("complete", "partial", "failed")
        )
        phases = (text.name(p) for p in unique(cell["phase"] for cell in groups[key]))
        which = _which_cells(view, text, world, phase, groups[key])
        cells = (text.world(world), text("list.short").join(phases), which, runs)
        why = served_reasons.shown(view, reasons, groups[key], text)
        rows.append(Row(text.verdict(level), (*map(Shown, cells), why), mark=level))
    keys = ("verdict", "world", "phase", "cells", "runs", "reasons")
    columns = tuple(Column(text(f"column.{key}")) for key in keys)
    return Table("verdicts", text("table.verdicts"), columns, tuple(rows))


def _which_cells(
    view: View, text: Text, world: str, phase: str, cells: list[dict[str, Any]]
) -> str:
    alike = [c for c in view.cells if c["world"] == world and phase in ("", c["phase"])]
    if len(cells) == len(alike):
        return text("cell.all", count=len(cells))
    if not phase or len(cells) > _NAMED:
        return text("cell.some", count=len(cells), total=len(alike))
    return text("list.separator").join(
        text("list.short").join(level_name(text, *pair) for pair in freeze(cell["levels"]))
        for cell in cells
    )


def unserved(view: View, text: Text) -> Table | None:
    """Return arrivals and unserved ones of overloaded streams."""
    rows = []
    for cell in view.cells:
        by_subject: dict[str, list[Mapping[str, float]]] = {}
        for finding in cell.get("findings", ()):
            if finding["code"] == "unserved":
                by_subject.setdefault(finding["subject"], []).append(finding["figures"])
        for subject, runs in by_subject.items():
            arrived, left = (sum(run[key] for run in runs) for key in ("arrived", "count"))
            share = format_value("share", left / arrived)
            values = tuple(map(Shown, (f"{arrived:,.0f}", f"{left:,.0f}", share)))
            rows.append(Row(text.name(subject), values, group=cell_name(text, cell)))
    keys = ("load", "arrived", "unserved", "unserved_share")
    columns = tuple(Column(text(f"column.{key}")) for key in keys)
    caption, note = text("table.unserved"), text("note.unserved")
    return Table("unserved", caption, columns, tuple(rows), note, numeric=True) if rows else None


def method(view: View, text: Text) -> Table | None:
    """Return the published method that the study follows, with every deviation."""
    if view.method is None:
        return None
    compliant = view.method["compliant"]
    compliance = text("method.compliant" if compliant else "method.deviates")
    deviations = list(map(text.reason, view.method["deviations"])) or [text("cell.none")]
    rows = [Row(str(place), (Shown(words),)) for place, words in enumerate(deviations, 1)]
    columns = (Column(text("column.number")), Column(text("column.deviation")))
    caption = text("table.method", name=view.method["name"], compliance=compliance)
    return Table("method", caption, columns, tuple(rows))


def steady(view: View, text: Text) -> Table | None:
    """Return the tracked values over the rounds, judged by both criteria."""
    rows = [
        Row(
            f"{text.name(check['stream'])}: {text.measure(_TRACKED[check['variable']])}",
            _steady_cells(run, check, text),
            group=cell_name(text, cell),
            mark="valid" if check["holds"] and run["repetition"] not in early else "warning",
        )
        for cell in view.cells
        for early in [_too_early(cell)]
        for run in cell.get("steady", [])
        for check in run["checks"]
    ]
    keys = ("rounds", "window_mean", "excursion", "slope_excursion", "fit", "correlation")
    columns = (Column(text("column.tracked")), *(Column(text(f"column.{key}")) for key in keys))
    return Table("steady", text("table.steady"), columns, tuple(rows)) if rows else None


def _too_early(cell: Mapping[str, Any]) -> set[int]:
    """Return the runs whose drive was steady by the rule before it was overwritten."""
    codes = ("not_reclaiming", "not_overwritten")
    findings = cell.get("findings", ())
    return {finding["repetition"] for finding in findings if finding["code"] in codes}


_TRACKED = {"iops": "iops", "bandwidth": "bandwidth", "latency": "latency.mean"}


def _steady_cells(
    run: Mapping[str, Any], check: Mapping[str, Any], text: Text
) -> tuple[Shown, ...]:
    """Return the figures that the PTS requires: found and allowed excursions, the fitted line."""
    kind = kind_of(_TRACKED[check["variable"]])

    def value(number: float) -> str:
        sign = "−" if number < 0 else ""
        return sign + format_value(kind, abs(number))

    def excursion(measured: float, allowed: float) -> Shown:
        return Shown(text("cell.of_allowed", found=value(measured), allowed=value(allowed)))

    rounds = text("cell.rounds", first=run["first"], last=run["last"], made=run["made"])
    fit = text("cell.fit", intercept=value(check["intercept"]), slope=value(check["slope"]))
    return (
        Shown(rounds),
        Shown(value(check["mean"])),
        excursion(check["range"], check["range_allowed"]),
        excursion(abs(check["slope_excursion"]), check["slope_allowed"]),
        Shown(fit),
        Shown(f"{check['correlation']:.2f}".replace("-", "−")),
    )


def environments(by_world: Mapping[str, Mapping[str, Any]], text: Text) -> list[Table]:
    """Return facts and values per world, grouped by target."""
    columns = (Column(text("column.key")), Column(text("column.value")))
    return [
        Table(
            f"environment-{world}",
            text("table.environment", world=text.world(world)),
            columns,
            tuple(_environment_rows(values, text)),
        )
        for world, values in by_world.items()
        if values
    ]


def _environment_rows(values: Mapping[str, Any], text: Text) -> Iterator[Row]:
    """Yield facts of the world, then of each target with its device."""
    targets = values.get("targets")
    targets = targets if isinstance(targets, Mapping) else {}
    yield from _fact_rows({k: v for k, v in values.items() if v is not targets}, text)
    for path, target in targets.items():
        yield from _fact_rows(target, text, group=str(path))


def _fact_rows(
    values: Mapping[str, Any], text: Text, prefix: str = "", group: str = ""
) -> Iterator[Row]:
    """Yield known facts by label, others by dotted name, without empty ones."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            # Facts of the machine carry no prefix.
            inner = "" if key == "machine" else f"{prefix}{key}."
            yield from _fact_rows(value, text, inner, group)
        elif shown_value := text.fact_value(f"{prefix}{key}", value):
            yield Row(text.fact(f"{prefix}{key}"), (Shown(shown_value),), group=group)


def model_label(world: str, environment: Mapping[str, Any], text: Text) -> str:
    """Return the device of a modelled world; empty for the measured one."""
    if world not in MODELLED:
        return ""
    model = environment.get("model")
    label = text(f"model.{world}", model=model) if model else text("model.unnamed")
    slow = environment.get("slow")
    return label + text("model.slow", slow=slow) if slow else label


def caveats(view: View, by_world: Mapping[str, Mapping[str, Any]], text: Text) -> list[str]:
    """Return the caveats of the figures, most serious first."""
    lines = [line for cell in view.cells for line in _incomplete(cell, text)]
    for damaged in view.damaged:
        lines.append(
            text("caveat.damaged", run=damaged["run"], reason=text.reason(damaged["reason"]))
        )
    if view.unchecked:
        lines.append(text("caveat.unchecked", count=view.unchecked))
    lines += published.unmatched(view, text)
    for world in view.worlds:
        if world in MODELLED:
            model = by_world.get(world, {}).get("model") or text("model.unnamed")
            lines.append(text(f"caveat.{world}", model=model))
        if slow := by_world.get(world, {}).get("slow"):
            lines.append(text("caveat.slow", slow=slow))
    lines += [text("caveat.left_out", reason=text.reason(each)) for each in view.left_out]
    outside = unique(p.phase for p in view.points if p.outside_model)
    if outside:
        names = text("list.short").join(map(text.name, outside))
        lines.append(text("caveat.outside", phase=names))
    lines += _scaled(view, text)
    if any(_is_cut_short(event) for cell in view.cells for event in cell.get("database", ())):
        lines.append(text("caveat.fast", most=FAST_CHANGE))
    without = [p for p in view.points if p.low is None or p.high is None]
    extremes = sum(p.measure == EXTREME for p in without)
    for key, count in (("extreme", extremes), ("no_interval", len(without) - extremes)):
        if count:
            lines.append(text(f"caveat.{key}", count=count, total=len(view.points)))
    alone = sum(p.world != "simulated" and p.runs == 1 and p.low is not None for p in view.points)
    if alone:
        lines.append(text("caveat.one_run", count=alone))
    methods = sorted({p.method for p in view.points if p.method and p.low is not None})
    if methods:
        listed = text("list.separator").join(_methods(methods, text))
        lines.append(text("caveat.method", methods=listed))
    if any(p.measure.startswith("latency") for p in view.points):
        lines.append(text("caveat.latency"))
    return lines


def _scaled(view: View, text: Text) -> Iterator[str]:
    """Yield caveats of reduced capacity, by whether the scale was validated."""
    scaled = [p for p in view.points if p.scale not in (None, 1)]
    scales = sorted({p.scale or 1 for p in scaled})
    for key, these in (
        ("caveat.scale", [scale for scale in scales if scale <= SHOWN_SCALE]),
        ("caveat.scale_beyond", [scale for scale in scales if scale > SHOWN_SCALE]),
    ):
        if these:
            names_of_scale = (_of_scale(view, text, scaled, scale) for scale in these)
            known = {"shown": SHOWN_SCALE, "most": SHOWN_CHANGE}
            yield text(key, scales=text("list.short").join(names_of_scale), **known)


def _of_scale(view: View, text: Text, scaled: Sequence[Point], scale: float) -> str:
    """Return a scale with the levels of its axis, else with its phases."""
    for axis in view.axes:
        by_level = {
            level: {p.scale for p in scaled if level_on(p.levels, axis) == level}
            for level in axis.levels
        }
        here = [level for level, scales_here in by_level.items() if scales_here == {scale}]
        apart = all(len(scales_here) <= 1 for scales_here in by_level.values())
        if here and apart and len(here) < len(axis.levels):
            names = text("list.short").join(level_name(text, axis.name, level) for level in here)
            return text("caveat.scale_of", scale=f"{scale:g}", names=names)
    phases = unique(p.phase for p in scaled if p.scale == scale)
    names = text("list.short").join(map(text.name, phases))
    if len(phases) == len(view.phases):
        return f"1/{scale:g}"
    return text("caveat.scale_of", scale=f"{scale:g}", names=names)


def _methods(methods: list[str], text: Text) -> Iterator[str]:
    """Yield interval methods in words; the log and plain form of one share a phrase."""
    both = {OVER_RUNS, OVER_RUNS_PLAIN} <= set(methods)
    for method in methods:
        if both and method == OVER_RUNS_PLAIN:
            yield text("method.log_where_positive", method=text.method(method))
        elif not (both and method == OVER_RUNS):
            yield text.method(method)


def _is_cut_short(event: Mapping[str, Any]) -> bool:
    """Return whether the rest of a phase was extrapolated."""
    return event["kind"] == "simulated" and bool(event["simulated_ns"] < event["whole_ns"])


def _incomplete(cell: dict[str, Any], text: Text) -> list[str]:
    runs = cell.get("runs", {})
    total, name = sum(runs.values()), cell_name(text, cell)
    lines = [
        text(f"caveat.{state}", cell=name, runs=total, **{state: runs[state]})
        for state in ("failed", "partial")
        if runs.get(state)
    ]
    if not cell.get("estimates") and not cell.get("pause"):
        lines.append(text("caveat.empty", cell=name))
    return lines
