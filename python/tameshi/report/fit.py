"""Report of a calibrated profile: goodness of fit by cell, parameters, models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text as RichText

from tameshi.core.reasons import completed
from tameshi.core.units import format_interval, format_value
from tameshi.report.render.html import asset, template
from tameshi.report.render.markdown import markdown_table, markdown_text
from tameshi.report.render.terminal import rich_table
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Shown, Text

Document = Mapping[str, Any]
_KINDS = {"time": "latency", "rate": "rate", "factor": "ratio"}


def fit_terminal(document: Document, lang: str = "en") -> RenderableType:
    """Return tables, undetermined parameters and the answer for a `rich` console."""
    text = Text(lang)
    parts: list[RenderableType] = [rich_table(table) for table in tables(document, text)]
    for heading, lines in lists(document, text):
        parts.append(RichText(heading, style="bold"))
        parts += [RichText(f"  {line}") for line in lines]
    parts += [RichText(line) for line in answer(document, text)]
    return Group(*parts)


def fit_answer(document: Document, lang: str = "en") -> list[str]:
    """Return the answer in sentences."""
    return answer(document, Text(lang))


def fit_markdown(document: Document, lang: str = "en") -> str:
    """Return the same in Markdown."""
    text = Text(lang)
    parts = [f"# {text('fit.title', name=document['name'])}"]
    parts += [markdown_text(line) for line in answer(document, text)]
    parts += [markdown_table(table) for table in tables(document, text)]
    for heading, lines in lists(document, text):
        parts.append(f"## {heading}")
        parts.append("\n".join(f"- {markdown_text(line)}" for line in lines))
    return "\n\n".join(parts) + "\n"


def fit_page(document: Document, lang: str = "en") -> str:
    """Return the same as one self-contained HTML file."""
    text = Text(lang)
    return template("tables.html").render(
        t=text,
        title=text("fit.title", name=document["name"]),
        basis=document["basis"],
        answer=answer(document, text),
        tables=list(tables(document, text)),
        lists=list(lists(document, text)),
        figures=(),
        style=Markup(asset("style.css")),
    )


def answer(document: Document, text: Text) -> list[str]:
    """Return the fit's errors in fitted and held-out cells, as sentences."""
    lines = [text("fit.model", model=document["considered"][0]["model"], basis=document["basis"])]
    lines += _unpredicted(document["summary"]["held_out"], text)
    lines += _nearer(document["considered"], text)
    lines += _not_tried(document, text)
    for role in ("fitted", "held_out"):
        summary = document["summary"][role]
        if summary["cells"]:
            lines.append(
                text(
                    f"fit.answer.{role}",
                    within=summary["within_10"],
                    cells=summary["cells"],
                    median=_percent(summary["median_error"]),
                    worst=_percent(summary["worst_error"]),
                    within_p50=summary["within_10_p50"],
                )
            )
        if role == "held_out" and summary["repeated"]:
            keys = ("repeated", "known_to_10", "within_10_of_interval")
            lines.append(text("fit.answer.open", **{key: summary[key] for key in keys}))
    return lines


def _unpredicted(summary: Document, text: Text) -> list[str]:
    """Return a warning if most held-out rates are far off."""
    far, cells = summary.get("beyond_25", 0), summary["cells"]
    return [text("fit.answer.unpredicted", far=far, cells=cells)] if 2 * far > cells else []


def _not_tried(document: Document, text: Text) -> list[str]:
    """Return the models with too many parameters for the cells."""
    models = [
        text("fit.with_parameters", model=each["model"], parameters=each["parameters"])
        for each in document.get("not_tried", ())
    ]
    cells = document["summary"]["fitted"]["cells"]
    listed = text("list.separator").join(models)
    return [text("fit.answer.not_tried", models=listed, cells=cells)] if models else []


