"""Errors for the user: place, key, finding, and accepted values.

Every failure that a user can cause or fix is a `TameshiError`. Its text is one message; its fields
hold the same facts for programs; `exit_status` is the exit status of the process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar

from tameshi.core.exit_status import ExitStatus


class TameshiError(Exception):
    """Failure with place, finding and remedy.

    Fields: `message` (the problem, a sentence without full stop), `where` (`file:line:column`, an
    option or a path), `key` (the key in a study or profile), `found` and `accepted` (in words),
    `hint` (remedy, a full sentence). All but `message` may be empty.
    """

    exit_status: ClassVar[int] = ExitStatus.FAILED

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
    """Unusable input of the user: study, option or path."""

    exit_status: ClassVar[int] = ExitStatus.REFUSED


class StudyError(BadInput):
    """Invalid study or profile; `text` shows the place, `fields` are for programs."""

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


class BadInputs(BadInput):
    """Several errors found at once, in `errors`: a message on a line each, fields of the first."""

    def __init__(self, errors: Sequence[BadInput]) -> None:
        first = errors[0]
        super().__init__(
            first.message,
            where=first.where,
            key=first.key,
            found=first.found,
            accepted=first.accepted,
            hint=first.hint,
        )
        self.errors = list(errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


def refuse_all(errors: Iterable[BadInput]) -> None:
    """Raise all errors at once, each once; do nothing without any."""
    different = list({str(error): error for error in errors}.values())
    if len(different) > 1:
        raise BadInputs(different)
    if different:
        raise different[0]


class GuardRefusal(TameshiError):
    """Refusal to write to or delete a target that Tameshi did not make."""

    exit_status: ClassVar[int] = ExitStatus.REFUSED


class RunFailed(TameshiError):
    """Failure of a valid run."""


def unknown_version(message: str, where: str, found: object, known: Collection[int]) -> BadInput:
    """Return the refusal of a document of another version; a newer one has a remedy of its own."""
    is_newer = isinstance(found, int) and found > max(known)
    return BadInput(
        message,
        where=where,
        found=f"version {found}",
        accepted=[f"version {version}" for version in sorted(known)],
        hint="A newer Tameshi wrote it: read it with that one." if is_newer else "",
    )


def listed(items: list[str]) -> str:
    """Return the items as an English list: `a`, `a or b`, `a, b or c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} or {items[-1]}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
