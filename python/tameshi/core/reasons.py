"""Reasons as data: of verdicts, missed events, refusals and deviations.

A reason is `{"code", "subject", "values"}`. Its words, English and Japanese, stand in
`report/words/reason_words.py`, by its code. `subject` is a name of the study, such as a stream.
Names of values tell how they are shown: `…_bytes`, `…_capacity`,
`…_ns`, `…share`; lists are names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

Reason = Mapping[str, Any]

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


def completed(found: Any) -> Reason:
    """Return a reason of a record; version 1 held sentences, which are shown as they are."""
    return found if isinstance(found, Mapping) else reason("legacy", text=str(found))


def distinct(reasons: Iterable[Reason]) -> list[Reason]:
    """Return each reason once, in the order of their first occurrences."""
    found: dict[str, Reason] = {}
    for each in reasons:
        found.setdefault(key_of(each), each)
    return list(found.values())


def key_of(of: Reason) -> str:
    """Return a value that equals another's if the reasons are equal."""
    return json.dumps(of, sort_keys=True)


def verdict(level: str, *reasons: Reason) -> dict[str, Any]:
    """Return a verdict with its reasons."""
    return {"level": level, "reasons": list(reasons)}


def worst(verdicts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the worst level of all, with every reason once."""
    level, reasons = "valid", list[Reason]()
    for each in verdicts:
        level = max(level, each["level"], key=LEVELS.index)
        reasons += each["reasons"]
    return verdict(level, *distinct(reasons))