def _nearer(considered: Sequence[Document], text: Text) -> list[str]:
    """Return why the model with the best fit of the rates was not chosen."""
    chosen = considered[0]
    nearest = min(considered, key=lambda each: float(each["error"]))
    if "penalty" not in chosen or nearest["error"] >= chosen["error"]:
        return []
    fields: dict[str, str] = {}
    for side, each in (("", chosen), ("_other", nearest)):
        misfit = each["score"] - each["penalty"]
        fields |= {
            f"model{side}": each["model"],
            f"error{side}": _percent(each["error"]),
            **{f"{key}{side}": f"{each[key]:.1f}" for key in ("score", "penalty")},
            f"misfit{side}": f"{misfit:.1f}",
        }
    return [text("fit.answer.nearer", **fields)]


def tables(document: Document, text: Text) -> Iterator[Table]:
    """Yield cells, parameters, and the considered models."""
    yield _cells(document, text)
    yield _parameters(document, text)
    yield Table(
        "considered",
        text("fit.considered"),
        tuple(Column(text(f"fit.{key}")) for key in ("kind", "score", "error")),
        tuple(
            Row(each["model"], (Shown(f"{each['score']:.1f}"), Shown(_percent(each["error"]))))
            for each in document["considered"]
        ),
        note=text("fit.note.considered"),
        numeric=True,
    )


def lists(document: Document, text: Text) -> Iterator[tuple[str, list[str]]]:
    """Headings with undetermined parameters, cells under suspicion, and excluded cells."""
    unsure = [each["key"] for each in document["parameters"] if not each["told"]]
    lines = [text("fit.unsure", parameter=key) for key in unsure]
    yield text("fit.undetermined"), [*lines, *_reasons(document["untold"], text)]
    findings = [
        f"{row['cell']}: {text.reason(finding)}"
        for row in document["cells"]
        for finding in row["findings"]
    ]
    if findings:
        yield text("fit.findings"), findings
    if document["left_out"]:
        yield text("fit.left_out"), _reasons(document["left_out"], text)


def _reasons(reasons: Iterable[Any], text: Text) -> list[str]:
    """Reasons after their subjects."""
    return [
        f"{subject}: {text.reason(each)}" if (subject := each["subject"]) else text.reason(each)
        for each in map(completed, reasons)
    ]


def _cells(document: Document, text: Text) -> Table:
    keys = ("rate", "rate", "error", "p50", "p50", "p99", "p99")
    sides = ("measured", "simulated", "", "measured", "simulated", "measured", "simulated")
    columns = [Column(text("fit.cell"))]
    for key, side in zip(keys, sides, strict=True):
        label = text(f"fit.{side}") if side else text("fit.error")
        columns.append(Column(label, text(f"fit.{key}") if side else ""))
    rows = []
    for held_out in (True, False):
        group = text("fit.held_out" if held_out else "fit.fitted")
        for row in document["cells"]:
            if row["held_out"] == held_out:
                rows.append(Row(row["cell"], tuple(_figures(row)), group))
    return Table("cells", text("fit.cells"), tuple(columns), tuple(rows), numeric=True)


def _figures(row: Mapping[str, Any]) -> Iterator[Shown]:
    measured, simulated = row["measured"], row["simulated"]
    interval = ""
    if "low" in measured:
        interval = format_interval("rate", measured["rate"], measured["low"], measured["high"])
    yield Shown(format_value("rate", measured["rate"]), interval=interval)
    yield Shown(format_value("rate", simulated["rate"]))
    yield Shown(f"{100 * row['error']:+.1f} %")
    for key in ("p50", "p99"):
        for side in (measured, simulated):
            yield Shown(format_value("latency", side[key]) if side[key] else "–")


def _parameters(document: Document, text: Text) -> Table:
    rows = []
    for each in document["parameters"]:
        value = format_value(_KINDS[each["unit"]], each["value"])
        sure = text("fit.determined" if each["told"] else "fit.not_determined")
        error = f"± {100 * each['error']:.2g} %" if each["error"] < 1 else "> 100 %"
        rows.append(Row(each["key"], (Shown(value), Shown(error), Shown(sure))))
    columns = tuple(
        Column(text(f"fit.{key}")) for key in ("parameter", "value", "sure", "by_cells")
    )
    return Table("parameters", text("fit.parameters"), columns, tuple(rows), numeric=True)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
