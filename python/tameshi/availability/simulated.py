"""Simulated pair next to an emulated one: the same drives, rows, pool, clients and link.

The simulator knows a block mirror, MariaDB's replication is one of transactions: the mirror whose
writes the far host has received is the nearest one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tameshi import devices, guard
from tameshi.availability.trial_set import TrialSet
from tameshi.core.spec_types import World
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.execute import carry_out
from tameshi.workflow.prepare import prepare

FOLDER = "simulated"
SINGLE, PAIR = "mariadb-single", "mariadb-semi-synchronous"
HOST = "2x-xeon-e5-2680v3-centos72"
LEAST_DOWN_NS = 1_000_000
RATE, PROGRAM = "transaction.rate", "key_update"


def simulate(
    asked: TrialSet,
    results: Mapping[str, Any],
    folder: Path,
    sizes: Mapping[str, int],
    reproduce: Sequence[str],
    console: Console,
) -> list[dict[str, Any]]:
    """Simulate a pair and a server alone; return a row per drive that has both in the results.

    `sizes`: bytes of each drive. The study, its record and its report stay in a folder next to the
    trials.
    """
    rows = list(emulated_rows(results))
    if not rows:
        return []
    place = folder / FOLDER
    guard.claim_folder(place)
    path = place / "study.toml"
    guard.write_file(path, study_text(asked, rows, sizes).encode())
    prepared = prepare(read_study(path), [World.simulated], Bindings(), quick=False)
    done = carry_out(
        *(prepared, place / "results", console), jobs=os.cpu_count() or 1, reproduce=reproduce
    )
    return [row for row in (compared(row, done.results) for row in rows) if row]


def emulated_rows(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield ratio, outages and fence after a kill, on each drive with a pair and a server alone."""
    killed = {(c["way"], c["drive"]): c for c in results["cells"] if c["event"] == "kill"}
    for ratio in results["ratios"]:
        pair, single = (killed.get((way, ratio["drive"])) for way in (PAIR, SINGLE))
        if ratio["way"] == PAIR and pair and single and pair["away_ns"] and single["away_ns"]:
            yield {
                "drive": ratio["drive"],
                "ratio": ratio["value"],
                "away_ns": pair["away_ns"]["value"],
                "single_away_ns": single["away_ns"]["value"],
                "fence_ns": pair["steps_ns"]["fence"]["value"],
            }


def study_text(asked: TrialSet, rows: Sequence[Mapping[str, Any]], sizes: Mapping[str, int]) -> str:
    """Return the study: a server alone and a pair, on each drive.

    The time until the standby starts is what the emulated one waited: its patience and its fence.
    """
    down_ns = max(max(row["fence_ns"] for row in rows) + asked.notice * 1e9, LEAST_DOWN_NS)
    levels = []
    for row in rows:
        found = devices.find_storage(row["drive"], "--drive")
        drive = f'{found.kind} = "{found.name}"'
        levels.append(
            f'"{row["drive"]}" = {{ storage.alone.{drive}, storage.pair.replica.of.{drive} }}'
        )
    first = devices.find_storage(rows[0]["drive"], "--drive")
    size, of = max(sizes.values()), f'{first.kind} = "{first.name}"'
    gone = 'event.gone = { phase = "failover", at = "1 s", '
    lines = [
        'title = "Simulated pair next to the emulated one"',
        'question = "What does a mirror cost, and how long is the service away?"',
        *("[axis.drive]", *levels, "[axis.configuration]"),
        f'single = {{ use.storage = "alone", {gone}kill = {{}} }} }}',
        f'pair = {{ use.storage = "pair", {gone}failover = {{ down = "{down_ns:.0f} ns" }} }}, '
        'engine.mariadb.options = { log_bin = "ON", sync_binlog = "1" } }',
        *("[storage.alone]", f'size = "{size} B"', of),
        *("[storage.pair]", f'size = "{size} B"'),
        f'replica = {{ of = {{ {of} }}, link = "{asked.link}", protocol = "far_memory" }}',
        *("[host]", f'profile = "{HOST}"', f"cores = {os.cpu_count() or 1}"),
        *("[engine.mariadb]", 'version = "10.11"', f'buffer_pool = "{asked.buffer_pool}"'),
        *('redo_log = "64 MiB"', 'commit = "1"'),
        *("[workload.key_update]", f"tables = {asked.tables}", f"rows = {asked.rows}"),
        *(f'row_size = "{asked.row_size}"', f"clients = {asked.clients}"),
        *("[phase.update]", 'workload = ["key_update"]', 'ramp = "1 s"'),
        'until = { time = "4 s" }',
        *("[phase.failover]", 'workload = ["key_update"]', 'until = { time = "8 s" }'),
        *("[run]", 'start = "warm"', 'interval = "50 ms"', f"seed = {asked.seed}"),
    ]
    return "\n".join(lines) + "\n"


def compared(row: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a row with the simulated ratio and outage; None if one of them is missing."""
    rates = {
        cell["levels"]["configuration"]: _rate(cell)
        for cell in results["cells"]
        if cell["phase"] == "update" and cell["levels"]["drive"] == row["drive"]
    }
    single, pair = rates.get("single"), rates.get("pair")
    away_ns = [_away_ns(results, row["drive"], name) for name in ("pair", "single")]
    if not single or not pair or None in away_ns:
        return None
    simulated = dict(zip(("simulated_away_ns", "simulated_single_away_ns"), away_ns, strict=True))
    return {**row, "simulated_ratio": pair / single, **simulated}


def _away_ns(results: Mapping[str, Any], drive: str, configuration: str) -> int | None:
    """Return the first outage of a cell; None without one, or without an end."""
    for cell in results["cells"]:
        if cell["levels"] == {"drive": drive, "configuration": configuration}:
            for event in cell.get("database") or ():
                if event["kind"] == "outage" and event["outage"]["first_success_ns"] is not None:
                    outage = event["outage"]
                    return int(outage["first_success_ns"] - outage["first_error_ns"])
    return None


def _rate(cell: Mapping[str, Any]) -> float | None:
    """Return the transactions per second of a cell."""
    for estimate in cell["estimates"]:
        if (estimate["metric"], estimate["subject"]) == (RATE, PROGRAM):
            return float(estimate["value"])
    return None
