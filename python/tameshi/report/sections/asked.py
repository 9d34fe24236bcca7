"""Section of `tameshi ask`: answer, configurations, and sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.sections import answer, client_time
from tameshi.report.sections.database import validated_on
from tameshi.report.view.figures import Figure, Panel, Scale, Series
from tameshi.report.view.points import View
from tameshi.report.view.tables import Answer, Clause, Column, Row, Table
from tameshi.report.words.text import Phrase, Shown, Text, modelled

WORLD = "simulated"
LINES = 5
MOST_LEFT, MOST_FALLS = 3, 2
Document = Mapping[str, Any]


def worded(view: View, text: Text) -> View:
    """Return the view with the question in the report's language; handwritten studies keep
    theirs."""
    if view.asked is None or text.lang == "en":
        return view
    target = _target(view.asked, text)
    size = _data_set(view.asked, text)
    fields = {"target": target, "size": size, "workload": text.name(view.asked["workload"])}
    return replace(view, title=target, question=text("asked.question", **fields))


def answers(view: View, text: Text) -> list[Answer]:
    """Return at most five lines, the question's own first, with a note on omitted ones."""
    asked = view.asked
    own = [] if asked is None else _answers(asked, text)
    lines = [*own, *answer.answers(view, text)]
    left = len(lines) - LINES
    if left <= 0:
        return lines
    note = Clause("", "", text("sentence.left", count=left))
    return [*lines[:LINES], Answer(text("answer.left"), (note,))]


def _answers(asked: Document, text: Text) -> list[Answer]:
    lines = {"topic": _best(asked, text), "confidence": _confidence(asked, text)}
    if asked["sensitivity"]:
        lines["sensitivity"] = _sensitivity(asked, text)
    lines["left"] = _left(asked, text)
    return [
        Answer(text(f"asked.{topic}"), (Clause(WORLD, text.world(WORLD), sentence),))
        for topic, sentence in lines.items()
        if sentence
    ]


def _best(asked: Document, text: Text) -> str:
    """Return the cheapest configuration, or the fastest one if none meets the target."""
    interrupted = asked.get("interrupted", False)
    if asked["best"] is None and asked["nearest"] is None:
        return text("asked.interrupted" if interrupted else "asked.nothing")
    sentence = _configuration(asked, text)
    return f"{sentence} {text('asked.partly')}" if interrupted else sentence


def _configuration(asked: Document, text: Text) -> str:
    best, nearest = asked["best"], asked["nearest"]
    target = _target(asked, text)
    chosen = best or nearest
    chance = _chance(asked["target"], chosen, text)
    if best is None:
        return " ".join([text("asked.none", target=target, **_named(nearest, text)), *chance])
    return " ".join([_chosen_best(asked, text), *chance, *_falls(asked, text)])


def _chance(target: Document, chosen: Document, text: Text) -> list[str]:
    """Return the figures whose sampling interval contains the target."""
    unsure = _straddles(target, chosen, "sampling")
    sentences = []
    if "qps" in unsure:
        sentences.append(text("asked.chance_rate", rate=_bounds(chosen["qps"], "sampling", "rate")))
    if "p99" in unsure:
        sentences.append(
            text("asked.chance_tail", tail=_bounds(chosen["p99"], "sampling", "latency"))
        )
    return sentences


def _falls(asked: Document, text: Text) -> list[str]:
    """Return the larger pools that miss a target which a smaller one reaches."""
    return [text("asked.falls", **each) for each in asked.get("falls", ())[:MOST_FALLS]]


def _chosen_best(asked: Document, text: Text) -> str:
    best, target = asked["best"], _target(asked, text)
    priced = best["cost"] is not None
    fields = _named(best, text)
    if priced:
        fields["cost"] = f"{best['cost']:,.0f}"
    return text("asked.cheapest" if priced else "asked.smallest", target=target, **fields)


def _named(configuration: Document, text: Text) -> dict[str, str]:
    qps = configuration["qps"]
    return {
        "storage": configuration["storage"],
        "pool": configuration["buffer_pool"],
        "qps": str(replace(_shown(qps, "rate", text), model="")),
        "tail": _tail(configuration, text),
    }


