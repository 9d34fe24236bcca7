"""Minimum sizes of a simulated InnoDB server, which override smaller sizes in a study.

The simulator applies the server's minimums (`crates/sim/src/database/settings.rs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tameshi.core import compiled
from tameshi.core.reasons import Reason, reason, verdict
from tameshi.core.spec_types import RunSpec

POOL, LOG = 5 << 20, 1 << 20


def findings(spec: RunSpec) -> list[dict[str, Any]]:
    """Return verdicts on a run whose simulated server exceeds the sizes in the study."""
    return [verdict("warning", raised) for raised in _raised(spec)]


def _raised(spec: RunSpec) -> Iterator[Reason]:
    database = spec.database
    if database is None or database.model is None:
        return
    engine = (spec.engines or {})[database.engine].model_dump(mode="json")
    sizes = (("buffer_pool", POOL, "pool_raised"), ("redo_log", LOG, "log_raised"))
    for key, least, code in sizes:
        if _asked(engine, key, least) < least:
            yield reason(code, asked=engine[key])


def _asked(engine: Mapping[str, Any], key: str, otherwise: int) -> int:
    return compiled.size_bytes(engine[key]) if engine.get(key) else otherwise
