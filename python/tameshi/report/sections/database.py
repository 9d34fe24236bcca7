"""Section of databases: cells, bottlenecks, response times by type, checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.analysis.evidence import NOTHING
from tameshi.analysis.stats.estimates import of_phase
from tameshi.core.units import format_seconds, format_value
from tameshi.report.sections import client_time, failovers, power_cuts
from tameshi.report.view.key_figures import ratio_of
from tameshi.report.view.points import Point, View, freeze
from tameshi.report.view.tables import Column, Row, Table, cell_name, shown
from tameshi.report.words.text import Shown, Text

COLUMNS = (
    *("statement.rate", "transaction.rate", "transaction.tpmc", "server.hit_ratio"),
    *("server.read_rate", "server.write_rate", "disk.read_rate", "disk.write_rate"),
)
"""Metrics of the matrix, if a study has them."""
MODELLED = "statement.rate"
OF_STORES = ("commit.rate", "commit.latency.mean", "read.latency.mean", "read.latency.p99")
"""Figures of a document store whose model intervals are explained."""
TIMES = ("mean", "p50", "p99", "p999", "max")


def tables(view: View, text: Text) -> list[Table]:
    """Return the section's tables; empty without a database or a document store."""
    cells = [cell for cell in view.cells if "database" in cell and cell["estimates"]]
    filled = [_store(text, [cell for cell in view.cells if "database" not in cell])]
    filled += [power_cuts.table(view, text), failovers.table(view, text)]
    if cells:
        filled += [
            _matrix(view, text, cells),
            client_time.table(text, cells),
            _times(view, text, cells),
        ]
        filled += [_model(text, cells), _profile(text, cells), _checks(text, cells)]
    return [table for table in filled if table.rows]


def _points(view: View, cell: Mapping[str, Any]) -> list[Point]:
    place = (cell["world"], cell["phase"], freeze(cell["levels"]))
    return [p for p in view.points if (p.world, p.phase, p.levels) == place]


def _matrix(view: View, text: Text, cells: Sequence[dict[str, Any]]) -> Table:
    """Return a row per cell, with ratios to the first cell."""
    rows, first = [], dict[tuple[str, str], Point]()
    present = {f"{p.operation}.{p.measure}" for cell in cells for p in _points(view, cell)}
    metrics = [metric for metric in COLUMNS if metric in present]
    for cell in cells:
        points = _of_program(_points(view, cell))
        shown_cells = []
        for metric in metrics:
            point = points.get(metric)
            base = first.setdefault((cell["phase"], metric), point) if point else None
            shown_cells.append(_beside(view, text, point, base))
        rows.append(Row(cell_name(text, cell), tuple(shown_cells)))
    columns = [Column(text("column.cell"))]
    columns += [Column(text.measure(metric)) for metric in metrics]
    caption, note = text("table.database"), text("note.database")
    return Table("database-matrix", caption, tuple(columns), tuple(rows), note, numeric=True)


def _of_program(points: Sequence[Point]) -> dict[str, Point]:
    """Return points by metric: of the whole program, or of the only subject that has it."""
    by_metric: dict[str, Point] = {}
    for point in points:
        metric = f"{point.operation}.{point.measure}"
        if metric not in by_metric or "." not in point.subject:
            by_metric[metric] = point
    return by_metric


def _beside(view: View, text: Text, point: Point | None, base: Point | None) -> Shown:
    if point is None:
        return Shown(text("cell.none"))
    value_shown = replace(shown(text, point), interval="", note="")
    if base is None or point is base or point.measure == "hit_ratio" or not base.value:
        return value_shown
    ratio = ratio_of(view, point, base)
    times = text.shown("ratio", ratio.value, None, None, ratio.runs).value if ratio else ""
    return replace(value_shown, note=times)


def _times(view: View, text: Text, cells: Sequence[dict[str, Any]]) -> Table:
    """Return response times of each transaction type, grouped by cell."""
    rows = []
    for cell in cells:
        by_subject: dict[str, dict[str, Point]] = {}
        for point in _points(view, cell):
            if point.operation == "transaction":
                by_subject.setdefault(point.subject, {})[point.measure] = point
        for subject, points in by_subject.items():
            figures = [points.get("rate"), *(points.get(f"latency.{time}") for time in TIMES)]
            values = (shown(text, p) if p else Shown(text("cell.none")) for p in figures)
            row = tuple(replace(value, interval="", note="") for value in values)
            rows.append(Row(text.name(subject), row, cell_name(text, cell)))
    measures = ["transaction.rate", *(f"latency.{time}" for time in TIMES)]
    columns = [Column(text("column.type")), *(Column(text.measure(m)) for m in measures)]
    return Table("database-times", text("table.times"), tuple(columns), tuple(rows), numeric=True)


def validated_on(model: Mapping[str, Any], text: Text) -> str:
    """Return the basis of a model interval in words."""
    return text("modelled.nothing") if model["validated_on"] == NOTHING else model["validated_on"]