def _tail(configuration: Document, text: Text) -> str:
    """Return the p99 of the slowest transaction type, named if there are several."""
    subject = configuration["p99_of"]
    p99 = replace(_shown(configuration["p99"], "latency", text), model="")
    key = "asked.tail" if "." in subject else "asked.tail_alone"
    return text(key, kind=_kind(subject, text), p99=p99)


def _kind(subject: str, text: Text) -> str:
    """Return a transaction type in words."""
    named = text.name(subject)
    return named if named != subject.replace("_", " ") else text.name(subject.rpartition(".")[2])


def _target(asked: Document, text: Text) -> str:
    rate = format_value("rate", asked["target"]["qps"])
    limit = asked["target"]["p99_ns"]
    if limit is None:
        return text("asked.target", rate=rate)
    return text("asked.target_limit", rate=rate, limit=format_value("latency", limit))


def _confidence(asked: Document, text: Text) -> str:
    """Return the answer's model error, its validated range, and the scale."""
    chosen = asked["best"] or asked["nearest"]
    if chosen is None:
        return ""
    model, sentences = chosen["qps"]["model"], []
    if model:
        key = (
            "asked.model_unsure" if _straddles(asked["target"], chosen, "model") else "asked.model"
        )
        if _is_missed(asked["target"], chosen, "model"):
            key = "asked.model_missed"
        off = _bounds(chosen["qps"], "model", "rate")
        tail = _bounds(chosen["p99"], "model", "latency")
        sentences.append(text(key, qps=off, p99=tail or text("cell.unknown")))
        sentences.append(_lies(model, text))
    seconds = f"{(asked['lasts_ns'] - asked['ramp_ns']) / 1e9:.3g} s"
    key = "asked.scaled" if asked["scale"] > 1 else "asked.full"
    sentences.append(text(key, scale=asked["scale"], time=seconds))
    if asked.get("rounded", False):
        sentences.append(text("asked.rounded", **_sizes(asked)))
    return " ".join(sentences)


def _sizes(asked: Document) -> dict[str, str]:
    """Return the requested and the simulated size of the data set."""
    keys = {"size": "database_bytes", "simulated": "simulated_bytes"}
    return {name: format_value("bytes", asked[key]) for name, key in keys.items()}


def _lies(model: Document, text: Text) -> str:
    """Return whether the question lies inside the validated range, or where the model was
    fitted."""
    on, fitted = validated_on(model, text), model.get("fitted_on")
    if fitted:
        return text("asked.fitted", there=fitted, on=on)
    return text("asked.inside" if model["inside_range"] else "asked.outside", on=on)


def _straddles(target: Document, chosen: Document, source: str) -> list[str]:
    """Return the figures whose interval `of` the model or sampling contains the target.

    Empty if one figure misses the target in any case.
    """
    rate, tail = ((chosen[key] or {}).get(source) or {} for key in ("qps", "p99"))
    wanted, limit = target["qps"], target["p99_ns"]
    if _is_missed(target, chosen, source):
        return []
    containing = []
    if rate.get("low") is not None and rate["low"] < wanted <= rate["high"]:
        containing.append("qps")
    if limit is not None and tail.get("low") is not None and tail["low"] <= limit < tail["high"]:
        containing.append("p99")
    return containing


def _is_missed(target: Document, chosen: Document, source: str) -> bool:
    """Return whether the whole interval of a figure misses the target."""
    rate, tail = ((chosen[key] or {}).get(source) or {} for key in ("qps", "p99"))
    limit, least = target["p99_ns"], tail.get("low")
    slow = rate.get("high") is not None and rate["high"] < target["qps"]
    return slow or (None not in (limit, least) and least > limit)


def _left(asked: Document, text: Text) -> str:
    """Return excluded configurations with reasons; of many the first."""
    left = asked.get("left_out", ())
    items = [
        text("asked.left_one", name=_whose(each, text), reason=_why(each, text)) for each in left
    ]
    joined = text("list.separator").join(items[:MOST_LEFT])
    more = len(left) - MOST_LEFT
    key = "asked.left_more" if more > 0 else "asked.left_all"
    return text(key, items=joined, count=more) if left else ""


def _whose(left: Document, text: Text) -> str:
    return text("list.short").join(filter(None, (left["storage"], left["level"])))


def _why(left: Document, text: Text) -> str:
    return text("list.separator").join(map(text.reason, left["reasons"]))


