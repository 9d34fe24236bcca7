"""Reasons as data: of verdicts, missed events, refusals and deviations.

A reason is `{"code", "subject", "values"}`. `report/words/reason_words.py` holds the English and
Japanese words by code. `subject` is a name of the study, such as a stream. Suffixes of value names
set their format: `…_bytes`, `…_capacity`, `…_ns`, `…share`; lists are names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Reason = Mapping[str, Any]

AMOUNTS = ("_ns", "_bytes", "_capacity", "share")
"""Suffixes of values that are amounts."""

LEVELS = ("valid", "warning", "invalid")
"""Levels of a verdict, the worst last."""


def reason(code: str, subject: str = "", **values: Any) -> dict[str, Any]:
    """Return a reason as plain data."""
    return {"code": code, "subject": subject, "values": values}


def about(subject: str, of: Reason) -> dict[str, Any]:
    """Return a reason with another subject."""
    return {**of, "subject": subject}


def quoted(text: str) -> dict[str, Any]:
    """Return a reason in the words of the user, a server or the system."""
    return reason("quoted", text=text)


def completed(stored: Any) -> Reason:
    """Return a reason of a record; version 1 held sentences, which are shown as they are."""
    return stored if isinstance(stored, Mapping) else reason("legacy", text=str(stored))


def distinct(reasons: Iterable[Reason]) -> list[Reason]:
    """Return each reason once, in the order of their first occurrences."""
    by_key: dict[str, Reason] = {}
    for each in reasons:
        by_key.setdefault(key_of(each), each)
    return list(by_key.values())


def key_of(data: Reason) -> str:
    """Return a value that equals another's if the reasons are equal."""
    return json.dumps(data, sort_keys=True)


def verdict(level: str, *reasons: Reason) -> dict[str, Any]:
    """Return a verdict with its reasons."""
    return {"level": level, "reasons": list(reasons)}


def worst(verdicts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the worst level of all, with every reason once, those of the worst level first."""
    ranked = sorted(verdicts, key=lambda each: -LEVELS.index(each["level"]))
    level = ranked[0]["level"] if ranked else "valid"
    return verdict(level, *distinct(reason for each in ranked for reason in each["reasons"]))


class Span(NamedTuple):
    """Least and greatest of an amount over several reasons."""

    low: float
    high: float


def kind_of(data: Reason) -> str:
    """Return a value that equals another's if the reasons differ in amounts only."""
    values = {key: of for key, of in data["values"].items() if not key.endswith(AMOUNTS)}
    return key_of({**data, "values": values})


def spanned(reasons: Iterable[Reason]) -> list[Reason]:
    """Return reasons that differ in amounts only as one, each amount as its `Span`."""
    by_kind: dict[str, list[Reason]] = {}
    for each in reasons:
        by_kind.setdefault(kind_of(each), []).append(each)
    return [_span_of(alike) for alike in by_kind.values()]


def _span_of(alike: Sequence[Reason]) -> Reason:
    """Return one reason for several of one kind."""
    first, values = alike[0], dict(alike[0]["values"])
    for key in filter(lambda key: key.endswith(AMOUNTS), first["values"]):
        amounts = sorted({each["values"][key] for each in alike})
        values[key] = Span(amounts[0], amounts[-1]) if len(amounts) > 1 else amounts[0]
    return {**first, "values": values}
