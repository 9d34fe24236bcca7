"""Client time of simulated databases by activity, and each cell's bottleneck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.bottleneck import busiest
from tameshi.analysis.stats.programs import CLIENT_TIMES, time_shares
from tameshi.report.sections.latency_breakdown import percent
from tameshi.report.view.tables import Column, Row, Table, cell_name
from tameshi.report.words.text import Shown, Text

OF_STORAGE = ("page_reads", "free_pages", "page_latches", "log", "log_space")
"""Activities that wait for the storage."""
STORAGE = "storage."


def table(text: Text, cells: Sequence[Mapping[str, Any]]) -> Table:
    """Return a row per cell: greatest share, busiest resource, all shares."""
    shares_by_cell = [(cell, time_shares(cell)) for cell in cells]
    present = [name for name in CLIENT_TIMES if any(name in shares for _, shares in shares_by_cell)]
    rows = []
    for cell, shares in shares_by_cell:
        if not shares:
            continue
        most = max(shares, key=lambda name: shares[name])
        each = [percent(shares[name]) if name in shares else text("cell.none") for name in present]
        values = describe(most, shares[most], text), _busiest(cell, most, text), *each
        rows.append(Row(cell_name(text, dict(cell)), tuple(map(Shown, values))))
    columns = [Column(text(f"column.{key}")) for key in ("cell", "spent_most", "busiest")]
    columns += [Column(text(f"spent.{name}"), text("column.spent")) for name in present]
    caption, note = text("table.spent"), text("note.spent")
    return Table("database-limits", caption, tuple(columns), tuple(rows), note, numeric=True)


def describe(name: str | None, share: float | None, text: Text) -> str:
    """Return an activity in words, with its share if known."""
    if name is None:
        return text("cell.none")
    words = text(f"spent.{name}")
    return words if share is None else text("spent.share", name=words, share=percent(share))


def _busiest(cell: Mapping[str, Any], most: str, text: Text) -> str:
    """Return the busiest resource: of the storages if clients wait for them, else of all."""
    known = cell.get("busy") or []
    if most in OF_STORAGE:
        known = [each for each in known if str(each["subject"]).startswith(STORAGE)]
    resource_entry = busiest(known)
    if resource_entry is None:
        return text("cell.none")
    subject = str(resource_entry["subject"])
    key = "spent.storage" if subject.startswith(STORAGE) else "spent.host"
    resource, busy = (
        text(f"resource.{resource_entry['resource']}"),
        percent(resource_entry["share"]),
    )
    name = text.name(subject.removeprefix(STORAGE))
    return text(key, resource=resource, storage=name, busy=busy)
