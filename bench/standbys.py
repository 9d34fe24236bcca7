"""Simulated standbys next to emulated ones, into docs/validation/standbys.md.

    python -m bench.standbys [STUDY …] [--out build/standbys] [--write]

Runs the ready studies with a standby at quick size in both worlds, the emulated one in slow motion,
and compares rates against a server alone, and times from the event to the first commit. MariaDB
10.11 is the server in both worlds, also where a study names MySQL. A run resumes in its folder.
`--write` writes the page from all studies that are there. Needs root and a quiet machine; about an
hour.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from tameshi.core import data
from tameshi.core.units import format_value

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/standbys.md"
STUDIES: Mapping[str, str] = {"standby-cost": "way", "mirrored-ha": "configuration"}
"""Axis of the ways, by study."""
ALONE = "single"
"""Level of a server alone."""
RATE_BAR, AWAY_BAR = 0.10, 0.25
"""Shares by which a simulated ratio and a simulated time away may be off."""
RATE, PHASE = "transaction.rate", "update"


def run(study: str, out: Path) -> None:
    """Run a study in both worlds."""
    text = (data.STUDIES / f"{study}.toml").read_text("utf-8")
    text = text.replace("engine.mysql", "engine.mariadb").replace('"8.0"', '"10.11"')
    path = out / f"{study}.toml"
    path.write_text(text, encoding="utf-8")
    worlds = ("--world", "emulated", "--world", "simulated", "--slow", "auto")
    words = ["run", str(path), "--quick", *worlds, "--out", str(out / study)]
    subprocess.run([sys.executable, "-m", "tameshi", *words], check=False)


def rows(study: str, results: Mapping[str, Any]) -> Iterator[tuple[list[str], bool, bool | None]]:
    """Yield cells of the page's table, and whether ratio and time away are within their bars."""
    axis = STUDIES[study]
    drives, ways = (list(_levels(results, name)) for name in ("drive", axis))
    for drive in drives:
        for way in (each for each in ways if each != ALONE):
            ratios = [_ratio(results, world, drive, (axis, way)) for world in WORLDS]
            away_ns = [_away_ns(results, world, {"drive": drive, axis: way}) for world in WORLDS]
            emulated, simulated = ratios
            if emulated is None or simulated is None:
                continue
            is_near, off = _compared(emulated, simulated, RATE_BAR)
            row = [study, drive, way, *(format_value("ratio", r) for r in (emulated, simulated))]
            row.append(off)
            is_soon: bool | None = None
            if away_ns[0] and away_ns[1]:
                is_soon, off = _compared(away_ns[0], away_ns[1], AWAY_BAR)
                row += [*(format_value("latency", ns) for ns in away_ns if ns), off]
            else:
                row += ["–"] * 3
            yield row, is_near, is_soon


WORLDS = ("emulated", "simulated")


def _compared(emulated: float, simulated: float, bar: float) -> tuple[bool, str]:
    off = simulated / emulated - 1
    return abs(off) <= bar, f"{off:+.0%}"


def _levels(results: Mapping[str, Any], axis: str) -> dict[str, None]:
    return dict.fromkeys(str(cell["levels"][axis]) for cell in results["cells"])


def _ratio(results: Mapping[str, Any], world: str, drive: str, of: tuple[str, str]) -> float | None:
    """Return the rate of a way divided by that of a server alone, before the event."""
    axis, way = of
    values = [_rate(results, world, {"drive": drive, axis: level}) for level in (way, ALONE)]
    return values[0] / values[1] if values[0] and values[1] else None


def _rate(results: Mapping[str, Any], world: str, levels: Mapping[str, str]) -> float | None:
    for cell in results["cells"]:
        if (cell["world"], cell["phase"], cell["levels"]) == (world, PHASE, levels):
            found = [e["value"] for e in cell["estimates"] if e["metric"] == RATE]
            return float(found[0]) if found else None
    return None


def _away_ns(results: Mapping[str, Any], world: str, levels: Mapping[str, str]) -> float | None:
    found = [
        failover["away_ns"]
        for cell in results["cells"]
        if cell["world"] == world and cell["levels"] == levels
        for failover in cell.get("failovers", ())
        if failover["away_ns"] is not None
    ]
    return median(found) if found else None


def slow_text(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the slow motion of the emulated runs in words."""
    cells = (cell for document in documents.values() for cell in document["cells"])
    factors = {float(cell.get("slow", 1)) for cell in cells if cell["world"] == WORLDS[0]} - {1.0}
    return f"slow motion up to {max(factors):g}" if factors else "without slow motion"


def page(out: Path, load: float) -> str:
    """Return the page of the documentation."""
    documents = {
        study: json.loads(path.read_text("utf-8"))
        for study in STUDIES
        if (path := out / study / "results.json").exists()
    }
    found = {study: list(rows(study, document)) for study, document in documents.items()}
    all_rows = [row for of in found.values() for row in of]
    near = sum(is_near for _, is_near, _ in all_rows)
    timed = [is_soon for _, _, is_soon in all_rows if is_soon is not None]
    captions = (
        *("study", "drive", "way", "rate against a server alone: emulated", "simulated", "off"),
        *("event to first commit: emulated", "simulated", "off"),
    )
    lines = [
        "# Simulated standbys next to emulated ones",
        "",
        "<!-- written by `python -m bench.standbys --write` -->",
        "",
        f"Ready studies ({', '.join(f'`{study}`' for study in found)}) at quick size in both",
        f"worlds: MariaDB 10.11 on served drives ({slow_text(documents)}), and the simulator's.",
        f"{os.cpu_count()} processors, Linux {platform.release()}, load average {load:.1f} at the",
        "begin. [Standbys](../standbys.md) that replicate by their log are simulated as mirrors.",
        "",
        f"{near} of {len(all_rows)} ratios are within {RATE_BAR:.0%}, and {sum(timed)} of",
        f"{len(timed)} times away within {AWAY_BAR:.0%}.",
        "",
        f"| {' | '.join(captions)} |",
        f"|---|---|---|{'---:|' * 6}",
        *(f"| {' | '.join(row)} |" for row, _, _ in all_rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the studies, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", default=[*STUDIES])
    parser.add_argument("--out", type=Path, default=ROOT / "build/standbys")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    arguments.out.mkdir(parents=True, exist_ok=True)
    for study in arguments.studies:
        run(study, arguments.out)
    if arguments.write:
        PAGE.write_text(page(arguments.out, load), encoding="utf-8")


if __name__ == "__main__":
    main()
