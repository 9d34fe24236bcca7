"""Simulation of a candidate profile: the figures of every cell."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi.calibrate.cells import Cell, Figures
from tameshi.core import compiled
from tameshi.core.errors import RunFailed
from tameshi.core.spec_types import RunSpec
from tameshi.record.events import read_events

OPERATIONS = 3_000
"""Operations per cell during the fit; the final simulation has ten times as many."""
ROUNDS = 24
"""Least operations of a cell per outstanding request."""
MOST_BYTES = 768 << 20
STREAM = "s"


class Simulator:
    """Cells as one simulated run, whose device is replaced per candidate."""

    def __init__(self, cells: Sequence[Cell], operations: int = OPERATIONS) -> None:
        self.cells = list(cells)
        self.operations = operations
        self.simulated = 0
        """Number of candidates simulated."""

    def figures(self, device: Mapping[str, Any]) -> list[dict[str, Figures]]:
        """Return the figures of each cell on a device (as in a profile), by operation.

        Raises `RunFailed` for a device that cannot be simulated.
        """
        self.simulated += 1
        spec = RunSpec.model_validate(self._spec(device))
        with tempfile.TemporaryDirectory(prefix="tameshi-calibrate-") as place:
            folder = Path(place)
            for name in ("series", "histograms"):
                (folder / name).mkdir()
            compiled.Execution(spec, folder).run([], 0, "auto")
            events = read_events(folder)
            logs = sorted((folder / "histograms").glob("*.hlog"))
            latencies = compiled.latencies(
                "".join(log.read_text(encoding="utf-8") for log in logs), {}
            )
        begins = {e["phase"]: e["t_ns"] for e in events if e["kind"] == "phase_begin"}
        ends = {e["phase"]: e["t_ns"] for e in events if e["kind"] == "phase_end"}
        if len(ends) != len(self.cells):
            raise RunFailed("a cell of the simulation did not end")
        return [
            _figures(index, (ends[index] - begins[index]) / 1e9, latencies)
            for index in range(len(self.cells))
        ]

    def _spec(self, device: Mapping[str, Any]) -> dict[str, Any]:
        size = max(cell.size_bytes for cell in self.cells)
        plain = _plain(device)
        if "flash" in plain:
            plain["flash"]["simulated"] = _written_once(plain["flash"], size)
        return {
            "schema_version": 1,
            "study": "calibrate",
            "world": "simulated",
            "cell": {},
            "repetition": 0,
            "seed": 5,
            "start": "as-is",
            "interval": "1 h",
            "storage": {
                "disk": {
                    "size": f"{size} B",
                    "model": {"device": {"profile": "candidate", "device": plain}},
                }
            },
            "phases": [self._phase(cell) for cell in self.cells],
        }

    def _phase(self, cell: Cell) -> dict[str, Any]:
        stream = {**cell.stream, "storage": "disk"}
        stream.setdefault("span", f"{cell.size_bytes} B")
        operations = max(self.operations, ROUNDS * cell.depth)
        room = max(MOST_BYTES // cell.block_bytes, ROUNDS * cell.depth)
        amount = min(operations, room) * cell.block_bytes
        return {
            "name": "cell",
            "levels": {"cell": cell.name},
            "streams": [{"name": STREAM, "storage": "disk", "stream": stream}],
            "ramp": "0 ns",
            "until": {"amount": f"{amount} B"},
        }


def _plain(device: Mapping[str, Any]) -> dict[str, Any]:
    """Return the device as the core reads it."""
    return dict(json.loads(json.dumps(device)))


def _written_once(flash: Mapping[str, Any], used: int) -> dict[str, Any]:
    """Return a flash drive for simulation: the used part is written, the rest as small as
    possible."""
    capacity = compiled.size_bytes(flash["capacity"]["value"])
    pages = flash["nand"]["pages_per_block"]["value"]
    scale = 1
    while scale * 2 <= pages // 8 and capacity // (scale * 2) >= 2 * used:
        scale *= 2
    percent = min(100.0, 100 * used * scale / capacity)
    return {"scale": scale, "written": "once", "used": f"{percent:.4f} %"}


def _figures(
    index: int, seconds: float, latencies: Mapping[str, Mapping[str, Any]]
) -> dict[str, Figures]:
    figures = {}
    for tag, statistics in latencies.items():
        number, part, _, operation = tag.split("/")
        if int(number) == index and part == "steady" and statistics["count"]:
            points = [(float(share), float(value)) for share, value in statistics["quantiles"]]
            figures[operation] = Figures(
                statistics["count"] / seconds if seconds else 0.0,
                float(statistics["mean"]),
                [(0.0, float(statistics["min"])), *points],
            )
    return figures
