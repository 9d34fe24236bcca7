"""Events of a run: a line of JSON each, in its folder. Contract: `docs/records-events.md`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tameshi import guard


def read_events(folder: Path) -> list[dict[str, Any]]:
    """The events of a run; half a line at the end is left out."""
    try:
        text = (folder / "events.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in whole_lines(text).splitlines()]


def append_event(folder: Path, t_ns: int, kind: str, **fields: Any) -> None:
    """One event of a run by whoever conducts it, in one write: no other cuts into it."""
    line = json.dumps({"t_ns": t_ns, "source": "run", "kind": kind, **fields}, ensure_ascii=False)
    with guard.append_file(folder / "events.jsonl") as file:
        os.write(file.fileno(), line.encode(errors="backslashreplace") + b"\n")


def whole_lines(text: str) -> str:
    """What is complete of a file that somebody writes to line by line."""
    return text[: text.rfind("\n") + 1]