def _model(text: Text, cells: Sequence[dict[str, Any]]) -> Table:
    """Return the basis of the model intervals: statements of each simulated cell."""
    rows = []
    for cell in cells:
        modelled_estimates = [e for e in of_phase(cell) if e["metric"] == MODELLED and e["model"]]
        for estimate in modelled_estimates[:1]:
            model = estimate["model"]
            values = Shown(_inside(model, text)), Shown(validated_on(model, text))
            rows.append(Row(cell_name(text, cell), values))
    keys = ("cell", "inside", "validated_on")
    columns = tuple(Column(text(f"modelled.{key}")) for key in keys)
    note = text("note.model")
    return Table("database-model", text("table.model"), columns, tuple(rows), note)


def _store(text: Text, cells: Sequence[dict[str, Any]]) -> Table:
    """Return the basis of a document store's model intervals, for some figures of each cell."""
    rows = []
    for cell in cells:
        for metric in OF_STORES:
            modelled_estimates = (
                e for e in of_phase(cell) if e["metric"] == metric and e.get("model")
            )
            estimate = next(modelled_estimates, None)
            if estimate:
                operation, _, measure = metric.partition(".")
                name, model = f"{text.name(operation)} {text.measure(measure)}", estimate["model"]
                values = Shown(_inside(model, text)), Shown(validated_on(model, text))
                rows.append(Row(name, values, group=cell_name(text, cell)))
    keys = ("figure", "inside", "validated_on")
    columns = tuple(Column(text(f"modelled.{key}")) for key in keys)
    caption, note = text("table.model_store"), text("note.model_store")
    return Table("store-model", caption, columns, tuple(rows), note)


def _inside(model: Mapping[str, Any], text: Text) -> str:
    """Return whether a figure lies inside the validated range, or the figures of the fit."""
    if model.get("fitted_on"):
        return text("modelled.fitted", names=model["fitted_on"])
    return text("value.yes" if model["inside_range"] else "value.no")


PROFILED = ("ns", "cpu_user_ns", "cpu_system_ns", "blocks_in", "major_faults", "minor_faults")


def _profile(text: Text, cells: Sequence[dict[str, Any]]) -> Table:
    """Return the server's time profile of a mean statement by stage, for each cell."""
    rows = []
    for cell in cells:
        profiles = [event["profile"] for event in cell["database"] if event["kind"] == "profile"]
        statements = sum(profile["statements"] for profile in profiles)
        stages: dict[str, dict[str, float]] = {}
        for stage in (stage for profile in profiles for stage in profile["stages"]):
            sums = stages.setdefault(stage["stage"], {})
            for key in stage.keys() & set(PROFILED):
                sums[key] = sums.get(key, 0.0) + stage[key] / statements
        for name, means in stages.items():
            values = [_of_stage(text, key, means.get(key)) for key in PROFILED]
            rows.append(Row(name, tuple(map(Shown, values)), cell_name(text, cell)))
    columns = [Column(text("column.stage")), *(Column(text(f"profile.{key}")) for key in PROFILED)]
    caption, note = text("table.profile"), text("note.profile")
    return Table("database-profile", caption, tuple(columns), tuple(rows), note, numeric=True)


def _of_stage(text: Text, key: str, mean: float | None) -> str:
    if mean is None:
        return text("cell.none")
    return format_value("latency", mean) if key.endswith("ns") else f"{mean:,.4g}"


def _checks(text: Text, cells: Sequence[dict[str, Any]]) -> Table:
    """Return data checks, outages, errors and extrapolation, for each run."""
    rows = [
        Row(cell_name(text, cell), (Shown(line),))
        for cell in cells
        for line in _check_lines(text, cell["database"])
    ]
    columns = (Column(text("column.cell")), Column(text("column.found")))
    return Table("database-checks", text("table.checks"), columns, tuple(rows))


