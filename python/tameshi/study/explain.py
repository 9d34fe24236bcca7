"""Entries of the reference by name: metrics, and keys of study and profile files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.study.reference import (
    FORMS,
    NAME,
    Key,
    Schema,
    choices,
    keys,
    kind,
    one_line,
    plain,
    read_schema,
    shown,
    type_of,
)

METRIC = "metric"
MOST_NEAR = 5


@dataclass(frozen=True)
class Entry:
    """Entry of the reference. `parts`: keys or choices of its type, with their meanings."""

    name: str
    kind: str
    facts: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the entry for programs."""
        return {
            "name": self.name,
            "entry": self.kind,
            **self.facts,
            **({"parts": dict(self.parts)} if self.parts else {}),
        }


def explain(word: str) -> list[Entry]:
    """Return the entries of a metric or key; raise `BadInput` with names like it.

    A key may have its place, in part or whole: `tpcc.clients`, `workload.tpcc.clients`.
    """
    metrics = {metric["name"]: metric for metric in compiled.metrics()}
    found = [_metric(metrics[word])] if word in metrics else []
    known = set(metrics)
    parts = tuple(word.split("."))
    for form, (title, _) in FORMS.items():
        schema = read_schema(form)
        every = keys(form, schema)
        for key, place in _matching(every, parts):
            found.append(_key(key, place, schema, title))
        known |= {key.name for key in every} | {".".join(p) for key in every for p in key.places}
    if not found:
        near = get_close_matches(word, sorted(known), n=MOST_NEAR, cutoff=0.6)
        raise BadInput(
            "there is no metric and no key of this name",
            where="explain",
            found=word,
            accepted=near or ["a metric or key of docs/reference, for example buffer_pool"],
        )
    return found


def names() -> list[str]:
    """Return the names of all metrics and keys."""
    found = {metric["name"] for metric in compiled.metrics()}
    for form in FORMS:
        found |= {key.name for key in keys(form, read_schema(form))}
    return sorted(found)


def _matching(
    every: Sequence[Key], parts: tuple[str, ...]
) -> Iterator[tuple[Key, tuple[str, ...]]]:
    """Yield each key whose place ends with these parts, with that place; whole places first."""
    whole = [(key, place) for key in every for place in key.places if _fits(place, parts)]
    if whole:
        yield from whole
        return
    for key in every:
        tails = (place for place in key.places if _ends(place, parts))
        place = next(tails, None)
        if place:
            yield key, place


def _ends(place: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Return whether a place ends with these parts, the first of them word by word."""
    tail = place[-len(parts) :]
    return tail[0] == parts[0] and _fits(tail, parts)


def _fits(place: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Return whether these are the parts of a place, with any names of the user's."""
    return len(place) == len(parts) and all(
        known in (part, NAME) for known, part in zip(place, parts, strict=True)
    )


def _metric(metric: Mapping[str, str]) -> Entry:
    facts = {
        "meaning": metric["en"],
        "unit": metric["unit"],
        "kind": metric["kind"],
        "better": metric["better"],
        "Japanese": metric["ja"],
    }
    return Entry(metric["name"], METRIC, facts)


def _key(key: Key, place: tuple[str, ...], schema: Schema, title: str) -> Entry:
    facts = {"place": ".".join(place)}
    others = [".".join(other) for other in key.places if other != place]
    if others:
        facts["also"] = ", ".join(others)
    facts["value"] = kind(key.value, plain).replace("`", "")
    default = shown(key.value.get("default")).replace("`", "")
    if key.required or default:
        facts["default"] = "(required)" if key.required else default
    meaning = one_line(key.value.get("description", ""))
    if meaning:
        facts["meaning"] = meaning
    named = type_of(key.value)
    table = schema["$defs"][named] if named else {}
    if "description" in table:
        facts["type"] = f"{named}: {one_line(table['description'])}"
    return Entry(key.name, f"key of {title[0].lower()}{title[1:]}", facts, _parts(table))


def _parts(table: Schema) -> dict[str, str]:
    """Return the keys or choices of a type with their meanings."""
    listed = {
        name: one_line(value.get("description", ""))
        for name, value in table.get("properties", {}).items()
    }
    return listed | {choice.replace("`", ""): meaning for choice, meaning in choices(table)}
