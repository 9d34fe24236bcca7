"""The errors Tameshi shows its user: where, which key, what was found, what would be accepted.

Every failure that a user can cause or cure is a `TameshiError`. Its text is one clear message;
its fields carry the same facts for programs, and `exit_status` is what the process ends with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar


class TameshiError(Exception):
    """A failure with a place, a finding and a way out.

    Fields: `message` (what is wrong, a sentence without its full stop), `where`
    (`file:line:column`, an option or a path), `key` (the key in a study or profile), `found` and
    `accepted` (in words), `hint` (a full sentence: the way out). All but `message` may be empty.
    """

    exit_status: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        key: str = "",
        found: str = "",
        accepted: Iterable[str] = (),
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.key = key
        self.found = found
        self.accepted = list(accepted)
        self.hint = hint

    def __str__(self) -> str:
        place = "".join(f"{part}: " for part in (self.where, self.key) if part)
        sentences = [f"{place}{self.message}."]
        if self.found:
            sentences.append(f"Found: {self.found}.")
        if self.accepted:
            sentences.append(f"Accepted: {listed(self.accepted)}.")
        if self.hint:
            sentences.append(self.hint)
        return " ".join(sentences)


class BadInput(TameshiError):
    """What the user wrote (a study, an option, a path) cannot be used."""

    exit_status: ClassVar[int] = 2


class StudyError(BadInput):
    """A study or profile that can't be; `text` shows the place, `fields` say it to programs."""

    def __init__(self, text: str, fields: dict[str, Any]) -> None:
        place = f":{fields['line']}:{fields['column']}" if fields["line"] else ""
        super().__init__(
            str(fields["message"]),
            where=f"{fields['file']}{place}",
            key=str(fields["key"]),
            found=str(fields["found"]),
            accepted=[str(item) for item in fields["accepted"]],
        )
        self.text = text
        self.fields = fields

    def __str__(self) -> str:
        return self.text


class GuardRefusal(TameshiError):
    """Tameshi was asked to write to or delete something that it did not make."""

    exit_status: ClassVar[int] = 2


class RunFailed(TameshiError):
    """A run was asked for properly and could not be carried through."""


def listed(items: list[str]) -> str:
    """The items as an English list: `a`, `a or b`, `a, b or c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} or {items[-1]}"


def counted(number: int, noun: str) -> str:
    """A number and its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
