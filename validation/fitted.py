"""Fitted parameters of engines, hosts and studies, with their published figures."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tameshi.core.data import PROFILES, STUDIES

FIGURE = re.compile(r"\bS\d-\d{4}\b")
KINDS = ("engines", "hosts")
IN_STUDIES = (
    ("drive-spec-table", "storage.disk.size", "S0-0006"),
    ("drive-spec-table", "storage.array.size", "S0-0008"),
    (
        "flash-card-review-applications",
        "workload.stream.documents.lsm.queue_depth",
        "S1-0110, mean latency on one card",
    ),
)
"""Parameters fitted in studies: study, key, basis."""

TWICE = {"S0-0283": "S0-0114"}
"""Figures listed twice: the same number of the same run, under another id."""


@dataclass(frozen=True)
class Fitted:
    """Parameter, its value, and the basis of its fit."""

    place: str
    key: str
    value: str
    on: str

    @property
    def figures(self) -> tuple[str, ...]:
        """Return the published figures among its basis, under each of their ids."""
        ids = FIGURE.findall(self.on)
        return (*ids, *(twin for id_, twin in TWICE.items() if id_ in ids))


def fitted() -> list[Fitted]:
    """Return all fitted parameters: profiles by kind and name, then studies."""
    parameters = []
    for kind in KINDS:
        for path in sorted((PROFILES / kind).glob("*.toml")):
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            parameters += [Fitted(path.stem, *each) for each in _sourced(table, "")]
    return [*parameters, *_of_studies()]


def _sourced(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and `fitted_on` of every fitted value."""
    for name, value in table.items():
        key = f"{prefix}.{name}" if prefix else name
        if not isinstance(value, Mapping):
            continue
        if "fitted_on" in value:
            yield key, _basis(value["value"]), value["fitted_on"]
        else:
            yield from _sourced(value, key)


def _of_studies() -> Iterator[Fitted]:
    for study, key, on in IN_STUDIES:
        table: Any = tomllib.loads((STUDIES / f"{study}.toml").read_text(encoding="utf-8"))
        for part in key.split("."):
            table = table[part]
        yield Fitted(study, key, _basis(table), on)


def _basis(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