def _left_out(asked: Document, text: Text) -> Table:
    rows = tuple(
        Row(_whose(each, text), (Shown(_why(each, text)),)) for each in asked.get("left_out", ())
    )
    columns = tuple(Column(text(f"asked.column.{key}")) for key in ("level", "reason"))
    return Table("left-out", text("table.left_out"), columns, rows)


def _sensitivity(asked: Document, text: Text) -> str:
    """Return the input with the greatest effect, and those that change the answer."""
    base = asked["best"] or asked["nearest"]
    most, (key, kind) = asked["sensitivity"][0], _deciding(asked)
    shown = {end: _shown(most[end][key], kind, text) for end in ("low", "high")}
    ends = {end: value_shown.value + text.aside(value_shown) for end, value_shown in shown.items()}
    sentence = text(
        "asked.most" if key == "qps" else "asked.most_p99",
        input=text.name(f"input.{most['input']}"),
        low=most["low"]["label"],
        high=most["high"]["label"],
        at_low=ends["low"],
        at_high=ends["high"],
    )
    sentence = sentence[:1].upper() + sentence[1:]
    turning = [
        f"{text.name('input.' + row['input'])} {row[end]['label']}"
        for row in asked["sensitivity"]
        for end in ("low", "high")
        if bool(row[end]["meets"]) != bool(base["meets"])
    ]
    if not turning:
        return f"{sentence} {text('asked.firm')}"
    key = "asked.misses" if base["meets"] else "asked.reaches"
    return f"{sentence} {text(key, inputs=text('list.separator').join(turning))}"


def _deciding(asked: Document) -> tuple[str, str]:
    """Return the figure that decides whether the target is reached, and its kind."""
    ends = [row[end]["p99"] for row in asked["sensitivity"] for end in ("low", "high")]
    tail = asked.get("decides") == "p99" and all(ends)
    return ("p99", "latency") if tail else ("qps", "rate")


def _shown(figure: Document | None, kind: str, text: Text) -> Shown:
    if figure is None:
        return Shown(text("cell.none"))
    sampling, model, value = figure["sampling"], figure["model"], figure["value"]
    value_shown = text.shown(kind, value, sampling["low"], sampling["high"], sampling["runs"])
    beyond = model is not None and not model["inside_range"]
    return modelled(value_shown, kind, value, _off(figure), beyond=beyond)


def _alone(figure: Document | None, kind: str, text: Text) -> Shown:
    """Return a figure without its sampling interval."""
    return replace(_shown(figure, kind, text), interval="", note="")


def tables(view: View, text: Text) -> list[Table]:
    """Return configurations, sensitivity, exclusions and assumptions."""
    if view.asked is None:
        return []
    filled = [_configurations(view.asked, text), _inputs(view.asked, text)]
    filled += [_left_out(view.asked, text), _assumed(view.asked, text)]
    return [table for table in filled if table.rows]


def _configurations(asked: Document, text: Text) -> Table:
    priced = any(each["cost"] is not None for each in asked["configurations"])
    powered = any(each["watts"] is not None for each in asked["configurations"])
    keys = [f"asked.column.{key}" for key in ("pool", "meets", "qps", "p99", "p99_of", "hit_ratio")]
    keys.append("column.spent_most")
    keys += ["asked.column.watts"] if powered else []
    keys += ["asked.column.cost"] if priced else []
    rows = []
    for each in asked["configurations"]:
        cells = [_meets(each["meets"], text), _shown(each["qps"], "rate", text)]
        cells += [_shown(each["p99"], "latency", text), Shown(_kind(each["p99_of"], text))]
        cells.append(_alone(each["hit_ratio"], "share", text))
        cells.append(Shown(client_time.describe(each["limit"], each.get("limit_share"), text)))
        if powered:
            known = each["watts"] is not None
            cells.append(Shown(f"{each['watts']:,.0f} W" if known else text("cell.unknown")))
        if priced:
            cells.append(Shown(f"{each['cost']:,.0f}"))
        best = asked["best"]
        is_best = best is not None and all(
            each[key] == best[key] for key in ("storage", "pool_bytes")
        )
        mark = "valid" if is_best else ""
        rows.append(Row(each["buffer_pool"], tuple(cells), group=each["storage"], mark=mark))
    columns = tuple(Column(text(key)) for key in keys)
    caption, note = text("table.asked", target=_target(asked, text)), text("note.asked")
    return Table("asked", caption, columns, tuple(rows), note, numeric=True)


