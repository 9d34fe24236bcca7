"""Events of a run: a line of JSON each, in its folder. Contract: `docs/records-events.md`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tameshi import guard

EVENTS = "events.jsonl"


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Read the events of a run, without an incomplete last line."""
    try:
        text = (folder / EVENTS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return events_in(text)


def events_in(text: str) -> list[dict[str, Any]]:
    """Return the events of a file's text, without an incomplete last line."""
    return [json.loads(line) for line in whole_lines(text).splitlines()]


def append_event(folder: Path, t_ns: int, kind: str, **fields: Any) -> None:
    """Append one event of a run in one write, which no other writer can split."""
    line = json.dumps({"t_ns": t_ns, "source": "run", "kind": kind, **fields}, ensure_ascii=False)
    with guard.append_file(folder / EVENTS) as file:
        os.write(file.fileno(), line.encode(errors="backslashreplace") + b"\n")


def whole_lines(text: str) -> str:
    """Return the complete lines of a file that another process is appending to."""
    return text[: text.rfind("\n") + 1]
