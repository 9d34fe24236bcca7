"""Diagnosis for a terminal, and as JSON for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tameshi.doctor.judge import Check, Diagnosis
from tameshi.doctor.table import LANGUAGES, TEXT, WORLDS

SCHEMA_VERSION = 1
# Each state has a sign and a word as well as a colour.
_SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "missing": ("✗", "red")}


def words(key: str, lang: str, **fields: object) -> str:
    """Return a text of the table outside the checks."""
    return TEXT[key][LANGUAGES.index(lang)].format(**fields)


def verdict(diagnosis: Diagnosis, world: str) -> str:
    """Return in words whether this machine is ready for a world."""
    stopping = diagnosis.stopping(world)
    if stopping:
        parts = (f"{check.label} {check.subject}".strip() for check in stopping)
        return words("verdict.cannot", diagnosis.lang, reasons=", ".join(parts))
    count = diagnosis.to_heed(world)
    return words("verdict.can_with" if count else "verdict.can", diagnosis.lang, count=count)


def render(diagnosis: Diagnosis, console: Console) -> None:
    """Print the verdict of each world, then every check with its remedy."""
    lang = diagnosis.lang
    columns = (words("column.world", lang), words("column.verdict", lang))
    worlds = Table(title=words("title", lang), title_justify="left")
    for column in columns:
        worlds.add_column(column, overflow="fold")
    for world in WORLDS:
        sign, style = _SIGNS["ok" if diagnosis.can(world) else "missing"]
        said = Text(f"{sign} {verdict(diagnosis, world)}", style=style)
        worlds.add_row(Text(words(f"world.{world}", lang)), said)
    console.print(worlds)
    for subject in dict.fromkeys(check.subject for check in diagnosis.checks):
        console.print()
        console.print(_table(diagnosis, subject))


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the diagnosis as plain data: keys, states and outcomes are names, the rest is
    words."""
    return {
        "schema_version": SCHEMA_VERSION,
        "language": diagnosis.lang,
        "worlds": {
            world: {
                "can_run": diagnosis.can(world),
                "stopped_by": [check.key for check in diagnosis.stopping(world)],
                "warnings": diagnosis.to_heed(world),
            }
            for world in WORLDS
        },
        "checks": [
            asdict(check) | {"worlds": list(check.worlds), "stops": list(check.stops)}
            for check in diagnosis.checks
        ],
    }


def _table(diagnosis: Diagnosis, subject: str) -> Table:
    lang = diagnosis.lang
    title = Text(subject or words("machine", lang))
    columns = [words(f"column.{column}", lang) for column in ("state", "check", "found")]
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for check in diagnosis.checks:
        if check.subject == subject:
            table.add_row(*_row(check, lang))
    return table


def _row(check: Check, lang: str) -> tuple[Text, Text, Text]:
    sign, style = _SIGNS[check.state]
    line = Text(check.found)
    if check.remedy:
        # Japanese text has no spaces for line breaks, which would leave a lone arrow on a line.
        arrow = "→ " if lang == "en" else "→"
        line.append(f"\n{arrow}{check.remedy}", style="bold")
    state = Text(f"{sign} {words(f'state.{check.state}', lang)}", style=style, no_wrap=True)
    return state, Text(check.label), line
