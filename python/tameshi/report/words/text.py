"""Text of reports in one language, and formatted values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tameshi.core.reasons import Reason, Span, key_of, spanned
from tameshi.core.units import format_interval, format_tick, format_value
from tameshi.report.words.reason_words import CAUSES, METHODS, REASONS
from tameshi.report.words.strings import LANGUAGES, TEXT

DAYS = 365.25
"""Of a year."""
CROSS = "✕"
"""Sign of a value of an invalid cell."""
BEYOND = "!"
"""Sign of a value outside the validated range."""
_HASH_DIGITS = 12
_SWITCHES = ("device.rotational", "device.iostats")


@dataclass(frozen=True)
class Phrase:
    """Key of a text with its fields; known names of the study are translated."""

    key: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fold:
    """Line of a cell with details that a page folds."""

    line: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """Value ready to print: number with unit, and its interval or the reason for its absence.

    `mark` replaces the note, which then stands below the table. `model` is the model error;
    `beyond`: the value lies outside the validated range. `crossed`: its cell is invalid; `faults`
    gives the reasons. `folds`: the same words as the value, line by line with details.
    """

    value: str
    interval: str = ""
    note: str = ""
    at: str = ""
    mark: str = ""
    model: str = ""
    beyond: bool = False
    crossed: bool = False
    faults: tuple[Reason, ...] = field(default=(), hash=False)
    folds: tuple[Fold, ...] = ()

    @property
    def bounds(self) -> str:
        """Model bounds as tables print them."""
        return f"[{self.model}]{BEYOND if self.beyond else ''}" if self.model else ""

    @property
    def marked(self) -> str:
        """Value with the sign of an invalid cell."""
        return f"{CROSS} {self.value}" if self.crossed else self.value

    def __str__(self) -> str:
        aside = self.interval or self.note
        words = f"{self.marked} ({aside})" if aside else f"{self.marked}{self.mark}"
        return " ".join(part for part in (words, self.bounds, self.at) if part)


class Text:
    """Text in one language; `own`: a study's own names in it."""

    def __init__(self, lang: str = "en", own: Mapping[str, str] | None = None) -> None:
        if lang not in LANGUAGES:
            raise ValueError(f"language {lang!r}: one of {', '.join(LANGUAGES)}")
        self.lang = lang
        self._column = LANGUAGES.index(lang)
        self.own = own or {}

    def __call__(self, key: str, **fields: object) -> str:
        """Return the text of a key with its fields filled in."""
        return TEXT[key][self._column].format(**fields)

    def phrase(self, phrase: Phrase) -> str:
        """Return a phrase with its names translated."""
        return self(phrase.key, **{k: self.name(v) for k, v in phrase.fields.items()})

    def stream(self, facts: Mapping[str, Any]) -> str:
        """Return what a stream does: `4 KiB random read`."""
        size, share = facts["block_bytes"], facts["read_share"]
        words = [format_tick("bytes", size)] if size else []
        pattern, whole = facts["pattern"], {1.0: "read", 0.0: "write"}.get(share)
        if whole:
            words.append(self.name(f"{pattern}_{whole}" if pattern else whole))
        elif pattern:
            words.append(self(f"stream.{pattern}"))
        stream = " ".join(words)
        if facts["commits"]:
            return self("stream.synced", stream=stream)
        if whole or share is None:
            return stream
        return self("stream.mixed", stream=stream, share=f"{100 * share:.0f} %")

    def reason(self, cause: Reason) -> str:
        """Return a reason in words, with known names translated."""
        fields = {key: self._value(key, value) for key, value in cause["values"].items()}
        words = REASONS[cause["code"]][self._column]
        return words.format(subject=self.name(cause["subject"]), **fields)

    def cause(self, cause: Reason) -> str:
        """Return a reason as a clause about cells; without one, the reason in words."""
        words = CAUSES.get(cause["code"])
        return words[self._column] if words else self.reason(cause)

    def reasons(self, causes: Iterable[Reason]) -> list[str]:
        """Return reasons in words; one with several subjects or amounts appears once."""
        subjects: dict[str, list[str]] = {}
        first: dict[str, Reason] = {}
        for each in spanned(causes):
            alike = key_of({**each, "subject": ""})
            subjects.setdefault(alike, []).append(each["subject"])
            first.setdefault(alike, each)
        joined = self("list.short").join
        return [
            self.reason({**each, "subject": joined(map(self.name, dict.fromkeys(subjects[alike])))})
            for alike, each in first.items()
        ]

    def _value(self, key: str, value: Any) -> str:
        """Return a reason's value, formatted by its key: amount, time, share, names."""
        if isinstance(value, list):
            return self("list.short").join(self.name(str(each)) for each in value)
        if isinstance(value, Span):
            ends = (self._value(key, end) for end in value)
            return self("cell.between", **dict(zip(("low", "high"), ends, strict=True)))
        if key.endswith("_bytes"):
            return format_value("bytes", value)
        if key.endswith("_capacity"):
            return format_value("capacity", value)
        if key.endswith("_ns"):
            return format_value("latency", value)
        if key.endswith("share"):
            return f"{value:.0%}"
        return self.name(value) if key == "operation" else str(value)

    def method(self, code: str) -> str:
        """Return an interval's method in words; one of version 1 as recorded."""
        return METHODS[code][self._column] if code in METHODS else code

    def fact(self, key: str, subject: str = "") -> str:
        """Return a fact's label with its subject; unknown ones as recorded."""
        label = TEXT[f"fact.{key}"][self._column] if f"fact.{key}" in TEXT else key
        return self("fact.about", fact=label, subject=subject) if subject else label

    def fact_value(self, key: str, value: Any) -> str:
        """Return a fact's value in words; empty if it has none."""
        if value is None or value == "" or value == []:
            return ""
        if isinstance(value, list):
            return self("list.short").join(str(item) for item in value)
        words = str(value)
        if key.endswith("_bytes") and words.isdigit():
            return format_value("bytes", int(words))
        if key in _SWITCHES and words in ("0", "1"):
            return self("value.yes" if words == "1" else "value.no")
        if key.startswith("device.") and words == "no":
            return self("value.no")
        if key == "device":
            return self(f"value.{words}")
        if key == "core":
            return words[:_HASH_DIGITS]
        return self.world(words) if key == "world" else words

    def name(self, identifier: str) -> str:
        """Return a study's identifier in words."""
        if identifier in self.own:
            return self.own[identifier]
        key = f"name.{identifier}"
        return TEXT[key][self._column] if key in TEXT else identifier.replace("_", " ")

    def names(self, identifiers: Iterable[str]) -> str:
        """Return a composed name, such as `random read · p99`; a number belongs to the preceding
        word."""
        parts: list[str] = []
        for name in map(self.name, identifiers):
            if parts and name.replace(".", "", 1).isdigit():
                parts[-1] += f" {name}"
            else:
                parts.append(name)
        return " · ".join(dict.fromkeys(parts))

    def sentence(self, words: str) -> str:
        """Return words as a sentence."""
        if not words or words.endswith((".", "。")):
            return words
        return f"{words[:1].upper()}{words[1:]}{self('list.end')}"

    def measure(self, measure: str) -> str:
        """Return a measure's label; unknown ones as recorded."""
        key = f"measure.{measure}"
        return TEXT[key][self._column] if key in TEXT else measure

    def world(self, world: str) -> str:
        """Return a world's label."""
        key = f"world.{world}"
        return TEXT[key][self._column] if key in TEXT else world

    def verdict(self, level: str) -> str:
        """Return a verdict in a word."""
        key = f"verdict.{level}"
        return TEXT[key][self._column] if key in TEXT else level

    def study_verdict(self, level: str, cells: Mapping[str, int]) -> str:
        """Return the study's verdict, with the number of cells that have it."""
        if level == "valid":
            return self("verdict.study", verdict=self.verdict(level))
        return self("verdict.share", verdict=self.verdict(level), **cells)

    def shown(
        self, kind: str, value: float, low: float | None, high: float | None, runs: int
    ) -> Shown:
        """Return a value with its interval, or with a note if it has none."""
        if low is None or high is None:
            note = self("note.one_run" if runs == 1 else "note.no_interval")
            return Shown(format_value(kind, value), note=note)
        return Shown(format_value(kind, value), interval=format_interval(kind, value, low, high))

    def life(self, years: float, low: float | None = None, high: float | None = None) -> Shown:
        """Return a life in years, or in days below a year, with a model's bounds in the same
        unit."""
        days = 0 < years < 1
        unit, factor = ("days", DAYS) if days else ("years", 1.0)
        years_shown = self(f"cell.{unit}", **{unit: f"{years * factor:.3g}"})
        if low is None or high is None:
            return Shown(years_shown)
        return Shown(years_shown, model=f"{low * factor:.3g}–{high * factor:.3g}")

    def aside(self, value_shown: Shown, *, bare: bool = False, noted: bool = False) -> str:
        """Return the interval and the model's bounds that follow a value.

        A sentence leaves out the reason for a missing interval, because tables give it; `noted`
        shows it.
        """
        reason = value_shown.note if noted else ""
        parts = [] if bare else list(filter(None, [value_shown.interval or reason]))
        parts += [self("aside.model", interval=value_shown.model)] if value_shown.model else []
        return f" ({'; '.join(parts)})" if parts else ""


def modelled(
    value_shown: Shown,
    kind: str,
    value: float,
    model: tuple[float, float] | None,
    *,
    beyond: bool = False,
) -> Shown:
    """Return a shown value with its model error."""
    if model is None:
        return value_shown
    return replace(value_shown, model=format_interval(kind, value, *model), beyond=beyond)