def _check_lines(text: Text, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each sentence once, with its runs."""
    runs: dict[str, list[int]] = {}
    for event in events:
        for sentence in _describe(text, event):
            runs.setdefault(_modelled(text, sentence, event), []).append(event["repetition"] + 1)
    for sentence, numbers in runs.items():
        listed = ", ".join(str(number) for number in dict.fromkeys(numbers))
        yield f"{text('check.run', number=listed)} {sentence}"


def _modelled(text: Text, sentence: str, event: Mapping[str, Any]) -> str:
    """Return a sentence about an event with the model error of its times."""
    model = event.get("model")
    if not model:
        return sentence
    spans = {key: format_seconds((bounds["low"], bounds["high"])) for key, bounds in model.items()}
    times = ", ".join(text(f"time.{key}", span=span) for key, span in spans.items())
    names = next(iter(model.values()))["validated_on"]
    on = text("modelled.none") if names == NOTHING else text("modelled.on", names=names)
    return text("check.model", finding=sentence, times=times, on=on)


def _describe(text: Text, event: Mapping[str, Any]) -> Iterator[str]:
    if event["kind"] == "check" and event["conditions"]:
        broken = [c for c in event["conditions"] if c["broken"]]
        held = len(event["conditions"]) - len(broken)
        yield text("check.conditions", held=str(held), all=str(len(event["conditions"])))
    if event["kind"] == "check" and event.get("ledger"):
        yield _ledger(text, event["ledger"])
    elif event["kind"] == "mix_audit":
        judged = [f for f in event["findings"] if f["holds"] is not None]
        outside = [f["name"] for f in judged if not f["holds"]]
        if not judged:
            yield text("check.mix_few")
        elif outside:
            yield text("check.mix_outside", names=", ".join(outside))
        else:
            yield text("check.mix", count=str(len(judged)))
    elif event["kind"] == "simulated":
        yield _simulated(text, event)
    elif event["kind"] == "outage":
        yield _outage(text, event["outage"])
    elif event["kind"] == "crash":
        yield _crash(text, event)
    elif event["kind"] == "restart":
        yield _restart(text, event)
    elif event["kind"] == "pool_loaded":
        kind = "pool_loaded" if event["whole"] else "pool_loaded_in_part"
        numbers = {key: f"{event[key]:,}" for key in ("pages", "listed")}
        spent, at = (f"{event[key] / 1e9:.2f} s" for key in ("for_ns", "t_ns"))
        yield text(f"check.{kind}", event=event["event"], spent=spent, at=at, **numbers)
    elif event["kind"] == "errors":
        by_code = event["by_code"].items()
        yield text("check.errors", codes=", ".join(f"{code}: {n:,}" for code, n in by_code))


def _crash(text: Text, event: Mapping[str, Any]) -> str:
    """Return the cause of a crash, and the time to the next answer or event."""
    times = ("t_ns", "away_ns", "recovery_ns")
    at, away, recovery = (f"{event[key] / 1e9:.2f} s" for key in times)
    sentence = text(f"crash.{event['how']}", event=event["event"], at=at)
    if event.get("back") is False:
        return sentence + text("crash.cut_short", away=away)
    sentence += text("crash.back", away=away, recovery=recovery)
    if "log_bytes" not in event:
        return sentence
    log = format_value("bytes", event["log_bytes"])
    read = text("crash.recovered", log=log, pages=f"{event['pages']:,}")
    return text("list.separator").join((sentence, read))


def _restart(text: Text, event: Mapping[str, Any]) -> str:
    """Return the times of shutdown and startup, with the pages written and read."""
    times = ("shutdown_ns", "away_ns", "recovery_ns")
    seconds = {key.removesuffix("_ns"): f"{event.get(key, 0) / 1e9:.2f} s" for key in times}
    flushed, at = f"{event['pages_flushed']:,}", f"{event['t_ns'] / 1e9:.2f} s"
    kind = "restart" if event["back"] else "restart_cut_short"
    sentence = text(f"check.{kind}", event=event["event"], at=at, flushed=flushed, **seconds)
    if not event.get("log_bytes"):
        return sentence
    log = format_value("bytes", event["log_bytes"])
    read = text("crash.recovered", log=log, pages=f"{event['pages']:,}")
    return text("list.separator").join((sentence, read))


def _ledger(text: Text, ledger: Mapping[str, Any]) -> str:
    """Return the fate of acknowledged commits; the simulator checks only for lost ones."""
    is_complete = "twice" in ledger
    numbers = ("acknowledged", "lost", *(("twice", "phantom") if is_complete else ()), "ambiguous")
    counts = {key: f"{ledger[key]:,}" for key in numbers}
    return text("check.ledger" if is_complete else "check.ledger_lost", **counts)


def _simulated(text: Text, event: Mapping[str, Any]) -> str:
    """Return the mode of a simulated run, and its simulated part."""
    length = f"{event['whole_ns'] / 1e9:,.0f} s"
    if event["simulated_ns"] == event["whole_ns"]:
        return text(f"check.whole_{event['mode']}", whole=length)
    pace = f"{event['pace']:.1%}"
    return text(
        "check.simulated_part" if pace == "100.0%" else "check.simulated_trend",
        simulated=f"{event['simulated_ns'] / 1e9:,.0f} s",
        whole=length,
        like=f"{event['like_last_ns'] / 1e9:,.0f} s",
        pace=pace,
    )


def _outage(text: Text, outage: Mapping[str, Any]) -> str:
    """Return the start of an outage, its first success, and its recovery."""
    begin = outage["first_error_ns"]

    def since(key: str) -> str:
        if not outage[key]:
            return text("check.never")
        return text("check.after", time=f"{(outage[key] - begin) / 1e9:.2f} s")

    return text(
        "check.outage",
        begin=f"{begin / 1e9:.2f} s",
        success=since("first_success_ns"),
        recovered=since("recovered_ns"),
        unserved=f"{outage['unserved']:,.0f}",
    )
