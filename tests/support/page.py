"""Tables of docs/doctor.md, made from the doctor's own; as a script, it updates the page."""

from __future__ import annotations

from pathlib import Path

from tameshi.doctor.table import CHECKS, Outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "doctor-checks.md"
BEGIN, END = "<!-- table: tests/support/page.py -->\n", "<!-- end of table -->\n"


def tables() -> str:
    """Return a table per check, a row per outcome."""
    parts = []
    for key, entry in CHECKS.items():
        parts.append(f"\n### `{key}`: {entry.label[0]}\n\nFor: {', '.join(entry.worlds)}.\n\n")
        parts.append("| outcome | state | found | remedy |\n|---|---|---|---|\n")
        for name, outcome in entry.outcomes.items():
            cells = (f"`{name}`", state(outcome), outcome.found[0], outcome.remedy[0] or "–")
            parts.append(f"| {' | '.join(escaped(cell) for cell in cells)} |\n")
    return "".join(parts) + "\n"


def state(outcome: Outcome) -> str:
    """Return the state, with the worlds that it prevents."""
    return outcome.state + (f", stops {' and '.join(outcome.stops)}" if outcome.stops else "")


def escaped(cell: str) -> str:
    """Return the cell with Markdown's special characters escaped."""
    for sign in ("|", "<", "*"):
        cell = cell.replace(sign, f"\\{sign}")
    return cell


def renewed(page: str) -> str:
    """Return the page with current tables."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + tables() + END + after


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
