"""Errors of known figures as bounds of others: the one rule of model intervals.

An interval reaches as far as nine tenths of the known figures of the same kind are off, each
experiment with the same weight. See docs/predictions.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

SHARE = 0.9
"""Share of the evidence inside an interval."""
LEAST_EXPERIMENTS = 3
"""Experiments of a kind below which those of a wider kind count."""
HEX_DIGITS = 8
MOST_NAMED = 4
NOTHING = "nothing"
Offs = Sequence[tuple[str, float]]
"""Experiments, and how far a figure of each is off, as a logarithm without its sign."""


def quantile(offs: Offs) -> float:
    """Return the value that nine tenths of the errors do not exceed, each experiment with the same
    weight."""
    count: dict[str, int] = {}
    for experiment, _ in offs:
        count[experiment] = count.get(experiment, 0) + 1
    passed, target = 0.0, SHARE * len(count)
    for experiment, off in sorted(offs, key=lambda pair: pair[1]):
        passed += 1 / count[experiment]
        if passed >= target - 1e-9:
            return off
    return 0.0


def is_enough(experiments: Iterable[str]) -> bool:
    """Return whether experiments suffice for an interval of their own kind."""
    return len(set(experiments)) >= LEAST_EXPERIMENTS


def named(sources: Iterable[str]) -> str:
    """Return sources as text, each once; of many, the first."""
    names = list(dict.fromkeys(sources))
    if not names:
        return NOTHING
    more = [f"+{len(names) - MOST_NAMED}"] if len(names) > MOST_NAMED else []
    return "; ".join([*names[:MOST_NAMED], *more])


def digest(value: Any) -> str:
    """Return a short name of a value of JSON: the same for the same value."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:HEX_DIGITS]
