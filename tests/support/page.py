"""Tables of docs/doctor-checks.md, from the doctor's own; run as a script to renew the page."""

from __future__ import annotations

from pathlib import Path

from tameshi.doctor.table import CHECKS, Outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "doctor-checks.md"
BEGIN, END = "<!-- table: tests/support/page.py -->\n", "<!-- end of table -->\n"


def tables() -> str:
    """One table for each check, one line for each of its outcomes."""
    parts = []
    for key, entry in CHECKS.items():
        parts.append(f"\n### `{key}`: {entry.label[0]}\n\nFor: {', '.join(entry.worlds)}.\n\n")
        parts.append("| outcome | state | found | remedy |\n|---|---|---|---|\n")
        for name, outcome in entry.outcomes.items():
            cells = (f"`{name}`", state(outcome), outcome.found[0], outcome.remedy[0] or "–")
            parts.append(f"| {' | '.join(escaped(cell) for cell in cells)} |\n")
    return "".join(parts) + "\n"


def state(outcome: Outcome) -> str:
    """State, with the worlds that can't run then."""
    return outcome.state + (f", stops {' and '.join(outcome.stops)}" if outcome.stops else "")


def escaped(cell: str) -> str:
    """Cell with Markdown's special characters escaped."""
    for sign in ("|", "<", "*"):
        cell = cell.replace(sign, f"\\{sign}")
    return cell


def renewed(page: str) -> str:
    """Page with its current tables."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + tables() + END + after


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