def _meets(meets: bool | None, text: Text) -> Shown:
    return Shown(text("asked.failed" if meets is None else f"asked.{'yes' if meets else 'no'}"))


def _bounds(figure: Document | None, source: str, kind: str) -> str:
    """Return the ends of an interval with their units; empty if unknown."""
    interval = figure and figure[source]
    return (
        "–".join(format_value(kind, interval[end]) for end in ("low", "high")) if interval else ""
    )


def _inputs(asked: Document, text: Text) -> Table:
    rows = []
    for row in asked["sensitivity"]:
        for end in ("low", "high"):
            result = row[end]
            cells = (
                _shown(result["qps"], "rate", text),
                _shown(result["p99"], "latency", text),
                Shown(_kind(result.get("p99_of", ""), text)),
                _meets(result["meets"], text),
            )
            rows.append(Row(result["label"], cells, group=text.name(f"input.{row['input']}")))
    keys = ("value", "qps", "p99", "p99_of", "meets")
    columns = tuple(Column(text(f"asked.column.{key}")) for key in keys)
    caption = text("table.sensitivity", **_chosen(asked))
    return Table("sensitivity", caption, columns, tuple(rows), text("note.inputs"), numeric=True)


def _chosen(asked: Document) -> dict[str, str]:
    configuration = asked["best"] or asked["nearest"] or {"storage": "", "buffer_pool": ""}
    return {"storage": configuration["storage"], "pool": configuration["buffer_pool"]}


def _assumed(asked: Document, text: Text) -> Table:
    values = {
        "database": _data_set(asked, text),
        "workload": asked["workload"],
        "clients": f"{asked['clients']}",
        "engine": asked["engine"],
        "host": asked["host"],
        "redo_log": asked["redo_log"],
        "start": asked["start"],
        "scale": f"1/{asked['scale']}",
        "ramp": f"{asked['ramp_ns'] / 1e9:.3g} s",
        "time": f"{(asked['lasts_ns'] - asked['ramp_ns']) / 1e9:.3g} s",
    }
    rows = tuple(Row(text(f"assumed.{key}"), (Shown(value),)) for key, value in values.items())
    columns = (Column(text("column.key")), Column(text("column.value")))
    return Table("assumed", text("table.assumed"), columns, rows)


def _data_set(asked: Document, text: Text) -> str:
    if asked.get("rounded", False):
        return text("asked.size_rounded", **_sizes(asked))
    return format_value("bytes", asked["database_bytes"])


def figures(view: View) -> list[Figure]:
    """Return the tornado plot: lowest to highest value of each unknown input, greatest effect on
    top."""
    asked = view.asked
    if asked is None or not asked["sensitivity"]:
        return []
    base = asked["best"] or asked["nearest"]
    key, kind = _deciding(asked)
    rows, middle = asked["sensitivity"], base[key]["value"]
    series = []
    for style, end in enumerate(("low", "high")):
        reached = [row[end][key]["value"] for row in rows]
        series.append(
            Series(
                (f"input_{end}",),
                tuple(float(place) for place in range(len(rows))),
                tuple(reached),
                low=tuple(min(value, middle) for value in reached),
                high=tuple(max(value, middle) for value in reached),
                style=style,
                models=tuple(_off(row[end][key]) for row in rows),
            )
        )
    names = tuple((f"input.{row['input']}", _ends(row)) for row in rows)
    target = asked["target"]["qps" if key == "qps" else "p99_ns"]
    marks = [(middle, Phrase("mark.answer")), (target, Phrase("mark.target"))]
    axis = Phrase("axis.statements" if key == "qps" else "axis.slowest")
    return [
        Figure(
            "sensitivity-plot",
            Phrase("figure.sensitivity", _chosen(asked)),
            Phrase("hint.sensitivity"),
            "range",
            Scale(Phrase("axis.none"), "number", categories=names),
            Scale(axis, kind),
            (Panel((), tuple(series), marks=tuple(marks)),),
        )
    ]


def _off(figure: Document) -> tuple[float, float] | None:
    model = figure["model"]
    return (model["low"], model["high"]) if model else None


def _ends(row: Mapping[str, Any]) -> str:
    return f"{row['low']['label']} … {row['high']['label']}"
