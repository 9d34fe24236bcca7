"""Lines of a tool's text: fields by pattern, with the place of what is missing or wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.errors import BadInput

Number = str
N = r"[0-9]+"
F = r"[0-9]+(?:\.[0-9]+)?"
REPEAT = "Copy it again, or repeat the run that wrote it."


@dataclass(frozen=True)
class TextResults:
    """Text that a tool printed, with its path."""

    path: Path
    lines: tuple[str, ...]
    tool: str

    def find(self, pattern: str) -> re.Match[str] | None:
        """Return the first line that matches a pattern."""
        return next(self.matches(pattern), None)

    def matches(self, pattern: str) -> Iterator[re.Match[str]]:
        """Yield the lines that match a pattern, each with what it holds."""
        compiled = re.compile(pattern)
        return (found for line in self.lines if (found := compiled.match(line)))

    def needed(self, pattern: str, words: str) -> re.Match[str]:
        """Return the first line that matches; raise `BadInput` without one.

        `words` is the beginning of the missing line. Results without their end were cut off.
        """
        found = self.find(pattern)
        if found is None:
            last = len(self.lines)
            raise BadInput(
                f"these results of {self.tool} end before `{words}`: the file was cut off",
                where=f"{self.path}:{last}",
                found=f"as the last line `{self.lines[-1].strip()[:60]}`" if self.lines else "",
                accepted=[f"all that {self.tool} printed"],
                hint=REPEAT,
            )
        return found

    def number(self, pattern: str, words: str) -> float:
        """Return the number in a needed line."""
        return float(self.needed(pattern, words)[1])

    def optional(self, pattern: str) -> float | None:
        """Return the number in a line, None without it."""
        found = self.find(pattern)
        return float(found[1]) if found else None


def refuse_newer(path: Path, tool: str, found: str, newest: int, accepted: str) -> None:
    """Raise `BadInput` for results of a newer major version than the newest known one."""
    major = re.match(N, found)
    if major and int(major[0]) > newest:
        raise BadInput(
            f"these results are of a newer version of {tool}, whose form is not known",
            where=str(path),
            found=f"{tool} {found}",
            accepted=[accepted],
            hint="A newer Tameshi may know it.",
        )
