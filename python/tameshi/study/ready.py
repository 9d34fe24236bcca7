"""Ready studies of the package: question, running time and answer of each."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi.core.data import GALLERY, STUDIES
from tameshi.study.file import read_text, ready_names

MINUTES_FROM_S = 120


@dataclass(frozen=True)
class Ready:
    """Ready study. One of its two times is known, in seconds.

    `processor_s`: measured processor time of its simulated runs and the report, of `--quick` if
    `is_quick`. `planned_s`: upper bound on its runs in a `world` that has real servers.
    """

    name: str
    path: Path
    title: str
    question: str
    world: str = "simulated"
    processor_s: int | None = None
    is_quick: bool = False
    planned_s: int | None = None
    answer: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the study for programs."""
        fields = ("name", "title", "question", "world", "processor_s", "planned_s", "answer")
        return {key: getattr(self, key) for key in fields} | {
            "quick": self.is_quick,
            "path": str(self.path),
        }

    def time(self) -> str:
        """Return its running time in words."""
        if self.processor_s is not None:
            return duration(self.processor_s) + (" (--quick)" if self.is_quick else "")
        return "" if self.planned_s is None else f"up to {duration(self.planned_s)}"


def ready() -> list[Ready]:
    """Return all ready studies in the order of their names."""
    gallery = json.loads(GALLERY.read_text(encoding="utf-8"))
    return [_ready(name, gallery.get(name, {})) for name in ready_names()]


def _ready(name: str, known: Mapping[str, Any]) -> Ready:
    path = STUDIES / f"{name}.toml"
    study = tomllib.loads(read_text(path, "a ready study"))
    return Ready(
        name,
        path,
        study["title"],
        study["question"],
        known.get("world", "simulated"),
        known.get("seconds"),
        known.get("quick", False),
        known.get("planned_s"),
        known.get("answer", ""),
    )


def duration(seconds: int) -> str:
    """Return seconds in words."""
    return f"{seconds} s" if seconds < MINUTES_FROM_S else f"{round(seconds / 60)} min"
