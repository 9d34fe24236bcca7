"""Summary of a study's runs, one line per world: runs, time, bytes written."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from tameshi.analysis.stats.served import PATH_NS
from tameshi.commands.consoles import OUT
from tameshi.core import compiled
from tameshi.core.errors import counted
from tameshi.core.spec_types import Plan, World
from tameshi.core.units import format_value, format_wait
from tameshi.study.file import refusals, untimed_bytes
from tameshi.study.spec_texts import cells_and_tried, has_database, longest_of_all

HOURS_FROM_NS = 2 * 3600 * 10**9
"""Least time to print in hours as well."""


def print_bounds(world: World, planned: Plan, console: Console = OUT, slow: float = 1) -> None:
    """Runs, time and bytes of a study in one world."""
    cells, tried = cells_and_tried(planned)
    beside = f", {tried} of them for unknown settings" if tried else ""
    console.print(
        f"{world.value}: {counted(len(planned.runs), 'run')} of {counted(cells, 'cell')}{beside}; "
        f"{lasting(world, planned, slow)}; {written(world, planned)}",
        soft_wrap=True,
    )
    searched = planned.study.search
    if searched:
        shares, limit = searched.shares or (), searched.limit
        then = f", then at most {searched.runs_at_most} for the limit" if limit else ""
        line = f"  and then, for each cell and repetition, {len(shares)} rates of a curve{then}"
        console.print(line, soft_wrap=True)
    if world is World.emulated:
        for line in too_fast(planned, slow):
            console.print(f"  {line}", style="yellow", soft_wrap=True)
    for refused in refusals(planned):
        line = f"  can't be run: {refused.where}: {refused.key}: {refused.message}"
        console.print(line, style="yellow", soft_wrap=True)


def too_fast(planned: Plan, slow: float = 1) -> list[str]:
    """Return sentences on storages that are faster than the path to a served drive."""
    found = []
    path_ns = PATH_NS / slow
    path = format_value("latency", path_ns) + (" of slowed time" if slow != 1 else "")
    for name, node in models(planned).items():
        # A drive whose flush takes no time has no volatile cache, and the kernel sends it none.
        times = {
            kind: ns for kind, ns in compiled.idle_latencies(node).items() if ns or kind != "flush"
        }
        short = [
            f"a {kind} in {format_value('latency', ns)}"
            for kind, ns in times.items()
            if ns < path_ns
        ]
        if short:
            found.append(
                f"storage `{name}` completes {', '.join(short)}; the path through the kernel takes "
                f"about {path} (measured at each start), and its latencies cannot be lower"
            )
    return found


def models(planned: Plan) -> dict[str, dict[str, Any]]:
    """Return the model of each storage, of the first run that uses it."""
    found: dict[str, dict[str, Any]] = {}
    for run in planned.runs:
        for name, storage in run.storage.items():
            if storage.model and name not in found:
                found[name] = storage.model.model_dump(
                    mode="json", by_alias=True, exclude_none=True
                )
    return found


def lasting(world: World, planned: Plan, slow: float = 1) -> str:
    """Return a phrase on the time of the runs: a limit, and the bytes of phases without one."""
    time_ns = longest_of_all(planned)
    seconds = f"{time_ns / 1e9:,.0f} s"
    limit = seconds if time_ns < HOURS_FROM_NS else f"{seconds} ({format_wait(time_ns)})"
    limit += " of virtual time" if world is World.simulated else ""
    if slow != 1:
        wall_ns = time_ns * slow
        limit += f" of slowed time, {wall_ns / 1e9:,.0f} s of wall time"
        limit += f" ({format_wait(wall_ns)})" if wall_ns >= HOURS_FROM_NS else ""
    if planned.time_ns_at_most is not None:
        return f"at most {limit}"
    moved = [untimed_bytes(run) for run in planned.runs]
    if None in moved:
        return "no limit in time"
    amount = format_value("capacity", sum(size or 0 for size in moved))
    return f"at most {limit} and the time to move {amount}" if time_ns else f"time to move {amount}"


def written(world: World, planned: Plan) -> str:
    """Return a phrase on the bytes that the runs of a world write."""
    if world is World.simulated:
        # Drives are models: writes to them take no space, and are reported nevertheless.
        if has_database(planned) or planned.bytes_written_at_most == 0:
            return "writes nothing but its record"
        if planned.bytes_written_at_most is None:
            return "writes to its models without limit, and nothing else but its record"
        amount = format_value("capacity", planned.bytes_written_at_most)
        return f"writes at most {amount} to its models, and nothing else but its record"
    if world is World.emulated:
        loads = has_database(planned)
        return f"{'loads its data sets and ' if loads else ''}serves its storages from memory"
    if has_database(planned):
        return "loads its data sets, copies one for each run, and writes without limit"
    laid_out = sum(planned.storage_bytes.values())
    if planned.bytes_written_at_most is None:
        return f"writes {laid_out / 1e9:.2f} GB to lay out its targets and then without limit"
    total = laid_out + planned.bytes_written_at_most
    return (
        f"writes at most {total / 1e9:.2f} GB, {laid_out / 1e9:.2f} GB of it to lay out its targets"
    )
